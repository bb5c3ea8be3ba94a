"""What a model's licence allows, as a chip: shape and word, not colour alone. Red is for errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.types import LicenceKind
from facefusion_ui import cards
from facefusion_ui.cards import Tone
from facefusion_ui.texts import Lang, t


@dataclass(frozen=True, slots=True)
class Licence:
    """Sentence, drawing and tone of one kind of licence."""

    sentence: str
    drawing: str
    tone: Tone


LICENCES: dict[str, Licence] = {
    "open": Licence("lic.open", "check", "ok"),
    "private": Licence("lic.private", "warn", "warn"),
    "unknown": Licence("lic.unknown", "warn", "warn"),
}


def chip(kind: LicenceKind, lang: Lang) -> str:
    """The chip of one kind."""
    licence = LICENCES[kind]
    return cards.chip(t(licence.sentence, lang), licence.drawing, licence.tone)


def strictest(kinds: Iterable[LicenceKind]) -> LicenceKind:
    """What counts for several models together."""
    found = set(kinds)
    return next((kind for kind in ("private", "unknown") if kind in found), "open")
