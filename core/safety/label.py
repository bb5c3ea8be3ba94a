"""Marks that people can see: a small label on results, a pattern over previews."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from core.types import Pixels

LABEL = "AI-edited"
PREVIEW = "PREVIEW · AI-EDITED"
LABEL_SHARE = 0.028
"""Height of the letters as a share of the shorter side."""
PREVIEW_STRENGTH = 0.20


def draw_label(pixels: Pixels, text: str = LABEL) -> Pixels:
    """A copy with ``text`` in the bottom left corner, white on a dark plate."""
    height, width = pixels.shape[:2]
    size = max(9, round(min(height, width) * LABEL_SHARE))
    plate = _plate(text, size)
    margin = max(2, size // 2)
    rows, columns = plate.shape[:2]
    rows, columns = min(rows, height), min(columns, width)
    top, left = max(0, height - margin - rows), min(margin, width - columns)
    out = pixels.copy()
    part = out[top : top + rows, left : left + columns].astype(np.float32)
    share = plate[:rows, :columns, 3:].astype(np.float32) / 255
    part += (plate[:rows, :columns, :3] - part) * share
    out[top : top + rows, left : left + columns] = np.rint(part).astype(np.uint8)
    return out


def draw_preview_mark(pixels: Pixels) -> Pixels:
    """A copy with a faint slanted pattern of words all over it, and the label."""
    height, width = pixels.shape[:2]
    pattern = _pattern(width, height)
    share = np.abs(pattern)[:, :, None] * np.float32(PREVIEW_STRENGTH)
    tone = np.where(pattern[:, :, None] > 0, np.float32(255), np.float32(0))
    mixed = pixels + (tone - pixels) * share
    return draw_label(np.rint(mixed).astype(np.uint8), PREVIEW)


@lru_cache(maxsize=16)
def _plate(text: str, size: int) -> NDArray[np.uint8]:
    font = ImageFont.load_default(size)
    left, top, right, bottom = (round(edge) for edge in font.getbbox(text))
    pad = max(3, size // 2)
    box = (right - left + 2 * pad, bottom - top + 2 * pad)
    plate = Image.new("RGBA", box, (0, 0, 0, 0))
    draw = ImageDraw.Draw(plate)
    draw.rounded_rectangle((0, 0, box[0] - 1, box[1] - 1), pad, fill=(12, 18, 18, 190))
    draw.text((pad - left, pad - top), text, font=font, fill=(255, 255, 255, 255))
    return np.asarray(plate, np.uint8)


@lru_cache(maxsize=4)
def _pattern(width: int, height: int) -> NDArray[np.float32]:
    """Letters as +1 with a shadow of -1, elsewhere 0."""
    size = max(10, round(max(width, height) / 36))
    font = ImageFont.load_default(size)
    reach = int(1.5 * max(width, height))
    layers = []
    for shift in (0, max(1, size // 14)):
        board = Image.new("L", (reach, reach), 0)
        draw = ImageDraw.Draw(board)
        step = int(font.getlength(PREVIEW)) + 3 * size
        for row, y in enumerate(range(0, reach, 7 * size)):
            for x in range(-(row % 2) * step // 2, reach, step):
                draw.text((x + shift, y + shift), PREVIEW, font=font, fill=255)
        turned = board.rotate(28, resample=Image.Resampling.BILINEAR)
        left, top = (reach - width) // 2, (reach - height) // 2
        cut = turned.crop((left, top, left + width, top + height))
        layers.append(np.asarray(cut, np.float32) / 255)
    letters, shadow = layers
    return np.where(letters > 0.3, letters, -shadow * (1 - letters))
