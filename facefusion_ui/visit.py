"""What one visitor has on the desk. Lives in ``gr.State``; never shared between visitors."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Literal

from core.pipeline.report import RenderReport
from facefusion_ui.boundary import Problem

View = Literal["original", "compare", "result"]


@dataclass(frozen=True, slots=True)
class Box:
    """A face in the picture; place and size as fractions of width and height."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Share of the picture."""
        return self.width * self.height

    @property
    def middle(self) -> float:
        """Horizontal middle, 0..1."""
        return self.left + self.width / 2


@dataclass(frozen=True, slots=True)
class Scene:
    """The picture as it is drawn: an address for ``<img>``, its size, its faces when known."""

    image: str
    width: int
    height: int
    boxes: tuple[Box, ...] | None = None

    @property
    def ratio(self) -> float:
        """Width by height."""
        return self.width / self.height


@dataclass(frozen=True, slots=True)
class Done:
    """A finished run: the report and what the slider compares (None: nothing changed)."""

    report: RenderReport
    asked: int
    pair: tuple[Any, Any] | None
    middle: float


@dataclass(slots=True)
class Running:
    """A run under way. ``stop`` calls it off."""

    stop: threading.Event = field(default_factory=threading.Event)
    share: float = 0.0


@dataclass(slots=True)
class Visit:
    """Handlers change it in place and then draw it, so that the last one always draws the truth.

    ``options`` are widget values by control name. ``shown`` is what the browser was last told.
    ``ticket`` counts previews asked for: only the newest may be shown.
    """

    photos: tuple[str, ...] = ()
    photo_remarks: tuple[str, ...] = ()
    photos_usable: bool = False
    picture: str | None = None
    scene: Scene | None = None
    remarks: tuple[str, ...] = ()
    problem: Problem | None = None
    chosen: tuple[int, ...] = ()
    consent: bool = False
    pressed_early: bool = False
    preset: str = "balanced"
    provider: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)
    preview: str = ""
    ticket: int = 0
    running: Running | None = None
    done: Done | None = None
    stale: bool = False
    cancelled: bool = False
    view: View = "compare"
    seconds: float | None = None
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys of what is still needed, in the order of the page."""
        boxes = self.scene.boxes if self.scene else None
        checks = (
            ("need.photo.short", not self.photos_usable),
            ("need.pic", self.picture is None or self.problem_with_picture),
            ("need.person", bool(boxes) and not self.chosen),
            ("need.consent", not self.consent),
        )
        return tuple(key for key, lacking in checks if lacking)

    @property
    def problem_with_picture(self) -> bool:
        """Whether the picture was read and no face can be chosen in it."""
        return self.scene is None or self.scene.boxes == ()

    @property
    def ready(self) -> bool:
        """Whether a run could start now."""
        return not self.missing and self.scene is not None and self.scene.boxes is not None

    def changed(self) -> None:
        """Something that makes the last result out of date."""
        self.stale = self.stale or self.done is not None
        self.done = None
        self.pressed_early = False
        self.cancelled = False
