"""Sharpness and grain follow the picture, not the source."""

from __future__ import annotations

import numpy as np
import pytest

from core.imaging.detail import match_detail
from core.imaging.masks import blur

ALL = np.ones((120, 120), np.float32)


def texture(sigma_px, *, seed=0):
    """Random detail of one coarseness, contrast 4."""
    made = blur(np.random.default_rng(seed).normal(0, 1, (120, 120)).astype(np.float32), sigma_px)
    return 60 + made * 4 / made.std()


def fineness(lightness):
    return np.abs(lightness - blur(lightness, 0.8)).mean()


def test_a_sharp_source_is_softened():
    sharp, soft = texture(0.4), texture(3.0, seed=1)
    made = match_detail(sharp, soft, ALL)
    assert fineness(made) < 0.5 * fineness(sharp)


def test_a_soft_source_gets_crisper_and_grainy():
    soft, grainy = texture(3.0), texture(2.0, seed=1)
    grainy = grainy + np.random.default_rng(3).normal(0, 1.5, ALL.shape).astype(np.float32)
    made = match_detail(soft, grainy, ALL)
    assert fineness(made) > 2 * fineness(soft)
    assert 0.3 * fineness(grainy) < fineness(made) < 1.2 * fineness(grainy)


def test_edges_of_the_old_face_are_not_taken_for_grain():
    target = texture(2.0, seed=1)
    target += np.random.default_rng(4).normal(0, 0.5, ALL.shape).astype(np.float32)
    target[:, 58:62] -= 45  # a rim of glasses
    made = match_detail(texture(3.0), target, ALL)
    plain = match_detail(texture(3.0), texture(2.0, seed=1), ALL)
    assert np.abs(made - plain)[:, 56:64].mean() < 1.5


def test_outside_the_compared_skin_no_grain_is_added():
    where = ALL.copy()
    where[:, 60:] = 0
    target = texture(2.0, seed=1)
    target += np.random.default_rng(5).normal(0, 2, ALL.shape).astype(np.float32)
    soft = texture(6.0)
    made = match_detail(soft, target, where)
    assert fineness(made[:, 70:]) < 0.5 * fineness(made[:, :50])


def test_too_little_skin_changes_nothing():
    soft = texture(3.0)
    assert match_detail(soft, texture(0.5), ALL * 0) is soft


@pytest.mark.parametrize("level", [0.0, 100.0])
def test_flat_pictures_do_no_harm(level):
    flat = np.full(ALL.shape, level, np.float32)
    assert np.isfinite(match_detail(texture(1.0), flat, ALL)).all()
    assert np.isfinite(match_detail(flat, texture(1.0), ALL)).all()
