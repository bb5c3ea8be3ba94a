"""The set-up: the right single ONNX Runtime build, and nothing done twice."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from core.config import PROJECT


@pytest.fixture
def prepare(tmp_path, monkeypatch):
    """scripts/prepare.py with an environment of its own and a uv that only takes notes."""
    spec = importlib.util.spec_from_file_location("prepare", PROJECT / "scripts" / "prepare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.VENV = tmp_path / ".venv"
    module.calls = []
    packages = module.VENV / "lib" / "python3.11" / "site-packages"

    def run(command, hint):
        module.calls.append(command)
        text = " ".join(command)
        if "venv" in command:
            (module.VENV / "bin").mkdir(parents=True)
            module.venv_python(module.VENV).touch()
            packages.mkdir(parents=True)
        elif "uninstall" in command:
            for name in command[command.index("--python") + 2 :]:
                (packages / f"{name.replace('-', '_')}-1.dist-info").rmdir()
        elif "runtime.txt" in text:
            for line in (module.VENV / "runtime.txt").read_text().splitlines():
                name = line.split("==")[0].split("[")[0]
                markers = line.partition(";")[2]
                if markers and "darwin" in markers and "!=" not in markers:
                    continue
                if "aarch64" in markers:
                    continue
                (packages / f"{name.replace('-', '_')}-1.dist-info").mkdir(exist_ok=True)
                capi = packages / "onnxruntime" / "capi"
                capi.mkdir(parents=True, exist_ok=True)
                (capi / "libonnxruntime_providers_cuda.so").touch()

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "find_uv", lambda python: ["uv"])
    monkeypatch.setattr(module, "has_nvidia_card", lambda: False)
    return module


def runtime_of(prepare) -> str:
    return (prepare.VENV / "runtime.txt").read_text()


def test_a_fresh_machine_gets_one_build(prepare):
    prepare.prepare(None, dev=False)
    assert prepare.installed_builds(prepare.VENV) == ["onnxruntime-gpu"]
    general = (prepare.VENV / "general.txt").read_text()
    assert "insightface==" in general
    assert "onnxruntime" not in general
    assert "onnxruntime ;" in (prepare.VENV / "override.txt").read_text()
    assert "[cuda" not in runtime_of(prepare)


def test_the_second_start_does_nothing(prepare):
    prepare.prepare(None, dev=False)
    prepare.calls.clear()
    prepare.prepare(None, dev=False)
    assert prepare.calls == []


def test_what_the_tests_installed_serves_the_app_too(prepare):
    prepare.prepare(None, dev=True)
    prepare.calls.clear()
    prepare.prepare(None, dev=False)
    assert prepare.calls == []


def test_a_card_brings_the_cuda_libraries(prepare, monkeypatch):
    prepare.prepare(None, dev=False)
    monkeypatch.setattr(prepare, "has_nvidia_card", lambda: True)
    prepare.prepare(None, dev=False)
    assert "onnxruntime-gpu[cuda,cudnn]==" in runtime_of(prepare)


@pytest.mark.parametrize(
    ("build", "dist"),
    [("cuda12", "onnxruntime-gpu"), ("directml", "onnxruntime-directml"), ("cpu", "onnxruntime")],
)
def test_another_build_replaces_the_first_and_is_remembered(prepare, build, dist):
    prepare.prepare(None, dev=False)
    prepare.prepare(build, dev=False)
    assert prepare.installed_builds(prepare.VENV) == [dist]
    prepare.calls.clear()
    prepare.prepare(None, dev=False)
    assert prepare.calls == []
    prepare.prepare("default", dev=False)
    assert prepare.installed_builds(prepare.VENV) == ["onnxruntime-gpu"]


def test_a_build_that_was_overwritten_is_repaired(prepare):
    prepare.prepare(None, dev=False)
    (prepare.VENV / "lib/python3.11/site-packages/onnxruntime-1.dist-info").mkdir()
    assert len(prepare.installed_builds(prepare.VENV)) == 2
    prepare.prepare(None, dev=False)
    assert prepare.installed_builds(prepare.VENV) == ["onnxruntime-gpu"]


def test_a_gpu_build_without_its_gpu_part_is_repaired(prepare):
    prepare.prepare(None, dev=False)
    next(prepare.VENV.rglob("libonnxruntime_providers_cuda.so")).unlink()
    prepare.calls.clear()
    prepare.prepare(None, dev=False)
    assert prepare.calls
    assert list(prepare.VENV.rglob("libonnxruntime_providers_cuda.so"))


def test_an_interrupted_set_up_goes_on_next_time(prepare, monkeypatch):
    honest = prepare.run

    def cut(command, hint):
        if "general.txt" in " ".join(command):
            raise prepare.SetupFailed("The set-up stopped. Check the internet connection.")
        honest(command, hint)

    monkeypatch.setattr(prepare, "run", cut)
    assert prepare.main([]) == 1
    monkeypatch.setattr(prepare, "run", honest)
    assert prepare.main([]) == 0
    assert prepare.installed_builds(prepare.VENV) == ["onnxruntime-gpu"]


def test_new_requirements_are_installed(prepare, monkeypatch):
    prepare.prepare(None, dev=False)
    prepare.calls.clear()
    lines = prepare.lines_of
    monkeypatch.setattr(prepare, "lines_of", lambda name: [*lines(name), "newcomer==1"])
    prepare.prepare(None, dev=False)
    assert "newcomer==1" in (prepare.VENV / "general.txt").read_text()
    assert prepare.calls


@pytest.mark.parametrize("version", [(3, 10, 9), (3, 14, 0)])
def test_another_python_is_refused_in_one_sentence(prepare, monkeypatch, capsys, version):
    monkeypatch.setattr(sys, "version_info", version)
    assert prepare.main([]) == 1
    assert "Install Python 3.11, 3.12 or 3.13" in capsys.readouterr().err


def test_a_full_disk_is_said_before_anything_is_fetched(prepare, monkeypatch, capsys):
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr(prepare.shutil, "disk_usage", lambda _: usage)
    assert prepare.main([]) == 1
    assert "Not enough space" in capsys.readouterr().err
    assert prepare.calls == []


def test_this_environment_has_exactly_one_build(prepare):
    assert len(prepare.installed_builds(Path(sys.prefix))) == 1


def test_no_requirement_file_names_where_packages_come_from():
    for path in PROJECT.glob("*requirements*.txt"):
        assert "http" not in path.read_text(), path.name
