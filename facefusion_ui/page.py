"""The page: theme, top bar, tabs in order, footer; and how it is served."""

from __future__ import annotations

import logging
from html import escape
from pathlib import Path

import gradio as gr
from starlette.middleware import Middleware

from core.results import keep_for
from core.services import Services
from facefusion_ui import provider_badge
from facefusion_ui.cards import PICK, icon
from facefusion_ui.language import PATHS, TAGS, LanguageChoice
from facefusion_ui.tabs import image, models, system
from facefusion_ui.texts import LANGS, Lang, t
from facefusion_ui.theme import make_theme

STATIC = Path(__file__).resolve().parent / "static"
CACHE_SWEEP_S = 3600
DAY_S = 86_400
MARK = (
    '<svg class="ff-mark" viewBox="0 0 24 24" fill="none" stroke-width="2.4" aria-hidden="true">'
    '<circle cx="8.8" cy="12" r="6.6" stroke="currentColor"/>'
    '<circle cx="15.2" cy="12" r="6.6" stroke="var(--ff-text)" opacity=".75"/></svg>'
)
NATIVE = {"en": "EN", "zh": "中文"}

log = logging.getLogger(__name__)


def build_page(services: Services) -> gr.Blocks:
    """The page in every language; ``facefusion_ui.language`` picks one per visitor."""
    kept_s = services.settings.keep_hours * 3600 if services.settings.public else DAY_S
    blocks = gr.Blocks(
        title=t("app.name", "en"),
        analytics_enabled=False,
        delete_cache=(CACHE_SWEEP_S, kept_s),
    )
    with blocks:
        _frame(services, "en")
    with blocks.route(NATIVE["zh"], PATHS["zh"], show_in_navbar=False):
        _frame(services, "zh")
    return blocks


def launch(
    services: Services, blocks: gr.Blocks, *, wait: bool = True, browser: bool = False
) -> str:
    """Serve ``blocks``; the address. With ``wait`` it returns when the server ends."""
    settings = services.settings
    settings.outputs.mkdir(parents=True, exist_ok=True)
    if settings.public:
        keep_for(settings.outputs, settings.keep_hours)
    blocks.queue(default_concurrency_limit=None, max_size=64)
    _, address, _ = blocks.launch(
        server_name=settings.host,
        server_port=settings.port or None,
        inbrowser=browser,
        prevent_thread_lock=not wait,
        quiet=True,
        show_error=False,
        theme=make_theme(),
        css_paths=[STATIC / "style.css", STATIC / "tabs.css"],
        head=f"<script>{(STATIC / 'page.js').read_text(encoding='utf-8')}</script>",
        i18n=_gradio_words(),
        favicon_path=str(STATIC / "favicon.png"),
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        pwa=False,
        share=False,
        max_file_size=f"{settings.max_upload_mb}mb",
        allowed_paths=[str(settings.outputs), str(STATIC / "examples")],
        app_kwargs={"middleware": [Middleware(LanguageChoice)]},
    )
    return address


def _frame(services: Services, lang: Lang) -> None:
    top = gr.HTML(
        lambda: _top(services, lang, "auto"),
        apply_default_css=False,
        js_on_load=PICK,
        elem_id="topbar",
    )
    with gr.Tabs(elem_id="tabs") as tabs:
        with gr.Tab(t("tab.image", lang), id="image"):
            visit = image.build(services, lang)
        with gr.Tab(t("tab.models", lang), id="models"):
            models.build(services, lang)
        with gr.Tab(t("tab.system", lang), id="system") as tab:
            system.build(
                services,
                lang,
                visit,
                tab=tab,
                top=top,
                draw_top=lambda now: _top(services, lang, now.provider),
            )
    foot = gr.HTML(_foot(services, lang), apply_default_css=False, js_on_load=PICK)
    for part, target in ((top, "system"), (foot, "models")):
        part.select(
            lambda target=target: gr.Tabs(selected=target),
            outputs=tabs,
            queue=False,
            show_progress="hidden",
            api_visibility="private",
        )


def _top(services: Services, lang: Lang, provider: str) -> str:
    settings = services.settings
    words = t("pill.offline" if settings.offline else "pill.local", lang)
    if settings.public:
        words = t("pill.public", lang, h=settings.keep_hours)
    languages = "".join(
        f'<a href=".{PATHS[other]}?lang={other}" lang="{TAGS[other]}" hreflang="{TAGS[other]}"'
        f"{' aria-current=true' if other == lang else ''}>{NATIVE[other]}</a>"
        for other in LANGS
    )
    return (
        f'<header class="ff-top"><h1 class="ff-name">{MARK}{escape(t("app.name", lang))}</h1>'
        f'<span class="ff-pill ff-ok ff-offline">{icon("check")}<span>{escape(words)}</span></span>'
        f"{provider_badge.pill(services, lang, provider)}"
        f'<nav class="ff-lang" aria-label="{escape(t("lang.label", lang))}">{languages}</nav>'
        f'<span hidden id="ff-words" data-original="{escape(t("cmp.original", lang))}" '
        f'data-result="{escape(t("cmp.result", lang))}" '
        f'data-upload="{escape(t("drop.click", lang))}"></span></header>'
    )


def _foot(services: Services, lang: Lang) -> str:
    settings = services.settings
    place = (
        t("foot.public", lang, h=settings.keep_hours) if settings.public else t("foot.local", lang)
    )
    line = " · ".join((t("foot.independent", lang), place, t("foot.marked", lang)))
    return (
        f'<footer class="ff-foot"><p>{escape(line)} · <button type="button" class="ff-link" '
        f'data-act="licences">{escape(t("foot.licences", lang))}</button></p>'
        f"<p>{escape(t('consent.more', lang))}</p>"
        f"<p>{escape(t('foot.credits', lang))}</p>"
        "</footer>"
    )


def _gradio_words() -> gr.I18n:
    keys = {
        "upload_text.drop_gallery": "drop.photo",
        "upload_text.drop_image": "drop.pic",
        "upload_text.click_to_upload": "drop.click",
        "common.webcam": "drop.webcam",
        "image.use_webcam": "drop.webcam",
    }
    words = {lang: {key: t(own, lang) for key, own in keys.items()} for lang in LANGS}
    return gr.I18n(**{"en": words["en"], "zh": words["zh"], "zh-CN": words["zh"]})
