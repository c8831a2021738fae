// What all larger looks share: the frame with heading, items, buttons and progress; marks that a
// reload keeps; and showing an item in full.

import { forget, read, write } from "./browser_storage.js";
import { ask, choice } from "./dialogs.js";
import { button, element } from "./elements.js";
import { showHelp } from "./help.js";
import { whole } from "./items.js";
import { ACTIONS } from "./keys.js";

const KEPT = "samecluster.marks";

export class LookFrame {
  answers = element("div", { class: "answers" });
  body = element("div", { class: "look-body" });
  progress = element("div", { class: "far" });
  said = element("p", { class: "said" });
  #beside = element("div", { class: "beside" });
  #send;

  // A look that the queue did not hand out says where its reply goes, and is below a heading.
  constructor(look, app, heading, about, { send, level = "h1" } = {}) {
    [this.look, this.app] = [look, app];
    this.#send = send ?? ((reply, said) => app.queue.reply(reply, said));
    this.node = element(
      "section",
      { class: "question look", "aria-labelledby": "asked" },
      element(
        "div",
        { class: "asked" },
        element(level, { id: "asked", tabindex: "-1" }, heading),
        element("p", { class: "about" }, about),
      ),
      this.body,
      element(
        "div",
        { class: "bar", role: "group", "aria-label": "Your answer" },
        this.answers,
        this.#beside,
      ),
      this.progress,
    );
    Object.assign(this.node.dataset, { question: look.id, kind: look.kind });
  }

  // Why it is asked, below what is asked.
  remark(text) {
    this.node.querySelector(".asked").append(element("p", { class: "again" }, text));
  }

  // The buttons of actions, each with its key; drawn again when keys change.
  drawButtons(main, beside) {
    this.answers.replaceChildren(...main.map((one) => this.#button(one)));
    const usual = [
      { action: "undo", does: () => this.app.undo() },
      { action: "help", does: () => showHelp(this.app.keys) },
    ];
    this.#beside.replaceChildren(
      this.said,
      ...[...beside, ...usual].map((one) => this.#button(one)),
    );
  }

  async showLarger(...items) {
    const titles = items.map(({ title }) => title).join(" and ");
    await ask(titles, items.map((item) => whole(item)), [choice("close", "Close", true)]);
  }

  keep(marks) {
    write(KEPT, { id: this.look.id, marks });
  }

  kept() {
    const found = read(KEPT);
    return found?.id === this.look.id ? found.marks : null;
  }

  send(reply, said) {
    forget(KEPT);
    this.#send(reply, said);
  }

  #button({ action, key, text, does, isMain, pressed }) {
    const { keys } = this.app;
    const sign = action ? keys.sign(action) : key;
    return button(
      [element("kbd", {}, sign), element("span", {}, text ?? ACTIONS[action].says)],
      does,
      {
        class: [action ?? "send", isMain ? "main" : ""].join(" ").trim(),
        "aria-keyshortcuts": action ? keys.of(action) : key,
        "aria-pressed": pressed === undefined ? null : String(pressed),
      },
    );
  }
}
