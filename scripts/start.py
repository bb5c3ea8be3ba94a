"""Bring .venv into the wanted state, then run the app with it; quick when nothing changed.

Run by start.sh, start.bat and test.sh with any Python from 3.11 to 3.13; standard library only.

    start.py [--setup-only] [--cpu | --cuda12 | --directml | --auto] [--nvidia] [--dev] [ARGUMENT …]

Every other argument goes to app.py. insightface requires the distribution ``onnxruntime`` by name,
whose files are those of ``onnxruntime-gpu`` too; uv drops that requirement by an override, so that
exactly one build is installed. Without an NVIDIA card that is the small build for the processor.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 13)
UV = "uv==0.13.9"
NEVER = "onnxruntime ; python_version < '3'"


@dataclass(frozen=True)
class Build:
    """A build of ONNX Runtime: where its pin stands, what it fits, what all takes on the disk."""

    file: str
    dist: str
    systems: tuple[str, ...] = ("Linux", "Windows", "Darwin")
    needs_gb: float = 1.6


BUILDS = {
    "cpu": Build("requirements-cpu.txt", "onnxruntime"),
    "cuda": Build("requirements.txt", "onnxruntime-gpu", ("Linux", "Windows"), 6),
    "cuda12": Build("requirements-cuda12.txt", "onnxruntime-gpu", ("Linux", "Windows"), 7),
    "directml": Build("requirements-directml.txt", "onnxruntime-directml", ("Windows",)),
}
CHOICES = ("auto", "cpu", "cuda12", "directml")
SETUP_OPTIONS = ("--setup-only", "--dev", "--nvidia", *(f"--{choice}" for choice in CHOICES))


class SetupFailed(Exception):
    """Said to the user as it is."""


@dataclass(frozen=True)
class State:
    """What is kept in .venv/state.json. ``stamp`` stays empty until all is installed."""

    asked: str = "auto"
    card: bool = False
    dev: bool = False
    build: str = ""
    stamp: str = ""


def main(arguments: list[str]) -> int:
    """Set up, then run app.py unless only the set-up was wanted; the exit code."""
    chosen = [argument for argument in arguments if argument in SETUP_OPTIONS]
    passed_on = [argument for argument in arguments if argument not in SETUP_OPTIONS]
    builds = [option[2:] for option in chosen if option[2:] in CHOICES]
    try:
        environment = Environment(ROOT)
        environment.prepare(
            builds[-1] if builds else None,
            nvidia="--nvidia" in chosen,
            dev="--dev" in chosen,
            repair="--setup-only" in chosen,
        )
    except SetupFailed as failed:
        say(f"\n{failed}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Start again to go on; nothing is lost.")
        return 130
    except OSError as error:
        say(f"\nThe set-up stopped: {error}. Start again; nothing is lost.")
        return 1
    if "--setup-only" in chosen:
        return 0
    return run_app([str(environment.python), str(ROOT / "app.py"), *passed_on])


def run_app(command: list[str]) -> int:
    """Become the app; on Windows, which cannot, wait for it."""
    if os.name != "nt":
        os.execv(command[0], command)
    with subprocess.Popen(command) as app:
        while True:
            try:
                return app.wait()
            except KeyboardInterrupt:
                continue  # the app got it too and ends by itself


class Environment:
    """The folder .venv of one copy of the program."""

    def __init__(self, root: Path, *, has_card: Callable[[], bool] | None = None) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.python = self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.has_card = has_card or nvidia_card

    def prepare(
        self,
        asked: str | None,
        *,
        nvidia: bool = False,
        dev: bool = False,
        repair: bool = False,
    ) -> None:
        """Install what is missing or different. What was asked once stays asked.

        ``repair`` compares every package with what it should be, not only ONNX Runtime's files.
        A card that was seen once counts for ever: a driver that sleeps must not cost a download.
        """
        check_python()
        before = self.read_state()
        choice = asked or before.asked
        card = nvidia or before.card or (choice in ("auto", "cuda12") and self.has_card())
        name = resolve(choice, card=card)
        wanted = State(asked=choice, card=card, dev=dev or before.dev, build=name)
        wanted = replace(wanted, stamp=self.stamp_of(wanted))
        same = before.stamp == wanted.stamp and self.is_whole(BUILDS[name])
        if same and not repair:
            return
        say(
            "Checking the set-up."
            if same
            else "Setting up. This happens once and takes a minute or two."
        )
        self.check_folder(BUILDS[name])
        self.make()
        self.write_state(replace(wanted, stamp=""))
        try:
            self.install(wanted)
        except SetupFailed as failed:
            if before.stamp and before.asked != choice:
                raise SetupFailed(f"{failed}\nTo go back, start with --{before.asked}.") from failed
            raise
        self.write_state(wanted)
        say("Set-up is complete.")

    # ---- what is there ---------------------------------------------------------------------

    def read_state(self) -> State:
        """The state of the last set-up; the defaults when there is none that can be read."""
        try:
            state = State(**json.loads((self.venv / "state.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return State()
        return state if state.asked in CHOICES else State()

    def write_state(self, state: State) -> None:
        """Keep ``state`` for the next start."""
        (self.venv / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")

    def packages(self) -> Iterator[Path]:
        """The folders of installed distributions."""
        for pattern in ("lib/python*/site-packages", "Lib/site-packages"):
            for folder in self.venv.glob(pattern):
                yield from folder.glob("*.dist-info")

    def builds(self) -> list[str]:
        """Installed distributions of ONNX Runtime; more than one is a fault."""
        names = {dist_name(folder) for folder in self.packages()}
        return sorted(name for name in names if name.startswith("onnxruntime"))

    def is_whole(self, build: Build) -> bool:
        """Whether exactly this build is there with the files it came with.

        Another build leaves its own ``onnxruntime/capi`` behind, or a hole when it is removed.
        """
        if self.builds() != [build.dist] or not self.python.exists():
            return False
        record = next(path for path in self.packages() if dist_name(path) == build.dist) / "RECORD"
        try:
            rows = list(csv.reader(record.read_text(encoding="utf-8").splitlines()))
            return all(
                (record.parent.parent / name).stat().st_size == int(size)
                for name, _, size in rows
                if name.startswith("onnxruntime/capi/") and size
            )
        except (OSError, ValueError):
            return False

    def stamp_of(self, state: State) -> str:
        """Changes whenever the installation has to."""
        facts = [state.build, str(sys.version_info[:2]), *self.requirements(state)]
        facts.extend(self.lines_of("constraints.txt"))
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()

    # ---- what to install -------------------------------------------------------------------

    def requirements(self, state: State) -> list[str]:
        """All requirement lines; of ONNX Runtime only the chosen build, its CUDA with a card."""
        files = ["requirements.txt", *(["requirements-dev.txt"] if state.dev else [])]
        general = [line for file in files for line in self.lines_of(file) if not is_runtime(line)]
        runtime = [line for line in self.lines_of(BUILDS[state.build].file) if is_runtime(line)]
        if state.build.startswith("cuda"):
            extras = "[cuda,cudnn]" if state.card else ""
            runtime = [
                line.replace("onnxruntime-gpu", f"onnxruntime-gpu{extras}")
                for line in runtime
                if line.startswith("onnxruntime-gpu")
            ]
        return [*general, *runtime]

    def lines_of(self, file: str) -> list[str]:
        """Requirement lines without comments."""
        text = (self.root / file).read_text(encoding="utf-8")
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        return [line for line in lines if line]

    # ---- doing it --------------------------------------------------------------------------

    def check_folder(self, build: Build) -> None:
        """SetupFailed when nothing can be written, or a first installation has no room."""
        if not os.access(self.root, os.W_OK):
            raise SetupFailed(
                f"Nothing can be written to {self.root}. Move the program to a folder of your own."
            )
        free_gb = shutil.disk_usage(self.root).free / 1e9
        if free_gb < build.needs_gb and not self.builds():
            raise SetupFailed(
                f"There is not enough room on the disk: {build.needs_gb:g} GB are needed, "
                f"{free_gb:.1f} GB are free. Make room and start again."
            )

    def make(self) -> None:
        """Make .venv, anew when its Python is gone or it cannot install anything."""
        if self.works():
            return
        if self.venv.exists():
            try:
                shutil.rmtree(self.venv)
            except OSError as cause:
                raise SetupFailed(
                    f"The folder {self.venv} is broken. Delete it and start again."
                ) from cause
        base = getattr(sys, "_base_executable", None) or sys.executable
        pip = ["--without-pip"] if uv_on_path() else []
        if subprocess.run([base, "-m", "venv", *pip, str(self.venv)], stdout=2).returncode:
            shutil.rmtree(self.venv, ignore_errors=True)
            version = ".".join(map(str, sys.version_info[:2]))
            raise SetupFailed(
                "Python could not make the folder .venv. On Debian and Ubuntu run this once: "
                f"sudo apt install python{version}-venv"
            )

    def works(self) -> bool:
        """Whether .venv has a Python of this version that can reach uv or pip."""
        tools = "" if uv_on_path() else " or not (i.find_spec('uv') or i.find_spec('pip'))"
        wrong = f"sys.version_info[:2] != {tuple(sys.version_info[:2])}{tools}"
        code = f"import sys, importlib.util as i; sys.exit({wrong})"
        try:
            return subprocess.run([str(self.python), "-c", code]).returncode == 0
        except OSError:
            return False

    def install(self, state: State) -> None:
        """One uv call for everything; all is fetched before anything old is taken away."""
        uv, build, python = self.find_uv(), BUILDS[state.build], ["--python", str(self.python)]
        lines = self.requirements(state)
        runtime = [line for line in lines if is_runtime(line)]
        override = runtime if build.dist == "onnxruntime" else [NEVER]
        # Compiled now, the first start of the page does not have to.
        install = [
            *uv,
            "install",
            "--compile-bytecode",
            *python,
            "--constraint",
            str(self.root / "constraints.txt"),
        ]
        for option, text in (("--requirement", lines), ("--override", override)):
            path = self.venv / f"{option[2:]}s.txt"
            path.write_text("\n".join(text) + "\n", encoding="utf-8")
            install += [option, str(path)]
        halves = [part for name in self.halves() for part in ("--reinstall-package", name)]
        self.run([*install, *halves])
        if self.builds() and (not self.is_whole(build) or self.is_mixed()):
            # builds share files, CUDA 12 and 13 too, so both go before the right one comes again
            self.run([*uv, "uninstall", *python, *self.builds(), *self.cuda_libraries()])
            self.run(install)
        self.check_libraries()
        if not self.is_whole(build):
            raise SetupFailed(
                f"Expected {build.dist} alone, found: {', '.join(self.builds()) or 'none'}. "
                f"Delete the folder {self.venv} and start again."
            )

    def halves(self) -> list[str]:
        """Distributions that an interrupted installation left incomplete."""
        return sorted(dist_name(folder) for folder in self.packages() if not is_complete(folder))

    def cuda_libraries(self) -> list[str]:
        """NVIDIA's libraries in .venv."""
        names = {dist_name(folder) for folder in self.packages()}
        return sorted(name for name in names if re.match(r"nvidia-(?!ml-py)", name))

    def is_mixed(self) -> bool:
        """Whether libraries of CUDA 12 and 13 lie over one another."""
        return len({name.endswith("-cu12") for name in self.cuda_libraries()}) > 1

    def find_uv(self) -> list[str]:
        """``uv pip``: the one on PATH, else one installed into .venv."""
        if on_path := uv_on_path():
            return [on_path, "pip"]
        python = str(self.python)
        probe = [python, "-c", "import importlib.util as i; exit(not i.find_spec('uv'))"]
        if subprocess.run(probe).returncode:
            quiet = ["-qq", "--disable-pip-version-check", "--retries", "2"]
            self.run([python, "-m", "pip", "install", *quiet, UV])
        return [python, "-m", "uv", "pip"]

    def check_libraries(self) -> None:
        """SetupFailed when a system library that OpenCV needs is missing (minimal Linux)."""
        done = subprocess.run(
            [str(self.python), "-c", "import cv2"], capture_output=True, text=True
        )
        if done.returncode and "cannot open shared object" in done.stderr:
            raise SetupFailed(
                "Two system libraries are missing. On Debian and Ubuntu run this once: "
                "sudo apt install libgl1 libglib2.0-0"
            )

    def run(self, command: list[str]) -> None:
        """Run ``command`` with its words on standard error; SetupFailed when it fails."""
        if subprocess.run(command, stdout=2, stdin=subprocess.DEVNULL).returncode == 0:
            return
        if shutil.disk_usage(self.root).free < 300e6:
            raise SetupFailed("The disk is full. Make room and start again; nothing is lost.")
        raise SetupFailed(
            "The packages could not be installed; the lines above say why. Most often the internet "
            "connection is missing: check it and start again, nothing is lost."
        )


