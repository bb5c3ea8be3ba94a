"""Find every face of one picture and fit its mesh.

A mesh's own score is no proof (coins and headlights reach 1.00), so whatever was not found at
first sight is looked at again: cut out upright by its own mesh, CenterFace must see a face with
its eyes in the same places. On 26 pictures without people this leaves no false alarm, and it
turns down meshes that sit on a face the wrong way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from core.faces.detect import BlazeFace, CenterFace, Detection
from core.faces.landmarks import (
    LEAST_SCORE,
    PUPILS,
    Landmarker,
    Mesh,
    box_of_mesh,
    roi_of_detection,
    roi_of_mesh,
    roll_rad,
)
from core.imaging.geometry import Matrix, crop, iou, suppress, transform
from core.types import Array, OpenSession, Pixels

SAME_FACE_OVERLAP = 0.3
LARGE_SIDE = 1000
"""Above this a second search at twice the size pays: at 640 a face of 3 % of the side is lost."""
SEARCH_SIDE = 1280
SMALLEST_FACE_PX = 12.0
SURE_SCORE = 0.6
EYES_APART = 0.2
"""Of the face's size: how far the eyes of finder and mesh may lie from each other."""
LOOK_FACTOR, LOOK_SIDE, LOOK_SCORE = 3.2, 160, 0.5
UPRIGHT_RAD = math.radians(60)
"""CenterFace finds faces turned up to here; beyond, some of a group are lost."""
TILES_ACROSS, SMALLEST_TILE, TILE_SEARCH_SIDE = 3, 160, 480

Find = Callable[[Pixels], Sequence[Detection]]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A mesh and how sure the finder was."""

    mesh: Mesh
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A changed copy of the frame, and the way back from its points to the frame's."""

    pixels: Pixels
    back: Matrix


class Searcher:
    """Finders and mesh together. Threads may share one."""

    def __init__(self, open_session: OpenSession, landmarker: Landmarker) -> None:
        self._centerface = CenterFace(open_session)
        self._blazeface = BlazeFace(open_session)
        self._landmarker = landmarker

    def quick(self, pixels: Pixels) -> list[Found]:
        """Upright faces that are not tiny: for clips, where the next frame is another chance."""
        for find in (self._blazeface.find, self._centerface.find):
            found = self._fit_new([], pixels, find(pixels), self._fit_plainly)
            if found:
                return found
        return []

    def thorough(self, pixels: Pixels) -> list[Found]:
        """Faces of any size, at any turn.

        Looks further while nothing is found, and also when something does not stand upright or
        turned out to be no face: then others of the same picture may have been missed.
        """
        sizes = (640, SEARCH_SIDE) if max(pixels.shape[:2]) > LARGE_SIDE else (640,)
        detections = _each_once(
            [one for size in sizes for one in self._centerface.find(pixels, long_side=size)]
        )
        found = self._fit_new([], pixels, detections, self._fit_at_sight)
        if _settled(found, detections):
            return found
        for stage in self._further(pixels):
            for more in stage:
                found = self._fit_new(found, pixels, more, self._fit_carefully)
            if found:
                return found
        return []

    def _further(self, pixels: Pixels) -> Iterator[Iterable[Sequence[Detection]]]:
        """Stages of further looking, each made only when it is asked for."""
        frame = _at_most(pixels, SEARCH_SIDE)
        wide, turnable = self._centerface.find, self._blazeface.find
        yield (_seen(wide, view) for view in _turned(frame))
        yield (_seen(turnable, view) for view in (frame, *_turned(frame)))
        padded = _padded(frame)
        yield (_seen(find, padded) for find in (wide, turnable))
        for tile in _tiles(pixels):
            yield (_seen(find, tile) for find in (self._in_tile, turnable))

    def _in_tile(self, pixels: Pixels) -> Sequence[Detection]:
        return self._centerface.find(pixels, long_side=TILE_SEARCH_SIDE)

    def _fit_new(
        self,
        found: list[Found],
        pixels: Pixels,
        detections: Sequence[Detection],
        fit: Callable[[Pixels, Detection], Mesh | None],
    ) -> list[Found]:
        """``found`` and what ``detections`` add to it."""
        grown = list(found)
        for detection in detections:
            if _known(detection.box, grown):
                continue
            mesh = fit(pixels, detection)
            if mesh is None or _known(box_of_mesh(mesh.points), grown):
                continue
            if np.ptp(mesh.points[:, :2], axis=0).max() >= SMALLEST_FACE_PX:
                grown.append(Found(mesh, detection.score))
        return grown

    def _fit_plainly(self, pixels: Pixels, detection: Detection) -> Mesh | None:
        mesh = self._landmarker.fit(pixels, roi_of_detection(detection))
        return mesh if mesh.score >= LEAST_SCORE else None

    def _fit_at_sight(self, pixels: Pixels, detection: Detection) -> Mesh | None:
        mesh = self._fit_plainly(pixels, detection)
        if mesh and detection.score >= SURE_SCORE and _agree(detection, mesh):
            return mesh
        return self._fit_carefully(pixels, detection)

    def _fit_carefully(self, pixels: Pixels, detection: Detection) -> Mesh | None:
        """The mesh that stands a second look, at whichever quarter turn."""
        square = roi_of_detection(detection)
        for quarter in range(4):
            mesh = self._landmarker.fit(pixels, square.turned(quarter * math.pi / 2))
            if mesh.score < LEAST_SCORE:
                continue
            seen = self._look_again(pixels, mesh)
            if seen is not None:
                return seen
        return None

    def _look_again(self, pixels: Pixels, mesh: Mesh) -> Mesh | None:
        square = roi_of_mesh(mesh.points, factor=LOOK_FACTOR)
        upright = crop(pixels, square, LOOK_SIDE)
        view = _View(upright, square.to_frame(LOOK_SIDE))
        for detection in _seen(lambda part: self._centerface.find(part, long_side=LOOK_SIDE), view):
            if detection.score >= LOOK_SCORE and _agree(detection, mesh):
                return self._fit_plainly(pixels, detection)
        return None


