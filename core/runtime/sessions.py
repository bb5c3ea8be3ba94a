"""Loaded models: one session per model and provider, shared by all threads.

A session that cannot be had where it was asked for, or stops working there, moves to the next
place and says so in its report. Models that give NaN or a black picture are run once more
elsewhere before they are given up.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import psutil

from core.errors import ProviderError, UnusableOutput, WeightsDamaged
from core.runtime.machine import card_name, install_fault
from core.runtime.providers import (
    BY_NAME,
    BY_ORT_NAME,
    CPU,
    PROVIDERS,
    REPAIR,
    Machine,
    Provider,
    Reason,
    absent_reason,
    check_choice,
    failure_reason,
    no_card,
)
from core.runtime.weights import WeightStore
from core.sentences import say
from core.types import Array, ModelSpec, ProviderReport

log = logging.getLogger(__name__)

FLAT_PICTURE_SPREAD = 1e-4
"""A picture output whose values differ by less than this share of their range shows nothing."""

EXAMPLE_SIDE = 640

_standard_error = threading.Lock()


class LoadedSession:
    """One model at one provider (``core.types.Session``). Threads may share it."""

    def __init__(self, pool: SessionPool, spec: ModelSpec, asked: str) -> None:
        self._pool = pool
        self._spec = spec
        self._guard = threading.RLock()
        self._ort: Any = None
        self._names: tuple[str, ...] = ()
        self._places: list[Provider] = []
        self._report = ProviderReport(model=spec.name, asked=asked, used="", nodes={})
        self._runs = 0
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
            self._places, reason = self._pool.places(self._report.asked)
            self._settle(reason)

    def example_inputs(self) -> dict[str, Array]:
        """Grey input of the model's real shapes; open dimensions are 1, picture sides 640."""
        self.load()
        made: dict[str, Array] = {}
        for wanted in self._ort.get_inputs():
            shape = [
                side if isinstance(side, int) else (1 if position == 0 else EXAMPLE_SIDE)
                for position, side in enumerate(wanted.shape)
            ]
            made[wanted.name] = np.full(shape, 0.5, np.float32)
        return made

    def drop(self) -> None:
        """Give the memory back; the next run loads again."""
        with self._guard:
            self._ort = None

    def run(self, inputs: Mapping[str, Array], *, picture: str | None = None) -> dict[str, Array]:
        """See ``core.types.Session.run``."""
        while True:
            with self._guard:
                self.load()
                ort, names = self._ort, self._names
                self._runs += 1
            self.last_used_s = time.monotonic()
            try:
                values = ort.run(None, dict(inputs))
            except Exception as cause:  # noqa: BLE001 - ONNX Runtime raises its own kinds
                self._move(ort, str(cause), cause)
                continue
            out = dict(zip(names, values, strict=True))
            fault = _fault(out, picture)
            if fault is None:
                return out
            self._move_for_output(ort, fault)

    def _settle(self, reason: Reason | None) -> None:
        while self._places:
            provider = self._places[0]
            try:
                self._ort, nodes = self._pool.make(self._spec, provider)
            except _NotThere as failed:
                reason = reason if reason and reason.alarming else failed.reason
                self._places.pop(0)
                continue
            self._names = tuple(output.name for output in self._ort.get_outputs())
            self._say(provider, nodes, reason)
            return
        raise ProviderError(
            say("err.provider", model=self._spec.title),
            hint=reason.advice if reason and reason.advice else say("err.provider.hint"),
        )

    def _say(self, provider: Provider, nodes: dict[str, int], reason: Reason | None) -> None:
        settled = replace(
            self._report,
            used=provider.name,
            nodes=nodes,
            device=provider.title,
            card=self._pool.card(),
        )
        self._report = _with_reason(settled, reason)

    def _move(self, broken: Any, words: str, cause: Exception) -> None:
        with self._guard:
            if self._ort is not broken:
                return  # another thread has moved it already
            provider = self._places[0]
            log.warning("%s stopped working on %s: %s", self._spec.name, provider.name, words)
            if provider is CPU:
                raise ProviderError(
                    say("err.run", model=self._spec.title), hint=say("err.provider.hint")
                ) from cause
            self._places.pop(0)
            self._ort = None
            self._settle(failure_reason(words, provider, self._pool.machine))
            self._report = replace(self._report, frame=self._runs)

    def _move_for_output(self, used: Any, fault: str) -> None:
        with self._guard:
            if self._ort is not used:
                return
            provider = self._places[0]
            log.warning("%s gave %s on %s", self._spec.name, fault, provider.name)
            if len(self._places) < 2:
                raise UnusableOutput(say("err.output", model=self._spec.title))
            self._places.pop(0)
            self._ort = None
            self._settle(Reason(key="output", reason=say("gpu.output", provider=provider.title)))
            self._report = replace(self._report, frame=self._runs)


