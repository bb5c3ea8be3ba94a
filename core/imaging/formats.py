"""The kinds of picture files: which are read, which are written, and what results are called."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

READABLE = ("PNG", "JPEG", "WEBP", "AVIF", "HEIF", "TIFF", "BMP", "GIF")
"""Pillow's names. Nothing else is tried: EPS, for one, would start another program."""
LONGEST_STEM_BYTES = 180
_NOT_IN_NAMES = '<>:"/\\|?*'
_JOINERS = "\u200c\u200d"  # part of many scripts and emoji
_STRANGE = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, turn the text around, half a character, lines


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file that can be written; ``longest_px`` is the longest side it can hold."""

    name: str
    pillow: str
    ending: str
    alpha: bool
    deep: bool
    longest_px: int


_KINDS = (
    Format("png", "PNG", ".png", alpha=True, deep=True, longest_px=2**31 - 1),
    Format("jpeg", "JPEG", ".jpg", alpha=False, deep=False, longest_px=65_500),
    Format("webp", "WEBP", ".webp", alpha=True, deep=False, longest_px=16_383),
    Format("avif", "AVIF", ".avif", alpha=True, deep=False, longest_px=65_536),
    Format("tiff", "TIFF", ".tiff", alpha=True, deep=True, longest_px=2**31 - 1),
)
BY_NAME = {kind.name: kind for kind in _KINDS}
FORMATS = {kind.ending: kind for kind in _KINDS} | {
    ".jpeg": BY_NAME["jpeg"],
    ".jfif": BY_NAME["jpeg"],
    ".tif": BY_NAME["tiff"],
}


def format_for(target: Path, asked: str | None) -> Format:
    """The format asked for, else the target's own when that can be written, else PNG or JPEG."""
    if asked is not None:
        return BY_NAME[asked]
    ending = target.suffix.lower()
    if ending in (".heic", ".heif"):
        return BY_NAME["jpeg"]
    return FORMATS.get(ending, BY_NAME["png"])


def output_name(target: Path, kind: Format, *, word: str = "swapped") -> str:
    """A readable name for the result, fit for every system: ``holiday-swapped.png``."""
    stem = "".join(_harmless(one) for one in target.stem)
    stem = stem.lstrip("-. ").rstrip(". ") or "picture"
    stem = stem.encode()[:LONGEST_STEM_BYTES].decode("utf-8", "ignore").rstrip(_JOINERS + ". ")
    return f"{stem}-{word}{kind.ending}"


def shown_name(path: Path) -> str:
    """The name as it can be printed: bytes that are no text become ``�``."""
    return path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _harmless(one: str) -> str:
    if one in _JOINERS:
        return one
    return "_" if one in _NOT_IN_NAMES or unicodedata.category(one) in _STRANGE else one
