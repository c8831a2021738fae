"""Looks before panels and programs: as many people as it takes, and lines of version 2."""

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import LookSizes, recover
from samecluster.errors import InvalidInputError, OracleError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import CommandOracle, LabelOracle, NoisyOracle, Panel, ShownItem
from samecluster.oracles.base import checked_reply
from samecluster.oracles.command_looks import look_line, read_look
from samecluster.questions.drive import drive_looks
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Marks,
    Picks,
    Sheet,
    Unions,
    verdicts_of,
)
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Run
from samecluster.testing import check_oracle

LABELS = np.arange(40) % 4
LOOKS: list[Any] = [
    Choice(9, ((0, 4), (1, 5), (2,), (3,))),
    Choice(9, ((0,), (2,), (3,))),
    Sheet(0, tuple(range(1, 13))),
    CheckSheet(tuple((item, item % 5) for item in range(20, 32)), decoys=(25, 26)),
    Board((0, 1, 2, 3, 4, 9)),
]


def people(*ps: float, seed: int = 0) -> dict[str, NoisyOracle]:
    truth = LabelOracle(LABELS)
    return {f"p{at}": NoisyOracle(truth, p, random_state=10 * seed + at) for at, p in enumerate(ps)}


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: type(look).__name__)
def test_people_who_do_not_err_reply_as_one_would(look) -> None:
    panel = Panel(people(0, 0, 0), error=0.01, strength=np.inf)
    reply = checked_reply(panel, look)
    assert dict(verdicts_of(look, reply)) == dict(
        verdicts_of(look, checked_reply(LabelOracle(LABELS), look))
    )
    n_answers = panel.n_answers
    assert checked_reply(panel, look) == reply
    assert panel.n_answers == n_answers, "what is settled is not asked again"


def test_a_panel_outvotes_those_who_err() -> None:
    """Errors on looks at a rate that leaves few wrong verdicts, and far fewer than one person."""
    n_wrong = n_alone = n_said = 0
    for seed in range(30):
        crowd = people(0.1, 0.1, 0.1, 0.1, 0.1, seed=seed)
        panel = Panel(crowd, confidence=0.99, error=0.1, strength=np.inf)
        for look in LOOKS:
            right = {q: LABELS[q.item] == LABELS[q.comparator] for q in look.questions}
            for answerer, counted in ((panel, True), (crowd["p0"], False)):
                said = verdicts_of(look, checked_reply(answerer, look))
                wrong = sum(
                    v is not Verdict.UNSURE and Verdict.of(right[q]) is not v for q, v in said
                )
                n_wrong += wrong if counted else 0
                n_alone += 0 if counted else wrong
                n_said += len(said) if counted else 0
    assert n_wrong <= 0.02 * n_said
    assert n_alone > 3 * n_wrong


def test_two_groups_that_some_choose_do_not_become_one() -> None:
    class Fixed(LabelOracle):
        def __init__(self, place: int) -> None:
            super().__init__(LABELS)
            self.place = place

        def choose(self, choice: Choice) -> tuple[int, ...]:
            return (self.place,)

    panel = Panel({name: Fixed(name in "cd") for name in "abcd"}, error=0.2, strength=np.inf)
    assert checked_reply(panel, LOOKS[0]) == Picks(unsure=True)


def test_a_panel_notices_a_decoy_as_it_would_notice_a_wrong_label() -> None:
    class Blind(LabelOracle):
        def check(self, sheet: CheckSheet) -> Marks:
            return Marks()

    sheet = LOOKS[3]
    blind = Panel({"a": Blind(LABELS), "b": Blind(LABELS)}, error=0.05, strength=np.inf)
    assert sheet.answered(checked_reply(blind, sheet)).overlooked == sheet.decoys
    mixed = Panel({"a": Blind(LABELS), "b": LabelOracle(LABELS)}, error=0.05, strength=np.inf)
    assert sheet.answered(checked_reply(mixed, sheet)).overlooked == ()


def test_a_panel_asks_pairs_of_people_who_know_only_pairs() -> None:
    panel = Panel({"a": LabelOracle(LABELS), "b": lambda i, j: LABELS[i] == LABELS[j]})
    assert panel.look_sizes(LookSizes()).pairs_only


def test_a_recovery_by_a_panel_with_looks_is_exact() -> None:
    made = make_ellipsoids(n=2_000, d=2, k=3, margin=1.0, random_state=1)
    truth = LabelOracle(made.labels)
    panel = Panel({str(p): NoisyOracle(truth, 0.05, random_state=p) for p in range(5)})
    found = recover(made.X, panel, margin=1.0, looks="auto", random_state=0)
    assert len(set(zip(found.labels.tolist(), made.labels.tolist(), strict=True))) == 3
    assert found.n_looks < found.n_questions


# -- programs ----------------------------------------------------------------------------------

