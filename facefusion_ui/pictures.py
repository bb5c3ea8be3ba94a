"""Pictures made small enough to be drawn on the page."""

from __future__ import annotations

import base64
from pathlib import Path

import cv2
import numpy as np

from core.config import Settings
from core.imaging.stills import read_still
from core.safety.label import draw_preview_mark
from core.types import Pixels

MAX_SIDE = 1280
QUALITY = 88
SHOWN_BY_BROWSERS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".avif"})


def read_small(path: str, settings: Settings) -> tuple[Pixels, int, int]:
    """The picture, upright and at most :data:`MAX_SIDE` long, with its full width and height."""
    still = read_still(
        Path(path),
        max_megapixels=settings.max_megapixels,
        max_bytes=settings.max_upload_mb * 1_000_000,
    )
    height, width = still.pixels.shape[:2]
    return shrink(still.pixels), width, height


def shrink(pixels: Pixels) -> Pixels:
    """At most :data:`MAX_SIDE` long."""
    height, width = pixels.shape[:2]
    scale = MAX_SIDE / max(height, width)
    if scale >= 1:
        return pixels
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def address(pixels: Pixels) -> str:
    """A data address for ``<img>``, so that no file has to be written for showing it."""
    ok, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    assert ok
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()


def original_to_show(path: str, settings: Settings) -> str | Pixels:
    """The file itself when browsers can draw it, else a small copy."""
    if Path(path).suffix.lower() in SHOWN_BY_BROWSERS:
        return path
    return read_small(path, settings)[0]


def result_to_show(path: Path, settings: Settings) -> str | Pixels:
    """The written file itself, so that a copy saved from the page still carries its mark.

    Browsers cannot draw every kind; of those a small copy with a visible mark is shown.
    """
    if path.suffix.lower() in SHOWN_BY_BROWSERS:
        return str(path)
    return draw_preview_mark(read_small(str(path), settings)[0])
