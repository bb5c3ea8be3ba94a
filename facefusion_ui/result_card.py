"""What was done: headline with a count, chips, notices, folded details."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from core.pipeline.report import RenderReport
from facefusion_ui import provider_badge
from facefusion_ui.cards import Tone, chip, command, icon, notices, table
from facefusion_ui.texts import TEXTS, Lang, model_title, said, t
from facefusion_ui.visit import Done


def headline(done: Done, lang: Lang) -> str:
    """Icon and sentence; 'done' only when something changed."""
    tone: Tone = "ok" if done.report.frames_changed else "warn"
    drawing = icon("check" if done.report.frames_changed else "warn")
    return f'<h3 class="ff-done ff-{tone}">{drawing}<span>{escape(spoken(done, lang))}</span></h3>'


def spoken(done: Done, lang: Lang) -> str:
    """The headline's sentence."""
    report = done.report
    if not report.frames_changed:
        reasons = [n for n in report.notices if n.key.startswith("none.")]
        told = [n for n in reasons if n.key != "none.image"]
        return said(told[0], lang) if told else t("none.title", lang)
    if report.faces_changed < done.asked:
        return t("done.part", lang, a=report.faces_changed, b=done.asked)
    if report.faces_changed == 1 and report.changed_numbers:
        return t("done.image", lang, n=report.changed_numbers[0])
    return t("done.images", lang, n=report.faces_changed)


def body(done: Done, lang: Lang, *, told: Sequence[str] = ()) -> str:
    """Chips, up to three amber notices that nobody was told yet, details."""
    report = done.report
    said_already = {spoken(done, lang), *told}
    remarks = [
        text
        for text in (said(n, lang) for n in report.notices if n.key != "none.image")
        if text not in said_already
    ]
    return (
        f'<div class="ff-row">{_chips(report, lang)}</div>'
        f"{notices(remarks)}{_details(report, lang)}"
    )


def _chips(report: RenderReport, lang: Lang) -> str:
    shown = [
        chip(duration(report.elapsed_s, lang), "clock"),
        chip(*provider_badge.chip(report.providers, lang)),
        chip(*_engine(report, lang)),
    ]
    if report.provenance is not None:
        shown.append(chip(t("mark", lang), "tag"))
    return "".join(shown)


def _engine(report: RenderReport, lang: Lang) -> tuple[str, str, Tone]:
    kinds = {model.licence_kind for model in report.models}
    worst = next((kind for kind in ("unknown", "private") if kind in kinds), "open")
    text = t("chip.engine", lang, engine=t("engine", lang), licence=t(_SHORT[worst], lang))
    return (text, "", "") if worst == "open" else (text, "warn", "warn")


_SHORT = {
    "open": "lic.open.short",
    "private": "lic.private.short",
    "unknown": "lic.unknown.short",
}


def duration(seconds: float, lang: Lang) -> str:
    """0.4 s, 12 s, 2 min 5 s."""
    if seconds >= 90:
        return t("time.min", lang, m=int(seconds // 60), s=int(seconds % 60))
    return t("time.s", lang, t=f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}")


def _details(report: RenderReport, lang: Lang) -> str:
    parts = [
        table(_steps(report, lang), caption=t("details.steps", lang)),
        table(_where(report, lang), caption=t("details.where", lang)),
        table(
            (
                (model_title(model.name, model.title, lang), model.licence)
                for model in report.models
            ),
            caption=t("details.models", lang),
        ),
        _fix(report, lang),
    ]
    if report.output is not None:
        parts.append(table(_file(report, lang), caption=t("details.file", lang)))
    if report.provenance is not None:
        sidecar = report.provenance.sidecar
        more = t("mark.sidecar", lang, name=sidecar.name) if sidecar else ""
        parts.append(f'<p class="ff-hint">{escape(t("mark.help", lang))} {escape(more)}</p>')
    return (
        f'<details class="ff-details"><summary>{escape(t("details", lang))}</summary>'
        f"{''.join(parts)}</details>"
    )


def _steps(report: RenderReport, lang: Lang) -> list[tuple[str, ...]]:
    rows = [
        (_stage(name, lang), _milliseconds(spent, lang)) for name, spent in report.stage_ms.items()
    ]
    return [*rows, (t("stage.total", lang), _milliseconds(report.elapsed_s * 1000, lang))]


def _stage(name: str, lang: Lang) -> str:
    key = f"stage.{name}"
    return t(key, lang) if key in TEXTS else name


def _milliseconds(spent: float, lang: Lang) -> str:
    return t("time.s", lang, t=f"{spent / 1000:.2f}")


def _where(report: RenderReport, lang: Lang) -> list[tuple[str, ...]]:
    titles = {model.name: model.title for model in report.models}
    return [
        (
            model_title(line.model, titles.get(line.model, line.model), lang),
            provider_badge.place(line.used, lang),
            provider_badge.reason(line, lang),
        )
        for line in report.providers
    ]


def _file(report: RenderReport, lang: Lang) -> list[tuple[str, ...]]:
    facts = report.output
    assert facts is not None
    size = f"{facts.bytes / 1_000_000:.2f} MB"
    return [
        (t("file.name", lang), facts.path.name),
        (t("file.size", lang), f"{facts.width} × {facts.height} · {facts.format} · {size}"),
        (t("file.sum", lang), facts.sha256),
    ]


def _fix(report: RenderReport, lang: Lang) -> str:
    sentence, advice, fix = provider_badge.explain(report.providers, lang)
    if not fix and not advice:
        return ""
    shown = command(fix, t("btn.copy", lang), lang) if fix else ""
    return f'<p class="ff-hint">{escape(sentence)} {escape(advice)}</p>{shown}'
