"""Where the work ran, in words: the pill in the top bar, the chip on a result, the headline.

Shape and word say it, not colour alone: a dot for the graphics card, a ring for the processor,
half a ring for both. What is not known (the card's name, how much slower it was) is not said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from core.pipeline.report import ProviderLine
from core.services import Services
from core.system import BadgeCase, badge_case
from facefusion_ui.cards import Tone, icon
from facefusion_ui.texts import Lang, model_title, said, t

NAMED_AT_MOST = 3
"""More models than this are counted instead of named."""


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


def pill(services: Services, lang: Lang, provider: str = "auto") -> str:
    """The button in the top bar that opens System; ``provider`` is the visitor's choice."""
    asked = None if provider == "auto" else provider
    lines = [ProviderLine.of(report) for report in services.sessions.outlook(asked)]
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
    """Why it ran there. What helps is said once, by :func:`explain`, beside its command."""
    return said(line.reason_notice, lang) if line.reason_notice else ""


def explain(
    lines: Sequence[ProviderLine], lang: Lang, titles: Mapping[str, str] | None = None
) -> tuple[str, str, str]:
    """What ``lines`` mean in one sentence, what helps, and the command for it (or nothing).

    ``titles`` are models' names in plain words, for the case that only some fell back.
    """
    case = badge_case(lines)
    worst = next((line for line in lines if line.fell_back), None)
    sentence = _sentence(case, lines, worst, lang, titles or {})
    helpful = worst or next((line for line in lines if line.advice), None)
    if helpful is None:
        return sentence, "", ""
    advice = said(helpful.advice_notice, lang) if helpful.advice_notice else ""
    return sentence, advice, helpful.command


def _sentence(
    case: BadgeCase,
    lines: Sequence[ProviderLine],
    worst: ProviderLine | None,
    lang: Lang,
    titles: Mapping[str, str],
) -> str:
    on_card = [line for line in lines if line.used != "cpu"]
    elsewhere = [line for line in lines if line.used == "cpu"]
    if worst is None:
        if case != "gpu":
            return t("system.own" if case == "cpu_chosen" else "system.no_card", lang)
        card = on_card[0].card or on_card[0].device
        if not elsewhere:
            return t("system.gpu", lang, card=card)
        return t("system.gpu_design", lang, card=card, n=len(elsewhere))
    if worst.reason_key == "no_card":
        return t("system.asked_no_card", lang)
    why = _inside(said(worst.reason_notice, lang)) if worst.reason_notice else ""
    card = worst.card or t("system.card", lang)
    if case == "mixed":
        fallen = [line for line in lines if line.fell_back]
        names = _names([line.model for line in fallen], titles, lang)
        return t("system.mixed", lang, a=len(on_card), b=len(lines), names=names, reason=why)
    return t(
        "system.switched" if case == "switched" else "system.fell", lang, card=card, reason=why
    )


def _names(models: Sequence[str], titles: Mapping[str, str], lang: Lang) -> str:
    if len(models) > NAMED_AT_MOST or any(model not in titles for model in models):
        return t("system.others", lang, n=len(models))
    return t("system.and", lang).join(model_title(model, titles[model], lang) for model in models)


def _inside(sentence: str) -> str:
    """``sentence`` as it goes on after a colon: 'The CUDA libraries …' → 'the CUDA libraries …'."""
    if sentence[1:2].islower() or sentence[1:2] == " ":
        return sentence[:1].lower() + sentence[1:]
    return sentence
