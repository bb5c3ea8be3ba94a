"""Read and write pictures: the only place that meets EXIF, alpha, colour modes and profiles.

Inside the program a picture is upright 8-bit sRGB. Files are opened as bytes, so that names
never matter; the content decides what a file is, not its ending.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import cv2
import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageOps, PngImagePlugin, TiffImagePlugin, UnidentifiedImageError

from core.errors import MediaError, OptionError, UnreadableMedia
from core.imaging.metadata import clean_exif, xmp_of, xmp_packet
from core.sentences import Sentence, say
from core.types import Pixels

pillow_heif.register_heif_opener()
Image.MAX_IMAGE_PIXELS = None  # read_still has a limit of its own, stated to the user

SMALLEST_SIDE = 16
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
BACKGROUND = (255, 255, 255)
"""Stands behind transparent parts when the result cannot be transparent."""
LONGEST_STEM_BYTES = 180

Marked = TypeVar("Marked")


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file that can be written."""

    name: str
    pillow: str
    ending: str
    alpha: bool


_KINDS = (
    Format("png", "PNG", ".png", alpha=True),
    Format("jpeg", "JPEG", ".jpg", alpha=False),
    Format("webp", "WEBP", ".webp", alpha=True),
    Format("avif", "AVIF", ".avif", alpha=True),
    Format("tiff", "TIFF", ".tiff", alpha=True),
)
BY_NAME = {kind.name: kind for kind in _KINDS}
FORMATS = {kind.ending: kind for kind in _KINDS} | {
    ".jpeg": BY_NAME["jpeg"],
    ".jfif": BY_NAME["jpeg"],
    ".tif": BY_NAME["tiff"],
}


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """A picture as it was read: ``pixels`` upright sRGB, ``alpha`` ``(H, W)`` uint8 or None."""

    pixels: Pixels
    alpha: NDArray[np.uint8] | None
    format: str
    frames: int = 1
    exif: bytes = b""
    xmp: bytes | None = None
    dpi: tuple[float, float] | None = None
    notices: tuple[Sentence, ...] = ()


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
    data = _read_bytes(path, max_bytes)
    with _explained(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about odd metadata; the pixels are fine
        picture = _opened(data)
        width, height = picture.size
        if width * height > max_megapixels * 1_000_000:
            raise UnreadableMedia(
                say("err.pixels", name=path.name, size=f"{width * height / 1e6:.0f}"),
                hint=say("err.pixels.hint", max=max_megapixels),
            )
        if min(width, height) < SMALLEST_SIDE:
            raise UnreadableMedia(
                say("err.tiny", name=path.name, width=width, height=height),
                hint=say("err.tiny.hint"),
            )
        frames = int(getattr(picture, "n_frames", 1))
        kind = (picture.format or "").lower()
        xmp, dpi = xmp_of(picture), picture.info.get("dpi")
        picture.seek(0)
        picture.load()
        exif, located = clean_exif(picture)
        notices = [
            *([say("note.animated", n=frames)] if frames > 1 and kind != "mpo" else []),
            *([say("note.location")] if located else []),
        ]
        picture = ImageOps.exif_transpose(picture)
        pixels, alpha = _split(picture)
    return Still(
        pixels=pixels,
        alpha=alpha,
        format="jpeg" if kind == "mpo" else kind,
        frames=frames,
        exif=exif,
        xmp=xmp,
        dpi=dpi if isinstance(dpi, tuple) else None,
        notices=tuple(notices),
    )


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise UnreadableMedia(
                say(
                    "err.big",
                    name=path.name,
                    size=f"{size / 1e6:.0f} MB",
                    max=f"{max_bytes / 1e6:.0f} MB",
                ),
                hint=say("err.big.hint"),
            )
        return path.read_bytes()
    except FileNotFoundError as cause:
        raise UnreadableMedia(
            say("err.missing", name=path.name), hint=say("err.missing.hint")
        ) from cause
    except OSError as cause:
        raise UnreadableMedia(
            say("err.unreadable", name=path.name, reason=cause.strerror or "the disk refused"),
            hint=say("err.unreadable.hint"),
        ) from cause


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    hint = say("err.unreadable.hint")
    try:
        yield
    except UnidentifiedImageError as cause:
        reason = say("err.no_picture")
        raise UnreadableMedia(
            say("err.unreadable", name=path.name, reason=reason), hint=hint
        ) from cause
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        TypeError,
        ArithmeticError,
        LookupError,
        RuntimeError,
        cv2.error,
    ) as cause:
        if "truncat" in str(cause).lower() or isinstance(cause, EOFError):
            raise UnreadableMedia(say("err.cut", name=path.name), hint=say("err.cut.hint")) from (
                cause
            )
        raise UnreadableMedia(
            say("err.unreadable", name=path.name, reason=say("err.damaged")), hint=hint
        ) from cause
    except MemoryError as cause:
        raise UnreadableMedia(
            say("err.unreadable", name=path.name, reason=say("err.no_memory")), hint=hint
        ) from cause


def _opened(data: bytes) -> Image.Image:
    if not data:
        raise EOFError("truncated: no bytes at all")
    try:
        return Image.open(io.BytesIO(data))
    except UnidentifiedImageError:
        # Some TIFFs (16-bit colour) are unknown to Pillow but not to OpenCV.
        if data[:4] not in (b"II*\0", b"MM\0*"):
            raise
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)
        if found is None:
            raise
        picture = Image.fromarray(np.asarray(found, np.uint8))
        picture.format = "TIFF"
        return picture


