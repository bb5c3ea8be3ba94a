"""Which provider a model really ran on, and why (case B-16)."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import OptionError, ProviderError
from core.runtime.providers import CHOICES
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.services import EMBEDDED
from tests.core.runtime.fake_onnxruntime import (
    CPU,
    CUDA,
    DML,
    INPUT,
    MODEL,
    TENSORRT,
    FakeRuntime,
    machine,
)

NO_CARD = machine(card=False, driver=False)
MISSING = "libcublasLt.so.13: cannot open shared object file: No such file or directory"


def ran(pool, provider=None, model=MODEL):
    session = pool.open(model, provider)
    session.run(INPUT)
    return session.report


def test_a_working_card_is_used_and_nothing_is_remarked(pool_of):
    report = ran(pool_of(FakeRuntime()))
    assert (report.asked, report.used, report.nodes) == ("auto", "cuda", {"cuda": 3})
    assert (report.reason, report.fell_back) == ("", False)


@pytest.mark.parametrize(
    ("runtime", "computer", "key", "command"),
    [
        (FakeRuntime(available=(CPU,)), machine(), "overwritten", "--setup-only"),
        (
            FakeRuntime(available=(CPU,)),
            machine(builds=("onnxruntime",)),
            "not_in_build",
            "--auto --setup-only",
        ),
        (
            FakeRuntime(available=(CPU,)),
            machine(builds=("onnxruntime",), driver=False),
            "driver_missing",
            "",
        ),
        (FakeRuntime(available=(CPU,)), machine(system="Darwin"), "other_system", ""),
        (FakeRuntime(lands={CUDA: CPU}), machine(), "failed", ""),
        (
            FakeRuntime(machine_fault={CUDA: "LoadLibrary failed, error 126"}),
            machine(),
            "library_missing",
            "--setup-only",
        ),
        (FakeRuntime(machine_fault={CUDA: MISSING}), machine(), "library_missing", "--setup-only"),
        (
            FakeRuntime(machine_fault={CUDA: "libcuda.so.1 missing"}),
            machine(driver=False),
            "driver_missing",
            "",
        ),
        (
            FakeRuntime(probe_run_fails={CUDA: "no kernel image is available"}),
            machine(),
            "card_too_old",
            "--cuda12 --setup-only",
        ),
        (
            FakeRuntime(machine_fault={CUDA: "CUDA driver version is insufficient"}),
            machine(),
            "driver_too_old",
            "--cuda12 --setup-only",
        ),
        (
            FakeRuntime(machine_fault={CUDA: "CUDA failure 100: no CUDA-capable device"}),
            machine(),
            "no_card",
            "",
        ),
        (FakeRuntime(raises={CUDA: "CUDA failure 2: out of memory"}), machine(), "memory", ""),
        (
            FakeRuntime(machine_fault={CUDA: "Unknown provider option: bogus"}),
            machine(),
            "failed",
            "",
        ),
        (FakeRuntime(nodes={CUDA: {CPU: 3}}), machine(), "model_not_supported", ""),
        (FakeRuntime(), NO_CARD, "no_card", ""),
    ],
    ids=[
        "overwritten",
        "cpu build",
        "cpu build and no driver",
        "macOS",
        "silent",
        "error 126",
        "library",
        "driver",
        "old card",
        "old driver",
        "hidden card",
        "memory",
        "unknown option",
        "no node there",
        "no card",
    ],
)
def test_a_card_that_cannot_be_used_is_explained(pool_of, runtime, computer, key, command):
    if computer is NO_CARD:
        runtime = replace(runtime, machine_fault={CUDA: MISSING})
    report = ran(pool_of(runtime, machine=computer), "cuda")
    assert (report.asked, report.used) == ("cuda", "cpu")
    assert report.fell_back
    assert report.reason_key == key
    assert report.reason.endswith((".", ")."))
    assert report.command.endswith(command)
    assert bool(report.command) is bool(command)
    assert report.nodes == {"cpu": 3}


def test_the_words_of_the_fault_are_kept(pool_of):
    assert "libcublasLt.so.13" in ran(pool_of(FakeRuntime(machine_fault={CUDA: MISSING}))).reason
    unknown = FakeRuntime(machine_fault={CUDA: "Unknown provider option: bogus"})
    assert "bogus" in ran(pool_of(unknown)).reason


def test_another_cuda_version_is_recognised(pool_of, monkeypatch):
    pool = pool_of(FakeRuntime(machine_fault={CUDA: MISSING}))
    monkeypatch.setattr(
        "core.runtime.providers.ctypes", SimpleNamespace(CDLL=lambda name: SimpleNamespace())
    )
    report = ran(pool)
    assert report.reason_key == "wrong_cuda"
    assert "13" in report.reason


def test_what_is_whispered_to_standard_error_becomes_the_reason(pool_of, capfd):
    line = (
        "\x1b[1;31m2026-11-30 06:52:25.1 [E:onnxruntime:Default, provider_bridge_ort.cc:2458 "
        "operator()] Failed to load library providers_cuda.so with error: "
        "libcudnn.so.9: cannot open shared object file: No such file or directory\n\x1b[m\n"
    )
    runtime = FakeRuntime(lands={CUDA: CPU}, whispers={CUDA: line + "words of another thread\n"})
    report = ran(pool_of(runtime))
    assert report.reason_key == "library_missing"
    assert "libcudnn.so.9" in report.reason
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "words of another thread\n"


def test_a_failure_at_the_first_run_falls_back_and_finishes(pool_of):
    pool = pool_of(FakeRuntime(run_fails={CUDA: "CUDA failure 700: illegal memory access"}))
    session = pool.open(MODEL)
    assert session.run(INPUT)["out"].shape == (1, 3, 2, 2)
    report = session.report
    assert (report.used, report.fell_back, report.frame) == ("cpu", True, 1)
    assert "illegal memory access" in report.reason


def test_threads_that_meet_the_same_failure_move_once(pool_of):
    runtime = FakeRuntime(run_fails={CUDA: "CUDA failure 700"})
    session, start, done = pool_of(runtime).open(MODEL), threading.Barrier(6), []

    def work():
        start.wait()
        done.append(session.run(INPUT)["out"].shape)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 6
    assert runtime.made == [CUDA, CPU]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cudaa", "'cuda'"), ("CUDA", "'cuda'"), ("tensort", "'tensorrt'"), ("gpu", "directml")],
)
def test_an_unknown_provider_is_not_silent(pool_of, name, hint):
    with pytest.raises(OptionError, match="no provider") as caught:
        pool_of(FakeRuntime()).open(MODEL, name)
    assert hint in caught.value.hint
    with pytest.raises(OptionError):
        pool_of(FakeRuntime(), provider=name)


def test_the_processor_chosen_by_the_user_never_touches_cuda(pool_of):
    runtime = FakeRuntime()
    pool = pool_of(runtime, provider="cpu")
    (outlook,) = pool.outlook()
    report = ran(pool)
    assert (report.used, report.fell_back, report.reason) == ("cpu", False, "")
    assert (outlook.used, outlook.reason) == ("cpu", "")
    assert runtime.asked == [[CPU]]
    assert (runtime.probed, runtime.preloads) == ([], 0)


@pytest.mark.parametrize(
    ("computer", "key", "command"),
    [
        (NO_CARD, "gpu.none", ""),
        (machine(card=False, amd=True), "gpu.none_nvidia", ""),
        (machine(card=False, system="Windows"), "gpu.none_nvidia", "--directml --setup-only"),
    ],
    ids=["none", "AMD", "Windows"],
)
def test_without_a_usable_card_automatic_is_neutral(pool_of, computer, key, command):
    runtime = FakeRuntime()
    report = ran(pool_of(runtime, machine=computer))
    assert (report.used, report.fell_back, report.reason_key) == ("cpu", False, "no_card")
    assert report.reason.key == key
    assert report.command.endswith(command)
    assert runtime.asked == [[CPU]]


def test_automatic_takes_directml_where_it_is_installed(pool_of):
    runtime = FakeRuntime(available=(DML, CPU))
    report = ran(pool_of(runtime, machine=machine(card=False, system="Windows")))
    assert (report.used, report.reason) == ("directml", "")


@pytest.mark.parametrize(
    ("available", "computer", "at_once"),
    [((CUDA, CPU), machine(), True), ((DML, CPU), machine(system="Windows"), False)],
    ids=["cuda", "directml"],
)
def test_runs_overlap_only_where_the_provider_allows_it(pool_of, available, computer, at_once):
    runtime = FakeRuntime(available=available)
    session = pool_of(runtime, machine=computer).open(MODEL)
    threads = [threading.Thread(target=session.run, args=(INPUT,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (runtime.most_at_once > 1) is at_once


def test_tensorrt_leaves_the_rest_to_cuda_and_falls_back_to_it(pool_of):
    well = FakeRuntime(available=(TENSORRT, CUDA, CPU))
    assert ran(pool_of(well), "tensorrt").used == "tensorrt"
    assert well.asked[-1] == [TENSORRT, CUDA, CPU]
    library = {TENSORRT: "libnvinfer.so.10: cannot open shared object file"}
    report = ran(pool_of(replace(well, machine_fault=library)), "tensorrt")
    assert (report.used, report.fell_back) == ("cuda", True)
    assert report.reason.key == "gpu.tensorrt"


def test_a_fault_of_the_machine_is_found_once_by_the_probe(pool_of):
    runtime = FakeRuntime(machine_fault={CUDA: MISSING})
    pool = pool_of(runtime)
    assert pool.outlook()[0].reason_key == "library_missing"
    for name in ("one", "two", "three"):
        assert ran(pool, model=replace(MODEL, name=name)).reason_key == "library_missing"
    assert (runtime.probed, runtime.made) == ([CUDA], [CPU, CPU, CPU])


def test_a_fault_of_one_model_does_not_cost_the_others_the_card(pool_of):
    runtime = FakeRuntime(raises={CUDA: "CUDA failure 2: out of memory"})
    pool = pool_of(runtime)
    assert ran(pool).reason_key == "memory"
    runtime.raises.clear()
    report = ran(pool, model=replace(MODEL, name="smaller"))
    assert (report.used, report.reason) == ("cuda", "")


def test_check_again_tries_the_card_again_with_the_same_sessions(pool_of):
    runtime = FakeRuntime(machine_fault={CUDA: MISSING})
    pool = pool_of(runtime)
    session = pool.open(MODEL)
    session.run(INPUT)
    runtime.machine_fault.clear()
    pool.check_again()
    assert (pool.count, pool.reports()) == (0, ())
    session.run(INPUT)
    assert (session.report.used, session.report.reason) == ("cuda", "")
    assert pool.open(MODEL) is session


def test_an_old_build_that_tells_no_nodes_still_works(pool_of):
    report = ran(pool_of(FakeRuntime(tells_nodes=False)))
    assert (report.used, report.nodes) == ("cuda", {})


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
    assert session.report.used in session.report.nodes
    if session.report.used != choice and choice != "auto":
        assert session.report.fell_back
        assert session.report.reason


def test_the_real_runtime_says_which_library_or_driver_is_missing(tmp_path):
    """The GPU build on a computer without the CUDA libraries, as if a card were in it."""
    from core.faces.detect import BLAZEFACE

    weights = WeightStore(tmp_path, embedded=EMBEDDED, offline=True)
    pool = SessionPool(weights, provider="cuda", machine=machine(builds=()))
    session = pool.open(BLAZEFACE)
    session.load()
    report = session.report
    if report.used == "cpu":
        assert report.fell_back
        assert report.reason_key in ("library_missing", "not_in_build", "no_card", "wrong_cuda")
        assert report.advice
    assert os.fstat(2)  # standard error is still there
