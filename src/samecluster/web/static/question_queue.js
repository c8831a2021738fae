// The queue of questions, pairs or larger looks: the current one, and those fetched ahead so that the next one is there at
// once. Once shown, a question stays until it is answered: nothing may change under the eyes of a
// person who is about to press a key.

import { leaveWord, post, Unreachable } from "./api.js";
import { Stopwatch } from "./stopwatch.js";

const AHEAD = 2;
const WAIT = 1000;
const WAIT_FOR_OTHERS = 3000;

export class QuestionQueue extends EventTarget {
  current = null;
  // Why there is no current question: "" (not asked yet), "lost" (no connection), "others" (they hold what
  // is left) or "ended".
  empty = "";
  ended = "";
  // The last verdict, shown beside the button that takes it back.
  said = null;
  // Whether something is asked after all, now that nothing else is left.
  beforeEnd = async () => false;
  #ahead = [];
  #outbox;
  #clock = new Stopwatch();
  #fetching = null;
  #wasLost = false;
  // Answered since the last request for questions began: its reply may not know of them yet.
  #answered = new Set();
  #again = false;
  #timer = null;
  #isOpen = false;
  #resting = null;

  constructor(outbox, leaseSeconds) {
    super();
    this.#outbox = outbox;
    outbox.addEventListener("sent", () => this.refresh());
    outbox.addEventListener("refused", () => this.refresh());
    outbox.addEventListener("waiting", () => this.#lost());
    setInterval(() => this.#stillHere().catch(() => {}), (1000 * leaseSeconds) / 3);
    addEventListener("pagehide", () => leaveWord("release"));
    addEventListener("pageshow", (event) => event.persisted && this.refresh());
  }

  answer(verdict) {
    this.#take("answers", { verdict }, verdict);
  }

  // The reply to a screen of several pairs, in words for the line beside the undo button.
  reply(reply, said) {
    this.#take("looks", { reply }, said);
  }

  flag(note) {
    this.#take("flags", { note }, "flagged");
  }

  // Fetches the next questions. Calls during a fetch become one more fetch after it.
  refresh() {
    if (!this.#isOpen) return Promise.resolve();
    if (this.#fetching) {
      this.#again = true;
      return this.#fetching;
    }
    clearTimeout(this.#timer);
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = null;
      if (this.#again) {
        this.#again = false;
        this.refresh();
      }
    });
    return this.#fetching;
  }

  // The person comes back to answer. Returns the ids of the questions that are there then.
  async resume() {
    await this.#resting;
    this.#isOpen = true;
    if (!this.current) await this.refresh();
    return [this.current, ...this.#ahead].filter(Boolean).map(({ id }) => id);
  }

  // The person looks at other views, or answers in another way: others may have the questions.
  pause() {
    this.#isOpen = false;
    this.current = null;
    this.#ahead = [];
    this.empty = "";
    this.#resting = post("release").catch(() => {});
    return this.#resting;
  }

  // Takes the last answer back. One that never left this browser is simply withdrawn; one that may
  // have arrived while the connection is gone is asked again, and the new answer replaces it.
  async undo() {
    const unsent = this.#outbox.entries().at(-1);
    if (!unsent || (await this.#outbox.send())) return this.#undoThere();
    if (!this.#outbox.mayHaveArrived(unsent)) this.#outbox.withdraw(unsent);
    if (!unsent.question) return true;
    const { verdict, reply } = unsent.body;
    this.#putInFront({ ...unsent.question, before: verdict ?? reply ?? "unsure" });
    return true;
  }

  async #undoThere() {
    const { look } = await post("looks/undo");
    if (look) this.#putInFront(received(look));
    return Boolean(look);
  }

  #putInFront(question) {
    this.#isOpen = true;
    this.#answered.delete(question.id);
    const others = [this.current, ...this.#ahead].filter((one) => one && one.id !== question.id);
    this.#ahead = others;
    this.said = null;
    this.#show(question);
  }

  #take(path, body, said) {
    const question = this.current;
    if (!question) return;
    this.said = said;
    this.#answered.add(question.id);
    const { seconds } = this.#clock;
    this.#show(this.#ahead.shift() ?? null);
    const about = path === "looks" ? { look: question.id } : { question: question.id };
    const timed = path === "flags" ? {} : { seconds };
    this.#outbox.add(path, { ...about, ...timed, ...body }, question);
  }

  async #fetch() {
    try {
      const unsent = this.#outbox.entries();
      this.#answered = new Set(unsent.map(({ body }) => body.question ?? body.look));
      if (this.#wasLost) await this.#stillHere();
      const { looks, ...reply } = await post("looks/next", { count: AHEAD });
      this.#wasLost = false;
      // What this adds comes with one more fetch; until then nobody is told that it has ended.
      if (!looks.length && reply.ended && !this.current && (await this.beforeEnd())) return;
      this.#receive({ ...reply, questions: looks.map(received) });
    } catch (error) {
      this.#lost();
      if (error instanceof Unreachable) this.#later(WAIT);
      else this.dispatchEvent(new CustomEvent("trouble", { detail: error }));
    }
  }

  #receive({ questions, ended, waiting }) {
    if (!this.#isOpen) return;
    const open = questions.filter(({ id }) => !this.#answered.has(id) && id !== this.current?.id);
    if (this.current) {
      this.#keepAhead(open);
      return;
    }
    const [first, ...rest] = open;
    this.#keepAhead(rest);
    if (first) this.#show(first);
    else if (questions.length) this.#later(this.#outbox.entries().length ? WAIT : 0);
    else if (ended) this.#nothing("ended", ended);
    else {
      this.#nothing(waiting ? "others" : "");
      this.#later(WAIT_FOR_OTHERS);
    }
  }

  #keepAhead(questions) {
    this.#ahead = questions;
    this.dispatchEvent(new CustomEvent("ahead", { detail: questions }));
  }

  #lost() {
    this.#wasLost = true;
    if (!this.current) this.#nothing("lost");
  }

  #show(question) {
    this.current = question;
    this.#clock.start();
    this.empty = "";
    this.dispatchEvent(new Event("change"));
  }

  #nothing(why, ended = "") {
    const news = this.empty !== why || this.ended !== ended || this.current !== null;
    this.current = null;
    this.empty = why;
    this.ended = ended;
    if (news) this.dispatchEvent(new Event("change"));
  }

  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), wait);
  }

  // Also the first request to a server that has restarted: it does not know who holds which question.
  async #stillHere() {
    const held = [this.current, ...this.#ahead].filter(Boolean).map(({ id }) => id);
    if (held.length && !document.hidden) await post("heartbeat", { questions: held });
  }
}

// A pair comes as the question it is.
function received({ question, ...look }) {
  return question ? { ...question, kind: "pair" } : look;
}
