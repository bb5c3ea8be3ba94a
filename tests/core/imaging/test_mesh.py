"""The surface, its unrolling and its rasteriser, on the average face (no model needed)."""

from __future__ import annotations

import numpy as np
import pytest

from core.imaging import mesh
from core.imaging.mesh import LEFT_EYE, MOUTH, RIGHT_EYE, surface
from core.imaging.topology import topology


def average_face(size=200.0):
    """The frontal average face, ``size`` pixels high, in a square 1.5 times as large."""
    shape = topology().frontal_shape
    irises = np.concatenate(
        [np.repeat(shape[[one]].mean(0, keepdims=True), 5, 0) for one in (159, 386)]
    )
    points = np.concatenate([shape, irises]) * size / np.ptp(shape[:, 1])
    return mesh.extend(points + np.array([0.75 * size, 0.75 * size, 0], np.float32))


def turned(points, yaw_deg):
    """``points`` turned about their own upright axis."""
    angle = np.radians(yaw_deg)
    middle = points.mean(0)
    matrix = np.array(
        [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    )
    return ((points - middle) @ matrix.T + middle).astype(np.float32)


def areas(points):
    corners = points[surface().triangles]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]


def test_middles_are_added():
    points = average_face()
    assert points.shape == (481, 3)
    assert points[LEFT_EYE] == pytest.approx(points[topology().eye_image_left].mean(0), abs=1e-3)
    assert points[RIGHT_EYE, 0] > points[MOUTH, 0] > points[LEFT_EYE, 0]


def test_the_unrolled_face_does_not_fold():
    assert (areas(surface().places) > 0).all()
    assert surface().places[:468].min() >= 0
    assert surface().places[:468].max() <= 1


def test_mirroring_the_atlas_mirrors_the_vertices():
    known = surface()
    assert np.array_equal(known.mirror[known.mirror], np.arange(481))
    flipped = known.places[known.mirror] * (-1, 1) + (1, 0)
    used = np.setdiff1d(np.arange(481), np.arange(468, 478))
    assert np.abs(flipped - known.places)[used].max() < 1e-3


def test_the_mouth_has_room_for_teeth():
    places = surface().places
    assert places[14, 1] - places[13, 1] > 0.03


def test_a_frontal_face_looks_at_the_viewer():
    facing = -mesh.normals(average_face())[:, 2]
    assert facing[4] > 0.7, "tip of the nose"
    assert facing[151] > 0.7, "forehead"
    assert facing[234] < 0.6, "beside the ear"


@pytest.mark.parametrize(
    ("yaw_deg", "hidden", "shown"),
    [(50, 50, 280), (-50, 280, 50)],
    ids=["the left cheek goes", "the right cheek goes"],
)
def test_a_turned_face_hides_a_cheek(yaw_deg, hidden, shown):
    facing = -mesh.normals(turned(average_face(), yaw_deg))[:, 2]
    assert min(facing[hidden], facing[shown]) < 0.35 < max(facing[hidden], facing[shown])


def test_what_faces_away_is_not_drawn():
    points = average_face()
    all_of_it = (mesh.rasterise(points, (300, 300)) > 0).sum()
    profile = mesh.rasterise(turned(points, 75), (300, 300))
    drawn = np.unique(profile[profile > 0]) - 1
    assert (areas(turned(points, 75))[drawn] > 0).all()
    assert 0 < (profile > 0).sum() < all_of_it


def test_nearer_skin_hides_farther_skin():
    points = average_face()
    near = points.copy()
    near[:, 2] = 0
    nose = surface().triangles[(surface().triangles == 4).any(1)]
    near[np.unique(nose)] += (60, 0, -50)
    ids = mesh.rasterise(near, (300, 300), cull=False)
    x, y = near[4, :2].astype(int)
    assert ids[y, x] - 1 in np.flatnonzero((surface().triangles == 4).any(1))


def test_spread_is_exact_for_flat_values():
    points = average_face()
    ids = mesh.rasterise(points, (300, 300))
    made = mesh.spread(ids, points, points[:, :2])
    rows, columns = np.indices((300, 300))
    inside = ids > 0
    assert np.abs(made[..., 0] - columns)[inside].mean() < 0.05
    assert np.abs(made[..., 1] - rows)[inside].mean() < 0.05


def test_slivers_do_not_run_away():
    points = average_face()
    points[topology().lips_inner, 1] = points[13, 1]  # a mouth closed to a line
    ids = mesh.grow(mesh.rasterise(points, (300, 300)), radius_px=2)
    made = mesh.spread(ids, points, surface().places)
    inside = ids > 0
    assert made[inside].min() > -0.3
    assert made[inside].max() < 1.3


@pytest.mark.parametrize("size", [64, 128, 512])
def test_atlas_and_picture_agree(size):
    """A point of the picture, looked up through the atlas, is itself."""
    points = average_face()
    there = mesh.to_atlas(points[:, :2], size)
    ids = mesh.rasterise(points, (300, 300))
    places = mesh.spread(ids, points, surface().places)
    back = mesh.look_up(there, places * size - 0.5)
    rows, columns = np.indices((300, 300))
    off = np.hypot(back[..., 0] - columns, back[..., 1] - rows)[ids > 0]
    assert np.median(off) < 0.3


def test_look_up_is_exact_at_pixels():
    picture = np.random.default_rng(1).random((9, 7, 3)).astype(np.float32)
    rows, columns = np.indices((9, 7)).astype(np.float32)
    at = np.stack([columns, rows], axis=-1)
    assert np.allclose(mesh.look_up(picture, at), picture, atol=1e-6)
    assert np.allclose(mesh.look_up(picture, at, cubic=True), picture, atol=1e-6)
