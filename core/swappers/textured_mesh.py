"""The built-in swapper: lay the source's face texture on the target's mesh.

Source: own work, see ARCHITECTURE.md; the mesh is MediaPipe's (``core.faces.landmarks``).
In:  frame ``(H, W, 3)`` uint8 RGB, face with mesh.   Out: a patch of the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from core.types import Array, Face, Mask, Pixels, Points, SourceFace

__all__ = ["MeshIdentity", "MeshOptions", "TexturedMesh", "source_warnings"]

OPEN_MOUTH = 0.04
"""Lip gap to mouth width above which teeth or tongue may show."""
INSET = 0.004
FEATHER = (0.02, 0.15)
"""Width of the soft edge at edge softness 0 and 1, of the face height."""


@dataclass(frozen=True, slots=True)
class MeshOptions:
    """How to swap; shares are 0..1. See the options of ``core.processors.swap``."""

    likeness: float = 0.70
    skin_tone: float = 0.85
    edge: float = 0.35
    keep_mouth: bool = True
    keep_eyes: bool = False
    poisson: bool = False


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
        corner = np.array([x0, y0, 0], np.float32)
        work = _Work(part, target - corner, moved - corner, texture, options)
        return Patch(x0, y0, work.pixels(), work.mask)


def _area(points: Points, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    low = np.maximum(np.floor(points[:, :2].min(0)).astype(int) - 2, 0)
    high = np.minimum(np.ceil(points[:, :2].max(0)).astype(int) + 3, (shape[1], shape[0]))
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


class _Work:
    """One face in one frame; coordinates are those of the part that may change."""

    def __init__(
        self, part: Pixels, target: Points, moved: Points, texture: Texture, options: MeshOptions
    ) -> None:
        self.part, self.target, self.moved = part, target, moved
        self.texture, self.options = texture, options
        self.height = face_height(target)
        ids = surface.rasterise(moved, part.shape[:2])
        self.inside = ids > 0
        values = np.concatenate([surface.surface().places, target[:, :2]], axis=1)
        laid = surface.spread(surface.grow(ids, radius_px=2), moved, values)
        self.places, self.own = laid[..., :2], laid[..., 2:]
        self.lab = to_lab(part)
        self.tone = _target_tone(part, target)
        self.mask = self._mask()

    def sample(self, atlas: Array, *, cubic: bool = False) -> Array:
        """A picture on the atlas as seen on the face."""
        size = atlas.shape[0]
        at = self.places * np.float32(size) - np.float32(0.5)
        return surface.look_up(atlas, at, cubic=cubic)

    def pixels(self) -> Pixels:
        lab = self._painted()
        made = to_rgb(lab)
        made = self._with_own(made)
        if self.options.poisson:
            made = poisson(self.part, made, self.mask)
        return made

    def _painted(self) -> Array:
        levels = self.texture.levels
        finest = levels[0].shape[0]
        density = finest / (1.05 * self.height)
        level = int(np.clip(np.floor(np.log2(max(density, 1)) + 0.2), 0, len(levels) - 1))
        lab = self.sample(levels[level], cubic=density < 1)
        change = match(
            self.texture.tone, self.tone, strength=1 - (1 - self.options.skin_tone) ** 1.5
        )
        made = apply(lab, Change(self.sample(change.light), self.sample(change.tone)))
        where = self.mask * self.sample(zones(MASK_SIZE).skin)
        made[..., 0] = match_detail(made[..., 0], self.lab[..., 0], where)
        return made

    def _mask(self) -> Mask:
        edge = FEATHER[0] + (FEATHER[1] - FEATHER[0]) * self.options.edge
        distance = inside_distance(self.inside)
        mask = smoothstep(distance, INSET * self.height, (INSET + edge) * self.height)
        mask *= self.sample(self.texture.trust)
        mask *= 1 - self._hair()
        return np.asarray(mask, np.float32)

    def _hair(self) -> Mask:
        """Hair of the target that hangs into its face. The hinges of glasses are no hair."""
        zone = zones(MASK_SIZE)
        odd = unlike_skin(self.lab, self.sample(self.tone.coarse))
        odd *= self.sample(zone.fringe * (1 - zone.hinges))
        return blur(from_outside(odd, self.inside.astype(np.float32)), 0.01 * self.height)

    def _with_own(self, made: Pixels) -> Pixels:
        """Eyes and the inside of the mouth from the target, carried along with its mesh."""
        weight = self._own_weight()
        if weight is None:
            return made
        own = surface.look_up(self.part, self.own, cubic=True)
        return mix(made, own, weight)

    def _own_weight(self) -> Mask | None:
        size = MASK_SIZE
        atlas = np.zeros((size, size), np.float32)
        if self.options.keep_mouth and _mouth_gap(self.target) > OPEN_MOUTH:
            atlas = np.maximum(atlas, zones(size).mouth)
        half = size // 2
        sides = (slice(None, half), slice(half, None))
        theirs = eyes_open(self.target)
        for side, ours_open, theirs_open in zip(sides, self.texture.open_eyes, theirs, strict=True):
            if self.options.keep_eyes or (theirs_open and not ours_open):
                atlas[:, side] = np.maximum(atlas[:, side], zones(size).eyes[:, side])
        return self.sample(atlas) if atlas.any() else None


def _mouth_gap(points: Points) -> float:
    gap = np.linalg.norm(points[13, :2] - points[14, :2])
    return float(gap / max(float(np.linalg.norm(points[78, :2] - points[308, :2])), 1e-6))


def _target_tone(part: Pixels, target: Points) -> Tone:
    scale = min(1.0, 1.2 * TONE_SIZE / max(face_height(target), 1))
    height, width = part.shape[:2]
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    factors = np.array([size[0] / width, size[1] / height], np.float32)
    facing = -surface.normals(target)[:, 2:]
    values = np.concatenate([(target[:, :2] + 0.5) * factors - 0.5, facing], axis=1)
    laid = surface.to_atlas(values.astype(np.float32), TONE_SIZE)
    at = laid[..., :2]
    seen = surface.look_up(to_lab(np.asarray(small, np.uint8)), at)
    trusted = smoothstep(laid[..., 2], 0.1, 0.4)
    inside = (at >= 0).all(-1) & (at <= (size[0] - 1, size[1] - 1)).all(-1)
    return measure(seen, (trusted * inside).astype(np.float32))
