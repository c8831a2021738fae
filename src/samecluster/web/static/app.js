// The page: who is here, which view is shown, and what all views share.

import { get, post, Refused } from "./api.js";
import { clusterView } from "./cluster_view.js";
import { clustersView } from "./clusters_view.js";
import { element } from "./elements.js";
import { Keys } from "./keys.js";
import { Live } from "./live.js";
import { Outbox } from "./outbox.js";
import { peopleView } from "./people_view.js";
import { progressView } from "./progress_view.js";
import { QuestionQueue } from "./question_queue.js";
import { questionView } from "./question_view.js";
import { SaveIndicator } from "./save_indicator.js";
import { troubleView } from "./trouble_view.js";

const VIEWS = [
  { path: "", text: "Label", view: questionView },
  { path: "progress", text: "Progress", view: progressView },
  { path: "clusters", text: "Clusters", view: clustersView },
  { path: "trouble", text: "Trouble", view: troubleView },
  { path: "people", text: "People", view: peopleView, owner: true },
  { path: "cluster", view: clusterView, under: "clusters" },
];
const CHECK_EVERY = 10;
const RETRY = 1000;
const NOTICE = 8000;

class App extends EventTarget {
  progress = null;
  keys = new Keys();
  live = new Live();
  // Ids of questions that this person requested, to be shown with their effect.
  requested = new Set();
  // By id of a question: which answer it puts once more, from another side.
  secondLooks = new Map();
  #sinceCheck = 0;
  #left = null;
  #noticeTimer = null;

  async start() {
    this.session = await this.#untilReached();
    if (!this.session) return;
    const { id, title, who, lease_seconds: leaseSeconds } = this.session;
    this.outbox = new Outbox(`${id ?? title}\n${who ?? ""}`);
    this.queue = new QuestionQueue(this.outbox, leaseSeconds);
    document.getElementById("title").textContent = title;
    document.getElementById("who").textContent = who ?? "";
    new SaveIndicator(document.getElementById("saved"), this);
    this.#listen();
    this.#route();
    this.outbox.send();
    this.refreshProgress();
    this.live.follow();
  }

  say(text) {
    document.getElementById("spoken").textContent = text;
  }

  notify(text) {
    const notice = document.getElementById("notice");
    notice.textContent = text;
    notice.hidden = false;
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => {
      notice.hidden = true;
    }, NOTICE);
  }

  go(path) {
    location.hash = `#/${path}`;
  }

  async undo() {
    try {
      if (await this.queue.undo()) this.go("");
      else this.notify("You have no answer to take back.");
    } catch (error) {
      this.notify(`Not taken back: ${error.message}`);
    }
  }

  // People slip. Answers that do not fit the others are looked for now and then, and at the end.
  async lookAgain() {
    this.#sinceCheck = 0;
    const { question, text } = await post("second-look", {}, 120).catch(() => ({}));
    if (!question) return false;
    this.secondLooks.set(question, text);
    this.queue.refresh();
    return true;
  }

  async refreshProgress() {
    const progress = await get("progress").catch(() => null);
    if (progress) this.#take(progress);
  }

  // Replies and events may overtake each other; what is older than what is shown is ignored.
  #take(progress) {
    if (progress.sequence < (this.progress?.sequence ?? 0)) return;
    this.progress = progress;
    this.dispatchEvent(new Event("progress"));
    this.#drawNavigation();
    // What others did may have opened new questions, or ended them.
    if (!this.queue.current) this.queue.refresh();
  }

  #listen() {
    this.outbox.addEventListener("sent", ({ detail }) => {
      if (detail.reply.progress) this.#take(detail.reply.progress);
      this.#sinceCheck += 1;
      if (this.#sinceCheck >= CHECK_EVERY) this.lookAgain();
    });
    this.outbox.addEventListener("refused", ({ detail }) => {
      this.notify(`An answer was not taken: ${detail.error.message}`);
    });
    this.outbox.addEventListener("waiting", ({ detail }) => this.#linkCheck(detail.error));
    this.queue.beforeEnd = async () => this.#sinceCheck > 0 && this.lookAgain();
    this.queue.addEventListener("trouble", ({ detail }) => {
      if (!this.#linkCheck(detail)) this.notify(detail.message);
    });
    this.live.addEventListener("progress", ({ detail }) => detail && this.#take(detail));
    this.live.addEventListener("open", () => {
      this.outbox.send();
      this.refreshProgress();
    });
    addEventListener("hashchange", () => this.#route(true));
  }

  #linkCheck(error) {
    if (!(error instanceof Refused) || !error.needsLink) return false;
    this.#calm("Open your link again", error.message);
    return true;
  }

  #route(moved = false) {
    const [path, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
    const found = this.#open().find((one) => one.path === path) ?? VIEWS[0];
    this.#left?.abort();
    this.#left = new AbortController();
    const root = document.getElementById("view");
    root.dataset.view = found.path || "question";
    found.view(root, this, this.#left.signal, ...rest);
    document.title = `${found.text ?? "Label"} - ${this.session.title} - samecluster`;
    this.#drawNavigation();
    if (moved) {
      scrollTo(0, 0);
      root.querySelector("h1")?.focus({ preventScroll: true });
    }
  }

  #open() {
    return VIEWS.filter((one) => !one.owner || this.session.role === "owner");
  }

  // Links that did not change are kept: one of them may have the focus.
  #drawNavigation() {
    const view = document.getElementById("view").dataset.view;
    const current = VIEWS.find((one) => (one.path || "question") === view);
    const trouble = this.progress?.n_trouble ?? 0;
    const links = this.#open()
      .filter(({ text }) => text)
      .map((one) => link(one, trouble));
    const navigation = document.getElementById("navigation");
    if (navigation.textContent !== links.map(({ textContent }) => textContent).join("")) {
      navigation.replaceChildren(...links);
    }
    for (const shown of navigation.children) {
      const isCurrent = shown.getAttribute("href") === `#/${current?.under ?? current?.path}`;
      if (isCurrent) shown.setAttribute("aria-current", "page");
      else shown.removeAttribute("aria-current");
    }
  }

  async #untilReached() {
    for (;;) {
      try {
        return await get("session");
      } catch (error) {
        if (error instanceof Refused) {
          this.#calm("Open your link again", error.message);
          return null;
        }
        this.#calm("No connection", "The page goes on by itself once the server is back.");
        await new Promise((done) => {
          setTimeout(done, RETRY);
        });
      }
    }
  }

  #calm(heading, text) {
    this.#left?.abort();
    document
      .getElementById("view")
      .replaceChildren(
        element("section", { class: "calm" }, element("h1", {}, heading), element("p", {}, text)),
      );
  }
}

function link({ path, text }, trouble) {
  const badge =
    path === "trouble" && trouble > 0 && element("span", { class: "badge" }, `${trouble}`);
  return element("a", { href: `#/${path}` }, text, badge);
}

new App().start();
