"""Find hands near a face, so that they can stay in front of it.

Source: "MediaPipe Hands: On-device Real-time Hand Tracking", Zhang et al., 2020; weights from
mediapipe 0.10.21, Apache-2.0. Where to search and what to accept was measured for this project.
In:  ``(192, 192, 3)`` and ``(224, 224, 3)`` RGB 0..1.   Out: 21 points in pixels of the frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from core.faces.landmarks import roll_rad
from core.imaging.geometry import Square, crop, iou, suppress, transform
from core.types import Array, ModelSpec, OpenSession, Pixels, Points

HAND_DETECTOR = ModelSpec(
    name="hand_detector_lite",
    title="Hand finder",
    file="hand_detector_lite.onnx",
    repo=None,
    size_bytes=1_983_622,
    sha256="c506bc5f4e2a9c565a13543d48d51ad10d470fc59fc4f331a33e4783829eddbd",
    sha256_verified=True,
    licence="Apache-2.0",
    licence_kind="open",
    licence_url="https://github.com/google-ai-edge/mediapipe/blob/master/LICENSE",
    vendor="Google MediaPipe",
    year=2020,
    url="https://github.com/google-ai-edge/mediapipe",
)
HAND_LANDMARKS = ModelSpec(
    name="hand_landmarks_lite",
    title="Hand points",
    file="hand_landmarks_lite.onnx",
    repo=None,
    size_bytes=2_073_908,
    sha256="1938f4e2994cabd739c6cefe61c2310b05826753e611038fbf2cec8d3fa64d8e",
    sha256_verified=True,
    licence="Apache-2.0",
    licence_kind="open",
    licence_url="https://github.com/google-ai-edge/mediapipe/blob/master/LICENSE",
    vendor="Google MediaPipe",
    year=2020,
    url="https://github.com/google-ai-edge/mediapipe",
)
MODELS = (HAND_DETECTOR, HAND_LANDMARKS)

DETECTOR_SIDE = 192
LANDMARK_SIDE = 224
SEARCH_FACTORS = (2.4, 3.6)
"""Squares round the face, in face sizes: the frame as a whole loses hands that these find."""
SMALLEST_FACE_PX = 50.0
"""Below this a hand is a dozen pixels, and what looks like one mostly is not."""
PALM_SCORE = 0.30
"""Low on purpose: the tests after it do the work."""
PALM_OVERLAP = 0.3
FIRST_PRESENCE = 0.5
PRESENCE = 0.85
WIDTH_OF_FACE = (0.25, 1.3)
"""Hand width over face height. Real hands gave 0.27 to 0.41, noses taken for hands 0.07 to 0.24."""
SAME_HAND_OVERLAP = 0.6
FACE_TOP_BOTTOM = (10, 152)
PALM_POINTS = (0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18)


@dataclass(frozen=True, slots=True, eq=False)
class Hand:
    """``points`` ``(21, 3)`` in frame pixels, smaller z is nearer; ``presence`` 0..1."""

    points: Points
    presence: float

    @property
    def unit_px(self) -> float:
        """About half the width of a finger, whichever way the hand points."""
        across = self._length(5, 17) / 3
        pairs = ((5, 6), (9, 10), (13, 14), (17, 18))
        bones = 0.46 * float(np.median([self._length(*pair) for pair in pairs]))
        palm = 0.21 * self._length(0, 9)
        return 0.51 * float(np.median([across, bones, palm]))

    @property
    def width_px(self) -> float:
        """Width of the palm."""
        return 6 * self.unit_px

    def _length(self, one: int, other: int) -> float:
        return float(np.linalg.norm(self.points[one] - self.points[other]))


class HandFinder:
    """Looks for hands round one face at a time. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session
        self._anchors = _anchors()

    def find(self, pixels: Pixels, mesh: Points) -> tuple[Hand, ...]:
        """The hands near the face under ``mesh`` ``(478, 3)``, surest first."""
        if np.ptp(mesh[:, :2], axis=0).max() < SMALLEST_FACE_PX:
            return ()
        top, bottom = (mesh[index, :2] for index in FACE_TOP_BOTTOM)
        face_height = float(np.linalg.norm(top - bottom))
        found = []
        for square in self._palms(pixels, mesh):
            hand = self._fit(pixels, square)
            if hand is None:
                continue
            if WIDTH_OF_FACE[0] <= hand.width_px / max(face_height, 1.0) <= WIDTH_OF_FACE[1]:
                found.append(hand)
        return _each_once(found)

    def _palms(self, pixels: Pixels, mesh: Points) -> list[Square]:
        low, high = mesh[:, :2].min(0), mesh[:, :2].max(0)
        centre, size = (low + high) / 2, float((high - low).max())
        angle = roll_rad(mesh)
        squares: list[Square] = []
        boxes, scores = [], []
        for factor in SEARCH_FACTORS:
            view = Square(float(centre[0]), float(centre[1]), size * factor, angle)
            for square, box, score in self._detect(pixels, view):
                squares.append(square)
                boxes.append(box)
                scores.append(score)
        if not squares:
            return []
        groups = suppress(np.stack(boxes), np.array(scores), overlap=PALM_OVERLAP)
        return [squares[group[0]] for group in groups]

    def _detect(
        self, pixels: Pixels, view: Square
    ) -> Iterator[tuple[Square, NDArray[np.float32], float]]:
        """Where to fit the points, the palm's box in the frame, and its score."""
        image = _unit_range(crop(pixels, view, DETECTOR_SIDE, border=cv2.BORDER_CONSTANT))
        out = self._open(HAND_DETECTOR).run({"image": image})
        logits = out["logits"][0, :, 0]
        picked = np.nonzero(logits > math.log(PALM_SCORE / (1 - PALM_SCORE)))[0]
        if not picked.size:
            return
        scores = 1 / (1 + np.exp(-logits[picked]))
        raw, anchors = out["regressors"][0][picked], self._anchors[picked]
        centres, halves = raw[:, :2] + anchors, raw[:, 2:4] / 2
        rows = np.hstack([centres - halves, centres + halves, raw[:, 4:6] + anchors])
        rows = np.hstack([rows, raw[:, 8:10] + anchors])
        to_frame, scale = view.to_frame(DETECTOR_SIDE), view.side / DETECTOR_SIDE
        for group in suppress(rows[:, :4], scores, overlap=PALM_OVERLAP):
            weights = scores[group] / scores[group].sum()
            x0, y0, x1, y1, *marks = weights @ rows[group]
            places = np.array([(x0 + x1) / 2, (y0 + y1) / 2, *marks]).reshape(3, 2)
            middle, wrist, finger = transform(places - 0.5, to_frame)
            side, height = scale * max(x1 - x0, y1 - y0), scale * (y1 - y0)
            angle = math.atan2(finger[0] - wrist[0], wrist[1] - finger[1])
            shift = height / 2 * np.array([math.sin(angle), -math.cos(angle)])
            box = np.concatenate([middle - side / 2, middle + side / 2])
            yield (
                Square(float(middle[0] + shift[0]), float(middle[1] + shift[1]), 2.6 * side, angle),
                np.asarray(box, np.float32),
                float(scores[group[0]]),
            )

    def _fit(self, pixels: Pixels, square: Square) -> Hand | None:
        hand = self._once(pixels, square)
        if hand.presence < FIRST_PRESENCE:
            return None
        hand = self._once(pixels, _roi_of_points(hand.points))
        return hand if hand.presence >= PRESENCE else None

    def _once(self, pixels: Pixels, square: Square) -> Hand:
        image = _unit_range(crop(pixels, square, LANDMARK_SIDE, border=cv2.BORDER_CONSTANT))
        out = self._open(HAND_LANDMARKS).run({"image": image})
        local = out["landmarks"].reshape(21, 3)
        points = np.empty((21, 3), np.float32)
        points[:, :2] = transform(local[:, :2] - 0.5, square.to_frame(LANDMARK_SIDE))
        points[:, 2] = local[:, 2] * (square.side / LANDMARK_SIDE)
        return Hand(points, float(out["presence"].ravel()[0]))


