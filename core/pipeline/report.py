"""RenderReport: what was really done, shown with every result and written by ``--report``.

The field names are a contract: scripts outside the project read them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.sentences import Sentence
from core.types import ModelSpec, ProviderReport


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Notice(_Frozen):
    """A sentence with its key, so that the page can translate it."""

    key: str
    text: str
    values: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Notice:
        """The notice that says ``text``; a Sentence keeps its key and values."""
        if isinstance(text, Sentence):
            return cls(key=text.key, text=str(text), values=dict(text.values))
        return cls(key="", text=text)


class ProviderLine(_Frozen):
    """A ProviderReport as it is written to JSON."""

    model: str
    asked: str
    used: str
    nodes: dict[str, int]
    reason: str
    reason_key: str = ""
    advice: str
    command: str = ""
    device: str = ""
    card: str = ""
    fell_back: bool = False
    frame: int | None = None
    reason_notice: Notice | None = None
    advice_notice: Notice | None = None

    @classmethod
    def of(cls, report: ProviderReport) -> ProviderLine:
        """The line for one session."""
        plain = set(cls.model_fields) - {"nodes", "reason_notice", "advice_notice"}
        return cls(
            nodes=dict(report.nodes),
            reason_notice=Notice.of(report.reason) if report.reason else None,
            advice_notice=Notice.of(report.advice) if report.advice else None,
            **{name: getattr(report, name) for name in plain},
        )


class ModelLine(_Frozen):
    """A model that took part, and its licence."""

    name: str
    title: str
    licence: str
    licence_kind: str
    licence_url: str

    @classmethod
    def of(cls, spec: ModelSpec) -> ModelLine:
        """The line for one model."""
        return cls(**{name: getattr(spec, name) for name in cls.model_fields})


class OutputFacts(_Frozen):
    """The file that was written, read back."""

    path: Path
    format: str
    width: int
    height: int
    bytes: int
    sha256: str


class ProvenanceFacts(_Frozen):
    """How the file says that it was edited."""

    c2pa: bool
    sidecar: Path | None = None
    signer: str = ""
    digital_source_type: str = ""
    xmp: bool = False
    label: bool = False


class RenderReport(_Frozen):
    """Counts, places, times and remarks of one piece of work.

    ``faces_found`` counts faces in the target, ``faces_changed`` those that really got new
    pixels. ``stage_ms`` are wall-clock milliseconds by stage, summed over frames.
    """

    frames_total: int
    frames_changed: int
    faces_found: int
    faces_changed: int = 0
    changed_numbers: tuple[int, ...] = ()
    providers: tuple[ProviderLine, ...] = ()
    notices: tuple[Notice, ...] = ()
    stage_ms: dict[str, float] = Field(default_factory=dict)
    models: tuple[ModelLine, ...] = ()
    elapsed_s: float = 0.0
    output: OutputFacts | None = None
    provenance: ProvenanceFacts | None = None
