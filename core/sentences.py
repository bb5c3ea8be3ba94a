"""The sentences that core says to people, in English, each once.

Notices and errors are made with :func:`say`. A :class:`Sentence` is an ordinary ``str`` that also
remembers its key and the values put in, so the page can say the same thing in another language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENGLISH: dict[str, str] = {
    # pictures that are given
    "noface.pic": (
        "No face found in this picture. We also tried it turned, larger and smaller. "
        "Use one in which eyes, nose and mouth can be seen."
    ),
    "noface.photo": "No face found in photo {n}. It will not be used.",
    "noface.photos": "No face found in the photo of the new face.",
    "noface.number": "There is no face {n} in this picture; {count} were found.",
    "photo.many": (
        "Photo {n} shows {k} people; the largest face is used. Crop the photo to choose."
    ),
    "photo.profile": ("This face is seen from the side. A photo from the front looks much better."),
    "photo.small": (
        "The face in this photo is small ({px} pixels). "
        "The result may look soft; a larger photo helps."
    ),
    "photo.covered": "Something covers part of this face. It may show in the result.",
    "photo.differ": "These photos may show different people.",
    # what was done
    "none.noface": "Nothing changed: no face was found in {b} frames.",
    "none.model": (
        "Nothing changed: the model gave an unusable picture, so the original was kept."
    ),
    "note.kept": "{n} frames were left as they were: the head was turned too far.",
    # refusals
    "refused.pic": "This picture cannot be used.",
    "refused.photo": "This photo cannot be used.",
    "refused.why": (
        "The safety check thinks it shows nudity. Swaps on such pictures are not offered. "
        "If this is a mistake, try another crop."
    ),
    "refused.check": ("The safety check is not working, so nothing was made. Try again later."),
    "refused.consent": "Please tick the consent line first.",
}


class Sentence(str):
    """A sentence in English that knows its ``key`` and ``values``; see :func:`say`."""

    key: str
    values: Mapping[str, Any]

    def __new__(cls, text: str, key: str, values: Mapping[str, Any]) -> Sentence:
        made = super().__new__(cls, text)
        made.key = key
        made.values = dict(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (str(self), self.key, dict(self.values))


def say(key: str, **values: Any) -> Sentence:
    """The English sentence ``key`` with ``values`` filled in. KeyError when there is none."""
    return Sentence(ENGLISH[key].format(**values), key, values)
