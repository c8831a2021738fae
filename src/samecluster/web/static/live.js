// Events of the server. A hidden window closes its connection: a browser allows only few to one
// server, and a person with many windows would block them all.

import { address } from "./api.js";

const KINDS = ["progress", "labels", "trouble", "ended"];
const LONGEST_WAIT = 5000;

export class Live extends EventTarget {
  #source = null;
  #wait = 500;
  #timer = null;

  constructor() {
    super();
    document.addEventListener("visibilitychange", () => this.follow());
    addEventListener("pagehide", () => this.#stop());
    addEventListener("pageshow", () => this.follow());
  }

  follow() {
    if (document.hidden) return this.#stop();
    if (this.#source) return undefined;
    clearTimeout(this.#timer);
    this.#source = new EventSource(address("events"));
    this.#source.addEventListener("open", () => {
      this.#wait = 500;
      this.#tell("open");
    });
    for (const kind of KINDS) {
      this.#source.addEventListener(kind, (event) => this.#tell(kind, parsed(event.data)));
    }
    this.#source.addEventListener("error", () => this.#again());
    return undefined;
  }

  #again() {
    this.#stop();
    this.#tell("lost");
    this.#timer = setTimeout(() => this.follow(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
