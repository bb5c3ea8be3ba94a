"""Loading one model at one provider, and finding out beforehand where that can work.

A provider is tried with a tiny model first: a convolution of 8 × 8 pixels is loaded and run
there. So a fault of the machine is told apart from a fault of one model, and costs no big load.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from core.errors import ProviderError, WeightsDamaged
from core.runtime.native_words import caught_words
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
    failure_reason,
    model_reason,
    no_card,
)
from core.sentences import say
from core.types import ModelSpec

PROBE = base64.b64decode(
    "CAg6lQEKDwoBeAoBdxIBYyIEQ29udgoMCgFjEgF5IgRSZWx1EgVwcm9iZSozCAEIAQgDCAMQASIkAACAPwAAgD8A"
    "AIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/QgF3WhsKAXgSFgoUCAESEAoCCAEKAggBCgIICAoCCAhiGwoBeRIW"
    "ChQIARIQCgIIAQoCCAEKAggGCgIIBkIECgAQDQ=="
)
"""A convolution and a ReLU as an ONNX file; a test makes it anew and compares."""

PROBE_INPUT = np.ones((1, 1, 8, 8), np.float32)


class NotThere(Exception):
    """A model could not be loaded at a provider."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.key)
        self.reason = reason


class Loader:
    """Knows the ONNX Runtime module and which of its providers work on this machine.

    ``runtime`` is the onnxruntime module (tests put another in its place). The processor alone
    is never a reason to try, load or ask anything of a graphics card.
    """

    def __init__(self, machine: Machine, runtime: ModuleType | Any | None = None) -> None:
        self.machine = machine
        self._runtime = runtime
        self._probing = threading.Lock()
        self._probed: dict[str, Reason | None] = {}

    def available(self) -> tuple[str, ...]:
        """ONNX Runtime's names of the providers that this build has."""
        return tuple(self._module().get_available_providers())

    def promising(self) -> tuple[Provider, ...]:
        """Providers besides the processor that this build has and this machine may have."""
        available, card = self.available(), self.machine.nvidia_card()
        return tuple(
            provider
            for provider in PROVIDERS
            if provider is not CPU
            and provider.ort_name in available
            and (card or not provider.nvidia)
        )

    def places(self, asked: str) -> tuple[list[Provider], Reason | None]:
        """Where to load, best first, and why something better is not on the list."""
        if asked == CPU.name:
            return [CPU], None
        places, reason = self._automatic() if asked == "auto" else self._named(BY_NAME[asked])
        while places[0] is not CPU:
            failed = self.probe(places[0])
            if failed is None:
                break
            reason = reason or failed
            places.pop(0)
        return places, reason

    def probe(self, provider: Provider) -> Reason | None:
        """Why nothing runs at ``provider``; None when it works. Tried once, then remembered."""
        with self._probing:
            if provider.name not in self._probed:
                self._probed[provider.name] = self._try(provider)
            return self._probed[provider.name]

    def forget(self) -> None:
        """Try every provider again when it is next needed."""
        with self._probing:
            self._probed.clear()

    def make(self, path: Path, spec: ModelSpec, provider: Provider) -> tuple[Any, dict[str, int]]:
        """A session of the weights at ``path`` and its graph nodes by provider.

        NotThere when it cannot be had at ``provider``. At the processor, which can run all:
        WeightsDamaged when the file is no model, ProviderError when there is no memory.
        """
        if provider is CPU:
            return self._make_on_processor(path, spec)
        failed = self.probe(provider)
        if failed is not None:
            raise NotThere(failed)
        session, words = self._session(str(path), provider, threads=spec.threads)
        if session is None:
            raise NotThere(failure_reason(words, provider, self.machine))
        nodes = _nodes(session)
        if nodes and provider.name not in nodes:
            raise NotThere(model_reason(provider))
        return session, nodes

    def _make_on_processor(self, path: Path, spec: ModelSpec) -> tuple[Any, dict[str, int]]:
        ort = self._module()
        try:
            session = ort.InferenceSession(
                str(path), self._options(CPU, spec.threads), providers=[CPU.ort_name]
            )
        except Exception as cause:
            words = f"{type(cause).__name__} {cause}".lower()
            if "alloc" in words or "memory" in words:
                raise ProviderError(
                    say("err.model_memory", model=spec.title), hint=say("err.model_memory.hint")
                ) from cause
            raise WeightsDamaged(
                say("err.weights", model=spec.title), hint=say("err.weights.hint")
            ) from cause
        return session, _nodes(session)

    def _session(
        self, model: str | bytes, provider: Provider, *, threads: int
    ) -> tuple[Any | None, str]:
        """A session that has landed at ``provider``, or None and what was said about it."""
        ort = self._module()
        wanted = [(row.ort_name, row.options) for row in (provider, *_below(provider))]
        said = ""
        with caught_words() as caught:
            try:
                # Its own fallback would move the session without telling us, now or while running.
                session = ort.InferenceSession(
                    model, self._options(provider, threads), providers=wanted, enable_fallback=0
                )
            except Exception as cause:  # noqa: BLE001 - ONNX Runtime raises its own kinds
                session, said = None, str(cause)
        if session is not None and session.get_providers()[0] == provider.ort_name:
            return session, ""
        return None, "\n".join(words for words in (caught(), said) if words) or "it was not used"

    def _try(self, provider: Provider) -> Reason | None:
        ort = self._module()
        if provider.nvidia and hasattr(ort, "preload_dlls"):
            with caught_words():
                ort.preload_dlls()
        session, words = self._session(PROBE, provider, threads=1)
        if session is None:
            return failure_reason(words, provider, self.machine)
        try:
            session.run(None, {"x": PROBE_INPUT})
        except Exception as cause:  # noqa: BLE001 - ONNX Runtime raises its own kinds
            return failure_reason(str(cause), provider, self.machine)
        return None

    def _options(self, provider: Provider, threads: int) -> Any:
        options = self._module().SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.enable_mem_pattern = not provider.serial  # DirectML does without
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        # A pool of waiting threads would take the second core away from the next small model.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return options

    def _named(self, wanted: Provider) -> tuple[list[Provider], Reason | None]:
        if wanted.ort_name not in self.available():
            return [CPU], absent_reason(wanted, self.machine)
        return [wanted, *_below(wanted)], None

    def _automatic(self) -> tuple[list[Provider], Reason | None]:
        places = [provider for provider in self.promising() if provider.auto]
        if places:
            return [*places, CPU], None
        if self.machine.nvidia_card():
            return [CPU], absent_reason(BY_NAME["cuda"], self.machine)
        return [CPU], no_card(self.machine, asked=False)

    def _module(self) -> Any:
        if self._runtime is None:
            import onnxruntime  # here, because it takes half a second that --help must not cost

            self._runtime = onnxruntime
            if hasattr(onnxruntime, "disable_telemetry_events"):
                onnxruntime.disable_telemetry_events()
        if not hasattr(self._runtime, "get_available_providers"):
            raise ProviderError(say("err.runtime"), hint=say("err.runtime.hint", command=REPAIR))
        return self._runtime


def _below(provider: Provider) -> Sequence[Provider]:
    return [*(BY_NAME[name] for name in provider.below), CPU]


def _nodes(session: Any) -> dict[str, int]:
    """Graph nodes by provider; empty when this build is too old to tell."""
    told = getattr(session, "get_provider_graph_assignment_info", None)
    counts: dict[str, int] = {}
    for group in told() if told else ():
        known = BY_ORT_NAME.get(group.ep_name)
        name = known.name if known else group.ep_name
        counts[name] = counts.get(name, 0) + len(group.get_nodes())
    return counts
