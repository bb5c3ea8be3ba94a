"""The image tab: a face, a picture, one button.

Components and wiring only. What they do is in ``image_desk``, how it looks in ``image_view``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from core.services import Services
from facefusion_ui import cards, controls, forms
from facefusion_ui.image_desk import ImageDesk
from facefusion_ui.image_view import draw
from facefusion_ui.texts import Lang, t
from facefusion_ui.uploads import untouched_photos, untouched_picture
from facefusion_ui.visit import Visit

EXAMPLES = Path(__file__).resolve().parent.parent / "static" / "examples"
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "queue": True}
TO_RESULT = """() => { if (window.innerWidth <= 820) setTimeout(() => {
  if (!document.querySelector('#headline h3, #panel .ff-panel')) return;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  document.querySelector('.ff-stage').scrollIntoView({behavior: calm ? 'auto' : 'smooth'});
}, 120) }"""
"""On a phone the result is above the button: go there once it has been drawn."""


def build(services: Services, lang: Lang) -> gr.State:
    """Make the tab inside the current ``gr.Tab``; the state that holds the visitor's desk."""
    known = controls.controls(lang)
    desk = ImageDesk(services, lang, known)
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="ff-grid"):
        with gr.Column(elem_classes="ff-src ff-box", min_width=0):
            _box_photos(parts, lang)
        with gr.Column(elem_classes="ff-stage ff-box", min_width=0):
            _box_picture(parts, lang)
        with gr.Column(elem_classes="ff-go ff-box", min_width=0):
            widgets = _box_swap(parts, lang, known)
    return _wire(desk, parts, widgets)


def _box_photos(parts: dict[str, Any], lang: Lang) -> None:
    gr.HTML(cards.heading(1, t("step1", lang), t("step1.hint", lang)), apply_default_css=False)
    parts["photos"] = gr.Gallery(
        label=t("step1.label", lang),
        show_label=False,
        interactive=True,
        sources=["upload", "webcam", "clipboard"],
        file_types=["image"],
        columns=4,
        fit_columns=False,
        height=112,
        object_fit="cover",
        allow_preview=False,
        buttons=[],
        elem_id="photos",
    )
    untouched_photos(parts["photos"])
    parts["photo_notes"] = gr.HTML("", apply_default_css=False)


def _box_picture(parts: dict[str, Any], lang: Lang) -> None:
    with gr.Row(elem_classes="ff-headrow"):
        parts["head"] = gr.HTML(
            cards.heading(2, t("step2", lang), t("step2.hint", lang)),
            apply_default_css=False,
            js_on_load=cards.PICK,
        )
        parts["view"] = gr.Radio(
            choices=[(t(f"cmp.{view}", lang), view) for view in ("original", "compare", "result")],
            value="compare",
            label=t("cmp.label", lang),
            show_label=False,
            container=False,
            interactive=True,
            visible=False,
            elem_classes="ff-seg ff-view",
            elem_id="view",
        )
        parts["change"] = gr.Button(
            t("change.pic", lang), size="sm", visible=False, elem_classes="ff-small", min_width=0
        )
    parts["pic"] = gr.Image(
        label=t("step2", lang),
        show_label=False,
        interactive=True,
        type="filepath",
        sources=["upload", "webcam", "clipboard"],
        webcam_options=gr.WebcamOptions(mirror=False),
        height=420,
        buttons=[],
        elem_id="pic",
    )
    untouched_picture(parts["pic"])
    parts["example"] = gr.Button(t("example", lang), size="sm", elem_classes="ff-textbtn")
    with gr.Column(elem_classes="ff-canvasbox", min_width=0):
        parts["canvas"] = gr.HTML(
            "", visible=False, apply_default_css=False, js_on_load=cards.PICK, elem_id="canvas"
        )
        parts["layer"] = gr.HTML(
            "", visible=False, apply_default_css=False, elem_classes="ff-layer", elem_id="layer"
        )
        parts["slider"] = gr.ImageSlider(
            visible=False,
            interactive=False,
            show_label=False,
            label=t("cmp.alt", lang),
            max_height=460,
            buttons=[],
            elem_id="slider",
        )
        parts["work"] = gr.HTML(
            "",
            visible=False,
            apply_default_css=False,
            js_on_load=cards.PICK,
            elem_classes="ff-work",
            elem_id="work",
        )
    parts["panel"] = gr.HTML(
        "", visible=False, apply_default_css=False, js_on_load=cards.PICK, elem_id="panel"
    )
    parts["stage_notes"] = gr.HTML("", apply_default_css=False)
    with gr.Column(visible=False, elem_classes="ff-result", min_width=0) as parts["result"]:
        parts["headline"] = gr.HTML("", apply_default_css=False, elem_id="headline")
        parts["download"] = gr.DownloadButton(
            t("download", lang),
            variant="primary",
            visible=False,
            elem_classes="ff-download",
            elem_id="download",
        )
        parts["card"] = gr.HTML("", apply_default_css=False, elem_id="card")
    parts["spoken"] = gr.HTML("", apply_default_css=False)


