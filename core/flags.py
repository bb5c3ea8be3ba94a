"""Flags of a processor's command, made from the registry."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter
from pydantic.fields import FieldInfo

from core.registry import Processor

Json = Annotated[bool, Parameter(help="Print one JSON document instead of text.", negative="")]


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def request_parameters(kind: type[Processor]) -> list[inspect.Parameter]:
    """Flags every processor's command has; ``--source`` only where photos are needed."""

    def said(annotation: Any, text: str, **more: Any) -> Any:
        return Annotated[annotation, Parameter(help=text, **more)]

    photos = said(
        tuple[Path, ...],
        "Photo of the new face; may be given several times.",
        allow_leading_hyphen=True,
        negative="",
        show_default=False,
    )
    picture = said(Path, "Picture in which a face changes.", allow_leading_hyphen=True)
    output = said(
        Path | None, "File to write; its ending sets the format.", allow_leading_hyphen=True
    )
    report = said(Path | None, "Write the report to this JSON file.", allow_leading_hyphen=True)
    numbers = said(
        tuple[int, ...],
        "Number of the face to change, left to right; may be given several times.",
        negative="",
        show_default=False,
    )
    return [
        *([_keyword("source", photos)] if kind.needs_source else []),
        _keyword("target", picture),
        _keyword("output", output, None),
        _keyword("consent", said(bool, "Everyone shown agreed to this.", negative=""), False),
        _keyword("face", numbers, ()),
        _keyword("everyone", said(bool, "Change every face.", negative=""), False),
        _keyword("provider", said(str, "auto, cpu, cuda, tensorrt, …"), "auto"),
        _keyword("quality", said(int, "File quality, 1 to 100."), 92),
        _keyword("label", said(bool, "Show a small label in the picture.", negative=""), False),
        _keyword("overwrite", said(bool, "Replace an existing file.", negative=""), False),
        _keyword("report", report, None),
        _keyword("json", Json, False),
    ]


def option_parameters(kinds: Sequence[type[Processor]]) -> list[inspect.Parameter]:
    """A flag ``--processor.option`` for every declared option; None means not given."""
    return [
        _option_parameter(kind, name, described)
        for kind in kinds
        for name, described in kind.Options.model_fields.items()
    ]


def _option_parameter(kind: type[Processor], name: str, described: FieldInfo) -> inspect.Parameter:
    flag = f"--{kind.name}.{name.replace('_', '-')}"
    text = f"{described.description} (default {described.default})"
    parameter = Parameter(name=flag, help=text, group=Group(f"Options of {kind.name}"))
    kept: Any = described.annotation
    made: inspect.Parameter = _keyword(slot(kind, name), Annotated[kept | None, parameter], None)
    return made


def slot(kind: type[Processor], name: str) -> str:
    """The argument that holds an option's value."""
    return f"{kind.name}__{name}"
