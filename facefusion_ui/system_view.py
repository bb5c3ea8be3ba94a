"""How the System tab looks: headline, table of models, machine, storage. Plain HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from core.pipeline.report import ProviderLine
from core.results import DAY_S, Kept, kept
from core.runtime import machine
from core.system import SystemFacts
from facefusion_ui import cards, provider_badge
from facefusion_ui.texts import Lang, model_title, said, t

MACHINE = {"System": "fact.system", "Processor": "prov.cpu", "Memory": "fact.memory_name"}
"""Labels of ``machine.facts`` that are not a graphics card's."""


def told(key: str, lang: Lang, **values: Any) -> str:
    """One line that screen readers hear."""
    return f'<p class="ff-line" role="status">{escape(t(key, lang, **values))}</p>'


def headline(
    lines: Sequence[ProviderLine],
    lang: Lang,
    *,
    facts: SystemFacts | None = None,
    may_change: bool = False,
) -> str:
    """The badge in large, its sentence, and the one thing that helps."""
    word, drawing, tone = provider_badge.chip(lines, lang)
    sentence, advice, command = provider_badge.explain(lines, lang, facts.titles if facts else {})
    parts = [f"<p>{escape(sentence)}</p>"]
    if facts and facts.fault:
        advice = " ".join(said(notice, lang) for notice in facts.fault)
        command = facts.command
    if advice:
        parts.append(f'<p class="ff-hint">{escape(advice)}</p>')
    if command:
        parts.append(cards.command(command, t("system.copy_fix", lang), lang))
    if may_change and facts and facts.case == "cpu_chosen":
        parts.append(
            f'<a class="ff-btn" href="#system-work">{escape(t("system.change", lang))}</a>'
        )
    tint = f" ff-{tone}" if tone else ""
    return (
        f'<h2 class="ff-h">{escape(t("system.title", lang))}</h2>'
        f'<div class="ff-badge{tint}" role="status">{cards.chip(word, drawing, tone)}'
        f"{''.join(parts)}</div>"
    )


def table(facts: SystemFacts, lang: Lang) -> str:
    """Model, where it ran, how quick, why there, and the fix.

    Columns that say nothing, or nothing that the headline has not said, are left out.
    """
    rows = [_cells(line, facts, lang) for line in facts.providers]
    calm = not any(line.fell_back for line in facts.providers)
    columns = [
        name
        for name in ("model", "where", "speed", "why", "fix")
        if name in ("model", "where")
        or (any(row[name] for row in rows) and not (calm and name == "why"))
    ]
    head = "".join(
        f'<th scope="col">{escape(t(f"system.col.{name}", lang))}</th>' for name in columns
    )
    body = "".join(
        "<tr>"
        + f'<th scope="row">{row["model"]}</th>'
        + "".join(
            f'<td data-label="{escape(t(f"system.col.{name}", lang))}">{row[name]}</td>'
            for name in columns[1:]
        )
        + "</tr>"
        for row in rows
    )
    name = escape(t("system.table", lang))
    return (
        f'<table class="ff-table ff-where"><caption>{name}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_total(facts, lang)}"
    )


def _cells(line: ProviderLine, facts: SystemFacts, lang: Lang) -> Mapping[str, str]:
    spent = facts.self_test_ms.get(line.model)
    tone: cards.Tone = "warn" if line.fell_back else "ok" if line.used != "cpu" else ""
    where = cards.chip(
        provider_badge.place(line.used, lang), "ring" if line.used == "cpu" else "dot", tone
    )
    fix = cards.copy_button(t("btn.copy", lang), line.command, lang) if line.command else ""
    return {
        "model": escape(model_title(line.model, facts.titles.get(line.model, line.model), lang)),
        "where": where,
        "speed": "" if spent is None else escape(t("system.ms", lang, ms=f"{spent:.1f}")),
        "why": escape(provider_badge.reason(line, lang)),
        "fix": fix,
    }


def _total(facts: SystemFacts, lang: Lang) -> str:
    if not facts.self_test_ms:
        return ""
    total = sum(facts.self_test_ms.values())
    text = t("system.total", lang, ms=f"{total:.0f}", n=len(facts.self_test_ms))
    return f'<p class="ff-hint">{escape(text)}</p>'


def about(facts: SystemFacts, lang: Lang) -> str:
    """Machine and versions, folded, and the report to copy."""
    rows = [(_label(name, lang), said(value, lang)) for name, value in machine.facts().items()]
    rows += list(facts.versions.items())
    lines = [
        f"{line.model}: {line.asked} -> {line.used} {dict(line.nodes)} {line.reason}".strip()
        for line in facts.providers
    ]
    lines += [f"{name}: {spent} ms" for name, spent in facts.self_test_ms.items()]
    return (
        f'<div class="ff-box"><h2 class="ff-h">{escape(t("system.help", lang))}</h2>'
        f'<div class="ff-row ff-gap">'
        f"{cards.copy_button(t('system.copy', lang), machine.report_text(lines), lang)}"
        f'<span class="ff-hint">{escape(t("system.copy.hint", lang))}</span></div>'
        f'<details class="ff-details"><summary>{escape(t("system.versions", lang))}</summary>'
        f"{cards.table(rows)}</details></div>"
    )


def _label(name: str, lang: Lang) -> str:
    if name in MACHINE:
        return t(MACHINE[name], lang)
    return f"{t('prov.gpu', lang)} {name.rsplit(' ', 1)[-1]}"


def storage(folder: Path, lang: Lang) -> str:
    """How much the results take, and a way to make room."""
    found = kept(folder)
    button = cards.button(t("system.clean", lang), "ask") if found.files else ""
    return (
        f'<h2 class="ff-h">{escape(t("system.storage", lang))}</h2>'
        f'<div class="ff-row ff-gap"><p class="ff-line">{escape(_amount(found, lang))}</p>'
        f"{button}</div>"
    )


def storage_question(folder: Path, lang: Lang) -> str:
    """Which results should go; names how many and how much."""
    old, every = kept(folder, older_than_s=DAY_S), kept(folder)
    choices = [cards.button(t("system.clean.all", lang, amount=_amount(every, lang)), "all")]
    if 0 < old.files < every.files:
        text = t("system.clean.old", lang, amount=_amount(old, lang))
        choices.insert(0, cards.button(text, "old"))
    choices.append(cards.button(t("system.clean.keep", lang), "keep", primary=True))
    return (
        f'<h2 class="ff-h">{escape(t("system.clean.which", lang))}</h2>'
        f'<p class="ff-hint">{escape(t("system.clean.hint", lang))}</p>'
        f'<div class="ff-row ff-gap">{"".join(choices)}</div>'
    )


def _amount(found: Kept, lang: Lang) -> str:
    if not found.files:
        return t("system.empty", lang)
    key = "system.file" if found.files == 1 else "system.files"
    return t(key, lang, n=found.files, size=f"{found.size_bytes / 1e6:.1f} MB")
