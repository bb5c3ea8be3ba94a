"""Topology of the 478-point face mesh: triangles, rings, mirror, average frontal shape.

Source: MediaPipe face mesh (Google, 2020, Apache-2.0); the average shape and the mirror were
derived for this project (``models/embedded/LICENCES.txt``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).resolve().parents[2] / "models" / "embedded" / "mesh_topology.json"

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """Read-only arrays; rings are closed polygons in order. Left and right as seen in the image."""

    triangles: Indices
    frontal_shape: NDArray[np.float32]
    mirror: Indices
    face_oval: Indices
    lips_inner: Indices
    lips_outer: Indices
    eye_image_left: Indices
    eye_image_right: Indices
    iris_image_left: Indices
    iris_image_right: Indices
    brow_image_left: Indices
    brow_image_right: Indices
    rigid: Indices


@cache
def topology() -> Topology:
    """The one topology of the program."""
    raw = json.loads(FILE.read_text(encoding="utf-8"))
    arrays: dict[str, Any] = {
        name: np.asarray(raw[name], np.float32 if name == "frontal_shape" else np.int64)
        for name in Topology.__dataclass_fields__
    }
    for array in arrays.values():
        array.flags.writeable = False
    return Topology(**arrays)
