"""Give one face the skin tone and the light of another, in LAB on the atlas.

Source: statistics in the spirit of "Color Transfer between Images", Reinhard et al., IEEE CG&A
2001, made local by weighted blurs. In:  LAB on the atlas ``(S, S, 3)`` float32, L 0..100.
Out: a :class:`Change` on the atlas, applied to pixels by :func:`apply`.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from core.imaging.masks import smoothstep, weighted_blur, zones
from core.types import Array, Mask, Pixels

TONE_SIZE = 64
"""Side of the atlas on which light and tone are compared; finer is not visible."""
COARSE = 0.13
FINE = 0.06
"""Radii of the blurs in atlas units."""
FINE_SHARE = (0.65, 0.85)
"""How much of the finer differences is taken over: in L, in a and b."""
PALE = 0.35
"""How much of the paleness of overexposed skin is left out; on darker detail it looks grey."""
LEAST_CHROMA = 0.35
"""Paler skin is made by scaling a and b, for a shift would turn lips, whites and shine blue."""
LEAN_REACH = (-12.0, 0.0)
L_GAIN = (0.5, 1.12)
AB_GAIN = (0.7, 1.05)
SKIN_REACH = (17.0, 12.0)
"""How much darker (L) and how much off in tone (a, b) skin may be than skin nearby."""
SHINE = 6.0
"""Above the light by this much, brightness is damped: sweat and flash do not move with a face."""


def to_lab(pixels: Pixels) -> Array:
    """uint8 RGB to float32 LAB: L 0..100, a and b about -100..100."""
    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB))


def to_rgb(lab: Array) -> Pixels:
    """Float LAB to uint8 RGB; what a screen cannot show is clipped."""
    rgb = cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)
    return np.asarray(cv2.convertScaleAbs(rgb, alpha=255), np.uint8)


def unlike_skin(lab: Array, skin: Array, *, doubt: float | Mask = 1.0) -> Mask:
    """0 where ``lab`` may be the same skin as ``skin``, 1 where it is hair, glasses, background.

    Shine is skin: brighter and paler is not held against it. ``doubt`` widens the limits.
    """
    away = lab - skin
    darker = np.minimum(away[..., 0], 0) / SKIN_REACH[0]
    tinted = np.hypot(away[..., 1], away[..., 2]) / SKIN_REACH[1]
    tinted = tinted * (1 - 0.7 * smoothstep(away[..., 0], 0.0, 8.0))
    return np.asarray(smoothstep(np.hypot(darker, tinted) / doubt, 0.8, 1.5), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Tone:
    """Skin of one face on the atlas of ``TONE_SIZE``.

    ``lab`` as seen, ``weights`` 0..1 how surely it is lit, visible skin, ``coarse`` the light and
    tone without detail, ``middle`` and ``spread`` ``(3,)`` of the skin as a whole, ``lean``
    ``(2,)`` how a and b change with L: overexposed skin is pale, its shadows are not.
    """

    lab: Array
    weights: Mask
    coarse: Array
    middle: Array
    spread: Array
    lean: Array


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
    sure = base * (1 - unlike_skin(lab, middle, doubt=2.0))
    coarse = weighted_blur(lab, sure, COARSE * size, fallback=middle)
    sure = base * (1 - unlike_skin(lab, coarse, doubt=1.5))
    coarse = weighted_blur(lab, sure, COARSE * size, fallback=middle)
    lean = _lean(lab, sure, middle)
    return Tone(lab, sure, coarse, middle.astype(np.float32), spread.astype(np.float32), lean)


def _lean(lab: Array, weights: Mask, middle: Array) -> Array:
    away = lab - middle
    level = away[..., 0]
    spread = float((weights * level**2).sum()) + 25.0 * weights.size / 100
    slopes = [float((weights * level * away[..., channel]).sum()) / spread for channel in (1, 2)]
    return np.clip(np.array(slopes, np.float32), -0.6, 0.15)


def wears_glasses(tone: Tone) -> bool:
    """Whether something unlike skin crosses the bridge of the nose and both temples' roots."""
    size = tone.lab.shape[0]
    odd = unlike_skin(tone.lab, tone.coarse)
    rows = slice(round(0.24 * size), round(0.34 * size))
    bridge = odd[rows, round(0.46 * size) : round(0.54 * size)].max(0).mean()
    left = odd[rows, round(0.17 * size) : round(0.24 * size)].max(0).mean()
    right = odd[rows, round(0.76 * size) : round(0.83 * size)].max(0).mean()
    return bool(min(bridge, left, right) > 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """How to change a source's LAB, ``(S, S, 3)`` float32 each.

    ``light`` is the source's level, then gain and shift of L. ``tone`` is shift of a, shift of b
    and gain of both. ``lean`` ``(2,)``: see :class:`Tone`.
    """

    light: Array
    tone: Array
    lean: Array


def match(source: Tone, target: Tone, *, strength: float) -> Change:
    """What brings ``source`` to the light and tone of ``target``.

    Lightness scales with the level (adding makes eyes milky, scaling alone makes beards harsh);
    ``strength`` 0 leaves the source as it is.
    """
    size = source.lab.shape[0]
    light, tone = np.empty_like(source.lab), np.empty_like(source.lab)
    level = np.maximum(source.coarse[..., 0], 1)
    gain = np.clip(target.coarse[..., 0] / level, *L_GAIN)
    light[..., 0] = level
    light[..., 1] = 1 + strength * (gain - 1)
    light[..., 2] = strength * (target.coarse[..., 0] - gain * level)
    hue = target.coarse[..., 1:]
    bright = smoothstep(target.coarse[..., 0] - target.middle[0], 0.0, 10.0)[..., None]
    hue = hue + PALE * bright * (target.middle[1:] - hue)
    paler = np.hypot(hue[..., 0], hue[..., 1])[..., None] / np.maximum(
        np.hypot(source.coarse[..., 1], source.coarse[..., 2])[..., None], 1
    )
    chroma = np.clip(np.sqrt((target.spread[1:] / source.spread[1:]).prod()), *AB_GAIN)
    chroma = np.minimum(chroma, np.maximum(paler, LEAST_CHROMA))
    tone[..., :2] = strength * (hue - chroma * source.coarse[..., 1:])
    tone[..., 2] = 1 + strength * (chroma[..., 0] - 1)
    lean = strength * target.lean
    first = apply(source.lab, Change(light, tone, lean))
    finer = strength * _finer(first, source, target, FINE * size)
    light[..., 2] += FINE_SHARE[0] * finer[..., 0]
    tone[..., :2] += FINE_SHARE[1] * finer[..., 1:]
    return Change(light, tone, lean)


def apply(lab: Array, change: Change) -> Array:
    """``lab`` changed; ``change`` must have been brought to its shape.

    Dark pixels get less of the shift in tone, so that they stay neutral.
    """
    lightness, a, b = cv2.split(lab)
    base, gain, shift = cv2.split(change.light)
    shift_a, shift_b, chroma = cv2.split(change.tone)
    bright = lightness * gain + shift
    level = base * gain + shift
    over = bright - level
    bright -= 0.5 * np.maximum(over - SHINE, 0)
    off = np.clip(over, *LEAN_REACH)
    share = np.minimum(lightness / base, 1.2)
    a = a * chroma + (shift_a + off * change.lean[0]) * share
    b = b * chroma + (shift_b + off * change.lean[1]) * share
    return np.asarray(cv2.merge([bright, a, b]))


def _finer(matched: Array, source: Tone, target: Tone, sigma_px: float) -> Array:
    both = np.minimum(source.weights, target.weights)
    difference = np.clip(target.lab - matched, -20, 20)
    return weighted_blur(difference, both, sigma_px, fallback=np.zeros(3, np.float32))
