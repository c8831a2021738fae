// In place of a server: requests and events of the page by way of the window around it.

window.fetch = (address, { method = "GET", body = null, signal } = {}) =>
  new Promise((done, failed) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data: { status, text } }) =>
      done(new Response(text, { status, headers: { "Content-Type": "application/json" } }));
    signal?.addEventListener("abort", () => failed(signal.reason));
    parent.postMessage({ samecluster: { method, path: String(address), body } }, "*", [port2]);
  });

// The kernel sends nothing by itself: progress is asked for, and tells whether labels may be new.
window.EventSource = class extends EventTarget {
  #timer = null;
  #sequence = -1;

  constructor() {
    super();
    setTimeout(() => this.dispatchEvent(new Event("open")));
    this.#timer = setInterval(() => this.#look().catch(() => {}), 1000);
  }

  close() {
    clearInterval(this.#timer);
  }

  async #look() {
    const progress = await (await fetch("/api/v1/progress")).json();
    if (progress.sequence === this.#sequence) return;
    this.#sequence = progress.sequence;
    for (const [kind, data] of [["progress", progress], ["labels", {}], ["trouble", {}]]) {
      this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }));
    }
  }
};
