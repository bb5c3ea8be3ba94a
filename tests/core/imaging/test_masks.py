"""Steps, blurs that look only where they may, and the zones of the atlas."""

from __future__ import annotations

import numpy as np
import pytest

from core.imaging.masks import (
    blur,
    from_outside,
    inside_distance,
    smoothstep,
    weighted_blur,
    zones,
)
from core.imaging.mesh import LEFT_EYE, MOUTH, surface


@pytest.mark.parametrize(
    ("value", "low", "high", "made"),
    [(-1, 0, 1, 0), (0.5, 0, 1, 0.5), (2, 0, 1, 1), (2, 1, 0, 0), (-1, 1, 0, 1)],
    ids=["below", "half way", "above", "falling, above", "falling, below"],
)
def test_smoothstep(value, low, high, made):
    assert smoothstep(np.float32(value), low, high) == pytest.approx(made)


def test_blur_keeps_the_level_at_the_border():
    flat = np.full((20, 30), 7, np.float32)
    assert np.allclose(blur(flat, 4), 7)


def test_weighted_blur_does_not_see_what_has_no_weight():
    values = np.full((64, 64, 3), 50, np.float32)
    weights = np.ones((64, 64), np.float32)
    values[:, 40:] = 255
    weights[:, 40:] = 0
    made = weighted_blur(values, weights, 8, fallback=np.full(3, 50, np.float32))
    assert np.abs(made - 50).max() < 1


def test_weighted_blur_far_from_everything_is_the_fallback():
    fallback = np.array([1, 2, 3], np.float32)
    empty = np.zeros((32, 32), np.float32)
    made = weighted_blur(np.full((32, 32, 3), 99, np.float32), empty, 2, fallback=fallback)
    assert np.allclose(made, fallback)


def test_distance_grows_inwards():
    inside = np.zeros((21, 21), bool)
    inside[3:18, 3:18] = True
    far = inside_distance(inside)
    assert far[0, 0] == 0
    assert far[10, 10] > far[5, 10] > far[3, 10] > 0


def test_only_what_is_joined_to_the_outside_counts():
    oval = np.zeros((60, 60), np.float32)
    oval[5:55, 5:55] = 1
    odd = np.zeros((60, 60), np.float32)
    odd[5:25, 30] = 1  # a strand of hair from above
    odd[40:44, 40:44] = 1  # a mole
    joined = from_outside(odd, oval)
    assert joined[10, 30] == 1
    assert joined[41, 41] == 0


@pytest.mark.parametrize("size", [64, 256])
def test_zones_cover_what_they_say(size):
    zone = zones(size)

    def at(mask, vertex):
        column, row = surface().places[vertex]
        return mask[int(row * size), int(column * size)]

    assert at(zone.eyes, LEFT_EYE) > 0.8
    assert at(zone.mouth, MOUTH) > 0.8
    assert at(zone.skin, LEFT_EYE) == at(zone.skin, MOUTH) == at(zone.skin, 105) == 0
    assert at(zone.skin, 50) == at(zone.skin, 151) == 1, "cheek and forehead"
    assert at(zone.features, 4) > 0.9, "nose"
    assert at(zone.fringe, 10) > 0.9, "top of the forehead"
    assert at(zone.fringe, LEFT_EYE) == at(zone.fringe, 4) == 0
    assert at(zone.doubt, 10) < 1 < at(zone.doubt, 50)
    assert zone.oval.mean() > 0.5


def test_zones_are_shared_and_so_may_not_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        zones(64).skin[0, 0] = 1
