"""The eight test faces and every swap among them, made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from core.faces.analyse import Analyser
from core.faces.embed import Embedder, distance
from core.faces.landmarks import Landmarker, roi_of_mesh
from core.imaging.blend import Patch, paste
from core.runtime.sessions import SessionPool
from core.swappers.textured_mesh import MeshOptions, TexturedMesh
from core.types import Pixels, SourceFace


@dataclass(frozen=True)
class Pair:
    """One swap with default settings; distances are descriptor128's to source and target."""

    name: str
    target: SourceFace
    patch: Patch
    result: Pixels
    to_source: float
    to_target: float


@pytest.fixture(scope="session")
def faces(
    engine: Analyser, astronaut: Pixels, grace_hopper: Pixels, group_photo: Pixels
) -> dict[str, SourceFace]:
    """Astronaut, Grace Hopper and the six of the group photo, by name."""
    found = {
        "astronaut": SourceFace(astronaut, engine.analyse(astronaut)[0]),
        "hopper": SourceFace(grace_hopper, engine.analyse(grace_hopper)[0]),
    }
    for number, face in enumerate(engine.analyse(group_photo)):
        found[f"friend{number}"] = SourceFace(group_photo, face)
    assert len(found) == 8
    return found


@pytest.fixture(scope="session")
def pairs(faces: dict[str, SourceFace], pool: SessionPool) -> Sequence[Pair]:
    """All ordered pairs of different faces."""
    swapper, landmarker, embedder = TexturedMesh(), Landmarker(pool.open), Embedder(pool.open)
    made = []
    for giver, source in faces.items():
        identity = swapper.prepare([source])
        for taker, target in faces.items():
            if giver == taker:
                continue
            patch = swapper.swap(target.pixels, target.face, identity, MeshOptions())
            result = paste(target.pixels, [patch])
            assert target.face.mesh is not None
            mesh = landmarker.fit(result, roi_of_mesh(target.face.mesh)).points
            seen = embedder.inner(result, mesh)
            near, far = (
                distance(seen, one.face.embeddings["descriptor128"]) for one in (source, target)
            )
            made.append(Pair(f"{giver} on {taker}", target, patch, result, near, far))
    assert len(made) == 56
    return made


@pytest.fixture
def hopper_on_astronaut(faces: dict[str, SourceFace]):
    """A swap with other options: ``make(likeness=0)`` gives the patch."""
    swapper = TexturedMesh()
    identity = swapper.prepare([faces["hopper"]])
    target = faces["astronaut"]

    def make(**options: float | bool) -> Patch:
        return swapper.swap(target.pixels, target.face, identity, MeshOptions(**options))

    return make


def part_of(pixels: Pixels, patch: Patch) -> Pixels:
    """What lies under a patch."""
    height, width = patch.mask.shape
    return np.ascontiguousarray(pixels[patch.y0 : patch.y0 + height, patch.x0 : patch.x0 + width])
