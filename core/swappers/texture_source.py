"""Source photos made into face textures: unrolled, hidden parts filled, hair taken out.

In:  photos ``(H, W, 3)`` uint8 RGB with a face that has a mesh.   Out: :class:`MeshIdentity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from core.errors import NoFaceFound
from core.imaging import mesh as surface
from core.imaging.colour import TONE_SIZE, Tone, measure, to_lab, unlike_skin
from core.imaging.geometry import similarity
from core.imaging.masks import blur, from_outside, smoothstep, zones
from core.imaging.topology import topology
from core.sentences import Sentence, say
from core.swappers.shape_transfer import face_height
from core.types import Array, Embedding, Identity, Mask, Pixels, Points, SourceFace

TEXTURE_SIZES = (256, 384, 512, 768, 1024)
TEXELS_PER_PIXEL = 1.3
"""A little finer than the photo, so that unrolling it costs no sharpness."""
MASK_SIZE = 256
GRAZING = (0.28, 0.58)
"""Cosine between skin and line of sight: below the first it shows nothing, above the second all."""
BEHIND = 0.025
"""Of the face height: skin this much farther away than what is seen there is hidden."""
RIDGE = 0.025
RIDGE_DEG = (14.0, 35.0)
"""How far the middle of a turned face is off (atlas units), and from which yaw on."""
HALF_HIDDEN = 0.42
HALF_BETTER = 0.15
PROFILE_DEG = 35.0
SMALL_PX = 200
CLOSED_EYE = 0.16
"""Lid gap to eye width."""


@dataclass(frozen=True, slots=True, eq=False)
class Texture:
    """One photo, unrolled.

    ``points`` ``(481, 3)`` and ``rotation`` as in the photo. ``levels`` float32 LAB, each half the
    size of the one before. ``trust`` ``(MASK_SIZE, MASK_SIZE)`` is 0 where nothing of use is
    known. ``open_eyes`` left, right as seen in the picture.
    """

    points: Points
    rotation: NDArray[np.float64]
    levels: tuple[Array, ...]
    trust: Mask
    tone: Tone
    open_eyes: tuple[bool, bool]


@dataclass(frozen=True, eq=False)
class MeshIdentity(Identity):
    """A person for the built-in engine: one finished texture per photo."""

    textures: tuple[Texture, ...]

    def nearest(self, rotation: NDArray[np.float64]) -> Texture:
        """The texture whose photo was taken most nearly from the side of ``rotation``."""
        return max(self.textures, key=lambda one: float(np.trace(one.rotation.T @ rotation)))


def prepare(sources: Sequence[SourceFace]) -> MeshIdentity:
    """Everything that does not depend on the target. NoFaceFound when no source has a mesh."""
    usable = [source for source in sources if source.face.mesh is not None]
    if not usable:
        raise NoFaceFound(say("noface.photos"), hint=say("noface.photos.hint"))
    raw = [_unroll(source.pixels, source.face.mesh) for source in usable]
    textures = tuple(_finish(one, [other for other in raw if other is not one]) for one in raw)
    return MeshIdentity(len(usable), _mean_embeddings(usable), textures)


def source_warnings(source: SourceFace) -> tuple[Sentence, ...]:
    """What is likely to spoil the result, in plain words."""
    face = source.face
    said = []
    if face.yaw_deg is not None and abs(face.yaw_deg) > PROFILE_DEG:
        said.append(say("photo.profile"))
    if face.height_px < SMALL_PX:
        said.append(say("photo.small", px=round(face.height_px)))
    if face.covered:
        said.append(say("photo.covered"))
    return tuple(said)


def rotation_of(points: Points) -> NDArray[np.float64]:
    """How the head is turned: from the average frontal face to ``points``."""
    rigid = topology().rigid
    return similarity(topology().frontal_shape[rigid], points[rigid])[1]


def eyes_open(points: Points) -> tuple[bool, bool]:
    """Whether the lids are apart: left, right as seen in the picture."""
    left, right = (
        np.linalg.norm(points[upper, :2] - points[lower, :2])
        / max(float(np.linalg.norm(points[inner, :2] - points[outer, :2])), 1e-6)
        for upper, lower, inner, outer in ((159, 145, 33, 133), (386, 374, 263, 362))
    )
    return bool(left > CLOSED_EYE), bool(right > CLOSED_EYE)


@dataclass(frozen=True, slots=True, eq=False)
class _Raw:
    points: Points
    lab: Array
    seen: Mask


def _unroll(pixels: Pixels, mesh: Points | None) -> _Raw:
    assert mesh is not None
    points = surface.extend(mesh)
    wanted = TEXELS_PER_PIXEL * face_height(points)
    size = next((one for one in TEXTURE_SIZES if one >= wanted), TEXTURE_SIZES[-1])
    shrink = min(1.0, size / wanted)
    part, local = _cut(pixels, points, shrink)
    at = surface.to_atlas(local[:, :2], size)
    texture = surface.look_up(part, at, cubic=True)
    return _Raw(points, to_lab(texture), _seen(local, part.shape[:2]))


def _cut(pixels: Pixels, points: Points, shrink: float) -> tuple[Pixels, Points]:
    height, width = pixels.shape[:2]
    low = np.maximum(np.floor(points[:, :2].min(0)) - 8, 0).astype(int)
    high = np.minimum(np.ceil(points[:, :2].max(0)) + 9, (width, height)).astype(int)
    high = np.maximum(high, low + 1)
    part = pixels[low[1] : high[1], low[0] : high[0]]
    local = points.copy()
    local[:, :2] -= low
    if shrink < 1:
        size = np.maximum(np.round((high - low) * shrink), 1).astype(int)
        shape = (int(size[0]), int(size[1]))
        part = np.asarray(cv2.resize(part, shape, interpolation=cv2.INTER_AREA), np.uint8)
        local *= shrink
    return np.ascontiguousarray(part), local


def _seen(points: Points, shape: tuple[int, ...]) -> Mask:
    """How well the photo shows each spot of the atlas: faces the camera, and not behind skin."""
    height, width = shape[0], shape[1]
    facing = -surface.normals(points)[:, 2:]
    depth = surface.spread(surface.rasterise(points, (height, width)), points, points[:, 2:])
    laid = surface.to_atlas(np.concatenate([points, facing], axis=1), MASK_SIZE)
    at = laid[..., :2]
    front = surface.look_up(depth, at)
    behind = laid[..., 2] - front > BEHIND * face_height(points)
    inside = (at >= 0).all(-1) & (at <= (width - 1, height - 1)).all(-1)
    clear = blur((inside & ~behind).astype(np.float32), 0.01 * MASK_SIZE)
    return np.asarray(smoothstep(laid[..., 3], *GRAZING) * smoothstep(clear, 0.4, 0.9), np.float32)


def _finish(raw: _Raw, others: Sequence[_Raw]) -> Texture:
    lab, seen, rotation = raw.lab, raw.seen, rotation_of(raw.points)
    for other in sorted(others, key=lambda one: -float(one.seen.sum())):
        new = _resized(other.lab, lab.shape[0])
        new = new + _middle(lab, seen) - _middle(new, other.seen)
        lab, seen = _fill(lab, seen, new, other.seen, seam=0.02)
    lab = _past_the_ridge(lab, rotation)
    lab, seen = _fill(lab, seen, lab[:, ::-1], seen[:, ::-1], seam=0)
    seen = _without_gaps(seen)
    tone = measure(_resized(lab, TONE_SIZE), _resized(seen, TONE_SIZE))
    trust = seen * (1 - _hair(_resized(lab, MASK_SIZE), tone))
    tone = measure(tone.lab, _resized(trust, TONE_SIZE))
    levels = [lab]
    while levels[-1].shape[0] > 64:
        levels.append(np.asarray(cv2.pyrDown(levels[-1])))
    return Texture(raw.points, rotation, tuple(levels), trust, tone, eyes_open(raw.points))


def _middle(lab: Array, seen: Mask) -> Array:
    return measure(_resized(lab, TONE_SIZE), _resized(seen, TONE_SIZE)).middle


def _past_the_ridge(lab: Array, rotation: NDArray[np.float64]) -> Array:
    """Stretch the skin beside the middle over it when the head is turned.

    The mesh seldom follows the ridge of a turned nose exactly: what lies on the very middle of
    the atlas is background then, and mirroring would show it twice.
    """
    forward = rotation @ np.array([0.0, 0.0, -1.0])
    yaw = abs(np.degrees(np.arctan2(forward[0], -forward[2])))
    reach = RIDGE * float(smoothstep(yaw, *RIDGE_DEG))
    if reach == 0:
        return lab
    size = lab.shape[0]
    middle = (size - 1) / 2
    rows, columns = np.indices((size, size)).astype(np.float32)
    off = (columns - middle) / size
    off += np.sign(off) * reach * np.exp(-np.abs(off) / (2 * reach))
    return surface.look_up(lab, np.stack([middle + off * size, rows], axis=-1))


def _without_gaps(seen: Mask) -> Mask:
    """Close small holes, as under the nose: a hole would let the target's nostrils through."""
    size = round(0.09 * seen.shape[0]) | 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    return np.asarray(cv2.morphologyEx(seen, cv2.MORPH_CLOSE, disc), np.float32)


