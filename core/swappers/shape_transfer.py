"""Give a target's mesh some of the source's shape, without its expression.

In:  extended meshes ``(481, 3)`` float32 in pixels of their own pictures.   Out: the same, moved.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.imaging.geometry import similarity
from core.imaging.masks import smoothstep
from core.imaging.mesh import LEFT_EYE, MOUTH, RIGHT_EYE, surface
from core.imaging.topology import topology
from core.types import Points

TOP, CHIN = 10, 152
LARGEST_MOVE = 0.08
"""Of the face height. Beyond that the mesh was wrong rather than the face unusual."""
RIM = 0.20
"""Of half the face height: from the oval, which must stay, to where the full shape applies."""
MOUTH_SHARE = 0.8
ROUNDS = 2
FULL = 1.35
"""Smoothing and the still oval eat some of the shape; this gives it back at full likeness."""


def face_height(points: Points) -> float:
    """From the top of the forehead to the chin, turned heads included."""
    return float(np.linalg.norm(points[TOP] - points[CHIN]))


def transfer(source: Points, target: Points, *, likeness: float) -> Points:
    """``target`` moved towards the shape of ``source``; the oval and all apertures stay."""
    if likeness == 0:
        return target
    rigid = topology().rigid
    scale, rotation, shift = similarity(source[rigid], target[rigid])
    aligned = (scale * source @ rotation.T + shift).astype(np.float32)
    move = aligned - target
    for ring, middle in (("eye_image_left", LEFT_EYE), ("eye_image_right", RIGHT_EYE)):
        group = np.append(_eye(ring), middle)
        move[group] = _moved_and_scaled(aligned[group], target[group]) - target[group]
    lips = np.append(_lips(), MOUTH)
    move[lips] = MOUTH_SHARE * move[lips].mean(0)
    move *= _freedom()[:, None]
    length = np.linalg.norm(move[:, :2], axis=1, keepdims=True)
    most = LARGEST_MOVE * face_height(target)
    move *= np.minimum(1, most / np.maximum(length, 1e-6))
    move = (_smoother() @ move) * _stays()[:, None]
    return np.asarray(target + FULL * likeness * move, np.float32)


def _moved_and_scaled(source: Points, target: Points) -> Points:
    middle = target.mean(0)
    reach = np.linalg.norm(target[:, :2] - middle[:2], axis=1).mean()
    wanted = np.linalg.norm(source[:, :2] - source.mean(0)[:2], axis=1).mean()
    scale = np.clip(wanted / max(reach, 1e-6), 0.85, 1.15)
    return np.asarray(source.mean(0) + (target - middle) * scale, np.float32)


def _eye(ring: str) -> NDArray[np.int64]:
    iris = ring.replace("eye", "iris")
    return np.concatenate([getattr(topology(), ring), getattr(topology(), iris)])


def _lips() -> NDArray[np.int64]:
    return np.unique(np.concatenate([topology().lips_inner, topology().lips_outer]))


@cache
def _freedom() -> NDArray[np.float32]:
    """0 at the oval, 1 well inside, by the average face."""
    shape = topology().frontal_shape[:, :2]
    oval = shape[topology().face_oval]
    ends = np.concatenate([oval + (np.roll(oval, -1, 0) - oval) * t for t in (0, 0.25, 0.5, 0.75)])
    inner = np.linalg.norm(shape[:, None] - ends[None], axis=2).min(1)
    free = np.ones(len(surface().places), np.float32)
    free[: len(shape)] = smoothstep(inner, 0.0, RIM)
    return free


@cache
def _stays() -> NDArray[np.float32]:
    """0 on the oval itself, which smoothing would otherwise pull along."""
    free = np.ones(len(surface().places), np.float32)
    free[topology().face_oval] = 0
    return free


@cache
def _smoother() -> NDArray[np.float32]:
    return np.asarray(np.linalg.matrix_power(surface().smoother, ROUNDS), np.float32)
