// The question: two items, or a larger look; ways to react, and the next one at once.

import { post } from "./api.js";
import { ChoiceLook } from "./choice_look.js";
import { askNote } from "./dialogs.js";
import { button, element } from "./elements.js";
import { showEnd } from "./end_view.js";
import { GridLook } from "./grid_look.js";
import { showHelp } from "./help.js";
import { fetchPictures, others, pair } from "./items.js";
import { ACTIONS } from "./keys.js";
import { knownByBar } from "./known_by_bar.js";
import { clusterName, progressLine, sentence, VERDICTS } from "./wording.js";

const EMPTY = {
  "": ["One moment", "The next question is being worked out."],
  lost: [
    "No connection",
    "Your answers are kept in this browser. The page goes on by itself once the server is back.",
  ],
  others: [
    "Nothing for you right now",
    "Other people are looking at the questions that are left. New ones appear here by themselves.",
  ],
};
const ANSWERS = ["same", "different", "unsure"];
const BESIDE = ["undo", "flag", "help"];
const SHORT = { flag: "Flag" };

export function questionView(root, app, signal) {
  const view = new QuestionView(root, app, signal);
  app.queue.addEventListener("ahead", ({ detail }) => detail.forEach(fetchPictures), { signal });
  app.queue.addEventListener("change", () => view.draw(), { signal });
  app.addEventListener("progress", () => view.drawProgress(), { signal });
  app.keys.addEventListener("change", () => view.drawBar(), { signal });
  app.keys.bind(view.reactions, signal);
  signal.addEventListener("abort", () => app.queue.pause());
  view.draw();
  app.queue.resume();
}

class QuestionView {
  #app;
  #root;
  #signal;
  #heading = element("h1", { id: "asked", tabindex: "-1" }, "Same cluster?");
  #about = element("p", { class: "about" });
  #pair = element("div", { class: "pair", tabindex: "0", role: "group" });
  #others = element("div", { class: "others-place" });
  // The view of a look that is more than a pair.
  #look = null;
  #effects = element("div", { class: "effects", role: "status" });
  #said = element("p", { class: "said" });
  #bar = element("div", { class: "bar", role: "group", "aria-label": "Your answer" });
  #progress = element("div", { class: "far" });
  #asking;

