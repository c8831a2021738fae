"""``samecluster verify``: check a proof against the data, in exact arithmetic."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._parameters import check_share
from samecluster.cli.terminal.screen import Screen
from samecluster.lifts.lift import lift_from_json
from samecluster.proof.checker import BadProof, check
from samecluster.proof.files import read_lines
from samecluster.recovery.result.premises import MarginHolds
from samecluster.recovery.result.sentences import clause, count
from samecluster.tables import CsvOptions, FeatureOptions, Preparation, read_table
from samecluster.workspace.request import Request


def run_verify(data: Path, proof: Path, resolution: float, max_memory: float | None = None) -> bool:
    """Print what the proof shows; False if it does not hold.

    ``resolution`` is the largest one to allow, as a share of each column's spread.
    """
    check_share("--resolution", resolution)
    console = Screen()
    allowed = Request(str(data), max_memory=max_memory).max_bytes()
    with console.waiting("reading the data"):
        table = read_table(data, CsvOptions(max_bytes=allowed))
        # A proof is about the numbers of the file as they are, in all columns.
        X = Preparation.fit(table, FeatureOptions(features=table.names, scale=False)).apply(table)
    lines = read_lines(proof, allowed)
    header: dict[str, Any] = next(lines, {})
    try:
        with console.status("checking"):
            verified = check(X, itertools.chain([header], lines), resolution)
    except BadProof as error:
        console.print(f"The proof does NOT hold. {error}")
        return False
    known = int(np.count_nonzero(verified.labels >= 0))
    margin = float.fromhex(header["margin"])
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in verified.n_records.items())
    lift = lift_from_json(header.get("lift"), table.names)
    told = "" if lift is None else lift.said()
    assumed = clause(MarginHolds(margin, False, tuple(verified.resolution.tolist()), lift=told))
    if {"last", "count"} & verified.n_records.keys():
        assumed += f" and there are {header['n_clusters']} clusters"
    console.print(
        f"The proof holds: {known:,} of {len(X):,} labels in "
        f"{count(verified.n_clusters, 'cluster')} follow from "
        f"{count(verified.n_records.get('answer', 0), 'answer')} if {assumed}.",
        f"Records checked: {kinds}. Reach was decided in floats with a bound on every rounding "
        "error, and exactly where that did not suffice "
        f"({count(verified.n_by_rationals, 'record')}).",
        sep="\n",
    )
    if not verified.all_different:
        console.print("The clusters are not shown to be pairwise different.")
    return True
