"""From a request to a file and a report: the whole story.

``render_frame`` is the one place where steps meet pixels; a preview is the same call without a
writer, so it cannot disagree with the output.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

from core import registry
from core.config import Settings
from core.errors import Cancelled, NoFaceFound, OptionError, UnusableOutput
from core.faces.analyse import MODELS as FACE_MODELS
from core.faces.select import choose
from core.imaging.stills import FORMATS, format_for, output_name, write_still
from core.pipeline.desk import Desk, Seen
from core.pipeline.report import (
    ModelLine,
    Notice,
    OutputFacts,
    ProvenanceFacts,
    ProviderLine,
    RenderReport,
)
from core.pipeline.sources import SourceLook, source_faces, source_looks
from core.pipeline.stages import Stages
from core.registry import Applied, Processor
from core.request import RenderRequest
from core.runtime.sessions import SessionPool
from core.safety.consent import require_consent
from core.safety.content import NSFW5, needs_strict
from core.safety.label import draw_label, draw_preview_mark
from core.safety.provenance import Provenance
from core.sentences import Sentence, say
from core.types import Face, Frame, ModelSpec, Pixels, ProvenanceRecord, Session, SourceFace

Progress = Callable[[str, float], None]
"""Called with the stage's name and how much of the whole is done, 0..1."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen in a picture: its size, and the faces from left to right."""

    width: int
    height: int
    faces: tuple[Face, ...]
    notices: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """A small picture that carries a visible mark, and the report of making it."""

    pixels: Pixels
    report: RenderReport


@dataclass(slots=True)
class Job:
    """The world of one piece of work, as processors see it (``core.registry.Context``).

    ``models`` names the models that really took part.
    """

    open_session: Callable[[ModelSpec], Session]
    sources: Sequence[SourceFace] = ()
    stages: Stages = field(default_factory=Stages)
    models: set[str] = field(default_factory=set)
    _notices: dict[Sentence, None] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def session(self, spec: ModelSpec) -> Session:
        """The shared session of a model."""
        self.models.add(spec.name)
        return self.open_session(spec)

    def notice(self, sentence: Sentence) -> None:
        """Tell the user something, once."""
        with self._guard:
            self._notices.setdefault(sentence)

    @property
    def notices(self) -> tuple[Sentence, ...]:
        """What was said so far, each once."""
        with self._guard:
            return tuple(self._notices)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A frame after all steps; positions are into the frame's faces."""

    frame: Frame
    changed: frozenset[int]
    kept: Mapping[int, Sentence]


def render_frame(
    frame: Frame, faces: Sequence[Face], chosen: Sequence[int], steps: Sequence[Processor], job: Job
) -> Rendered:
    """Apply ``steps`` in order to the ``chosen`` positions of ``faces``."""
    changed: set[int] = set()
    kept: dict[int, Sentence] = {}
    picked = [faces[position] for position in chosen]
    for step in steps:
        with job.stages.timed(step.name):
            applied = _apply(step, frame, picked)
        frame = applied.frame
        changed.update(chosen[index] for index in applied.changed)
        kept.update({chosen[index]: why for index, why in applied.kept.items()})
    for why in kept.values():
        job.notice(why)
    return Rendered(frame, frozenset(changed), kept)


def _apply(step: Processor, frame: Frame, faces: Sequence[Face]) -> Applied:
    try:
        return step.apply(frame, faces)
    except UnusableOutput:
        return Applied(frame, kept=dict.fromkeys(range(len(faces)), say("none.model")))


