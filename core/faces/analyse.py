"""Everything about the faces of one frame, in one call.

Stills are searched thoroughly: at two sizes, then, when nothing passes the mesh check, by the
second finder, turned by quarter turns, padded (a face that fills the frame) and enlarged by tiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from core.faces import detect, embed, landmarks
from core.faces.detect import BlazeFace, CenterFace, Detection
from core.faces.embed import Embedder
from core.faces.landmarks import LEAST_SCORE, Landmarker, Mesh, roi_of_detection, roi_of_mesh
from core.faces.select import left_to_right
from core.imaging.geometry import Matrix, suppress, transform
from core.types import Face, OpenSession, Pixels, Points

MODELS = (*detect.MODELS, landmarks.MESH478, *embed.MODELS)

SAME_FACE_OVERLAP = 0.4
LARGE_SIDE = 1000
"""Above this a second search at twice the size pays: at 640 a face of 3 % of the side is lost."""
SMALLEST_FACE_PX = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A changed copy of the frame, and the way back from its points to the frame's."""

    pixels: Pixels
    back: Matrix
    small: bool = False


class Analyser:
    """Finds, fits and describes faces. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._centerface = CenterFace(open_session)
        self._blazeface = BlazeFace(open_session)
        self._landmarker = Landmarker(open_session)
        self._embedder = Embedder(open_session)

    def analyse(
        self, pixels: Pixels, *, thorough: bool = True, embed: bool = True
    ) -> tuple[Face, ...]:
        """The faces of ``pixels``, left to right; empty when there is none."""
        meshes = self._search(pixels) if thorough else self._quick(pixels)
        faces = [self._face(pixels, mesh, score, embed=embed) for mesh, score in meshes]
        return left_to_right(faces)

    def track(self, pixels: Pixels, previous: Sequence[Face]) -> tuple[Face, ...]:
        """Where ``previous`` faces are now, without a search; lost ones are left out.

        Embeddings, age and person number are carried over.
        """
        found = []
        for face in previous:
            if face.mesh is None:
                continue
            mesh = self._landmarker.fit(pixels, roi_of_mesh(face.mesh), passes=1)
            if mesh.score >= LEAST_SCORE:
                found.append(_moved(face, mesh))
        return left_to_right(found)

    def _quick(self, pixels: Pixels) -> list[tuple[Mesh, float]]:
        fitted = self._fit_all(pixels, self._blazeface.find(pixels), turn=False)
        return fitted or self._fit_all(pixels, self._centerface.find(pixels), turn=False)

    def _search(self, pixels: Pixels) -> list[tuple[Mesh, float]]:
        detections = list(self._centerface.find(pixels))
        if max(pixels.shape[:2]) > LARGE_SIDE:
            detections += self._centerface.find(pixels, long_side=1280)
        fitted = self._fit_all(pixels, detections, turn=True)
        if fitted:
            return fitted
        fitted = self._fit_all(pixels, self._blazeface.find(pixels), turn=True)
        if fitted:
            return fitted
        for views in (_turned(pixels), _padded(pixels), _tiles(pixels)):
            for view in views:
                found = self._centerface.find(view.pixels) + self._blazeface.find(view.pixels)
                fitted += self._fit_all(view.pixels, found, turn=False, back=view.back)
            if fitted:
                return _each_once(fitted)
        return []

    def _fit_all(
        self,
        pixels: Pixels,
        detections: Sequence[Detection],
        *,
        turn: bool,
        back: Matrix | None = None,
    ) -> list[tuple[Mesh, float]]:
        fitted = []
        for found in detections:
            mesh = self._fit(pixels, found, turn=turn)
            if mesh is None:
                continue
            if back is not None:
                mesh = _mapped(mesh, back)
            if np.ptp(mesh.points[:, :2], axis=0).max() >= SMALLEST_FACE_PX:
                fitted.append((mesh, found.score))
        return _each_once(fitted)

    def _fit(self, pixels: Pixels, found: Detection, *, turn: bool) -> Mesh | None:
        square = roi_of_detection(found)
        best = self._landmarker.fit(pixels, square)
        if best.score < LEAST_SCORE and turn:
            turned = (square.turned(quarter * math.pi / 2) for quarter in (1, 2, 3))
            best = max(
                (self._landmarker.fit(pixels, one) for one in turned), key=lambda mesh: mesh.score
            )
        return best if best.score >= LEAST_SCORE else None

    def _face(self, pixels: Pixels, mesh: Mesh, score: float, *, embed: bool) -> Face:
        yaw, roll = landmarks.pose(mesh.points)
        face = Face(
            box=_box(mesh.points),
            points=np.ascontiguousarray(mesh.points[list(landmarks.FIVE_POINTS), :2]),
            score=score,
            mesh=mesh.points,
            mesh_score=mesh.score,
            yaw_deg=yaw,
            roll_deg=roll,
        )
        if not embed:
            return face
        said = self._embedder.describe(pixels, mesh.points)
        return replace(face, embeddings=said.embeddings, age_years=said.age_years, male=said.male)


def _moved(face: Face, mesh: Mesh) -> Face:
    yaw, roll = landmarks.pose(mesh.points)
    return replace(
        face,
        box=_box(mesh.points),
        points=np.ascontiguousarray(mesh.points[list(landmarks.FIVE_POINTS), :2]),
        mesh=mesh.points,
        mesh_score=mesh.score,
        yaw_deg=yaw,
        roll_deg=roll,
    )


def _box(points: Points) -> Points:
    return np.concatenate([points[:, :2].min(0), points[:, :2].max(0)])


def _each_once(fitted: Sequence[tuple[Mesh, float]]) -> list[tuple[Mesh, float]]:
    if len(fitted) < 2:
        return list(fitted)
    boxes = np.stack([_box(mesh.points) for mesh, _ in fitted])
    scores = np.array([mesh.score for mesh, _ in fitted])
    return [fitted[group[0]] for group in suppress(boxes, scores, overlap=SAME_FACE_OVERLAP)]


def _mapped(mesh: Mesh, back: Matrix) -> Mesh:
    points = np.empty_like(mesh.points)
    points[:, :2] = transform(mesh.points[:, :2], back)
    points[:, 2] = mesh.points[:, 2] * math.hypot(back[0, 0], back[1, 0])
    return Mesh(points, mesh.score)


def _turned(pixels: Pixels) -> Iterator[_View]:
    height, width = pixels.shape[:2]
    backs = (
        [[0, -1, width - 1], [1, 0, 0]],
        [[-1, 0, width - 1], [0, -1, height - 1]],
        [[0, 1, 0], [-1, 0, height - 1]],
    )
    for quarter, back in enumerate(backs, start=1):
        yield _View(np.ascontiguousarray(np.rot90(pixels, quarter)), np.array(back, np.float64))


def _padded(pixels: Pixels) -> Iterator[_View]:
    height, width = pixels.shape[:2]
    by = max(height, width) // 2
    board = cv2.copyMakeBorder(pixels, by, by, by, by, cv2.BORDER_CONSTANT, value=(127, 127, 127))
    back = np.array([[1, 0, -by], [0, 1, -by]], np.float64)
    yield _View(np.asarray(board, np.uint8), back)


def _tiles(pixels: Pixels) -> Iterator[_View]:
    height, width = pixels.shape[:2]
    side = max(64, min(640, max(height, width) // 2))
    step = side * 3 // 4
    for top in range(0, max(1, height - side // 4), step):
        for left in range(0, max(1, width - side // 4), step):
            part = pixels[top : top + side, left : left + side]
            yield _View(part, np.array([[1, 0, left], [0, 1, top]], np.float64))
