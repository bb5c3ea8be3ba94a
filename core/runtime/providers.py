"""Execution providers: one table, and why one of them could not be used, in plain words.

``get_available_providers()`` tells how ONNX Runtime was built, not what this machine can do. The
truth is where a session landed; this file turns what happened on the way into a reason.
"""

from __future__ import annotations

import ctypes
import difflib
import importlib.metadata
import platform
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
    """One row.

    ``auto``: tried without being asked for. ``systems``: where it exists at all. ``setup``: the
    option of the set-up that installs it, empty when the set-up does not. ``below``: what may
    run the nodes it cannot, before the processor. ``serial``: one run at a time in a session.
    """

    name: str
    ort_name: str
    title: str
    auto: bool = True
    nvidia: bool = False
    systems: tuple[str, ...] = ("Linux", "Windows", "Darwin")
    setup: str = ""
    below: tuple[str, ...] = ()
    serial: bool = False
    options: dict[str, Any] = field(default_factory=dict)


PROVIDERS = (
    Provider(
        name="tensorrt",
        ort_name="TensorrtExecutionProvider",
        title="NVIDIA TensorRT",
        auto=False,  # builds an engine for minutes at first use, so only when asked for
        nvidia=True,
        systems=("Linux", "Windows"),
        setup="--auto",
        below=("cuda",),
    ),
    Provider(
        name="cuda",
        ort_name="CUDAExecutionProvider",
        title="NVIDIA CUDA",
        nvidia=True,
        systems=("Linux", "Windows"),
        setup="--auto",
        options={"cudnn_conv_algo_search": "HEURISTIC"},
    ),
    Provider(
        name="migraphx",
        ort_name="MIGraphXExecutionProvider",
        title="AMD MIGraphX",
        systems=("Linux", "Windows"),
    ),
    Provider(name="rocm", ort_name="ROCMExecutionProvider", title="AMD ROCm", systems=("Linux",)),
    Provider(
        name="directml",
        ort_name="DmlExecutionProvider",
        title="DirectML",
        systems=("Windows",),
        setup="--directml",
        serial=True,  # documented: runs of one session must not overlap, no memory pattern
    ),
    Provider(
        name="coreml", ort_name="CoreMLExecutionProvider", title="Apple CoreML", systems=("Darwin",)
    ),
    Provider(
        name="openvino",
        ort_name="OpenVINOExecutionProvider",
        title="Intel OpenVINO",
        systems=("Linux", "Windows"),
    ),
    Provider(name="cpu", ort_name="CPUExecutionProvider", title="Processor", setup="--cpu"),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}
BY_ORT_NAME = {provider.ort_name: provider for provider in PROVIDERS}
CPU = BY_NAME["cpu"]
CHOICES = ("auto", *BY_NAME)

START = "start.bat" if sys.platform == "win32" else "./start.sh"
REPAIR = f"{START} --setup-only"
REPAIR_CUDA12 = f"{START} --cuda12 --setup-only"
BUILDS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-migraphx",
    "onnxruntime-rocm",
)
SYSTEM_NAMES = {"Darwin": "macOS"}
AMD, NVIDIA = "0x1002", "0x10de"


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
    close = difflib.get_close_matches(name.lower(), CHOICES, n=1, cutoff=0.7)  # gpu is not cpu
    hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(CHOICES)}."
    raise OptionError(f"There is no provider '{name}'.", hint=hint)


@dataclass(frozen=True, slots=True)
class Machine:
    """What can be known about this computer without loading a model runtime.

    The questions are functions so that tests can answer them.
    """

    nvidia_card: Callable[[], bool] = lambda: nvidia_card()
    nvidia_driver: Callable[[], bool] = lambda: nvidia_driver()
    builds: Callable[[], tuple[str, ...]] = lambda: installed_builds()
    system: Callable[[], str] = platform.system
    other_card: Callable[[], bool] = lambda: has_display_device(AMD)


def nvidia_driver() -> bool:
    """Whether an NVIDIA driver is loaded."""
    if Path("/proc/driver/nvidia/version").exists():
        return True
    if Path("/dev/dxg").exists():  # Linux inside Windows borrows the driver of Windows
        return Path("/usr/lib/wsl/lib/libcuda.so.1").exists()
    return sys.platform == "win32" and shutil.which("nvidia-smi") is not None


def nvidia_card() -> bool:
    """Whether an NVIDIA card is in the machine, with or without a driver."""
    return nvidia_driver() or has_display_device(NVIDIA)