class Renderer:
    """Renders requests; safe to use from several threads."""

    def __init__(self, settings: Settings, sessions: SessionPool, provenance: Provenance) -> None:
        self._settings = settings
        self._sessions = sessions
        self._provenance = provenance
        self._desk = Desk(settings, sessions)

    def look(self, path: Path, *, provider: str | None = None) -> Look:
        """Find the faces of a picture. UnreadableMedia when it cannot be read."""
        seen = self._desk.look(path, provider=provider or self._settings.provider)
        height, width = seen.still.pixels.shape[:2]
        return Look(width, height, seen.faces, seen.still.notices)

    def look_sources(
        self, paths: Sequence[Path], *, provider: str | None = None
    ) -> tuple[SourceLook, ...]:
        """Find the face to use in each source photo, with remarks on how well it will do."""
        asked = provider or self._settings.provider
        return source_looks([self._desk.look(path, provider=asked) for path in paths])

    def preview(self, request: RenderRequest, *, max_side: int = 1280) -> Preview:
        """The result as the writer would get it, made small and visibly marked."""
        start = time.perf_counter()
        job = self._job(request)
        seen, rendered = self._render(request, job, _ignore, _never)
        with job.stages.timed("mark"):
            pixels = draw_preview_mark(_fit(rendered.frame.pixels, max_side))
        report = self._report(request, job, seen, rendered, start)
        return Preview(pixels, report)

    def render_image(
        self,
        request: RenderRequest,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RenderReport:
        """Write the result and say what was done.

        A run that changed nothing writes nothing: ``frames_changed`` is 0, ``output`` None.
        Refused, InputError, ModelError, ProviderError, MediaError as in ``core.errors``.
        """
        start = time.perf_counter()
        tell, stop = progress or _ignore, cancelled or _never
        require_consent(request)
        path = self._output_path(request)
        job = self._job(request)
        seen, rendered = self._render(request, job, tell, stop)
        if not rendered.changed:
            job.notice(say("none.image"))
            return self._report(request, job, seen, rendered, start)
        tell("write", 0.85)
        with job.stages.timed("write"):
            output, provenance = self._write(request, job, seen, rendered, path)
        tell("write", 1.0)
        return self._report(request, job, seen, rendered, start, output, provenance)

    def free(self) -> None:
        """Forget the pictures kept for quick previews."""
        self._desk.clear()

    def _job(self, request: RenderRequest) -> Job:
        provider = self._provider(request)
        return Job(open_session=lambda spec: self._sessions.open(spec, provider))

    def _provider(self, request: RenderRequest) -> str:
        return self._settings.provider if request.provider == "auto" else request.provider

    def _render(
        self, request: RenderRequest, job: Job, tell: Progress, stop: Callable[[], bool]
    ) -> tuple[Seen, Rendered]:
        require_consent(request)
        kinds = [registry.processor(step.processor) for step in request.steps]
        options = [
            registry.options_of(kind, step.options)
            for kind, step in zip(kinds, request.steps, strict=True)
        ]
        provider = self._provider(request)
        tell("read", 0.0)
        photos = [
            self._desk.look(path, provider=provider, stages=job.stages) for path in request.sources
        ]
        target = self._desk.look(request.target, provider=provider, stages=job.stages)
        _stop_if(stop)
        if not target.faces:
            raise NoFaceFound(say("noface.pic"))
        tell("check", 0.3)
        self._check(photos, target, provider, job)
        job.models.update(*(seen.models for seen in (*photos, target)))
        _stop_if(stop)
        for sentence in target.still.notices:
            job.notice(sentence)
        if any(kind.needs_source for kind in kinds):
            job.sources = source_faces(photos, job.notice)
        chosen = choose(target.faces, request.people)
        steps = [kind(chosen_, job) for kind, chosen_ in zip(kinds, options, strict=True)]
        tell("swap", 0.5)
        with job.stages.timed("prepare"):
            for step in steps:
                step.setup()
        _stop_if(stop)
        faces = _numbered(target.faces)
        frame = Frame(0, Fraction(0), target.still.pixels)
        return target, render_frame(frame, faces, chosen, steps, job)

    def _check(self, photos: Sequence[Seen], target: Seen, provider: str, job: Job) -> None:
        """Everyone in photos and picture decides together how strict the check is."""
        strict = needs_strict(face for seen in (*photos, target) for face in seen.faces)
        for number, photo in enumerate(photos, start=1):
            if not photo.faces:
                continue  # it is not used
            self._desk.check(
                photo,
                what="photo",
                strict=strict,
                provider=provider,
                stages=job.stages,
                number=number if len(photos) > 1 else None,
            )
        self._desk.check(target, what="pic", strict=strict, provider=provider, stages=job.stages)

    def _output_path(self, request: RenderRequest) -> Path:
        named = request.output.path
        if named is None:
            kind = format_for(request.target, request.output.format)
            folder = self._settings.outputs / secrets.token_urlsafe(16)
            return folder / output_name(request.target, kind)
        if request.output.format is None and named.suffix.lower() not in FORMATS:
            raise OptionError(say("err.format", name=named.name), hint=say("err.format.hint"))
        originals = {path.resolve() for path in (request.target, *request.sources)}
        if named.resolve() in originals:
            raise OptionError(say("err.same_file", name=named.name), hint=say("err.same_file.hint"))
        return named

    def _write(
        self, request: RenderRequest, job: Job, seen: Seen, rendered: Rendered, path: Path
    ) -> tuple[OutputFacts, ProvenanceFacts]:
        label = request.output.label or self._settings.public
        pixels = draw_label(rendered.frame.pixels) if label else rendered.frame.pixels
        record = ProvenanceRecord(
            title="AI-edited picture",
            models=tuple(spec.name for spec in self._models(request, job)),
            actions=tuple(step.processor for step in request.steps),
            label=label,
        )
        written = write_still(
            seen.still,
            pixels,
            path,
            source_type=record.digital_source_type,
            mark=self._provenance.marker(record),
            format=request.output.format,
            quality=request.output.quality,
            overwrite=request.output.overwrite,
        )
        for sentence in written.notices:
            job.notice(sentence)
        return (
            OutputFacts.model_validate(written, from_attributes=True),
            ProvenanceFacts.model_validate(written.mark, from_attributes=True),
        )

    def _models(self, request: RenderRequest, job: Job) -> tuple[ModelSpec, ...]:
        """The models that took part, in a steady order."""
        steps = [registry.processor(step.processor) for step in request.steps]
        specs = [*FACE_MODELS, NSFW5, *(spec for kind in steps for spec in kind.models)]
        return tuple({spec.name: spec for spec in specs if spec.name in job.models}.values())

    def _report(
        self,
        request: RenderRequest,
        job: Job,
        seen: Seen,
        rendered: Rendered,
        start: float,
        output: OutputFacts | None = None,
        provenance: ProvenanceFacts | None = None,
    ) -> RenderReport:
        models = self._models(request, job)
        reports = self._sessions.reports(self._provider(request))
        lines = [report for report in reports if report.model in job.models]
        return RenderReport(
            frames_total=1,
            frames_changed=int(bool(rendered.changed)),
            faces_found=len(seen.faces),
            faces_changed=len(rendered.changed),
            changed_numbers=tuple(sorted(position + 1 for position in rendered.changed)),
            providers=tuple(ProviderLine.of(report) for report in lines),
            notices=tuple(Notice.of(sentence) for sentence in job.notices),
            stage_ms=job.stages.ms,
            models=tuple(ModelLine.of(spec) for spec in models),
            elapsed_s=round(time.perf_counter() - start, 3),
            output=output,
            provenance=provenance,
        )


def _numbered(faces: Sequence[Face]) -> tuple[Face, ...]:
    return tuple(replace(face, person=number) for number, face in enumerate(faces, start=1))


def _fit(pixels: Pixels, max_side: int) -> Pixels:
    height, width = pixels.shape[:2]
    scale = max_side / max(height, width)
    if scale >= 1:
        return pixels
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _stop_if(stop: Callable[[], bool]) -> None:
    if stop():
        raise Cancelled


def _ignore(_stage: str, _done: float) -> None:
    return


def _never() -> bool:
    return False
