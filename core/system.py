"""What the System tab, the Models tab and their commands show, as plain facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from core.pipeline.report import Notice, ProviderLine
from core.runtime import machine
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.types import ModelSpec, ProviderReport

SELF_TEST_RUNS = 8
BadgeCase = Literal["gpu", "cpu_no_card", "cpu_chosen", "fell_back", "mixed", "switched"]


class SystemFacts(BaseModel):
    """Where models run on this computer, and why.

    ``fault`` is what is wrong with the installation though every model still runs where it
    should, and what helps; ``command`` is then the command for it.
    """

    model_config = ConfigDict(frozen=True)

    case: BadgeCase
    headline: str
    advice: str = ""
    command: str = ""
    fault: tuple[Notice, ...] = ()
    providers: tuple[ProviderLine, ...]
    machine: dict[str, str]
    versions: dict[str, str]
    titles: dict[str, str] = Field(default_factory=dict)
    self_test_ms: dict[str, float] = Field(default_factory=dict)


class ModelFacts(BaseModel):
    """One row of the model list. ``checksum``: verified, unverified, unknown, not checked."""

    model_config = ConfigDict(frozen=True)

    name: str
    title: str
    state: str
    size_bytes: int
    licence: str
    licence_kind: str
    licence_url: str
    vendor: str
    year: int
    url: str
    embedded: bool
    checksum: str
    advice: str = ""


def badge_case(reports: Sequence[ProviderReport | ProviderLine]) -> BadgeCase:
    """Which of the six stories the reports tell; the worst wins."""
    on_card = [report for report in reports if report.used != "cpu"]
    if any(report.fell_back and report.frame is not None for report in reports):
        return "switched"
    fallen = [report for report in reports if report.fell_back]
    if fallen and on_card:
        return "mixed"
    if fallen:
        return "fell_back"
    if on_card:
        return "gpu"
    if reports and all(report.asked == "cpu" for report in reports):
        return "cpu_chosen"
    return "cpu_no_card"


HEADLINES: dict[BadgeCase, str] = {
    "gpu": "Graphics card",
    "cpu_no_card": "Processor",
    "cpu_chosen": "Processor (your choice)",
    "fell_back": "Processor instead of graphics card",
    "mixed": "Partly graphics card",
    "switched": "Switched to processor",
}


def look_at_system(
    sessions: SessionPool,
    weights: WeightStore,
    specs: Sequence[ModelSpec],
    provider: str,
    *,
    self_test: bool = False,
) -> SystemFacts:
    """Load every model that is here, at the place it would run, and tell."""
    here = [spec for spec in specs if weights.locate(spec) is not None]
    for spec in here:
        sessions.open(spec, provider).load()
    reports = sessions.reports(provider)
    lines = tuple(ProviderLine.of(report) for report in reports)
    worst = next((line for line in lines if line.fell_back), None)
    fault = sessions.install_fault()
    advice, command = "", ""
    told: tuple[Notice, ...] = ()
    if worst is not None:
        advice, command = f"{worst.reason} {worst.advice}".strip(), worst.command
    elif fault is not None:
        advice, command = f"{fault.reason} {fault.advice}".strip(), fault.command
        told = tuple(Notice.of(text) for text in (fault.reason, fault.advice) if text)
    case = badge_case(lines)
    return SystemFacts(
        case=case,
        headline=HEADLINES[case],
        advice=advice,
        command=command,
        fault=told,
        providers=lines,
        machine=machine.facts(),
        versions=machine.versions(),
        titles={spec.name: spec.title for spec in here},
        self_test_ms=measure(sessions, here, provider) if self_test else {},
    )


def measure(sessions: SessionPool, specs: Sequence[ModelSpec], provider: str) -> dict[str, float]:
    """Least milliseconds of one run of each model, with made-up input of its real shape."""
    spent = {}
    for spec in specs:
        session = sessions.open(spec, provider)
        inputs = session.example_inputs()
        times = []
        for _ in range(SELF_TEST_RUNS):
            start = time.perf_counter()
            session.run(inputs)
            times.append((time.perf_counter() - start) * 1000)
        spent[spec.name] = round(float(np.min(times)), 2)
    return spent


def model_facts(weights: WeightStore, spec: ModelSpec, *, verify: bool = False) -> ModelFacts:
    """The row of one model; ``verify`` reads the file and compares its checksum."""
    state: str
    if verify:
        verdict = weights.verify(spec)
        state, checksum = verdict.state, str(verdict.checksum)
    else:
        state, checksum = weights.state(spec), "not checked"
    return ModelFacts(
        state=state,
        checksum=checksum,
        **{
            name: getattr(spec, name)
            for name in ModelFacts.model_fields
            if name not in ("state", "checksum")
        },
    )


def models_markdown(specs: Sequence[ModelSpec]) -> str:
    """The table of all models, as kept in ``models/README.md``."""
    head = (
        "# Models\n\nGenerated from the code: `./start.sh models table > models/README.md`. "
        "Checksums of the built-in files are checked by a test.\n\n"
        "| model | what for | file | size | licence | from | SHA-256 |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    rows = [
        f"| {spec.name} | {spec.title} | {'built in' if spec.embedded else spec.repo}: "
        f"`{spec.file}` | {spec.size_bytes / 1e6:.1f} MB | [{spec.licence}]({spec.licence_url}) "
        f"| [{spec.vendor}, {spec.year}]({spec.url}) | "
        f"`{(spec.sha256 or 'unknown')[:16]}…`{'' if spec.sha256_verified else ' unverified'} |"
        for spec in specs
    ]
    return head + "\n".join(rows) + "\n"
