"""``samecluster verify``: check a proof against the data, in exact arithmetic.

Nothing heavy is imported before it runs, as its help text is made from this module.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def verify(
    data: Annotated[Path, typer.Argument(help="The points the proof is about: .npy or .csv.")],
    proof: Annotated[Path, typer.Argument(help="The proof log, as written by samecluster.")],
    resolution: Annotated[
        float,
        typer.Option(
            help="The largest resolution to allow, as a share of each column's spread. Clusters "
            "are then taken to have no sharper boundary."
        ),
    ] = 2.0**-10,
    max_memory: Annotated[
        float | None, typer.Option(help="GiB that the points and a line of the proof may take; 2.")
    ] = None,
) -> None:
    """Check a proof against the data, in exact arithmetic, and name the first bad record.

    Example: samecluster verify demo/data.npy demo/proof.jsonl.gz
    """
    import itertools

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
        raise typer.Exit(1) from None
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
