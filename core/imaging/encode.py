"""From pixels to the bytes of a picture file.

Source: PNG specification (third edition), chunks; TIFF 6.0, sections 2, 8 (Deflate: supplement 2)
and 14 (differencing).
"""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, PngImagePlugin, TiffImagePlugin, TiffTags

from core.imaging.formats import Format

WHITE = 255
"""Stands behind transparent parts when the result cannot be transparent."""
FINE_QUALITY = 90
"""From here on colours are kept at full resolution (4:4:4)."""
_METRES_PER_INCH = 0.0254
_Base = ExifTags.Base
_DEFLATE, _RGB, _INCHES, _DIFFERENCES, _UNASSOCIATED = 8, 2, 2, 2, 2

Values = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class About:
    """What is written beside the pixels."""

    xmp: bytes
    exif: bytes = b""
    profile: bytes = b""
    dpi: tuple[float, float] | None = None


def encoded(values: Values, about: About, kind: Format, *, quality: int) -> bytes:
    """``values`` ``(H, W, 3 or 4)`` as a file. 16 bits only for kinds that are ``deep``."""
    if kind.name == "tiff":
        return _tiff(values, about)
    if values.dtype == np.uint16:
        return _png_16(values, about)
    options = _options(kind, about, quality, has_alpha=values.shape[2] == 4)
    if about.exif:
        options["exif"] = about.exif
    if about.profile:
        options["icc_profile"] = about.profile
    if about.dpi:
        options["dpi"] = about.dpi
    file = io.BytesIO()
    Image.fromarray(values).save(file, kind.pillow, **options)
    return file.getvalue()


def on_white(pixels: NDArray[np.uint8], alpha: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """``pixels`` seen through ``alpha`` before white."""
    made = np.empty_like(pixels)
    for row, (colours, shown) in enumerate(zip(pixels, alpha, strict=True)):
        share = shown[:, None].astype(np.uint32)
        made[row] = (colours * share + WHITE * (255 - share) + 127) // 255
    return made


def _options(kind: Format, about: About, quality: int, *, has_alpha: bool) -> dict[str, Any]:
    sampling = "4:4:4" if quality >= FINE_QUALITY else "4:2:0"
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", about.xmp.decode("utf-8"))
    return {
        "png": {"pnginfo": text, "compress_level": 4},
        "jpeg": {
            "quality": quality,
            "subsampling": sampling,
            "optimize": True,
            "xmp": about.xmp,
        },
        "webp": {"quality": quality, "exact": True, "xmp": about.xmp},
        # Pillow has one quality for colours and alpha; only 100 keeps alpha as it is
        "avif": {
            "quality": 100 if has_alpha else quality,
            "subsampling": sampling,
            "xmp": about.xmp,
        },
    }[kind.name]


# ---- what Pillow cannot write: 16 bits, and TIFFs with all of their EXIF -------------------


def _png_16(values: Values, about: About) -> bytes:
    order = cv2.COLOR_RGB2BGR if values.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
    ok, found = cv2.imencode(".png", cv2.cvtColor(values, order))
    if not ok:
        raise ValueError("the PNG encoder failed")
    plain = found.tobytes()
    body = plain.index(b"IHDR") + 4 + 13 + 4  # its data and its checksum
    chunks = [(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + about.xmp)]
    if about.exif:
        chunks.append((b"eXIf", about.exif.removeprefix(b"Exif\0\0")))
    if about.profile:
        chunks.append((b"iCCP", b"sRGB\0\0" + zlib.compress(about.profile)))
    if about.dpi:
        per_metre = [round(dpi / _METRES_PER_INCH) for dpi in about.dpi]
        chunks.append((b"pHYs", struct.pack(">IIB", *per_metre, 1)))
    return plain[:body] + b"".join(_chunk(*chunk) for chunk in chunks) + plain[body:]


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _tiff(values: Values, about: About) -> bytes:
    """One strip of differences, deflated."""
    height, width, channels = values.shape
    steps = values.astype(values.dtype.newbyteorder("<"))
    np.subtract(values[:, 1:], values[:, :-1], out=steps[:, 1:])
    data = zlib.compress(steps.tobytes())
    tags = _tags(about)
    for tag, value in {
        _Base.ImageWidth: width,
        _Base.ImageLength: height,
        _Base.BitsPerSample: (values.itemsize * 8,) * channels,
        _Base.Compression: _DEFLATE,
        _Base.PhotometricInterpretation: _RGB,
        _Base.StripOffsets: 0,
        _Base.SamplesPerPixel: channels,
        _Base.RowsPerStrip: height,
        _Base.StripByteCounts: len(data),
        _Base.PlanarConfiguration: 1,
        _Base.Predictor: _DIFFERENCES,
    }.items():
        tags[tag] = value
    if channels == 4:
        tags[_Base.ExtraSamples] = (_UNASSOCIATED,)
    if about.profile:
        tags[_Base.InterColorProfile] = about.profile
    if about.dpi:
        tags[_Base.ResolutionUnit] = _INCHES
        tags[_Base.XResolution], tags[_Base.YResolution] = about.dpi
    file = io.BytesIO()
    tags.save(file)
    file.write(data)
    return file.getvalue()


def _tags(about: About) -> TiffImagePlugin.ImageFileDirectory_v2:
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    exif = Image.Exif()
    if about.exif:
        exif.load(about.exif)
    for tag, value in exif.items():
        tags[tag] = dict(exif.get_ifd(tag)) if tag == ExifTags.IFD.Exif else value
    tags.tagtype[_Base.XMLPacket] = TiffTags.BYTE
    tags[_Base.XMLPacket] = about.xmp
    return tags
