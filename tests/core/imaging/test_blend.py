"""Putting pieces back: exact where it must be."""

from __future__ import annotations

import numpy as np
import pytest

from core.imaging.blend import Patch, mix, paste, poisson


@pytest.fixture
def below():
    return np.random.default_rng(0).integers(0, 256, (50, 60, 3)).astype(np.uint8)


@pytest.fixture
def above():
    return np.random.default_rng(1).integers(0, 256, (50, 60, 3)).astype(np.uint8)


def test_mix_is_exact_at_both_ends(below, above):
    assert np.array_equal(mix(below, above, np.zeros((50, 60), np.float32)), below)
    assert np.array_equal(mix(below, above, np.ones((50, 60), np.float32)), above)


def test_mix_is_right_between(below, above):
    mask = np.random.default_rng(2).random((50, 60)).astype(np.float32)
    wanted = below + (above.astype(float) - below) * mask[..., None]
    assert np.abs(mix(below, above, mask) - wanted).max() < 1.6


def test_paste_changes_only_what_the_mask_says(below):
    mask = np.zeros((10, 12), np.float32)
    mask[4:6, 4:6] = 1
    patch = Patch(20, 30, np.full((10, 12, 3), 9, np.uint8), mask)
    before = below.copy()
    made = paste(below, [patch])
    assert np.array_equal(below, before)
    assert (made[34:36, 24:26] == 9).all()
    changed = (made != below).any(-1)
    changed[34:36, 24:26] = False
    assert not changed.any()


def test_later_patches_lie_on_top(below):
    full = np.ones((5, 5), np.float32)
    first, second = (Patch(3, 3, np.full((5, 5, 3), v, np.uint8), full) for v in (10, 200))
    assert (paste(below, [first, second])[3:8, 3:8] == 200).all()


def test_an_empty_patch_changes_nothing(below):
    empty = Patch(0, 0, below[:0, :0], np.zeros((0, 0), np.float32))
    assert np.array_equal(paste(below, [empty]), below)


def test_poisson_meets_the_surroundings():
    below = np.full((60, 60, 3), 120, np.uint8)
    above = np.full((60, 60, 3), 180, np.uint8)
    above[25:35, 25:35] = 220
    mask = np.zeros((60, 60), np.float32)
    mask[10:50, 10:50] = 1
    made = poisson(below, above, mask).astype(int)
    assert abs(made[14, 30, 0] - 120) < 25, "the rim takes the surroundings' tone"
    assert made[30, 30, 0] - made[18, 18, 0] > 20, "detail stays"


def test_poisson_without_an_inside_gives_the_piece_back(below, above):
    assert poisson(below, above, np.zeros((50, 60), np.float32)) is above
