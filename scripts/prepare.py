"""Set up .venv with the right single ONNX Runtime build; quick when nothing changed.

Run by start.sh, start.bat and test.sh with any Python from 3.11 to 3.13; standard library only.

    prepare.py [--cuda12 | --directml | --cpu | --default] [--dev]

insightface requires the distribution ``onnxruntime`` by name, whose files are the same as those
of ``onnxruntime-gpu``; so everything else is installed first with that requirement overridden
away, then exactly one build. The choice is remembered until another one is asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BUILDS = {
    "default": "requirements.txt",
    "cuda12": "requirements-cuda12.txt",
    "directml": "requirements-directml.txt",
    "cpu": "requirements-cpu.txt",
}
OLDEST, NEWEST = (3, 11), (3, 13)
NEEDED_BYTES = 3_000_000_000
UV = "uv==0.13.9"


class SetupFailed(Exception):
    """Said to the user as it is."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="prepare.py", description=__doc__.splitlines()[0])
    for build in BUILDS:
        parser.add_argument(f"--{build}", dest="build", action="store_const", const=build)
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    chosen = parser.parse_args(arguments)
    try:
        prepare(chosen.build, dev=chosen.dev)
    except SetupFailed as failed:
        print(f"\n{failed}", file=sys.stderr)
        return 1
    return 0


def prepare(build: str | None, *, dev: bool) -> None:
    """Bring .venv into the wanted state, or do nothing when it is there."""
    check_python()
    build = build or remembered(VENV) or "default"
    wanted = stamp_of(build, dev=dev, card=has_nvidia_card())
    with_dev = stamp_of(build, dev=True, card=has_nvidia_card())
    if read(VENV / "ready") in (wanted, with_dev) and is_sane(VENV, build):
        return
    (VENV / "ready").unlink(missing_ok=True)
    print("Setting up. This happens once and takes a minute or two.", flush=True)
    check_space()
    install(build, dev=dev)
    (VENV / "build").write_text(build, encoding="utf-8")
    (VENV / "ready").write_text(wanted, encoding="utf-8")
    print("Set-up is complete.", flush=True)


def check_python() -> None:
    """SetupFailed when this Python is too old or too new."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise SetupFailed(
            f"Python {platform.python_version()} does not fit. "
            "Install Python 3.11, 3.12 or 3.13 from python.org and start again."
        )


def check_space() -> None:
    """SetupFailed when the disk has no room for the packages."""
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED_BYTES and not (VENV / "build").exists():
        raise SetupFailed(
            f"Not enough space: about {NEEDED_BYTES / 1e9:.0f} GB are needed, "
            f"{free / 1e9:.1f} GB are free. Make room and start again."
        )


def install(build: str, *, dev: bool) -> None:
    """Everything but ONNX Runtime, then the one build."""
    python = venv_python(VENV)
    if not python.exists():
        run([sys.executable, "-m", "venv", str(VENV)], "The folder .venv could not be made.")
    uv = find_uv(python)
    offline_hint = "Check the internet connection and start again; nothing is lost."
    general, override = VENV / "general.txt", VENV / "override.txt"
    general.write_text("\n".join(general_lines(dev=dev)), encoding="utf-8")
    override.write_text("onnxruntime ; python_version < '3'\n", encoding="utf-8")
    pip = [*uv, "pip", "install", "--python", str(python)]
    run([*pip, "--override", str(override), "-r", str(general)], offline_hint)
    present = installed_builds(VENV)
    if present:
        run([*uv, "pip", "uninstall", "--python", str(python), *present], offline_hint)
    runtime = VENV / "runtime.txt"
    runtime.write_text("\n".join(runtime_lines(build)), encoding="utf-8")
    run([*pip, "--reinstall-package", "onnxruntime-gpu", "-r", str(runtime)], offline_hint)
    left = installed_builds(VENV)
    if len(left) != 1:
        raise SetupFailed(f"Expected one ONNX Runtime build, found: {', '.join(left) or 'none'}.")


def general_lines(*, dev: bool) -> list[str]:
    """All requirements but ONNX Runtime."""
    files = ["requirements.txt", *(["requirements-dev.txt"] if dev else [])]
    return [line for name in files for line in lines_of(name) if not is_runtime(line)]


def runtime_lines(build: str) -> list[str]:
    """The requirement of the chosen ONNX Runtime build; CUDA libraries only with a card."""
    lines = [line for line in lines_of(BUILDS[build]) if is_runtime(line)]
    if has_nvidia_card():
        lines = [
            line.replace("onnxruntime-gpu==", "onnxruntime-gpu[cuda,cudnn]==") for line in lines
        ]
    return lines


def lines_of(name: str) -> list[str]:
    """Requirement lines without comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def is_runtime(line: str) -> bool:
    """Whether a requirement line names an ONNX Runtime build."""
    return re.match(r"onnxruntime\b", line) is not None


def stamp_of(build: str, *, dev: bool, card: bool) -> str:
    """Changes whenever the installation has to."""
    names = sorted({"requirements.txt", BUILDS[build], *(["requirements-dev.txt"] if dev else [])})
    facts = [build, str(card), platform.python_version(), UV, str(VENV)]
    text = "\n".join([*facts, *(line for name in names for line in lines_of(name))])
    return hashlib.sha256(text.encode()).hexdigest()


def is_sane(venv: Path, build: str) -> bool:
    """Whether exactly one ONNX Runtime build is there, with its GPU part where it has one."""
    present = installed_builds(venv)
    if len(present) != 1 or not venv_python(venv).exists():
        return False
    if present[0] != "onnxruntime-gpu" or build == "cpu":
        return True
    libraries = [
        *venv.glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime_providers_cuda.so"),
        *venv.glob("Lib/site-packages/onnxruntime/capi/onnxruntime_providers_cuda.dll"),
    ]
    return bool(libraries)


def installed_builds(venv: Path) -> list[str]:
    """Distributions of ONNX Runtime in the environment."""
    patterns = ("lib/python*/site-packages", "Lib/site-packages")
    found = {
        re.sub(r"-[^-]*\.dist-info$", "", path.name).replace("_", "-").lower()
        for pattern in patterns
        for folder in venv.glob(pattern)
        for path in folder.glob("onnxruntime*.dist-info")
    }
    return sorted(found)


def has_nvidia_card() -> bool:
    """Whether an NVIDIA card with a driver is present, or will be (in a container image)."""
    if os.environ.get("FACEFUSION_ASSUME_CARD") == "1":
        return True
    return Path("/dev/nvidiactl").exists() or (
        sys.platform == "win32" and shutil.which("nvidia-smi") is not None
    )


def find_uv(python: Path) -> list[str]:
    """The command of uv: the one on PATH, else one installed into the environment."""
    on_path = shutil.which("uv")
    if on_path:
        return [on_path]
    has = subprocess.run([str(python), "-m", "uv", "--version"], capture_output=True, check=False)
    if has.returncode != 0:
        hint = "Check the internet connection and start again; nothing is lost."
        run([str(python), "-m", "pip", "install", "--quiet", UV], hint)
    return [str(python), "-m", "uv"]


def venv_python(venv: Path) -> Path:
    """The environment's interpreter."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def remembered(venv: Path) -> str | None:
    """The build chosen last time."""
    name = read(venv / "build")
    return name if name in BUILDS else None


def read(path: Path) -> str:
    """The text of a file, or nothing."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def run(command: list[str], hint: str) -> None:
    """Run ``command``; SetupFailed with ``hint`` when it fails."""
    if subprocess.run(command, check=False).returncode != 0:
        raise SetupFailed(f"The set-up stopped. {hint}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
