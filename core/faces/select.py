"""Which faces are meant. Faces are numbered from 1, left to right."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import NoFaceFound
from core.request import People
from core.sentences import say
from core.types import Face


def left_to_right(faces: Sequence[Face]) -> tuple[Face, ...]:
    """The order in which faces are numbered: by the middle of the box, then from the top."""
    return tuple(
        sorted(faces, key=lambda face: (float(face.box[0] + face.box[2]), float(face.box[1])))
    )


def choose(faces: Sequence[Face], people: People) -> tuple[int, ...]:
    """Positions (from 0) of the faces that ``people`` means; NoFaceFound names a missing one."""
    if people.choose == "everyone":
        return tuple(range(len(faces)))
    if people.choose == "largest":
        if not faces:
            return ()
        return (max(range(len(faces)), key=lambda position: faces[position].area_px),)
    for number in people.numbers:
        if number > len(faces):
            raise NoFaceFound(say("noface.number", n=number, count=len(faces)))
    return tuple(sorted({number - 1 for number in people.numbers}))
