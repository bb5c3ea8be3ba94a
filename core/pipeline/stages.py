"""Wall-clock time by stage."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stages:
    """Adds up milliseconds by stage name; safe to use from several threads."""

    def __init__(self) -> None:
        self._ms: dict[str, float] = {}
        self._guard = threading.Lock()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to ``stage``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - start) * 1000
            with self._guard:
                self._ms[stage] = self._ms.get(stage, 0.0) + spent

    @property
    def ms(self) -> dict[str, float]:
        """Milliseconds by stage, in the order in which the stages were first met."""
        with self._guard:
            return {stage: round(spent, 2) for stage, spent in self._ms.items()}
