// Questions that a person requests, to merge, split or doubt. They come next, each with what every
// answer would do; nothing changes before one is answered.

import { ask, choice } from "./dialogs.js";
import { element } from "./elements.js";

export const BEFORE =
  "Nothing changes before you answer, and each question shows what an answer would do.";

export async function requestQuestions(app, { heading, intro, beside = [], ask: send, none }) {
  const shown = [element("p", {}, intro), element("div", { class: "dialog-beside" }, beside)];
  const done = await ask(heading, shown, [
    choice("cancel", "Cancel"),
    choice("go", "Ask me", true),
  ]);
  if (done !== "go") return;
  try {
    const { questions, ids } = await send();
    if (!questions) {
      app.notify(none);
      return;
    }
    const first = await app.queue.resume();
    (ids ?? first.slice(0, questions)).forEach((id) => app.requested.add(id));
    app.go("");
  } catch (error) {
    app.notify(error.message);
  }
}
