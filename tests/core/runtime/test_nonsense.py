"""Models that give no numbers or no picture, and files that are no models (case B-17)."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import ProviderError, UnusableOutput, WeightsDamaged
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from tests.core.runtime.fake_onnxruntime import CPU, CUDA, INPUT, MODEL, FakeRuntime

GOOD = np.linspace(0, 1, 12, dtype=np.float32).reshape(1, 3, 2, 2)
NONSENSE = {
    "not a number": np.full((1, 3, 2, 2), np.nan, np.float32),
    "infinite": np.full((1, 3, 2, 2), np.inf, np.float32),
    "black": np.zeros((1, 3, 2, 2), np.float32),
    "one colour": np.full((1, 3, 2, 2), 0.7, np.float32),
    "one colour of 255": np.full((1, 3, 2, 2), 178, np.float32),
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_tried_again_elsewhere_and_stays_there(pool_of, answer):
    runtime = FakeRuntime(answer={CUDA: answer})
    session = pool_of(runtime).open(MODEL)
    for _ in range(3):
        out = session.run(INPUT, picture="out")
        np.testing.assert_array_equal(out["out"], GOOD)
    report = session.report
    assert (report.used, report.reason_key, report.frame) == ("cpu", "output", 1)
    assert report.fell_back
    assert runtime.made == [CUDA, CPU]


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_everywhere_is_an_error_and_the_card_is_kept(pool_of, answer):
    runtime = FakeRuntime(answer={CUDA: answer, CPU: answer})
    session = pool_of(runtime).open(MODEL)
    for _ in range(3):
        with pytest.raises(UnusableOutput, match="Tiny model"):
            session.run(INPUT, picture="out")
    assert (session.report.used, session.report.fell_back) == ("cuda", False)
    assert runtime.made == [CUDA, CPU]
    runtime.answer.clear()
    np.testing.assert_array_equal(session.run(INPUT, picture="out")["out"], GOOD)


def test_a_place_that_fails_when_it_is_tried_instead_leaves_all_as_it_was(pool_of):
    runtime = FakeRuntime(answer={CUDA: NONSENSE["black"]}, raises={CPU: "no memory"})
    session = pool_of(runtime).open(MODEL)
    with pytest.raises(UnusableOutput):
        session.run(INPUT, picture="out")
    assert session.report.used == "cuda"


def test_a_constant_output_that_is_no_picture_is_fine(pool_of):
    session = pool_of(FakeRuntime(answer={CUDA: NONSENSE["black"]})).open(MODEL)
    session.run(INPUT)
    assert session.report.used == "cuda"


def test_a_failure_on_the_processor_is_the_end(pool_of):
    session = pool_of(FakeRuntime(run_fails={CUDA: "a", CPU: "b"})).open(MODEL)
    with pytest.raises(ProviderError, match="Tiny model stopped working"):
        session.run(INPUT)


@pytest.mark.parametrize(
    "content",
    [b"", b"this is no model", b"<!DOCTYPE html><html></html>"],
    ids=["empty", "text", "web page"],
)
def test_a_file_that_is_no_model_is_named_as_damaged(tmp_path, content):
    (tmp_path / "tiny.onnx").write_bytes(content)
    pool = SessionPool(WeightStore(tmp_path / "d", embedded=tmp_path), provider="cpu")
    with pytest.raises(WeightsDamaged, match="Tiny model"):
        pool.open(MODEL).run(INPUT)


def test_no_memory_is_not_called_damage(pool_of):
    pool = pool_of(FakeRuntime(raises={CPU: "std::bad_alloc"}), provider="cpu")
    with pytest.raises(ProviderError, match="not enough memory for Tiny model"):
        pool.open(MODEL).run(INPUT)
