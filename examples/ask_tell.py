"""Ask and tell inside one's own application: it decides when questions are put, and to whom.

A run never calls anybody. It has questions; an application puts them wherever it likes (a page, a
queue, a chat) and tells the answers when they come, in any order. What is known can be looked at
in between, and the answers are all that has to be kept.

    python examples/ask_tell.py
"""

from __future__ import annotations

from collections import deque

from samecluster import Answer, Question, Verdict, start
from samecluster.instances import make_ellipsoids

made = make_ellipsoids(n=600, d=3, k=4, margin=0.5, random_state=0)


def somebody_answers(question: Question) -> Verdict:
    """Stands for a person who looks at both items; of item 7 nobody can make anything."""
    if 7 in question.pair:
        return Verdict.UNSURE
    return Verdict.of(bool(made.labels[question.item] == made.labels[question.comparator]))


def work(answers: list[Answer], shift: int) -> bool:
    """Answer up to ``shift`` questions and keep the answers; True when nothing is left to ask."""
    run = start(made.X, n_clusters=4, margin=made.margin, answers=answers, random_state=0)
    queue: deque[Question] = deque()
    for _ in range(shift):
        if not queue:
            queue.extend(run.pending)
        if not queue:
            break
        question = queue.popleft()
        verdict = somebody_answers(question)
        run.tell(question, verdict)
        answers.append(Answer(question, verdict, who="ann"))
    known = run.snapshot()
    print(f"after {len(answers):,} answers: {known}")
    if run.done:
        item = int((run.result.how == "proven").argmax())
        print(run.result.explain(item))
    return run.done


def main() -> None:
    answers: list[Answer] = []
    while not work(answers, shift=10):
        print("the application is closed; tomorrow it goes on from the answers")


if __name__ == "__main__":
    main()