def _box_swap(
    parts: dict[str, Any], lang: Lang, known: tuple[controls.Control, ...]
) -> dict[str, gr.components.Component]:
    gr.HTML(cards.heading(3, t("step3", lang)), apply_default_css=False)
    parts["preset"] = gr.Radio(
        choices=[(t(f"preset.{name}", lang), name) for name in forms.PRESETS],
        value="balanced",
        label=t("preset.label", lang),
        show_label=False,
        container=False,
        interactive=True,
        elem_classes="ff-seg",
        elem_id="preset",
    )
    parts["preset_hint"] = gr.HTML(
        f'<p class="ff-hint">{t("preset.balanced.hint", lang)}</p>',
        apply_default_css=False,
        js_on_load=cards.PICK,
    )
    widgets = {
        control.name: controls.make(control) for control in known if control.place == "visible"
    }
    with gr.Accordion(t("tune", lang), open=False, elem_classes="ff-tune", elem_id="tune"):
        for control in known:
            if control.place == "folded":
                widgets[control.name] = controls.make(control)
        with gr.Accordion(t("tune.more", lang), open=False, elem_classes="ff-tune"):
            for control in known:
                if control.place == "more":
                    widgets[control.name] = controls.make(control)
            widgets["output.label"] = gr.Checkbox(
                label=t("label", lang), info=t("label.help", lang), interactive=True
            )
            widgets["output.format"] = gr.Dropdown(
                choices=[
                    (t("format.same", lang) if form == "same" else form.upper(), form)
                    for form in forms.FORMATS
                ],
                value="same",
                label=t("format", lang),
                interactive=True,
                filterable=False,
            )
    parts["consent"] = gr.Checkbox(
        label=t("consent", lang),
        info=t("consent.help", lang),
        interactive=True,
        elem_classes="ff-consent",
        elem_id="consent",
    )
    with gr.Column(elem_classes="ff-bigrow", min_width=0):
        parts["go"] = gr.Button(
            t("go", lang), variant="primary", elem_classes="ff-big", elem_id="go"
        )
        parts["need"] = gr.HTML("", apply_default_css=False, elem_id="need")
    return widgets


