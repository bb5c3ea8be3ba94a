"""The built-in swapper: lay the source's face texture on the target's mesh.

Source: own work, see ARCHITECTURE.md; the mesh is MediaPipe's (``core.faces.landmarks``).
In:  frame ``(H, W, 3)`` uint8 RGB, face with mesh.   Out: a patch of the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from core.imaging import mesh as surface
from core.imaging.blend import Patch, mix, poisson
from core.imaging.colour import (
    TONE_SIZE,
    Change,
    Tone,
    apply,
    match,
    measure,
    to_lab,
    to_rgb,
    unlike_skin,
    wears_glasses,
)
from core.imaging.detail import match_detail
from core.imaging.masks import blur, from_outside, inside_distance, smoothstep, zones
from core.swappers.shape_transfer import face_height, transfer
from core.swappers.texture_source import (
    MASK_SIZE,
    MeshIdentity,
    Texture,
    eyes_open,
    prepare,
    rotation_of,
    source_warnings,
)
from core.types import Array, Cover, Face, Mask, Pixels, Points, SourceFace

__all__ = ["MeshIdentity", "MeshOptions", "TexturedMesh", "source_warnings"]

GRID = (96, 224)
"""Maps and masks are worked out at half size, within these limits, and enlarged."""
OPEN_MOUTH = 0.04
"""Lip gap to mouth width above which teeth or tongue may show."""
INSET = 0.004
FEATHER = (0.02, 0.15)
"""Width of the soft edge at edge softness 0 and 1, of the face height."""


@dataclass(frozen=True, slots=True)
class MeshOptions:
    """How to swap; shares are 0..1. See the options of ``core.processors.swap``.

    ``work_side``: a face larger than this is worked out at this size and enlarged.
    """

    likeness: float = 0.70
    skin_tone: float = 0.85
    edge: float = 0.35
    keep_mouth: bool = True
    keep_eyes: bool = False
    poisson: bool = False
    work_side: int = 1024


class TexturedMesh:
    """Swaps faces by texture; holds nothing, threads may share one."""

    def prepare(self, sources: Sequence[SourceFace]) -> MeshIdentity:
        """The identity of one person from one or more photos. NoFaceFound without any mesh."""
        return prepare(sources)

    def swap(
        self, pixels: Pixels, face: Face, identity: MeshIdentity, options: MeshOptions
    ) -> Patch:
        """The face of ``identity`` in the place of ``face``, which must have a mesh."""
        assert face.mesh is not None
        target = surface.extend(face.mesh)
        texture = identity.nearest(rotation_of(target))
        moved = transfer(texture.points, target, likeness=options.likeness)
        x0, y0, x1, y1 = _area(moved, pixels.shape[:2])
        if x1 - x0 < 4 or y1 - y0 < 4:
            return Patch(0, 0, pixels[:0, :0], np.zeros((0, 0), np.float32))
        part = pixels[y0:y1, x0:x1]
        kept = _cover(face.front, (x0, y0, x1, y1))
        size = _work_size(part.shape, options.work_side)
        factors = np.array([size[0] / (x1 - x0), size[1] / (y1 - y0)], np.float32)
        corner = np.array([x0, y0, 0], np.float32)
        work = _Work(
            _resized(part, size),
            None if kept is None else _resized(kept, size),
            _scaled(target - corner, factors),
            _scaled(moved - corner, factors),
            texture,
            options,
        )
        back = (x1 - x0, y1 - y0)
        return Patch(x0, y0, _resized(work.paint(), back), _resized(work.mask, back))


def _work_size(shape: tuple[int, ...], most: int) -> tuple[int, int]:
    factor = min(1.0, most / max(shape[0], shape[1]))
    return max(4, round(shape[1] * factor)), max(4, round(shape[0] * factor))


def _resized(values: Array, size: tuple[int, int]) -> Array:
    """``values`` as (width, height) ``size``, by area when it shrinks."""
    if values.shape[1::-1] == size:
        return values
    how = cv2.INTER_AREA if values.shape[1] > size[0] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(values, size, interpolation=how), values.dtype)


def _area(points: Points, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    low = np.maximum(np.floor(points[:, :2].min(0)).astype(int) - 2, 0)
    high = np.minimum(np.ceil(points[:, :2].max(0)).astype(int) + 3, (shape[1], shape[0]))
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _cover(front: Cover | None, area: tuple[int, int, int, int]) -> Mask | None:
    """What lies in front of the face, cut to ``area`` of the frame."""
    if front is None:
        return None
    x0, y0, x1, y1 = area
    made = np.zeros((y1 - y0, x1 - x0), np.float32)
    height, width = front.mask.shape
    left, top = max(x0, front.x0), max(y0, front.y0)
    right, bottom = min(x1, front.x0 + width), min(y1, front.y0 + height)
    if right > left and bottom > top:
        made[top - y0 : bottom - y0, left - x0 : right - x0] = front.mask[
            top - front.y0 : bottom - front.y0, left - front.x0 : right - front.x0
        ]
    return made


class _Work:
    """One face in one frame; coordinates are those of the part that may change.

    Everything smooth is worked out on a coarser grid and enlarged; only texture and colours are
    worked out at full size.
    """

    def __init__(
        self,
        part: Pixels,
        kept: Mask | None,
        target: Points,
        moved: Points,
        texture: Texture,
        options: MeshOptions,
    ) -> None:
        self._part, self._kept = part, kept
        self._texture, self._options = texture, options
        self._target = target
        self._height = face_height(target)
        height, width = part.shape[:2]
        side = max(height, width)
        shrink = min(1.0, float(np.clip(side / 2, *GRID)) / side)
        self._grid = (max(2, round(width * shrink)), max(2, round(height * shrink)))
        factors = np.array([self._grid[0] / width, self._grid[1] / height], np.float32)
        self._grid_height = self._height * float(factors.mean())
        self._small = _resized(part, self._grid)
        self._small_lab = to_lab(self._small)
        self._tone = _target_tone(
            self._small,
            None if kept is None else _resized(kept, self._grid),
            _scaled(target, factors),
        )
        laid_on = _scaled(moved, factors)
        ids = surface.rasterise(laid_on, self._grid[::-1])
        self._inside = ids > 0
        self._ids, self._laid_on = surface.grow(ids, radius_px=2), laid_on
        self._places = surface.spread(self._ids, laid_on, surface.surface().places)
        self._glasses = self._worn_glasses()
        self._trust = self._sample(texture.trust)
        self._cover = self._covered()
        self.mask = self._full(self._cover)
        if kept is not None:
            self.mask = self.mask * (1 - kept)

    def paint(self) -> Pixels:
        """The part with the new face; right wherever the mask is not 0."""
        made = self._with_own(to_rgb(self._painted()))
        if self._options.poisson:
            made = poisson(self._part, made, self.mask)
        return made

    def _painted(self) -> Array:
        levels = self._texture.levels
        density = levels[0].shape[0] / (1.05 * self._height)
        level = int(np.clip(np.floor(np.log2(max(density, 1)) + 0.2), 0, len(levels) - 1))
        size = levels[level].shape[0]
        at = self._full(self._places) * np.float32(size) - np.float32(0.5)
        lab = surface.look_up(levels[level], at, cubic=density < 1)
        strength = 1 - (1 - self._options.skin_tone) ** 1.5
        change = match(self._texture.tone, self._tone, strength=strength)
        light, tone = self._sample(change.light), self._sample(change.tone)
        made = apply(lab, Change(self._full(light), self._full(tone), change.lean))
        if self._glasses is not None:
            plain = self._full(self._sample(self._tone.coarse))
            made += (plain - made) * self._full(self._glasses * (1 - self._trust))[..., None]
        where = self.mask * self._full(self._sample(zones(MASK_SIZE).skin))
        grey = np.asarray(cv2.cvtColor(self._part, cv2.COLOR_RGB2GRAY), np.float32) / 2.55
        made[..., 0] = match_detail(made[..., 0].copy(), grey, where)
        return made

    def _covered(self) -> Mask:
        edge = FEATHER[0] + (FEATHER[1] - FEATHER[0]) * self._options.edge
        # Enlarging reaches one point of the grid outwards, so the edge starts one further in.
        distance = (inside_distance(self._inside) - 1.5) / self._grid_height
        mask = smoothstep(distance, INSET, INSET + edge) * self._trust
        mask *= 1 - self._hair()
        if self._glasses is not None:
            mask = np.maximum(mask, self._glasses * smoothstep(distance, 0, FEATHER[0]))
        return np.asarray(mask, np.float32)

    def _hair(self) -> Mask:
        """Hair of the target that hangs into its face. The hinges of glasses are no hair."""
        doubt = self._sample(zones(MASK_SIZE).doubt)
        odd = unlike_skin(self._small_lab, self._sample(self._tone.coarse), doubt=doubt)
        odd *= self._sample(_hair_zone())
        return blur(from_outside(odd, self._inside.astype(np.float32)), 0.01 * self._grid_height)

    def _worn_glasses(self) -> Mask | None:
        """Where the ends of the target's glasses are, to be painted over; None without glasses.

        The new face covers the middle of the frame; ends left standing would look broken.
        """
        if not wears_glasses(self._tone):
            return None
        odd = unlike_skin(self._small_lab, self._sample(self._tone.coarse), doubt=0.6)
        odd *= self._sample(zones(MASK_SIZE).hinges)
        reach = round(0.015 * self._grid_height) * 2 + 1
        wide = cv2.dilate(np.asarray(odd, np.float32), np.ones((reach, reach), np.uint8))
        return blur(np.asarray(wide, np.float32), 0.012 * self._grid_height)

    def _with_own(self, made: Pixels) -> Pixels:
        """Eyes and the inside of the mouth from the target, carried along with its mesh."""
        atlas = self._own_zones()
        if not atlas.any():
            return made
        weight = self._full(self._sample(atlas) * self._inside)
        if not weight.any():
            return made
        x, y, width, height = cv2.boundingRect((weight > 0).astype(np.uint8))
        here = (slice(y, y + height), slice(x, x + width))
        own_at = surface.spread(self._ids, self._laid_on, self._target[:, :2])
        own = surface.look_up(self._part, self._full(own_at)[here], cubic=True)
        made[here] = mix(made[here], own, weight[here])
        return made

    def _own_zones(self) -> Mask:
        zone = zones(MASK_SIZE)
        atlas = np.zeros_like(zone.mouth)
        if self._options.keep_mouth and _mouth_gap(self._target) > OPEN_MOUTH:
            atlas = np.maximum(atlas, zone.mouth)
        theirs_only = all(eyes_open(self._target)) and not all(self._texture.open_eyes)
        if self._options.keep_eyes or theirs_only:
            atlas = np.maximum(atlas, zone.eyes)
        return atlas

    def _sample(self, atlas: Array) -> Array:
        """A picture on the atlas as seen on the face, on the grid."""
        at = self._places * np.float32(atlas.shape[0]) - np.float32(0.5)
        return surface.look_up(atlas, at)

    def _full(self, values: Array) -> Array:
        return _resized(values, (self._part.shape[1], self._part.shape[0]))


@cache
def _hair_zone() -> Mask:
    zone = zones(MASK_SIZE)
    return np.asarray(zone.fringe * (1 - zone.hinges), np.float32)


def _scaled(points: Points, factors: Array) -> Points:
    made = points.copy()
    made[:, :2] = (points[:, :2] + 0.5) * factors - 0.5
    made[:, 2] = points[:, 2] * factors.mean()
    return made


def _mouth_gap(points: Points) -> float:
    gap = np.linalg.norm(points[13, :2] - points[14, :2])
    return float(gap / max(float(np.linalg.norm(points[78, :2] - points[308, :2])), 1e-6))


def _target_tone(part: Pixels, kept: Mask | None, target: Points) -> Tone:
    scale = min(1.0, 1.2 * TONE_SIZE / max(face_height(target), 1))
    height, width = part.shape[:2]
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    facing = -surface.normals(target)[:, 2:]
    points = _scaled(target, np.array([size[0] / width, size[1] / height], np.float32))
    laid = surface.to_atlas(np.concatenate([points[:, :2], facing], axis=1), TONE_SIZE)
    at = laid[..., :2]
    seen = surface.look_up(to_lab(np.asarray(small, np.uint8)), at)
    inside = (at >= 0).all(-1) & (at <= (size[0] - 1, size[1] - 1)).all(-1)
    trusted = smoothstep(laid[..., 2], 0.1, 0.4) * inside
    if kept is not None:
        covered = cv2.resize(kept, size, interpolation=cv2.INTER_AREA)
        trusted = trusted * (1 - surface.look_up(np.asarray(covered, np.float32), at))
    return measure(seen, np.asarray(trusted, np.float32))
