"""The System tab: where each model ran, the fix, the storage, and a report without names."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.config import Settings
from core.runtime import machine
from core.system import SystemFacts
from facefusion_ui import system_view
from facefusion_ui.tabs.system import SystemDesk
from facefusion_ui.texts import LANGS, t
from tests.facefusion_ui.test_provider_badge import AMBER, CASES


def facts(case, **more):
    return SystemFacts(
        case=case,
        headline="",
        providers=tuple(CASES[case]),
        machine={},
        versions={"Python": "3"},
        titles={"m": "A <b>model", "nsfw5": "Safety check"},
        **more,
    )


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("case", CASES)
def test_the_fix_can_be_copied_exactly_when_there_is_one(case, lang):
    html = system_view.headline(CASES[case], lang, facts=facts(case))
    assert ('data-copy="./start.sh --setup-only"' in html) is (case in AMBER)


@pytest.mark.parametrize("case", CASES)
def test_the_table_says_why_only_when_something_is_wrong(case):
    html = system_view.table(facts(case), "en")
    assert ("libcublasLt.so.13" in html) is (case in AMBER)
    assert ("data-copy" in html) is (case in AMBER)
    assert "A &lt;b&gt;model" in html or "Safety check" in html
    assert html.count("<tbody><tr>") == 1


def test_measured_speed_is_shown_with_its_sum():
    html = system_view.table(facts("gpu", self_test_ms={"m": 12.34}), "en")
    assert "12.3 ms" in html
    assert "One run" in html
    assert "One run" not in system_view.table(facts("gpu"), "en")


def test_who_chose_the_processor_can_change_it():
    shown = system_view.headline(
        CASES["cpu_chosen"], "en", facts=facts("cpu_chosen"), may_change=True
    )
    assert 'href="#system-work"' in shown
    assert "#system-work" not in system_view.headline(CASES["gpu"], "en", facts=facts("gpu"))


def services(outputs: Path, **settings):
    return SimpleNamespace(
        settings=Settings(data_folder=outputs.parent, **settings),
        sessions=SimpleNamespace(
            offered=lambda: (SimpleNamespace(name="cuda", title="NVIDIA CUDA"),)
        ),
    )


def results(folder, ages_h):
    for number, age in enumerate(ages_h):
        place = folder / f"run{number}"
        place.mkdir(parents=True)
        (place / "a.png").write_bytes(b"x" * 1_000_000)
        then = time.time() - age * 3600
        os.utime(place, (then, then))


def test_the_clean_up_asks_first_and_says_how_much(tmp_path):
    outputs = tmp_path / "outputs"
    results(outputs, [0, 30, 30])
    desk = SystemDesk(services(outputs), "en")
    asked = desk.tidy("ask")
    assert set(re.findall(r'data-act="(\w+)"', asked)) == {"old", "all", "keep"}
    assert "2 results, 2.0 MB" in asked
    assert "3 results, 3.0 MB" in asked
    desk.tidy("keep")
    assert len(list(outputs.iterdir())) == 3
    assert "Files deleted: 2" in desk.tidy("old")
    assert [path.name for path in outputs.iterdir()] == ["run0"]
    desk.tidy("all")
    assert list(outputs.iterdir()) == []
    assert "No results are kept" in desk.storage()


@pytest.mark.parametrize("lang", LANGS)
def test_places_to_choose_start_with_the_automatic_one(tmp_path, lang):
    choices = SystemDesk(services(tmp_path / "outputs"), lang).choices()
    assert choices == [(t("system.auto", lang), "auto"), ("NVIDIA CUDA", "cuda"),
                       (t("prov.cpu", lang), "cpu")]  # fmt: skip


def test_a_place_given_at_the_start_is_what_automatic_means(tmp_path):
    choices = SystemDesk(services(tmp_path / "outputs", provider="cpu"), "en").choices()
    assert choices[0] == ("As started: Processor", "auto")


def test_the_report_holds_no_home_folder():
    text = machine.report_text([f"failed in {Path.home()}/secret/file.so"])
    assert str(Path.home()) not in text
    assert "~/secret/file.so" in text


@pytest.mark.parametrize("lang", LANGS)
def test_facts_about_the_machine_are_in_the_visitors_language(lang):
    html = system_view.about(facts("gpu"), lang)
    shown = html.split("<details", 1)[1]
    assert (" cores" in shown) is (lang == "en")
    assert t("fact.memory_name", lang) in shown