def _settled(found: Sequence[Found], detections: Sequence[Detection]) -> bool:
    upright = all(abs(roll_rad(one.mesh.points)) < UPRIGHT_RAD for one in found)
    return bool(found) and upright and len(found) == len(detections)


def _agree(detection: Detection, mesh: Mesh) -> bool:
    apart = np.linalg.norm(mesh.points[list(PUPILS), :2] - detection.eyes, axis=1).max()
    return bool(apart < EYES_APART * np.ptp(mesh.points[:, :2], axis=0).max())


def _known(box: Array, found: Sequence[Found]) -> bool:
    if not found:
        return False
    boxes = np.stack([box_of_mesh(one.mesh.points) for one in found])
    return bool(iou(box, boxes).max() > SAME_FACE_OVERLAP)


def _each_once(detections: Sequence[Detection]) -> list[Detection]:
    if len(detections) < 2:
        return list(detections)
    boxes = np.stack([one.box for one in detections])
    scores = np.array([one.score for one in detections])
    groups = suppress(boxes, scores, overlap=SAME_FACE_OVERLAP)
    return [detections[group[0]] for group in groups]


def _seen(find: Find, view: _View) -> list[Detection]:
    """What ``find`` sees in ``view``, in the frame's coordinates; the eyes keep the turn."""
    moved = []
    for one in find(view.pixels):
        x0, y0, x1, y1 = one.box
        corners = transform(np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]), view.back)
        middle = (corners[0] + corners[2]) / 2
        scale = math.hypot(*view.back[:, 0])
        half = np.array([x1 - x0, y1 - y0], np.float32) * (scale / 2)
        box = np.concatenate([middle - half, middle + half]).astype(np.float32)
        moved.append(Detection(box, transform(one.eyes, view.back), one.score))
    return moved


def _at_most(pixels: Pixels, side: int) -> _View:
    """The frame, shrunk when it is larger: the finders do not look closer."""
    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    if scale >= 1:
        return _View(pixels, np.array([[1.0, 0, 0], [0, 1, 0]]))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    across, down = width / size[0], height / size[1]
    return _View(small, np.array([[across, 0, (across - 1) / 2], [0, down, (down - 1) / 2]]))


def _turned(view: _View) -> Iterator[_View]:
    """The three quarter turns."""
    height, width = view.pixels.shape[:2]
    backs = (
        [[0, -1, width - 1], [1, 0, 0]],
        [[-1, 0, width - 1], [0, -1, height - 1]],
        [[0, 1, 0], [-1, 0, height - 1]],
    )
    for quarter, back in enumerate(backs, start=1):
        pixels = np.ascontiguousarray(np.rot90(view.pixels, quarter))
        yield _View(pixels, _after(np.array(back, np.float64), view.back))


def _padded(view: _View) -> _View:
    """With a grey border of half its size: a face that fills the frame becomes findable."""
    by = max(view.pixels.shape[:2]) // 2
    board = cv2.copyMakeBorder(
        view.pixels, by, by, by, by, cv2.BORDER_CONSTANT, value=(127, 127, 127)
    )
    back = np.array([[1.0, 0, -by], [0, 1, -by]])
    return _View(np.asarray(board, np.uint8), _after(back, view.back))


def _tiles(pixels: Pixels) -> Iterator[_View]:
    """Overlapping thirds of the long side, seen enlarged: for faces of a hundredth of it."""
    height, width = pixels.shape[:2]
    side = max(height, width) // TILES_ACROSS
    if side < SMALLEST_TILE:
        return
    step = side * 3 // 4
    for top in range(0, max(1, height - side // 4), step):
        for left in range(0, max(1, width - side // 4), step):
            part = pixels[top : top + side, left : left + side]
            yield _View(part, np.array([[1.0, 0, left], [0, 1, top]]))


def _after(first: Matrix, second: Matrix) -> Matrix:
    """The map that does ``first`` and then ``second``."""
    made: Matrix = second @ np.vstack([first, [0, 0, 1]])
    return made
