"""Downloads that go on while the page is closed: one thread a model, state to be asked for."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import AppError, Cancelled
from core.runtime.weights import Progress, WeightStore
from core.types import ModelSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Download:
    """How far one download is. ``error`` explains ``failed``."""

    state: Literal["running", "done", "failed", "cancelled"]
    progress: Progress
    error: AppError | None = None


class Downloads:
    """Starts, watches and stops downloads."""

    def __init__(self, weights: WeightStore) -> None:
        self._weights = weights
        self._guard = threading.Lock()
        self._states: dict[str, Download] = {}
        self._stops: dict[str, threading.Event] = {}

    def start(self, spec: ModelSpec, *, accept_licence: bool, again: bool = False) -> None:
        """Begin in the background; nothing happens when it runs already."""
        with self._guard:
            known = self._states.get(spec.name)
            if known is not None and known.state == "running":
                return
            self._states[spec.name] = Download("running", Progress(0, spec.size_bytes, 0.0, None))
            stop = self._stops[spec.name] = threading.Event()
        threading.Thread(
            target=self._work,
            args=(spec, accept_licence, again, stop),
            name=f"download-{spec.name}",
            daemon=True,
        ).start()

    def cancel(self, name: str) -> None:
        """Stop; what was fetched is kept for the next try."""
        with self._guard:
            if name in self._stops:
                self._stops[name].set()

    def of(self, name: str) -> Download | None:
        """The last known state; None when nothing was started."""
        with self._guard:
            return self._states.get(name)

    @property
    def running(self) -> bool:
        """Whether any download is on its way."""
        with self._guard:
            return any(state.state == "running" for state in self._states.values())

    def _work(
        self, spec: ModelSpec, accept_licence: bool, again: bool, stop: threading.Event
    ) -> None:
        def moved(progress: Progress) -> None:
            with self._guard:
                self._states[spec.name] = replace(self._states[spec.name], progress=progress)

        try:
            self._weights.fetch(
                spec,
                accept_licence=accept_licence,
                progress=moved,
                cancelled=stop.is_set,
                again=again,
            )
        except Cancelled:
            self._end(spec, "cancelled")
        except AppError as error:
            log.warning("Download of %s failed: %s", spec.name, error)
            self._end(spec, "failed", error)
        else:
            self._end(spec, "done")

    def _end(
        self,
        spec: ModelSpec,
        state: Literal["done", "failed", "cancelled"],
        error: AppError | None = None,
    ) -> None:
        with self._guard:
            self._states[spec.name] = replace(self._states[spec.name], state=state, error=error)