def _wire(
    desk: ImageDesk, parts: dict[str, Any], widgets: dict[str, gr.components.Component]
) -> gr.State:
    board = Board(desk, parts, widgets)
    visit = gr.State(lambda: board.start())  # a bound method would be copied with all it holds

    def on(
        trigger: Callable[..., Any], change: Callable[..., Any], *inputs: Any, **how: Any
    ) -> Any:
        """``change(visit, *values)`` when ``trigger`` fires, then draw."""

        def handle(now: Visit, *values: Any) -> list[Any]:
            change(now, *values)
            return board.show(now)

        return trigger(handle, [visit, *inputs], board.outputs, **QUIET, **how)

    def preview(now: Visit) -> list[Any]:
        return board.show(now) if desk.preview(now) else board.nothing

    def then_preview(event: Any) -> None:
        event.then(preview, visit, board.outputs, trigger_mode="multiple", **QUIET)

    def put_picture(now: Visit, path: str | None) -> Iterator[list[Any]]:
        board.told(now, "pic", path)
        yield from board.follow(now, desk.put_picture(now, path))

    def run(now: Visit) -> Iterator[list[Any]]:
        yield from board.follow(now, desk.run(now))

    def pick(now: Visit, event: gr.EventData) -> list[Any]:
        asked = event._data
        act = asked.get("act")
        if act == "face":
            desk.pick(now, int(asked["face"]), more=bool(asked.get("more")))
        elif act == "all":
            desk.pick_all(now)
        elif act == "other":
            desk.clear(now)
        elif act == "reset":
            desk.set_preset(now, now.preset)
        elif act == "cancel":
            desk.cancel(now)
        return board.show(now)

    def example(now: Visit) -> Iterator[list[Any]]:
        desk.put_photos(now, (str(EXAMPLES / "astronaut.png"),))
        yield from board.follow(now, desk.put_picture(now, str(EXAMPLES / "grace_hopper.jpg")))

    def put_photos(now: Visit, paths: list[str]) -> None:
        board.told(now, "photos", list(paths))
        desk.put_photos(now, tuple(paths))

    def agree(now: Visit, ticked: bool) -> None:
        board.told(now, "consent", ticked)
        desk.agree(now, ticked)

    def look(now: Visit, view: Any) -> None:
        board.told(now, "view", view)
        now.view = view

    then_preview(on(parts["photos"].change, put_photos, parts["photos"]))
    then_preview(parts["pic"].change(put_picture, [visit, parts["pic"]], board.outputs, **QUIET))
    for name in ("canvas", "head", "preset_hint", "panel", "work"):
        then_preview(
            parts[name].select(pick, visit, board.outputs, trigger_mode="multiple", **QUIET)
        )
    then_preview(on(parts["consent"].input, agree, parts["consent"], trigger_mode="always_last"))
    then_preview(on(parts["preset"].input, desk.set_preset, parts["preset"]))
    for name, widget in widgets.items():

        def set_option(now: Visit, value: Any, name: str = name) -> None:
            board.told(now, f"widget {name}", value)
            desk.set_option(now, name, value)

        then_preview(on(widget.input, set_option, widget, trigger_mode="always_last"))
    on(parts["view"].input, look, parts["view"], trigger_mode="always_last")
    on(parts["change"].click, desk.clear)
    then_preview(parts["example"].click(example, visit, board.outputs, **QUIET))
    retry = parts["panel"].retry(run, visit, board.outputs, concurrency_limit=4, **QUIET)
    go = parts["go"].click(run, visit, board.outputs, concurrency_limit=4, **QUIET)
    for event in (retry, go):
        event.then(None, js=TO_RESULT)
    return visit


class Board:
    """Draws a visit: sends the browser only what differs from what it was told last."""

    def __init__(
        self, desk: ImageDesk, parts: dict[str, Any], widgets: dict[str, gr.components.Component]
    ) -> None:
        self._desk, self._widgets = desk, widgets
        first = self._wanted(desk.start())
        self.outputs = [*(parts[name] for name in first if name in parts), *widgets.values()]
        self.nothing = [gr.skip() for _ in self.outputs]
        for name, props in first.items():
            if isinstance(parts.get(name), gr.HTML):
                parts[name].value = props["value"]

    def start(self) -> Visit:
        """A clean desk, as the page shows it when it opens."""
        visit = self._desk.start()
        visit.shown = self._wanted(visit)
        return visit

    def told(self, visit: Visit, name: str, value: Any) -> None:
        """The visitor moved something themselves: the browser knows already."""
        visit.shown[name] = visit.shown.get(name, {}) | {"value": value}

    def show(self, visit: Visit, *, again: dict[str, set[str]] | None = None) -> list[Any]:
        """One update for each of ``outputs``: what differs from what the browser was told last.

        ``again`` names properties to repeat; those that are sent now are added to it.
        """
        wanted, before = self._wanted(visit), visit.shown
        visit.shown = wanted
        again = {} if again is None else again
        updates = []
        for name, props in wanted.items():
            names = again.setdefault(name, set())
            names |= _changed(props, before.get(name, {}))
            sent = {key: value for key, value in props.items() if key in names}
            updates.append(gr.update(**sent) if sent else gr.skip())
        return updates

    def follow(self, visit: Visit, steps: Iterator[None]) -> Iterator[list[Any]]:
        """Draw after each step.

        Gradio's page may drop an update when the next one comes at once, so each repeats what the
        ones before it said.
        """
        again: dict[str, set[str]] = {}
        yield self.nothing
        for _ in steps:
            yield self.show(visit, again=again)

    def _wanted(self, visit: Visit) -> dict[str, dict[str, Any]]:
        drawn = draw(visit, self._desk.lang, self._desk.controls)
        return drawn | {f"widget {name}": {"value": visit.options[name]} for name in self._widgets}


def _changed(wanted: dict[str, Any], before: dict[str, Any]) -> set[str]:
    return {
        name
        for name, value in wanted.items()
        if name not in before or not _same(value, before[name])
    }


def _same(one: Any, other: Any) -> bool:
    """Pairs of pictures are compared by identity, everything else by value."""
    return one is other or (not isinstance(one, tuple) and one == other)
