"""The Models tab: what is here, what can be fetched, under which licence.

Components and wiring only: downloads are ``core.runtime.downloads``, which goes on while nobody
looks; the look is ``model_rows``. Strangers on a shared page can look, not fetch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from core.services import Services
from facefusion_ui import model_rows
from facefusion_ui.boundary import Problem, attempt
from facefusion_ui.model_rows import Asking
from facefusion_ui.texts import Lang, t

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
TICK_S = 0.5
LISTEN = """
let asked = '';
element.addEventListener('click', e => {
  const b = e.target.closest('[data-act]');
  if (!b) return;
  const tick = b.closest('.ff-card').querySelector('input[type=checkbox]');
  trigger('select', {...b.dataset, agreed: tick && tick.checked ? '1' : ''});
  if (b.dataset.act === 'own') document.querySelector('#models-own input[type=file]').click();
});
new MutationObserver(() => {
  const dialog = element.querySelector('.ff-dialog');
  const now = dialog ? dialog.dataset.for : '';
  if (now === asked) return;
  const card = element.querySelector(`[data-model="${CSS.escape(asked || now)}"]`);
  asked = now;
  (dialog ? dialog.querySelector('input, button') : card.querySelector('button'))?.focus();
}).observe(element, {childList: true, subtree: true});
"""
"""Clicks become ``select`` events; the keyboard goes where a question opens, and back."""


def build(services: Services, lang: Lang) -> None:
    """Make the tab inside the current ``gr.Tab``."""
    desk = ModelDesk(services, lang)
    asking = gr.State(lambda: Asking())
    with gr.Column(elem_classes="ff-box", min_width=0):
        top = gr.HTML(model_rows.top(services, lang), apply_default_css=False, elem_id="models-top")
    listed = gr.HTML(
        model_rows.rows(services, Asking(), lang),
        apply_default_css=False,
        js_on_load=LISTEN,
        elem_id="models-list",
    )
    # Opened by the row's own button; the page shows only that one.
    with gr.Column(elem_id="models-own", elem_classes="ff-away", min_width=0):
        own = gr.UploadButton(
            t("model.own", lang),
            file_types=[".onnx"],
            interactive=not services.settings.public,
        )
    timer = gr.Timer(TICK_S, active=False)
    outputs = [top, listed, timer]

    def show(now: Asking) -> list[Any]:
        return [
            model_rows.top(services, lang),
            model_rows.rows(services, now, lang),
            gr.Timer(active=services.downloads.running),
        ]

    def pick(now: Asking, event: gr.EventData) -> list[Any]:
        asked = event._data
        desk.act(now, str(asked.get("act")), str(asked.get("name")), bool(asked.get("agreed")))
        return show(now)

    def adopt(now: Asking, path: str | None) -> list[Any]:
        desk.adopt(now, path)
        return show(now)

    listed.select(pick, asking, outputs, **QUIET)
    own.upload(adopt, [asking, own], outputs, **QUIET)
    timer.tick(show, asking, outputs, **QUIET)
    gr.on(None, lambda: show(Asking()), None, outputs, **QUIET)  # a page that opens now


class ModelDesk:
    """What the buttons do. Holds no visitor's data."""

    def __init__(self, services: Services, lang: Lang) -> None:
        self._services, self._lang = services, lang

    def act(self, now: Asking, what: str, name: str, agreed: bool) -> None:
        """One press of a button in the row of model ``name``."""
        if self._services.settings.public:
            return
        spec = self._services.model(name)
        now.remark = ""
        if what in ("get", "again") and spec.licence_kind != "open":
            now.licence, now.copy = name, ""
        elif what in ("get", "again") or (what == "accept" and agreed):
            now.licence = now.copy = ""
            again = what == "again" or self._services.weights.state(spec) == "damaged"
            self._services.downloads.start(spec, accept_licence=agreed, again=again)
        elif what == "accept":
            now.remark, now.remark_on = t("model.tick_first", self._lang), name
        elif what == "cancel":
            self._services.downloads.cancel(name)
        elif what == "own":
            now.own = name
        elif what == "copy":
            now.copy, now.licence = name, ""
        elif what == "copied":
            self._check_copy(now, name)
        elif what == "back":
            now.licence = now.copy = ""

    def adopt(self, now: Asking, path: str | None) -> None:
        """Use the file a visitor chose, when it is the right one."""
        if not path or not now.own or self._services.settings.public:
            return
        spec = self._services.model(now.own)
        outcome = attempt(lambda: self._services.weights.adopt(spec, Path(path)), self._lang)
        now.remark, now.remark_on = "", spec.name
        if isinstance(outcome, Problem):
            now.remark = outcome.body
        Path(path).unlink(missing_ok=True)

    def _check_copy(self, now: Asking, name: str) -> None:
        verdict = self._services.weights.verify(self._services.model(name))
        now.remark_on = name
        now.remark = (
            "" if verdict.state == "ready" else t(f"model.copy.{verdict.state}", self._lang)
        )
        now.copy = "" if verdict.state == "ready" else name
