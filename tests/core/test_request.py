"""A request survives JSON and refuses what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from core.request import Output, People, RenderRequest, Step

FULL = RenderRequest(
    sources=(Path("a b.jpg"), Path("测试 🙂.png")),
    target=Path("-i.png"),
    steps=(Step(processor="swap", options={"likeness": 0.4, "keep_mouth": False}),),
    people=People(choose="numbers", numbers=(2, 1)),
    output=Output(path=Path("out.png"), quality=80, label=True),
    provider="cpu",
    consent=True,
)


def test_a_request_survives_json():
    assert RenderRequest.model_validate_json(FULL.model_dump_json()) == FULL


def test_consent_is_never_assumed():
    assert RenderRequest(target=Path("t.png"), steps=()).consent is False


@pytest.mark.parametrize(
    "people",
    [
        {"choose": "numbers"},
        {"choose": "largest", "numbers": (1,)},
        {"choose": "numbers", "numbers": (0,)},
        {"choose": "nobody"},
    ],
    ids=["numbers missing", "numbers not asked for", "counted from 0", "unknown choice"],
)
def test_contradicting_people_are_refused(people):
    with pytest.raises(ValidationError):
        People(**people)


def test_unknown_fields_are_refused():
    with pytest.raises(ValidationError):
        RenderRequest(target=Path("t.png"), steps=(), sorces=())