def _roi_of_points(points: Points) -> Square:
    """Where to fit again: the palm, moved a little towards the fingers."""
    flat = points[list(PALM_POINTS), :2].astype(np.float64)
    knuckles = ((points[5, :2] + points[13, :2]) / 2 + points[9, :2]) / 2
    towards = knuckles - points[0, :2]
    angle = math.atan2(float(towards[0]), float(-towards[1]))
    cos, sin = math.cos(angle), math.sin(angle)
    to_frame = np.array([[cos, -sin], [sin, cos]])
    upright = flat @ to_frame
    low, high = upright.min(0), upright.max(0)
    extent = high - low
    x, y = to_frame @ ((low + high) / 2 - (0.0, 0.1 * extent[1]))
    return Square(float(x), float(y), 2 * float(extent.max()), angle)


def _each_once(hands: Sequence[Hand]) -> tuple[Hand, ...]:
    kept: list[Hand] = []
    for hand in sorted(hands, key=lambda one: -one.presence):
        boxes = [_box(other) for other in kept]
        if not boxes or iou(_box(hand), np.stack(boxes)).max() <= SAME_HAND_OVERLAP:
            kept.append(hand)
    return tuple(kept)


def _box(hand: Hand) -> Array:
    return np.concatenate([hand.points[:, :2].min(0), hand.points[:, :2].max(0)])


def _unit_range(pixels: Pixels) -> NDArray[np.float32]:
    return np.multiply(pixels[None], 1 / 255, dtype=np.float32)


def _anchors() -> NDArray[np.float32]:
    parts = []
    for cells, per_cell in ((24, 2), (12, 6)):
        rows, columns = np.mgrid[0:cells, 0:cells]
        centres = (np.stack([columns.ravel(), rows.ravel()], 1) + 0.5) * (DETECTOR_SIDE / cells)
        parts.append(np.repeat(centres, per_cell, axis=0))
    return np.concatenate(parts).astype(np.float32)
