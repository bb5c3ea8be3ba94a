"""The source photos: which face is used in each, and what is worth knowing about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import NoFaceFound
from core.faces.embed import cosine
from core.pipeline.desk import Seen
from core.sentences import Sentence, say
from core.swappers.textured_mesh import source_warnings
from core.types import Face, SourceFace

SAME_PERSON_COSINE = 0.50
"""Below this two photos hardly show one person (of 319 different pairs few reach it)."""


@dataclass(frozen=True, slots=True)
class SourceLook:
    """What was seen in one source photo; ``face`` is the one that will be used."""

    path: Path
    face: Face | None
    faces: int
    notices: tuple[Sentence, ...]


def source_looks(photos: Sequence[Seen]) -> tuple[SourceLook, ...]:
    """One look a photo, in their order."""
    looks: list[SourceLook] = []
    for number, photo in enumerate(photos, start=1):
        face = _largest(photo.faces)
        notices = list(_remarks(photo, number))
        if face is not None and _differs(face, [look.face for look in looks]):
            notices.append(say("photo.differ"))
        looks.append(SourceLook(photo.path, face, len(photo.faces), tuple(notices)))
    return tuple(looks)


def source_faces(
    photos: Sequence[Seen], notice: Callable[[Sentence], None]
) -> tuple[SourceFace, ...]:
    """The face to use from each usable photo; NoFaceFound when there is none.

    Everything worth knowing is told to ``notice``.
    """
    looks = source_looks(photos)
    for sentence in (sentence for look in looks for sentence in look.notices):
        notice(sentence)
    found = [
        SourceFace(photo.still.pixels, look.face)
        for photo, look in zip(photos, looks, strict=True)
        if look.face is not None
    ]
    if not found:
        raise NoFaceFound(
            say("noface.photos" if photos else "need.photo"), hint=say("noface.photos.hint")
        )
    return tuple(found)


def _remarks(photo: Seen, number: int) -> tuple[Sentence, ...]:
    face = _largest(photo.faces)
    if face is None:
        return (*photo.still.notices, say("noface.photo", n=number))
    many = (say("photo.many", n=number, k=len(photo.faces)),) if len(photo.faces) > 1 else ()
    warnings = source_warnings(SourceFace(photo.still.pixels, face))
    return (*photo.still.notices, *many, *warnings)


def _differs(face: Face, others: Sequence[Face | None]) -> bool:
    first = next((other for other in others if other is not None), None)
    if first is None:
        return False
    name = "descriptor1024"
    return cosine(face.embeddings[name], first.embeddings[name]) < SAME_PERSON_COSINE


def _largest(faces: Sequence[Face]) -> Face | None:
    return max(faces, key=lambda face: face.area_px, default=None)
