"""What pictures show, as numbers: how strong edges of each direction are in each part of them.

Pixels compare what lies under the same point, so that a shift by two pixels is a great difference.
Histograms of gradients (Dalal and Triggs, 2005) hardly notice it. Values were chosen by the nearest
neighbours of digits and of shifted, turned and stretched ones (docs/decisions/0033).
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray

_CELLS, _DIRECTIONS = 5, 9
_AT_ONCE = 256  # pictures; their histograms take tens of MB
_COLOUR_CELLS = 4
_FAINT = 0.1  # of the mean energy of a picture: where there is less, noise is not blown up


def shape_features(pixels: FloatArray) -> FloatArray:
    """(n, 225) of gray pictures (n, height, width), each 0 to 1."""
    parts = [
        _histograms(pixels[at : at + _AT_ONCE]) for at in range(0, max(len(pixels), 1), _AT_ONCE)
    ]
    return np.concatenate(parts)


def colour_features(pixels: FloatArray) -> FloatArray:
    """(n, 48): the mean colour of each of 16 parts of pictures (n, height, width, 3)."""
    rows, columns = (_shares(size, _COLOUR_CELLS) for size in pixels.shape[1:3])
    means = np.einsum("cy,nyxb,dx->ncdb", rows, pixels, columns)
    return np.asarray(means.reshape(len(pixels), -1))


def _histograms(pixels: FloatArray) -> FloatArray:
    down, across = np.zeros_like(pixels), np.zeros_like(pixels)
    down[:, 1:-1] = pixels[:, 2:] - pixels[:, :-2]
    across[:, :, 1:-1] = pixels[:, :, 2:] - pixels[:, :, :-2]
    strength = np.hypot(across, down)
    # An edge has no sign: dark on light is the same shape as light on dark.
    direction = np.arctan2(down, across) % np.pi / np.pi * _DIRECTIONS
    below = np.floor(direction).astype(np.int64)
    above_share = direction - below
    rows, columns = (_shares(size, _CELLS) for size in pixels.shape[1:])
    found = np.empty((len(pixels), _DIRECTIONS, _CELLS, _CELLS))
    for number in range(_DIRECTIONS):
        weight = np.where(below % _DIRECTIONS == number, 1 - above_share, 0.0)
        weight += np.where((below + 1) % _DIRECTIONS == number, above_share, 0.0)
        found[:, number] = rows @ (strength * weight) @ columns.T
    return np.asarray(np.sqrt(found / _energy(found)).reshape(len(pixels), -1))


def _energy(found: FloatArray) -> FloatArray:
    """How strong edges are around each cell, whatever their direction."""
    energy = np.sqrt((found**2).sum(axis=1))
    padded = np.pad(energy, ((0, 0), (1, 1), (1, 1)), mode="edge")
    moves = [(y, x) for y in range(3) for x in range(3)]
    around = sum(padded[:, y : y + _CELLS, x : x + _CELLS] for y, x in moves) / len(moves)
    least = _FAINT * energy.mean(axis=(1, 2), keepdims=True) + np.finfo(float).eps
    return np.asarray((around + least)[:, None])


def _shares(size: int, cells: int) -> FloatArray:
    """(cells, size): how much of each pixel belongs to each cell; neighbours share some."""
    width = size / cells
    centres, places = (np.arange(cells) + 0.5) * width, np.arange(size) + 0.5
    shares = np.clip(1 - np.abs(places - centres[:, None]) / width, 0.0, None)
    sums = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(sums > 0, sums, 1.0))  # cells may be smaller than pixels
