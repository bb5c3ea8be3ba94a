"""Fit the 478-point mesh to a face.

Source: "Attention Mesh: High-fidelity Face Mesh Prediction in Real-time", Grishchenko et al.,
2020; weights from mediapipe 0.10.21, Apache-2.0.
In:  ``(192, 192, 3)`` RGB 0..1.   Out: ``(478, 3)`` in pixels of the frame, score 0..1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.faces.detect import Detection
from core.imaging.geometry import Square, crop, similarity, transform
from core.imaging.topology import topology
from core.types import ModelSpec, OpenSession, Pixels, Points

MESH478 = ModelSpec(
    name="face_mesh478",
    title="Built-in engine (face mesh)",
    file="face_mesh478.onnx",
    repo=None,
    size_bytes=2_516_337,
    sha256="4a879d5a66007aeebed1c9be411fa4843a85c059906b599e1852aece10075bd4",
    sha256_verified=True,
    licence="Apache-2.0",
    licence_kind="open",
    licence_url="https://github.com/google-ai-edge/mediapipe/blob/master/LICENSE",
    vendor="Google MediaPipe",
    year=2020,
    url="https://github.com/google-ai-edge/mediapipe",
)

SIDE = 192
ROI_FACTOR = 1.5
LEAST_SCORE = 0.5
"""Below this the mesh sits on a false alarm or on a face turned the wrong way."""
HOPELESS_SCORE = 0.05
"""Below this a second pass has not brought a face up to the least score."""
EYE_CORNERS = (33, 263)
PUPILS = (468, 473)
FIVE_POINTS = (*PUPILS, 4, 61, 291)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """``points`` ``(478, 3)`` in frame pixels, smaller z is nearer; ``score`` 0..1."""

    points: Points
    score: float


class Landmarker:
    """Fits meshes. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session

    def fit(self, pixels: Pixels, square: Square) -> Mesh:
        """The mesh in ``square``, fitted again where the first pass found it."""
        mesh = self._once(pixels, square)
        if mesh.score < HOPELESS_SCORE:
            return mesh
        return self.follow(pixels, mesh.points)

    def follow(self, pixels: Pixels, points: Points) -> Mesh:
        """The mesh of a face whose mesh in the frame before was ``points``; one pass."""
        return self._once(pixels, roi_of_mesh(points))

    def _once(self, pixels: Pixels, square: Square) -> Mesh:
        image = np.multiply(crop(pixels, square, SIDE)[None], 1 / 255, dtype=np.float32)
        out = self._open(MESH478).run({"image": image})
        local = out["landmarks"][0]
        points = np.empty((len(local), 3), np.float32)
        # The net counts from the corner of a pixel, we count from its centre.
        points[:, :2] = transform(local[:, :2] - 0.5, square.to_frame(SIDE))
        points[:, 2] = local[:, 2] * (square.side / SIDE)
        return Mesh(points, float(out["score"].ravel()[0]))


def roi_of_detection(found: Detection) -> Square:
    """Where to fit the mesh first."""
    x0, y0, x1, y1 = found.box
    angle = math.atan2(*(found.eyes[1] - found.eyes[0])[::-1])
    side = ROI_FACTOR * float(max(x1 - x0, y1 - y0))
    return Square(float(x0 + x1) / 2, float(y0 + y1) / 2, side, angle)


def box_of_mesh(points: Points) -> Points:
    """x0, y0, x1, y1 round all points."""
    return np.concatenate([points[:, :2].min(0), points[:, :2].max(0)])


def roi_of_mesh(points: Points, *, factor: float = ROI_FACTOR) -> Square:
    """Where to look for the same face again; upright in the face's own sense."""
    x0, y0, x1, y1 = (float(value) for value in box_of_mesh(points))
    side = factor * max(x1 - x0, y1 - y0)
    return Square((x0 + x1) / 2, (y0 + y1) / 2, side, roll_rad(points))


def roll_rad(points: Points) -> float:
    """The turn in the plane, clockwise on screen, from the outer eye corners."""
    left, right = (points[index] for index in EYE_CORNERS)
    return math.atan2(float(right[1] - left[1]), float(right[0] - left[0]))


def pose(points: Points) -> tuple[float, float]:
    """Yaw (positive: looks to the image's right) and roll (clockwise on screen) in degrees."""
    rigid = topology().rigid
    _, rotation, _ = similarity(topology().frontal_shape[rigid], points[rigid])
    forward = rotation @ np.array([0.0, 0.0, -1.0])
    yaw = math.degrees(math.atan2(forward[0], -forward[2]))
    return yaw, math.degrees(roll_rad(points))
