"""Services for looking at the page without an engine: fixed faces, fixed times, coloured swaps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from core.config import Settings
from core.errors import AppError, Cancelled
from core.imaging.stills import read_still
from core.pipeline.render import Look, Preview
from core.pipeline.report import (
    ModelLine,
    Notice,
    OutputFacts,
    ProvenanceFacts,
    ProviderLine,
    RenderReport,
)
from core.pipeline.sources import SourceLook
from core.request import RenderRequest
from core.safety.label import draw_preview_mark
from core.sentences import Sentence, say
from core.types import Face, Pixels

FACES: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "astronaut": ((0.35, 0.12, 0.53, 0.42),),
    "grace_hopper": ((0.36, 0.22, 0.68, 0.57),),
    "pair": ((0.18, 0.22, 0.34, 0.57), (0.68, 0.12, 0.77, 0.34)),
}
"""Faces by file name, as fractions; any other picture has one in the middle."""


@dataclass
class FakeRenderer:
    """Same calls as ``core.pipeline.render.Renderer``. Names of files steer it: ``noface…``."""

    settings: Settings
    source_notices: tuple[Sentence, ...] = ()
    look_notices: tuple[Sentence, ...] = ()
    run_notices: tuple[Sentence, ...] = ()
    failure: Exception | None = None
    look_failure: AppError | None = None
    changes: bool = True
    hold: threading.Event = field(default_factory=threading.Event)
    requests: list[RenderRequest] = field(default_factory=list)
    previews: list[RenderRequest] = field(default_factory=list)
    lines: tuple[ProviderLine, ...] = (
        ProviderLine(
            model="centerface",
            asked="auto",
            used="cpu",
            nodes={"cpu": 120},
            reason="No graphics card found.",
            reason_key="gpu.none",
            advice="",
        ),
    )

    def __post_init__(self) -> None:
        self.hold.set()

    def look(self, path: Path, *, provider: str | None = None) -> Look:
        del provider
        if self.look_failure is not None:
            raise self.look_failure
        pixels = _pixels(path)
        height, width = pixels.shape[:2]
        return Look(width, height, _faces(path, width, height), self.look_notices)

    def look_sources(
        self, paths: Sequence[Path], *, provider: str | None = None
    ) -> tuple[SourceLook, ...]:
        del provider
        looks = []
        for number, path in enumerate(paths, start=1):
            height, width = _pixels(path).shape[:2]
            faces = _faces(path, width, height)
            notices = self.source_notices if faces else (say("noface.photo", n=number),)
            looks.append(SourceLook(path, faces[0] if faces else None, len(faces), notices))
        return tuple(looks)

    def preview(self, request: RenderRequest, *, max_side: int = 1280) -> Preview:
        del max_side
        self.previews.append(request)
        if isinstance(self.failure, AppError):
            raise self.failure
        pixels = draw_preview_mark(self._painted(request))
        return Preview(pixels, self._report(request, None))

    def render_image(
        self,
        request: RenderRequest,
        *,
        progress: Callable[[str, float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RenderReport:
        self.requests.append(request)
        share = 0.1
        while not self.hold.wait(0.05):
            share = min(0.9, share + 0.01)
            if progress:
                progress("swap", 0.4)
            if cancelled and cancelled():
                raise Cancelled
        if self.failure is not None:
            raise self.failure
        if not self.changes:
            return self._report(request, None)
        folder = self.settings.outputs / "0123456789abcdef0123456789abcdef"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{request.target.stem}-swapped.png"
        cv2.imwrite(str(path), self._painted(request)[:, :, ::-1])
        return self._report(request, path)

    def free(self) -> None:
        return

    def _painted(self, request: RenderRequest) -> Pixels:
        pixels = _pixels(request.target).copy()
        height, width = pixels.shape[:2]
        faces = _faces(request.target, width, height)
        numbers = request.people.numbers or tuple(range(1, len(faces) + 1))
        for number in numbers:
            left, top, right, bottom = (int(edge) for edge in faces[number - 1].box)
            middle = ((left + right) // 2, (top + bottom) // 2)
            cv2.ellipse(
                pixels,
                middle,
                ((right - left) // 2, (bottom - top) // 2),
                0,
                0,
                360,
                (90, 204, 212),
                -1,
                cv2.LINE_AA,
            )
        return pixels

    def _report(self, request: RenderRequest, path: Path | None) -> RenderReport:
        height, width = _pixels(request.target).shape[:2]
        faces = _faces(request.target, width, height)
        numbers = request.people.numbers or tuple(range(1, len(faces) + 1))
        changed = len(numbers) if self.changes else 0
        notices = self.run_notices if self.changes else (*self.run_notices, say("none.image"))
        output = provenance = None
        if path is not None:
            output = OutputFacts(
                path=path,
                format="png",
                width=width,
                height=height,
                bytes=path.stat().st_size,
                sha256="0" * 64,
            )
            provenance = ProvenanceFacts(c2pa=True, signer="this computer", xmp=True)
        return RenderReport(
            frames_total=1,
            frames_changed=int(bool(changed)),
            faces_found=len(faces),
            faces_changed=changed,
            changed_numbers=numbers if changed else (),
            providers=self.lines,
            notices=tuple(Notice.of(sentence) for sentence in notices),
            stage_ms={"read": 21.0, "analyse": 96.0, "check": 60.0, "swap": 34.0, "write": 180.0},
            models=(
                ModelLine(
                    name="centerface",
                    title="CenterFace",
                    licence="MIT",
                    licence_kind="open",
                    licence_url="https://example.org",
                ),
            ),
            elapsed_s=0.4,
            output=output,
            provenance=provenance,
        )


@dataclass
class FakeServices:
    """As much of ``core.services.Services`` as the page needs."""

    settings: Settings
    renderer: FakeRenderer
    real: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def wait_until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Return when ``true`` holds; AssertionError after ``seconds``."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def _pixels(path: Path) -> Pixels:
    return read_still(path).pixels


def _faces(path: Path, width: int, height: int) -> tuple[Face, ...]:
    if path.stem.startswith("noface"):
        return ()
    boxes = next(
        (boxes for name, boxes in FACES.items() if path.stem.startswith(name)),
        ((0.4, 0.2, 0.6, 0.55),),
    )
    size = np.array([width, height, width, height], np.float32)
    points = np.zeros((5, 2), np.float32)
    return tuple(
        Face(box=np.array(box, np.float32) * size, points=points, score=0.99) for box in boxes
    )
