"""Give one face the skin tone and the light of another, in LAB on the atlas.

Source: statistics in the spirit of "Color Transfer between Images", Reinhard et al., IEEE CG&A
2001, made local by weighted blurs. In:  LAB on the atlas ``(S, S, 3)`` float32, L 0..100.
Out: per pixel gains and shifts, ``(S, S, 6)`` float32: three gains, then three shifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from core.imaging.masks import weighted_blur, zones
from core.types import Array, Mask, Pixels

TONE_SIZE = 96
"""Side of the atlas on which light and tone are compared; finer is not visible."""
COARSE = 0.13
FINE = 0.06
"""Radii of the blurs in atlas units."""
L_GAIN = (0.5, 1.25)
AB_GAIN = (0.7, 1.05)
SPREAD_L = 11.0
SPREAD_AB = 7.0
"""How far skin may be from its surroundings before it counts as hair, beard, glasses, shine."""


def to_lab(pixels: Pixels) -> Array:
    """uint8 RGB to float32 LAB: L 0..100, a and b about -100..100."""
    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB))


def to_rgb(lab: Array) -> Pixels:
    """Float LAB to uint8 RGB; what a screen cannot show is clipped."""
    rgb = cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)
    return np.asarray(cv2.convertScaleAbs(rgb, alpha=255), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Tone:
    """Skin of one face on the atlas of ``TONE_SIZE``.

    ``lab`` as seen, ``weights`` 0..1 how surely it is lit, visible skin, ``coarse`` the light and
    tone without detail, ``middle`` and ``spread`` ``(3,)`` of the skin as a whole.
    """

    lab: Array
    weights: Mask
    coarse: Array
    middle: Array
    spread: Array


def measure(lab: Array, trusted: Mask) -> Tone:
    """The tone of a face; ``trusted`` ``(S, S)`` is 0 where it is hidden or covered."""
    size = lab.shape[0]
    base = zones(size).skin * trusted
    if float(base.sum()) < 0.02 * base.size:
        base = zones(size).oval * np.maximum(trusted, 0.05)
    values, weights = lab.reshape(-1, 3), base.ravel()
    picked = values[weights > 0.5 * weights.max()]
    middle = np.median(picked, axis=0)
    for _ in range(2):
        near = np.abs(picked - middle) < (30, 14, 14)
        kept = picked[near.all(1)]
        if len(kept) > 0.3 * len(picked):
            middle = np.median(kept, axis=0)
            picked = kept
    spread = np.maximum(np.std(picked, axis=0), 1.0)
    odd = ((lab - middle) / np.array([30.0, 14.0, 14.0], np.float32)) ** 2
    sure = base * np.exp(-odd.sum(-1))
    coarse = weighted_blur(lab, sure, COARSE * size, fallback=middle)
    odd = ((lab - coarse) / np.array([SPREAD_L, SPREAD_AB, SPREAD_AB], np.float32)) ** 2
    sure = (sure * np.exp(-odd.sum(-1))).astype(np.float32)
    coarse = weighted_blur(lab, sure, COARSE * size, fallback=middle)
    return Tone(lab, sure, coarse, middle.astype(np.float32), spread.astype(np.float32))


def match(source: Tone, target: Tone, *, strength: float) -> Array:
    """Gains and shifts ``(S, S, 6)`` that bring ``source`` to the light and tone of ``target``.

    Lightness scales with the level (adding makes eyes milky, scaling alone makes beards harsh);
    ``strength`` 0 leaves the source as it is.
    """
    size = source.lab.shape[0]
    gain = np.empty_like(source.lab)
    level = target.coarse[..., 0] / np.maximum(source.coarse[..., 0], 1)
    gain[..., 0] = np.clip(level, *L_GAIN)
    gain[..., 1:] = np.clip(target.spread[1:] / source.spread[1:], *AB_GAIN)
    shift = target.coarse - gain * source.coarse
    finer = _finer(gain * source.lab + shift, source, target, FINE * size)
    shift = shift + finer * np.array([0.5, 0.6, 0.6], np.float32)
    return np.concatenate([1 + strength * (gain - 1), strength * shift], axis=-1)


def _finer(matched: Array, source: Tone, target: Tone, sigma_px: float) -> Array:
    both = np.minimum(source.weights, target.weights)
    difference = np.clip(target.lab - matched, -12, 12)
    return weighted_blur(difference, both, sigma_px, fallback=np.zeros(3, np.float32))
