"""Which pixels of a face lie behind a hand.

Source: capsules round the hand's bones, GrabCut (Rother et al., 2004) at their border, colour
guided filter (He et al., 2010). On pasted hands the mask overlaps the truth by .85 (IoU).
In:  frame, mesh, hands.   Out: mask in frame pixels, 1 = something in front, keep the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from core.faces.hands import Hand
from core.imaging.topology import topology
from core.types import Array, Cover, Mask, Pixels, Points

MARGIN = 0.10
"""Of the face size, round the mesh: the region the mask is made for."""
WORK_SIDE = 256
CUT_SIDE = 96
"""GrabCut at twice the size takes twice as long and gains .002 IoU."""
COVERED_SHARE = 0.02
"""Of the oval: less than this is a fingertip at the chin line."""

FINGERS = ((5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16), (17, 18, 19, 20))
FINGER_RADII = (1.12, 1.02, 0.94, 0.78)
FINGER_WIDTHS = (1.0, 1.03, 1.0, 0.88)
THUMB = (1, 2, 3, 4)
THUMB_RADII = (1.5, 1.3, 1.12, 0.9)
WRIST_RADIUS = 1.7
TIP_EXTENSION = 0.18
PALM_HULL = (0, 1, 2, 5, 9, 13, 17)
FOREARM_LENGTH, FOREARM_RADII = 6.0, (2.9, 3.0)

Distances = NDArray[np.float32]
"""Signed distance in pixels, positive inside."""


def front_of(pixels: Pixels, mesh: Points, hands: Sequence[Hand]) -> Cover | None:
    """What ``hands`` hide of the face under ``mesh``; None when they do not touch it."""
    if not hands:
        return None
    frame = _Frame.of(pixels, mesh)
    if frame is None:
        return None
    alpha = np.zeros(frame.guide.shape[:2], np.float32)
    for hand in hands:
        np.maximum(alpha, _alpha(frame, hand), out=alpha)
    if alpha.max() < 0.5:
        return None
    size = frame.part.shape[1], frame.part.shape[0]
    mask = cv2.resize(alpha, size, interpolation=cv2.INTER_LINEAR)
    return Cover(frame.x0, frame.y0, np.asarray(mask, np.float32))


def share_of_oval(cover: Cover, mesh: Points) -> float:
    """How much of the face's oval ``cover`` hides, 0..1."""
    ring = mesh[topology().face_oval, :2] - (cover.x0, cover.y0)
    oval = np.zeros(cover.mask.shape, np.uint8)
    cv2.fillPoly(oval, [np.round(ring).astype(np.int32)], 1)
    inside = int(oval.sum())
    return float((cover.mask * oval).sum()) / inside if inside else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The face's region of the frame and its small copy, on which the mask is made."""

    x0: int
    y0: int
    part: Pixels
    guide: Pixels
    scale: float

    @classmethod
    def of(cls, pixels: Pixels, mesh: Points) -> _Frame | None:
        low, high = mesh[:, :2].min(0), mesh[:, :2].max(0)
        by = MARGIN * float((high - low).max())
        x0, y0 = (int(value) for value in np.maximum(np.floor(low - by), 0))
        x1, y1 = (int(value) for value in np.ceil(high + by) + 1)
        part = pixels[y0:y1, x0:x1]
        if part.shape[0] < 8 or part.shape[1] < 8:
            return None
        scale = min(1.0, WORK_SIDE / max(part.shape[:2]))
        guide = part if scale == 1 else _resized(part, scale)
        return cls(x0, y0, part, guide, scale)

    def local(self, points: Points) -> Points:
        """``points`` of the frame in pixels of the small copy."""
        shifted = points[:, :2] - (self.x0 - 0.5, self.y0 - 0.5)
        return np.asarray(shifted * self.scale - 0.5, np.float32)


