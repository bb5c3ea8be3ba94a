import math

import cv2
import numpy as np
import pytest

from core.imaging.geometry import (
    Square,
    crop,
    cut,
    iou,
    similarity,
    similarity_matrix,
    suppress,
    transform,
)


def dots(places, *, size=400):
    """White spots on black whose centres of mass are ``places``."""
    rows, columns = np.mgrid[0:size, 0:size]
    light = np.zeros((size, size))
    for x, y in places:
        light += np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / 18)
    return np.repeat((light * 255).astype(np.uint8)[..., None], 3, axis=2)


def centre_of_light(pixels):
    light = pixels[..., 0].astype(float)
    rows, columns = np.indices(light.shape)
    return np.array([(columns * light).sum(), (rows * light).sum()]) / light.sum()


@pytest.mark.parametrize("side", [60.0, 150.0, 333.0], ids=["enlarged", "same", "shrunk by area"])
@pytest.mark.parametrize("angle_deg", [0, 30, 90, -135])
def test_what_a_crop_shows_lies_where_its_map_says(side, angle_deg):
    place = np.array([207.0, 191.0])
    square = Square(200.0, 200.0, side, math.radians(angle_deg))
    size = 111
    seen = centre_of_light(crop(dots([place]), square, size))
    back = transform(seen[None], square.to_frame(size))[0]
    assert np.abs(back - place).max() < 0.2


def test_a_whole_picture_cut_at_its_own_size_is_the_picture():
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    assert np.array_equal(crop(pixels, Square(31.5, 31.5, 64.0), 64), pixels)


def test_shrinking_averages_instead_of_skipping():
    stripes = np.zeros((640, 640, 3), np.uint8)
    stripes[:, ::2] = 255
    small = crop(stripes, Square(319.5, 319.5, 640.0), 64)
    assert np.abs(small[8:-8, 8:-8].astype(int) - 128).max() <= 1


@pytest.mark.parametrize("x", [-500.0, -20.0, 0.0, 120.0, 900.0])
def test_a_crop_may_lie_across_or_outside_the_border(x):
    pixels = np.full((90, 120, 3), 77, np.uint8)
    assert np.all(crop(pixels, Square(x, 40.0, 300.0, 0.4), 50) == 77)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_similarity_is_recovered_exactly(dimensions):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(20, dimensions))
    rotation, _ = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    target = 2.5 * points @ rotation.T + np.arange(dimensions)
    scale, found, shift = similarity(points, target)
    assert scale == pytest.approx(2.5)
    assert found == pytest.approx(rotation)
    assert shift == pytest.approx(np.arange(dimensions))


def test_a_similarity_never_mirrors():
    points = np.random.default_rng(2).normal(size=(9, 3))
    _, rotation, _ = similarity(points, points * (-1, 1, 1))
    assert np.linalg.det(rotation) == pytest.approx(1)


def test_points_that_coincide_give_a_shift_only():
    scale, _, shift = similarity(np.zeros((4, 2)), np.full((4, 2), 3.0))
    assert scale == 1
    assert shift == pytest.approx([3, 3])


def test_a_face_chip_is_cut_upright_from_a_turned_picture():
    marks = np.array([(120.0, 150.0), (240.0, 150.0), (180.0, 260.0)])
    wanted = np.array([(20.0, 30.0), (60.0, 30.0), (40.0, 66.6667)])
    turn = cv2.getRotationMatrix2D((180.0, 180.0), 70, 0.9)
    turned = marks @ turn[:, :2].T + turn[:, 2]
    chip = cut(dots([turned[2]]), similarity_matrix(wanted, turned), 100)
    assert np.abs(centre_of_light(chip) - wanted[2]).max() < 0.2


def test_overlap_of_boxes():
    boxes = np.array([(0, 0, 10, 10), (5, 0, 15, 10), (20, 20, 30, 30), (3, 3, 3, 3)], np.float32)
    assert iou(boxes[0], boxes) == pytest.approx([1, 1 / 3, 0, 0])


def test_boxes_that_mean_one_thing_are_grouped_best_first():
    boxes = np.array([(0, 0, 10, 10), (50, 50, 60, 60), (1, 0, 11, 10), (50, 51, 60, 61)], float)
    groups = suppress(boxes, np.array([0.5, 0.6, 0.9, 0.3]), overlap=0.4)
    assert [group.tolist() for group in groups] == [[2, 0], [1, 3]]


def test_no_boxes_give_no_groups():
    assert suppress(np.empty((0, 4)), np.empty(0), overlap=0.3) == []
