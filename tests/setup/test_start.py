"""The set-up: the right single ONNX Runtime build, nothing done twice, nothing left half done."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.config import PROJECT

spec = importlib.util.spec_from_file_location("start", PROJECT / "scripts" / "start.py")
start = importlib.util.module_from_spec(spec)
sys.modules["start"] = start
spec.loader.exec_module(start)


class Program:
    """A copy of the program in a folder with spaces, with a uv that only pretends."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a copy (1)"
        self.log = folder / "uv.log"
        self.card = False
        (self.root / "scripts").mkdir(parents=True)
        shutil.copy(PROJECT / "scripts" / "start.py", self.root / "scripts")
        for path in (PROJECT / "start.sh", *PROJECT.glob("*.txt")):
            shutil.copy(path, self.root)
        (self.root / "app.py").write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        self.tools = folder / "tools"
        self.tools.mkdir()
        fake = Path(__file__).with_name("fake_uv.py")
        (self.tools / "uv").write_text(
            f'#!/bin/sh\n[ "$1" = --version ] || exec "{sys.executable}" "{fake}" "$@"\n'
        )
        (self.tools / "uv").chmod(0o755)

    @property
    def environment(self) -> start.Environment:
        return start.Environment(self.root, has_card=lambda: self.card)

    def prepare(self, asked: str | None = None, **more: bool) -> list[list[str]]:
        """Set up; what uv was called with."""
        self.log.write_text("")
        self.environment.prepare(asked, **more)
        return self.calls

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    @property
    def packages(self) -> set[str]:
        return {start.dist_name(folder) for folder in self.environment.packages()}

    @property
    def site(self) -> Path:
        return next(self.environment.venv.glob("lib/python*/site-packages"))

    def runtime(self) -> str:
        """What really lies where ONNX Runtime is loaded from."""
        return (self.site / "onnxruntime" / "capi" / "state.so").read_text()

    def run(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run ./start.sh from another folder, without a standard input."""
        return subprocess.run(
            [shutil.which("bash"), str(self.root / "start.sh"), *arguments],
            cwd=self.tools,
            env=os.environ | ({"PATH": path} if path else {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def program(tmp_path, monkeypatch):
    made = Program(tmp_path)
    python = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{made.tools}:{python}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_UV_LOG", str(made.log))
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return made


def test_without_a_card_the_processors_build_is_installed_alone(program):
    program.prepare()
    assert program.environment.builds() == ["onnxruntime"]
    assert {"gradio", "insightface", "opencv-python", "imageio-ffmpeg"} <= program.packages
    assert not program.environment.cuda_libraries()


def test_a_card_brings_the_gpu_build_with_its_libraries(program):
    program.card = True
    program.prepare()
    assert program.environment.builds() == ["onnxruntime-gpu"]
    assert program.environment.cuda_libraries() == ["nvidia-cublas", "nvidia-cudnn-cu13"]


def test_a_card_that_comes_later_is_noticed_and_stays_known(program):
    program.prepare()
    program.card = True
    program.prepare()
    assert program.environment.builds() == ["onnxruntime-gpu"]
    program.card = False
    assert program.prepare() == []


def test_a_card_can_be_promised_while_an_image_is_built(program):
    program.prepare(nvidia=True)
    assert program.environment.cuda_libraries()


def test_the_cuda_libraries_are_left_out_without_a_card(program):
    program.prepare("cuda12")
    assert program.environment.builds() == ["onnxruntime-gpu"]
    assert not program.environment.cuda_libraries()


def test_the_second_start_installs_nothing(program):
    assert program.prepare()
    assert program.prepare() == []


def test_what_the_tests_need_is_added_and_kept(program):
    program.prepare()
    program.prepare(dev=True)
    assert "pytest" in program.packages
    assert program.prepare() == []


def test_a_changed_requirement_is_installed(program):
    program.prepare()
    with (program.root / "requirements.txt").open("a") as file:
        file.write("newcomer==1\n")
    program.prepare()
    assert "newcomer" in program.packages


@pytest.mark.parametrize("second", ["cpu", "cuda12", "auto"])
@pytest.mark.parametrize("first", ["cpu", "cuda12", "auto"])
def test_another_build_replaces_the_first_and_is_remembered(program, first, second):
    program.card = True
    program.prepare(first)
    program.prepare(second)
    expected = {
        "cpu": ("onnxruntime", "onnxruntime 1.31.1", []),
        "cuda12": ("onnxruntime-gpu", "onnxruntime-gpu 1.26.0", ["nvidia-cublas-cu12"]),
        "auto": (
            "onnxruntime-gpu",
            "onnxruntime-gpu 1.31.1",
            ["nvidia-cublas", "nvidia-cudnn-cu13"],
        ),
    }
    dist, content, libraries = expected[second]
    assert program.environment.builds() == [dist]
    assert program.runtime() == content
    assert program.environment.cuda_libraries() == libraries
    assert program.prepare() == []


def overwrite(program):
    folder = program.site / "onnxruntime-9.dist-info"
    folder.mkdir()
    (program.site / "onnxruntime" / "capi" / "state.so").write_text("the processor's build")
    (folder / "RECORD").write_text("onnxruntime/capi/state.so,sha256=x,21\n")


def overwrite_and_delist(program):
    overwrite(program)
    shutil.rmtree(program.site / "onnxruntime-9.dist-info")


def leave_a_hole(program):
    (program.site / "onnxruntime" / "capi" / "state.so").unlink()


@pytest.mark.parametrize("damage", [overwrite, overwrite_and_delist, leave_a_hole])
def test_a_gpu_build_that_another_package_damaged_is_repaired(program, damage):
    program.card = True
    program.prepare()
    damage(program)
    program.prepare()
    assert program.environment.builds() == ["onnxruntime-gpu"]
    assert program.runtime() == "onnxruntime-gpu 1.31.1"


def test_an_interrupted_set_up_goes_on_and_mends_half_a_package(program):
    offline = program.log.with_name("offline")
    offline.touch()
    with pytest.raises(start.SetupFailed, match="internet connection"):
        program.prepare()
    half = program.site / "gradio-6.31.0.dist-info"
    half.mkdir()
    offline.unlink()
    program.prepare()
    assert start.is_complete(half)
    assert program.environment.builds() == ["onnxruntime"]


def test_a_switch_without_network_leaves_what_works_and_says_the_way_back(program):
    program.prepare()
    program.log.with_name("offline").touch()
    with pytest.raises(start.SetupFailed, match="start with --auto"):
        program.prepare("cuda12")
    assert program.runtime() == "onnxruntime 1.31.1"


def test_an_environment_whose_python_is_gone_is_made_anew(program):
    program.prepare("cuda12")
    python = program.environment.python
    python.unlink()
    python.symlink_to(program.root / "gone")
    program.prepare()
    assert subprocess.run([str(python), "-c", ""]).returncode == 0
    assert program.environment.builds() == ["onnxruntime-gpu"]


def test_a_build_for_another_system_is_refused_before_anything_is_done(program):
    with pytest.raises(start.SetupFailed, match="--auto"):
        program.prepare("directml")
    assert not program.environment.venv.exists()


@pytest.mark.parametrize(
    ("system", "machine", "card", "build"),
    [
        ("Linux", "x86_64", True, "cuda"),
        ("Linux", "x86_64", False, "cpu"),
        ("Windows", "AMD64", True, "cuda"),
        ("Linux", "aarch64", True, "cpu"),
        ("Darwin", "arm64", False, "cpu"),
        ("Darwin", "x86_64", True, "cpu"),
    ],
)
def test_each_system_gets_a_build_that_exists_for_it(monkeypatch, system, machine, card, build):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert start.resolve("auto", card=card) == build


@pytest.mark.parametrize("version", [(3, 10, 9), (3, 14, 0)])
def test_a_python_that_does_not_fit_is_refused_in_a_sentence(program, monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(start.SetupFailed, match=r"Install Python 3\.11, 3\.12 or 3\.13"):
        program.prepare()


def test_a_full_disk_is_said_before_anything_is_fetched(program, monkeypatch):
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(start.SetupFailed, match="not enough room"):
        program.prepare()
    assert program.calls == []


def test_arguments_reach_the_app_as_they_are_from_any_folder(program):
    said = ["swap", "--source", "my photo's.jpg", "", "*", "--help"]
    done = program.run("--cpu", *said)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == said


def test_setup_only_stops_before_the_app_and_keeps_standard_output_empty(program):
    done = program.run("--setup-only", "--cpu")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Set-up is complete." in done.stderr
    assert program.run().stderr == ""
    again = program.run("--setup-only")
    assert (again.returncode, again.stdout) == (0, "")
    assert "Checking the set-up." in again.stderr


@pytest.mark.parametrize("gone", ["nvidia-cublas", "gradio"])
def test_setup_only_brings_back_any_package_that_went_missing(program, gone):
    program.card = True
    program.prepare()
    for folder in [one for one in program.environment.packages() if start.dist_name(one) == gone]:
        shutil.rmtree(folder)
    assert gone not in program.packages
    assert program.prepare() == []
    program.prepare(repair=True)
    assert gone in program.packages


def test_no_python_is_said_in_a_sentence(program, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "dirname").symlink_to(shutil.which("dirname"))
    done = program.run(path=str(bare))
    assert done.returncode == 1
    assert done.stderr.startswith("No Python from 3.11 to 3.13 was found.")
