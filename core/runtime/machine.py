"""Facts about this computer for the System tab and for a report that helps to help.

No names of people, files or folders appear here.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from core.config import VERSION
from core.runtime.providers import REPAIR, Machine, Reason, installed_builds, overwritten
from core.sentences import say

PACKAGES = ("gradio", "insightface", "opencv-python", "numpy", "huggingface_hub", "c2pa-python")


@dataclass(frozen=True, slots=True)
class Card:
    """A graphics card as its driver describes it."""

    name: str
    memory_mb: int
    free_mb: int
    driver: str


def cards() -> tuple[Card, ...]:
    """NVIDIA cards with a working driver; empty without one."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        found = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
            name = _text(pynvml.nvmlDeviceGetName(handle))
            found.append(Card(name, memory.total >> 20, memory.free >> 20, driver))
        return tuple(found)
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


@cache
def card_name() -> str:
    """Name of the first card; empty without one. Asked once: it is told with every session."""
    found = cards()
    return found[0].name if found else ""


def versions() -> dict[str, str]:
    """Versions of the program, Python and the packages that matter."""
    found = {"FaceFusion UI": VERSION, "Python": platform.python_version()}
    for name in (*installed_builds(), *PACKAGES):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "-"
    return found


def facts() -> dict[str, str]:
    """System, processor, memory, graphics cards; values may be sentences."""
    memory = psutil.virtual_memory()
    found = {
        "System": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Processor": say("fact.cores", n=os.cpu_count() or 1),
        "Memory": say(
            "fact.memory", total=f"{memory.total / 1e9:.1f}", free=f"{memory.available / 1e9:.1f}"
        ),
    }
    for number, card in enumerate(cards(), start=1):
        found[f"Graphics card {number}"] = say(
            "fact.card",
            name=card.name,
            total=card.memory_mb,
            free=card.free_mb,
            driver=card.driver,
        )
    return found


def install_fault(machine: Machine, available: tuple[str, ...]) -> Reason | None:
    """What is wrong with the installed ONNX Runtime builds, if anything.

    insightface asks for the CPU build by name; installed carelessly it overwrites the GPU build.
    """
    builds = machine.builds()
    if "onnxruntime-gpu" in builds and "CUDAExecutionProvider" not in available:
        return overwritten()
    if len(builds) > 1:
        return Reason(
            key="two_builds",
            reason=say("gpu.two", builds=" + ".join(builds)),
            advice=say("gpu.over.fix"),
            command=REPAIR,
        )
    return None


def report_text(providers: list[str]) -> str:
    """A report for help, as plain text: versions, machine, provider lines."""
    lines = [f"{name}: {value}" for name, value in (versions() | facts()).items()]
    place = f"Prefix: {'venv' if sys.prefix != sys.base_prefix else 'system'}"
    # A loader's own words may hold a path below the home folder, and with it a person's name.
    return "\n".join([*lines, place, *providers]).replace(str(Path.home()), "~")


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
