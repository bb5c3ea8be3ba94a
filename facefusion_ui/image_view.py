"""How the image tab looks for a given :class:`Visit`: properties by component name."""

from __future__ import annotations

from html import escape
from typing import Any

from facefusion_ui import cards, result_card
from facefusion_ui.canvas import canvas, layer, overlay
from facefusion_ui.controls import Control
from facefusion_ui.forms import preset_values
from facefusion_ui.texts import Lang, t
from facefusion_ui.visit import Visit

Props = dict[str, Any]


def draw(visit: Visit, lang: Lang, known: tuple[Control, ...]) -> dict[str, Props]:
    """Everything on the tab that depends on the visit."""
    done, problem, scene = visit.done, visit.problem, visit.scene
    compare = done is not None and done.report.output is not None and visit.view != "original"
    picture = scene is not None and problem is None
    return {
        "photos": {"value": list(visit.photos)},
        "photo_notes": {"value": cards.notices(visit.photo_remarks, most=1)},
        "head": {"value": _head(visit, lang)},
        "view": {"visible": done is not None and done.pair is not None, "value": visit.view},
        "change": {"visible": scene is not None or problem is not None},
        "pic": {"visible": scene is None and problem is None, "value": visit.picture},
        "example": {"visible": scene is None and problem is None},
        "canvas": {"value": canvas(visit, lang), "visible": picture and not compare},
        "layer": {
            "value": layer(visit, lang),
            "visible": picture and not compare and bool(visit.preview) and done is None,
        },
        "slider": _slider(visit, shown=picture and compare),
        "work": {
            "value": overlay(visit, lang),
            "visible": picture,
        },
        "panel": {
            "value": cards.panel(problem, lang, _actions(visit, lang)) if problem else "",
            "visible": problem is not None,
        },
        "stage_notes": {"value": cards.notices(visit.remarks) if picture and not done else ""},
        "result": {"visible": done is not None},
        "headline": {"value": result_card.headline(done, lang) if done else ""},
        "download": {
            "visible": bool(done and done.report.output),
            "value": str(done.report.output.path) if done and done.report.output else None,
        },
        "card": {"value": result_card.body(done, lang, told=visit.photo_remarks) if done else ""},
        "spoken": {"value": _spoken(visit, lang)},
        "consent": {"value": visit.consent},
        "preset_hint": {"value": _preset_hint(visit, lang, known)},
        "go": {
            "value": t("again" if done or visit.stale else "go", lang),
            "variant": "secondary" if done else "primary",
        },
        "need": {"value": _need(visit, lang)},
    }


def _head(visit: Visit, lang: Lang) -> str:
    if visit.done is not None and visit.done.pair is not None:
        hints = {
            "original": "step2.original.hint",
            "compare": "step2.result.hint",
            "result": "step2.only.hint",
        }
        return cards.heading(2, t("step2.result", lang), t(hints[visit.view], lang))
    if visit.problem is not None or visit.scene is None:
        return cards.heading(2, t("step2", lang), t("step2.hint", lang))
    if visit.scene.boxes is None:
        return cards.heading(2, t("step2", lang), t("face.looking", lang))
    link = _everyone(visit, lang)
    return cards.heading(2, t("step2", lang), _faces(visit, lang), extra=link)


def _faces(visit: Visit, lang: Lang) -> str:
    count = len(visit.scene.boxes or ()) if visit.scene else 0
    if count == 1:
        return t("face.one" if visit.chosen else "face.one.off", lang)
    if not visit.chosen:
        return t("face.none", lang, n=count)
    if len(visit.chosen) == count:
        return t("face.everyone", lang, n=count)
    if len(visit.chosen) > 1:
        return t("face.several", lang, n=count, k=", ".join(map(str, visit.chosen)))
    return t("face.many", lang, n=count, k=visit.chosen[0])


def _everyone(visit: Visit, lang: Lang) -> str:
    count = len(visit.scene.boxes or ()) if visit.scene else 0
    if count < 2 or len(visit.chosen) == count:
        return ""
    return (
        f' <button type="button" class="ff-link" data-act="all">{escape(t("face.all", lang))}'
        "</button>"
    )


def _slider(visit: Visit, *, shown: bool) -> Props:
    done = visit.done
    if not shown or done is None:
        return {"visible": False}
    middle = round(min(95.0, max(5.0, done.middle * 100)), 1)
    places = {"compare": middle, "original": 100, "result": 0}
    return {
        "visible": True,
        "value": done.pair,
        "slider_position": places[visit.view],
    }


def _actions(visit: Visit, lang: Lang) -> tuple[str, ...]:
    problem = visit.problem
    if problem is None:
        return ()
    other = cards.button(
        t("pick.other", lang), "other", primary=problem.kind != "error" or visit.scene is None
    )
    again = cards.button(t("btn.retry", lang), "retry", event="retry", primary=True)
    return (again, other) if problem.kind == "error" and visit.scene is not None else (other,)


def _spoken(visit: Visit, lang: Lang) -> str:
    text = result_card.spoken(visit.done, lang) if visit.done else ""
    return f'<div class="ff-sr" aria-live="polite">{escape(text)}</div>'


def _preset_hint(visit: Visit, lang: Lang, known: tuple[Control, ...]) -> str:
    plain_hint, timed_hint = _PRESET_HINTS[visit.preset]
    text = t(plain_hint, lang)
    if visit.seconds is not None:
        text = t(timed_hint, lang, t=result_card.duration(visit.seconds, lang))
    plain = preset_values(visit.preset, known)
    changed = any(visit.options.get(name, value) != value for name, value in plain.items())
    reset = (
        f' {escape(t("preset.changed", lang))} · <button type="button" class="ff-link" '
        f'data-act="reset">{escape(t("preset.reset", lang))}</button>'
        if changed
        else ""
    )
    return f'<p class="ff-hint">{escape(text)}{reset}</p>'


_PRESET_HINTS = {
    "fast": ("preset.fast.hint", "preset.fast.timed"),
    "balanced": ("preset.balanced.hint", "preset.balanced.timed"),
}
"""Before and after a first run has shown how long it takes here."""


def _need(visit: Visit, lang: Lang) -> str:
    missing = visit.missing
    if missing:
        tone = " ff-bad" if visit.pressed_early else ""
        listed = " · ".join(t(key, lang) for key in missing)
        role = ' role="alert"' if visit.pressed_early else ""
        return f'<p class="ff-need{tone}"{role}>{escape(t("need", lang, list=listed))}</p>'
    if visit.cancelled:
        return f'<p class="ff-need" role="status">{escape(t("cancelled", lang))}</p>'
    if visit.preview and visit.done is None and visit.problem is None:
        return f'<p class="ff-need">{cards.icon("eye")} {escape(t("preview.hint", lang))}</p>'
    return f'<p class="ff-need">{cards.icon("check")} {escape(t("need.none", lang))}</p>'
