"""Execution providers: one table, and why one of them could not be used, in plain words.

``get_available_providers()`` tells how ONNX Runtime was built, not what this machine can do. The
truth is where a session landed; this file turns what happened on the way into a reason.
"""

from __future__ import annotations

import ctypes
import difflib
import importlib.metadata
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import OptionError
from core.sentences import Sentence, say


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One row. ``auto`` says whether it is tried without being asked for."""

    name: str
    ort_name: str
    title: str
    auto: bool = True
    nvidia: bool = False
    options: dict[str, Any] = field(default_factory=dict)


PROVIDERS = (
    Provider(
        name="tensorrt",
        ort_name="TensorrtExecutionProvider",
        title="NVIDIA TensorRT",
        auto=False,  # builds an engine for minutes at first use, so only when asked for
        nvidia=True,
    ),
    Provider(
        name="cuda",
        ort_name="CUDAExecutionProvider",
        title="NVIDIA CUDA",
        nvidia=True,
        options={"cudnn_conv_algo_search": "HEURISTIC"},
    ),
    Provider(name="migraphx", ort_name="MIGraphXExecutionProvider", title="AMD MIGraphX"),
    Provider(name="rocm", ort_name="ROCMExecutionProvider", title="AMD ROCm"),
    Provider(name="directml", ort_name="DmlExecutionProvider", title="DirectML"),
    Provider(name="coreml", ort_name="CoreMLExecutionProvider", title="Apple CoreML"),
    Provider(name="openvino", ort_name="OpenVINOExecutionProvider", title="Intel OpenVINO"),
    Provider(name="cpu", ort_name="CPUExecutionProvider", title="Processor"),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}
BY_ORT_NAME = {provider.ort_name: provider for provider in PROVIDERS}
CPU = BY_NAME["cpu"]
CHOICES = ("auto", *BY_NAME)

REPAIR = "start.bat --setup-only" if sys.platform == "win32" else "./start.sh --setup-only"
REPAIR_CUDA12 = f"{REPAIR} --cuda12"
BUILDS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-migraphx",
    "onnxruntime-rocm",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a provider was not used. ``alarming`` is False when nothing better was to be had."""

    key: str
    reason: Sentence
    advice: str = ""
    command: str = ""
    alarming: bool = True


def check_choice(name: str) -> str:
    """``name`` itself; OptionError with a suggestion when there is no such provider."""
    if name in CHOICES:
        return name
    close = difflib.get_close_matches(name.lower(), CHOICES, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(CHOICES)}."
    raise OptionError(f"There is no provider '{name}'.", hint=hint)


@dataclass(frozen=True, slots=True)
class Machine:
    """What can be known about graphics cards without loading a model runtime.

    The three questions are functions so that tests can answer them.
    """

    nvidia_card: Callable[[], bool] = lambda: nvidia_card()
    nvidia_driver: Callable[[], bool] = lambda: nvidia_driver()
    builds: Callable[[], tuple[str, ...]] = lambda: installed_builds()


def nvidia_driver() -> bool:
    """Whether an NVIDIA driver is loaded."""
    if Path("/proc/driver/nvidia/version").exists():
        return True
    if sys.platform == "win32":
        return shutil.which("nvidia-smi") is not None
    return False


def nvidia_card() -> bool:
    """Whether an NVIDIA card is in the machine, with or without a driver."""
    if nvidia_driver():
        return True
    for device in Path("/sys/bus/pci/devices").glob("*"):
        try:
            vendor, kind = (device / "vendor").read_text(), (device / "class").read_text()
        except OSError:
            continue
        if vendor.strip() == "0x10de" and kind.startswith("0x03"):
            return True
    return False


def installed_builds() -> tuple[str, ...]:
    """Names of all installed ONNX Runtime builds; more than one is a fault."""
    found = []
    for name in BUILDS:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found.append(name)
    return tuple(found)


def absent_reason(provider: Provider, machine: Machine) -> Reason:
    """Why ``provider`` is not in this ONNX Runtime build."""
    if provider.nvidia and "onnxruntime-gpu" in machine.builds():
        return Reason(
            key="overwritten", reason=say("gpu.over"), advice=say("gpu.over.fix"), command=REPAIR
        )
    if provider.nvidia and not machine.nvidia_card():
        return no_card()
    return Reason(
        key="not_in_build",
        reason=say("gpu.build", provider=provider.title),
        advice=say("gpu.build.fix"),
        command=REPAIR,
    )


def no_card(*, asked: bool = True) -> Reason:
    """There is nothing better than the processor here; an alarm only when a card was asked for."""
    return Reason(key="no_card", reason=say("gpu.none"), alarming=asked)


def failure_reason(text: str, provider: Provider, machine: Machine) -> Reason:
    """What the words of a failed load or run mean for the user."""
    low = text.lower()
    if "out of memory" in low or "cuda failure 2" in low or "failed to allocate" in low:
        return Reason(key="memory", reason=say("gpu.mem"), advice=say("gpu.mem.fix"))
    if "no kernel image" in low or "unsupported gpu architecture" in low:
        return Reason(
            key="card_too_old",
            reason=say("gpu.old"),
            advice=say("gpu.old.fix"),
            command=REPAIR_CUDA12,
        )
    if "driver version is insufficient" in low or "cuda failure 35" in low:
        return Reason(
            key="driver_too_old",
            reason=say("gpu.driver_old"),
            advice=say("gpu.driver_old.fix"),
            command=REPAIR_CUDA12,
        )
    if provider.nvidia and not machine.nvidia_card():
        return no_card()
    missing = re.search(r"(lib[\w.+-]+\.so[.\d]*|\w+\.dll)", text)
    if provider.nvidia and not machine.nvidia_driver():
        return Reason(key="driver_missing", reason=say("gpu.driver"), advice=say("gpu.driver.fix"))
    if missing or "error 126" in low or "cannot open shared object" in low:
        return _library_missing(missing.group(1) if missing else "")
    return Reason(
        key="failed",
        reason=say("gpu.failed", words=_first_line(text)),
        advice=say("gpu.failed.fix"),
    )


def _library_missing(library: str) -> Reason:
    major = re.search(r"\.so\.(\d+)$", library)
    if major and _other_major_loads(library, int(major.group(1))):
        return Reason(
            key="wrong_cuda",
            reason=say("gpu.major", major=major.group(1)),
            advice=say("gpu.libs.fix"),
            command=REPAIR,
        )
    return Reason(
        key="library_missing",
        reason=say("gpu.libs", library=library) if library else say("gpu.libs_any"),
        advice=say("gpu.libs.fix"),
        command=REPAIR,
    )


def _other_major_loads(library: str, major: int) -> bool:
    if not library.startswith(("libcublas", "libcudart", "libcufft")):
        return False
    for other in (major - 1, major + 1):
        try:
            ctypes.CDLL(library.rsplit(".", 1)[0] + f".{other}")
        except OSError:
            continue
        return True
    return False


def _first_line(text: str) -> str:
    words = text.strip().splitlines()
    return words[0][:160] if words else "no words given"
