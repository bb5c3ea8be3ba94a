"""Boxes, similarity transforms and upright crops.

Coordinates follow one rule: the centre of pixel (row r, column c) is the point (c, r). A crop is
cut by a single ``warpAffine`` whose map is exact at pixel centres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from core.types import Array, Pixels, Points

Matrix = NDArray[np.float64]
"""``(2, 3)``: the last column is the shift."""


@dataclass(frozen=True, slots=True)
class Square:
    """A turned square region: centre and side in pixels, angle in radians (clockwise on screen)."""

    x: float
    y: float
    side: float
    angle_rad: float = 0.0

    def turned(self, by_rad: float) -> Square:
        """The same square turned further."""
        return Square(self.x, self.y, self.side, self.angle_rad + by_rad)

    def to_frame(self, size: int) -> Matrix:
        """Map from points of a ``size``×``size`` crop to points of the frame."""
        scale = self.side / size
        cos, sin = scale * math.cos(self.angle_rad), scale * math.sin(self.angle_rad)
        middle = (size - 1) / 2
        return np.array(
            [
                [cos, -sin, self.x - cos * middle + sin * middle],
                [sin, cos, self.y - sin * middle - cos * middle],
            ]
        )


def crop(
    pixels: Pixels, square: Square, size: int, *, border: int = cv2.BORDER_REPLICATE
) -> Pixels:
    """``(size, size, 3)`` upright cut of ``square``."""
    return cut(pixels, square.to_frame(size), size, border=border)


def cut(
    pixels: Pixels, to_frame: Matrix, size: int, *, border: int = cv2.BORDER_REPLICATE
) -> Pixels:
    """``(size, size, 3)``, each pixel taken where ``to_frame`` (a similarity) sends it.

    Shrinks by area first when the cut is less than half as large as what it shows.
    """
    factor = int(math.hypot(to_frame[0, 0], to_frame[1, 0]))
    if factor >= 2:
        pixels, to_frame = _shrunk(pixels, to_frame, size, factor)
    made = cv2.warpAffine(
        pixels,
        to_frame,
        (size, size),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=border,
    )
    return np.asarray(made, dtype=np.uint8)


def _shrunk(pixels: Pixels, to_frame: Matrix, size: int, factor: int) -> tuple[Pixels, Matrix]:
    """The part of ``pixels`` that the cut shows, ``factor`` times smaller, and its own map."""
    corners = transform(np.array([(0, 0), (size, 0), (size, size), (0, size)]), to_frame)
    height, width = pixels.shape[:2]
    x0, y0 = (max(0, math.floor(value) - factor) for value in corners.min(0))
    x1, y1 = (math.ceil(value) + factor for value in corners.max(0))
    columns, rows = (min(x1, width) - x0) // factor, (min(y1, height) - y0) // factor
    if columns < 2 or rows < 2:
        return pixels, to_frame
    part = pixels[y0 : y0 + rows * factor, x0 : x0 + columns * factor]
    small = cv2.resize(part, (columns, rows), interpolation=cv2.INTER_AREA)
    shifted = to_frame.copy()
    offset = (factor - 1) / 2
    shifted[:, 2] -= (x0 + offset, y0 + offset)
    return np.asarray(small, dtype=np.uint8), shifted / factor


def transform(points: Array, matrix: Matrix) -> Points:
    """``points`` ``(N, 2)`` through ``matrix``."""
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], dtype=np.float32)


def similarity(
    source: Array, target: Array
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Scale, rotation and shift that carry ``source`` onto ``target`` with least squared error.

    ``(N, D)`` each, any D. Source: S. Umeyama, "Least-squares estimation of transformation
    parameters between two point patterns", IEEE PAMI 1991.
    """
    source, target = np.asarray(source, np.float64), np.asarray(target, np.float64)
    mean_source, mean_target = source.mean(0), target.mean(0)
    centred_source, centred_target = source - mean_source, target - mean_target
    left, strengths, right = np.linalg.svd(centred_target.T @ centred_source / len(source))
    signs = np.ones(source.shape[1])
    if np.linalg.det(left) * np.linalg.det(right) < 0:
        signs[-1] = -1
    rotation = left @ np.diag(signs) @ right
    spread = centred_source.var(0).sum()
    scale = float((strengths * signs).sum() / spread) if spread > 0 else 1.0
    return scale, rotation, mean_target - scale * rotation @ mean_source


def similarity_matrix(source: Array, target: Array) -> Matrix:
    """The 2-D :func:`similarity` as a matrix."""
    scale, rotation, shift = similarity(source, target)
    return np.hstack([scale * rotation, shift[:, None]])


def iou(box: Array, boxes: Array) -> NDArray[np.float32]:
    """Intersection over union of one box ``(4,)`` with ``boxes`` ``(N, 4)``."""
    corner0 = np.maximum(box[:2], boxes[:, :2])
    corner1 = np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(corner1 - corner0, 0, None), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    union = areas + np.prod(box[2:] - box[:2]) - shared
    return np.asarray(shared / np.maximum(union, 1e-9), np.float32)


def suppress(boxes: Array, scores: Array, *, overlap: float) -> list[NDArray[np.int64]]:
    """Groups of positions that mean the same thing, best first, the best of each in front."""
    left = np.argsort(-scores, kind="stable")
    groups = []
    while left.size:
        same = iou(boxes[left[0]], boxes[left]) > overlap
        same[0] = True
        groups.append(left[same])
        left = left[~same]
    return groups
