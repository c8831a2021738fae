// How long a look is on the screen. Pauses are cut: time in another window does not count, nor more
// than half a minute in which nothing is touched.

const LONGEST_PAUSE = 30;

export class Stopwatch {
  #seconds = 0;
  #since = null;

  constructor() {
    for (const sign of ["keydown", "pointerdown", "pointermove", "scroll", "visibilitychange"]) {
      document.addEventListener(sign, () => this.#note(), { capture: true, passive: true });
    }
  }

  start() {
    this.#seconds = 0;
    this.#since = document.hidden ? null : performance.now();
  }

  get seconds() {
    this.#note();
    return Math.round(10 * this.#seconds) / 10;
  }

  #note() {
    const now = performance.now();
    if (this.#since !== null) {
      this.#seconds += Math.min((now - this.#since) / 1000, LONGEST_PAUSE);
    }
    this.#since = document.hidden ? null : now;
  }
}