def has_display_device(wanted: str) -> bool:
    """Whether Linux lists a graphics card of this PCI vendor; False on other systems."""
    for device in Path("/sys/bus/pci/devices").glob("*"):
        try:
            vendor, kind = (device / "vendor").read_text(), (device / "class").read_text()
        except OSError:
            continue
        if vendor.strip() == wanted and kind.startswith("0x03"):
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
    if machine.system() not in provider.systems:
        names = " / ".join(SYSTEM_NAMES.get(name, name) for name in provider.systems)
        return Reason(
            key="other_system",
            reason=say("gpu.system", provider=provider.title, systems=names),
            advice=say("gpu.choose_auto"),
        )
    if provider.nvidia and "onnxruntime-gpu" in machine.builds():
        return overwritten()
    if provider.nvidia and not machine.nvidia_card():
        return no_card(machine)
    if provider.nvidia and not machine.nvidia_driver():
        return _driver_missing()
    return Reason(
        key="not_in_build",
        reason=say("gpu.build", provider=provider.title),
        advice=say("gpu.build.fix" if provider.setup else "gpu.choose_auto"),
        command=f"{START} {provider.setup} --setup-only" if provider.setup else "",
    )


def overwritten() -> Reason:
    """The GPU build is listed as installed, but its files are those of the CPU build."""
    return Reason(
        key="overwritten", reason=say("gpu.over"), advice=say("gpu.over.fix"), command=REPAIR
    )


def no_card(machine: Machine, *, asked: bool = True) -> Reason:
    """There is nothing better than the processor here; an alarm only when a card was asked for."""
    if machine.system() == "Windows":
        return Reason(
            key="no_card",
            reason=say("gpu.none_nvidia"),
            advice=say("gpu.other.fix"),
            command=f"{START} {BY_NAME['directml'].setup} --setup-only",
            alarming=asked,
        )
    key = "gpu.none_nvidia" if machine.other_card() else "gpu.none"
    return Reason(key="no_card", reason=say(key), alarming=asked)


def model_reason(provider: Provider) -> Reason:
    """The provider works, but took no part of this model."""
    return Reason(key="model_not_supported", reason=say("gpu.model", provider=provider.title))


def output_reason(provider: Provider) -> Reason:
    """What the model gave there was no picture or no numbers."""
    return Reason(key="output", reason=say("gpu.output", provider=provider.title))


def failure_reason(text: str, provider: Provider, machine: Machine) -> Reason:
    """What the words of a failed load or run mean for the user."""
    low = text.lower()
    for words, made in _MEANINGS:
        if any(word in low for word in words):
            return made()
    if provider.nvidia and not machine.nvidia_card():
        return no_card(machine)
    if provider.nvidia and not machine.nvidia_driver():
        return _driver_missing()
    missing = re.search(r"(lib[\w.+-]+\.so[.\d]*|\w+\.dll)", text)
    if missing or "error 126" in low or "cannot open shared object" in low:
        return _library_missing(missing.group(1) if missing else "")
    return Reason(
        key="failed",
        reason=say("gpu.failed", words=_first_line(text)),
        advice=say("gpu.failed.fix"),
    )


def _memory() -> Reason:
    return Reason(key="memory", reason=say("gpu.mem"), advice=say("gpu.mem.fix"))


def _card_too_old() -> Reason:
    return Reason(
        key="card_too_old",
        reason=say("gpu.old"),
        advice=say("gpu.old.fix"),
        command=REPAIR_CUDA12,
    )


def _driver_too_old() -> Reason:
    return Reason(
        key="driver_too_old",
        reason=say("gpu.driver_old"),
        advice=say("gpu.driver_old.fix"),
        command=REPAIR_CUDA12,
    )


def _driver_missing() -> Reason:
    return Reason(key="driver_missing", reason=say("gpu.driver"), advice=say("gpu.driver.fix"))


def _card_hidden() -> Reason:
    return Reason(key="no_card", reason=say("gpu.hidden"), advice=say("gpu.hidden.fix"))


_MEANINGS: tuple[tuple[tuple[str, ...], Callable[[], Reason]], ...] = (
    (
        (
            "out of memory",
            "cuda failure 2:",
            "failed to allocate",
            "alloc_failed",
            "not enough memory resources",
        ),
        _memory,
    ),
    (("no kernel image", "unsupported gpu architecture", "arch_mismatch"), _card_too_old),
    (
        ("driver version is insufficient", "cuda failure 35:", "unsupported display driver"),
        _driver_too_old,
    ),
    (("no cuda-capable device", "cuda failure 100:"), _card_hidden),
)
"""Words of CUDA, cuDNN, cuBLAS and DirectML, and what they mean."""


def _library_missing(library: str) -> Reason:
    if "nvinfer" in library or "nvonnxparser" in library:
        return Reason(
            key="library_missing",
            reason=say("gpu.tensorrt", library=library),
            advice=say("gpu.tensorrt.fix"),
        )
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
