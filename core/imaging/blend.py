"""Put changed pieces back into a frame.

In:  frame ``(H, W, 3)`` uint8 RGB.   Out: the same size and type; untouched where masks are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from core.types import Mask, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A piece of a frame: ``pixels`` ``(h, w, 3)`` uint8 whose top left corner is ``x0, y0``.

    ``mask`` ``(h, w)`` float32 0..1, 1 = take the patch.
    """

    x0: int
    y0: int
    pixels: Pixels
    mask: Mask


def paste(pixels: Pixels, patches: Sequence[Patch]) -> Pixels:
    """A copy of ``pixels`` with the patches laid on in order; bytes under mask 0 stay the same."""
    made = pixels.copy()
    for patch in patches:
        height, width = patch.mask.shape
        part = made[patch.y0 : patch.y0 + height, patch.x0 : patch.x0 + width]
        part[:] = mix(part, patch.pixels, patch.mask)
    return made


def mix(below: Pixels, above: Pixels, mask: Mask) -> Pixels:
    """``above`` where ``mask`` is 1, ``below`` where it is 0, exactly so at both ends."""
    fixed = (mask * np.float32(256) + np.float32(0.5)).astype(np.uint16)[..., None]
    mixed = below * (256 - fixed)
    mixed += above * fixed
    mixed += 128  # at most 255 * 256 + 128: fits
    mixed >>= 8
    return mixed.astype(np.uint8)


def poisson(below: Pixels, above: Pixels, mask: Mask) -> Pixels:
    """``above`` with its tone bent so that it meets ``below`` at the border of ``mask``.

    Source: "Poisson Image Editing", Pérez et al., SIGGRAPH 2003 (OpenCV's seamlessClone).
    """
    inside = (mask > 0.5).astype(np.uint8) * 255
    inside[[0, -1]] = 0
    inside[:, [0, -1]] = 0
    x, y, width, height = cv2.boundingRect(inside)
    if width < 3 or height < 3:
        return above
    centre = (x + width // 2, y + height // 2)
    cloned = cv2.seamlessClone(above, below, inside, centre, cv2.NORMAL_CLONE)
    return np.asarray(cloned, np.uint8)
