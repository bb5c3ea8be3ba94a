"""Commands and flags, made from the registry: a new processor brings its own command.

Exit codes are those of ``core.errors``: 0 done, 2 wrong input (also: nothing changed), 3 weights,
4 no provider, 5 reading or writing failed, 6 refused, 7 job. With ``--json`` standard output is
one JSON document; everything else goes to standard error.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from pydantic import ValidationError
from rich.console import Console

from core import registry, terminal
from core.config import VERSION, Settings
from core.errors import AppError, InputError, OptionError
from core.flags import Json, option_parameters, request_parameters, slot
from core.pipeline.report import Notice, RenderReport
from core.registry import Processor
from core.request import People, RenderRequest, Step
from core.runtime.providers import check_choice

if TYPE_CHECKING:  # the services load models' libraries, which --help must not wait for
    from core.services import Services

FilePath = Annotated[Path, Parameter(allow_leading_hyphen=True)]
ServicesMaker = Callable[[Settings], "Services"]
PageOpener = Callable[[Settings, bool], None]


def run_command(
    tokens: Sequence[str], settings: Settings, make: ServicesMaker, open_page: PageOpener
) -> int:
    """Run the command in ``tokens``, or open the page when there is none; the exit code."""
    errors = Console(stderr=True)
    app = _app(settings, make)
    _add_page(app, settings, open_page)
    try:
        outcome = app(list(tokens), exit_on_error=False, print_error=True, error_console=errors)
    except CycloptsError:
        return InputError.exit_code
    except AppError as error:
        terminal.print_error(errors, error)
        if "--json" in tokens:
            print_json(_error_facts(error))
        return error.exit_code
    return outcome if isinstance(outcome, int) else 0


def print_json(facts: Any) -> None:
    """One JSON document on standard output."""
    Console(soft_wrap=True, highlight=False).out(
        json.dumps(facts, ensure_ascii=False, indent=2, default=str), highlight=False
    )


def _error_facts(error: AppError) -> dict[str, Any]:
    return {
        "error": type(error).__name__,
        "message": str(error.message),
        "hint": str(error.hint),
        "exit_code": error.exit_code,
    }


def _app(settings: Settings, make: ServicesMaker) -> App:
    app = App(
        name="facefusion-ui",
        help_format="plaintext",
        result_action="return_value",
        version=VERSION,
        help="Put one consenting person's face onto another. Without a command the page opens.",
    )
    for kind in registry.processors():
        app.command(_render_command(kind, settings, make), name=kind.name)
    _add_system(app, settings, make)
    _add_models(app, settings, make)
    _add_bench(app, settings, make)
    _add_verify(app, settings, make)
    return app


# ---- one command per processor -------------------------------------------------------------


def _render_command(
    kind: type[Processor], settings: Settings, make: ServicesMaker
) -> Callable[..., int]:
    others = [other for other in registry.processors() if other is not kind]

    parameters = [*request_parameters(kind), *option_parameters((kind, *others))]
    defaults = {each.name: each.default for each in parameters}

    def command(**said: Any) -> int:
        given = defaults | said
        options = {
            other.name: {
                name: given[slot(other, name)]
                for name in other.Options.model_fields
                if given[slot(other, name)] is not None
            }
            for other in (kind, *others)
        }
        used = [other for other in registry.processors() if other is kind or options[other.name]]
        request = _checked(
            sources=tuple(given.get("source") or ()),
            target=given["target"],
            steps=tuple(Step(processor=one.name, options=options[one.name]) for one in used),
            people=_people(given["face"], everyone=given["everyone"] or not kind.needs_source),
            output={
                "path": given["output"],
                "quality": given["quality"],
                "label": given["label"],
                "overwrite": given["overwrite"],
            },
            provider=given["provider"],
            consent=given["consent"],
        )
        return _render(make(settings), request, report_to=given["report"], as_json=given["json"])

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = f"{kind.title}."
    return command


def _checked(**values: Any) -> RenderRequest:
    try:
        return RenderRequest.model_validate(values)
    except ValidationError as cause:
        first = cause.errors()[0]
        name = str(first["loc"][-1])
        raise OptionError(
            f"--{name} cannot be {first['input']!r}.", hint=f"{first['msg']}."
        ) from cause


def _render(
    services: Services, request: RenderRequest, *, report_to: Path | None, as_json: bool
) -> int:
    try:
        report = services.renderer.render_image(request)
    except AppError as error:
        if report_to is not None:
            _write_report(report_to, _report_of_nothing(error))
        raise
    if report_to is not None:
        _write_report(report_to, report)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        terminal.print_report(Console(), report)
    return 0 if report.frames_changed else InputError.exit_code


def _report_of_nothing(error: AppError) -> RenderReport:
    sentences = [Notice.of(text) for text in (error.message, error.hint) if text]
    return RenderReport(frames_total=1, frames_changed=0, faces_found=0, notices=tuple(sentences))


def _write_report(path: Path, report: RenderReport) -> None:
    try:
        path.write_text(report.model_dump_json(indent=2), encoding="utf-8")
    except OSError as cause:
        raise InputError(
            f"The report cannot be written to {path.name}: {cause.strerror}.",
            hint="Name another place with --report.",
        ) from cause


def _people(numbers: Sequence[int], *, everyone: bool) -> People:
    if numbers:
        if min(numbers) < 1:
            raise InputError("Faces are numbered from 1, left to right.", hint="Try --face 1.")
        return People(choose="numbers", numbers=tuple(numbers))
    return People(choose="everyone" if everyone else "largest")


def _add_page(app: App, settings: Settings, open_page: PageOpener) -> None:
    @app.default
    def page(
        *,
        host: str | None = None,
        port: int | None = None,
        provider: str | None = None,
        offline: bool = False,
        browser: bool = True,
    ) -> int:
        """Open the page.

        Parameters
        ----------
        host
            Address to listen on; 127.0.0.1 is this computer only.
        port
            Port of the page.
        provider
            auto, cpu, cuda, tensorrt, …
        offline
            Never use the network, not even for downloads.
        browser
            Open the browser as well.
        """
        given = {"host": host, "port": port, "provider": provider, "offline": offline or None}
        changes = {name: value for name, value in given.items() if value is not None}
        if provider is not None:
            check_choice(provider)
        open_page(settings.model_copy(update=changes), browser)
        return 0


# ---- the machine, the models, figures, credentials -----------------------------------------


def _add_system(app: App, settings: Settings, make: ServicesMaker) -> None:
    @app.command(name="system")
    def system(*, provider: str = "auto", self_test: bool = False, json: Json = False) -> int:
        """Say where each model runs on this machine, and why.

        Parameters
        ----------
        provider
            auto, cpu, cuda, tensorrt, …
        self_test
            Also measure how quick each model is.
        """
        services = make(settings)
        facts = services.system(None if provider == "auto" else provider, self_test=self_test)
        if json:
            print_json(facts.model_dump(mode="json"))
        else:
            terminal.print_system(Console(), facts)
        return 0


def _add_models(app: App, settings: Settings, make: ServicesMaker) -> None:
    models = App(
        name="models",
        result_action="return_value",
        help="List, fetch and check the models' weights.",
    )
    app.command(models)

    @models.command(name="list")
    def list_(*, json: Json = False) -> int:
        """List all models: here or not, size, licence."""
        lines = make(settings).model_rows()
        if json:
            print_json([line.model_dump(mode="json") for line in lines])
        else:
            terminal.print_models(Console(), lines)
        return 0

    @models.command
    def fetch(*names: str, accept_licence: bool = False, json: Json = False) -> int:
        """Download models by name.

        Parameters
        ----------
        names
            As shown by ``models list``.
        accept_licence
            You accept the makers' licences of these models.
        """
        services = make(settings)
        specs = [services.model(name) for name in names]
        for spec in specs:
            with terminal.download_bar(Console(stderr=True), spec.title) as progress:
                services.weights.fetch(spec, accept_licence=accept_licence, progress=progress)
        return _show_verdicts(services, names, as_json=json)

    @models.command
    def verify(*names: str, json: Json = False) -> int:
        """Compare the weights on this computer with their checksums; all when none is named."""
        return _show_verdicts(make(settings), names, as_json=json)

    @models.command
    def table() -> int:
        """Print the table of models in Markdown, as kept in models/README.md."""
        from core.system import models_markdown

        Console(soft_wrap=True).out(models_markdown(make(settings).models()), end="")
        return 0


def _show_verdicts(services: Services, names: Sequence[str], *, as_json: bool) -> int:
    lines = services.model_rows(names, verify=True)
    if as_json:
        print_json([line.model_dump(mode="json") for line in lines])
    else:
        terminal.print_models(Console(), lines)
    return 3 if any(line.state == "damaged" for line in lines) else 0


def _add_bench(app: App, settings: Settings, make: ServicesMaker) -> None:
    @app.command(name="bench")
    def bench(what: Literal["built-in"], /, *, rounds: int = 60, json: Json = False) -> int:
        """Measure speed on this machine: least and median milliseconds by stage.

        Parameters
        ----------
        what
            What to measure.
        rounds
            How many frames.
        """
        from core.bench import bench_built_in

        table = bench_built_in(make(settings).sessions.open, rounds=rounds)
        if json:
            print_json(table.rows)
        else:
            terminal.print_bench(Console(), what, table.rows)
        return 0


def _add_verify(app: App, settings: Settings, make: ServicesMaker) -> None:
    @app.command(name="verify")
    def verify(file: FilePath, /, *, json: Json = False) -> int:
        """Read a file's content credentials back and explain them.

        Parameters
        ----------
        file
            A picture or clip.
        """
        found = make(settings).provenance.verify(file)
        if json:
            print_json(found.facts())
        else:
            terminal.print_verification(Console(), file, found)
        return 0 if found.state in ("ours", "other") else InputError.exit_code
