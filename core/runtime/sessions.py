"""Loaded models: one session per model and provider, shared by all threads.

A session that cannot be had where it was asked for, or stops working there, moves to the next
place and says so in its report. Models that give NaN or a black picture are run once more
elsewhere before they are given up.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import psutil

from core.errors import ProviderError, UnusableOutput
from core.runtime.loader import Loader, NotThere
from core.runtime.machine import card_name, cards, install_fault
from core.runtime.providers import (
    CPU,
    Machine,
    Provider,
    Reason,
    check_choice,
    failure_reason,
    output_reason,
)
from core.runtime.weights import WeightStore
from core.sentences import say
from core.types import Array, ModelSpec, ProviderReport

log = logging.getLogger(__name__)

FLAT_PICTURE_SPREAD = 1e-4
"""A picture output whose values differ by less than this share of their range shows nothing."""

EXAMPLE_SIDE = 640


class LoadedSession:
    """One model at one provider (``core.types.Session``). Threads may share it."""

    def __init__(self, pool: SessionPool, spec: ModelSpec, asked: str) -> None:
        self._pool = pool
        self._spec = spec
        self._guard = threading.RLock()
        self._turn = threading.Lock()
        self._ort: Any = None
        self._names: tuple[str, ...] = ()
        self._places: list[Provider] = []
        self._fresh = ProviderReport(model=spec.name, asked=asked, used="", nodes={})
        self._report = self._fresh
        self._runs = 0
        self._elsewhere_helps = True
        self.last_used_s = time.monotonic()

    @property
    def report(self) -> ProviderReport:
        """Where the model runs now, and why there."""
        return self._report

    @property
    def loaded(self) -> bool:
        """Whether it holds memory."""
        return self._ort is not None

    def load(self) -> None:
        """Load now, at the best place that works. ProviderError when there is none."""
        with self._guard:
            if self._ort is not None:
                return
            self.last_used_s = time.monotonic()
            self._runs, self._elsewhere_helps = 0, True
            self._places, reason = self._pool.loader.places(self._fresh.asked)
            self._settle(reason)

    def example_inputs(self) -> dict[str, Array]:
        """Grey input of the model's real shapes; open dimensions are 1, picture sides 640."""
        with self._guard:
            self.load()
            wanted = self._ort.get_inputs()
        return {
            one.name: np.full(
                [
                    side if isinstance(side, int) else (1 if position == 0 else EXAMPLE_SIDE)
                    for position, side in enumerate(one.shape)
                ],
                0.5,
                np.float32,
            )
            for one in wanted
        }

    def drop(self) -> None:
        """Give the memory back; the next run loads again."""
        with self._guard:
            self._ort = None

    def forget(self) -> None:
        """:meth:`drop`, and what was said about the place it ran at."""
        with self._guard:
            self._ort, self._report = None, self._fresh

    def run(self, inputs: Mapping[str, Array], *, picture: str | None = None) -> dict[str, Array]:
        """See ``core.types.Session.run``."""
        while True:
            with self._guard:
                self.load()
                ort, names, provider = self._ort, self._names, self._places[0]
                self._runs += 1
                run_number = self._runs
            self.last_used_s = time.monotonic()
            try:
                with self._in_turn(provider):
                    values = ort.run(None, dict(inputs))
            except Exception as cause:  # noqa: BLE001 - ONNX Runtime raises its own kinds
                self._move(ort, cause, run_number)
                continue
            out = dict(zip(names, values, strict=True))
            fault = _fault(out, picture)
            if fault is None:
                return out
            better = self._elsewhere(ort, fault, run_number, inputs, picture)
            if better is not None:
                return better

    def _in_turn(self, provider: Provider) -> AbstractContextManager[Any]:
        return self._turn if provider.serial else nullcontext()

    def _settle(self, reason: Reason | None) -> None:
        while self._places:
            provider = self._places[0]
            try:
                self._ort, nodes = self._pool.make(self._spec, provider)
            except NotThere as failed:
                log.warning("%s cannot use %s: %s", self._spec.name, provider.name, failed)
                reason = reason if reason and reason.alarming else failed.reason
                self._places.pop(0)
                continue
            self._names = tuple(output.name for output in self._ort.get_outputs())
            settled = replace(
                self._fresh,
                used=provider.name,
                nodes=nodes,
                device=provider.title,
                card=self._pool.card(),
            )
            self._report = _with_reason(settled, reason)
            return
        raise ProviderError(
            say("err.provider", model=self._spec.title),
            hint=reason.advice if reason and reason.advice else say("err.provider.hint"),
        )

    def _move(self, broken: Any, cause: Exception, run_number: int) -> None:
        """Go to the next place because a run raised; ProviderError at the last one."""
        with self._guard:
            if self._ort is not broken:
                return  # another thread has moved it already, or it was dropped meanwhile
            provider = self._places[0]
            log.warning("%s stopped working on %s: %s", self._spec.name, provider.name, cause)
            if provider is CPU:
                raise ProviderError(
                    say("err.run", model=self._spec.title), hint=say("err.provider.hint")
                ) from cause
            self._places.pop(0)
            self._ort = None
            self._settle(failure_reason(str(cause), provider, self._pool.machine))
            self._report = replace(self._report, frame=run_number)

    def _elsewhere(
        self,
        used: Any,
        fault: str,
        run_number: int,
        inputs: Mapping[str, Array],
        picture: str | None,
    ) -> dict[str, Array] | None:
        """The outputs of the next place that gives usable ones, where the model then stays.

        When no place does, the picture is at fault: UnusableOutput, and the model stays where it
        is. None when another thread has moved it already.
        """
        with self._guard:
            if self._ort is not used:
                return None
            provider = self._places[0]
            log.warning("%s gave %s on %s", self._spec.name, fault, provider.name)
            before = (self._ort, self._names, list(self._places), self._report)
            while len(self._places) > 1 and self._elsewhere_helps:
                self._places.pop(0)
                try:
                    self._settle(output_reason(provider))
                    values = self._ort.run(None, dict(inputs))
                except Exception as cause:  # noqa: BLE001 - nor does the next place help
                    log.warning("%s cannot be tried elsewhere: %s", self._spec.name, cause)
                    break
                out = dict(zip(self._names, values, strict=True))
                if _fault(out, picture) is None:
                    self._report = replace(self._report, frame=run_number)
                    return out
            self._ort, self._names, self._places, self._report = before
            self._elsewhere_helps = False
            raise UnusableOutput(say("err.output", model=self._spec.title))