def _split(picture: Image.Image) -> tuple[Pixels, NDArray[np.uint8] | None]:
    picture = _eight_bit(picture)
    if picture.mode == "P":
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    elif picture.mode in ("L", "RGB") and "transparency" in picture.info:
        picture = picture.convert("RGBA")
    alpha = None
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        picture = picture.convert("RGBA")
        alpha = np.array(picture.getchannel("A"), np.uint8)
    rgb = _to_srgb(picture)
    return np.ascontiguousarray(np.asarray(rgb, np.uint8)), alpha


def _eight_bit(picture: Image.Image) -> Image.Image:
    if picture.mode == "1":
        return picture.convert("L")
    if not picture.mode.startswith(("I", "F")):
        return picture
    values = np.nan_to_num(np.asarray(picture, np.float64))
    top = float(values.max(initial=0.0))
    if picture.mode.startswith("I;16") or 255 < top <= 65535:
        full = 65535.0
    elif picture.mode == "F" and top <= 1:
        full = 1.0
    else:
        full = max(255.0, top)
    made = Image.fromarray(np.clip(np.rint(values * (255 / full)), 0, 255).astype(np.uint8))
    made.info = dict(picture.info)
    return made


def _to_srgb(picture: Image.Image) -> Image.Image:
    profile = picture.info.get("icc_profile")
    opaque = picture.convert("RGB") if picture.mode in ("RGBA", "LA") else picture
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if opaque.mode not in ("RGB", "CMYK", "L", "LAB"):
                opaque = opaque.convert("RGB")
            made = ImageCms.profileToProfile(opaque, source, SRGB, outputMode="RGB")
        except (ImageCms.PyCMSError, OSError):
            made = None  # a damaged or foreign profile: plain conversion is the best guess
        if made is not None:
            return made
    return opaque.convert("RGB")


# ---- writing -------------------------------------------------------------------------------


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
    stem = "".join("_" if one in '<>:"/\\|?*' or ord(one) < 32 else one for one in target.stem)
    stem = stem.lstrip("-. ").rstrip(". ") or "picture"
    stem = stem.encode("utf-8", "replace")[:LONGEST_STEM_BYTES].decode("utf-8", "ignore")
    return f"{stem}-{word}{kind.ending}"


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
    """Write ``pixels`` with the alpha and metadata of ``still``.

    ``mark`` signs the finished file into a second one; nothing appears under the final name
    before it succeeded. An existing file is kept and a number added, unless ``overwrite``.
    OptionError for an ending that cannot be written, MediaError when writing fails.
    """
    kind = BY_NAME[format] if format else FORMATS.get(path.suffix.lower())
    if kind is None:
        raise OptionError(say("err.format", name=path.name), hint=say("err.format.hint"))
    token = secrets.token_hex(6)
    plain, signed = (path.parent / f".{token}-{part}{kind.ending}" for part in "ab")
    lost = still.alpha is not None and not kind.alpha
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(still, pixels, plain, kind, quality, source_type)
        marked = mark(plain, signed)
        width, height = _checked(signed, pixels)
        data = signed.read_bytes()
        final = _place(signed, path, overwrite=overwrite)
    except (OSError, ValueError) as cause:
        raise MediaError(
            say("err.write", name=path.name, reason=_words(cause)), hint=say("err.write.hint")
        ) from cause
    finally:
        plain.unlink(missing_ok=True)
        signed.unlink(missing_ok=True)
    return WrittenStill(
        path=final,
        format=kind.name,
        width=width,
        height=height,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        mark=marked,
        notices=(say("note.alpha"),) if lost else (),
    )


def _save(
    still: Still, pixels: Pixels, path: Path, kind: Format, quality: int, source_type: str
) -> None:
    picture = Image.fromarray(_with_alpha(pixels, still.alpha, keep=kind.alpha))
    xmp = xmp_packet(still.xmp, source_type=source_type)
    options: dict[str, Any] = {"exif": still.exif} if still.exif else {}
    if still.dpi:
        options["dpi"] = still.dpi
    if kind.name == "png":
        text = PngImagePlugin.PngInfo()
        text.add_itxt("XML:com.adobe.xmp", xmp.decode("utf-8"))
        options |= {"pnginfo": text, "compress_level": 4}
    elif kind.name == "jpeg":
        options |= {
            "quality": quality,
            "subsampling": "4:4:4" if quality >= 90 else "4:2:0",
            "optimize": True,
            "xmp": xmp,
        }
    elif kind.name == "tiff":
        tags = TiffImagePlugin.ImageFileDirectory_v2()
        tags.tagtype[700] = 1
        tags[700] = xmp
        options = {"tiffinfo": tags, "compression": "tiff_lzw"}
    else:
        options |= {"quality": quality, "xmp": xmp}
        options.pop("dpi", None)
        if kind.name == "webp":
            options["exact"] = True
    picture.save(path, kind.pillow, **options)


def _with_alpha(
    pixels: Pixels, alpha: NDArray[np.uint8] | None, *, keep: bool
) -> NDArray[np.uint8]:
    if alpha is None:
        return pixels
    if keep:
        return np.dstack([pixels, alpha])
    share = alpha[:, :, None].astype(np.float32) / 255
    blended = pixels * share + np.array(BACKGROUND, np.float32) * (1 - share)
    return np.rint(blended).astype(np.uint8)


def _checked(path: Path, pixels: Pixels) -> tuple[int, int]:
    with Image.open(path) as picture:
        picture.load()
        width, height = picture.size
    if (height, width) != pixels.shape[:2]:
        raise ValueError(f"it came out as {width}×{height}")
    return width, height


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
        except OSError:  # a file system without links
            if name.exists():
                number += 1
                continue
            signed.replace(name)
        return name


def _words(cause: Exception) -> str:
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or type(cause).__name__
