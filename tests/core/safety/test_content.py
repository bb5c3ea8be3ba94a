"""The content check: refuses, passes everyday pictures, fails closed (case B-18)."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import ContentRefused, ProviderError, WeightsMissing
from core.safety.content import CLASSES, ContentCheck

GREY = np.full((64, 96, 3), 120, np.uint8)


class Said:
    """A session that gives one answer for every view."""

    def __init__(self, **shares: float) -> None:
        rest = 1 - sum(shares.values())
        self.row = [shares.get(name, 0.0) for name in CLASSES]
        self.row[CLASSES.index("neutral")] += rest

    def run(self, inputs, picture=None):
        return {"probabilities": np.tile(np.float32(self.row), (len(inputs["image"]), 1))}


class Broken:
    """A session that answers something else."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def run(self, inputs, picture=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def check(session, **how):
    ContentCheck(lambda spec: session).check(GREY, **({"what": "pic", "strict": False} | how))


@pytest.mark.parametrize(
    ("session", "strict"),
    [
        (Said(neutral=0.99), False),
        (Said(neutral=0.51, porn=0.49), False),
        (Said(porn=0.40, neutral=0.35), False),
        (Said(sexy=0.95), False),
        (Said(drawing=0.99), False),
        (Said(sexy=0.30), True),
        (Said(neutral=0.55, sexy=0.45), True),
    ],
    ids=[
        "safe",
        "safe by a hair",
        "unsafe but unsure",
        "beach",
        "drawing",
        "strict, little",
        "strict, safe by a hair",
    ],
)
def test_what_passes(session, strict):
    check(session, strict=strict)


@pytest.mark.parametrize(
    ("session", "strict"),
    [
        (Said(porn=0.99), False),
        (Said(hentai=0.90), False),
        (Said(porn=0.50, hentai=0.40), False),
        (Said(sexy=0.80), True),
        (Said(porn=0.65), True),
    ],
    ids=["unsafe", "drawn", "both", "strict, dressed little", "strict, unsafe"],
)
def test_what_is_refused(session, strict):
    with pytest.raises(ContentRefused, match="cannot be used") as caught:
        check(session, strict=strict)
    assert "another crop" in caught.value.hint


@pytest.mark.parametrize(("what", "says"), [("pic", "This picture"), ("photo", "This photo")])
def test_a_refusal_names_which_file(what, says):
    with pytest.raises(ContentRefused, match=says):
        check(Said(porn=0.99), what=what)


NONSENSE = {
    "raises": ProviderError("no"),
    "missing": WeightsMissing("no"),
    "not a number": {"probabilities": np.full((4, 5), np.nan, np.float32)},
    "wrong shape": {"probabilities": np.full((4, 3), 1 / 3, np.float32)},
    "no shares": {"probabilities": np.full((4, 5), 0.9, np.float32)},
    "wrong name": {"other": np.zeros((4, 5), np.float32)},
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_a_check_that_cannot_run_lets_nothing_through(answer):
    with pytest.raises(ContentRefused, match="safety check is not working"):
        check(Broken(answer))


# ---- everyday pictures must pass -----------------------------------------------------------


def views(picture, faces):
    """The picture, its parts, mirrored, lighter, darker, without colour, in sepia."""
    height, width = picture.shape[:2]
    yield "whole", picture
    yield "mirrored", picture[:, ::-1]
    for name, part in (
        ("top", np.s_[: height * 2 // 3]),
        ("bottom", np.s_[height // 3 :]),
        ("left", np.s_[:, : width * 2 // 3]),
        ("right", np.s_[:, width // 3 :]),
    ):
        yield name, picture[part]
    for number, face in enumerate(faces):
        x0, y0, x1, y1 = face.box
        for grow in (0.3, 1.0):
            reach = grow * (y1 - y0)
            rows = slice(int(max(0, y0 - reach)), int(y1 + reach))
            columns = slice(int(max(0, x0 - reach)), int(x1 + reach))
            yield f"face {number} +{grow}", picture[rows, columns]
    for light in (0.5, 0.75, 1.3, 1.6):
        yield f"light {light}", np.clip(picture * light, 0, 255).astype(np.uint8)
    grey = picture.mean(2, keepdims=True)
    yield "grey", np.repeat(grey, 3, 2).astype(np.uint8)
    yield "sepia", np.clip(grey * [1.07, 0.95, 0.75], 0, 255).astype(np.uint8)


@pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])
@pytest.mark.parametrize("name", ["astronaut", "grace_hopper", "group_photo"])
def test_everyday_pictures_pass_in_every_light_and_crop(request, engine, pool, name, strict):
    picture = request.getfixturevalue(name)
    checker = ContentCheck(pool.open)
    refused = []
    for view, pixels in views(picture, engine.analyse(picture, embed=False)):
        try:
            checker.check(np.ascontiguousarray(pixels), what="pic", strict=strict)
        except ContentRefused:
            refused.append(view)
    assert refused == []


def test_the_check_looks_at_several_views(engine, pool, astronaut):
    verdict = ContentCheck(pool.open).check(astronaut, what="pic", strict=True)
    assert verdict.views == 4
    assert verdict.strict
    assert verdict.unsafe < 0.5
