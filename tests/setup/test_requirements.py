"""The requirement files agree with one another and fit every system."""

from __future__ import annotations

import importlib.metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core.config import PROJECT
from core.runtime.providers import installed_builds

FILES = [*sorted(PROJECT.glob("*requirements*.txt")), PROJECT / "constraints.txt"]


def needs(name: str) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in (PROJECT / name).read_text().splitlines())
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-cpu.txt"])
@pytest.mark.parametrize(
    ("system", "machine"),
    [
        ("linux", "x86_64"),
        ("linux", "aarch64"),
        ("win32", "AMD64"),
        ("darwin", "arm64"),
        ("darwin", "x86_64"),
    ],
)
def test_each_system_gets_exactly_one_build(file, system, machine):
    place = {"sys_platform": system, "platform_machine": machine}
    builds = [
        need
        for need in needs(file)
        if need.name.startswith("onnxruntime")
        and (need.marker is None or need.marker.evaluate(place))
    ]
    assert len(builds) == 1


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_everything_is_pinned_and_no_file_names_a_host(file):
    assert all(str(need.specifier).startswith("==") for need in needs(file.name))
    assert "://" not in file.read_text()


def test_the_tested_versions_are_the_required_ones():
    tested = {(canonicalize_name(n.name), str(n.specifier)) for n in needs("constraints.txt")}
    asked = {
        (canonicalize_name(need.name), str(need.specifier))
        for name in ("requirements.txt", "requirements-dev.txt")
        for need in needs(name)
        if not need.name.startswith("onnxruntime")
    }
    assert asked <= tested


def test_a_space_installs_the_same_insightface_first():
    assert needs("pre-requirements.txt")[0] in needs("requirements.txt")


def test_this_environment_has_exactly_one_build():
    assert len(installed_builds()) == 1
    assert importlib.metadata.version(installed_builds()[0])
