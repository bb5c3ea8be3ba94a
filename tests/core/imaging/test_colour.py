"""Tone and light: what is compared, what is changed, what is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from core.imaging.colour import (
    TONE_SIZE,
    apply,
    match,
    measure,
    to_lab,
    to_rgb,
    unlike_skin,
    wears_glasses,
)
from core.imaging.masks import zones

ALL = np.ones((TONE_SIZE, TONE_SIZE), np.float32)


def face(level=65.0, a=14.0, b=20.0, *, slope=0.0, noise=2.0, seed=0):
    """A face on the atlas: even skin, lit more from one side by ``slope``, dark eyes and brows."""
    lab = np.empty((TONE_SIZE, TONE_SIZE, 3), np.float32)
    lab[...] = (level, a, b)
    lab[..., 0] += slope * (np.arange(TONE_SIZE, dtype=np.float32) / TONE_SIZE - 0.5)
    lab += np.random.default_rng(seed).normal(0, noise, lab.shape).astype(np.float32)
    lab[zones(TONE_SIZE).brows > 0.5] = (20, 3, 4)
    return lab


def skin(lab):
    return np.median(lab[zones(TONE_SIZE).skin > 0.5], axis=0)


def test_lab_and_back_is_the_same_picture():
    pixels = np.random.default_rng(2).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    assert np.abs(to_rgb(to_lab(pixels)).astype(int) - pixels).max() <= 1


@pytest.mark.parametrize(
    ("source", "target"),
    [((75, 8, 14), (45, 16, 24)), ((35, 12, 18), (80, 8, 15)), ((65, 25, 32), (78, 6, 20))],
    ids=["to darker", "to lighter", "to paler"],
)
def test_skin_becomes_the_targets(source, target):
    one, other = face(*source), face(*target, seed=1)
    made = apply(one, match(measure(one, ALL), measure(other, ALL), strength=1.0))
    assert skin(made) == pytest.approx(skin(other), abs=2.5)


def test_strength_zero_leaves_the_source_alone():
    one, other = face(75), face(40)
    made = apply(one, match(measure(one, ALL), measure(other, ALL), strength=0.0))
    usual = zones(TONE_SIZE).skin > 0.5
    assert np.abs(made - one)[usual].mean() < 0.2


def test_light_comes_from_the_side_it_comes_from_in_the_target():
    one, other = face(slope=-30), face(slope=30)
    made = apply(one, match(measure(one, ALL), measure(other, ALL), strength=1.0))
    usual = zones(TONE_SIZE).skin > 0.5
    columns = np.indices(usual.shape)[1]
    left, right = (made[usual & side, 0].mean() for side in (columns < 20, columns > 44))
    assert right > left + 5


def test_dark_features_stay_dark_and_neutral():
    one, other = face(55, 8, 12), face(80, 22, 34)
    made = apply(one, match(measure(one, ALL), measure(other, ALL), strength=1.0))
    brows = np.median(made[zones(TONE_SIZE).brows > 0.9], axis=0)
    assert brows[0] < 0.6 * 80
    assert np.hypot(brows[1], brows[2]) < 0.6 * np.hypot(22, 34)


def test_shine_and_teeth_do_not_turn_blue_on_paler_skin():
    one, other = face(60, 24, 32), face(75, 5, 14)
    one[30:33, 30:33] = (95, 6, 8)
    made = apply(one, match(measure(one, ALL), measure(other, ALL), strength=1.0))
    assert made[31, 31, 2] > -3


def test_hair_over_the_face_does_not_change_its_tone():
    plain, fringed = face(), face()
    fringed[:18] = (22, 4, 8)
    assert measure(fringed, ALL).middle == pytest.approx(measure(plain, ALL).middle, abs=1.5)


def test_what_is_not_trusted_does_not_count():
    half = ALL.copy()
    half[:, : TONE_SIZE // 2] = 0
    lab = face()
    lab[:, : TONE_SIZE // 2] = (40, -30, -30)
    assert measure(lab, half).middle == pytest.approx(measure(face(), ALL).middle, abs=1.5)


def test_a_face_that_is_hidden_altogether_still_has_a_tone():
    tone = measure(face(), np.zeros_like(ALL))
    assert np.isfinite(tone.coarse).all()


@pytest.mark.parametrize(
    ("lab", "odd"),
    [
        ((65, 14, 20), 0),
        ((58, 15, 22), 0),
        ((85, 8, 12), 0),
        ((20, 3, 5), 1),
        ((60, -10, -25), 1),
    ],
    ids=["skin", "shadow", "shine", "dark hair", "blue background"],
)
def test_what_may_be_skin(lab, odd):
    assert unlike_skin(np.array([[lab]], np.float32), np.array([65, 14, 20])) == pytest.approx(
        odd, abs=0.1
    )


def test_glasses_are_seen_and_brows_are_not_glasses():
    plain, worn = face(), face()
    rows = slice(round(0.27 * TONE_SIZE), round(0.30 * TONE_SIZE) + 1)
    worn[rows, round(0.1 * TONE_SIZE) : round(0.9 * TONE_SIZE)] = (15, 2, 2)
    assert wears_glasses(measure(worn, ALL))
    assert not wears_glasses(measure(plain, ALL))
