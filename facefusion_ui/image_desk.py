"""What happens on the image tab: each method changes the visit, nothing draws here."""

from __future__ import annotations

import filecmp
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import Cancelled, NoFaceFound
from core.pipeline.render import Look, Preview
from core.pipeline.report import RenderReport
from core.sentences import say
from core.services import Services
from core.types import Face
from facefusion_ui.boundary import Problem, attempt, known
from facefusion_ui.controls import Control
from facefusion_ui.forms import preset_values, request_from
from facefusion_ui.pictures import address, original_to_show, read_small, result_to_show
from facefusion_ui.texts import Lang, said
from facefusion_ui.visit import Box, Done, Running, Scene, Visit

DEBOUNCE_S = 0.06
"""A preview waits this long for a newer wish, so that a dragged slider asks for few."""
POLL_S = 0.15


@dataclass(frozen=True, slots=True)
class ImageDesk:
    """The services, in one language. Holds no visitor's data."""

    services: Services
    lang: Lang
    controls: tuple[Control, ...]

    def start(self) -> Visit:
        """A clean desk."""
        return Visit(options=preset_values("balanced", self.controls))

    def put_photos(self, visit: Visit, paths: tuple[str, ...]) -> None:
        """Look for the face in each photo; clears the consent unless they are the same photos."""
        if _same_files(paths, visit.photos):
            return
        visit.photos, visit.consent, visit.preview = paths, False, ""
        visit.photo_remarks, visit.photos_usable = (), False
        visit.changed()
        if not paths:
            return

        looks = attempt(
            lambda: self.services.renderer.look_sources([Path(path) for path in paths]), self.lang
        )
        if visit.photos != paths:
            return
        if isinstance(looks, Problem):
            visit.photo_remarks = (f"{looks.title} {looks.body}".strip(),)
            return
        visit.photos_usable = any(look.face is not None for look in looks)
        visit.photo_remarks = tuple(
            said(sentence, self.lang) for look in looks for sentence in look.notices
        )

    def put_picture(self, visit: Visit, path: str | None) -> Iterator[None]:
        """Read the picture, then look for faces; yields whenever there is something to draw."""
        if _same_files((path,), (visit.picture,)):
            return
        visit.picture, visit.scene, visit.problem = path, None, None
        visit.consent, visit.preview, visit.chosen, visit.remarks = False, "", (), ()
        visit.changed()
        visit.stale = False
        if path is None:
            yield
            return
        small = attempt(lambda: read_small(path, self.services.settings), self.lang)
        if visit.picture != path:
            return
        if isinstance(small, Problem):
            visit.problem = small
            yield
            return
        pixels, width, height = small
        visit.scene = Scene(address(pixels), width, height)
        yield

        look = attempt(lambda: self.services.renderer.look(Path(path)), self.lang)
        if visit.picture != path:
            return
        if isinstance(look, Problem):
            visit.problem = look
        else:
            self._seen(visit, look)
        yield

    def _seen(self, visit: Visit, look: Look) -> None:

        assert visit.scene is not None
        boxes = tuple(_box(face, look) for face in look.faces)
        visit.scene = replace(visit.scene, boxes=boxes)
        visit.remarks = tuple(said(sentence, self.lang) for sentence in look.notices)
        if not boxes:
            visit.problem = known(NoFaceFound(say("noface.pic")), self.lang)
            return
        largest = max(range(len(boxes)), key=lambda position: boxes[position].area)
        visit.chosen = (largest + 1,)

    def pick(self, visit: Visit, number: int, *, more: bool) -> None:
        """Choose a face; ``more`` adds it to the chosen ones or takes it away."""
        self._choose(visit, set(visit.chosen) ^ {number} if more else {number})

    def pick_all(self, visit: Visit) -> None:
        """Choose everyone."""
        count = len(visit.scene.boxes or ()) if visit.scene else 0
        self._choose(visit, set(range(1, count + 1)))

    def _choose(self, visit: Visit, chosen: set[int]) -> None:
        if tuple(sorted(chosen)) != visit.chosen:
            visit.chosen = tuple(sorted(chosen))
            visit.changed()

    def agree(self, visit: Visit, ticked: bool) -> None:
        """The consent tick."""
        visit.consent = ticked
        visit.pressed_early = False
        if not ticked:
            visit.preview = ""

    def set_preset(self, visit: Visit, name: str) -> None:
        """A preset puts all options where it wants them."""
        visit.preset = name
        visit.options = preset_values(name, self.controls)
        visit.changed()

    def set_option(self, visit: Visit, name: str, value: Any) -> None:
        """One widget was moved."""
        if visit.options.get(name) != value:
            visit.options = visit.options | {name: value}
            visit.changed()

    def preview(self, visit: Visit) -> bool:
        """Make the preview of what stands on the desk; False when a newer one was asked for."""
        visit.ticket += 1
        ticket = visit.ticket
        if not visit.ready or visit.done is not None:
            return False
        time.sleep(DEBOUNCE_S)
        if visit.ticket != ticket or not visit.ready:
            return False
        request = request_from(visit)
        made = attempt(lambda: self.services.renderer.preview(request), self.lang)
        if visit.ticket != ticket or visit.done is not None or visit.running is not None:
            return False
        if isinstance(made, Preview):
            visit.preview = address(made.pixels)
            visit.seconds = made.report.elapsed_s
        elif made.kind != "error":
            visit.problem, visit.preview = made, ""
        return True

    def run(self, visit: Visit) -> Iterator[None]:
        """Write the result; yields whenever there is something to draw."""
        if visit.running is not None:
            return
        visit.problem, visit.cancelled = None, False
        if visit.missing or visit.scene is None or visit.scene.boxes is None:
            visit.pressed_early = True
            yield
            return
        visit.ticket += 1
        running = Running()
        visit.running = running
        yield
        try:
            yield from self._wait(visit, running)
        finally:
            visit.running = None
        yield

    def _wait(self, visit: Visit, running: Running) -> Iterator[None]:
        request, asked = request_from(visit), len(visit.chosen)
        with ThreadPoolExecutor(1, thread_name_prefix="swap") as worker:
            work = worker.submit(
                attempt,
                lambda: self.services.renderer.render_image(
                    request,
                    progress=lambda _stage, share: setattr(running, "share", share),
                    cancelled=running.stop.is_set,
                ),
                self.lang,
            )
            share = 0.0
            try:
                while not work.done():
                    time.sleep(POLL_S if share else 0.03)
                    if running.share != share:
                        share = running.share
                        yield
            except GeneratorExit:
                running.stop.set()
                raise
            try:
                outcome = work.result()
            except Cancelled:
                visit.cancelled = True
                return
        if isinstance(outcome, Problem):
            visit.problem = outcome
            return
        self._finish(visit, outcome, asked)

    def _finish(self, visit: Visit, report: RenderReport, asked: int) -> None:
        assert visit.scene is not None
        assert visit.picture is not None
        boxes = visit.scene.boxes or ()
        first = (report.changed_numbers or visit.chosen)[0]
        pair = None
        if report.output is not None:
            pair = (
                original_to_show(visit.picture, self.services.settings),
                result_to_show(report.output.path, self.services.settings),
            )
        visit.done = Done(report, asked, pair, boxes[first - 1].middle)
        visit.stale, visit.view, visit.preview = False, "compare", ""
        visit.seconds = report.elapsed_s

    def clear(self, visit: Visit) -> None:
        """Take the picture away, so that another one can be chosen."""
        for _ in self.put_picture(visit, None):
            pass

    def cancel(self, visit: Visit) -> None:
        """Call the run off."""
        if visit.running is not None:
            visit.running.stop.set()


def _same_files(some: Sequence[str | None], others: Sequence[str | None]) -> bool:
    """Whether the files are the same; Gradio gives a copy another path."""
    if len(some) != len(others):
        return False
    return all(
        one == other or (one and other and filecmp.cmp(one, other, shallow=False))
        for one, other in zip(some, others, strict=True)
    )


def _box(face: Face, look: Look) -> Box:
    left, top, right, bottom = (float(edge) for edge in face.box)
    left, top = max(0.0, left), max(0.0, top)
    right, bottom = min(float(look.width), right), min(float(look.height), bottom)
    return Box(
        left / look.width,
        top / look.height,
        (right - left) / look.width,
        (bottom - top) / look.height,
    )
