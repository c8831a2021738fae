// Answers on their way. Each is kept under a name of its own until the server says that it is safe,
// so that windows of the same browser never overwrite each other's, and is sent again with the same
// key as often as needed: the server takes a key once.

import { post, Refused } from "./api.js";
import { forget, names, read, write } from "./browser_storage.js";

const PREFIX = "samecluster.unsent.";
const FIRST_WAIT = 300;
const LONGEST_WAIT = 4000;

export class Outbox extends EventTarget {
  #owner;
  #sending = null;
  #wait = FIRST_WAIT;
  #timer = null;
  #tried = new Set();

  // owner: the session and the person; answers of others in this browser are left alone.
  constructor(owner) {
    super();
    this.#owner = owner;
    addEventListener("online", () => this.send());
  }

  entries() {
    return names(PREFIX)
      .map(read)
      .filter((entry) => entry?.owner === this.#owner)
      .sort((one, two) => one.at - two.at);
  }

  // Whether the server may have heard of it already.
  mayHaveArrived(entry) {
    return this.#tried.has(entry.body.key) || entry.tried;
  }

  add(path, body, question) {
    const entry = { owner: this.#owner, path, question, at: this.#now(), tried: false };
    entry.body = { ...body, key: newKey() };
    write(PREFIX + entry.body.key, entry);
    this.#changed();
    this.send();
  }

  withdraw(entry) {
    forget(PREFIX + entry.body.key);
    this.#changed();
  }

  // Sends what there is, oldest first; settles when nothing is left or nobody answers.
  send() {
    clearTimeout(this.#timer);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll() {
    for (;;) {
      const entry = this.entries()[0];
      if (!entry) return true;
      if (!(await this.#sendOne(entry))) return false;
    }
  }

  async #sendOne(entry) {
    const { key } = entry.body;
    this.#tried.add(key);
    if (!entry.tried) write(PREFIX + key, { ...entry, tried: true });
    try {
      const reply = await post(entry.path, entry.body);
      this.#wait = FIRST_WAIT;
      forget(PREFIX + key);
      this.#tell("sent", { entry, reply });
    } catch (error) {
      if (!(error instanceof Refused) || error.needsLink) {
        this.#later(error);
        return false;
      }
      forget(PREFIX + key);
      this.#tell("refused", { entry, error });
    }
    this.#changed();
    return true;
  }

  #later(error) {
    this.#timer = setTimeout(() => this.send(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    this.#tell("waiting", { error });
    this.#changed();
  }

  #changed() {
    this.#tell("change", { unsent: this.entries().length });
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  // Later than everything that waits, even if the clock was set back in between.
  #now() {
    return Math.max(Date.now(), ...this.entries().map((entry) => entry.at + 1));
  }
}

// crypto.randomUUID exists only on secure origins; a page served to a local network is not one.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
