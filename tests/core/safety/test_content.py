"""The content check: refuses, passes everyday pictures, fails closed (case B-18)."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import skimage
from PIL import Image

from core.errors import Cancelled, ContentRefused, ProviderError, WeightsMissing
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.safety.content import (
    CLASSES,
    LIMIT,
    LIMIT_STRICT,
    UNSAFE,
    UNSAFE_STRICT,
    ContentCheck,
    needs_strict,
)
from core.types import Face

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
    return ContentCheck(lambda spec: session).check(
        GREY, **({"what": "pic", "strict": False} | how)
    )


def face(box, **facts):
    return Face(np.float32(box), np.zeros((5, 2), np.float32), 0.9, **facts)


# Case B-18, and beside it what the stricter rule changes. A row: shares, then whether it passes
# usually, and when someone young is shown.
TRUTH = {
    "safe, sure": ({"neutral": 0.99}, True, True),
    "safe, hardly": ({"neutral": 0.51, "porn": 0.49}, True, True),
    "unsafe, sure": ({"porn": 0.99}, False, False),
    "unsafe, unsure": ({"porn": 0.40, "neutral": 0.35, "sexy": 0.25}, True, True),
    "unsafe, just under": ({"porn": 0.84}, True, False),
    "unsafe, just over": ({"porn": 0.86}, False, False),
    "two kinds together": ({"porn": 0.50, "hentai": 0.40}, False, False),
    "drawn": ({"hentai": 0.90}, False, False),
    "little clothing": ({"sexy": 0.95}, True, False),
    "little clothing, unsure": ({"sexy": 0.65}, True, True),
    "all kinds together": ({"sexy": 0.40, "porn": 0.35}, True, False),
    "a drawing": ({"drawing": 0.99}, True, True),
    "a drawing of nudity": ({"drawing": 0.10, "hentai": 0.88}, False, False),
}


@pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])
@pytest.mark.parametrize("row", TRUTH.values(), ids=TRUTH)
def test_the_truth_table(row, strict):
    shares, usually, strictly = row
    if strictly if strict else usually:
        verdict = check(Said(**shares), strict=strict)
        assert verdict.strict is strict
        return
    with pytest.raises(ContentRefused, match="cannot be used") as caught:
        check(Said(**shares), strict=strict)
    assert "another crop" in caught.value.hint
    assert caught.value.exit_code == 6


def test_a_pass_says_what_was_seen():
    verdict = check(Said(neutral=0.6, porn=0.3), strict=False)
    assert verdict.label == "neutral"
    assert verdict.unsafe == pytest.approx(0.3, abs=1e-6)
    assert verdict.views == 4


def test_one_bad_view_of_four_is_not_a_refusal_but_four_are():
    class Wavering(Said):
        def run(self, inputs, picture=None):
            rows = np.tile(np.float32([0, 0, 1, 0, 0]), (len(inputs["image"]), 1))
            rows[: self.bad] = np.float32([0, 0, 0, 1, 0])
            return {"probabilities": rows}

    session = Wavering()
    session.bad = 1
    check(session)
    session.bad = 4
    with pytest.raises(ContentRefused):
        check(session)


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ({"what": "pic"}, "This picture"),
        ({"what": "photo"}, "This photo"),
        ({"what": "photo", "number": 3}, "Photo 3"),
    ],
)
def test_a_refusal_names_which_file(which, says):
    with pytest.raises(ContentRefused, match=says):
        check(Said(porn=0.99), **which)


@pytest.mark.parametrize(
    ("ages", "strict"),
    [((), False), ((34.0, 21.0), False), ((34.0, 19.9), True), ((8.0,), True), ((None,), True)],
    ids=["nobody", "grown-ups", "one young", "a child", "age unknown"],
)
def test_who_asks_for_the_stricter_rule(ages, strict):
    faces = [face((0, 0, 9, 9), age_years=age) for age in ages]
    assert needs_strict(faces) is strict


def answer(rows: int = 4, shares: int = 5, value: float = 0.2) -> dict:
    return {"probabilities": np.full((rows, shares), value, np.float32)}


NONSENSE = {
    "raises": ProviderError("no"),
    "missing": WeightsMissing("no"),
    "raises what nobody foresaw": RuntimeError("no"),
    "not a number": answer(value=np.nan),
    "endless": answer(value=np.inf),
    "wrong shape": answer(shares=3, value=1 / 3),
    "too few views": answer(rows=1),
    "no shares": answer(value=0.9),
    "zeros": answer(value=0),
    "below zero": {"probabilities": np.tile(np.float32([-1, 0, 2, 0, 0]), (4, 1))},
    "no numbers": {"probabilities": np.full((4, 5), "porn")},
    "wrong name": {"other": np.zeros((4, 5), np.float32)},
    "nothing": {},
    "None": None,
}


@pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])
@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_a_check_that_cannot_run_lets_nothing_through(answer, strict):
    with pytest.raises(ContentRefused, match="safety check is not working"):
        check(Broken(answer), strict=strict)


def test_weights_that_are_not_there_let_nothing_through(tmp_path):
    weights = WeightStore(tmp_path / "a", embedded=tmp_path / "b", offline=True, endpoint="")
    pool = SessionPool(weights, provider="cpu", idle_unload_s=0)
    with pytest.raises(ContentRefused, match="safety check is not working"):
        ContentCheck(pool.open).check(GREY, what="pic", strict=False)


def test_calling_the_work_off_is_not_a_refusal():
    with pytest.raises(Cancelled):
        check(Broken(Cancelled()))


def test_nothing_turns_the_check_off(monkeypatch):
    asked = set(inspect.signature(ContentCheck.check).parameters) | set(
        inspect.signature(ContentCheck).parameters
    )
    assert asked == {"self", "pixels", "what", "strict", "faces", "number", "open_session"}
    for name in ("FACEFUSION_NSFW", "FACEFUSION_SAFETY", "FACEFUSION_CONTENT_CHECK"):
        monkeypatch.setenv(name, "0")
    with pytest.raises(ContentRefused):
        check(Said(porn=0.99))


class Looking(Said):
    """Keeps the views it was shown."""

    def run(self, inputs, picture=None):
        self.views = inputs["image"]
        return super().run(inputs)


def test_only_close_ups_are_looked_at_again_and_then_without_the_face():
    white = np.full((100, 100, 3), 255, np.uint8)
    for box, views in (((30, 30, 50, 50), 4), ((20, 20, 80, 80), 8), ((-90, -90, 50, 50), 8)):
        session = Looking()
        verdict = ContentCheck(lambda spec, session=session: session).check(
            white, what="pic", strict=False, faces=[face(box)]
        )
        assert verdict.views == len(session.views) == views
        assert session.views[0].min() == 1
        if views == 8:
            middle = [int(224 * (max(0, box[i]) + box[i + 2]) / 200) for i in (1, 0)]
            assert session.views[4][tuple(middle)].max() < 0.6
    assert white.min() == 255


@pytest.mark.parametrize("shape", [(16, 4000), (4000, 16), (16, 16), (1, 1), (3000, 2000)])
def test_pictures_of_any_shape_are_looked_at(shape):
    session = Looking()
    ContentCheck(lambda spec: session).check(
        np.full((*shape, 3), 90, np.uint8), what="pic", strict=False
    )
    assert session.views.shape == (4, 224, 224, 3)
    assert 0 <= session.views.min() <= session.views.max() <= 1


# ---- everyday pictures must pass -----------------------------------------------------------


LIGHTS = (0.5, 0.75, 1.3, 1.6)


def tones(picture):
    """Lighter, darker, without colour, in sepia, paler, stronger."""
    yield "as it is", picture
    for light in LIGHTS:
        yield f"light {light}", np.clip(picture * light, 0, 255).astype(np.uint8)
    grey = picture.mean(2, keepdims=True)
    yield "grey", np.repeat(grey, 3, 2).astype(np.uint8)
    yield "sepia", np.clip(grey * [1.07, 0.95, 0.75], 0, 255).astype(np.uint8)
    for colour in (0.5, 1.5):
        yield f"colour {colour}", np.clip(grey + (picture - grey) * colour, 0, 255).astype(np.uint8)


def parts(picture, faces):
    """The picture, its halves, each face in two crops, and crops by chance; where each lies."""
    height, width = picture.shape[:2]
    yield "whole", (0, 0, width, height)
    yield "top", (0, 0, width, height // 2)
    yield "bottom", (0, height // 2, width, height)
    yield "left", (0, 0, width // 2, height)
    yield "right", (width // 2, 0, width, height)
    for number, one in enumerate(faces):
        x0, y0, x1, y1 = (int(edge) for edge in one.box)
        for grow in (0.2, 0.6):
            reach = int(grow * (y1 - y0))
            yield (
                f"face {number} +{grow}",
                (max(0, x0 - reach), max(0, y0 - reach), x1 + reach, y1 + reach),
            )
    chance = np.random.default_rng(18)
    for number in range(4):
        columns, rows = (int(side * chance.uniform(0.4, 0.8)) for side in (width, height))
        left, top = int(chance.uniform(0, width - columns)), int(chance.uniform(0, height - rows))
        yield f"chance {number}", (left, top, left + columns, top + rows)


def inside(faces, part):
    """The faces whose middle lies in ``part``, where they are there."""
    x0, y0, x1, y1 = part
    for one in faces:
        x, y = (one.box[:2] + one.box[2:]) / 2
        if x0 < x < x1 and y0 < y < y1:
            yield face(one.box - np.float32([x0, y0, x0, y0]))


def mirrored(faces, picture):
    """The faces of the mirrored picture."""
    width = picture.shape[1]
    return tuple(
        face((width, 0, width, 0) + one.box[[2, 1, 0, 3]] * (-1, 1, -1, 1)) for one in faces
    )


def refused(checker, picture, faces):
    """Which (part, tone) of a picture the check refuses; it should be none.

    Asked by the stricter rule alone: what passes that passes the usual one (less is counted and
    more allowed there).
    """
    found = []
    for name, part in parts(picture, faces):
        x0, y0, x1, y1 = part
        pixels = np.ascontiguousarray(picture[y0:y1, x0:x1])
        shown = tuple(inside(faces, part))
        for tone, changed in tones(pixels):
            if tone not in ("as it is", "sepia") and name != "whole" and "+0.2" not in name:
                continue
            try:
                checker.check(changed, what="pic", strict=True, faces=shown)
            except ContentRefused:
                found.append((name, tone))
    return found


def test_the_stricter_rule_allows_nothing_that_the_usual_one_refuses():
    assert LIMIT_STRICT < LIMIT
    assert set(UNSAFE) < set(UNSAFE_STRICT)


@pytest.mark.parametrize("name", ["astronaut", "grace_hopper", "group_photo"])
def test_everyday_pictures_pass_in_every_light_and_crop(request, engine, pool, name):
    picture = request.getfixturevalue(name)
    faces = engine.analyse(picture, embed=False)
    assert faces
    checker = ContentCheck(pool.open)
    assert refused(checker, picture, faces) == []
    assert refused(checker, np.ascontiguousarray(picture[:, ::-1]), mirrored(faces, picture)) == []


SAMPLES = sorted(
    path
    for path in (Path(skimage.__file__).parent / "data").iterdir()
    if path.suffix in (".png", ".jpg") and path.stem != "astronaut"
)


def test_there_are_sample_pictures():
    assert {"camera", "chelsea", "coffee", "rocket"} <= {path.stem for path in SAMPLES}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_pictures_of_things_pass(pool, path):
    checker = ContentCheck(pool.open)
    with Image.open(path) as opened:
        picture = np.asarray(opened.convert("RGB"))
    for tone, pixels in tones(picture):
        if tone in ("as it is", "grey", "sepia"):
            checker.check(pixels, what="pic", strict=True)