class _NotThere(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.key)
        self.reason = reason


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
        self._weights = weights
        self._provider = check_choice(provider)
        self._runtime = runtime
        self._guard = threading.Lock()
        self._sessions: dict[tuple[str, str], LoadedSession] = {}
        self._broken: dict[str, Reason] = {}
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

    @property
    def count(self) -> int:
        """How many models hold memory."""
        with self._guard:
            return sum(session.loaded for session in self._sessions.values())

    def reports(self, provider: str | None = None) -> tuple[ProviderReport, ...]:
        """The report of every session that has run, of one asked-for provider or of all."""
        with self._guard:
            sessions = [
                session
                for (_, asked), session in self._sessions.items()
                if provider in (None, asked) and session.report.used
            ]
        return tuple(session.report for session in sessions)

    def outlook(self, provider: str | None = None) -> tuple[ProviderReport, ...]:
        """The reports so far; before anything ran, where the first model would be tried."""
        asked = provider or self._provider
        known = self.reports(asked)
        if known:
            return known
        places, reason = self.places(asked)
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
        available, card = self._available(), self.machine.nvidia_card()
        return tuple(
            provider
            for provider in PROVIDERS
            if provider is not CPU
            and provider.ort_name in available
            and (card or not provider.nvidia)
        )

    def card(self) -> str:
        """The graphics card as its driver calls it; empty when there is none or nobody tells."""
        return card_name() if self.machine.nvidia_card() else ""

    def unload(self) -> int:
        """Drop every model; about how many MB that gave back."""
        before = psutil.Process().memory_info().rss
        with self._guard:
            for session in self._sessions.values():
                session.drop()
        gc.collect()
        return max(0, int((before - psutil.Process().memory_info().rss) / 1e6))

    def install_fault(self) -> Reason | None:
        """What is wrong with the installed ONNX Runtime, if anything."""
        return install_fault(self.machine, self._available())

    def check_again(self) -> None:
        """Forget what failed before, so that the next load tries the graphics card again."""
        with self._guard:
            self._broken.clear()
            self._sessions.clear()

    def sweep(self, idle_s: float) -> int:
        """Drop models that nobody used for ``idle_s``; how many."""
        with self._guard:
            idle = [
                session
                for session in self._sessions.values()
                if session.loaded and time.monotonic() - session.last_used_s >= idle_s
            ]
        for session in idle:
            session.drop()
        return len(idle)

    def places(self, asked: str) -> tuple[list[Provider], Reason | None]:
        """Where to try, best first, and why something better is not on the list."""
        if asked == CPU.name:
            return [CPU], None
        available = self._available()
        if asked != "auto":
            wanted = BY_NAME[asked]
            if wanted.ort_name not in available:
                return [CPU], absent_reason(wanted, self.machine)
            if asked in self._broken:
                return [CPU], self._broken[asked]
            return [wanted, CPU], None
        return self._automatic(available)

    def _automatic(self, available: tuple[str, ...]) -> tuple[list[Provider], Reason | None]:
        card = self.machine.nvidia_card()
        wanted = [
            provider
            for provider in PROVIDERS
            if provider.auto
            and provider is not CPU
            and provider.ort_name in available
            and (card or not provider.nvidia)
        ]
        places = [provider for provider in wanted if provider.name not in self._broken]
        if places:
            return [*places, CPU], None
        if wanted:
            return [CPU], self._broken[wanted[0].name]
        if card:
            return [CPU], absent_reason(BY_NAME["cuda"], self.machine)
        return [CPU], no_card(asked=False)

    def make(self, spec: ModelSpec, provider: Provider) -> tuple[Any, dict[str, int]]:
        """A new session at ``provider`` and its graph nodes by provider; for LoadedSession."""
        path = self._weights.require(spec)
        ort = self._module()
        options = ort.SessionOptions()
        options.intra_op_num_threads = spec.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        # A pool of waiting threads would take the second core away from the next small model.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        wanted = [(provider.ort_name, provider.options)]
        if provider is CPU:
            try:
                session = ort.InferenceSession(str(path), options, providers=[CPU.ort_name])
            except Exception as cause:
                raise WeightsDamaged(
                    say("err.weights", model=spec.title), hint=say("err.weights.hint")
                ) from cause
            return session, _nodes(session)
        wanted.append((CPU.ort_name, {}))
        with _grabbed_standard_error() as grabbed:
            try:
                if provider.nvidia and hasattr(ort, "preload_dlls"):
                    ort.preload_dlls()
                session = ort.InferenceSession(str(path), options, providers=wanted)
                words = ""
            except Exception as cause:  # noqa: BLE001 - ONNX Runtime raises its own kinds
                session, words = None, str(cause)
        if session is not None and session.get_providers()[0] == provider.ort_name:
            return session, _nodes(session)
        words = words or _error_words(grabbed()) or "it was not used"
        reason = failure_reason(words, provider, self.machine)
        log.warning("%s cannot use %s: %s", spec.name, provider.name, words)
        self._broken[provider.name] = reason
        raise _NotThere(reason)

    def _available(self) -> tuple[str, ...]:
        return tuple(self._module().get_available_providers())

    def _module(self) -> Any:
        if self._runtime is None:
            import onnxruntime  # here, because it takes half a second that --help must not cost

            self._runtime = onnxruntime
        if not hasattr(self._runtime, "get_available_providers"):
            raise ProviderError(say("err.runtime"), hint=say("err.runtime.hint", command=REPAIR))
        return self._runtime

    def _watch(self, idle_s: int) -> None:
        while True:
            time.sleep(min(60, idle_s))
            self.sweep(idle_s)


