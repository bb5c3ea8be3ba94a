"""What the command line shows: reports, tables and bars, with rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from core.errors import AppError
from core.pipeline.report import ProviderLine, RenderReport

if TYPE_CHECKING:
    from core.runtime.weights import Progress as Downloaded
    from core.system import ModelFacts, SystemFacts


class _Described(Protocol):
    @property
    def sentences(self) -> Sequence[str]: ...


def print_error(console: Console, error: AppError) -> None:
    """What is wrong, and what to do next."""
    console.print(f"[bold red]{escape(str(error.message))}[/]")
    if error.hint:
        console.print(escape(str(error.hint)))


def print_report(console: Console, report: RenderReport) -> None:
    """What was done, where, how long it took, and every notice."""
    if report.frames_changed:
        faces = "1 face" if report.faces_changed == 1 else f"{report.faces_changed} faces"
        console.print(
            f"[bold green]Done.[/] {faces} of {report.faces_found} changed "
            f"in {report.elapsed_s:.1f} s."
        )
    else:
        console.print("[bold yellow]Nothing changed.[/]")
    if report.output is not None:
        facts = report.output
        console.print(
            f"{escape(str(facts.path))}  {facts.width}×{facts.height} {facts.format}, "
            f"{facts.bytes / 1e6:.1f} MB"
        )
    if report.provenance is not None:
        console.print("Marked as AI-edited (content credentials inside the file).")
    for notice in report.notices:
        console.print(f"[yellow]•[/] {escape(notice.text)}")
    _print_providers(console, report.providers)
    if report.stage_ms:
        stages = "  ".join(f"{stage} {spent:.0f}" for stage, spent in report.stage_ms.items())
        console.print(f"[dim]Milliseconds: {escape(stages)}[/]")


def print_system(console: Console, facts: SystemFacts) -> None:
    """The provider report and the machine."""
    console.print(f"[bold]{escape(facts.headline)}[/]")
    if facts.advice:
        console.print(escape(facts.advice))
    _print_providers(console, facts.providers)
    for name, value in facts.machine.items():
        console.print(f"[dim]{escape(name)}[/] {escape(str(value))}")
    for model, spent_ms in facts.self_test_ms.items():
        console.print(f"[dim]{escape(model)}[/] {spent_ms:.1f} ms")


def print_models(console: Console, lines: Sequence[ModelFacts]) -> None:
    """One row a model."""
    table = Table("Model", "State", "Size", "Licence", "Checksum")
    for line in lines:
        table.add_row(
            f"{escape(line.title)} [dim]({escape(line.name)})[/]",
            line.state,
            f"{line.size_bytes / 1e6:.1f} MB",
            escape(line.licence),
            line.checksum,
        )
    console.print(table)


def print_bench(console: Console, what: str, rows: Mapping[str, tuple[float, float]]) -> None:
    """Least and median milliseconds by stage."""
    table = Table(f"{what}: stage", "min ms", "median ms")
    for stage, (least, median) in rows.items():
        table.add_row(stage, f"{least:.2f}", f"{median:.2f}")
    console.print(table)


def print_verification(console: Console, path: Path, found: _Described) -> None:
    """What the content credentials of ``path`` say."""
    console.print(f"[bold]{escape(path.name)}[/]")
    for sentence in found.sentences:
        console.print(escape(sentence))


@contextmanager
def download_bar(console: Console, title: str) -> Iterator[Callable[[Downloaded], None]]:
    """A bar with bytes, speed and time left; gives the callback that moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(escape(title), total=None)

        def moved(state: Downloaded) -> None:
            progress.update(task, completed=state.done_bytes, total=state.total_bytes)

        yield moved


def _print_providers(console: Console, lines: Sequence[ProviderLine]) -> None:
    if not lines:
        return
    table = Table("Model", "Asked", "Ran on", "Nodes", "Why")
    for line in lines:
        nodes = ", ".join(f"{name} {count}" for name, count in line.nodes.items())
        why = " ".join(part for part in (line.reason, line.advice, line.command) if part)
        table.add_row(*(escape(cell) for cell in (line.model, line.asked, line.used, nodes, why)))
    console.print(table)
