// Whether all answers are safe, in words. Answers that are sent within 0.7 seconds are not mentioned,
// so that the line does not flicker.

import { count } from "./elements.js";

const PATIENCE = 700;

export class SaveIndicator {
  #node;
  #outbox;
  #timer = null;

  constructor(node, { outbox, live }) {
    this.#node = node;
    this.#outbox = outbox;
    outbox.addEventListener("change", () => this.#soon());
    live.addEventListener("open", () => this.#draw());
    this.#draw();
  }

  #soon() {
    if (!this.#outbox.entries().length) {
      clearTimeout(this.#timer);
      this.#timer = null;
      this.#draw();
    } else {
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        this.#draw();
      }, PATIENCE);
    }
  }

  #draw() {
    const unsent = this.#outbox.entries().length;
    const text = unsent ? `${count(unsent, "answer")} waiting for the connection` : "Saved";
    this.#node.classList.toggle("waiting", unsent > 0);
    if (this.#node.textContent !== text) this.#node.textContent = text;
  }
}
