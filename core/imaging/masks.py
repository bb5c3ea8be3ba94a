"""Soft regions: steps, feathers, weighted blurs, and the parts of the face on the atlas.

In:  masks ``(H, W)`` float32 0..1 and meshes of ``core.imaging.mesh``.   Out: the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from core.imaging.mesh import fill_atlas, surface
from core.imaging.topology import topology
from core.types import Array, Mask


def smoothstep(values: Array, low: float, high: float) -> Array:
    """0 below ``low``, 1 above ``high``, smooth between. ``high`` may be below ``low``."""
    at = np.clip((values - low) * np.float32(1 / (high - low)), 0, 1)
    return at * at * (3 - 2 * at)


def blur(values: Array, sigma_px: float) -> Array:
    """Gaussian blur of floats; the border is continued. Below a fifth of a pixel: as it is."""
    if sigma_px < 0.2:
        return values
    return np.asarray(cv2.GaussianBlur(values, (0, 0), sigma_px, borderType=cv2.BORDER_REPLICATE))


ENOUGH_PX = 2.5
"""A blur this wide is smooth enough to be enlarged; wider ones are worked out smaller."""


def weighted_blur(values: Array, weights: Mask, sigma_px: float, *, fallback: Array) -> Array:
    """Blur of ``values`` ``(H, W, 3)`` that looks only where ``weights`` are.

    Far from any weight it tends to ``fallback`` ``(3,)``.
    """
    trust = np.float32(0.004)
    both = np.concatenate([values * weights[..., None], weights[..., None]], axis=2)
    height, width = weights.shape
    while sigma_px > 2 * ENOUGH_PX and min(both.shape[:2]) >= 16:
        both = cv2.resize(both, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        sigma_px /= 2
    both = blur(both, sigma_px)
    made = (both[..., :-1] + fallback * trust) / (both[..., -1:] + trust)
    return np.asarray(cv2.resize(made.astype(np.float32), (width, height)), np.float32)


def inside_distance(inside: Array) -> Mask:
    """Distance in pixels from each pixel with ``inside`` != 0 to the nearest one without.

    The border of the picture counts as outside only if a pixel there is 0.
    """
    return np.asarray(
        cv2.distanceTransform((inside != 0).astype(np.uint8), cv2.DIST_L2, 5), np.float32
    )


def from_outside(odd: Mask, inside: Mask) -> Mask:
    """``odd`` where it is joined to the edge of ``inside``; lone islands become 0."""
    size = round(0.05 * odd.shape[0]) | 1
    edge = (inside > 0) & (cv2.erode(inside, np.ones((size, size), np.uint8)) == 0)
    _, labels = cv2.connectedComponents((odd > 0.25).astype(np.uint8))
    joined = np.zeros(labels.max() + 1, np.float32)
    joined[labels[edge]] = 1
    joined[0] = 0
    return np.asarray(odd * joined[labels], np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Zones:
    """Parts of the face on the atlas, ``(size, size)`` each; read-only.

    ``skin``: no eyes, brows, lips, nostrils. ``eyes``, ``mouth`` (between the lips): soft at the
    edge. ``features``: eyes, brows, nose, lips in one soft blob. ``fringe``: where hair may hang
    into the face; ``doubt``: how odd it must look there to be hair, about 1. ``hinges``: where
    glasses end. ``brows``: eyes too. ``oval``: the whole face.
    """

    skin: Mask
    eyes: Mask
    mouth: Mask
    features: Mask
    fringe: Mask
    doubt: Mask
    hinges: Mask
    brows: Mask
    oval: Mask


@cache
def zones(size: int) -> Zones:
    """The zones of an atlas of ``size``."""
    known = topology()
    eyes = _rings(size, ("eye_image_left", "eye_image_right"), 0.0)
    wide_eyes = _rings(size, ("eye_image_left", "eye_image_right"), 0.02)
    brows = _hulls(size, ("brow_image_left", "brow_image_right"), 0.012)
    lips = fill_atlas(size, known.lips_outer, grow_by=0.012)
    mouth = fill_atlas(size, known.lips_inner)
    oval = fill_atlas(size, known.face_oval)
    inner = fill_atlas(size, known.face_oval, grow_by=-0.03)
    nostrils = _hulls(size, NOSTRILS, 0.008)
    skin = inner * (1 - np.max([wide_eyes, brows, lips, nostrils], axis=0))
    features = np.max([wide_eyes, brows, lips, _hulls(size, (_both(NOSE),), 0.01)], axis=0)
    made = Zones(
        skin=skin,
        eyes=blur(_rings(size, ("eye_image_left", "eye_image_right"), 0.004), 0.006 * size),
        mouth=blur(mouth, 0.005 * size),
        features=blur(cv2.dilate(features, _disc(0.04 * size)), 0.03 * size),
        fringe=_fringe(size, np.maximum(brows, wide_eyes)),
        doubt=_doubt(size),
        hinges=_hinges(size),
        brows=blur(np.maximum(brows, eyes), 0.006 * size),
        oval=oval,
    )
    for name in Zones.__dataclass_fields__:
        getattr(made, name).flags.writeable = False
    return made


NOSE = (168, 193, 122, 196, 236, 198, 49, 48, 64, 98, 2)
"""One side; the other is its mirror."""
NOSTRILS = ((98, 97, 60, 75, 79, 218, 166), (327, 326, 290, 305, 309, 438, 392))


def _both(side: tuple[int, ...]) -> tuple[int, ...]:
    return side + tuple(surface().mirror[list(side)].tolist())


def _fringe(size: int, brows: Mask) -> Mask:
    """Forehead, temples and the outermost cheek, where hair may hang: 0 on brows and inward."""
    rows, columns = np.indices((size, size)).astype(np.float32) / size
    brow = surface().places[[70, 63, 105, 66, 107], 1]
    above = smoothstep(rows, float(brow.mean()) + 0.02, float(brow.mean()) - 0.02)
    out = np.abs(columns - 0.5)
    beside = smoothstep(out, 0.21, 0.28) * smoothstep(rows, 0.92, 0.82)
    near = blur(brows, 0.004 * size)
    return np.asarray(np.maximum(above, beside) * (1 - near), np.float32)


def _doubt(size: int) -> Mask:
    """Cheeks turn into shadow of their own accord; there it takes more to call it hair.

    A forehead has nothing dark of its own; there it takes less.
    """
    rows, columns = np.indices((size, size)).astype(np.float32) / size
    inner = smoothstep(np.abs(columns - 0.5), 0.37, 0.27) * smoothstep(rows, 0.2, 0.3)
    above = smoothstep(rows, 0.24, 0.16)
    return np.asarray(1 + DOUBT * inner - SUSPICION * above, np.float32)


DOUBT = 1.0
SUSPICION = 0.25


def _hinges(size: int) -> Mask:
    rows, columns = np.indices((size, size)).astype(np.float32) / size
    level = smoothstep(rows, 0.20, 0.24) * smoothstep(rows, 0.44, 0.40)
    out = np.abs(columns - 0.5)
    return np.asarray(level * smoothstep(out, 0.20, 0.24) * smoothstep(out, 0.49, 0.46), np.float32)


def _rings(size: int, names: tuple[str, ...], grow_by: float) -> Mask:
    rings = [fill_atlas(size, getattr(topology(), name), grow_by=grow_by) for name in names]
    return np.asarray(np.max(rings, axis=0))


def _hulls(size: int, groups: tuple[str | tuple[int, ...], ...], grow_by: float) -> Mask:
    made = np.zeros((size, size), np.float32)
    for group in groups:
        ring = getattr(topology(), group) if isinstance(group, str) else np.array(group)
        hull = cv2.convexHull(surface().places[ring].astype(np.float32), returnPoints=False)
        made = np.maximum(made, fill_atlas(size, ring[hull[:, 0]], grow_by=grow_by))
    return made


def _disc(radius_px: float) -> Array:
    size = 2 * round(radius_px) + 1
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
