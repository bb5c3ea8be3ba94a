"""Where the work ran, in words: the pill in the top bar and the chip on a result."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from core.pipeline.report import ProviderLine
from core.services import Services
from facefusion_ui.cards import Tone, icon
from facefusion_ui.texts import Lang, t


def pill(services: Services, lang: Lang) -> str:
    """The button in the top bar that opens System."""
    text = t("pill.ready", lang, provider=t("prov.cpu", lang))
    return (
        f'<button type="button" class="ff-pill" data-act="system" title="{escape(t("pill.open", lang))}">'
        f'{icon("ring")}<span class="ff-pill-text">{escape(text)}</span></button>'
    )


def chip(lines: Sequence[ProviderLine], lang: Lang) -> tuple[str, str, Tone]:
    """Word, icon and tone for a result."""
    used = {line.used for line in lines}
    if any(line.fell_back for line in lines):
        return t("prov.fell", lang), "ring", "warn"
    if used <= {"cpu"}:
        return t("prov.cpu", lang), "ring", ""
    return t("prov.gpu", lang), "dot", "ok"


def place(used: str, lang: Lang) -> str:
    """Processor or graphics card."""
    return t("prov.cpu" if used == "cpu" else "prov.gpu", lang)


def reason(line: ProviderLine, lang: Lang) -> str:
    """Why there."""
    return line.reason if lang == "en" else ""


def explain(lines: Sequence[ProviderLine], lang: Lang) -> tuple[str, str, str]:
    """Sentence, advice, command."""
    return "", "", ""
