"""The badge in its six cases, the model rows, and that every sentence exists in both languages."""

from __future__ import annotations

import re
import string

import pytest

from core.errors import DownloadFailed
from core.pipeline.report import ProviderLine
from core.runtime.downloads import Download
from core.runtime.providers import PROVIDERS as TABLE
from core.runtime.providers import Machine, failure_reason, no_card
from core.runtime.weights import Progress
from core.sentences import ENGLISH, say
from core.system import SystemFacts, badge_case
from core.types import ModelSpec, ProviderReport
from facefusion_ui import provider_badge
from facefusion_ui.chinese import CORE
from facefusion_ui.tabs import models, system
from facefusion_ui.texts import LANGS, TEXTS, t

CHINESE = re.compile(r"[\u4e00-\u9fff]")
CUDA = next(row for row in TABLE if row.name == "cuda")
WELL = Machine(lambda: True, lambda: True, lambda: ("onnxruntime-gpu",))


def line(used="cpu", asked="auto", reason=None, frame=None) -> ProviderLine:
    return ProviderLine.of(
        ProviderReport(
            model="m",
            asked=asked,
            used=used,
            nodes={used: 9},
            reason=reason.reason if reason else "",
            reason_key=reason.key if reason else "",
            advice=reason.advice if reason else "",
            command=reason.command if reason else "",
            fell_back=bool(reason and reason.alarming),
            device="NVIDIA CUDA",
            frame=frame,
        )
    )


LIBRARY = failure_reason("libcublasLt.so.13: cannot open shared object file", CUDA, WELL)
CASES = {
    "gpu": [line("cuda"), line("cuda")],
    "cpu_no_card": [line(reason=no_card(WELL, asked=False))],
    "cpu_chosen": [line(asked="cpu")],
    "fell_back": [line(reason=LIBRARY)],
    "mixed": [line("cuda"), line(reason=LIBRARY)],
    "switched": [line(reason=LIBRARY, frame=7)],
}
AMBER = {"fell_back", "mixed", "switched"}


@pytest.mark.parametrize("case", CASES)
def test_each_story_has_its_word_its_shape_and_its_tone(case):
    assert badge_case(CASES[case]) == case
    word, _, tone = provider_badge.chip(CASES[case], "en")
    assert (tone == "warn") is (case in AMBER)
    assert word
    sentence, advice, command = provider_badge.explain(CASES[case], "en")
    assert sentence.endswith((".", ")."))
    assert bool(command) is (case in AMBER)
    if case in AMBER:
        assert "libcublasLt.so.13" in sentence
        assert "--setup-only" in command
        assert advice


@pytest.mark.parametrize("case", CASES)
def test_each_story_is_told_in_chinese_without_english_words(case):
    word, _, _ = provider_badge.chip(CASES[case], "zh")
    sentence, advice, _ = provider_badge.explain(CASES[case], "zh")
    for text in (word, sentence, advice):
        left = re.sub(r"[\w.]*(NVIDIA|CUDA|lib\w+[\w.]*)[\w.]*", "", text)
        assert not re.search(r"[A-Za-z]{3,}", left), text


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("case", CASES)
def test_the_headline_shows_model_place_reason_and_fix(case, lang):
    facts = SystemFacts(
        case=case,
        headline="",
        providers=tuple(CASES[case]),
        machine={},
        versions={},
        titles={"m": "A <b>model"},
        self_test_ms={"m": 12.3},
    )
    html = system.headline(facts, lang)
    assert "A &lt;b&gt;model" in html
    assert "12.3" in html
    assert ("data-copy" in html) is (case in AMBER)


SPEC = ModelSpec(
    name="big",
    title="Big <i>model",
    file="big.onnx",
    repo="someone/models",
    size_bytes=403_000_000,
    licence="Non-Commercial",
    licence_kind="private",
    licence_url="https://example.org/licence?a=1&b=2",
    vendor="someone",
    year=2025,
    url="https://example.org",
)


class Weights:
    def __init__(self, state="missing"):
        self._state = state

    def state(self, spec):
        return self._state


class Services:
    """Just what a row reads."""

    def __init__(self, state="missing", download=None):
        self.weights = Weights(state)
        self.downloads = type("D", (), {"of": lambda _, name: download})()


RUNNING = Download("running", Progress(100_000_000, 403_000_000, 5_000_000.0, 61.0))
FAILED = Download(
    "failed",
    RUNNING.progress,
    DownloadFailed(say("model.bad"), hint=say("model.bad.hint")),
)
ROWS = {
    "missing": (Services(), {"get", "own"}),
    "ready": (Services("ready"), set()),
    "running": (Services(download=RUNNING), {"cancel"}),
    "failed": (Services(download=FAILED), {"again", "own"}),
    "damaged": (Services("damaged"), {"again", "own"}),
    "stopped": (Services(download=Download("cancelled", RUNNING.progress)), {"get", "own"}),
}


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ROWS)
def test_a_row_offers_what_makes_sense_now(name, lang):
    services, actions = ROWS[name]
    html = models._row(services, SPEC, models.Asking(), lang)
    assert set(re.findall(r'data-act="(\w+)"', html)) == actions
    assert "Big &lt;i&gt;model" in html
    assert "403 MB" in html
    assert t("lic.private", lang) in html
    assert ('role="progressbar"' in html) is (name == "running")


def test_a_bar_says_how_far_it_is():
    html = models._row(Services(download=RUNNING), SPEC, models.Asking(), "en")
    assert 'aria-valuenow="25"' in html
    assert "100 of 403 MB · 5.0 MB a second · about 61 s left" in html


def test_a_failed_download_says_why():
    html = models._row(Services(download=FAILED), SPEC, models.Asking(), "en")
    assert "damaged" in html
    assert "Try again later" in html


@pytest.mark.parametrize("lang", LANGS)
def test_the_licence_is_shown_and_has_to_be_ticked_before_any_byte(lang):
    html = models._row(Services(), SPEC, models.Asking(licence="big"), lang)
    assert 'type="checkbox"' in html
    assert "https://example.org/licence?a=1&amp;b=2" in html
    assert set(re.findall(r'data-act="(\w+)"', html)) == {"accept", "back"}
    started = []
    services = Services()
    services.model = lambda name: SPEC
    services.downloads = type(
        "D", (), {"start": lambda _, spec, **how: started.append(how), "of": lambda _, n: None}
    )()
    now = models.Asking()
    models.act(services, now, "get", "big", agreed=False)
    assert now.licence == "big"
    models.act(services, now, "accept", "big", agreed=False)
    assert started == []
    models.act(services, now, "accept", "big", agreed=True)
    assert [how["accept_licence"] for how in started] == [True]


# ---- sentences -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", TEXTS)
def test_every_sentence_is_in_both_languages_with_the_same_values(key):
    english, chinese = TEXTS[key]
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(text) if name}
        for text in (english, chinese)
    ]
    assert fields[0] == fields[1]
    assert not CHINESE.search(english) or key == "lang.label"
    assert "!" not in english
    assert "！" not in chinese


@pytest.mark.parametrize("key", ENGLISH)
def test_every_sentence_of_core_has_chinese_with_the_same_values(key):
    chinese = CORE[key] if key in CORE else TEXTS[key][1]
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(text) if name}
        for text in (ENGLISH[key], chinese)
    ]
    assert fields[0] == fields[1]
    assert CHINESE.search(chinese)
