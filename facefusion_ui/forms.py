"""From what stands on the desk to a ``RenderRequest``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from core.request import Output, People, RenderRequest, Step
from facefusion_ui.controls import Control, steps_from
from facefusion_ui.visit import Visit

FORMATS = ("same", "png", "jpeg", "webp", "avif", "tiff")


@dataclass(frozen=True, slots=True)
class Preset:
    """Options that differ from the processors' defaults, by control name, and file quality."""

    options: Mapping[str, Any] = field(default_factory=dict)
    quality: int = 92


PRESETS: Mapping[str, Preset] = {
    "fast": Preset({"swap.in_front": False}, quality=80),
    "balanced": Preset(),
}


def preset_values(name: str, known: tuple[Control, ...]) -> dict[str, Any]:
    """Widget values of a preset, by control name."""
    chosen = PRESETS[name].options
    return {
        control.name: control.shown(chosen.get(control.name, control.default)) for control in known
    } | {"output.label": False, "output.format": "same"}


def request_from(visit: Visit) -> RenderRequest:
    """The request for what stands on the desk now; there must be a picture."""
    assert visit.picture is not None
    steps = tuple(
        Step(processor=name, options=options) for name, options in steps_from(visit.options).items()
    )
    form = visit.options.get("output.format", "same")
    return RenderRequest(
        sources=tuple(Path(photo) for photo in visit.photos),
        target=Path(visit.picture),
        steps=steps,
        people=_people(visit),
        output=Output(
            format=None if form == "same" else cast(Any, form),
            quality=PRESETS[visit.preset].quality,
            label=bool(visit.options.get("output.label", False)),
        ),
        provider=visit.provider,
        consent=visit.consent,
    )


def _people(visit: Visit) -> People:
    count = len(visit.scene.boxes or ()) if visit.scene else 0
    if count > 1 and len(visit.chosen) == count:
        return People(choose="everyone")
    return People(choose="numbers", numbers=visit.chosen) if visit.chosen else People()
