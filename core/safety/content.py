"""Refuse unsuitable pictures before any work. There is no off switch; it fails closed.

Source: nsfwjs 4.3.0, mobilenet_v2_mid (Infinite Red, 2019, MIT); classes drawing, hentai,
neutral, porn, sexy.
In:  ``(H, W, 3)`` uint8 RGB.   Out: a Verdict, or ContentRefused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from core.errors import AppError, ContentRefused
from core.sentences import say
from core.types import ModelSpec, OpenSession, Pixels

NSFW5 = ModelSpec(
    name="nsfw5",
    title="Safety check",
    file="nsfw5.onnx",
    repo=None,
    size_bytes=4_538_577,
    sha256="ef6eaf03e4b13c8c59d3875bf1bd015a944ade41291e2175d5375a561773921e",
    sha256_verified=True,
    licence="MIT",
    licence_kind="open",
    licence_url="https://github.com/infinitered/nsfwjs/blob/master/LICENSE",
    vendor="Infinite Red",
    year=2019,
    url="https://github.com/infinitered/nsfwjs",
)
CLASSES = ("drawing", "hentai", "neutral", "porn", "sexy")
UNSAFE = ("hentai", "porn")
SIDE = 224
LIMIT = 0.85
"""Of 38 everyday photos the highest average was 0.74 (embedded_engine.md, section 4.4)."""
LIMIT_STRICT = 0.60
"""With a young face in the picture 'sexy' counts fully, and less is enough."""

What = Literal["pic", "photo"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A pass. ``unsafe`` 0..1 averaged over ``views``; ``label`` is the strongest class."""

    unsafe: float
    label: str
    views: int
    strict: bool


class ContentCheck:
    """Runs the check. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session

    def check(self, pixels: Pixels, *, what: What, strict: bool) -> Verdict:
        """A Verdict when the picture may be used.

        ContentRefused when the strongest class is an unsafe one and its average is over the
        limit, and also when the check cannot run or answers nonsense.
        """
        means = self._means(pixels)
        counted = (*UNSAFE, "sexy") if strict else UNSAFE
        unsafe = float(sum(means[CLASSES.index(name)] for name in counted))
        label = CLASSES[int(means.argmax())]
        if label in counted and unsafe >= (LIMIT_STRICT if strict else LIMIT):
            raise ContentRefused(say(f"refused.{what}"), hint=say("refused.why"))
        return Verdict(unsafe, label, len(list(_views(pixels))), strict)

    def _means(self, pixels: Pixels) -> NDArray[np.float32]:
        views = [
            cv2.resize(view, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for view in _views(pixels)
        ]
        batch = np.stack(views).astype(np.float32) / 255
        try:
            answer = self._open(NSFW5).run({"image": batch})["probabilities"]
        except (AppError, KeyError) as cause:
            raise ContentRefused(say("refused.check")) from cause
        sane = (
            answer.shape == (len(batch), len(CLASSES))
            and np.isfinite(answer).all()
            and np.allclose(answer.sum(1), 1, atol=0.02)
            and float(answer.min()) >= 0
        )
        if not sane:
            raise ContentRefused(say("refused.check"))
        return np.asarray(answer.mean(0), np.float32)


def _views(pixels: Pixels) -> Iterator[Pixels]:
    """Stretched, mirrored, middle square, and padded to a square."""
    yield pixels
    yield np.ascontiguousarray(pixels[:, ::-1])
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    yield np.ascontiguousarray(pixels[top : top + side, left : left + side])
    long = max(height, width)
    scale = SIDE / long
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    board = np.full((SIDE, SIDE, 3), 127, np.uint8)
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    top, left = (SIDE - size[1]) // 2, (SIDE - size[0]) // 2
    board[top : top + size[1], left : left + size[0]] = small
    yield board
