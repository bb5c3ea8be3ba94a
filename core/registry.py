"""What a processor is, and the list of them.

A processor's file in ``core/processors`` says its name, options, models and arithmetic; widgets,
flags, JSON and tests are read from that. Importing this file imports no model runtime.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import OptionError
from core.sentences import Sentence
from core.types import Face, Frame, ModelSpec, Session, SourceFace


class ProcessorOptions(BaseModel):
    """Base of every processor's options: frozen; each field has default, limits, title, help.

    ``json_schema_extra`` of a field may hold ``ui`` = ``visible | folded | more | hidden`` (where
    the page shows it; default folded) and ``percent`` = True (a 0..1 number shown as 0..100).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class Context(Protocol):
    """The world as a processor sees it."""

    @property
    def sources(self) -> Sequence[SourceFace]:
        """The chosen face of each usable source photo, best first; empty when none was given."""

    def session(self, spec: ModelSpec) -> Session:
        """The shared session of a model."""

    def notice(self, sentence: Sentence) -> None:
        """Tell the user something, once."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What ``apply`` did: the new frame, the positions (in ``faces``) that changed, and why
    others were kept. When nothing changed ``frame`` is the very frame that came in."""

    frame: Frame
    changed: tuple[int, ...] = ()
    kept: Mapping[int, Sentence] = field(default_factory=dict)


class Processor(ABC):
    """Changes the chosen faces of a frame. One object per job; ``apply`` from many threads."""

    name: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    models: ClassVar[tuple[ModelSpec, ...]] = ()
    needs_source: ClassVar[bool] = False
    Options: ClassVar[type[ProcessorOptions]]

    def __init__(self, options: ProcessorOptions, context: Context) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    def setup(self) -> None:
        """Load what is needed, once per job."""

    @abstractmethod
    def apply(self, frame: Frame, faces: Sequence[Face]) -> Applied:
        """Change ``faces`` (already selected) in ``frame``. Never writes to its input."""


P = TypeVar("P", bound=type[Processor])
_found: dict[str, type[Processor]] = {}


def register(processor: P) -> P:
    """Class decorator that puts a processor on the list."""
    _found[processor.name] = processor
    return processor


@cache
def _look() -> None:
    package = importlib.import_module("core.processors")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"core.processors.{module.name}")


def processors() -> tuple[type[Processor], ...]:
    """All processors, in the order in which they are applied."""
    _look()
    return tuple(sorted(_found.values(), key=lambda found: (found.order, found.name)))


def processor(name: str) -> type[Processor]:
    """The processor called ``name``; OptionError with a suggestion when there is none."""
    _look()
    if name not in _found:
        raise OptionError(f"There is no processor '{name}'.", hint=_meant(name, _found))
    return _found[name]


def options_of(kind: type[Processor], values: Mapping[str, Any]) -> ProcessorOptions:
    """Checked options; OptionError says which one is wrong and what would be right."""
    try:
        return kind.Options(**values)
    except ValidationError as cause:
        first = cause.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise OptionError(
                f"There is no option '{name}' for {kind.name}.",
                hint=_meant(name, kind.Options.model_fields),
            ) from cause
        raise OptionError(
            f"Option '{name}' of {kind.name} cannot be {first['input']!r}: {first['msg']}.",
            hint=f"{kind.Options.model_fields[name].description or ''}".strip(),
        ) from cause


def models() -> tuple[ModelSpec, ...]:
    """Every model any processor names, each once, in processor order."""
    seen = {spec.name: spec for kind in processors() for spec in kind.models}
    return tuple(seen.values())


def _meant(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"There are: {', '.join(known)}."
