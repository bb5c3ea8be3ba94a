"""The one place where errors become messages on screen.

An ``AppError`` says itself what is wrong and what to do. Anything else is a fault of ours: it is
logged with its traceback under a short reference, and only the reference is shown.
"""

from __future__ import annotations

import logging
import platform
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from core.config import VERSION
from core.errors import AppError, Cancelled, NoFaceFound, Refused
from facefusion_ui.texts import Lang, said, t

T = TypeVar("T")
log = logging.getLogger(__name__)

Kind = Literal["error", "refused", "noface"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What a panel says. ``details`` hold no picture, no path and no name of a person."""

    kind: Kind
    title: str
    body: str
    ref: str = ""
    details: str = ""


def attempt(work: Callable[[], T], lang: Lang) -> T | Problem:
    """The outcome of ``work``, or what to tell the visitor. ``Cancelled`` passes through."""
    try:
        return work()
    except Cancelled:
        raise
    except AppError as error:
        return known(error, lang)
    except Exception as error:
        return unknown(error, lang)


def known(error: AppError, lang: Lang) -> Problem:
    """A panel for an error that explains itself."""
    message, hint = said(error.message, lang), said(error.hint, lang)
    if isinstance(error, NoFaceFound):
        if getattr(error.message, "key", "") == "noface.pic":
            return Problem("noface", t("noface.title", lang), t("noface.body", lang))
        return Problem("noface", message, hint)
    if isinstance(error, Refused):
        return Problem("refused", message, hint)
    ref = _reference()
    log.info("%s: %s", ref, type(error).__name__, exc_info=error)
    return Problem(
        "error", t("err.title", lang), f"{message} {hint}".strip(), ref, _details(error, ref)
    )


def unknown(error: Exception, lang: Lang) -> Problem:
    """A panel for a fault of ours; the traceback goes to the log only."""
    ref = _reference()
    log.error("%s: unexpected", ref, exc_info=error)
    return Problem("error", t("err.title", lang), t("err.unknown", lang), ref, _details(error, ref))


def _reference() -> str:
    return secrets.token_hex(2).upper()


def _details(error: Exception, ref: str) -> str:
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return f"FaceFusion UI {VERSION}, {system}, ref {ref}: {type(error).__name__}"
