"""Where the work ran, in words: the pill in the top bar, the chip on a result, the headline.

Shape and word say it, not colour alone: a dot for the graphics card, a ring for the processor,
half a ring for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from core.pipeline.report import ProviderLine
from core.services import Services
from core.system import BadgeCase, badge_case
from facefusion_ui.cards import Tone, icon
from facefusion_ui.texts import Lang, said, t


@dataclass(frozen=True, slots=True)
class Look:
    """Word, drawing and tone of one case."""

    word: str
    drawing: str
    tone: Tone


LOOKS: dict[BadgeCase, Look] = {
    "gpu": Look("prov.gpu", "dot", "ok"),
    "cpu_no_card": Look("prov.cpu", "ring", ""),
    "cpu_chosen": Look("prov.own", "ring", ""),
    "fell_back": Look("prov.fell", "ring", "warn"),
    "mixed": Look("prov.mixed", "half", "warn"),
    "switched": Look("prov.switched", "half", "warn"),
}


def pill(services: Services, lang: Lang) -> str:
    """The button in the top bar that opens System."""
    lines = [ProviderLine.of(report) for report in services.sessions.outlook()]
    word, drawing, tone = chip(lines, lang)
    text = t("pill.ready", lang, provider=word)
    tint = f" ff-{tone}" if tone == "warn" else ""
    return (
        f'<button type="button" class="ff-pill{tint}" data-act="system" '
        f'title="{escape(t("pill.open", lang))}">'
        f'{icon(drawing)}<span class="ff-pill-text">{escape(text)}</span></button>'
    )


def chip(lines: Sequence[ProviderLine], lang: Lang) -> tuple[str, str, Tone]:
    """Word, drawing and tone for what ``lines`` tell."""
    look = LOOKS[badge_case(lines)]
    return t(look.word, lang), look.drawing, look.tone


def place(used: str, lang: Lang) -> str:
    """Processor or graphics card."""
    return t("prov.cpu" if used == "cpu" else "prov.gpu", lang)


def reason(line: ProviderLine, lang: Lang) -> str:
    """Why it ran there, with what helps."""
    notices = [line.reason_notice, line.advice_notice]
    return " ".join(said(notice, lang) for notice in notices if notice)


def explain(lines: Sequence[ProviderLine], lang: Lang) -> tuple[str, str, str]:
    """What ``lines`` mean in one sentence, what helps, and the command for it (or nothing)."""
    case = badge_case(lines)
    worst = next((line for line in lines if line.fell_back), None)
    why = said(worst.reason_notice, lang) if worst and worst.reason_notice else ""
    on_card = [line for line in lines if line.used != "cpu"]
    sentence = {
        "gpu": lambda: t("system.gpu", lang, card=on_card[0].device),
        "cpu_no_card": lambda: t("system.no_card", lang),
        "cpu_chosen": lambda: t("system.own", lang),
        "fell_back": lambda: t("system.fell", lang, reason=why),
        "mixed": lambda: t("system.mixed", lang, a=len(on_card), b=len(lines), reason=why),
        "switched": lambda: t("system.switched", lang, reason=why),
    }[case]()
    if worst is None:
        return sentence, "", ""
    advice = said(worst.advice_notice, lang) if worst.advice_notice else ""
    return sentence, advice, worst.command
