"""RenderRequest: all that page, command line and queue say about a piece of work.

Paths and plain values only, so that it survives JSON. Unknown fields are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Part(BaseModel):
    """Frozen, and strict about field names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(Part):
    """One use of a processor; ``options`` are checked by the processor's own ``Options``."""

    processor: str
    options: dict[str, Any] = Field(default_factory=dict)


class People(Part):
    """Whose face changes: the largest, everyone, or those with the given numbers.

    Faces are numbered from 1, left to right.
    """

    choose: Literal["largest", "everyone", "numbers"] = "largest"
    numbers: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _numbers_when_asked(self) -> People:
        if (self.choose == "numbers") != bool(self.numbers):
            raise ValueError("give face numbers with choose='numbers', and only then")
        if any(n < 1 for n in self.numbers):
            raise ValueError("faces are numbered from 1")
        return self


class Output(Part):
    """Where the result goes. ``path`` None: a new name in the outputs folder.

    The format follows the path's ending, else ``format``, else the target's.
    """

    path: Path | None = None
    format: Literal["png", "jpeg", "webp", "avif", "tiff"] | None = None
    quality: int = Field(default=92, ge=1, le=100)
    label: bool = False
    overwrite: bool = False


class RenderRequest(Part):
    """What to make. ``consent`` says that everyone shown agreed."""

    version: Literal[1] = 1
    sources: tuple[Path, ...] = ()
    target: Path
    steps: tuple[Step, ...]
    people: People = People()
    output: Output = Output()
    provider: str = "auto"
    consent: bool = False
