"""What a person would check on the contact sheet of all 56 pairs, in figures."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from core.imaging.colour import to_lab


def edges(pixels):
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))


def under(values, patch):
    height, width = patch.mask.shape
    return values[patch.y0 : patch.y0 + height, patch.x0 : patch.x0 + width]


def rim(mask, level):
    """Pixels on both sides of where the mask rises above ``level``."""
    above = (mask > level).astype(np.uint8)
    kernel = np.ones((3, 3), np.uint8)
    return cv2.dilate(above, kernel) != cv2.erode(above, kernel)


def face_region(pair):
    mesh = pair.target.face.mesh
    hull = cv2.convexHull(np.round(mesh[:, :2]).astype(np.int32))
    region = cv2.fillConvexPoly(np.zeros(pair.result.shape[:2], np.uint8), hull, 1)
    return cv2.dilate(region, np.ones((5, 5), np.uint8)) > 0


def test_nine_in_ten_results_look_more_like_the_source(pairs):
    missed = [pair.name for pair in pairs if pair.to_source >= pair.to_target]
    assert len(missed) <= 5, missed


def test_results_come_clearly_nearer_to_the_source(pairs):
    gain = [pair.to_target - pair.to_source for pair in pairs]
    assert np.mean(gain) > 0.15


def test_nothing_changes_outside_the_face(pairs):
    for pair in pairs:
        changed = (pair.result != pair.target.pixels).any(-1)
        assert not (changed & ~face_region(pair)).any(), pair.name


def test_the_face_itself_changes(pairs):
    for pair in pairs:
        changed = (pair.result != pair.target.pixels).any(-1)
        assert changed.sum() > 0.25 * face_region(pair).sum(), pair.name


@pytest.mark.parametrize("level", [0.02, 0.1])
def test_no_seam_shows(pairs, level):
    for pair in pairs:
        where = rim(pair.patch.mask, level)
        before, after = (
            edges(np.ascontiguousarray(under(image, pair.patch)))[where].mean()
            for image in (pair.target.pixels, pair.result)
        )
        assert 0.85 < after / before < 1.15, pair.name


def test_skin_takes_the_tone_of_the_target(pairs):
    for pair in pairs:
        sure = pair.patch.mask > 0.95
        if sure.sum() < 200:
            continue
        old, new = (
            np.median(to_lab(np.ascontiguousarray(under(image, pair.patch)))[sure], axis=0)
            for image in (pair.target.pixels, pair.result)
        )
        assert abs(new[0] - old[0]) < 10, pair.name
        assert np.hypot(*(new - old)[1:]) < 9, pair.name
