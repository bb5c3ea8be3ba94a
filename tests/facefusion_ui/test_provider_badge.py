"""The badge tells the truth in each of its stories, in both languages."""

from __future__ import annotations

import re

import pytest

from core.pipeline.report import ProviderLine
from core.runtime.providers import Reason
from core.sentences import say
from core.system import badge_case
from core.types import ProviderReport
from facefusion_ui import provider_badge

CARD = "NVIDIA GeForce RTX 4070"
LIBRARY = Reason(
    key="library_missing",
    reason=say("gpu.libs", library="libcublasLt.so.13"),
    advice=say("gpu.libs.fix"),
    command="./start.sh --setup-only",
)
NO_CARD = Reason(key="no_card", reason=say("gpu.none"))
CALM = Reason(key="no_card", reason=say("gpu.none"), alarming=False)


def line(used="cpu", asked="auto", reason=None, frame=None, card=CARD, model="m") -> ProviderLine:
    return ProviderLine.of(
        ProviderReport(
            model=model,
            asked=asked,
            used=used,
            nodes={used: 9},
            reason=reason.reason if reason else "",
            reason_key=reason.key if reason else "",
            advice=reason.advice if reason else "",
            command=reason.command if reason else "",
            fell_back=bool(reason and reason.alarming),
            device="NVIDIA CUDA",
            card=card,
            frame=frame,
        )
    )


CASES = {
    "gpu": [line("cuda"), line("cuda")],
    "cpu_no_card": [line(reason=CALM, card="")],
    "cpu_chosen": [line(asked="cpu")],
    "fell_back": [line(reason=LIBRARY)],
    "mixed": [line("cuda"), line(reason=LIBRARY, model="nsfw5")],
    "switched": [line(reason=LIBRARY, frame=7)],
}
AMBER = {"fell_back", "mixed", "switched"}


@pytest.mark.parametrize("case", CASES)
def test_each_story_has_its_word_its_shape_and_its_tone(case):
    assert badge_case(CASES[case]) == case
    word, drawing, tone = provider_badge.chip(CASES[case], "en")
    assert (tone == "warn") is (case in AMBER)
    shape = {"gpu": "dot", "mixed": "half", "switched": "half"}.get(case, "ring")
    assert drawing == shape
    assert word


def test_every_story_has_a_word_of_its_own():
    for lang in ("en", "zh"):
        assert len({provider_badge.chip(lines, lang)[0] for lines in CASES.values()}) == len(CASES)


@pytest.mark.parametrize("case", sorted(AMBER))
def test_an_amber_story_names_the_reason_and_the_fix(case):
    sentence, advice, command = provider_badge.explain(CASES[case], "en")
    assert "libcublasLt.so.13" in sentence
    assert advice == "Run the command below once."
    assert command == "./start.sh --setup-only"


@pytest.mark.parametrize("case", sorted(set(CASES) - AMBER))
def test_a_calm_story_asks_for_nothing(case):
    assert provider_badge.explain(CASES[case], "en")[1:] == ("", "")


def test_the_card_is_called_by_its_own_name():
    assert provider_badge.explain(CASES["gpu"], "en")[0] == f"{CARD} did all the work."
    told = provider_badge.explain(CASES["fell_back"], "en")[0]
    assert told.startswith(f"Your {CARD} was not used: the CUDA libraries are missing")


def test_models_left_on_the_processor_are_named_when_their_names_are_known():
    told = provider_badge.explain(CASES["mixed"], "en", {"nsfw5": "Safety check"})[0]
    assert "1 of 2 models" in told
    assert "Safety check on the processor" in told


def test_a_mix_by_design_is_green_and_says_so():
    lines = [line("cuda"), line(), line()]
    assert provider_badge.chip(lines, "en")[2] == "ok"
    sentence = provider_badge.explain(lines, "en")[0]
    assert "2 small models" in sentence
    assert "all the work" not in sentence


def test_a_card_asked_for_on_a_computer_without_one_is_not_called_yours():
    lines = [line(asked="cuda", reason=NO_CARD, card="")]
    sentence = provider_badge.explain(lines, "en")[0]
    assert "none was found" in sentence
    assert "Your" not in sentence


def test_advice_that_is_no_alarm_is_still_given():
    calm = Reason(
        key="no_card",
        reason=say("gpu.none"),
        advice=say("gpu.libs.fix"),
        command="start.bat --directml --setup-only",
        alarming=False,
    )
    lines = [line(reason=calm, card="")]
    assert provider_badge.chip(lines, "en")[2] == ""
    assert provider_badge.explain(lines, "en")[2] == "start.bat --directml --setup-only"


@pytest.mark.parametrize("case", CASES)
def test_each_story_is_told_in_chinese_without_english_words(case):
    word, _, _ = provider_badge.chip(CASES[case], "zh")
    sentence, advice, _ = provider_badge.explain(CASES[case], "zh", {"nsfw5": "Safety check"})
    for text in (word, sentence, advice):
        left = re.sub(r"NVIDIA GeForce RTX|CUDA|lib[\w.]+", "", text)
        assert not re.search(r"[A-Za-z]{3,}", left), text