def check_python() -> None:
    """SetupFailed when this Python does not fit."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST or sys.maxsize < 2**32:
        raise SetupFailed(
            f"Python {platform.python_version()} ({platform.architecture()[0]}) does not fit. "
            "Install Python 3.11, 3.12 or 3.13 (64 bit) from python.org and start again."
        )


def uv_on_path() -> str | None:
    """A uv that runs, not only a shim of that name."""
    path = shutil.which("uv")
    works = path and subprocess.run([path, "--version"], capture_output=True).returncode == 0
    return path if works else None


def resolve(choice: str, *, card: bool) -> str:
    """The build to install for a choice; SetupFailed when it cannot run on this system."""
    system, intel = platform.system(), platform.machine().lower() in ("x86_64", "amd64")
    if choice == "auto":
        return "cuda" if card and intel and system in BUILDS["cuda"].systems else "cpu"
    build = BUILDS[choice]
    if system not in build.systems or (choice != "cpu" and not intel):
        raise SetupFailed(
            f"--{choice} does not exist for {system} on {platform.machine()}. "
            "Start again with --auto, which picks what fits."
        )
    return choice


def nvidia_card() -> bool:
    """Whether an NVIDIA card is in the machine, with or without a driver."""
    if Path("/dev/nvidiactl").exists() or Path("/proc/driver/nvidia/version").exists():
        return True
    for device in Path("/sys/bus/pci/devices").glob("*"):
        try:
            vendor, kind = (device / "vendor").read_text(), (device / "class").read_text()
        except OSError:
            continue
        if vendor.strip() == "0x10de" and kind.startswith("0x03"):
            return True
    tool = shutil.which("nvidia-smi")  # Windows, and Linux inside Windows
    if not tool:
        return False
    return "GPU" in subprocess.run([tool, "-L"], capture_output=True, text=True).stdout


def is_complete(folder: Path) -> bool:
    """Whether every file that a distribution lists is there."""
    try:
        rows = csv.reader((folder / "RECORD").read_text(encoding="utf-8").splitlines())
        return all((folder.parent / row[0]).exists() for row in rows)
    except OSError:
        return False


def is_runtime(line: str) -> bool:
    """Whether a requirement line names a build of ONNX Runtime."""
    return re.match(r"onnxruntime\b", line) is not None


def dist_name(folder: Path) -> str:
    """The distribution's name from its ``.dist-info`` folder."""
    return folder.name.partition("-")[0].replace("_", "-").lower()


def say(text: str) -> None:
    """To standard error, so that ``--json`` stays clean."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
