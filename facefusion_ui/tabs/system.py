"""The System tab: where each model runs, why, and what helps.

Components and wiring only; what is shown comes from ``core.system``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import gradio as gr

from core.runtime.machine import report_text
from core.services import Services
from core.system import SystemFacts
from facefusion_ui import cards, provider_badge
from facefusion_ui.boundary import Problem, attempt
from facefusion_ui.texts import Lang, model_title, t
from facefusion_ui.visit import Visit

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def build(services: Services, lang: Lang, visit: gr.State) -> None:
    """Make the tab inside the current ``gr.Tab``; ``visit`` learns the chosen provider."""
    local = not services.settings.public
    with gr.Column(elem_classes="ff-box", min_width=0):
        head = gr.HTML(_looking(lang), apply_default_css=False, elem_id="system-head")
        with gr.Row(elem_classes="ff-actions"):
            check = gr.Button(t("system.check", lang), elem_id="system-check")
            test = gr.Button(t("system.test", lang), elem_id="system-test")
            free = gr.Button(t("system.free", lang), elem_id="system-free", visible=local)
        told = gr.HTML("", apply_default_css=False, elem_id="system-told")
    with gr.Column(elem_classes="ff-box", min_width=0, visible=local):
        work = gr.Radio(
            choices=[
                (t("system.auto", lang), "auto"),
                (t("prov.cpu", lang), "cpu"),
                *((provider.title, provider.name) for provider in services.sessions.offered()),
            ],
            value=services.settings.provider,
            label=t("system.work", lang),
            info=t("system.work.help", lang),
            interactive=True,
            elem_id="system-work",
        )
    with gr.Column(elem_classes="ff-box", min_width=0, visible=local):
        storage = gr.HTML(_storage(services, lang), apply_default_css=False, elem_id="storage")
        clean = gr.Button(t("system.clean", lang), size="sm", elem_id="system-clean")
    about = gr.HTML("", apply_default_css=False, elem_id="system-about")

    def look(now: Visit, *, again: bool, self_test: bool) -> list[str]:
        def work_out() -> SystemFacts:
            if again:
                services.sessions.check_again()
            return services.system(now.provider, self_test=self_test)

        found = attempt(work_out, lang)
        if isinstance(found, Problem):
            return [cards.panel(found, lang), ""]
        return [headline(found, lang), about_machine(found, lang)]

    def give_back() -> str:
        mb = services.free_memory()
        return _told(t("system.freed", lang, mb=mb))

    def choose(now: Visit, value: str) -> None:
        now.provider = value

    def sweep() -> list[str]:
        count = clear_results(services)
        return [_storage(services, lang), _told(t("system.cleaned", lang, n=count))]

    check.click(lambda now: look(now, again=True, self_test=False), visit, [head, about], **QUIET)
    test.click(_busy(lang), None, told, **QUIET).then(
        lambda now: [*look(now, again=False, self_test=True), ""],
        visit,
        [head, about, told],
        **QUIET,
    )
    free.click(give_back, None, told, **QUIET)
    work.input(choose, [visit, work], None, **QUIET).then(
        lambda now: look(now, again=False, self_test=False), visit, [head, about], **QUIET
    )
    sure = t("system.clean.sure", lang)
    clean.click(
        lambda agreed: sweep() if agreed else [gr.skip(), gr.skip()],
        gr.Checkbox(False, visible=False),
        [storage, told],
        js=f"() => confirm({sure!r})",
        **QUIET,
    )


def _told(text: str) -> str:
    return f'<p class="ff-line" role="status">{escape(text)}</p>'


def _busy(lang: Lang) -> Callable[[], str]:
    return lambda: _told(t("load.engine", lang))


def _looking(lang: Lang) -> str:
    return (
        f'<h2 class="ff-h">{escape(t("system.title", lang))}</h2>'
        f'<p class="ff-hint">{escape(t("system.looking", lang))}</p>'
    )


def headline(facts: SystemFacts, lang: Lang) -> str:
    """The badge in large, its sentence, the fix, and the table of models."""
    word, drawing, tone = provider_badge.chip(facts.providers, lang)
    sentence, advice, command = provider_badge.explain(facts.providers, lang)
    help_line = f'<p class="ff-hint">{escape(advice)}</p>' if advice else ""
    fix = cards.command(command, t("btn.copy", lang), lang) if command else ""
    return (
        f'<h2 class="ff-h">{escape(t("system.title", lang))}</h2>'
        f'<div class="ff-badge" role="status">{cards.chip(word, drawing, tone)}'
        f"<p>{escape(sentence)}</p>{help_line}{fix}</div>{_table(facts, lang)}"
    )


def _table(facts: SystemFacts, lang: Lang) -> str:
    columns = ["model", "where", "why", *(["speed"] if facts.self_test_ms else [])]
    head = "".join(
        f'<th scope="col">{escape(t(f"system.col.{name}", lang))}</th>' for name in columns
    )
    rows = []
    for line in facts.providers:
        cells = [provider_badge.place(line.used, lang), provider_badge.reason(line, lang)]
        if facts.self_test_ms:
            ms = facts.self_test_ms.get(line.model)
            cells.append("" if ms is None else t("system.ms", lang, ms=f"{ms:.1f}"))
        title = model_title(line.model, facts.titles.get(line.model, line.model), lang)
        rows.append(
            f'<tr><th scope="row">{escape(title)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
        )
    return (
        f'<div class="ff-scroll" tabindex="0" role="region" '
        f'aria-label="{escape(t("system.table", lang))}">'
        f'<table class="ff-table"><caption>{escape(t("system.table", lang))}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def about_machine(facts: SystemFacts, lang: Lang) -> str:
    """Versions and machine, folded, and the report to copy."""
    lines = [f"{line.model}: {line.asked} -> {line.used} {line.reason}" for line in facts.providers]
    rows = list((facts.machine | facts.versions).items())
    return (
        f'<div class="ff-card"><details class="ff-details"><summary>'
        f"{escape(t('system.versions', lang))}</summary>{cards.table(rows)}</details>"
        f'<div class="ff-row">'
        f"{cards.copy_button(t('system.copy', lang), report_text(lines), lang)}"
        f'<span class="ff-hint">{escape(t("system.copy.hint", lang))}</span></div></div>'
    )


def _files(services: Services) -> Iterator[int]:
    for path in services.settings.outputs.rglob("*"):
        if path.is_file():
            yield path.stat().st_size


def _storage(services: Services, lang: Lang) -> str:
    sizes = list(_files(services))
    text = t("system.storage", lang, size=f"{sum(sizes) / 1e6:.1f} MB", n=len(sizes))
    return f'<p class="ff-line">{escape(text)}</p>'


def clear_results(services: Services) -> int:
    """Delete every result kept on this computer; how many files."""
    count = len(list(_files(services)))
    for folder in services.settings.outputs.glob("*"):
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink(missing_ok=True)
    return count