class SessionPool:
    """Gives sessions; loads each once; frees idle ones.

    ``runtime`` is the onnxruntime module (tests put another in its place); ``machine`` answers
    what graphics card there is.
    """

    def __init__(
        self,
        weights: WeightStore,
        *,
        provider: str = "auto",
        idle_unload_s: int = 0,
        runtime: ModuleType | Any | None = None,
        machine: Machine | None = None,
    ) -> None:
        self.machine = machine or Machine()
        self.loader = Loader(self.machine, runtime)
        self._weights = weights
        self._provider = check_choice(provider)
        self._guard = threading.Lock()
        self._sessions: dict[tuple[str, str], LoadedSession] = {}
        if idle_unload_s:
            threading.Thread(
                target=self._watch, args=(idle_unload_s,), name="idle-models", daemon=True
            ).start()

    def open(self, spec: ModelSpec, provider: str | None = None) -> LoadedSession:
        """The session of ``spec``; loaded at the first run or by ``load``.

        WeightsMissing when the weights are not on this computer.
        """
        asked = check_choice(provider or self._provider)
        self._weights.require(spec)
        with self._guard:
            return self._sessions.setdefault((spec.name, asked), LoadedSession(self, spec, asked))

    def make(self, spec: ModelSpec, provider: Provider) -> tuple[Any, dict[str, int]]:
        """A new session at ``provider`` and its graph nodes by provider; for LoadedSession."""
        return self.loader.make(self._weights.require(spec), spec, provider)

    @property
    def count(self) -> int:
        """How many models hold memory."""
        return sum(session.loaded for session in self._all())

    def reports(self, provider: str | None = None) -> tuple[ProviderReport, ...]:
        """The report of every session that has run, of one asked-for provider or of all."""
        known = [session.report for session in self._all()]
        return tuple(one for one in known if provider in (None, one.asked) and one.used)

    def outlook(self, provider: str | None = None) -> tuple[ProviderReport, ...]:
        """The reports so far; before anything ran, where a tiny model lands."""
        asked = provider or self._provider
        known = self.reports(asked)
        if known:
            return known
        places, reason = self.loader.places(asked)
        expected = ProviderReport(
            model="",
            asked=asked,
            used=places[0].name,
            nodes={},
            device=places[0].title,
            card=self.card(),
        )
        return (_with_reason(expected, reason),)

    def offered(self) -> tuple[Provider, ...]:
        """Providers besides the processor that this build has and this machine may have."""
        return self.loader.promising()

    def card(self) -> str:
        """The graphics card as its driver calls it; empty when there is none or nobody tells."""
        return card_name() if self.machine.nvidia_card() else ""

    def unload(self) -> int:
        """Drop every model; about how many MB that gave back, of memory and card together."""
        on_card = any(one.loaded and one.report.used != CPU.name for one in self._all())
        before = _held_mb(on_card=on_card)
        for session in self._all():
            session.drop()
        _give_back()
        return max(0, round(before - _held_mb(on_card=on_card)))

    def install_fault(self) -> Reason | None:
        """What is wrong with the installed ONNX Runtime, if anything."""
        return install_fault(self.machine, self.loader.available())

    def check_again(self) -> None:
        """Forget what failed before, so that the next load tries the graphics card again."""
        self.loader.forget()
        for session in self._all():
            session.forget()

    def sweep(self, idle_s: float) -> int:
        """Drop models that nobody used for ``idle_s``; how many."""
        idle = [
            session
            for session in self._all()
            if session.loaded and time.monotonic() - session.last_used_s >= idle_s
        ]
        for session in idle:
            session.drop()
        if idle:
            _give_back()
        return len(idle)

    def _all(self) -> tuple[LoadedSession, ...]:
        with self._guard:
            return tuple(self._sessions.values())

    def _watch(self, idle_s: int) -> None:
        while True:
            time.sleep(min(60, idle_s))
            self.sweep(idle_s)


def _with_reason(report: ProviderReport, reason: Reason | None) -> ProviderReport:
    if reason is None:
        return report
    return replace(
        report,
        reason=reason.reason,
        reason_key=reason.key,
        advice=reason.advice,
        command=reason.command,
        fell_back=reason.alarming,
    )


def _fault(out: Mapping[str, Array], picture: str | None) -> str | None:
    for name, value in out.items():
        if np.issubdtype(value.dtype, np.floating) and not np.isfinite(value).all():
            return f"values that are no numbers in {name}"
    if picture is None:
        return None
    shown = out[picture]
    spread = float(np.ptp(shown))
    if spread <= FLAT_PICTURE_SPREAD * max(1.0, float(np.abs(shown).max())):
        return "a picture of one colour"
    return None


def _held_mb(*, on_card: bool) -> float:
    held = float(psutil.Process().memory_info().rss) / 1e6
    if on_card:
        held += sum(card.memory_mb - card.free_mb for card in cards())
    return held


def _give_back() -> None:
    """Hand freed memory to the system; glibc keeps small pieces unless it is asked."""
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