PROGRAM = """
import json, sys
for line in sys.stdin:
    look = json.loads(line)
    assert look["version"] == 2
    of = lambda item: item["fields"]["label"]
    kind, answer = look["kind"], {"id": look["id"]}
    if kind == "pair":
        answer["verdict"] = "same" if of(look["item"]) == of(look["comparator"]) else "different"
    elif kind == "choice":
        answer["chosen"] = [
            at for at, group in enumerate(look["groups"]) if of(group[0]) == of(look["item"])
        ]
    elif kind == "sheet":
        same = [of(cell["item"]) == of(cell["reference"]) for cell in look["cells"]]
        answer["verdicts"] = ["same" if one else "different" for one in same][:MOST]
    else:
        answer["groups"] = [of(item) for item in look["items"]][:MOST]
    print(json.dumps(answer), flush=True)
"""


def program(most: int = 99) -> CommandOracle:
    return CommandOracle(
        [sys.executable, "-c", PROGRAM.replace("MOST", str(most))],
        lambda row: ShownItem(str(row), {"label": int(LABELS[row])}),
        protocol=2,
    )


def test_a_program_that_answers_looks_keeps_the_promises_of_an_oracle() -> None:
    with program() as oracle:
        check_oracle(oracle, np.zeros((40, 1)))
        for look in LOOKS:
            said = dict(verdicts_of(look, checked_reply(oracle, look)))
            truth = dict(verdicts_of(look, checked_reply(LabelOracle(LABELS), look)))
            assert said == truth
    assert oracle.look_sizes(LookSizes()) == LookSizes()


def test_what_a_program_leaves_out_is_put_again() -> None:
    def plan():
        return (yield [Sheet(0, tuple(range(1, 13))), Board((1, 2, 3, 5, 6))])

    with program(most=3) as oracle:
        looks = []

        def reply_many(put):
            for look in put:
                looks.append(look)
                yield look, checked_reply(oracle, look)

        run = Run(plan())
        drive_looks(run, reply_many)
    right = [LABELS[q.item] == LABELS[q.comparator] for look in looks[:1] for q in look.questions]
    assert run.result[:12] == [Verdict.of(same) for same in right]
    assert Sheet(0, tuple(range(4, 13))) in looks
    with program(most=0) as oracle:
        by_pairs = drive_looks(Run(plan()), oracle.reply_many)
    assert by_pairs == run.result


def test_the_old_protocol_is_asked_pairs() -> None:
    oracle = CommandOracle([sys.executable, "-c", ""])
    assert oracle.look_sizes(LookSizes()).pairs_only
    with pytest.raises(InvalidInputError, match="protocol"):
        CommandOracle([sys.executable], protocol=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("look", "said", "reply"),
    [
        (LOOKS[0], {"chosen": [1, 3]}, Picks((1, 3))),
        (LOOKS[0], {"chosen": []}, Picks()),
        (LOOKS[0], {"verdict": "unsure"}, Picks(unsure=True)),
        (Sheet(0, (1, 2)), {"verdicts": ["different", "unsure"]}, Marks((1,), (2,))),
        (Sheet(0, (1, 2)), {"verdicts": [None]}, Marks(skipped=(1, 2))),
        (Board((1, 2, 3)), {"groups": ["a", "b", "a"]}, Unions(((1, 3),))),
        (Board((1, 2, 3)), {"groups": [0, "unsure"]}, Unions((), (2,), (3,))),
    ],
)
def test_replies_are_read_as_documented(look, said, reply) -> None:
    line = json.dumps({"id": "1", "note": "so", **said}).encode()
    assert read_look(line, "1", look) == (reply, "so")


@pytest.mark.parametrize(
    ("look", "said"),
    [
        (LOOKS[0], {"chosen": [4]}),
        (LOOKS[0], {"chosen": [True]}),
        (LOOKS[0], {"verdict": "same"}),
        (LOOKS[0], {"chosen": 1}),
        (Sheet(0, (1, 2)), {"verdicts": ["same"] * 3}),
        (Sheet(0, (1, 2)), {"verdicts": ["perhaps"]}),
        (Sheet(0, (1, 2)), {"verdicts": "same"}),
        (Sheet(0, (1, 2)), {}),
        (Board((1, 2, 3)), {"groups": [[1]]}),
        (Question(1, 2), {"verdict": "perhaps"}),
    ],
)
def test_a_reply_that_does_not_fit_is_refused(look, said) -> None:
    with pytest.raises(OracleError, match="it must answer"):
        read_look(json.dumps({"id": "1", **said}).encode(), "1", look)


@given(st.sampled_from(LOOKS), st.recursive(
    st.none() | st.booleans() | st.integers(-1, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4),
))  # fmt: skip
def test_no_reply_breaks_the_reader(look, said) -> None:
    line = json.dumps({"id": "1", "chosen": said, "verdicts": said, "groups": said}).encode()
    try:
        reply, _ = read_look(line, "1", look)
    except OracleError:
        return
    verdicts_of(look, reply)


def test_a_line_holds_what_is_shown_and_not_which_cells_are_decoys() -> None:
    with_decoys = json.loads(look_line("1", LOOKS[3], lambda row: ShownItem(str(row))))
    without = CheckSheet(LOOKS[3].cells)
    assert with_decoys == json.loads(look_line("1", without, lambda row: ShownItem(str(row))))
    assert [cell["item"]["key"] for cell in with_decoys["cells"]] == [
        str(item) for item in without.items
    ]
