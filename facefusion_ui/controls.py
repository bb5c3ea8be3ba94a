"""From the options that processors declare to Gradio components.

A processor that takes source photos is always part of a swap. Any other is offered, switched off,
as soon as one of its options says where on the page it belongs (``json_schema_extra={"ui": ...}``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import gradio as gr
from pydantic.fields import FieldInfo

from core import registry
from core.registry import Processor
from facefusion_ui.chinese import OPTIONS
from facefusion_ui.texts import Lang

Place = Literal["visible", "folded", "more", "hidden"]
STEP_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Control:
    """One widget. ``name`` is ``processor.field``, or ``processor`` for its switch."""

    name: str
    place: Place
    label: str
    help: str
    default: Any
    percent: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def value(self, shown: Any) -> Any:
        """What the widget's value means to the processor."""
        return shown / 100 if self.percent else shown

    def shown(self, value: Any) -> Any:
        """What the widget shows for a processor's value."""
        return round(value * 100) if self.percent else value


def offered() -> tuple[type[Processor], ...]:
    """The processors that the page shows, in order of use."""
    return tuple(kind for kind in registry.processors() if kind.needs_source or _placed(kind))


def controls(lang: Lang) -> tuple[Control, ...]:
    """All widgets of all offered processors, hidden ones left out."""
    return tuple(
        found for kind in offered() for found in _of(kind, lang) if found.place != "hidden"
    )


def make(control: Control) -> gr.components.Component:
    """The Gradio component for ``control``, at its default."""
    start = control.shown(control.default)
    names = {"label": control.label, "info": control.help or None, "interactive": True}
    key = f"opt-{control.name.replace('.', '-').replace('_', '-')}"
    if isinstance(control.default, bool):
        return gr.Checkbox(value=start, elem_id=key, **names)
    if control.choices:
        return gr.Dropdown(choices=list(control.choices), value=start, elem_id=key, **names)
    low, high = control.shown(control.low or 0), control.shown(control.high or 1)
    step = STEP_PERCENT if control.percent else _step(control)
    return gr.Slider(low, high, value=start, step=step, elem_id=key, **names)


def steps_from(shown: Mapping[str, Any], lang: Lang = "en") -> dict[str, dict[str, Any]]:
    """Options by processor for the widget values ``shown``; switched-off processors left out."""
    found: dict[str, dict[str, Any]] = {}
    for kind in offered():
        if not kind.needs_source and not shown.get(kind.name, False):
            continue
        found[kind.name] = {
            control.name.partition(".")[2]: control.value(shown[control.name])
            for control in _of(kind, lang)
            if "." in control.name and control.name in shown
        }
    return found


def _of(kind: type[Processor], lang: Lang) -> Iterable[Control]:
    if not kind.needs_source:
        yield Control(kind.name, "folded", *_words(kind.name, kind.title, "", lang), False)
    for name, field in kind.Options.model_fields.items():
        yield _control(f"{kind.name}.{name}", field, lang)


def _control(name: str, field: FieldInfo, lang: Lang) -> Control:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    limits = {
        side: getattr(mark, side)
        for mark in field.metadata
        for side in ("ge", "le", "gt", "lt")
        if hasattr(mark, side)
    }
    label, help_ = _words(name, field.title or name, field.description or "", lang)
    literal = get_origin(field.annotation) is Literal
    return Control(
        name=name,
        place=extra.get("ui", "folded"),  # type: ignore[arg-type]
        label=label,
        help=help_,
        default=field.default,
        percent=bool(extra.get("percent", False)),
        low=limits.get("ge", limits.get("gt")),
        high=limits.get("le", limits.get("lt")),
        choices=tuple(map(str, get_args(field.annotation))) if literal else (),
    )


def _words(name: str, title: str, help_: str, lang: Lang) -> tuple[str, str]:
    return OPTIONS.get(name, (title, help_)) if lang == "zh" else (title, help_)


def _step(control: Control) -> float:
    if isinstance(control.default, int):
        return 1
    return ((control.high or 1) - (control.low or 0)) / 20


def _placed(kind: type[Processor]) -> bool:
    places = [
        field.json_schema_extra.get("ui")
        for field in kind.Options.model_fields.values()
        if isinstance(field.json_schema_extra, dict)
    ]
    return any(place in ("visible", "folded", "more") for place in places)