def _with_reason(report: ProviderReport, reason: Reason | None) -> ProviderReport:
    if reason is None:
        return replace(report, reason="", reason_key="", advice="", command="", fell_back=False)
    return replace(
        report,
        reason=reason.reason,
        reason_key=reason.key,
        advice=reason.advice,
        command=reason.command,
        fell_back=reason.alarming,
    )


def _nodes(session: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in session.get_provider_graph_assignment_info():
        known = BY_ORT_NAME.get(group.ep_name)
        name = known.name if known else group.ep_name
        counts[name] = counts.get(name, 0) + len(group.get_nodes())
    return counts


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


@contextmanager
def _grabbed_standard_error() -> Iterator[Any]:
    """Catch what native code writes to file descriptor 2; calls of the value give the text."""
    # ONNX Runtime's Python part prints its troubles to standard output, which belongs to --json.
    printed = redirect_stdout(io.StringIO())
    with _standard_error, tempfile.TemporaryFile() as caught, printed:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        words: list[str] = []

        def read() -> str:
            return "".join(words)

        try:
            yield read
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            words.append(caught.read().decode("utf-8", "replace"))


def _error_words(text: str) -> str:
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    found = re.findall(r"with error: (.*)", plain) or re.findall(r"\[E:[^\]]*\]?(.*)", plain)
    return str(found[0]).strip() if found else plain.strip()
