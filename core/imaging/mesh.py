"""The face mesh as a surface: its unrolled map, and which point of it each pixel shows.

Source: the unrolling is a cylinder round the average face of ``core.imaging.topology``.
In:  meshes ``(478, 3)`` float32 in pixels.   Out: maps ``(H, W, 2)`` float32.

The *atlas* is the unrolled face: a square picture of any size in which every feature has its
fixed place and mirror images are left-right flips. Coordinates on it are 0..1 ("places").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from core.imaging.topology import topology
from core.types import Array, Mask, Points

Ids = NDArray[np.int16]
"""``(H, W)``: 0 = no face, else number of the triangle + 1."""

VERTICES = 481
"""468 of the mesh, 10 of the irises (in no triangle), 3 in the middle of eyes and mouth."""
LEFT_EYE, RIGHT_EYE, MOUTH = 478, 479, 480
RINGS = {LEFT_EYE: "eye_image_left", RIGHT_EYE: "eye_image_right", MOUTH: "lips_inner"}

AXIS_DEPTH = 0.8
"""Where the axis of the cylinder lies, in units of half the face height behind its middle."""
SIDE_SQUEEZE = 0.27
"""Sides of the head, seen at a slant in most pictures, get this much less room than the front."""
MARGIN = 0.03
CACHED_ATLAS = 256
"""Up to this size the atlas is used once per frame, so its weights are kept."""
MOUTH_OPENING = 0.02
"""How far each lip moves from the middle, in atlas units; the average face has its mouth shut."""
SUBPIXEL_BITS = 4
DAMPING = 0.05
"""Square pixels; see ``_planes``."""


def extend(points: Points) -> Points:
    """``(478, D)`` with the middles of both eyes and the mouth appended: ``(481, D)``."""
    middles = [points[getattr(topology(), ring)].mean(0) for ring in RINGS.values()]
    return np.concatenate([points, np.stack(middles)]).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """What never changes about the mesh.

    ``triangles`` ``(T, 3)`` all turn the same way when seen from the front. ``places`` ``(481, 2)``
    on the atlas. ``mirror`` maps vertices to their mirror images. ``around`` lists the triangles at
    each vertex in ``used``, one vertex after the other, from ``starts`` on. ``smoother``
    ``(481, 481)`` averages neighbours.
    """

    triangles: NDArray[np.int64]
    places: Points
    mirror: NDArray[np.int64]
    around: NDArray[np.int64]
    starts: NDArray[np.int64]
    used: NDArray[np.int64]
    smoother: NDArray[np.float32]


@cache
def surface() -> Surface:
    """The one surface of the program."""
    known = topology()
    triangles = [known.triangles]
    for middle, name in RINGS.items():
        ring = getattr(known, name)
        triangles.append(np.stack([ring, np.roll(ring, -1), np.full(len(ring), middle)], 1))
    mirror = np.concatenate(
        [known.mirror, np.arange(473, 478), np.arange(468, 473), [RIGHT_EYE, LEFT_EYE, MOUTH]]
    )
    irises = np.zeros((10, 3), np.float32)
    shape = extend(np.concatenate([known.frontal_shape, irises]))
    places = _unroll((shape + shape[mirror] * (-1, 1, 1)) / 2)
    corners = np.concatenate(triangles)[:, [1, 0, 2]]
    turned = _signed_area(places[corners]) < 0
    turned[: len(known.triangles)] = False
    corners[turned] = corners[turned][:, [1, 0, 2]]
    faces_of = np.zeros((VERTICES, len(corners)), np.float32)
    for column in range(3):
        faces_of[corners[:, column], np.arange(len(corners))] = 1
    linked = np.minimum(faces_of @ faces_of.T, 1)
    np.fill_diagonal(linked, 0)
    degree = linked.sum(1, keepdims=True)
    smoother = 0.5 * np.eye(VERTICES, dtype=np.float32) + 0.5 * linked / np.maximum(degree, 1)
    smoother[degree[:, 0] == 0] = np.eye(VERTICES, dtype=np.float32)[degree[:, 0] == 0]
    average = linked / np.maximum(degree, 1)
    places = _unfold(_open_mouth(places, average), corners, average)
    around = np.argsort(corners.ravel(), kind="stable") // 3
    used, starts = np.unique(np.sort(corners.ravel()), return_index=True)
    return Surface(corners, places, mirror, around, starts, used, smoother)


def _unroll(shape: Points) -> Points:
    angle = np.arctan2(shape[:, 0], AXIS_DEPTH - shape[:, 2])
    across = angle / np.abs(angle[:468]).max()
    across = across * (1 - SIDE_SQUEEZE * across**2) / (1 - SIDE_SQUEEZE)
    low, high = shape[:468, 1].min(), shape[:468, 1].max()
    down = (shape[:, 1] - low) / (high - low)
    inner = 1 - 2 * MARGIN
    return np.stack([0.5 + across / 2 * inner, MARGIN + down * inner], 1).astype(np.float32)


def _open_mouth(places: Points, average: Array) -> Points:
    """Room for teeth: part the lips, and let everything between them and the oval give way."""
    ring = topology().lips_inner
    half = len(ring) // 2
    moved = np.zeros((VERTICES, 1), np.float32)
    moved[ring[1:half], 0] = MOUTH_OPENING
    moved[ring[half + 1 :], 0] = -MOUTH_OPENING
    fixed = np.concatenate([ring, topology().face_oval, [MOUTH]])
    held = moved[fixed]
    for _ in range(200):
        moved = average @ moved
        moved[fixed] = held
    return np.asarray(places + moved * (0, 1), np.float32)


def _unfold(places: Points, corners: NDArray[np.int64], average: Array) -> Points:
    """Relax the few vertices (beside the nostrils) whose triangles lie upside down."""
    for _ in range(100):
        wrong = _signed_area(places[corners]) <= 0
        if not wrong.any():
            break
        moved = np.unique(corners[wrong])
        places = places.copy()
        places[moved] = 0.5 * places[moved] + 0.5 * (average @ places)[moved]
    return places


def _signed_area(triangles: Array) -> Array:
    one, two = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return np.asarray(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])


def normals(points: Points) -> Points:
    """Unit normals ``(481, 3)`` of the extended mesh; z is -1 where the skin faces the viewer."""
    known = surface()
    one, two, three = (points[known.triangles[:, column]] for column in range(3))
    a, b = two - one, three - one
    crossed = np.empty_like(a)
    for axis in range(3):
        after, last = (axis + 1) % 3, (axis + 2) % 3
        crossed[:, axis] = a[:, last] * b[:, after] - a[:, after] * b[:, last]
    summed = np.zeros((VERTICES, 3), np.float32)
    summed[known.used] = np.add.reduceat(crossed[known.around], known.starts)
    length = np.maximum(np.sqrt((summed * summed).sum(1, keepdims=True)), 1e-9)
    return np.asarray(summed / length, np.float32)


def rasterise(points: Points, shape: tuple[int, int], *, cull: bool = True) -> Ids:
    """Which triangle is in front at each pixel of a ``shape`` picture.

    ``points`` ``(481, 2 or 3)``: drawn far to near. With ``cull`` skin that faces away is left out.
    """
    corners = points[surface().triangles]
    order = np.arange(len(corners))
    if points.shape[1] == 3:
        order = np.argsort(-corners[:, :, 2].sum(1), kind="stable")
    if cull:
        order = order[_signed_area(corners[order, :, :2]) > 0]
    fixed = np.round(corners[order, :, :2] * (1 << SUBPIXEL_BITS)).astype(np.int32)
    ids = np.zeros(shape, np.int16)
    draw = cv2.fillConvexPoly
    for triangle, number in zip(fixed, (order + 1).tolist(), strict=True):
        draw(ids, triangle, number, 8, SUBPIXEL_BITS)
    return ids


def spread(ids: Ids, points: Points, values: Points) -> Array:
    """Values of the vertices at every pixel, straight across each triangle.

    ``points`` ``(481, 2+)`` pixel positions, ``values`` ``(481, C)``; gives ``(H, W, C)`` float32.
    Undefined where ``ids`` is 0.
    """
    slopes, shifts = _planes(points, values)
    channels = values.shape[1]
    table = np.concatenate([slopes[:, 0], slopes[:, 1], shifts], axis=1)
    picked = table[np.maximum(ids, 1) - 1]
    made: Array = picked[..., 2 * channels :]
    made += picked[..., :channels] * np.arange(ids.shape[1], dtype=np.float32)[None, :, None]
    made += picked[..., channels : 2 * channels] * np.arange(
        ids.shape[0], dtype=np.float32
    ).reshape(-1, 1, 1)
    return made


def _planes(points: Points, values: Points) -> tuple[Array, Array]:
    """Per triangle the slopes ``(T, 2, C)`` and value at the origin ``(T, C)`` of each channel.

    A sliver is drawn a pixel wide, so its slope across is damped; else values would run away.
    """
    corners = surface().triangles
    at = points[corners][:, :, :2].astype(np.float32)
    wanted = values[corners].astype(np.float32)
    centre, mean = at.mean(1), wanted.mean(1)
    x, y = at[:, :, 0] - centre[:, :1], at[:, :, 1] - centre[:, 1:]
    xx, yy, xy = (x * x).sum(1) + DAMPING, (y * y).sum(1) + DAMPING, (x * y).sum(1)
    share = 1 / (xx * yy - xy * xy)
    along_x = (x[:, :, None] * wanted).sum(1)
    along_y = (y[:, :, None] * wanted).sum(1)
    slopes = np.stack(
        [
            (yy[:, None] * along_x - xy[:, None] * along_y) * share[:, None],
            (xx[:, None] * along_y - xy[:, None] * along_x) * share[:, None],
        ],
        axis=1,
    )
    return slopes, mean - (slopes * centre[:, :, None]).sum(1)


def look_up(picture: Array, at: Array, *, cubic: bool = False) -> Array:
    """``picture`` at the positions ``at`` ``(H, W, 2)`` in its pixels; the border is continued."""
    how = cv2.INTER_CUBIC if cubic else cv2.INTER_LINEAR
    spots = np.ascontiguousarray(at, dtype=np.float32)
    unused = cast(Array, None)  # OpenCV's types ask for a second map, OpenCV itself does not
    made = cv2.remap(picture, spots, unused, how, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(made)


def grow(ids: Ids, *, radius_px: int) -> Ids:
    """Lets the outermost triangles reach ``radius_px`` further, so that maps have no hard end."""
    size = 2 * radius_px + 1
    wide = cv2.dilate(ids, np.ones((size, size), np.uint8))
    return np.where(ids > 0, ids, wide).astype(np.int16)


@cache
def atlas_ids(size: int) -> Ids:
    """Triangle at every pixel of the atlas; the margin belongs to the nearest one."""
    ids = rasterise(surface().places * size - 0.5, (size, size), cull=False)
    _, labels = cv2.distanceTransformWithLabels(
        (ids == 0).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    nearest = np.zeros(labels.max() + 1, np.int16)
    nearest[labels[ids > 0]] = ids[ids > 0]
    full = np.asarray(nearest[labels], np.int16)
    full.flags.writeable = False
    return full


@cache
def _atlas_weights(size: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    corners = surface().triangles
    flat = np.ones((len(corners), 3, 3))
    flat[:, :, :2] = (surface().places * size - 0.5)[corners]
    tables = np.linalg.inv(flat)
    at = atlas_ids(size) - 1
    rows, columns = np.indices(at.shape)
    spots = np.stack([columns, rows, np.ones_like(rows)], -1).astype(np.float64)
    weights = np.einsum("hwk,hwkc->hwc", spots, tables[at])
    return corners[at], weights.astype(np.float32)


def to_atlas(values: Points, size: int) -> Array:
    """Values of the vertices ``(481, C)`` on the atlas: ``(size, size, C)`` float32."""
    if size > CACHED_ATLAS:
        return spread(atlas_ids(size), surface().places * size - 0.5, values)
    corners, weights = _atlas_weights(size)
    return np.asarray(np.einsum("hwkc,hwk->hwc", values[corners], weights), np.float32)


def fill_atlas(size: int, ring: NDArray[np.int64], *, grow_by: float = 0.0) -> Mask:
    """1 inside the polygon of vertices ``ring`` on the atlas; ``grow_by`` in atlas units."""
    made = np.zeros((size, size), np.uint8)
    corners = np.round((surface().places[ring] * size - 0.5) * 16).astype(np.int32)
    cv2.fillPoly(made, [corners], 1, 8, SUBPIXEL_BITS)
    reach = round(abs(grow_by) * size)
    if reach:
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
        changed = (cv2.dilate if grow_by > 0 else cv2.erode)(made, kernel)
        return np.asarray(changed, np.float32)
    return made.astype(np.float32)