def _alpha(frame: _Frame, hand: Hand) -> Mask:
    points, unit = frame.local(hand.points), hand.unit_px * frame.scale
    whole = frame.guide.shape[:2]
    alpha = np.zeros(whole, np.float32)
    reach = 3 * unit
    x0, y0 = (max(0, int(value)) for value in points.min(0) - reach)
    x1, y1 = (int(value) + 2 for value in points.max(0) + reach)
    guide = frame.guide[y0:y1, x0:x1]
    if guide.shape[0] < 4 or guide.shape[1] < 4:
        return alpha
    inside = _hand_distance(points - (x0, y0), unit, guide.shape[:2])
    arm = _forearm_distance(points - (x0, y0), unit, guide.shape[:2])
    if inside.max() <= 0:
        return alpha
    hard = _cut(guide, inside, arm, unit)
    soft = guided(guide, hard, radius=max(1, round(0.2 * unit)))
    soft = np.clip((soft - 0.1) / 0.8, 0, 1)
    near = np.maximum(inside, arm - 0.7 * unit)
    soft *= np.clip((near + 1.9 * unit) / (0.5 * unit), 0, 1)
    alpha[y0:y1, x0:x1] = soft
    return alpha


def _hand_distance(points: Points, unit: float, shape: tuple[int, int]) -> Distances:
    """Tapered capsules along the bones, and the palm between them."""
    chains = [
        (finger, [width * radius for radius in FINGER_RADII])
        for finger, width in zip(FINGERS, FINGER_WIDTHS, strict=True)
    ]
    chains.append((THUMB, list(THUMB_RADII)))
    bones: list[tuple[Points, Points, float, float]] = []
    for joints, radii in chains:
        places = points[list(joints)].copy()
        places[3] += TIP_EXTENSION * (places[3] - places[2])
        bones += [
            (places[at], places[at + 1], radii[at], radii[at + 1]) for at in range(len(joints) - 1)
        ]
    bones += [(points[0], points[joints[0]], WRIST_RADIUS, radii[0]) for joints, radii in chains]
    bones += [
        (points[one], points[other], FINGER_RADII[0], FINGER_RADII[0])
        for one, other in ((5, 9), (9, 13), (13, 17), (1, 5))
    ]
    inside = np.full(shape, -1e3, np.float32)
    for start, end, first, last in bones:
        _raise_to_capsule(inside, start, end, first * unit, last * unit, margin=3 * unit)
    hull = np.zeros(shape, np.uint8)
    outline = cv2.convexHull(np.round(points[list(PALM_HULL)]).astype(np.int32))
    cv2.fillConvexPoly(hull, outline, 1)
    depth = cv2.distanceTransform(hull, cv2.DIST_L2, 3) + 0.5 * unit
    return np.where(hull > 0, np.maximum(inside, depth), inside).astype(np.float32)


def _forearm_distance(points: Points, unit: float, shape: tuple[int, int]) -> Distances:
    bases = points[[finger[0] for finger in FINGERS]].mean(0)
    along = points[0] - bases
    end = points[0] + along / max(float(np.linalg.norm(along)), 1e-6) * FOREARM_LENGTH * unit
    inside = np.full(shape, -1e3, np.float32)
    first, last = (radius * unit for radius in FOREARM_RADII)
    _raise_to_capsule(inside, points[0], end, first, last, margin=3 * unit)
    return inside


def _raise_to_capsule(
    inside: Distances, start: Array, end: Array, first: float, last: float, *, margin: float
) -> None:
    """Raise ``inside`` (own copy of the caller) where the capsule is deeper; only in its window."""
    reach = max(first, last) + margin
    x0, y0 = (max(0, int(value)) for value in np.minimum(start, end) - reach)
    x1, y1 = (int(value) + 2 for value in np.maximum(start, end) + reach)
    window = inside[y0 : max(y1, 0), x0 : max(x1, 0)]
    if not window.size:
        return
    along = np.asarray(end - start, np.float32)
    ys = np.arange(y0, y0 + window.shape[0], dtype=np.float32)[:, None] - start[1]
    xs = np.arange(x0, x0 + window.shape[1], dtype=np.float32)[None] - start[0]
    length2 = max(float(along @ along), 1e-6)
    part = np.clip((xs * along[0] + ys * along[1]) / length2, 0, 1)
    away = np.sqrt((xs - part * along[0]) ** 2 + (ys - part * along[1]) ** 2)
    np.maximum(window, first + (last - first) * part - away, out=window)


