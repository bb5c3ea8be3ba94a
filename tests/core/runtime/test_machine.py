"""Facts about the computer, faults of the installation, and silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from core.runtime import machine as facts
from core.runtime.machine import install_fault, report_text, versions
from core.runtime.quiet import SWITCHES, silence_telemetry
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from tests.core.runtime.fake_onnxruntime import CPU, CUDA, machine

BOTH = ("onnxruntime", "onnxruntime-gpu")


@pytest.mark.parametrize(
    ("builds", "available", "key"),
    [
        (("onnxruntime-gpu",), (CUDA, CPU), None),
        (("onnxruntime",), (CPU,), None),
        (BOTH, (CUDA, CPU), "two_builds"),
        (BOTH, (CPU,), "overwritten"),
        (("onnxruntime-gpu",), (CPU,), "overwritten"),
    ],
    ids=["one", "small one", "two", "two and overwritten", "overwritten"],
)
def test_a_faulty_installation_is_noticed_with_its_repair(builds, available, key):
    fault = install_fault(machine(builds=builds), available)
    assert (fault.key if fault else None) == key
    if fault:
        assert fault.command.endswith("--setup-only")


def test_a_computer_without_a_driver_has_no_cards(monkeypatch):
    def no_driver():
        raise pynvml.NVMLError_LibraryNotFound

    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    assert facts.cards() == ()


def test_a_card_is_described_as_its_driver_does(monkeypatch):
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: b"580.1",
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=8 << 30, free=6 << 30),
        "nvmlDeviceGetName": lambda _: "Card 1",
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    assert facts.cards() == (facts.Card("Card 1", 8192, 6144, "580.1"),)


def test_the_report_for_help_holds_versions_and_no_home(monkeypatch):
    text = report_text([f"m: asked cuda, used cpu, {Path.home()}/site/libx.so"])
    assert str(Path.home()) not in text
    for name in ("FaceFusion UI", "Python", "Memory", *versions()):
        assert name in text


def test_no_library_may_phone_home(monkeypatch):
    for name in SWITCHES:
        monkeypatch.delenv(name, raising=False)
    silence_telemetry()
    assert {name: os.environ[name] for name in SWITCHES} == SWITCHES


def test_telemetry_of_the_runtime_is_off_once_it_is_loaded(tmp_path, monkeypatch):
    import onnxruntime

    calls = []
    monkeypatch.setattr(onnxruntime, "disable_telemetry_events", lambda: calls.append(1))
    pool = SessionPool(WeightStore(tmp_path, embedded=tmp_path), provider="cpu")
    pool.loader.available()
    pool.loader.available()
    assert calls == [1]


def test_describing_providers_does_not_load_a_model_runtime():
    code = (
        "import sys, core.runtime.sessions, core.runtime.machine; "
        "sys.exit(bool({'onnxruntime', 'huggingface_hub', 'gradio'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
