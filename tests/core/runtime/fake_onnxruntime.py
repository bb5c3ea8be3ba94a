"""An onnxruntime that can be told how to misbehave."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.runtime.providers import Machine
from core.types import ModelSpec


@dataclass
class FakeRuntime:
    """Stands in for the onnxruntime module.

    ``available`` is the build's list; ``lands`` maps a wanted provider to where the session really
    lands; ``raises`` makes the constructor fail there; ``whispers`` is what native code writes to
    standard error on the way; ``run_fails`` makes runs fail; ``answer`` gives the outputs by
    provider. These hold for models; ``machine_fault`` holds for the tiny probe as well and comes
    as an exception of the constructor, ``probe_run_fails`` as one of its run.
    """

    available: tuple[str, ...] = ("CUDAExecutionProvider", "CPUExecutionProvider")
    lands: dict[str, str] = field(default_factory=dict)
    machine_fault: dict[str, str] = field(default_factory=dict)
    probe_run_fails: dict[str, str] = field(default_factory=dict)
    raises: dict[str, str] = field(default_factory=dict)
    whispers: dict[str, str] = field(default_factory=dict)
    run_fails: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, dict[str, int]] = field(default_factory=dict)
    tells_nodes: bool = True
    made: list[str] = field(default_factory=list)
    probed: list[str] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    options: list[SimpleNamespace] = field(default_factory=list)
    preloads: int = 0
    running: int = 0
    most_at_once: int = 0
    pause: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get_available_providers(self) -> list[str]:
        return list(self.available)

    def preload_dlls(self) -> None:
        self.preloads += 1
        print("Failed to load libcublas")  # noqa: T201 - as the real one does

    def SessionOptions(self) -> Any:  # noqa: N802 - the name onnxruntime gives it
        made = SimpleNamespace(entries={})
        made.add_session_config_entry = made.entries.__setitem__
        self.options.append(made)
        return made

    def InferenceSession(  # noqa: N802
        self, model: str | bytes, _options: Any, providers: list[Any], enable_fallback: int = 1
    ) -> Any:
        names = [one[0] if isinstance(one, tuple) else one for one in providers]
        wanted, probe = names[0], isinstance(model, bytes)
        assert names == ["CPUExecutionProvider"] or not enable_fallback, "it would move by itself"
        (self.probed if probe else self.made).append(wanted)
        self.asked.append(names)
        if wanted in self.whispers:
            os.write(2, self.whispers[wanted].encode())
        faults = self.machine_fault if probe else self.machine_fault | self.raises
        if wanted in faults:
            raise RuntimeError(faults[wanted])
        return FakeSession(self, self.lands.get(wanted, wanted), probe)


@dataclass
class FakeSession:
    runtime: FakeRuntime
    provider: str
    probe: bool

    def __post_init__(self) -> None:
        if self.runtime.tells_nodes:
            self.get_provider_graph_assignment_info = self.tell_nodes

    def get_providers(self) -> list[str]:
        return [self.provider]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name="out")]

    def tell_nodes(self) -> list[Any]:
        counts = self.runtime.nodes.get(self.provider, {self.provider: 3})
        return [
            SimpleNamespace(ep_name=name, get_nodes=lambda count=count: [0] * count)
            for name, count in counts.items()
        ]

    def run(self, _names: Any, _inputs: Any) -> list[Any]:
        fails = self.runtime.probe_run_fails if self.probe else self.runtime.run_fails
        if self.provider in fails:
            raise RuntimeError(fails[self.provider])
        with self.runtime.guard:
            self.runtime.running += 1
            self.runtime.most_at_once = max(self.runtime.most_at_once, self.runtime.running)
        self.runtime.pause.wait(0.02)
        with self.runtime.guard:
            self.runtime.running -= 1
        usual = np.linspace(0, 1, 12, dtype=np.float32).reshape(1, 3, 2, 2)
        return [self.runtime.answer.get(self.provider, usual)]


CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
TENSORRT, DML = "TensorrtExecutionProvider", "DmlExecutionProvider"
INPUT = {"image": np.zeros((1, 3, 2, 2), np.float32)}
MODEL = ModelSpec(
    name="tiny",
    title="Tiny model",
    file="tiny.onnx",
    repo=None,
    size_bytes=4,
    licence="MIT",
    licence_kind="open",
    licence_url="https://example.org",
    vendor="us",
    year=2026,
    url="https://example.org",
)


def machine(
    *,
    card: bool = True,
    driver: bool = True,
    builds: tuple[str, ...] = ("onnxruntime-gpu",),
    system: str = "Linux",
    amd: bool = False,
) -> Machine:
    """A computer with a working NVIDIA card and the GPU build, unless told otherwise."""
    return Machine(
        nvidia_card=lambda: card,
        nvidia_driver=lambda: driver,
        builds=lambda: builds,
        system=lambda: system,
        other_card=lambda: amd,
    )