def _cut(guide: Pixels, inside: Distances, arm: Distances, unit: float) -> Mask:
    """Hand or not, 0 or 1, at the size of ``guide``; colour decides near the capsules' border."""
    scale = min(1.0, CUT_SIDE / max(guide.shape[:2]))
    small, d, forearm = guide, inside, arm
    if scale < 1:
        small, d, forearm = (_resized(one, scale) for one in (guide, inside, arm))
    labels = np.full(small.shape[:2], cv2.GC_BGD, np.uint8)
    labels[(d > -1.4 * unit) | (forearm > -0.3 * unit)] = cv2.GC_PR_BGD
    labels[(d > 0.3 * unit) | (forearm > 0.7 * unit)] = cv2.GC_PR_FGD
    sure = d > 0.75 * unit
    labels[sure] = cv2.GC_FGD
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.int16)
    lab[..., 1:] = np.clip(2 * lab[..., 1:] - 128, 0, 255)
    cv2.setRNGSeed(0)  # the same picture gives the same mask
    try:
        cv2.grabCut(
            lab.astype(np.uint8),
            labels,
            (0, 0, 0, 0),  # not used with a mask
            np.zeros((1, 65)),
            np.zeros((1, 65)),
            1,
            cv2.GC_INIT_WITH_MASK,
        )
        hard = (labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD)
    except cv2.error:  # one of the classes is empty
        hard = d > 0
    _, pieces = cv2.connectedComponents(hard.astype(np.uint8))
    touching = np.unique(pieces[sure & hard])
    kept = np.isin(pieces, touching[touching > 0]).astype(np.float32)
    if scale < 1:
        size = guide.shape[1], guide.shape[0]
        kept = np.asarray(cv2.resize(kept, size, interpolation=cv2.INTER_LINEAR), np.float32)
    return kept


def guided(guide: Pixels, mask: Mask, *, radius: int, eps: float = 2e-4) -> Mask:
    """``mask`` smoothed along the edges of ``guide``: colour guided filter, closed form."""
    size = (2 * radius + 1, 2 * radius + 1)

    def mean(array: Array) -> Array:
        return np.asarray(cv2.blur(array, size, borderType=cv2.BORDER_REFLECT))

    image = np.multiply(guide, 1 / 255, dtype=np.float32)
    centre, level = mean(image), mean(mask)
    shared = mean(image * mask[..., None]) - centre * level[..., None]
    spread = {
        (one, other): mean(image[..., one] * image[..., other])
        - centre[..., one] * centre[..., other]
        for one, other in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    }
    slope = _solved(spread, shared, eps)
    start = level - (slope * centre).sum(-1)
    return np.asarray((mean(slope) * image).sum(-1) + mean(start), np.float32)


def _solved(spread: Mapping[tuple[int, int], Array], right: Array, eps: float) -> Array:
    """Solve a symmetric 3x3 system at each pixel, by cofactors: ten times faster than LAPACK."""
    a, d, f = (spread[at, at] + eps for at in range(3))
    b, c, e = spread[0, 1], spread[0, 2], spread[1, 2]
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    fourth, fifth, sixth = a * f - c * c, b * c - a * e, a * d - b * b
    scale = 1 / (a * first + b * second + c * third)
    x, y, z = np.moveaxis(right, -1, 0)
    solved = (
        first * x + second * y + third * z,
        second * x + fourth * y + fifth * z,
        third * x + fifth * y + sixth * z,
    )
    return np.asarray(np.stack(solved, axis=-1) * scale[..., None])


def _resized(array: Array, scale: float) -> Array:
    size = max(1, round(array.shape[1] * scale)), max(1, round(array.shape[0] * scale))
    return np.asarray(cv2.resize(array, size, interpolation=cv2.INTER_AREA))