  constructor(root, app, signal) {
    [this.#root, this.#app, this.#signal] = [root, app, signal];
    this.reactions = this.#reactions();
    this.#pair.setAttribute("aria-labelledby", "asked about");
    this.#about.id = "about";
    this.#asking = element(
      "section",
      { class: "question", "aria-labelledby": "asked" },
      element("div", { class: "asked" }, this.#heading, this.#about),
      this.#pair,
      this.#others,
      this.#effects,
      this.#bar,
      this.#progress,
    );
    this.drawBar();
  }

  draw() {
    const { current, empty } = this.#app.queue;
    const shown = this.#look?.node ?? this.#asking;
    if (current && current.kind !== "pair") this.#drawLook(current);
    else if (current) this.#drawQuestion(current);
    else if (empty === "ended") showEnd(this.#root, this.#app, this.#signal);
    // Between two questions the last one stays, a moment at most.
    else if (empty || !this.#root.contains(shown)) this.#drawEmpty(empty);
    else shown.classList.add("passed");
  }

  #drawLook(look) {
    this.#look = look.kind === "choice" ? new ChoiceLook(look, this.#app) : new GridLook(look, this.#app);
    const { keys, node, frame, spoken } = this.#look;
    const again = this.#app.secondLooks.get(look.id);
    if (again) frame.remark(sentence(again));
    this.#root.replaceChildren(node);
    this.#app.keys.bind({ ...this.#beside(), ...keys }, this.#signal);
    this.#sayLast(frame.said, look.before ? "You answered this before" : "");
    this.drawProgress();
    this.#look.focus();
    this.#app.say(spoken);
  }

  drawProgress() {
    const { progress } = this.#app;
    if (!progress) return;
    for (const place of [this.#progress, this.#look?.frame.progress].filter(Boolean)) {
      place.replaceChildren(knownByBar(progress), element("p", {}, progressLine(progress)));
    }
  }

  drawBar() {
    this.#look?.drawButtons();
    const drawn = [...ANSWERS, ...BESIDE].map((action) =>
      button(
        [element("kbd", {}, this.#app.keys.sign(action)), SHORT[action] ?? ACTIONS[action].says],
        this.reactions[action],
        { class: action, "aria-keyshortcuts": this.#app.keys.of(action) },
      ),
    );
    this.#bar.replaceChildren(
      element("div", { class: "answers" }, drawn.slice(0, ANSWERS.length)),
      element("div", { class: "beside" }, this.#said, drawn.slice(ANSWERS.length)),
    );
  }

  #drawQuestion(question) {
    if (!this.#root.contains(this.#asking)) this.#root.replaceChildren(this.#asking);
    if (this.#look) this.#app.keys.bind(this.reactions, this.#signal);
    this.#look = null;
    this.#asking.classList.remove("passed");
    const { id, item, comparator } = question;
    Object.assign(this.#asking.dataset, {
      question: id,
      item: item.key,
      comparator: comparator.key,
    });
    this.#about.textContent = about(question);
    this.#pair.replaceChildren(...pair(question));
    this.#pair.scrollTop = 0;
    this.#others.replaceChildren(...[others(question)].filter(Boolean));
    this.#drawSaid(question);
    this.#drawEffects(question);
    this.drawProgress();
    this.#app.say(spoken(question));
  }

  #drawSaid(question) {
    const before = question.before && `You said: ${VERDICTS[question.before].toLowerCase()}`;
    this.#sayLast(this.#said, before);
  }

  #sayLast(place, before) {
    const { said } = this.#app.queue;
    place.textContent = before || (said ? `Last: ${VERDICTS[said]?.toLowerCase() ?? said}` : "");
  }

  // Questions that somebody asked for, to merge, split or doubt, come with what would follow.
  async #drawEffects(question) {
    const again = this.#app.secondLooks.get(question.id);
    this.#effects.replaceChildren(...(again ? [element("p", { class: "again" }, sentence(again))] : []));
    if (!this.#app.requested.has(question.id)) return;
    const told = await Promise.all(
      ["same", "different"].map((verdict) => effect(question, verdict)),
    );
    if (this.#app.queue.current === question) {
      this.#effects.replaceChildren(...told.map((text) => element("p", {}, text)));
    }
  }

  #drawEmpty(why) {
    const [heading, text] = EMPTY[why];
    this.#root.replaceChildren(
      element(
        "section",
        { class: "calm" },
        element("h1", { tabindex: "-1" }, heading),
        element("p", {}, text),
        why !== "" && button("Take my last answer back", this.reactions.undo),
      ),
    );
    this.#app.say(`${heading}. ${text}`);
  }

  #reactions() {
    const { queue } = this.#app;
    const answers = ANSWERS.map((verdict) => [verdict, () => queue.answer(verdict)]);
    return { ...Object.fromEntries(answers), ...this.#beside(), flag: () => this.#flag() };
  }

  #beside() {
    return { undo: () => this.#undo(), help: () => showHelp(this.#app.keys) };
  }

  async #undo() {
    try {
      if (!(await this.#app.queue.undo())) this.#app.notify("You have no answer to take back.");
    } catch (error) {
      this.#app.notify(`Not taken back: ${error.message}`);
    }
  }

  async #flag() {
    const { queue } = this.#app;
    const asked = queue.current;
    if (!asked) return;
    const note = await askNote();
    if (note && queue.current === asked) queue.flag(note);
  }
}

async function effect(question, verdict) {
  const { text } = await post("preview", { question: question.id, verdict }, 300).catch(
    (error) => ({
      text: error.message,
    }),
  );
  return `If ${verdict}: ${sentence(text)}`;
}

function about({ item, comparator, cluster }) {
  const where = cluster ? `, of ${clusterName(cluster).replace(/^Cluster/, "cluster")}` : "";
  return `${item.title} and ${comparator.title}${where}`;
}

function spoken(question) {
  const { differs, before } = question;
  const marked = differs?.length ? ` They differ in ${differs.join(", ")}.` : "";
  const again = before ? ` You said ${before} before.` : "";
  return `Same cluster? ${about(question)}.${marked}${again}`;
}
