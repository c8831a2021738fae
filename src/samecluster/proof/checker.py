"""Checks a proof log against the data. Trusts nothing; shares no code with what wrote the log.

A log says, record by record, what follows from the answers if every cluster has margin γ at
resolution τ: for each cluster C some PSD matrix W and centre c have

    d_W(x, c) ≤ 1 for x in C,   d_W(y, c)² > 1 + γ for all other y,   W_jj ≤ 1/τ_j² for all j.

Call members (x, 1) and the vectors (τ_j e_j, 0) *columns* of C: under (W, c) each has length ≤ 1.

cluster a            a new name for the cluster of item a
answer i j verdict   i is in a named cluster C: j is in C too, or it is not. If j has a name
                     already and the verdict is "same", both are names of one cluster: the
                     first one stays
in y C columns       the d+1 columns of C are independent and (y, 1) = Σ w·column with
                     (Σ|w|)² ≤ 1+γ. Then d_W(y, c) ≤ Σ|w|, so y is not outside: y is in C.
out y C n columns    the same for a known non-member n with y counted as a member: so y is not in C
last y C             k pairwise different clusters are known, y is in none of the others
count                every item has a name and there are k names: they are the k clusters
sdp C side items …   with weights λ on columns of C and μ on non-members let G = Σ λ aaᵀ − Σ μ ññᵀ;
                     an item y weighs w > 0.
                     "in": G ⪰ w ỹỹᵀ and Σλ ≤ (1+γ)(Σμ + w). If y were outside, then
                     Σλ ≥ Σ λ |a|² ≥ Σ μ |ñ|² + w |ỹ|² > (1+γ)(Σμ + w) under (W, c): so y is in C.
                     "out": G + w ỹỹᵀ ⪰ 0, Σλ + w ≤ (1+γ)Σμ, Σμ > 0. If y were in C, it would be
                     a column of weight w, and the same sum would not add up: so y is not in C.
                     Each item stands by itself on what was known before the record.
differ a b …         the same without y (G ⪰ 0, Σλ ≤ (1+γ)Σμ, Σμ > 0), where each column is one of
                     a or of b and each non-member is outside a or outside b. Were a and b names
                     of one cluster, all columns would be its own, and whatever is outside a or b
                     would be outside of it, which cannot be: so a and b are different.

Everything is decided in exact arithmetic: by floats where a bound on all rounding errors decides,
by rationals (every float is one) where it does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FORMAT = "samecluster-proof-1"
CHUNK = 8192


class BadProof(Exception):
    """A record that does not hold, by its number from 0 (-1: the header)."""

    def __init__(self, record: int, reason: str) -> None:
        self.record = record
        super().__init__(f"record {record}: {reason}" if record >= 0 else f"header: {reason}")


@dataclass(frozen=True)
class Verified:
    """What a proof shows, once it has passed."""

    labels: Ints  # cluster of each item, -1 where the proof says nothing
    n_clusters: int
    n_records: dict[str, int]
    all_different: bool  # whether the named clusters are shown to be pairwise different
    n_by_rationals: int  # records that floats could not decide


def fingerprint(X: Floats) -> str:
    """A hash of the coordinates: shape and IEEE doubles in rows, little-endian."""
    data = np.ascontiguousarray(X, dtype="<f8")
    return hashlib.sha256(repr(data.shape).encode() + data.tobytes()).hexdigest()


def check(
    X: Floats, lines: Iterable[Any], progress: Callable[[int], None] | None = None
) -> Verified:
    """Check a log: a header, then records. Raises BadProof at the first that does not hold."""
    lines = iter(lines)
    try:
        checker = _Checker(X, next(lines, {}))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadProof(-1, f"cannot be read ({error!r})") from error
    rules: dict[str, Callable[..., None]] = {
        "cluster": checker.new_cluster,
        "answer": checker.answer,
        "in": checker.inside,
        "out": checker.outside_by_reach,
        "last": checker.last,
        "count": checker.count_names,
        "sdp": checker.by_weights,
        "differ": checker.differ,
    }
    for line in lines:
        try:
            kind, *fields = line
            rules[kind](*fields)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise BadProof(checker.record, f"cannot be read ({error!r})") from error
        if progress is not None:
            progress(checker.record)
    return checker.verified()


class _Checker:
    def __init__(self, X: Floats, header: dict[str, Any]) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.n, self.d = self.X.shape
        if header.get("format") != FORMAT:
            raise BadProof(-1, f"format {header.get('format')!r}, expected {FORMAT!r}")
        if header["fingerprint"] != fingerprint(self.X):
            raise BadProof(-1, "the proof is about other data (fingerprints differ)")
        self.margin = Fraction(float.fromhex(header["margin"]))
        self.tau = np.array([float.fromhex(tau) for tau in header["resolution"]])
        self.k = header["n_clusters"]
        if self.margin <= 0 or self.tau.shape != (self.d,) or not (self.tau >= 0).all():
            raise BadProof(-1, "margin or resolution out of range")
        if not np.isfinite(self.tau).all() or not np.isfinite(self.X).all():
            raise BadProof(-1, "numbers that are not finite")
        # Coordinates times these powers of two are integers: a float has 53 bits.
        values = np.vstack([self.X, self.tau])
        exponents = np.frexp(np.where(values == 0, 1.0, values))[1].min(axis=0)
        self.units = [2 ** max(53 - int(exponent), 0) for exponent in exponents] + [1]
        self.labels = np.full(self.n, -1, dtype=np.int64)
        self.known_at = np.full(self.n, np.iinfo(np.int64).max)
        self.n_names = 0
        self.alive: set[int] = set()
        self.different: set[tuple[int, int]] = set()
        self.outside: dict[int, set[int]] = {}
        self.record = 0
        self.counts: dict[str, int] = {}
        self.n_by_rationals = 0

    def verified(self) -> Verified:
        return Verified(
            self.labels, len(self.alive), self.counts, self._all_different(), self.n_by_rationals
        )

    # -- records ---------------------------------------------------------------------------------

    def new_cluster(self, item: int) -> None:
        self._need(self._label(item) < 0, f"item {item} is in a cluster already")
        self.alive.add(self.n_names)
        self.n_names += 1
        self._put(item, self.n_names - 1)
        self._count("cluster")

    def answer(self, i: int, j: int, verdict: str) -> None:
        if self._label(i) < 0:
            i, j = j, i
        cluster, other = self._label(i), self._label(j)
        self._need(cluster >= 0, f"neither {i} nor {j} is in a named cluster")
        self._need(verdict in ("same", "different"), f"verdict {verdict!r}")
        if verdict == "different":
            self._exclude(j, cluster)
        elif other < 0:
            self._put(j, cluster)
        elif other != cluster:
            self._merge(cluster, other)
        self._count("answer")

    def inside(self, cluster: int, rows: list[list[int]]) -> None:
        """Many at once: each row is y and its d+1 columns, and may use the rows before it."""
        self._need(cluster in self.alive, f"there is no cluster {cluster}")
        table = np.asarray(rows, dtype=np.int64).reshape(len(rows), self.d + 2)
        items, columns = table[:, 0], table[:, 1:]
        when = self.record + np.arange(len(items))
        self._need(bool((table[:, 0] >= 0).all() and (table >= -self.d).all()), "no such item")
        self._need(bool((table < self.n).all()), "no such item")
        fresh = self.labels[items] < 0
        fresh &= np.isin(np.arange(len(items)), np.unique(items, return_index=True)[1])
        # As if all rows held: a row may use members of the cluster and what came before it.
        as_if, known_at = self.labels.copy(), self.known_at.copy()
        as_if[items[fresh]], known_at[items[fresh]] = cluster, when[fresh]
        usable = (as_if[columns] == cluster) & (known_at[columns] < when[:, None])
        good = fresh & (usable | (columns < 0)).all(axis=1)
        good[good] = self._reach(items[good], columns[good])
        if not good.all():
            first = int(np.argmin(good))
            raise BadProof(self.record + first, f"item {items[first]} not shown in {cluster}")
        self.labels, self.known_at = as_if, known_at
        for item in self.outside.keys() & set(items.tolist()):
            self._meet(item)
        self._count("in", len(items))

    def outside_by_reach(
        self, item: int, cluster: int, non_member: int, columns: list[int]
    ) -> None:
        self._need_non_member(non_member, (cluster,))
        self._need_columns([name for name in columns if name != item], (cluster,))
        shown = self._reach(np.array([non_member]), np.array([columns], dtype=np.int64))[0]
        self._need(bool(shown), f"item {item} is not shown to be outside {cluster}")
        self._exclude(item, cluster)
        self._count("out")

    def last(self, item: int, cluster: int) -> None:
        self._need(len(self.alive) == self.k, "not all k clusters are known")
        self._need(self._all_different(), "the k clusters are not known to be different")
        others = self.alive - {cluster}
        self._need(others <= self.outside.get(item, set()), f"{item} may be in another cluster")
        self._need(self._label(item) < 0, f"item {item} is in a cluster already")
        self._put(item, cluster)
        self._count("last")

    def count_names(self) -> None:
        self._need(len(self.alive) == self.k, "there are not k names")
        self._need(bool((self.labels >= 0).all()), "an item has no name")
        self.different |= {(a, b) for a in self.alive for b in self.alive if a != b}
        self._count("count")

    def by_weights(
        self,
        cluster: int,
        side: str,
        items: list[int],
        columns: list[list[Any]],
        non_members: list[list[Any]],
        weight: str,
    ) -> None:
        """Many at once: the record counts as one for each item. No item may use another."""
        self._need(side in ("in", "out"), f"side {side!r}")
        self._need(len(items) > 0, "no items")
        lam, mu, w, gap = self._weighed((cluster,), columns, non_members, weight)
        self._need(w > 0, "an item must have weight")
        if side == "in":
            self._need_balance(lam, mu + w)
        else:
            self._need_balance(lam + w, mu)
        sign = -1 if side == "in" else 1
        self._need(len(set(items)) == len(items), "an item is named twice")
        for item in items:
            self._need(
                self._label(item) < 0 or side == "out", f"item {item} is in a cluster already"
            )
            dominates = _is_psd(_plus(gap, sign * w, self._whole(item)))
            self._need(dominates, f"item {item} is not shown {side} {cluster}")
            if side == "in":
                self._put(item, cluster)
            else:
                self._exclude(item, cluster)
            self._count("sdp")

    def differ(
        self, a: int, b: int, columns: list[list[Any]], non_members: list[list[Any]]
    ) -> None:
        self._need(a != b, "one name")
        lam, mu, _, gap = self._weighed((a, b), columns, non_members, "0x0p0")
        self._need_balance(lam, mu)
        self._need(_is_psd(gap), f"{a} and {b} are not shown to differ")
        self.different |= {(a, b), (b, a)}
        self._count("differ")

    def _weighed(
        self,
        clusters: tuple[int, ...],
        columns: list[list[Any]],
        non_members: list[list[Any]],
        weight: str,
    ) -> tuple[int, int, int, list[list[int]]]:
        """Σλ, Σμ and w, times one power of two, and Σ λ aaᵀ − Σ μ ññᵀ times that and others.

        Columns are of one of the clusters, non-members outside one of them.
        """
        for cluster in clusters:
            self._need(cluster in self.alive, f"there is no cluster {cluster}")
        self._need_columns([name for name, _ in columns], clusters)
        for name, _ in non_members:
            self._need_non_member(name, clusters)
        # Floats in hexadecimal, so that nothing is lost in writing them down.
        texts = [text for _, text in [*columns, *non_members]] + [weight]
        exact = [Fraction(float.fromhex(text)) for text in texts]
        self._need(min(exact) >= 0, "weights must not be negative")
        scale = max(value.denominator for value in exact)  # all are powers of two
        *weights, w = [int(value * scale) for value in exact]
        gap = [[0] * (self.d + 1 - i) for i in range(self.d + 1)]
        for (name, _), value in zip(columns, weights, strict=False):
            gap = _plus(gap, value, self._whole(name))
        for (name, _), value in zip(non_members, weights[len(columns) :], strict=True):
            gap = _plus(gap, -value, self._whole(name))
        return sum(weights[: len(columns)]), sum(weights[len(columns) :]), w, gap

    def _need_balance(self, lam: int, mu: int) -> None:
        self._need(mu > 0, "no non-member has weight")
        self._need(lam <= (1 + self.margin) * mu, "the weights are too large")

    # -- state -----------------------------------------------------------------------------------

    def _need(self, holds: bool, reason: str) -> None:
        if not holds:
            raise BadProof(self.record, reason)

    def _count(self, kind: str, number: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + number
        self.record += number

    def _label(self, item: int) -> int:
        self._need(isinstance(item, int) and 0 <= item < self.n, f"there is no item {item}")
        return int(self.labels[item])

    def _put(self, item: int, cluster: int) -> None:
        self._need(cluster in self.alive, f"there is no cluster {cluster}")
        self.labels[item], self.known_at[item] = cluster, self.record
        self._meet(item)

    def _exclude(self, item: int, cluster: int) -> None:
        self._need(cluster in self.alive, f"there is no cluster {cluster}")
        self._need(self._label(item) != cluster, f"item {item} is known to be in {cluster}")
        self.outside.setdefault(item, set()).add(cluster)
        self._meet(item)

    def _meet(self, item: int) -> None:
        """An item in one cluster and outside others: these clusters differ."""
        cluster = int(self.labels[item])
        for other in self.outside.get(item, ()) if cluster >= 0 else ():
            self._need(other != cluster, f"item {item} is both in and outside {cluster}")
            self.different |= {(cluster, other), (other, cluster)}

    def _all_different(self) -> bool:
        return len(self.different) == len(self.alive) * (len(self.alive) - 1)

    def _merge(self, kept: int, gone: int) -> None:
        self._need((kept, gone) not in self.different, f"{kept} and {gone} are different clusters")
        self.alive.remove(gone)
        self.labels[self.labels == gone] = kept
        swap = {gone: kept}
        self.different = {(swap.get(a, a), swap.get(b, b)) for a, b in self.different}
        for item, clusters in self.outside.items():
            self.outside[item] = {swap.get(c, c) for c in clusters}
            self._meet(item)

    def _need_non_member(self, item: int, clusters: tuple[int, ...]) -> None:
        label, outside = self._label(item), self.outside.get(item, ())
        known = any(c in outside or (label, c) in self.different for c in clusters)
        self._need(known, f"item {item} is not known to be outside {_names(clusters)}")

    def _need_columns(self, columns: list[int], clusters: tuple[int, ...]) -> None:
        for name in columns:
            if not -self.d <= name < 0:
                known = self._label(name) in clusters
                self._need(known, f"item {name} is not known in {_names(clusters)}")

    # -- geometry --------------------------------------------------------------------------------

    def _reach(self, items: Ints, columns: Ints) -> npt.NDArray[np.bool_]:
        """Which (y, 1) are a combination Σ w·column of their d+1 columns with (Σ|w|)² ≤ 1+γ."""
        shown = np.zeros(len(items), dtype=np.bool_)
        for start in range(0, len(items), CHUNK):
            part = slice(start, start + CHUNK)
            shown[part] = self._reach_by_floats(items[part], columns[part])
        for row in np.flatnonzero(~shown):
            self.n_by_rationals += 1
            shown[row] = self._reach_by_rationals(int(items[row]), columns[row].tolist())
            if not shown[row]:
                break
        return shown

    def _reach_by_floats(self, items: Ints, columns: Ints) -> npt.NDArray[np.bool_]:
        """True where floats prove it, with every rounding error accounted for.

        The columns are (x − y, 1) and (τ_j e_j, 0), the target e = (0, …, 0, 1); rows are scaled by
        powers of two. For any R with ‖I − RA‖₁ ≤ a < 1, A is regular and
        ‖w‖₁ ≤ ‖ŵ‖₁ + ‖ |R| |e − Aŵ| ‖₁ / (1 − a).
        """
        size, u = self.d + 1, 2.0**-53
        g = (size + 4) * u / (1 - (size + 4) * u)
        with np.errstate(all="ignore"):
            A = np.zeros((len(items), size, size))
            member = columns >= 0
            A[:, : self.d, :] = np.where(
                member[:, None, :],
                (self.X[np.where(member, columns, 0)] - self.X[items][:, None, :]).transpose(
                    0, 2, 1
                ),
                0.0,
            )
            row, column = np.nonzero(~member)
            axis = -1 - columns[row, column]
            A[row, axis, column] = self.tau[axis]
            A[:, self.d, :] = member
            largest = np.abs(A).max(axis=2)
            usable = ((largest > 1e-150) & (largest < 1e150)).all(axis=1)
            A[~usable] = np.eye(size)
            A = np.ldexp(A, -np.frexp(np.abs(A).max(axis=2))[1][:, :, None])
            R = _inverses(A)
            # Nothing may underflow by more than what the bounds leave.
            usable &= ((A == 0) | (np.abs(A) > 1e-200)).all(axis=(1, 2))
            usable &= (np.abs(R) < 1e100).all(axis=(1, 2))
            # The last row was scaled too: its largest entry 1 became 1/2, and so does the target.
            e = np.zeros(size)
            e[-1] = 0.5
            w = R[:, :, -1] * 0.5
            size_A, size_R = np.abs(A), np.abs(R)
            rho = np.abs((A @ w[:, :, None])[:, :, 0] - e)
            rho += g * ((size_A @ np.abs(w)[:, :, None])[:, :, 0] + e)
            identity = np.eye(size)
            off = np.abs(R @ A - identity) + g * (size_R @ size_A + identity)
            a = off.sum(axis=1).max(axis=1) * (1 + g)
            total = (1 + g) * np.abs(w).sum(axis=1)
            total += (1 + 4 * g) ** 2 * (size_R @ rho[:, :, None])[:, :, 0].sum(axis=1) / (1 - a)
            total *= 1 + 4 * u
            limit = float(1 + self.margin) * (1 - 2 * u)
            return np.asarray(usable & (a < 0.5) & (total**2 * (1 + 1e-15) <= limit))

    def _reach_by_rationals(self, item: int, columns: list[int]) -> bool:
        weights = _solve([self._exact(name) for name in columns], self._exact(item))
        return weights is not None and sum(map(abs, weights)) ** 2 <= 1 + self.margin

    def _exact(self, name: int) -> list[Fraction]:
        """An item as (x, 1), a negative number -1-j as (τ_j e_j, 0), in rationals."""
        if name >= 0:
            return [*map(Fraction, self.X[name].tolist()), Fraction(1)]
        vector = [Fraction(0)] * (self.d + 1)
        vector[-1 - name] = Fraction(float(self.tau[-1 - name]))
        return vector

    def _whole(self, name: int) -> list[int]:
        """The same with each coordinate times its power of two, by which all are integers.

        No sign of a minor, and so no answer of `_is_psd`, changes by it.
        """
        return [
            int(value * unit) for value, unit in zip(self._exact(name), self.units, strict=True)
        ]


def _names(clusters: tuple[int, ...]) -> str:
    return " or ".join(map(str, clusters))


def _inverses(A: Floats) -> Floats:
    """Approximate inverses, zero where there is none: nothing rests on their quality."""
    try:
        return np.asarray(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        R = np.zeros_like(A)
        for row in range(len(A)):
            if np.linalg.matrix_rank(A[row]) == A.shape[1]:
                R[row] = np.linalg.inv(A[row])
        return R


def _solve(columns: list[list[Fraction]], target: list[Fraction]) -> list[Fraction] | None:
    """The unique weights with Σ w·column = target, or None if the columns are dependent."""
    size = len(target)
    if len(columns) != size:
        return None
    rows = [[column[i] for column in columns] + [target[i]] for i in range(size)]
    for i in range(size):
        pivot = next((r for r in range(i, size) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i and rows[r][i] != 0:
                factor = rows[r][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def _plus(matrix: list[list[int]], weight: int, v: list[int]) -> list[list[int]]:
    """Matrix + weight · vvᵀ, of which only the upper triangle is kept."""
    return [
        [value + weight * v[i] * other for value, other in zip(row, v[i:], strict=True)]
        for i, row in enumerate(matrix)
    ]


def _is_psd(upper: list[list[int]]) -> bool:
    """Whether a symmetric integer matrix, given by its upper triangle, is positive semidefinite.

    Elimination without fractions (Bareiss): pivots are principal minors, divisions have no rest.
    """
    before = 1
    while upper:
        (pivot, *row), *rest = upper
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        if pivot > 0:
            rest = [
                [
                    (value * pivot - row[i] * other) // before
                    for value, other in zip(low, row[i:], strict=True)
                ]
                for i, low in enumerate(rest)
            ]
            before = pivot
        upper = rest
    return True
