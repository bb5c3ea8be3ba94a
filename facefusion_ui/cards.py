"""Plain HTML pieces: icons, chips, notices, state panels. Every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Literal

from facefusion_ui.boundary import Problem
from facefusion_ui.texts import Lang, t

Tone = Literal["", "ok", "warn", "bad"]

ICONS: Mapping[str, str] = {
    "check": '<path d="M4 12.5l5 5L20 6.5"/>',
    "ring": '<circle cx="12" cy="12" r="8"/>',
    "dot": '<circle cx="12" cy="12" r="7" fill="currentColor"/>',
    "half": '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 000 16z" fill="currentColor"/>',
    "clock": '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.5 2"/>',
    "tag": '<path d="M12 3H4v8l9.5 9.5 8-8z"/><circle cx="8" cy="7.5" r="1.2"/>',
    "warn": '<path d="M12 3.5L22 20.5H2z"/><path d="M12 10v4.5M12 17.6v.2"/>',
    "cross": '<circle cx="12" cy="12" r="9"/><path d="M9 9l6 6M15 9l-6 6"/>',
    "eye": '<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"/>'
    '<circle cx="12" cy="12" r="3"/>',
    "down": '<path d="M12 4v11M7 11l5 5 5-5M5 20h14"/>',
}

PICK = """
element.addEventListener('click', e => {
  const b = e.target.closest('[data-act]');
  if (!b) return;
  const more = e.shiftKey || e.ctrlKey || e.metaKey ? '1' : '';
  trigger(b.dataset.event === 'retry' ? 'retry' : 'select', {...b.dataset, more});
})
"""
"""``js_on_load`` of own HTML: a click on ``[data-act]`` becomes a ``select`` event."""


def icon(name: str) -> str:
    """A small line drawing that takes the colour of the text; says nothing to screen readers."""
    return (
        '<svg class="ff-icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        'stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">'
        f"{ICONS[name]}</svg>"
    )


def chip(text: str, icon_name: str = "", tone: Tone = "") -> str:
    """A rounded label; the tone is a colour, so the icon or the word must say the same."""
    drawing = icon(icon_name) if icon_name else ""
    tint = f" ff-{tone}" if tone else ""
    return f'<span class="ff-chip{tint}">{drawing}<span>{escape(text)}</span></span>'


def notice(text: str) -> str:
    """An amber line."""
    return f'<p class="ff-notice">{icon("warn")}<span>{escape(text)}</span></p>'


def notices(texts: Iterable[str], *, most: int = 3) -> str:
    """Amber lines, each text once, at most ``most``."""
    return "".join(notice(text) for text in list(dict.fromkeys(texts))[:most])


def heading(number: int, title: str, hint: str = "", *, extra: str = "") -> str:
    """The numbered heading of a box. ``extra`` is HTML that follows the hint."""
    below = f'<p class="ff-hint">{escape(hint)}{extra}</p>' if hint or extra else ""
    return (
        f'<h2 class="ff-h"><span class="ff-n" aria-hidden="true">{number}</span>'
        f"{escape(title)}</h2>{below}"
    )


def button(text: str, act: str, *, event: str = "select", primary: bool = False) -> str:
    """A real button whose click becomes ``event`` with this ``act`` (see :data:`PICK`)."""
    kind = " ff-primary" if primary else ""
    return (
        f'<button type="button" class="ff-btn{kind}" data-act="{escape(act)}" '
        f'data-event="{escape(event)}">{escape(text)}</button>'
    )


def copy_button(text: str, copied: str, lang: Lang) -> str:
    """Puts ``copied`` on the clipboard; works without the server."""
    return (
        f'<button type="button" class="ff-btn" data-copy="{escape(copied)}" '
        f'data-copied="{escape(t("btn.copied", lang))}">{escape(text)}</button>'
    )


def panel(problem: Problem, lang: Lang, actions: Iterable[str] = ()) -> str:
    """A state panel: what is the matter, what to do, a way on. ``actions`` are buttons (HTML)."""
    tone, drawing = ("bad", "cross") if problem.kind == "error" else ("warn", "warn")
    role = "alert" if problem.kind == "error" else "status"
    ref = f" ({t('err.ref', lang, ref=problem.ref)})" if problem.ref else ""
    body = f"{problem.body}{ref}".strip()
    details = copy_button(t("btn.details", lang), problem.details, lang) if problem.ref else ""
    return (
        f'<div class="ff-panel ff-{tone}" role="{role}">{icon(drawing)}'
        f"<h3>{escape(problem.title)}</h3><p>{escape(body)}</p>"
        f'<div class="ff-acts">{"".join(actions)}{details}</div></div>'
    )


def command(text: str, label: str, lang: Lang) -> str:
    """A command to type, with a button that copies it."""
    return f'<div class="ff-code"><code>{escape(text)}</code>{copy_button(label, text, lang)}</div>'


def table(rows: Iterable[tuple[str, ...]], *, caption: str = "") -> str:
    """Rows of texts; the first cell of each names it."""
    head = f"<caption>{escape(caption)}</caption>" if caption else ""
    lines = "".join(
        "<tr>"
        + f'<th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f'<table class="ff-table">{head}<tbody>{lines}</tbody></table>'
