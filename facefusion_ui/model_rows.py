"""How the Models tab looks: top line, the built-in engine, one card a model. Plain HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from core.runtime.downloads import Download
from core.services import Services
from core.types import ModelSpec
from facefusion_ui import cards, licence_chip
from facefusion_ui.cards import Tone, chip
from facefusion_ui.result_card import duration
from facefusion_ui.texts import Lang, model_title, said, t

HUB = "https://huggingface.co"
DRAWINGS: dict[Tone, str] = {"ok": "check", "bad": "cross"}


@dataclass(slots=True)
class Asking:
    """What one visitor is being asked: a licence, or to copy a file; ``remark`` is the answer."""

    licence: str = ""
    copy: str = ""
    own: str = ""
    remark: str = ""
    remark_on: str = ""


def top(services: Services, lang: Lang) -> str:
    """Title, what is allowed, space used; folder and mirror are folded."""
    settings, weights = services.settings, services.weights
    chips = chip(t("models.used", lang, size=megabytes(weights.used_bytes())))
    chips += chip(t("models.offline" if settings.offline else "models.online", lang))
    rows = [(t("models.mirror", lang), settings.hub_endpoint or HUB)]
    if not settings.public:
        rows.insert(0, (t("models.folder", lang), str(weights.folder)))
    hint = "models.hint.public" if settings.public else "models.hint"
    return (
        f'<h2 class="ff-h">{escape(t("models.title", lang))}</h2>'
        f'<p class="ff-hint">{escape(t(hint, lang))}</p><div class="ff-row ff-gap">{chips}</div>'
        f'<details class="ff-details"><summary>{escape(t("models.place", lang))}</summary>'
        f"{cards.table(rows)}</details>"
    )


def rows(services: Services, now: Asking, lang: Lang) -> str:
    """All models: the built-in engine as one card, then one card a model."""
    specs = services.models()
    others = [spec for spec in specs if not spec.embedded]
    more = "".join(row(services, spec, now, lang) for spec in others)
    if not others:
        more = f'<p class="ff-hint ff-gap">{escape(t("models.none", lang))}</p>'
    return f'<div class="ff-rows">{_built_in([s for s in specs if s.embedded], lang)}{more}</div>'


def _built_in(specs: Sequence[ModelSpec], lang: Lang) -> str:
    parts = cards.table(
        [
            (
                model_title(spec.name, spec.title, lang),
                spec.licence,
                f"{spec.vendor}, {spec.year}",
                megabytes(spec.size_bytes),
            )
            for spec in specs
        ]
    )
    kind = licence_chip.strictest(spec.licence_kind for spec in specs)
    return (
        f'<article class="ff-card"><div class="ff-row"><h3 class="ff-h3">'
        f"{escape(t('models.builtin', lang))}</h3>{chip(t('model.ready', lang), 'check', 'ok')}"
        f'</div><p class="ff-hint">{escape(t("models.builtin.advice", lang))}</p>'
        f'<div class="ff-row ff-gap">{chip(megabytes(sum(spec.size_bytes for spec in specs)))}'
        f'{licence_chip.chip(kind, lang)}</div><details class="ff-details"><summary>'
        f"{escape(t('models.parts', lang, n=len(specs)))}</summary>{parts}</details></article>"
    )


def row(services: Services, spec: ModelSpec, now: Asking, lang: Lang) -> str:
    """One model: what it is, where it stands, what it costs, and the one next action."""
    download = services.downloads.of(spec.name)
    state, tone = _state(services, spec, download)
    title = model_title(spec.name, spec.title, lang)
    advice = f'<p class="ff-hint">{escape(spec.advice)}</p>' if spec.advice else ""
    middle = _bar(spec, download, lang) if state == "running" and download else ""
    chips = chip(megabytes(spec.size_bytes)) + licence_chip.chip(spec.licence_kind, lang)
    if not spec.sha256_verified and not spec.embedded:
        chips += chip(t("model.unverified", lang))
    acts, below = "", ""
    if services.settings.public:
        pass
    elif now.licence == spec.name and state != "running":
        below = _dialog(spec, now, lang)
    elif now.copy == spec.name and state not in ("ready", "running"):
        below = _copy_question(services, spec, lang)
    else:
        acts = _actions(services, spec, state, lang)
    return (
        f'<article class="ff-card ff-model" data-model="{escape(spec.name)}">'
        f'<div class="ff-modelmain"><div class="ff-row"><h3 class="ff-h3">{escape(title)} '
        f'<span class="ff-tech">({escape(spec.name)})</span></h3>'
        f"{chip(t(f'model.{state}', lang), DRAWINGS.get(tone, ''), tone)}</div>"
        f'{advice}{middle}<div class="ff-row ff-gap">{chips}</div>'
        f"{_remark(state, download, now, spec, lang)}</div>"
        f'<div class="ff-modelacts">{acts}</div>{below}</article>'
    )


def _state(services: Services, spec: ModelSpec, download: Download | None) -> tuple[str, Tone]:
    if download is not None and download.state == "running":
        return "running", ""
    here = services.weights.state(spec)
    if here == "ready":
        return "ready", "ok"
    if here == "damaged" or (download is not None and download.state == "failed"):
        return "failed", "bad"
    if download is not None and download.state == "cancelled":
        return "stopped", ""
    return "missing", ""


def _actions(services: Services, spec: ModelSpec, state: str, lang: Lang) -> str:
    if state == "ready":
        return ""
    if state == "running":
        return button(t("btn.cancel", lang), "cancel", spec)
    fits = spec.size_bytes <= services.settings.max_upload_mb * 1_000_000
    at_hand = button(t("model.own", lang), "own" if fits else "copy", spec, kind="ff-quiet")
    if services.settings.offline:
        return at_hand
    first = "again" if state == "failed" else "get"
    return button(t(f"model.{first}", lang), first, spec, kind="ff-primary") + at_hand


def _dialog(spec: ModelSpec, now: Asking, lang: Lang) -> str:
    sentence = t(licence_chip.LICENCES[spec.licence_kind].sentence, lang)
    link = (
        f'<a href="{escape(spec.licence_url)}" target="_blank" rel="noopener noreferrer">'
        f"{escape(t('model.licence', lang, name=spec.licence))}</a>"
    )
    need = ""
    if now.remark_on == spec.name and now.remark:
        need = f'<p class="ff-need ff-bad" role="alert">{escape(now.remark)}</p>'
    download = t("model.download", lang, size=megabytes(spec.size_bytes))
    return (
        f'<div class="ff-dialog" role="group" data-for="{escape(spec.name)}" '
        f'aria-label="{escape(t("model.licence.of", lang, model=spec.title))}">'
        f"<p>{escape(t('model.maker', lang, vendor=spec.vendor, year=spec.year))} "
        f"<b>{escape(sentence)}</b></p><p>{link}</p>"
        f'<label class="ff-tick"><input type="checkbox"> {escape(t("model.accept", lang))}</label>'
        f'<div class="ff-row">{button(download, "accept", spec, kind="ff-primary")}'
        f"{button(t('btn.cancel', lang), 'back', spec)}</div>{need}</div>"
    )


def _copy_question(services: Services, spec: ModelSpec, lang: Lang) -> str:
    place = services.weights.place(spec)
    text = t("model.copy", lang, file=place.name)
    return (
        f'<div class="ff-dialog" role="group" data-for="{escape(spec.name)}" '
        f'aria-label="{escape(t("model.own", lang))}"><p>{escape(text)}</p>'
        f"{cards.command(str(place.parent), t('btn.copy', lang), lang)}"
        f'<div class="ff-row ff-gap">'
        f"{button(t('model.copied', lang), 'copied', spec, kind='ff-primary')}"
        f"{button(t('btn.cancel', lang), 'back', spec)}</div></div>"
    )


def _bar(spec: ModelSpec, download: Download, lang: Lang) -> str:
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
        text += " · " + t("model.left", lang, t=duration(max(1.0, round(progress.eta_s)), lang))
    return (
        f'<div class="ff-bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{share}" aria-valuetext="{escape(text)}" '
        f'aria-label="{escape(t("model.bar", lang, model=spec.title))}">'
        f'<i style="width:{share}%"></i></div><p class="ff-hint">{escape(text)}</p>'
    )


def _remark(state: str, download: Download | None, now: Asking, spec: ModelSpec, lang: Lang) -> str:
    if now.remark_on == spec.name and now.remark and not now.licence:
        return cards.notice(now.remark)
    if state != "failed":
        return ""
    if download is not None and download.state == "failed" and download.error is not None:
        error = download.error
        return cards.notice(f"{said(error.message, lang)} {said(error.hint, lang)}".strip())
    return cards.notice(t("model.broken", lang))


def button(text: str, what: str, spec: ModelSpec, *, kind: str = "") -> str:
    """A button of one row; its name for screen readers says which model."""
    return (
        f'<button type="button" class="ff-btn {kind}" data-act="{what}" '
        f'data-name="{escape(spec.name)}" aria-label="{escape(f"{text} {spec.title}")}">'
        f"{escape(text)}</button>"
    )


def megabytes(size: int) -> str:
    """A size in MB, with one decimal below 10."""
    return f"{size / 1e6:.1f} MB" if 0 < size < 10_000_000 else f"{size / 1e6:.0f} MB"
