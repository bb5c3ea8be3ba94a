"""What the tests of pictures share: an upright photo, and writing with a stand-in for signing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from core.imaging.stills import Still, WrittenStill, write_still
from core.types import DIGITAL_SOURCE_TYPE, Pixels


@pytest.fixture(scope="module")
def upright(astronaut: Pixels) -> Image.Image:
    """400×512, photographic."""
    return Image.fromarray(astronaut[:, 56:456])


@pytest.fixture(scope="session")
def write() -> Callable[..., WrittenStill[str]]:
    """``write_still`` with a mark that only copies."""

    def mark(plain: Path, signed: Path) -> str:
        shutil.copy(plain, signed)
        return "marked"

    def written(still: Still, pixels: Pixels, path: Path, **more: object) -> WrittenStill[str]:
        options = {"source_type": DIGITAL_SOURCE_TYPE, "mark": mark} | more
        return write_still(still, pixels, path, **options)

    return written
