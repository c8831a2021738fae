"""Certificates of the complete test, exact in every bit, and what else one of them decides.

A certificate is weights λ, μ ≥ 0, μ ≠ 0, on positives and negatives of a cluster (lifted rows, see
`solver`) with Σλppᵀ − Σμnnᵀ ⪰ 0 and Σλ ≤ (1+γ)Σμ: then they cannot all be so in a cluster of
margin γ (theory, section 5). What goes into a proof is what `holds_exactly` says of weights and
coordinates as they are stored; everything else here only proposes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray
from samecluster.geometry.exact import as_integers, is_psd
from samecluster.geometry.semidefinite.solver import round_coordinates

_PRUNED = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 0.0)  # shares of the largest weight that may be dropped
_KEPT_SLACK = 0.5  # the first of these that keeps this share of the largest slack is taken
_SHORT = 24  # bits of a weight: 8 characters in a log, and products of few words in integers
# Shares of the slack that go into the matrix, and bits of the weights: the cheapest that holds.
_ROUNDINGS = ((0.1, _SHORT), (0.5, _SHORT), (0.5, 36), (0.5, 53))
_SINGULAR = 1e-10  # share of the largest eigenvalue below which one may be 0: no region is claimed
_SAFETY = 1e-9  # distance from the edge of a region, as rounding in its matrix: rows in it are left


@dataclass(frozen=True, eq=False)
class Certificate:
    """Weights of a proof: floats of few bits, zero for the rows that it does not need."""

    lam: FloatArray
    mu: FloatArray


def exact_certificate(
    lam: FloatArray, mu: FloatArray, positives: FloatArray, negatives: FloatArray, margin: float
) -> Certificate | None:
    """Short weights near λ, μ that hold exactly for the rows as stored; None if none were found.

    Small weights are dropped where the others, scaled up, can do without them. λ is rounded up and
    μ down, which keeps the matrix PSD; what is left between Σλ and (1+γ)Σμ pays for all this.
    """
    if not len(lam) or not len(mu):
        return None
    with np.errstate(all="ignore"):
        found = [_pruned(lam, mu, positives, negatives, margin, share) for share in _PRUNED]
    best = max(slack for _, _, slack in found)
    if not 0.0 < best < math.inf:
        return None
    lam, mu, slack = next(triple for triple in found if triple[2] >= _KEPT_SLACK * best)
    for share, bits in _ROUNDINGS:
        scaled = lam * (1.0 + share * slack)
        certificate = Certificate(_rounded(scaled, bits, np.ceil), _rounded(mu, bits, np.floor))
        if holds_exactly(certificate, positives, negatives, margin):
            return certificate
    return None


def _pruned(
    lam: FloatArray,
    mu: FloatArray,
    positives: FloatArray,
    negatives: FloatArray,
    margin: float,
    share: float,
) -> tuple[FloatArray, FloatArray, float]:
    """Weights above a share of the largest, λ scaled to just dominate; and by what Σλ may grow."""
    lam, mu = np.where(lam > share * lam.max(), lam, 0.0), np.where(mu > share * mu.max(), mu, 0.0)
    inner = positives[lam > 0] * np.sqrt(lam[lam > 0])[:, None]
    outer = negatives[mu > 0] * np.sqrt(mu[mu > 0])[:, None]
    try:
        rounding = round_coordinates(inner)
        if rounding is None:
            return lam, mu, -math.inf
        least = np.linalg.norm(outer @ rounding[0], ord=2) ** 2 / len(inner)
    except np.linalg.LinAlgError:
        return lam, mu, -math.inf
    lam = lam * least
    return lam, mu, float((1.0 + margin) * mu.sum() / lam.sum() - 1.0)


def _rounded(weights: FloatArray, bits: int, rounding: np.ufunc) -> FloatArray:
    mantissa, exponent = np.frexp(weights)
    return np.asarray(np.ldexp(rounding(np.ldexp(mantissa, bits)), exponent - bits))


def holds_exactly(
    certificate: Certificate, positives: FloatArray, negatives: FloatArray, margin: float
) -> bool:
    """Whether Σλppᵀ − Σμnnᵀ ⪰ 0 and Σλ ≤ (1+γ)Σμ with μ ≠ 0, without any rounding."""
    weights = np.concatenate([certificate.lam, certificate.mu])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (certificate.mu > 0).any()):
        return False
    total = [sum(map(Fraction, side.tolist())) for side in (certificate.lam, certificate.mu)]
    if total[0] > (1 + Fraction(margin)) * total[1]:
        return False
    signs = np.repeat([1, -1], [len(certificate.lam), len(certificate.mu)])
    rows, signed = _in_integers(np.vstack([positives, negatives]), weights, signs)
    return is_psd(((rows * signed[:, None]).T @ rows).tolist())


def holds_for_each(
    certificate: Certificate,
    positives: FloatArray,
    negatives: FloatArray,
    at: int,
    rows: FloatArray,
    *,
    inside: bool,
) -> BoolArray:
    """Whether the matrix stays PSD with each of many rows in the place of one, without rounding.

    That is row ``at`` of the negatives (inside) or of the positives. The sums, which do not depend
    on the row, are not looked at: the certificate must hold as it is.
    """
    weights = np.concatenate([certificate.lam, certificate.mu])
    signs = np.repeat([1, -1], [len(certificate.lam), len(certificate.mu)])
    place = at + (len(certificate.lam) if inside else 0)
    count = len(weights)
    every, signed = _in_integers(
        np.vstack([positives, negatives, rows]),
        np.append(weights, np.ones(len(rows))),
        np.append(signs, np.zeros(len(rows), dtype=np.int64)),
    )
    weight = signed[place]
    signed[place] = 0
    rest = (every[:count] * signed[:count, None]).T @ every[:count]
    shown = [is_psd((rest + weight * np.outer(row, row)).tolist()) for row in every[count:]]
    return np.array(shown, dtype=np.bool_)


def _in_integers(rows: FloatArray, weights: FloatArray, signs: Array) -> tuple[Array, Array]:
    """Rows and signed weights as Python's integers, each column times a power of two of its own:
    that changes no sign of any minor."""
    integers = np.column_stack([as_integers(column) for column in rows.T])
    return integers, as_integers(weights) * signs.astype(object)


def widened(certificate: Certificate, margin: float, *, inside: bool, at: int) -> Certificate:
    """The same proof with all its slack given to one row, so that it shows more in its place.

    Inside, row ``at`` of the negatives weighs as little as the sums allow; otherwise row ``at`` of
    the positives as much. What was exact stays exact: only the sums move, up to equality.
    """
    lam, mu, allowed = certificate.lam.copy(), certificate.mu.copy(), 1 + Fraction(margin)
    totals = [sum(map(Fraction, side.tolist())) for side in (lam, mu)]
    side = mu if inside else lam
    slack = totals[1] - totals[0] / allowed if inside else totals[1] * allowed - totals[0]
    ideal = np.array([float(Fraction(side[at]) + (-slack if inside else slack))])
    rounding, away = (np.ceil, 1 + 2.0**-50) if inside else (np.floor, 1 - 2.0**-50)
    weight = float(_rounded(ideal * away, _SHORT, rounding)[0])
    if weight > 0 and (weight < side[at] if inside else weight > side[at]):
        side[at] = weight
    return Certificate(lam, mu)


def shown(
    certificate: Certificate,
    positives: FloatArray,
    negatives: FloatArray,
    at: int,
    rows: FloatArray,
    *,
    inside: bool,
) -> BoolArray:
    """For which rows the certificate holds in place of one of its own, so that they are in or out.

    That is row ``at`` of the negatives (inside) or of the positives. With M = Σλppᵀ − Σμnnᵀ over
    the others, rows y with yᵀM⁻¹y ≤ 1/μ_at are in if M ≻ 0; rows with −yᵀM⁻¹y ≥ 1/λ_at are out if M
    has exactly one eigenvalue below 0 and no other at 0. It is computed in floats with room for
    rounding; `holds_exactly` tells of each.
    """
    none, lam = np.zeros(len(rows), dtype=np.bool_), certificate.lam
    weight = (certificate.mu if inside else lam)[at]
    used = certificate.mu > 0
    outer = negatives[used] * np.sqrt(certificate.mu[used])[:, None]
    replaced = np.sqrt(weight) * (negatives if inside else positives)[at]
    with np.errstate(all="ignore"):
        rounding = round_coordinates(positives[lam > 0] * np.sqrt(lam[lam > 0])[:, None])
        if rounding is None or not weight > 0:
            return none
        T, noise = rounding
        # In these coordinates Σλppᵀ is a multiple of 1; the row to be replaced is taken out.
        size, outer, replaced = float(np.count_nonzero(lam)), outer @ T, replaced @ T
        change = np.outer(replaced, replaced) * (1.0 if inside else -1.0)
        M = np.eye(len(T)) * size - outer.T @ outer + change
        if not np.isfinite(M).all():
            return none
        # Of several eigenvalues at or below 0 one row cannot lift all.
        if not np.linalg.eigvalsh(M)[0 if inside else 1] > _SINGULAR * size:
            return none
        images = rows @ T
        solved = np.linalg.solve(M, images.T).T
        found = weight * np.sum(images * solved, axis=1)
        lengths = np.sqrt(np.sum(solved**2, axis=1))
        moved = np.sqrt(np.sum((np.abs(rows) @ np.abs(T)) ** 2, axis=1)) * len(T) * 2.0**-52
        error = _SAFETY + weight * lengths * (2.0 * moved + noise * size * lengths)
        return np.asarray(found <= 1.0 - error if inside else -found >= 1.0 + error)
