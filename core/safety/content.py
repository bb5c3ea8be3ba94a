"""Refuse unsuitable pictures before any work. There is no off switch; it fails closed.

One look is not enough: the same picture mirrored or cut a little differently can read 0.9 and 0.2.
So several views are averaged. A face that fills the picture is mostly skin and often reads as
nudity, above all without colour; such close-ups are looked at a second time with faces covered.

Source: nsfwjs 4.3.0, mobilenet_v2_mid (Infinite Red, 2019, MIT); classes drawing, hentai,
neutral, porn, sexy.
In:  ``(H, W, 3)`` uint8 RGB and the faces in it.   Out: a Verdict, or ContentRefused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from core.errors import Cancelled, ContentRefused
from core.sentences import Sentence, say
from core.types import Face, ModelSpec, OpenSession, Pixels

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
UNSAFE_STRICT = (*UNSAFE, "sexy")
STYLE = "drawing"
"""Says how a picture was made, not what it shows; often high for studio photos."""
SIDE = 224
LIMIT = 0.85
LIMIT_STRICT = 0.70
"""Applies when someone young is shown; 'sexy' then counts fully as well."""
STRICT_BELOW_YEARS = 20.0
CLOSE_UP_SHARE = 0.2
"""Below this share of the picture, faces never misled the check (most: 0.51)."""
COVER_MARGIN = 0.15
GREY = 127

What = Literal["pic", "photo"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A pass. ``unsafe`` 0..1 averaged over ``views``; ``label`` is the strongest class."""

    unsafe: float
    label: str
    views: int
    strict: bool


def needs_strict(faces: Iterable[Face]) -> bool:
    """Whether anyone in ``faces`` may be young. Give it everyone in sources and target together:
    a young face must not get onto a picture that only passed for grown-ups."""
    return any(face.age_years is None or face.age_years < STRICT_BELOW_YEARS for face in faces)


class ContentCheck:
    """Runs the check. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session

    def check(
        self,
        pixels: Pixels,
        *,
        what: What,
        strict: bool,
        faces: Sequence[Face] = (),
        number: int | None = None,
    ) -> Verdict:
        """A Verdict when the picture may be used.

        ContentRefused when the strongest class is an unsafe one and the unsafe ones together are
        over the limit, and also when the check cannot run or answers nonsense. ``number`` is the
        place of a photo among several, from 1; the refusal then names it.
        """
        views = list(_views(pixels, faces))
        shares = dict(zip(CLASSES, self._means(views), strict=True))
        counted = UNSAFE_STRICT if strict else UNSAFE
        unsafe = sum(shares[name] for name in counted)
        label = max((name for name in CLASSES if name != STYLE), key=lambda name: shares[name])
        if label in counted and unsafe >= (LIMIT_STRICT if strict else LIMIT):
            raise ContentRefused(_which(what, number), hint=say("refused.why"))
        return Verdict(unsafe, label, len(views), strict)

    def _means(self, views: Sequence[Pixels]) -> list[float]:
        batch = np.stack(views).astype(np.float32) / 255
        try:
            answer = np.asarray(self._open(NSFW5).run({"image": batch})["probabilities"])
            sane = (
                answer.shape == (len(batch), len(CLASSES))
                and np.isfinite(answer).all()
                and np.allclose(answer.sum(1), 1, atol=0.02)
                and float(answer.min()) >= 0
            )
        except Cancelled:
            raise
        except Exception as cause:  # whatever went wrong, nothing gets through
            raise ContentRefused(say("refused.check")) from cause
        if not sane:
            raise ContentRefused(say("refused.check"))
        return [float(share) for share in answer.mean(0)]


def _which(what: What, number: int | None) -> Sentence:
    if what == "photo" and number is not None:
        return say("refused.photo.n", n=number)
    return say(f"refused.{what}")


def _views(pixels: Pixels, faces: Sequence[Face]) -> Iterator[Pixels]:
    yield from _four(pixels)
    if _share(faces, pixels.shape) >= CLOSE_UP_SHARE:
        yield from _four(_covered(pixels, faces))


def _four(pixels: Pixels) -> Iterator[Pixels]:
    """Stretched, mirrored, the middle square, and mirrored with bars to a square."""
    height, width = pixels.shape[:2]
    mirrored = pixels[:, ::-1]
    yield _fitted(pixels)
    yield _fitted(mirrored)
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    yield _fitted(pixels[top : top + side, left : left + side])
    scale = SIDE / max(height, width)
    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
    board = np.full((SIDE, SIDE, 3), GREY, np.uint8)
    top, left = (SIDE - rows) // 2, (SIDE - columns) // 2
    board[top : top + rows, left : left + columns] = _fitted(mirrored, rows, columns)
    yield board


def _fitted(pixels: Pixels, rows: int = SIDE, columns: int = SIDE) -> Pixels:
    shrinks = min(pixels.shape[:2]) >= SIDE
    made = cv2.resize(
        np.ascontiguousarray(pixels),
        (columns, rows),
        interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR,
    )
    return np.asarray(made, np.uint8)


def _covered(pixels: Pixels, faces: Sequence[Face]) -> Pixels:
    out = pixels.copy()
    for face in faces:
        x0, y0, x1, y1 = face.box
        reach_x, reach_y = COVER_MARGIN * (x1 - x0), COVER_MARGIN * (y1 - y0)
        rows = slice(max(0, int(y0 - reach_y)), max(0, int(y1 + reach_y)))
        out[rows, max(0, int(x0 - reach_x)) : max(0, int(x1 + reach_x))] = GREY
    return out


def _share(faces: Sequence[Face], shape: tuple[int, ...]) -> float:
    """How much of the picture the faces' boxes fill."""
    height, width = shape[:2]
    area = 0.0
    for face in faces:
        x0, y0, x1, y1 = np.clip(face.box, 0, (width, height, width, height))
        area += float((x1 - x0) * (y1 - y0))
    return area / (height * width)
