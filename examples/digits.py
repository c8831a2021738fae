"""Handwritten digits with nothing declared: no margin, no number of clusters.

1,797 scanned digits of 64 pixels. Somebody who sees two of them can say whether they are the same
digit; here the known labels answer instead. An audit then says how good the labels are without
looking at the truth.

    python examples/digits.py
"""

from __future__ import annotations

from sklearn.datasets import load_digits

from samecluster import Recovery, clustering_error, recover

BUDGET = 200
AUDIT = (0.05, 0.95)
"""At most 5 % of the labels wrong, at 95 % confidence."""


def main() -> None:
    pixels, digits = load_digits(return_X_y=True)

    def same_digit(i: int, j: int) -> bool:
        return bool(digits[i] == digits[j])

    def tell(n_questions: int, found: Recovery) -> None:
        error = clustering_error(found.labels, digits)
        print(f"after {n_questions:,} questions {error:.1%} of the labels are wrong")

    quick = recover(pixels, same_digit, max_questions=BUDGET, random_state=0)
    tell(quick.n_questions, quick)

    # Answers are not lost: the audit begins with what is known, and asks for what it needs.
    audited = recover(pixels, same_digit, audit=AUDIT, answers=quick.answers, random_state=0)
    tell(quick.n_questions + audited.n_questions, audited)
    print(f"the audit says: {audited.audit}")
    for sentence in audited.assumptions:
        print(f"- {sentence}")


if __name__ == "__main__":
    main()
