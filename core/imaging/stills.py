"""Read and write pictures: the one reader and the one writer of every tab and command.

Inside the program a picture is upright 8-bit sRGB. Files are opened as bytes, so that names
never matter; the content decides what a file is, not its ending.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.errors import AppError, MediaError, OptionError, UnreadableMedia
from core.imaging.decode import SRGB, Wide, decoded, explained, opened, too_many_pixels
from core.imaging.encode import About, Values, encoded, on_white
from core.imaging.formats import BY_NAME, FORMATS, Format, format_for, output_name, shown_name
from core.imaging.metadata import clean_exif, clean_xmp, xmp_of, xmp_packet
from core.sentences import Sentence, say
from core.types import Pixels

__all__ = [
    "BY_NAME",
    "FORMATS",
    "Format",
    "Still",
    "WrittenStill",
    "format_for",
    "output_name",
    "read_still",
    "write_still",
]

SMALLEST_SIDE = 16

Marked = TypeVar("Marked")


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """A picture as it was read: ``pixels`` upright sRGB, ``alpha`` ``(H, W)`` uint8 or None.

    ``wide`` ``(H, W, 3 or 4)`` uint16 is the same picture at full depth, for 16-bit files in
    sRGB; the writer uses it wherever nothing changed. ``exif`` and ``xmp`` are what may be kept.
    """

    pixels: Pixels
    alpha: NDArray[np.uint8] | None
    format: str
    frames: int = 1
    bit_depth: int = 8
    wide: Wide | None = None
    exif: bytes = b""
    xmp: bytes | None = None
    dpi: tuple[float, float] | None = None
    had_profile: bool = False
    notices: tuple[Sentence, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Memory taken by the arrays."""
        arrays = (self.pixels, self.alpha, self.wide)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True, slots=True)
class WrittenStill(Generic[Marked]):
    """The file that was written, read back, and what ``mark`` said."""

    path: Path
    format: str
    width: int
    height: int
    bytes: int
    sha256: str
    mark: Marked
    notices: tuple[Sentence, ...] = ()


# ---- reading -------------------------------------------------------------------------------


def read_still(path: Path, *, max_megapixels: int = 120, max_bytes: int = 200_000_000) -> Still:
    """The picture in ``path``; UnreadableMedia says what is wrong and what helps."""
    name = shown_name(path)
    data = _read_bytes(path, name, max_bytes)
    with explained(name, data, max_megapixels=max_megapixels):
        picture = opened(data)
        _check_size(name, picture.size, max_megapixels)
        kind, frames = picture.format or "", int(getattr(picture, "n_frames", 1))
        if kind == "PNG":
            picture.load()  # its metadata may stand behind the pixels
        exif, located = clean_exif(picture)
        xmp, located_too = clean_xmp(xmp_of(picture))
        dpi, mode = picture.info.get("dpi"), picture.mode
        had_profile = bool(picture.info.get("icc_profile"))
        found = decoded(picture, data)
    notices = {
        "note.animated": frames > 1 and kind not in ("MPO", "HEIF"),  # there: other views of one
        "note.location": located or located_too,
        "note.cmyk": mode == "CMYK",
    }
    return Still(
        pixels=found.pixels,
        alpha=found.alpha,
        format="jpeg" if kind == "MPO" else kind.lower(),
        frames=frames,
        bit_depth=found.bit_depth,
        wide=found.wide,
        exif=exif,
        xmp=xmp,
        dpi=_sensible(dpi),
        had_profile=had_profile,
        notices=tuple(say(key, n=frames) for key, holds in notices.items() if holds),
    )


