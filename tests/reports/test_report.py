"""The report: one file that tells the truth in words, loads nothing, and shows text as text."""

import base64
import html
import importlib.util
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import Answer, How, MarginSearch, Predict, Question, Recovery, Verdict, recover
from samecluster.errors import InvalidInputError, RefutedError
from samecluster.instances import make_ellipsoids
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.reports import write_report
from samecluster.reports.page import Contents, page

ALLOWED = (
    "html head meta title style body main header section footer h1 h2 p strong ul li dl dt dd "
    "div span table thead tbody tr th td details summary picture source img"
)


class Reader(HTMLParser):
    """What a browser makes of a page: elements, addresses, and the text that is read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.addresses += [v for name, v in attrs if name in ("src", "srcset", "href", "style")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data) -> None:
        if self.tags[-1:] != ["style"]:
            self.texts.append(data)
        if self.tags[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def proven() -> Recovery:
    made = make_ellipsoids(n=300, d=3, k=3, random_state=0)
    return recover(
        made.X,
        lambda i, j: made.labels[i] == made.labels[j],
        n_clusters=3,
        margin=made.margin,
        random_state=0,
    )


@pytest.fixture(scope="module")
def predicted() -> Recovery:
    made = make_ellipsoids(n=200, d=2, k=3, random_state=0)
    return recover(
        made.X,
        lambda i, j: made.labels[i] == made.labels[j],
        method=Predict(expected_error=0),
        max_questions=20,
        random_state=0,
    )


def hide_matplotlib(patch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    patch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )


@pytest.fixture
def without_pictures(monkeypatch):
    hide_matplotlib(monkeypatch)


def read(tmp_path, recovery, **told) -> Reader:
    path = tmp_path / "report.html"
    write_report(recovery, path, **{"title": "letters.csv", **told})
    return Reader(path.read_text("utf-8"))


def test_it_says_what_is_known_and_under_what(tmp_path, proven) -> None:
    report = read(tmp_path, proven)
    n = proven.n_questions
    assert f"All 300 points have a label, in 3 clusters, after {n} questions." in report.words
    assert (
        f"{proven.count(How.PROVEN)} proven 9{proven.count(How.PROVEN) / 3 - 90:.1f} %"
        f" {proven.claims[1]}" in report.words
    )
    assert "No audit was made" in report.words
    assert "No answer was found" in report.words
    assert "No point was set aside" in report.words
    assert f"The proof has {len(proven.proof or []):,} records" in report.words


def test_an_estimated_margin_is_called_so(tmp_path, proven) -> None:
    how = np.where(proven.how_codes == How.PROVEN, How.INFERRED, proven.how_codes)
    inferred = replace(proven, how_codes=how.astype(np.int8), margin=0.25)
    told = "every cluster has the guessed margin of 0.25"
    guessed = replace(inferred, search=MarginSearch(0.25, (), 3))
    assert told in read(tmp_path, guessed).words
    declared = read(tmp_path, inferred).words
    assert told not in declared
    assert "if a premise holds that nobody vouches for" in declared


def test_predictions_come_with_what_the_model_expects_of_itself(tmp_path, predicted) -> None:
    by_model = predicted.how_codes == How.PREDICTED
    assert predicted.probability is not None
    wrong = float(np.mean(1 - predicted.probability[by_model]))
    expects = f"expects about {100 * wrong:.2g} % of them to be"
    assert expects not in read(tmp_path, predicted).words, "too few answers to compare with"
    tells = replace(predicted, foresight=predicted.foresight._replace(n_records=50))
    assert expects in read(tmp_path, tells).words


def test_audit_refutations_and_exceptions_are_told_as_they_are(tmp_path, proven) -> None:
    refuted = RefutedError(3, 1, (Answer(Question(3, 4), Verdict.SAME),), 1.0, 0.4)
    report = read(
        tmp_path,
        replace(proven, audit=AuditReport(20_000, 159, 0.95, 327, 0, 1, True)),
        trouble=[refuted, "another"],
        exceptions=["row 17"],
    )
    said = "at most 0.8 % of the labels are not in the cluster they stand for (95 % confidence, 327"
    assert said in report.words, "two pairs of clusters are told apart by a proof only"
    assert str(refuted) in report.words
    assert "another" in report.words
    assert "row 17" in report.words
    assert "No audit" not in report.words


def test_the_table_of_clusters_has_sizes_and_how_they_are_known(tmp_path, proven) -> None:
    report = read(tmp_path, proven, names={1: "bills"})
    rows = {row[0]: row[1:] for row in report.rows[:4]}
    assert rows.pop("cluster") == ["points", "asked", "proven"]
    for label, name in enumerate(["cluster 0", "bills", "cluster 2"]):
        of = proven.how_codes[proven.labels == label]
        known = [np.count_nonzero(of == how) for how in (How.ASKED, How.PROVEN)]
        assert rows[name] == [str(len(of)), *map(str, known)]


def test_very_many_clusters_and_answers_are_summed_up(tmp_path, proven, without_pictures) -> None:
    n = 1200
    many = replace(
        proven,
        labels=np.arange(n) // 2,
        how_codes=np.full(n, How.ASKED, dtype=np.int8),
        answers=tuple(Answer(Question(0, i), Verdict.DIFFERENT) for i in range(1, n)),
    )
    report = read(tmp_path, many)
    assert ["400 smaller clusters together", "800", "800"] in report.rows
    assert "The first 1,000 of 1,199 answers" in report.words
    assert sum(row[-2:] == ["different", ""] for row in report.rows) == 1000


def test_every_answer_is_listed(tmp_path, proven) -> None:
    said = tuple(replace(answer, who="ann") for answer in proven.answers)
    rows = read(tmp_path, replace(proven, answers=said)).rows
    for answer in said:
        i, j = answer.question.item, answer.question.comparator
        assert [str(i), str(j), answer.verdict.value, "ann"] in rows


def test_it_loads_nothing_and_runs_nothing(tmp_path, proven) -> None:
    report = read(tmp_path, proven)
    assert set(report.tags) <= set(ALLOWED.split())
    pictures = [a for a in report.addresses if a.startswith("data:image/svg+xml;base64,")]
    assert len(pictures) == 4
    assert len(set(pictures)) == 4, "light and dark differ"
    others = set(report.addresses) - set(pictures)
    assert all(re.fullmatch(r"flex-grow:[\d.]+", other) for other in others)
    for picture in pictures:
        svg = base64.b64decode(picture.split(",")[1]).decode()
        links = re.findall(r'href="([^"]*)"', svg)
        assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
        assert "<script" not in svg
    text = (tmp_path / "report.html").read_text()
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in html.unescape(text)


def test_no_value_of_an_item_is_shown_unless_items_are_given(tmp_path, proven) -> None:
    items: dict[int, dict[str, object]] = {7: {"name": "Anna", "year": 1911}, 9: {"name": "Otto"}}
    without = read(tmp_path, proven)
    for fields in items.values():
        assert not [v for v in fields.values() if str(v) in without.words]
    assert not [x for x in proven.points.ravel() if f"{x:.3f}" in without.words]
    rows = read(tmp_path, proven, items=items).rows
    assert ["row", "cluster", "how", "name", "year"] in rows
    how = proven.how
    assert ["7", str(proven.labels[7]), how[7], "Anna", "1911"] in rows
    assert ["9", str(proven.labels[9]), how[9], "Otto", ""] in rows


def test_items_must_be_rows(tmp_path, proven) -> None:
    with pytest.raises(InvalidInputError, match="rows from 0 to 299, got 300"):
        write_report(proven, tmp_path / "r.html", title="t", items={300: {}})


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1) | st.sampled_from(
    ["<script>alert(1)</script>", "</title><b>", '" onload="x', "&lt;", "<!--", "]]>", "&amp;amp;"]
)


def unpictured(proven: Recovery, **told) -> Reader:
    """Words only: pictures are tested with theirs."""
    with pytest.MonkeyPatch.context() as patch:
        hide_matplotlib(patch)
        return Reader(page(Contents(proven, **told)))


@given(texts, texts, texts, texts, texts)
def test_all_text_is_shown_as_text(proven, title, trouble, exception, name, field) -> None:
    plain = unpictured(proven, title="t", trouble=["b"], exceptions=["c"],
                       items={0: {"f": "x"}})  # fmt: skip
    report = unpictured(
        proven, title=title, trouble=[trouble], exceptions=[exception],
        names={0: name}, items={0: {field: name}},
    )  # fmt: skip
    assert report.tags == plain.tags, "text became an element"
    read_texts = "".join(report.texts)
    for text in (title, trouble, exception, name, field):
        assert text in read_texts
    assert [*report.rows[-1]][-1] == name
    assert [*report.rows[-2]][-1] == field


def test_without_matplotlib_it_is_written_and_says_what_to_install(
    tmp_path, proven, without_pictures
) -> None:
    report = read(tmp_path, proven)
    assert report.words.count("pip install samecluster[plots]") == 2
    assert "img" not in report.tags


def test_a_report_that_fails_leaves_the_old_one_and_nothing_else(tmp_path, proven) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    path = tmp_path / "report.html"
    write_report(proven, path, title="old")
    old = path.read_text()
    with pytest.raises(RuntimeError, match="no words"):
        write_report(proven, path, title="t", trouble=[Broken()])
    assert path.read_text() == old
    (tmp_path / "folder").mkdir()
    for name, why in (("folder", "is a folder"), ("missing/r.html", "cannot be written")):
        with pytest.raises(InvalidInputError, match=f"{tmp_path / name} {why}"):
            write_report(proven, tmp_path / name, title="t")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "report.html"]


def test_half_a_character_does_not_cost_the_report(tmp_path, proven, without_pictures) -> None:
    report = read(tmp_path, proven, items={0: {"name": "caf\udce9"}})
    assert report.rows[-1][-1] == "caf?"


def test_a_recovery_that_knows_nothing_can_be_told(tmp_path, proven) -> None:
    n = len(proven.labels)
    nothing = replace(
        proven,
        labels=np.full(n, -1),
        how_codes=np.zeros(n, dtype=np.int8),
        round_of=np.full(n, -1, dtype=np.int32),
        rounds=(),
        answers=(),
        n_questions=0,
    )
    assert "0 of 300 points have a label, in 0 clusters" in read(tmp_path, nothing).words
