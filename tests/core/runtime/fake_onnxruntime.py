"""An onnxruntime that can be told how to misbehave."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np


@dataclass
class FakeRuntime:
    """Stands in for the onnxruntime module.

    ``available`` is the build's list; ``lands`` maps a wanted provider to where the session really
    lands; ``raises`` makes the constructor fail there; ``run_fails`` the first run; ``answer``
    gives the outputs by provider.
    """

    available: tuple[str, ...] = ("CUDAExecutionProvider", "CPUExecutionProvider")
    lands: dict[str, str] = field(default_factory=dict)
    raises: dict[str, str] = field(default_factory=dict)
    run_fails: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    preloads: int = 0

    def get_available_providers(self) -> list[str]:
        return list(self.available)

    def preload_dlls(self) -> None:
        self.preloads += 1
        print("Failed to load libcublas")  # noqa: T201 - as the real one does

    def SessionOptions(self) -> Any:  # noqa: N802 - the name onnxruntime gives it
        return SimpleNamespace(add_session_config_entry=lambda *_: None)

    def InferenceSession(self, _path: str, _options: Any, providers: list[Any]) -> Any:  # noqa: N802
        wanted = providers[0][0] if isinstance(providers[0], tuple) else providers[0]
        self.made.append(wanted)
        if wanted in self.raises:
            raise RuntimeError(self.raises[wanted])
        return FakeSession(self, self.lands.get(wanted, wanted))


@dataclass
class FakeSession:
    runtime: FakeRuntime
    provider: str

    def get_providers(self) -> list[str]:
        return [self.provider]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name="out")]

    def get_provider_graph_assignment_info(self) -> list[Any]:
        return [SimpleNamespace(ep_name=self.provider, get_nodes=lambda: [1, 2, 3])]

    def run(self, _names: Any, _inputs: Any) -> list[Any]:
        if self.provider in self.runtime.run_fails:
            raise RuntimeError(self.runtime.run_fails[self.provider])
        usual = np.linspace(0, 1, 12, dtype=np.float32).reshape(1, 3, 2, 2)
        return [self.runtime.answer.get(self.provider, usual)]