def _fill(
    lab: Array, seen: Mask, other: Array, other_seen: Mask, *, seam: float
) -> tuple[Array, Mask]:
    """Put ``other`` where ``lab`` shows little and ``other`` more; eyes and mouth by halves only.

    Blending features spot by spot would show them twice. ``seam`` softens the middle between
    halves; a mirror image fits there by itself.
    """
    share = _share(seen, other_seen, seam=seam)
    if float(share.max()) < 0.02:
        return lab, seen
    size = lab.shape[0]
    weight = cv2.resize(share, (size, size), interpolation=cv2.INTER_NEAREST)[..., None]
    return lab + (other - lab) * weight, seen + (other_seen - seen) * share


def _share(seen: Mask, other_seen: Mask, *, seam: float) -> Mask:
    size = seen.shape[0]
    features = zones(size).features
    spots = smoothstep(other_seen - seen, 0.15, 0.5)
    halves: Array = np.zeros_like(seen)
    middle = size // 2
    for side in (slice(None, middle), slice(middle, None)):
        weight = features[:, side]
        own, new = (
            float((one[:, side] * weight).sum() / weight.sum()) for one in (seen, other_seen)
        )
        if own < HALF_HIDDEN + 0.25 and new > own + HALF_BETTER:
            halves[:, side] = 1
    if seam:
        halves = np.asarray(cv2.GaussianBlur(halves, (0, 0), sigmaX=seam * size, sigmaY=0.5))
    spots = blur(np.asarray(spots * (1 - features), np.float32), 0.012 * size)
    return np.asarray(np.maximum(halves, spots), np.float32)


