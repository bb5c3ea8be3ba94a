"""The picture with a numbered button on every face, the preview over it, the working overlay."""

from __future__ import annotations

from html import escape

from facefusion_ui.cards import button
from facefusion_ui.texts import Lang, t
from facefusion_ui.visit import Box, Visit

PILLS = 9
"""With more faces than this the smallest show their number only when pointed at."""


def canvas(visit: Visit, lang: Lang) -> str:
    """The picture and its faces; empty without a picture."""
    scene = visit.scene
    if scene is None:
        return ""
    looking = scene.boxes is None
    boxes = scene.boxes or ()
    with_pill = set(sorted(boxes, key=lambda box: -box.area)[:PILLS])
    faces = "".join(
        _face(number, box, number in visit.chosen, box not in with_pill, lang)
        for number, box in enumerate(boxes, start=1)
    )
    alt = escape(t("canvas.alt", lang, n=len(boxes)))
    dim = " ff-looking" if looking else ""
    return (
        f'<div class="ff-canvas{dim}"><div class="ff-photo" style="--ff-ratio:{scene.ratio:.4f}">'
        f'<img src="{escape(scene.image)}" alt="{alt}">{faces}</div></div>'
    )


def layer(visit: Visit, lang: Lang) -> str:
    """The preview, drawn over the picture and under the faces."""
    scene = visit.scene
    if scene is None or not visit.preview:
        return ""
    return (
        f'<div class="ff-canvas"><div class="ff-photo" style="--ff-ratio:{scene.ratio:.4f}">'
        f'<img src="{escape(visit.preview)}" alt="{escape(t("preview.alt", lang))}"></div></div>'
    )


def overlay(visit: Visit, lang: Lang) -> str:
    """Spinner and sentence; after three seconds (in the style sheet) also a bar and Cancel."""
    if visit.running is None:
        looking = visit.scene is not None and visit.scene.boxes is None
        return _card(t("face.looking", lang), "") if looking else ""
    if len(visit.chosen) == 1:
        text = t("work.image", lang, n=visit.chosen[0])
    else:
        text = t("work.all", lang, n=len(visit.chosen))
    percent = round(visit.running.share * 100)
    bar = (
        f'<div class="ff-slow"><div class="ff-bar" role="progressbar" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent}" aria-label="{escape(t("work.bar", lang))}">'
        f'<i style="width:{percent}%"></i></div>{button(t("btn.cancel", lang), "cancel")}</div>'
    )
    return _card(text, bar)


def _card(text: str, more: str) -> str:
    return (
        f'<div class="ff-workcard"><div class="ff-spin" aria-hidden="true"></div>'
        f"<div>{escape(text)}</div>{more}</div>"
    )


def _face(number: int, box: Box, chosen: bool, tiny: bool, lang: Lang) -> str:
    place = f"left:{box.left:.3%};top:{box.top:.3%};width:{box.width:.3%};height:{box.height:.3%}"
    tick = " ✓" if chosen else ""
    return (
        f'<button type="button" class="ff-face{" ff-tiny" if tiny else ""}" style="{place}" '
        f'data-act="face" data-face="{number}" aria-pressed="{str(chosen).lower()}" '
        f'aria-label="{escape(t("face.name", lang, n=number))}">'
        f'<b aria-hidden="true">{number}{tick}</b></button>'
    )
