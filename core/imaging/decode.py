"""From the bytes of a picture file to upright 8-bit sRGB, and 16-bit values where there are any.

Every error of Pillow and OpenCV is mapped here. Pictures are converted in bands, so that little
more than the picture itself is in memory.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageChops, ImageCms, ImageOps, UnidentifiedImageError

from core.errors import UnreadableMedia
from core.imaging.formats import READABLE
from core.sentences import say
from core.types import Pixels

pillow_heif.register_heif_opener()
# read_still has a limit of its own, stated to the user; this one only stops what is absurd.
Image.MAX_IMAGE_PIXELS = 1_000_000_000

Wide = NDArray[np.uint16]
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
BAND_ROWS = 512
_Base = ExifTags.Base
_ORIENTATION = _Base.Orientation
_WITH_ALPHA = ("RGBA", "LA", "PA", "La", "RGBa")
_SPACES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}

_TURNS: dict[int, Callable[[NDArray[Any]], NDArray[Any]]] = {
    2: lambda stored: stored[:, ::-1],
    3: lambda stored: stored[::-1, ::-1],
    4: lambda stored: stored[::-1],
    5: lambda stored: stored.swapaxes(0, 1),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: stored[::-1, ::-1].swapaxes(0, 1),
    8: lambda stored: np.rot90(stored),
}


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """``pixels`` upright sRGB; ``alpha`` ``(H, W)`` uint8; ``wide`` ``(H, W, 3 or 4)`` uint16.

    ``wide`` is the same picture with 16 bits a colour, when the file has them and they are sRGB.
    """

    pixels: Pixels
    alpha: NDArray[np.uint8] | None
    wide: Wide | None
    bit_depth: int


# ---- errors --------------------------------------------------------------------------------


@contextmanager
def explained(name: str, data: bytes, *, max_megapixels: int) -> Iterator[None]:
    """Turn whatever the decoders raise into one sentence; their warnings are not shown."""
    hint = say("err.unreadable.hint")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd metadata; the pixels are fine
            yield
    except Image.DecompressionBombError as cause:
        found = re.search(r"\d+", str(cause))
        raise too_many_pixels(name, int(found[0]) if found else 0, max_megapixels) from cause
    except MemoryError as cause:
        reason = say("err.no_memory")
        raise UnreadableMedia(say("err.unreadable", name=name, reason=reason), hint=hint) from cause
    except (
        OSError,  # UnidentifiedImageError among them
        ValueError,
        SyntaxError,
        EOFError,
        TypeError,
        ArithmeticError,
        LookupError,
        RuntimeError,
        SystemError,
        struct.error,
        zlib.error,
        cv2.error,
        ImageCms.PyCMSError,
    ) as cause:
        if "truncat" in str(cause).lower() or isinstance(cause, EOFError) or _is_cut(data):
            raise UnreadableMedia(say("err.cut", name=name), hint=say("err.cut.hint")) from cause
        unknown = isinstance(cause, UnidentifiedImageError)
        reason = say("err.no_picture" if unknown else "err.damaged")
        raise UnreadableMedia(say("err.unreadable", name=name, reason=reason), hint=hint) from cause


def too_many_pixels(name: str, pixels: int, max_megapixels: int) -> UnreadableMedia:
    """The refusal of a picture over the limit."""
    return UnreadableMedia(
        say("err.pixels", name=name, size=f"{pixels / 1e6:.0f}"),
        hint=say("err.pixels.hint", max=max_megapixels),
    )


def _is_cut(data: bytes) -> bool:
    """Whether the container (WebP, AVIF, HEIC) says that it is longer than the file."""
    if data[:4] == b"RIFF":
        return len(data) < 8 + int.from_bytes(data[4:8], "little")
    if data[4:8] != b"ftyp":
        return False
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size < 8:  # 0: up to the end of the file; 1: a 64-bit size, for clips
            return False
        at += size
    return at != len(data)


# ---- opening and decoding ------------------------------------------------------------------


def opened(data: bytes) -> Image.Image:
    """The picture, with sizes and metadata known but nothing decoded."""
    if not data:
        raise EOFError("truncated: no bytes at all")
    try:
        return Image.open(io.BytesIO(data), formats=READABLE)
    except UnidentifiedImageError:
        found = _unknown_tiff(data)
        if found is None:
            raise
        return found


def decoded(picture: Image.Image, data: bytes) -> Decoded:
    """Decode what :func:`opened` gave; ``data`` are the same bytes."""
    picture.load()
    turn = picture.getexif().get(_ORIENTATION, 1)  # 1 for a TIFF, which turned while it was loaded
    if picture.format == "JPEG" and picture.mode == "CMYK" and "adobe" not in picture.info:
        picture = _like(picture, ImageChops.invert(picture))  # only Adobe's are stored inverted
    ImageOps.exif_transpose(picture, in_place=True)
    wide = _wide(picture, data, turn)
    if wide is None:
        pixels, alpha, _ = _eight_bit_srgb(_eight_bit(picture))
        return Decoded(pixels, alpha, None, int(picture.info.get("bit_depth", 8)))
    pixels, alpha, converted = _eight_bit_srgb(_like(picture, _rounded(wide)))
    if wide.ndim == 2:
        wide = np.dstack([wide] * 3)
    return Decoded(pixels, alpha, None if converted else wide, 16)


def _unknown_tiff(data: bytes) -> Image.Image | None:
    """Real-valued colour TIFFs (0..1), which Pillow does not know."""
    if data[:4] not in (b"II*\0", b"MM\0*"):
        return None
    found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.ndim != 3 or found.shape[2] != 3 or found.dtype.kind != "f":
        return None
    values = np.clip(np.nan_to_num(found[:, :, ::-1], posinf=1.0), 0, 1)
    picture = Image.fromarray(np.rint(values * 255).astype(np.uint8))
    picture.format = "TIFF"
    return picture


# ---- 16 bits -------------------------------------------------------------------------------


def _wide(picture: Image.Image, data: bytes, turn: int) -> Wide | None:
    """Upright 16-bit values, ``(H, W)`` or ``(H, W, 3 or 4)`` RGBA, which Pillow cuts to 8."""
    if not _has_16_bits(picture, data):
        return None
    found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.dtype != np.uint16:
        return None
    if found.ndim == 3:
        found = found[:, :, [2, 1, 0, 3][: found.shape[2]]]
    upright = np.ascontiguousarray(_TURNS[turn](found) if turn in _TURNS else found)
    if not _agree(picture, upright):
        return None
    key = picture.info.get("transparency")
    if isinstance(key, int) and upright.ndim == 2:
        shown = np.where(upright == key, 0, 65535).astype(np.uint16)
        return np.dstack([upright, upright, upright, shown])
    return upright


def _agree(picture: Image.Image, wide: Wide) -> bool:
    """Whether Pillow sees the same first channel; else only what Pillow sees is used."""
    bands = picture.getbands()
    theirs = np.asarray(picture if len(bands) == 1 else picture.getchannel(0))
    ours = wide if wide.ndim == 2 else wide[:, :, 0]
    return np.array_equal(theirs, ours >> 8 if theirs.dtype == np.uint8 else ours)


def _has_16_bits(picture: Image.Image, data: bytes) -> bool:
    if picture.format == "PNG":
        return data[12:16] == b"IHDR" and data[24] == 16
    if picture.format != "TIFF" or not hasattr(picture, "tag_v2"):
        return False
    tags = picture.tag_v2
    bits = tags.get(_Base.BitsPerSample, ())
    return (
        set(bits) == {16}
        and len(bits) in (1, 3, 4)
        and tags.get(_Base.PhotometricInterpretation) in (1, 2)  # black is zero, or RGB
        and set(tags.get(_Base.SampleFormat, (1,))) == {1}  # whole numbers without sign
        and 1 not in tags.get(_Base.ExtraSamples, ())  # colours multiplied by alpha
    )


def _rounded(wide: Wide) -> Image.Image:
    made = np.empty(wide.shape, np.uint8)
    for top in range(0, len(wide), BAND_ROWS):
        band = wide[top : top + BAND_ROWS].astype(np.uint32)
        made[top : top + BAND_ROWS] = (band + 128) // 257
    return Image.fromarray(made)


# ---- 8 bits --------------------------------------------------------------------------------


def _like(picture: Image.Image, made: Image.Image) -> Image.Image:
    """``made`` with the metadata of ``picture``, from which it was computed."""
    made.info = {key: value for key, value in picture.info.items() if key != "transparency"}
    made.format = picture.format
    return made


def _eight_bit(picture: Image.Image) -> Image.Image:
    """Grey of 1, 16 or 32 bits, or real-valued, as 8-bit grey."""
    if picture.mode == "1":
        return picture.convert("L")
    if not picture.mode.startswith(("I", "F")):
        return picture
    values = np.asarray(picture, np.float32)
    values = np.nan_to_num(values, posinf=float(values[np.isfinite(values)].max(initial=1.0)))
    top = float(values.max(initial=0.0))
    if picture.mode.startswith("I;16") or 255 < top <= 65535:
        full = 65535.0
    elif picture.mode == "F" and top <= 1:
        full = 1.0
    else:
        full = max(255.0, top)
    made = np.clip(np.rint(values * (255 / full)), 0, 255).astype(np.uint8)
    return _like(picture, Image.fromarray(made))


def _eight_bit_srgb(picture: Image.Image) -> tuple[Pixels, NDArray[np.uint8] | None, bool]:
    """Pixels, alpha, and whether colours had to be converted."""
    width, height = picture.size
    transform, mode = _to_srgb(picture)
    see_through = picture.mode in _WITH_ALPHA or "transparency" in picture.info
    pixels = np.empty((height, width, 3), np.uint8)
    alpha = np.empty((height, width), np.uint8) if see_through else None
    for top in range(0, height, BAND_ROWS):
        rows = slice(top, min(top + BAND_ROWS, height))
        band = picture.crop((0, rows.start, width, rows.stop))
        if alpha is not None:
            band = band.convert("RGBA")
            alpha[rows] = np.asarray(band.getchannel("A"))
        if transform is not None:
            flat = band if band.mode == mode else band.convert("RGB").convert(mode)
            band = transform.apply(flat)
        pixels[rows] = np.asarray(band if band.mode == "RGB" else band.convert("RGB"))
    return pixels, alpha, transform is not None


def _to_srgb(picture: Image.Image) -> tuple[ImageCms.ImageCmsTransform | None, str]:
    """How to get to sRGB, and the mode that this starts from; None when it is sRGB already."""
    own = picture.mode if picture.mode in ("CMYK", "LAB") else "RGB"
    fits = (own, "L") if picture.mode in ("L", "LA", "La") else (own,)
    made = _transform(picture.info.get("icc_profile"), fits)
    if made is None and own == "LAB":
        made = _transform(ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes(), fits)
    if made is None or (made[1] == "RGB" and _changes_nothing(made[0])):
        return None, "RGB"
    return made


def _transform(
    profile: bytes | None, fits: tuple[str, ...]
) -> tuple[ImageCms.ImageCmsTransform, str] | None:
    """From ``profile`` to sRGB; None when it is damaged or made for another kind of picture."""
    if not profile:
        return None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = _SPACES.get(source.profile.xcolor_space, "")
        return (ImageCms.buildTransform(source, SRGB, mode, "RGB"), mode) if mode in fits else None
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return None


def _changes_nothing(transform: ImageCms.ImageCmsTransform) -> bool:
    """Whether it moves no colour by more than a level: the profile is sRGB by another name."""
    steps = np.linspace(0, 255, 16, dtype=np.uint8)
    colours = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(64, 64, 3)
    made = np.asarray(transform.apply(Image.fromarray(colours)), np.int16)
    return bool(np.abs(made - colours).max() <= 1)
