"""The Models tab: what is here, what can be fetched, under which licence.

Components and wiring only; downloads themselves are ``core.runtime.downloads``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from core.runtime.downloads import Download
from core.services import Services
from core.types import ModelSpec
from facefusion_ui import cards
from facefusion_ui.boundary import Problem, attempt
from facefusion_ui.cards import Tone, chip
from facefusion_ui.texts import Lang, model_title, said, t

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
TICK_S = 0.5
PICK_WITH_TICK = """
element.addEventListener('click', e => {
  const b = e.target.closest('[data-act]');
  if (!b) return;
  const tick = b.closest('.ff-card')?.querySelector('input[type=checkbox]');
  trigger('select', {...b.dataset, agreed: tick && tick.checked ? '1' : ''});
})
"""
LICENCES: dict[str, tuple[str, Tone, str]] = {
    "open": ("lic.open", "ok", "check"),
    "private": ("lic.private", "warn", "warn"),
    "unknown": ("lic.unknown", "warn", "warn"),
}


@dataclass(slots=True)
class Asking:
    """Which model's licence (or own file) one visitor is being asked about."""

    licence: str = ""
    own: str = ""
    remark: str = ""


def build(services: Services, lang: Lang) -> None:
    """Make the tab inside the current ``gr.Tab``."""
    asking = gr.State(lambda: Asking())
    with gr.Column(elem_classes="ff-box", min_width=0):
        gr.HTML(_top(services, lang), apply_default_css=False, elem_id="models-top")
        listed = gr.HTML(
            rows(services, Asking(), lang),
            apply_default_css=False,
            js_on_load=PICK_WITH_TICK,
            elem_id="models-list",
        )
        own = gr.File(
            label=t("model.own", lang),
            file_types=[".onnx"],
            visible=False,
            interactive=True,
            height=120,
            elem_id="models-own",
        )
    timer = gr.Timer(TICK_S, active=False)

    def shown(now: Asking) -> list[Any]:
        return [
            rows(services, now, lang),
            gr.File(visible=bool(now.own), value=None),
            gr.Timer(active=services.downloads.running),
        ]

    def pick(now: Asking, event: gr.EventData) -> list[Any]:
        asked = event._data
        act(services, now, str(asked.get("act")), str(asked.get("name")), bool(asked.get("agreed")))
        return shown(now)

    def adopt(now: Asking, path: str | None) -> list[Any]:
        if not path or not now.own:
            return shown(now)
        spec = services.model(now.own)
        outcome = attempt(lambda: services.weights.adopt(spec, Path(path)), lang)
        now.remark = outcome.body if isinstance(outcome, Problem) else ""
        now.own = now.own if now.remark else ""
        return shown(now)

    outputs = [listed, own, timer]
    listed.select(pick, asking, outputs, **QUIET)
    own.upload(adopt, [asking, own], outputs, **QUIET)
    timer.tick(shown, asking, outputs, **QUIET)


def act(services: Services, now: Asking, what: str, name: str, agreed: bool) -> None:
    """What a button in the list does."""
    spec = services.model(name)
    now.remark = ""
    if what in ("get", "again") and spec.licence_kind != "open":
        now.licence = name
    elif what in ("get", "again") or (what == "accept" and agreed):
        now.licence = ""
        damaged = services.weights.state(spec) == "damaged"
        services.downloads.start(spec, accept_licence=agreed, again=damaged or what == "again")
    elif what == "cancel":
        services.downloads.cancel(name)
    elif what == "own":
        now.own = name
    elif what == "back":
        now.licence = now.own = ""


def rows(services: Services, now: Asking, lang: Lang) -> str:
    """All models: the built-in engine as one card, then one card a model."""
    specs = services.models()
    built_in = [spec for spec in specs if spec.embedded]
    others = [spec for spec in specs if not spec.embedded]
    more = "".join(_row(services, spec, now, lang) for spec in others)
    if not others:
        more = f'<p class="ff-hint">{escape(t("models.none", lang))}</p>'
    return f'<div class="ff-rows">{_built_in(built_in, lang)}{more}</div>'


def _top(services: Services, lang: Lang) -> str:
    settings, weights = services.settings, services.weights
    chips = [
        chip(t("models.offline" if settings.offline else "models.online", lang)),
        chip(t("models.used", lang, size=_mb(weights.used_bytes()))),
    ]
    if settings.hub_endpoint:
        chips.append(chip(t("models.mirror", lang, place=settings.hub_endpoint)))
    folder = (
        ""
        if settings.public
        else f'<p class="ff-hint">{escape(t("models.folder", lang, folder=weights.folder))}</p>'
    )
    return (
        f'<h2 class="ff-h">{escape(t("models.title", lang))}</h2>'
        f'<p class="ff-hint">{escape(t("models.hint", lang))}</p>'
        f'<div class="ff-row">{"".join(chips)}</div>{folder}'
    )


def _built_in(specs: Sequence[ModelSpec], lang: Lang) -> str:
    parts = cards.table(
        [
            (
                model_title(spec.name, spec.title, lang),
                spec.licence,
                f"{spec.vendor}, {spec.year}",
                _mb(spec.size_bytes),
            )
            for spec in specs
        ]
    )
    return (
        f'<article class="ff-card"><div class="ff-row"><h3 class="ff-h3">'
        f"{escape(t('models.builtin', lang))}</h3>{chip(t('model.ready', lang), 'check', 'ok')}"
        f'</div><p class="ff-hint">{escape(t("models.builtin.advice", lang))}</p>'
        f'<div class="ff-row">{chip(_mb(sum(spec.size_bytes for spec in specs)))}'
        f'{_licence("open", lang)}</div><details class="ff-details"><summary>'
        f"{escape(t('models.parts', lang, n=len(specs)))}</summary>{parts}</details></article>"
    )


