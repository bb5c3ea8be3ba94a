"""Which provider a model really ran on, and why (cases B-16 and B-17)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import OptionError, ProviderError, UnusableOutput, WeightsDamaged
from core.runtime.providers import CHOICES, Machine
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.services import EMBEDDED
from core.types import ModelSpec
from tests.core.runtime.fake_onnxruntime import FakeRuntime

CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
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
ALL_WELL = Machine(
    nvidia_card=lambda: True, nvidia_driver=lambda: True, builds=lambda: ("onnxruntime-gpu",)
)
NO_DRIVER = Machine(
    nvidia_card=lambda: True, nvidia_driver=lambda: False, builds=lambda: ("onnxruntime-gpu",)
)
NO_CARD = Machine(
    nvidia_card=lambda: False, nvidia_driver=lambda: False, builds=lambda: ("onnxruntime-gpu",)
)


@pytest.fixture
def pool_of(tmp_path):
    (tmp_path / "tiny.onnx").write_bytes(b"onnx")

    def made(runtime, *, provider="auto", machine=ALL_WELL):
        weights = WeightStore(tmp_path / "down", embedded=tmp_path)
        return SessionPool(weights, provider=provider, runtime=runtime, machine=machine)

    return made


def ran(pool, provider=None):
    session = pool.open(MODEL, provider)
    session.run(INPUT)
    return session.report


def test_a_working_card_is_used_and_nothing_is_remarked(pool_of):
    report = ran(pool_of(FakeRuntime()))
    assert (report.asked, report.used, report.nodes) == ("auto", "cuda", {"cuda": 3})
    assert (report.reason, report.fell_back) == ("", False)


MISSING = "libcublasLt.so.13: cannot open shared object file: No such file or directory"


@pytest.mark.parametrize(
    ("runtime", "machine", "key", "command"),
    [
        (FakeRuntime(available=(CPU,)), ALL_WELL, "overwritten", "--setup-only"),
        (
            FakeRuntime(available=(CPU,)),
            Machine(lambda: True, lambda: True, lambda: ("onnxruntime",)),
            "not_in_build",
            "--setup-only",
        ),
        (FakeRuntime(lands={CUDA: CPU}), ALL_WELL, "failed", ""),
        (
            FakeRuntime(raises={CUDA: "LoadLibrary failed, error 126"}),
            ALL_WELL,
            "library_missing",
            "--setup-only",
        ),
        (FakeRuntime(raises={CUDA: MISSING}), ALL_WELL, "library_missing", "--setup-only"),
        (FakeRuntime(raises={CUDA: "libcuda.so.1 missing"}), NO_DRIVER, "driver_missing", ""),
        (
            FakeRuntime(raises={CUDA: "no kernel image is available"}),
            ALL_WELL,
            "card_too_old",
            "--cuda12",
        ),
        (
            FakeRuntime(raises={CUDA: "CUDA driver version is insufficient"}),
            ALL_WELL,
            "driver_too_old",
            "--cuda12",
        ),
        (FakeRuntime(raises={CUDA: "CUDA failure 2: out of memory"}), ALL_WELL, "memory", ""),
    ],
    ids=[
        "overwritten",
        "cpu build",
        "silent",
        "error 126",
        "library",
        "driver",
        "old card",
        "old driver",
        "memory",
    ],
)
def test_a_card_that_cannot_be_used_is_explained(pool_of, runtime, machine, key, command):
    report = ran(pool_of(runtime, machine=machine), "cuda")
    assert (report.asked, report.used) == ("cuda", "cpu")
    assert report.fell_back
    assert report.reason_key == key
    assert report.reason.endswith((".", ")."))
    assert command in report.command
    assert report.nodes == {"cpu": 3}


def test_the_missing_library_is_named(pool_of):
    report = ran(pool_of(FakeRuntime(raises={CUDA: MISSING})))
    assert "libcublasLt.so.13" in report.reason


def test_another_cuda_version_is_recognised(pool_of, monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: SimpleNamespace())
    report = ran(pool_of(FakeRuntime(raises={CUDA: MISSING})))
    assert report.reason_key == "wrong_cuda"
    assert "13" in report.reason


def test_a_failure_at_the_first_run_falls_back_and_finishes(pool_of):
    pool = pool_of(FakeRuntime(run_fails={CUDA: "CUDA failure 700: illegal memory access"}))
    session = pool.open(MODEL)
    assert session.run(INPUT)["out"].shape == (1, 3, 2, 2)
    report = session.report
    assert (report.used, report.fell_back, report.frame) == ("cpu", True, 1)
    assert "illegal memory access" in report.reason


@pytest.mark.parametrize("name", ["cudaa", "gpu", ""])
def test_an_unknown_provider_is_not_silent(pool_of, name):
    if name == "":
        with pytest.raises(OptionError):
            pool_of(FakeRuntime(), provider="nonsense")
        return
    with pytest.raises(OptionError, match="no provider"):
        ran(pool_of(FakeRuntime()), name)


def test_the_processor_chosen_by_the_user_never_touches_cuda(pool_of):
    runtime = FakeRuntime()
    report = ran(pool_of(runtime), "cpu")
    assert (report.used, report.fell_back, report.reason) == ("cpu", False, "")
    assert runtime.made == [CPU]
    assert runtime.preloads == 0


def test_without_a_card_automatic_is_neutral_and_touches_no_cuda(pool_of):
    runtime = FakeRuntime()
    report = ran(pool_of(runtime, machine=NO_CARD))
    assert (report.used, report.fell_back, report.reason_key) == ("cpu", False, "no_card")
    assert CUDA not in runtime.made


def test_a_card_that_failed_once_is_not_tried_for_every_model(pool_of):
    runtime = FakeRuntime(raises={CUDA: MISSING})
    pool = pool_of(runtime)
    ran(pool)
    other = ModelSpec(**{f: getattr(MODEL, f) for f in MODEL.__slots__} | {"name": "other"})
    session = pool.open(other)
    session.run(INPUT)
    assert session.report.reason_key == "library_missing"
    assert runtime.made.count(CUDA) == 1
    runtime.raises.clear()
    pool.check_again()
    assert ran(pool).used == "cuda"


def test_a_runtime_damaged_by_uninstalling_is_explained(pool_of):
    with pytest.raises(ProviderError, match=r"start\.(sh|bat) --setup-only"):
        ran(pool_of(SimpleNamespace()))


@pytest.mark.parametrize("choice", CHOICES)
def test_the_real_runtime_here_never_fails_for_want_of_a_card(tmp_path, choice):
    from core.faces.detect import BLAZEFACE

    weights = WeightStore(tmp_path, embedded=EMBEDDED, offline=True)
    pool = SessionPool(weights, provider=choice)
    session = pool.open(BLAZEFACE)
    session.run({"image": np.zeros((1, 256, 256, 3), np.float32)})
    assert sum(session.report.nodes.values()) > 20
    assert set(session.report.nodes) == {session.report.used}
    if session.report.used != choice and choice != "auto":
        assert session.report.fell_back
        assert session.report.reason


# ---- nonsense from the model (B-17) --------------------------------------------------------

GOOD = np.linspace(0, 1, 12, dtype=np.float32).reshape(1, 3, 2, 2)
NONSENSE = {
    "not a number": np.full((1, 3, 2, 2), np.nan, np.float32),
    "infinite": np.full((1, 3, 2, 2), np.inf, np.float32),
    "black": np.zeros((1, 3, 2, 2), np.float32),
    "one colour": np.full((1, 3, 2, 2), 0.7, np.float32),
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_tried_again_elsewhere(pool_of, answer):
    session = pool_of(FakeRuntime(answer={CUDA: answer})).open(MODEL)
    out = session.run(INPUT, picture="out")
    np.testing.assert_array_equal(out["out"], GOOD)
    assert (session.report.used, session.report.reason_key) == ("cpu", "output")


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_everywhere_is_an_error_not_a_picture(pool_of, answer):
    session = pool_of(FakeRuntime(answer={CUDA: answer, CPU: answer})).open(MODEL)
    with pytest.raises(UnusableOutput):
        session.run(INPUT, picture="out")


def test_a_constant_output_that_is_no_picture_is_fine(pool_of):
    session = pool_of(FakeRuntime(answer={CUDA: NONSENSE["black"]})).open(MODEL)
    session.run(INPUT)
    assert session.report.used == "cuda"


def test_a_file_that_is_no_model_is_named_as_damaged(tmp_path):
    (tmp_path / "tiny.onnx").write_bytes(b"this is no model")
    pool = SessionPool(WeightStore(tmp_path / "d", embedded=tmp_path), provider="cpu")
    with pytest.raises(WeightsDamaged, match="Tiny model"):
        pool.open(MODEL).run(INPUT)
