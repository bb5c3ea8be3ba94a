"""A pool over a fake onnxruntime."""

from __future__ import annotations

import pytest

from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from tests.core.runtime.fake_onnxruntime import machine as computer


@pytest.fixture
def pool_of(tmp_path):
    (tmp_path / "tiny.onnx").write_bytes(b"onnx")

    def made(runtime, *, provider="auto", machine=None):
        weights = WeightStore(tmp_path / "down", embedded=tmp_path)
        return SessionPool(
            weights, provider=provider, runtime=runtime, machine=machine or computer()
        )

    return made
