"""Give a painted face the sharpness and the grain of the picture it is painted into.

In:  lightness ``(H, W)`` float32 0..100 of both.   Out: lightness of the painted one, changed.
"""

from __future__ import annotations

import itertools

import numpy as np

from core.imaging.masks import blur
from core.types import Array, Mask

RADII_PX = (0.8, 1.6, 3.2)
"""Sharpness shows in the bands between these; the widest tells how much contrast there is."""
GAINS = ((0.25, 1.8), (0.45, 1.5))
EDGE = 2.0
"""Fine detail this many times the usual is an edge of the old face (lids, glasses), not grain."""


def match_detail(painted: Array, target: Array, where: Mask) -> Array:
    """``painted`` as sharp or soft, and as grainy, as ``target`` is.

    ``where`` ``(H, W)`` 0..1 weighs the pixels that are compared: the same skin in both.
    """
    weight = float(where.sum())
    if weight < 64:
        return painted
    own, theirs = _bands(painted), _bands(target)
    own_sizes = [_mean(np.abs(band), where, weight) for band in own]
    their_sizes = [_mean(np.abs(band), where, weight) for band in theirs]
    contrast = np.clip(their_sizes[2] / own_sizes[2], 0.5, 1.6)
    made = painted.copy()
    for number, limits in enumerate(GAINS):
        wanted = their_sizes[number] / (own_sizes[number] * contrast)
        made += (float(np.clip(wanted, *limits)) - 1) * own[number]
    made += _missing_grain(made, theirs[0], where)
    return made


def _missing_grain(painted: Array, theirs: Array, where: Mask) -> Array:
    """The target's own grain, as much as ``painted`` lacks, and none of its edges."""
    size = np.abs(theirs)
    usual = float(np.median(size[where > 0.5])) if (where > 0.5).any() else 0.0
    if usual < 1e-3:
        return np.zeros_like(theirs)
    flat = np.exp(-((blur(size, 2.5) / (EDGE * usual)) ** 2) - (size / (3 * usual)) ** 2) * where
    own = np.abs(painted - blur(painted, RADII_PX[0]))
    have = float(np.median(own[where > 0.5])) / usual
    return np.asarray(max(1 - have**2, 0) ** 0.5 * flat * theirs, np.float32)


def _bands(lightness: Array) -> list[Array]:
    layers = [lightness, *(blur(lightness, radius) for radius in RADII_PX)]
    return [fine - coarse for fine, coarse in itertools.pairwise(layers)]


def _mean(values: Array, where: Mask, weight: float) -> float:
    return float((values * where).sum()) / weight + 1e-3