def _read_bytes(path: Path, name: str, max_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > max_bytes:
            words = [f"{count / 1e6:.0f} MB" for count in (size, max_bytes)]
            raise UnreadableMedia(
                say("err.big", name=name, size=words[0], max=words[1]), hint=say("err.big.hint")
            )
        return path.read_bytes()
    except FileNotFoundError as cause:
        raise UnreadableMedia(say("err.missing", name=name), hint=say("err.missing.hint")) from (
            cause
        )
    except (OSError, ValueError) as cause:  # ValueError: a zero byte in the name
        raise UnreadableMedia(
            say("err.unreadable", name=name, reason=_words(cause)),
            hint=say("err.unreadable.hint"),
        ) from cause


def _check_size(name: str, size: tuple[int, int], max_megapixels: int) -> None:
    width, height = size
    if width * height > max_megapixels * 1_000_000:
        raise too_many_pixels(name, width * height, max_megapixels)
    if min(width, height) < SMALLEST_SIDE:
        raise UnreadableMedia(
            say("err.tiny", name=name, width=width, height=height), hint=say("err.tiny.hint")
        )


def _sensible(dpi: object) -> tuple[float, float] | None:
    if not isinstance(dpi, tuple) or len(dpi) != 2:
        return None
    across, down = (float(one) for one in dpi)
    return (across, down) if 1 <= across <= 30_000 and 1 <= down <= 30_000 else None


# ---- writing -------------------------------------------------------------------------------


def write_still(
    still: Still,
    pixels: Pixels,
    path: Path,
    *,
    source_type: str,
    mark: Callable[[Path, Path], Marked],
    format: str | None = None,
    quality: int = 92,
    overwrite: bool = False,
) -> WrittenStill[Marked]:
    """Write ``pixels`` with the alpha, depth and metadata of ``still``.

    ``mark`` signs the finished file into a second one; nothing appears under the final name
    before it succeeded. An existing file is kept and a number added, unless ``overwrite``.
    OptionError for an ending that cannot be written, MediaError when writing fails.
    """
    kind = BY_NAME.get(format) if format else FORMATS.get(path.suffix.lower())
    name = shown_name(path)
    if kind is None:
        raise OptionError(say("err.format", name=name), hint=say("err.format.hint"))
    if max(pixels.shape[:2]) > kind.longest_px:
        raise OptionError(
            say("err.side", name=name, max=kind.longest_px), hint=say("err.side.hint")
        )
    token = secrets.token_hex(6)
    plain, signed = (path.parent / f".{token}-{part}{kind.ending}" for part in "ab")
    try:
        values = _values(still, pixels, kind)
        path.parent.mkdir(parents=True, exist_ok=True)
        plain.write_bytes(encoded(values, _about(still, source_type), kind, quality=quality))
        marked = mark(plain, signed)
        data = signed.read_bytes()
        _check_written(data, values)
        final = _place(signed, path, overwrite=overwrite)
    except AppError:
        raise
    except (OSError, ValueError, MemoryError) as cause:
        raise MediaError(
            say("err.write", name=name, reason=_words(cause)), hint=say("err.write.hint")
        ) from cause
    finally:
        for left in (plain, signed):
            with suppress(OSError):
                left.unlink()
    lost = {
        "note.alpha": still.alpha is not None and not kind.alpha,
        "note.depth": still.bit_depth == 16 and values.dtype == np.uint8,
    }
    return WrittenStill(
        path=final,
        format=kind.name,
        width=pixels.shape[1],
        height=pixels.shape[0],
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        mark=marked,
        notices=tuple(say(key) for key, holds in lost.items() if holds),
    )


def _values(still: Still, pixels: Pixels, kind: Format) -> Values:
    """What goes into the file: with alpha and 16 bits where ``kind`` can hold them."""
    if kind.deep and still.wide is not None:
        return _widened(still.wide, still.pixels, pixels)
    if still.alpha is None:
        return pixels
    return np.dstack([pixels, still.alpha]) if kind.alpha else on_white(pixels, still.alpha)


def _widened(wide: Wide, old: Pixels, new: Pixels) -> Wide:
    """``wide`` with what changed from ``old`` to ``new``; exactly ``wide`` where nothing did."""
    made = wide.copy()
    rows, columns = (np.flatnonzero((old != new).any(axis=axes)) for axes in ((1, 2), (0, 2)))
    if len(rows):
        part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        change = (new[part].astype(np.int32) - old[part]) * 257
        made[*part, :3] = np.clip(wide[*part, :3] + change, 0, 65535)
    return made


def _about(still: Still, source_type: str) -> About:
    return About(
        xmp=xmp_packet(still.xmp, source_type=source_type),
        exif=still.exif,
        profile=SRGB.tobytes() if still.had_profile else b"",
        dpi=still.dpi,
    )


def _check_written(data: bytes, values: Values) -> None:
    """Open the file that will be given out; ValueError when it is not what was asked for."""
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        size, see_through = picture.size, picture.has_transparency_data
    if size != values.shape[1::-1]:
        raise ValueError(f"it came out as {size[0]}×{size[1]}")
    opaque = np.iinfo(values.dtype).max
    if values.shape[2] == 4 and not see_through and (values[:, :, 3] != opaque).any():
        raise ValueError("it came out without transparency")


def _place(signed: Path, path: Path, *, overwrite: bool) -> Path:
    if overwrite:
        signed.replace(path)
        return path
    number = 1
    while True:
        name = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            os.link(signed, name)  # unlike a rename this never replaces a file
        except FileExistsError:
            number += 1
            continue
        except OSError as cause:
            if cause.errno in (errno.ENAMETOOLONG, errno.ENOSPC):
                raise
            if name.exists():  # a file system without links
                number += 1
                continue
            signed.replace(name)
        return name


def _words(cause: Exception) -> str:
    if isinstance(cause, MemoryError):
        return say("err.no_memory")
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or type(cause).__name__
