"""The System tab: where each model runs, why, and what helps.

Components and wiring only: facts come from ``core.system``, their look from ``system_view``.
Strangers on a shared page see where it runs; they cannot measure, free or delete anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from core.pipeline.report import ProviderLine
from core.results import DAY_S, delete
from core.services import Services
from core.system import SystemFacts
from facefusion_ui import cards, system_view
from facefusion_ui.boundary import Problem, attempt
from facefusion_ui.texts import Lang, t
from facefusion_ui.visit import Visit

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def build(
    services: Services,
    lang: Lang,
    visit: gr.State,
    *,
    tab: gr.Tab,
    top: gr.HTML,
    draw_top: Callable[[Visit], str],
) -> None:
    """Make the tab inside ``tab``; ``visit`` learns the chosen provider, ``top`` what was found."""
    desk = SystemDesk(services, lang)
    with gr.Column(elem_classes="ff-box", min_width=0):
        head = gr.HTML(desk.expect, apply_default_css=False, elem_id="system-head")
        if desk.local:
            with gr.Row(elem_classes="ff-actions"):
                check = gr.Button(t("system.check", lang), elem_id="system-check")
                test = gr.Button(t("system.test", lang), elem_id="system-test")
                free = gr.Button(t("system.free", lang), elem_id="system-free")
            told = gr.HTML("", apply_default_css=False, elem_id="system-told")
        table = gr.HTML("", apply_default_css=False, elem_id="system-table")
    if desk.local:
        with gr.Row(elem_classes="ff-pair"):
            with gr.Column(elem_classes="ff-box", min_width=0):
                work = gr.Radio(
                    choices=desk.choices(),
                    value="auto",
                    label=t("system.work", lang),
                    info=t("system.work.help", lang),
                    interactive=True,
                    elem_id="system-work",
                )
            with gr.Column(elem_classes="ff-box", min_width=0):
                storage = gr.HTML(
                    desk.storage,
                    apply_default_css=False,
                    js_on_load=cards.PICK,
                    elem_id="system-storage",
                )
    about = gr.HTML("", apply_default_css=False, elem_id="system-about")
    shown = [head, table, about, top]

    def look(now: Visit, *, again: bool = False, measure: bool = False) -> list[str]:
        return [*desk.look(now, again=again, measure=measure), draw_top(now)]

    tab.select(look, visit, shown, **QUIET)
    if not desk.local:
        return

    def choose(now: Visit, provider: str) -> list[str]:
        now.provider = provider
        return look(now)

    def tidy(event: gr.EventData) -> str:
        return desk.tidy(str(event._data.get("act")))

    def measure(now: Visit) -> list[str]:
        return [*look(now, measure=True), ""]

    check.click(lambda: system_view.told("system.checking", lang), None, told, **QUIET).then(
        lambda now: [*look(now, again=True), system_view.told("system.checked", lang)],
        visit,
        [*shown, told],
        **QUIET,
    )
    test.click(lambda: system_view.told("system.testing", lang), None, told, **QUIET).then(
        measure, visit, [*shown, told], **QUIET
    )
    free.click(desk.free, None, told, **QUIET)
    work.input(choose, [visit, work], shown, **QUIET)
    storage.select(tidy, None, storage, **QUIET)


class SystemDesk:
    """What the tab's buttons do. Holds no visitor's data."""

    def __init__(self, services: Services, lang: Lang) -> None:
        self._services, self._lang = services, lang
        self.local = not services.settings.public

    def choices(self) -> list[tuple[str, str]]:
        """Where a visitor may ask the work to be done."""
        started = self._services.settings.provider
        offered = {found.name: found.title for found in self._services.sessions.offered()}
        offered["cpu"] = t("prov.cpu", self._lang)
        automatic = (
            t("system.auto", self._lang)
            if started == "auto"
            else t("system.as_started", self._lang, place=offered.get(started, started))
        )
        return [(automatic, "auto"), *((title, name) for name, title in offered.items())]

    def expect(self) -> str:
        """The headline before anything was loaded."""
        lines = [ProviderLine.of(report) for report in self._services.sessions.outlook()]
        return system_view.headline(lines, self._lang)

    def look(self, now: Visit, *, again: bool, measure: bool) -> list[str]:
        """Headline, table, and facts about the machine; loads every model that is here."""

        def work_out() -> SystemFacts:
            if again:
                self._services.sessions.check_again()
            asked = None if now.provider == "auto" else now.provider
            return self._services.system(asked, self_test=measure)

        found = attempt(work_out, self._lang)
        if isinstance(found, Problem):
            return [cards.panel(found, self._lang), "", ""]
        return [
            system_view.headline(found.providers, self._lang, facts=found, may_change=self.local),
            system_view.table(found, self._lang),
            system_view.about(found, self._lang) if self.local else "",
        ]

    def free(self) -> str:
        """Unload models; how much that gave back."""
        return system_view.told("system.freed", self._lang, mb=self._services.free_memory())

    def storage(self) -> str:
        """How much the results take."""
        return system_view.storage(self._services.settings.outputs, self._lang)

    def tidy(self, act: str) -> str:
        """What the storage line's buttons do: ask, delete old ones, delete all, keep."""
        folder = self._services.settings.outputs
        if act == "ask":
            return system_view.storage_question(folder, self._lang)
        if act not in ("old", "all"):
            return self.storage()
        gone = attempt(
            lambda: delete(folder, older_than_s=DAY_S if act == "old" else 0.0), self._lang
        )
        if isinstance(gone, Problem):
            return cards.panel(gone, self._lang)
        return self.storage() + system_view.told("system.cleaned", self._lang, n=gone.files)
