"""Stands in for uv: installs empty packages with the traps of the real ones, and takes notes."""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CUDA = {"13": ("nvidia-cublas", "nvidia-cudnn-cu13"), "12": ("nvidia-cublas-cu12",)}


def main(arguments: list[str]) -> None:
    with Path(os.environ["FAKE_UV_LOG"]).open("a") as log:
        log.write(json.dumps(arguments) + "\n")
    parser = argparse.ArgumentParser()
    parser.add_argument("pip")
    parser.add_argument("verb")
    parser.add_argument("names", nargs="*")
    for option in ("--python", "--constraint", "--requirement", "--override"):
        parser.add_argument(option)
    parser.add_argument("--compile-bytecode", action="store_true")
    parser.add_argument("--reinstall-package", action="append", default=[])
    given = parser.parse_intermixed_args(arguments)
    site = next(Path(given.python).parent.parent.glob("lib/python*/site-packages"))
    if given.verb == "uninstall":
        for name in given.names:
            remove(site, name)
        return
    if Path(os.environ["FAKE_UV_LOG"]).with_name("offline").exists():
        sys.exit("error: could not connect")
    wanted = [Requirement(line) for line in Path(given.requirement).read_text().splitlines()]
    overrides = [Requirement(line) for line in Path(given.override).read_text().splitlines()]
    replaced = {override.name for override in overrides}
    wanted += [Requirement("onnxruntime>=1")] if "onnxruntime" not in replaced else []
    wanted = [need for need in wanted if need.name not in replaced] + overrides
    for need in wanted:
        if need.marker is None or need.marker.evaluate():
            install(site, need, again=given.reinstall_package)
    (site / "cv2.py").touch()


def install(site: Path, need: Requirement, *, again: list[str]) -> None:
    """One package, and the CUDA libraries when they are asked for."""
    name, version = canonicalize_name(need.name), str(need.specifier).lstrip("=")
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    if not folder.exists() or name in again:
        remove(site, name)
        module = "onnxruntime/capi/state.so" if name.startswith("onnxruntime") else f"{name}.txt"
        write(site, folder, module, f"{name} {version}")
    for library in CUDA["12" if version == "1.26.0" else "13"] if need.extras else ():
        write(site, site / f"{library.replace('-', '_')}-1.dist-info", f"{library}.txt", library)


def write(site: Path, folder: Path, module: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (site / module).parent.mkdir(parents=True, exist_ok=True)
    (site / module).write_text(text)
    (folder / "RECORD").write_text(f"{module},sha256=x,{len(text)}\n{folder.name}/RECORD,,\n")


def remove(site: Path, name: str) -> None:
    """Takes the listed files away, also those that another package has written since."""
    for folder in site.glob(f"{name.replace('-', '_')}-*.dist-info"):
        record = folder / "RECORD"
        for row in csv.reader(record.read_text().splitlines() if record.exists() else []):
            (site / row[0]).unlink(missing_ok=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
