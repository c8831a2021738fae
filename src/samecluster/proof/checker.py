"""Checks a proof log against the data. Trusts nothing; shares no code with what wrote the log.

A log says, record by record, what follows from the answers if every cluster has margin γ at
resolution τ: for each cluster C some PSD matrix W and centre c have

    d_W(x, c) ≤ 1 for x in C,   d_W(n, c)² > 1 + γ for all other n,   W_jj ≤ 1/τ_j² for all j.

A large τ_j would allow no boundary at all, and prove anything. So it is at most 2⁻¹⁰ of what the
column's values differ by, unless whoever checks allows more: see `spread`.

Write x̃ = (x, 1). The x̃ of members and the vectors (τ_j e_j, 0) are *columns* of C, written as the
item or as -1-j: under (W, c) they have length ≤ 1, while |ñ|² > 1+γ for all n outside. Where τ_j
is 0 nothing is assumed of W_jj; the column is the zero vector, and of no use.

cluster i           a new name (0, 1, …) for the cluster of item i
answer i j verdict  one of the items being in a named cluster. If both are, and the verdict is
                    "same", they are two names of one cluster: that of i stays
in C rows           each row is an item y and d+1 independent columns of C (items of rows before it
                    are members too) with ỹ = Σ w·column and (Σ|w|)² ≤ 1+γ. Then |ỹ| ≤ Σ|w|, so y
                    is not outside: y is in C
out y C n columns   the same for some n outside C, with y counted as a member: so y is not in C
last y C            k pairwise different clusters are known, and y is in none of the others
count               every item has a name, and there are k names: they are the k clusters
sdp C side items columns non-members w
                    With weights λ ≥ 0 on columns of C, μ ≥ 0 on items outside C, w > 0 on an item
                    y, and G = Σ λ aaᵀ − Σ μ ññᵀ:
                    "in": G − w ỹỹᵀ ⪰ 0 and Σλ ≤ (1+γ)(Σμ + w). If y were outside, we would have
                    Σλ ≥ Σ λ|a|² ≥ Σ μ|ñ|² + w|ỹ|² > (1+γ)(Σμ + w): so y is in C.
                    "out": G + w ỹỹᵀ ⪰ 0 and Σλ + w ≤ (1+γ)Σμ, Σμ > 0. If y were in C, it would be
                    a column of weight w, with the same contradiction: so y is not in C.
                    Each item stands by itself on what was known before the record
differ A B columns non-members
                    G ⪰ 0 and Σλ ≤ (1+γ)Σμ, Σμ > 0, with columns of A or of B, and items outside A
                    or outside B. If A and B were one cluster, all these columns would be its own,
                    and what is outside A or outside B would be outside of it, with the same
                    contradiction: so A and B are different

A header with a *lift* is about other columns. Of the kind "polynomial": with u_j = (x_j − shift_j)
/ 2^exponent_j for every column j that varies, all monomials up to the degree, ordered by degree and
then by columns (u_0, u_1, u_0², u_0 u_1, u_1², …), each computed from left to right in floats, a
rounding per operation. They are computed here from X, and the proof is about these floats. Of the
kind "own": X is what somebody's function returned; nothing is known about it.

All is decided in exact arithmetic: by floats where a bound on every rounding error decides, by
integers and fractions (every float is one) where it does not.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FORMAT, LIFTED_FORMAT = "samecluster-proof-1", "samecluster-proof-2"  # the latter with a lift
LIFTS = {1: "linear", 2: "quadratic", 3: "cubic", 4: "quartic"}
_MOST_LIFTED = 400  # columns
# A shift farther away than this many ranges, or numbers of another size than this, would lose what
# a column's values differ by: then all points are one, and everything is in reach.
_FAR, _OF_UNIT_SIZE = 2.0**10, 2.0**64
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class BadProof(Exception):
    """A record that does not hold, by its number from 0 (-1: the header)."""

    def __init__(self, record: int, reason: str) -> None:
        self.record = record
        super().__init__(f"record {record}: {reason}" if record >= 0 else f"header: {reason}")


@dataclass(frozen=True)
class VerifiedProof:
    """What a proof shows, once it has passed."""

    labels: npt.NDArray[np.int64]  # cluster of each item, -1 where the proof says nothing
    n_clusters: int
    n_records: dict[str, int]
    all_different: bool  # whether the named clusters are shown to be pairwise different
    resolution: npt.NDArray[np.float64]  # τ of each column, lifted ones if there is a lift
    lift: str  # what the margin is one in, to come after "in"; empty if there is no lift
    n_by_rationals: int  # `in` and `out` records that floats could not decide


def fingerprint(X: Array) -> str:
    """A hash of the coordinates: shape and IEEE doubles in rows, little-endian."""
    data = np.ascontiguousarray(X, dtype="<f8")
    hashed = hashlib.sha256(repr(data.shape).encode())
    hashed.update(data.data)
    return hashed.hexdigest()


def spread(column: Array) -> float:
    """The 10 % quantile of the distances from the median that are not 0; 0 if all are 0.

    Extreme values do not move it. It takes two copies of the column, and no sorting.
    """
    middle, largest = (len(column) - 1) // 2, np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        away = np.minimum(np.abs(column - np.partition(column, middle)[middle]), largest)
    away = away[away > 0]
    tenth = (len(away) - 1) // 10
    return float(np.partition(away, tenth)[tenth]) if len(away) else 0.0


def lifted(
    X: Array, header: dict[str, Any], need: Callable[[bool, str], None]
) -> tuple[Array, str]:
    """The columns that a proof about X is about, and what the lift is called."""
    if "lift" not in header:
        return X, ""
    lift = header["lift"]
    if lift["kind"] == "own":
        need(lift.keys() == {"kind", "name"} and isinstance(lift["name"], str), "no such lift")
        return X, f"what the lift {lift['name']!r} returned"
    need(lift["kind"] == "polynomial", f"there is no lift of the kind {lift['kind']!r}")
    known = {"kind", "degree", "columns", "shift", "exponent"}
    need(lift.keys() == known, "a polynomial lift has a degree, columns, shifts and exponents")
    degree, names = lift["degree"], lift["columns"]
    need(type(degree) is int and degree in LIFTS, f"there is no lift of degree {degree!r}")
    low, high = X.min(axis=0), X.max(axis=0)
    need(names == np.flatnonzero(high > low).tolist(), "not the columns that vary are lifted")
    n_columns = math.comb(len(names) + degree, degree) - 1
    need(0 < n_columns <= _MOST_LIFTED, f"a lift to {n_columns} columns is not allowed")
    units = []
    for j, shift, exponent in zip(names, lift["shift"], lift["exponent"], strict=True):
        at, range_ = float.fromhex(shift), high[j] - low[j]
        near = low[j] - _FAR * range_ <= at <= high[j] + _FAR * range_
        need(bool(near), f"column {j} is shifted beyond its range")
        need(type(exponent) is int, f"exponent {exponent!r}")
        units.append(np.ldexp(X[:, j] - at, -exponent))
        largest = np.abs(units[-1]).max()
        need(bool(1 / _OF_UNIT_SIZE <= largest <= _OF_UNIT_SIZE), f"column {j} is out of scale")
    columns = [
        functools.reduce(np.multiply, factors)
        for power in range(1, degree + 1)
        for factors in itertools.combinations_with_replacement(units, power)
    ]
    listed = ", ".join(map(str, names))
    return np.column_stack(columns), f"the {LIFTS[degree]} lift of columns {listed}"


def check(X: Array, lines: Iterable[Any], resolution: float = 2.0**-10) -> VerifiedProof:
    """Check a log: a header, then records. Raises BadProof at the first that does not hold.

    ``resolution`` is the largest τ to allow, as a share of each column's spread.
    """
    lines = iter(lines)
    header: Any = next(lines, {})
    try:
        with np.errstate(over="ignore"):  # what is not finite is refused
            checker = _Checker(np.asarray(X, dtype=np.float64), header, resolution)
    except _UNREADABLE as error:
        raise BadProof(-1, f"cannot be read ({error!r})") from error
    rules: dict[str, Callable[..., None]] = {
        "cluster": checker.name_cluster,
        "answer": checker.answer,
        "in": checker.inside_by_reach,
        "out": checker.outside_by_reach,
        "last": checker.last,
        "count": checker.count,
        "sdp": checker.by_weights,
        "differ": checker.differ_by_weights,
    }
    for line in lines:
        try:
            kind, *fields = line
            rules[kind](*fields)
        except _UNREADABLE as error:
            raise BadProof(checker.record, f"cannot be read ({error!r})") from error
    return VerifiedProof(
        labels=np.maximum(checker.cluster_of, -1),
        n_clusters=len(checker.names),
        n_records=dict(checker.counts),
        all_different=checker.all_different(),
        resolution=checker.tau,
        lift=checker.lift,
        n_by_rationals=checker.n_by_rationals,
    )


class _Checker:
    """What is known: the cluster of each item, and which clusters differ.

    A cluster without a name is called -1-i after its only known item i. So an item that is outside
    of C is nothing new: its cluster and C differ.
    """

    def __init__(self, X: Array, header: dict[str, Any], share: float) -> None:
        self.record = -1
        wanted = LIFTED_FORMAT if "lift" in header else FORMAT
        self.need(header.get("format") == wanted, f"the format is not {wanted!r}")
        is_own = "lift" in header and header["lift"]["kind"] == "own"
        about = "what a lift returned, and these columns are not that" if is_own else "other data"
        self.need(header["fingerprint"] == fingerprint(X), f"the proof is about {about}")
        self.need(bool(np.isfinite(X).all()), "coordinates that are not finite")
        X, self.lift = lifted(X, header, self.need)
        self.n, self.d = X.shape
        self.k = header["n_clusters"]
        self.limit = 1 + Fraction(float.fromhex(header["margin"]))
        self.need(self.limit > 1, "the margin is not above 0")
        self.tau = np.array([float.fromhex(tau) for tau in header["resolution"]])
        in_range = self.tau.shape == (self.d,) and ((self.tau >= 0) & np.isfinite(self.tau)).all()
        self.need(bool(in_range), "resolution out of range")
        self.need(bool(np.isfinite(X).all()), "lifted coordinates that are not finite")
        for j, tau in enumerate(self.tau.tolist()):
            self.need_fine(j, tau, spread(X[:, j]), share)
        # Row i is (x_i, 1), and row -1-j, counted from the end, is (τ_j e_j, 0).
        axes = np.eye(self.d, self.d + 1) * self.tau[:, None]
        self.vectors = np.vstack([np.column_stack([X, np.ones(self.n)]), axes[::-1]])
        # Powers of two by which each coordinate is whole in all vectors: a float has 53 bits.
        exponents = np.frexp(self.vectors)[1].min(axis=0, where=self.vectors != 0, initial=1)
        self.units = [2 ** (53 - exponent) for exponent in exponents.tolist()]
        self.cluster_of = -1 - np.arange(self.n)
        self.apart: defaultdict[int, set[int]] = defaultdict(set)  # what differs from a cluster
        self.names: set[int] = set()
        self.n_names = 0
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.n_by_rationals = 0
        self.record = 0

    # -- what is known ---------------------------------------------------------------------------

    def need(self, holds: bool, reason: str) -> None:
        if not holds:
            raise BadProof(self.record, reason)

    def need_fine(self, j: int, tau: float, spread: float, share: float) -> None:
        """A column with one value only may have any τ: no cluster has a boundary along it."""
        reason = (
            f"resolution {tau:.3g} of column {j} is {tau / (spread or 1.0):.3g} of its spread "
            f"{spread:.3g}; at most {share:.3g} of it is allowed"
        )
        self.need(spread == 0 or tau <= share * spread, reason)

    def done(self, kind: str, number: int = 1) -> None:
        self.counts[kind] += number
        self.record += number

    def cluster(self, item: int) -> int:
        self.need(isinstance(item, int) and 0 <= item < self.n, f"there is no item {item}")
        return int(self.cluster_of[item])

    def unnamed_cluster(self, item: int) -> int:
        self.need(self.cluster(item) < 0, f"item {item} is in a cluster already")
        return self.cluster(item)

    def join(self, kept: int, gone: int) -> None:
        """Two names are of one cluster: what differs from one differs from the other."""
        self.need(gone not in self.apart[kept], "they are known to be different clusters")
        self.cluster_of[self.cluster_of == gone if gone >= 0 else -1 - gone] = kept
        self.names.discard(gone)
        for other in self.apart.pop(gone, set()):
            self.apart[other].remove(gone)
            self.part(kept, other)

    def part(self, one: int, other: int) -> None:
        self.need(one != other, "they are known to be in one cluster")
        self.apart[one].add(other)
        self.apart[other].add(one)

    def all_different(self) -> bool:
        return all(b in self.apart[a] for a, b in itertools.combinations(self.names, 2))

    def need_known(
        self, clusters: list[int], columns: Iterable[int] = (), non_members: Iterable[int] = ()
    ) -> None:
        """The clusters have names; columns are of one of them, non-members outside one of them."""
        for cluster in clusters:
            self.need(cluster in self.names, f"there is no cluster {cluster}")
        for name in columns:
            self.need(isinstance(name, int), f"there is no column {name}")
            known = -self.d <= name < 0 or self.cluster(name) in clusters
            self.need(known, f"item {name} is not known in {clusters}")
        for item in non_members:
            known = any(self.cluster(item) in self.apart[cluster] for cluster in clusters)
            self.need(known, f"item {item} is not known to be outside {clusters}")

    # -- records ---------------------------------------------------------------------------------

    def name_cluster(self, item: int) -> None:
        self.names.add(self.n_names)
        self.join(self.n_names, self.unnamed_cluster(item))
        self.n_names += 1
        self.done("cluster")

    def answer(self, i: int, j: int, verdict: str) -> None:
        one, other = self.cluster(i), self.cluster(j)
        if one < 0:
            one, other = other, one
        self.need(one >= 0, f"neither {i} nor {j} is in a named cluster")
        self.need(verdict in ("same", "different"), f"verdict {verdict!r}")
        if verdict == "different":
            self.part(one, other)
        elif one != other:
            self.join(one, other)
        self.done("answer")

    def last(self, item: int, cluster: int) -> None:
        own = self.unnamed_cluster(item)
        self.need_known([cluster])
        self.need(len(self.names) == self.k, "not all k clusters are known")
        self.need(self.all_different(), "the k clusters are not known to be different")
        others = self.names - {cluster}
        self.need(others <= self.apart[own], f"item {item} may be in another cluster")
        self.join(cluster, own)
        self.done("last")

    def count(self) -> None:
        self.need(len(self.names) == self.k, "there are not k names")
        self.need(bool((self.cluster_of >= 0).all()), "an item has no name")
        for one, other in itertools.combinations(self.names, 2):
            self.part(one, other)
        self.done("count")

    def inside_by_reach(self, cluster: int, rows: Any) -> None:
        self.need_known([cluster])
        table = np.asarray(rows, dtype=np.int64).reshape(len(rows), self.d + 2)
        items, columns, turn = table[:, 0], table[:, 1:], np.arange(len(table))
        exist = (items >= 0).all() and (table >= -self.d).all() and (table < self.n).all()
        self.need(bool(exist), "no such item")
        # The row that shows a vector, if all hold; the first one, if there are several.
        shown_by = np.full(len(self.vectors), len(table))
        shown_by[items[::-1]] = turn[::-1]
        own = self.cluster_of[items]
        good = (own < 0) & (shown_by[items] == turn) & ~np.isin(own, list(self.apart[cluster]))
        shown_by[: self.n][self.cluster_of == cluster] = -1
        shown_by[self.n :] = -1
        good &= (shown_by[columns] < turn[:, None]).all(axis=1)
        good[good] = self.reach(items[good], columns[good])
        if not good.all():
            row = int(np.argmin(good))
            raise BadProof(self.record + row, f"item {items[row]} not shown in {cluster}")
        self.cluster_of[items] = cluster
        for gone in self.apart.keys() & set(own.tolist()):
            self.join(cluster, gone)
        self.done("in", len(items))

    def outside_by_reach(self, item: int, cluster: int, non_member: int, columns: Any) -> None:
        self.need_known([cluster], (name for name in columns if name != item), [non_member])
        table = np.array(columns, dtype=np.int64).reshape(1, self.d + 1)
        shown = self.reach(np.array([non_member]), table)
        self.need(bool(shown[0]), f"item {item} is not shown to be outside {cluster}")
        self.part(cluster, self.cluster(item))
        self.done("out")

    def by_weights(
        self, cluster: int, side: str, items: list[int], columns: Any, non_members: Any, w: str
    ) -> None:
        self.need(side in ("in", "out"), f"side {side!r}")
        self.need(0 < len(items) == len(set(items)), "no items, or one of them twice")
        self.need(float.fromhex(w) > 0, "an item must have weight")
        sign = -1 if side == "in" else 1
        G, weight = self.weigh([cluster], columns, non_members, sign * float.fromhex(w))
        clusters = [self.cluster(item) for item in items]
        shown = _dominated(G, weight, self.integers(items))
        for at, (item, own) in enumerate(zip(items, clusters, strict=True)):
            self.need(own < 0 or side == "out", f"item {item} is in a cluster already")
            self.need(bool(shown[at]), f"item {item} is not shown {side} {cluster}")
            if side == "in":
                self.join(cluster, own)
            else:
                self.part(cluster, own)
            self.done("sdp")

    def differ_by_weights(self, one: int, other: int, columns: Any, non_members: Any) -> None:
        G, _ = self.weigh([one, other], columns, non_members, 0.0)
        self.need(_is_psd(G), f"{one} and {other} are not shown to differ")
        self.part(one, other)
        self.done("differ")

    # -- exact arithmetic ------------------------------------------------------------------------

    def integers(self, names: list[int]) -> Array:
        """Vectors, each coordinate times its power of two.

        That changes neither the weights in ỹ = Σ w·column nor the sign of any minor of G.
        """
        exact = [map(Fraction, vector) for vector in self.vectors[names].tolist()]
        whole = [[int(x * unit) for x, unit in zip(v, self.units, strict=True)] for v in exact]
        return np.array(whole, dtype=object).reshape(-1, self.d + 1)

    def weigh(
        self, clusters: list[int], columns: Any, non_members: Any, of_item: float
    ) -> tuple[Array, Any]:
        """G and the signed weight of an item in integers, if all sums and names are right.

        Weights count as positive on columns and as negative on non-members.
        """
        inner, outer = [name for name, _ in columns], [name for name, _ in non_members]
        self.need_known(clusters, inner, outer)
        lam = [Fraction(float.fromhex(weight)) for _, weight in columns]
        mu = [Fraction(float.fromhex(weight)) for _, weight in non_members]
        self.need(min([*lam, *mu], default=0) >= 0, "weights must not be negative")
        signed = [*lam, *(-weight for weight in mu), Fraction(of_item)]
        positive, negative = sum(x for x in signed if x > 0), sum(-x for x in signed if x < 0)
        self.need(negative > 0, "no non-member has weight")
        self.need(positive <= self.limit * negative, "the weights are too large")
        unit = max(weight.denominator for weight in signed)  # all are powers of two
        whole = np.array([int(weight * unit) for weight in signed], dtype=object)
        vectors = self.integers([*inner, *outer])
        return (vectors.T * whole[:-1]) @ vectors, whole[-1]

    def reach(self, items: Array, columns: Array) -> Array:
        """Which ỹ are Σ w·column of their d+1 columns, these independent, with (Σ|w|)² ≤ 1+γ."""
        shown = np.zeros(len(items), dtype=np.bool_)
        at_once = 1 + 2**20 // (self.d + 1) ** 2
        for start in range(0, len(items), at_once):
            part = slice(start, start + at_once)
            shown[part] = self.reach_by_floats(items[part], columns[part])
        for row in np.flatnonzero(~shown):
            self.n_by_rationals += 1
            target, *others = self.integers([items[row], *columns[row]])
            weights, det = _solve(np.transpose(others), target[:, None])
            shown[row] = det != 0 and np.abs(weights).sum() ** 2 <= self.limit * det**2
            if not shown[row]:
                break
        return shown

    def reach_by_floats(self, items: Array, columns: Array) -> Array:
        """True where floats prove it, with every rounding error accounted for.

        With y moved to 0, A has the columns (x − y, 1) and (τ_j e_j, 0), and the w in question has
        Aw = e = (0, …, 0, 1). For any R with a = ‖I − RA‖₁ < 1, A is regular and any v has
        ‖w‖₁ ≤ ‖v‖₁ + ‖ |R| |e − Av| ‖₁ / (1 − a).

        A sum of d+1 products is off by at most g times the sum of their sizes, and with it what
        x − y was off; g has room for two more roundings. Whatever else is rounded has positive
        terms only: less than 8g in all, relative to the result. Rows of A are scaled by powers of
        two, so that no entry exceeds 1; what underflows is below 1e-100 at the end, as |R| < 1e100.
        """
        size = self.d + 1
        g, one = (size + 5) * 2.0**-53, np.eye(size)
        with np.errstate(all="ignore"):  # what is not finite compares as False
            A = self.vectors[columns].transpose(0, 2, 1)
            A[:, :-1] -= self.vectors[items, :-1, None] * A[:, -1:]
            A[:, :-1] = np.ldexp(A[:, :-1], -np.frexp(np.abs(A[:, :-1]).max(2, keepdims=True))[1])
            try:
                R = np.linalg.inv(A)
            except np.linalg.LinAlgError:
                return np.zeros(len(items), dtype=np.bool_)
            v, size_A, size_R = R[:, :, -1:], np.abs(A), np.abs(R)
            a = (np.abs(R @ A - one) + g * (size_R @ size_A)).sum(axis=1).max(axis=1)
            rest = np.abs(A @ v - one[:, -1:]) + g * (size_A @ np.abs(v))
            total = np.abs(v).sum(axis=(1, 2)) + (size_R @ rest).sum(axis=(1, 2)) / (1 - a)
            fits = ((1 + 8 * g) * total) ** 2 <= float(self.limit)
            return np.asarray(fits & (a < 0.5) & (size_R.max(axis=(1, 2)) < 1e100))


def _dominated(G: Array, weight: int, rows: Array) -> Array:
    """For which rows y the matrix G + weight·yyᵀ is positive semidefinite.

    Many rows are told by one determinant each. If it is so for the first one, at most one
    eigenvalue of G is below 0, and none if weight < 0. If G is regular, then all but one eigenvalue
    of any G + weight·yyᵀ are above 0, as they interlace with those of G, and the sign of the last
    one is that of det(G + weight·yyᵀ) = det(G) + weight·yᵀ adj(G) y.
    """
    if len(rows) > len(G) and _is_psd(G + weight * np.outer(rows[0], rows[0])):
        adjugate, det = _solve(G, np.eye(len(G), dtype=np.int64))
        if det:
            return np.asarray(det + weight * ((rows @ adjugate) * rows).sum(axis=1) >= 0)
    return np.array([_is_psd(G + weight * np.outer(y, y)) for y in rows])


def _solve(A: Array, B: Array) -> tuple[Array, int]:
    """det(A)·A⁻¹B and det(A), in integers; if det(A) = 0, the first has no meaning.

    Elimination without fractions (Bareiss): entries are minors, and divisions leave no remainder.
    """
    rows, before = np.hstack([A, B]).astype(object), 1
    for i in range(len(A)):
        pivots = np.flatnonzero(rows[i:, i])
        if not len(pivots):
            return B, 0
        if at := int(pivots[0]):
            rows[i], rows[i + at] = rows[i + at].copy(), -rows[i]
        others = np.arange(len(A)) != i
        changed = rows[others] * rows[i, i] - np.outer(rows[others, i], rows[i])
        rows[others], before = changed // before, rows[i, i]
    return rows[:, len(A) :], int(before)


def _is_psd(M: Array) -> bool:
    """Whether a symmetric matrix of integers is positive semidefinite; by the same elimination."""
    before = 1
    while len(M):
        pivot, row, M = M[0, 0], M[0, 1:], M[1:, 1:]
        if pivot < 0 or (pivot == 0 and row.any()):
            return False
        if pivot > 0:
            M, before = (M * pivot - np.outer(row, row)) // before, pivot
    return True
