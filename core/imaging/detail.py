"""Give a painted face the sharpness and the grain of the picture it is painted into.

In:  lightness ``(H, W)`` float32 0..100 of both.   Out: lightness of the painted one, changed.
"""

from __future__ import annotations

import numpy as np

from core.imaging.masks import blur
from core.types import Array, Mask

RADII_PX = (0.8, 1.6, 3.2)
"""Detail is compared in the bands between these; the widest only tells how much contrast there is.
"""
GAINS = ((0.25, 1.8), (0.45, 1.5))
GRAIN_LIMIT = 2.5
"""Target detail beyond this many times its mean is an edge, not grain."""


def match_detail(painted: Array, target: Array, where: Mask) -> Array:
    """``painted`` as sharp or soft, and as grainy, as ``target`` is.

    ``where`` ``(H, W)`` 0..1 weighs the pixels that are compared: the same skin in both.
    """
    weight = float(where.sum())
    if weight < 64:
        return painted
    own, theirs = _bands(painted), _bands(target)
    own_sizes, their_sizes = _sizes(own, where, weight), _sizes(theirs, where, weight)
    contrast = np.clip(their_sizes[2] / own_sizes[2], 0.5, 1.6)
    made = painted
    for band, limits, have, want in zip(own, GAINS, own_sizes, their_sizes, strict=False):
        gain = float(np.clip(want / (have * contrast), *limits))
        made = made + (gain - 1) * band
        have_now = gain * have
        if band is own[0]:
            missing = max(want**2 - have_now**2, 0) ** 0.5 / want
            limit = GRAIN_LIMIT * want
            made = made + missing * np.clip(theirs[0], -limit, limit) * where
    return np.asarray(made, np.float32)


def _bands(lightness: Array) -> list[Array]:
    layers = [lightness, *(blur(lightness, radius) for radius in RADII_PX)]
    return [fine - coarse for fine, coarse in zip(layers, layers[1:], strict=False)]


def _sizes(bands: list[Array], where: Mask, weight: float) -> list[float]:
    return [float((np.abs(band) * where).sum()) / weight + 1e-3 for band in bands]
