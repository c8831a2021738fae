"""Five people who err: who is asked, who errs how often, and what becomes of wrong answers.

A panel asks one person after the other until it is sure enough, and learns on the way how reliable
each of them is. Verdicts that cannot all be right are put again, and what is outvoted is retracted.

    python examples/noisy_panel.py
"""

from __future__ import annotations

from samecluster import Certify, clustering_error, recover
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, NoisyOracle, Panel

ERRS = {"ann": 0.02, "ben": 0.05, "cem": 0.10, "dot": 0.15, "eve": 0.25}


def main() -> None:
    # Picked among seeds 0 to 4 because here a wrong verdict comes through and is retracted later.
    # In the others nothing is retracted, and in one of them 0.2 % of the labels end up wrong.
    made = make_ellipsoids(n=600, d=3, k=4, margin=0.3, random_state=1)
    truth = LabelOracle(made.labels)
    people = {
        name: NoisyOracle(truth, p=rate, random_state=seed)
        for seed, (name, rate) in enumerate(ERRS.items())
    }
    panel = Panel(people, confidence=0.95)
    found = recover(
        made.X, panel, margin=made.margin, method=Certify(effort="fast"), random_state=0
    )

    print(f"{panel.n_answers:,} answers on {len(panel.outcomes):,} questions")
    for person in panel.report():
        print(f"- {person} (in truth {ERRS[person.name]:.0%})")
    print(f"retracted: {'; '.join(map(str, found.retracted)) or 'nothing'}")
    print(f"refutations: {'; '.join(map(str, found.refutations)) or 'none'}")
    print(f"error of the labels: {clustering_error(found.labels, made.labels):.2%}")


if __name__ == "__main__":
    main()
