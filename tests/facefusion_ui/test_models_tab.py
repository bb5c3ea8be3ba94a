"""A model's row: state, costs and licence first, one next action; strangers only look."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.config import Settings
from core.errors import DownloadFailed
from core.runtime.downloads import Download
from core.runtime.weights import Progress, Verdict
from core.sentences import say
from core.types import ModelSpec
from facefusion_ui import licence_chip, model_rows
from facefusion_ui.model_rows import Asking
from facefusion_ui.tabs.models import ModelDesk
from facefusion_ui.texts import LANGS, t

SPEC = ModelSpec(
    name="big",
    title="Big <i>model",
    file="big.onnx",
    repo="someone/models",
    size_bytes=103_000_000,
    licence="Non-Commercial",
    licence_kind="private",
    licence_url="https://example.org/licence?a=1&b=2",
    vendor="some<b>one",
    year=2025,
    url="https://example.org",
)
RUNNING = Download("running", Progress(25_000_000, 103_000_000, 5_000_000.0, 61.0))
FAILED = Download(
    "failed", RUNNING.progress, DownloadFailed(say("model.bad"), hint=say("model.bad.hint"))
)
STOPPED = Download("cancelled", RUNNING.progress)


class Weights:
    def __init__(self, state):
        self.found, self.folder = state, Path("models")
        self.adopted = []

    def state(self, spec):
        return self.found

    def place(self, spec):
        return self.folder / spec.file

    def verify(self, spec):
        return Verdict(self.found, "verified")

    def used_bytes(self):
        return 5_000_000

    def adopt(self, spec, path):
        self.adopted.append(spec.name)


class Downloads:
    def __init__(self, download):
        self.download, self.started, self.cancelled = download, [], []

    def of(self, name):
        return self.download

    def start(self, spec, **how):
        self.started.append((spec.name, how))

    def cancel(self, name):
        self.cancelled.append(name)


def services(state="missing", download=None, spec=SPEC, **settings):
    return SimpleNamespace(
        settings=Settings(**settings),
        weights=Weights(state),
        downloads=Downloads(download),
        model=lambda name: spec,
        models=lambda: (spec,),
    )


def actions(html):
    return set(re.findall(r'data-act="(\w+)"', html))


ROWS = {
    "missing": (services(), {"get", "own"}),
    "ready": (services("ready"), set()),
    "running": (services(download=RUNNING), {"cancel"}),
    "failed": (services(download=FAILED), {"again", "own"}),
    "damaged": (services("damaged"), {"again", "own"}),
    "stopped": (services(download=STOPPED), {"get", "own"}),
    "repaired by hand": (services("ready", FAILED), set()),
    "offline": (services(offline=True), {"own"}),
    "too large to hand over": (services(max_upload_mb=50), {"get", "copy"}),
    "shared page": (services(public=True), set()),
}


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ROWS)
def test_a_row_offers_what_makes_sense_now(name, lang):
    found, wanted = ROWS[name]
    html = model_rows.row(found, SPEC, Asking(), lang)
    assert actions(html) == wanted
    assert "Big &lt;i&gt;model" in html
    assert "103 MB" in html
    assert t("lic.private", lang) in html
    assert ('role="progressbar"' in html) is (name == "running")


def test_a_bar_says_how_far_it_is():
    html = model_rows.row(services(download=RUNNING), SPEC, Asking(), "en")
    assert 'aria-valuenow="24"' in html
    assert "25 of 103 MB · 5.0 MB a second · about 61 s left" in html


def test_a_failed_download_says_why_and_what_to_do():
    html = model_rows.row(services(download=FAILED), SPEC, Asking(), "en")
    assert "Check failed" in html
    assert "damaged" in html
    assert "Try again later" in html


@pytest.mark.parametrize("lang", LANGS)
def test_the_licence_is_shown_in_place_of_the_actions(lang):
    html = model_rows.row(services(), SPEC, Asking(licence="big"), lang)
    assert 'type="checkbox"' in html
    assert "https://example.org/licence?a=1&amp;b=2" in html
    assert "some&lt;b&gt;one" in html
    assert actions(html) == {"accept", "back"}


def test_nothing_is_fetched_before_the_licence_was_ticked():
    found, now = services(), Asking()
    desk = ModelDesk(found, "en")
    desk.act(now, "get", "big", False)
    assert now.licence == "big"
    desk.act(now, "accept", "big", False)
    assert found.downloads.started == []
    assert "Still needed" in model_rows.row(found, SPEC, now, "en")
    desk.act(now, "accept", "big", True)
    assert found.downloads.started == [("big", {"accept_licence": True, "again": False})]
    assert now.licence == ""


def test_an_open_licence_needs_no_question():
    spec = ModelSpec(**{f: getattr(SPEC, f) for f in SPEC.__slots__} | {"licence_kind": "open"})
    found, now = services(spec=spec), Asking()
    ModelDesk(found, "en").act(now, "get", "big", False)
    assert [name for name, _ in found.downloads.started] == ["big"]


def test_a_damaged_file_is_fetched_anew():
    found, now = services("damaged"), Asking(licence="big")
    ModelDesk(found, "en").act(now, "accept", "big", True)
    assert found.downloads.started[0][1]["again"] is True


def test_strangers_can_neither_fetch_nor_stop_nor_put_a_file_there(tmp_path):
    found, now = services(public=True), Asking(own="big")
    desk = ModelDesk(found, "en")
    for what in ("get", "accept", "cancel"):
        desk.act(now, what, "big", True)
    desk.adopt(now, str(tmp_path / "evil.onnx"))
    assert (found.downloads.started, found.downloads.cancelled) == ([], [])
    assert found.weights.adopted == []


def test_strangers_are_not_told_the_folder():
    assert str(Path("models")) in model_rows.top(services(), "en")
    found = services(public=True)
    found.weights.folder = Path("somewhere_private")
    assert "somewhere_private" not in model_rows.top(found, "en")


@pytest.mark.parametrize(
    ("state", "asked_again"), [("missing", True), ("damaged", True), ("ready", False)]
)
def test_a_file_copied_by_hand_is_checked(state, asked_again):
    found, now = services(state), Asking()
    desk = ModelDesk(found, "en")
    desk.act(now, "copy", "big", False)
    assert now.copy == "big"
    desk.act(now, "copied", "big", False)
    assert (now.copy == "big") is asked_again
    assert bool(now.remark) is asked_again


@pytest.mark.parametrize("lang", LANGS)
def test_licences_differ_in_word_and_shape(lang):
    chips = {kind: licence_chip.chip(kind, lang) for kind in ("open", "private", "unknown")}
    assert len(set(chips.values())) == 3
    assert "ff-ok" in chips["open"]
    assert all("ff-warn" in chips[kind] for kind in ("private", "unknown"))


def test_the_strictest_licence_counts():
    assert licence_chip.strictest(["open", "unknown", "private"]) == "private"
    assert licence_chip.strictest(["open", "unknown"]) == "unknown"
    assert licence_chip.strictest(["open"]) == "open"