def _hair(lab: Array, tone: Tone) -> Mask:
    """Where hair or background hangs into the face, ``(MASK_SIZE, MASK_SIZE)``."""
    size = lab.shape[0]
    zone = zones(size)
    odd = unlike_skin(lab, _resized(tone.coarse, size), doubt=zone.doubt) * zone.fringe
    odd = _outward(blur(from_outside(odd, zone.oval), 0.006 * size))
    wide = cv2.dilate(odd, np.ones((15, 15), np.uint8))
    return blur(np.asarray(wide, np.float32), 0.022 * size)


def _outward(hair: Mask) -> Mask:
    """What lies behind hair, seen from the middle of the face, is hair as well."""
    middle = hair.shape[1] // 2
    left = np.maximum.accumulate(hair[:, :middle][:, ::-1], axis=1)[:, ::-1]
    right = np.maximum.accumulate(hair[:, middle:], axis=1)
    above = np.maximum.accumulate(hair[::-1], axis=0)[::-1]
    above = above * (np.indices(hair.shape)[0] < 0.3 * hair.shape[0])
    return np.asarray(np.maximum(np.concatenate([left, right], axis=1), above), np.float32)


def _resized(values: Array, size: int) -> Array:
    if values.shape[0] == size:
        return values
    how = cv2.INTER_AREA if values.shape[0] > size else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(values), (size, size), interpolation=how))


def _mean_embeddings(sources: Sequence[SourceFace]) -> dict[str, Embedding]:
    names = set.intersection(*(set(source.face.embeddings) for source in sources))
    return {
        name: np.mean([source.face.embeddings[name] for source in sources], axis=0).astype(
            np.float32
        )
        for name in sorted(names)
    }
