"""The page of a report: its sections in order, and how they look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import count
from samecluster.reports.markup import MARK, Markup, tag
from samecluster.reports.pictures import cluster_picture, progress_picture
from samecluster.reports.tables import answer_table, cluster_table, item_table


@dataclass(frozen=True)
class Contents:
    """All that a report tells; `samecluster.reports.write_report` says what each is."""

    recovery: Recovery
    title: str
    trouble: Sequence[Any] = ()
    exceptions: Sequence[Any] = ()
    items: Mapping[int, Mapping[str, Any]] | None = None
    columns: Sequence[str] | None = None
    names: Mapping[int, str] = field(default_factory=dict)


def page(contents: Contents) -> str:
    """The whole page. It loads nothing and runs nothing, and says so to the browser."""
    recovery = contents.recovery
    sections = [
        tag("header", tag("h1", contents.title), tag("p", _headline(recovery), class_="headline")),
        _section("How labels are known", _bar(recovery), _meanings(recovery)),
        _section("Wrong labels", *_audit(recovery)),
        _section("Answers against the margin", *_list(contents.trouble, _NO_TROUBLE)),
        _section("Exceptions", *_list(contents.exceptions, _NO_EXCEPTIONS)),
        _section("Clusters", cluster_picture(recovery, contents.columns, contents.names),
                 cluster_table(recovery, contents.names)),
        _section("Questions", progress_picture(recovery), answer_table(recovery)),
        *([_section("Items", item_table(recovery, contents.items))] if contents.items else []),
        tag("footer", _footer(contents)),
    ]  # fmt: skip
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        MARK,
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", contents.title),
        tag("style", Markup(_STYLE)),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, tag("body", tag("main", *sections)), lang="en")


def _headline(recovery: Recovery) -> str:
    n_clusters = len(np.unique(recovery.labels[recovery.labels >= 0]))
    labelled = int(np.count_nonzero(recovery.how_codes))
    all_of = "All" if labelled == len(recovery.labels) else f"{labelled:,} of"
    return (
        f"{all_of} {count(len(recovery.labels), 'point')} have a label, in "
        f"{count(n_clusters, 'cluster')}, after {count(recovery.n_questions, 'question')}."
    )


def _section(title: str, *content: Markup) -> Markup:
    return tag("section", tag("h2", title), *content)


def _bar(recovery: Recovery) -> Markup:
    """One bar for all points, cut by how their labels are known; the list below has the words."""
    n = len(recovery.labels)
    parts = [
        tag("span", class_=how.name.lower(), style=f"flex-grow:{recovery.count(how) / n:.6f}")
        for how in reversed(How)
        if recovery.count(how)
    ]
    return tag("div", *parts, class_="bar", aria_hidden="true")


def _meanings(recovery: Recovery) -> Markup:
    """What is claimed of the labels that are known in each way, and of clusters."""
    n = len(recovery.labels)
    parts: list[Markup] = []
    for claim in recovery.claims:
        if claim.kind == "audit":
            continue
        head: list[Any] = ["clusters"]
        if claim.n_items:
            share = tag("span", f" {100 * claim.n_items / n:.1f} %", class_="quiet")
            key = tag("span", class_=f"key {claim.kind}")
            head = [key, f"{claim.n_items:,} {claim.kind}", share]
        parts += [tag("dt", *head), tag("dd", str(claim))]
    return tag("dl", *parts)


def _audit(recovery: Recovery) -> list[Markup]:
    told = [tag("p", tag("strong", str(claim))) for claim in recovery.claims if claim.report]
    return told or [tag("p", _NO_AUDIT)]


def _list(things: Sequence[Any], otherwise: str) -> list[Markup]:
    if not things:
        return [tag("p", otherwise)]
    return [tag("ul", *(tag("li", str(thing)) for thing in things))]


def _footer(contents: Contents) -> str:
    recovery = contents.recovery
    proof = (
        f" The proof has {count(len(recovery.proof), 'record')}; samecluster verify checks it."
        if recovery.proof is not None
        else ""
    )
    values = "" if contents.items else " It holds no values of items."
    return (
        f"Method {recovery.method}.{proof} This file loads nothing from elsewhere.{values} Its "
        "pictures show where items lie."
    )


_NO_AUDIT = (
    "No audit was made. About labels that were not asked nothing is promised beyond what is said "
    "above."
)
_NO_TROUBLE = "No answer was found that the others and the margin do not allow."
_NO_EXCEPTIONS = "No point was set aside as an exception."
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { --paper: #ffffff; --ink: #1a1a1a; --quiet: #666666; --line: #dddddd; --asked: #0072b2;
  --proven: #e69f00; --inferred: #009e73; --predicted: #cc79a7; --unassigned: #b5b5b5; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #ececec; --quiet: #a0a0a0;
  --line: #33373d; --asked: #4a90d9; --unassigned: #5c6066; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem;
  border-bottom: 1px solid var(--line); }
p, ul { max-width: 46rem; }
.headline { font-size: 1.15rem; margin: 0; }
.quiet, footer { color: var(--quiet); }
footer { margin-top: 3rem; font-size: .875rem; }
.bar { display: flex; gap: 2px; height: 1.1rem; margin: .8rem 0 1rem; }
.bar span { flex-basis: 3px; border-radius: 2px; }
.asked { background: var(--asked); } .proven { background: var(--proven); }
.inferred { background: var(--inferred); } .predicted { background: var(--predicted); }
.unassigned { background: var(--unassigned); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; margin: 0; }
dt { font-weight: 600; } dd { margin: 0; max-width: 40rem; }
.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .5rem;
  border-radius: 2px; }
dt .quiet { font-weight: 400; }
img { display: block; max-width: 100%; height: auto; margin: .5rem auto 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9375rem; }
th, td { padding: .3rem 1.25rem .3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--quiet); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; }
details .scroll { max-height: 24rem; overflow-y: auto; margin-top: .5rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: .1rem; }
  dd { margin-bottom: .7rem; } }
@media print { body { font-size: 12px; } }
"""