def _row(services: Services, spec: ModelSpec, now: Asking, lang: Lang) -> str:
    download = services.downloads.of(spec.name)
    state, tone = _state(services, spec, download)
    drawing = {"ok": "check", "bad": "cross"}.get(tone, "")
    advice = f'<p class="ff-hint">{escape(spec.advice)}</p>' if spec.advice else ""
    error = _error(download, now, spec, lang)
    middle = _bar(spec, download, lang) if state == "running" else ""
    if now.licence == spec.name:
        foot = _dialog(spec, lang)
    else:
        foot = f'<div class="ff-row ff-rowacts">{_actions(spec, state, now, lang)}</div>'
    unverified = "" if spec.sha256_verified else chip(t("model.unverified", lang))
    return (
        f'<article class="ff-card" data-model="{escape(spec.name)}"><div class="ff-row">'
        f'<h3 class="ff-h3">{escape(spec.title)} <span class="ff-tech">({escape(spec.name)})'
        f"</span></h3>{chip(t(f'model.{state}', lang), drawing, tone)}</div>{advice}{middle}"
        f'{error}<div class="ff-row">{chip(_mb(spec.size_bytes))}'
        f"{_licence(spec.licence_kind, lang)}{unverified}</div>{foot}</article>"
    )


def _state(services: Services, spec: ModelSpec, download: Download | None) -> tuple[str, Tone]:
    if download is not None and download.state == "running":
        return "running", ""
    if download is not None and download.state == "failed":
        return "failed", "bad"
    here = services.weights.state(spec)
    if here == "ready":
        return "ready", "ok"
    if here == "damaged":
        return "failed", "bad"
    if download is not None and download.state == "cancelled":
        return "stopped", ""
    return "missing", ""


def _actions(spec: ModelSpec, state: str, now: Asking, lang: Lang) -> str:
    if state == "ready":
        return ""
    if state == "running":
        return _button(t("btn.cancel", lang), "cancel", spec)
    if now.own == spec.name:
        text = escape(t("model.own.hint", lang, model=spec.title))
        return f'<p class="ff-hint">{text}</p>' + _button(t("btn.cancel", lang), "back", spec)
    first = "again" if state == "failed" else "get"
    return _button(t(f"model.{first}", lang), first, spec, primary=True) + _button(
        t("model.own", lang), "own", spec
    )


def _dialog(spec: ModelSpec, lang: Lang) -> str:
    key, _, _ = LICENCES[spec.licence_kind]
    link = (
        f'<a href="{escape(spec.licence_url)}" target="_blank" rel="noopener noreferrer">'
        f"{escape(t('model.licence', lang, name=spec.licence))}</a>"
    )
    return (
        f'<div class="ff-dialog" role="group" aria-label="{escape(spec.title)}">'
        f"<p>{escape(t('model.maker', lang, vendor=spec.vendor, year=spec.year))} · "
        f"{escape(t(key, lang))}</p><p>{link}</p>"
        f'<label class="ff-tick"><input type="checkbox"> {escape(t("model.accept", lang))}</label>'
        f'<div class="ff-row">'
        + _button(
            t("model.download", lang, size=_mb(spec.size_bytes)), "accept", spec, primary=True
        )
        + _button(t("btn.cancel", lang), "back", spec)
        + "</div></div>"
    )


def _bar(spec: ModelSpec, download: Download | None, lang: Lang) -> str:
    assert download is not None
    progress = download.progress
    total = progress.total_bytes or spec.size_bytes
    share = min(100, round(100 * progress.done_bytes / total)) if total else 0
    text = t(
        "model.progress",
        lang,
        a=f"{progress.done_bytes / 1e6:.0f}",
        b=f"{total / 1e6:.0f}",
        r=f"{progress.bytes_per_s / 1e6:.1f}",
    )
    if progress.eta_s is not None:
        left = t("time.s", lang, t=f"{progress.eta_s:.0f}")
        text += " · " + t("model.left", lang, t=left)
    return (
        f'<div class="ff-bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{share}" aria-label="{escape(t("model.bar", lang, model=spec.title))}">'
        f'<i style="width:{share}%"></i></div><p class="ff-hint">{escape(text)}</p>'
    )


def _error(download: Download | None, now: Asking, spec: ModelSpec, lang: Lang) -> str:
    if now.own == spec.name and now.remark:
        return cards.notice(now.remark)
    if download is None or download.error is None:
        return ""
    error = download.error
    return cards.notice(f"{said(error.message, lang)} {said(error.hint, lang)}".strip())


def _licence(kind: str, lang: Lang) -> str:
    key, tone, drawing = LICENCES[kind]
    return chip(t(key, lang), drawing, tone)


def _button(text: str, what: str, spec: ModelSpec, *, primary: bool = False) -> str:
    kind = " ff-primary" if primary else ""
    return (
        f'<button type="button" class="ff-btn{kind}" data-act="{what}" '
        f'data-name="{escape(spec.name)}" aria-label="{escape(f"{text} {spec.title}")}">'
        f"{escape(text)}</button>"
    )


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 10_000_000 else f"{size / 1e6:.0f} MB"
