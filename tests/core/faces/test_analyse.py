from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from core.faces.embed import cosine

GREY = (127, 127, 127)


def turned(pixels, degrees):
    """The whole picture turned clockwise on a larger board, and the map of its points."""
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -degrees, 1)
    cos, sin = np.abs(matrix[0, :2])
    size = int(np.ceil(width * cos + height * sin)), int(np.ceil(width * sin + height * cos))
    matrix[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
    return cv2.warpAffine(pixels, matrix, size, borderValue=GREY), matrix


def scaled(pixels, factor):
    return cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)


def eye_distance(face):
    return float(np.linalg.norm(face.points[0] - face.points[1]))


@pytest.mark.parametrize("degrees", range(0, 360, 45))
def test_a_face_is_found_at_every_turn_and_fitted_the_right_way_round(
    engine, astronaut, astronaut_face, degrees
):
    pixels, matrix = turned(astronaut, degrees)
    (face,) = engine.analyse(pixels)
    expected = astronaut_face.mesh[:, :2] @ matrix[:, :2].T + matrix[:, 2]
    off = np.linalg.norm(face.mesh[:, :2] - expected, axis=1).mean()
    assert off < 0.05 * eye_distance(astronaut_face)
    turn = (face.roll_deg - astronaut_face.roll_deg - degrees + 180) % 360 - 180
    assert abs(turn) < 6
    assert cosine(*(one.embeddings["descriptor1024"] for one in (face, astronaut_face))) > 0.9


@pytest.mark.parametrize("factor", [1.0, 0.25], ids=["full size", "quarter size"])
def test_six_people_are_six_faces_in_the_same_places(engine, group_photo, group_faces, factor):
    faces = engine.analyse(scaled(group_photo, factor), embed=False)
    assert len(faces) == len(group_faces) == 6
    for small, large in zip(faces, group_faces, strict=True):
        assert np.abs(small.points / factor - large.points).max() < 0.08 * large.height_px


@pytest.mark.parametrize("degrees", [90, 135, 180])
def test_six_people_are_found_when_the_photo_lies_on_its_side(engine, group_photo, degrees):
    pixels, _ = turned(scaled(group_photo, 0.6), degrees)
    assert len(engine.analyse(pixels, embed=False)) == 6


@pytest.mark.parametrize("margin", [0.0, -0.05, 0.1])
def test_a_face_that_fills_the_frame_is_found(engine, astronaut, astronaut_face, margin):
    x0, y0, x1, y1 = astronaut_face.box
    by_x, by_y = margin * (x1 - x0), margin * (y1 - y0)
    part = astronaut[int(y0 - by_y) : int(y1 + by_y), int(x0 - by_x) : int(x1 + by_x)]
    (face,) = engine.analyse(np.ascontiguousarray(part), embed=False)
    offset = np.array([int(x0 - by_x), int(y0 - by_y)])
    apart = np.abs(face.points + offset - astronaut_face.points).max()
    assert apart < 0.15 * eye_distance(astronaut_face)


@pytest.mark.parametrize("face_px", [60, 30, 17])
def test_a_small_face_is_found_upright(engine, astronaut, astronaut_face, face_px):
    (face,) = engine.analyse(scaled(astronaut, face_px / astronaut_face.height_px), embed=False)
    assert face.height_px == pytest.approx(face_px, rel=0.15)
    assert abs(face.roll_deg - astronaut_face.roll_deg) < 10


def test_a_small_face_in_a_corner_of_a_large_frame_is_found(engine, astronaut):
    frame = np.full((1500, 2500, 3), 90, np.uint8)
    frame[1360:1488, 2350:2478] = scaled(astronaut, 0.25)
    (face,) = engine.analyse(frame, embed=False)
    assert face.box[0] > 2350
    assert face.box[1] > 1360


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("side", ["left", "top", "right", "bottom"])
def test_a_face_cut_by_the_edge_is_found_in_place_or_not_at_all(
    engine, astronaut, astronaut_face, side, share
):
    x0, y0, x1, y1 = astronaut_face.box
    across, down = int(x0 + share * (x1 - x0)), int(y0 + share * (y1 - y0))
    part, offset = {
        "left": (astronaut[:, across:], (across, 0)),
        "top": (astronaut[down:], (0, down)),
        "right": (astronaut[:, : int(x1 - share * (x1 - x0))], (0, 0)),
        "bottom": (astronaut[: int(y1 - share * (y1 - y0))], (0, 0)),
    }[side]
    faces = engine.analyse(np.ascontiguousarray(part), embed=False)
    assert len(faces) == 1 or share > 0.3
    for face in faces:
        middle = (face.box[:2] + face.box[2:]) / 2 + offset
        assert np.all(middle > (x0, y0))
        assert np.all(middle < (x1, y1))


def pictures_without_faces():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (480, 640, 3), dtype=np.uint8)
    ramp = np.tile(np.linspace(0, 255, 640).astype(np.uint8), (480, 1))
    return {
        "black": np.zeros((480, 640, 3), np.uint8),
        "white": np.full((480, 640, 3), 255, np.uint8),
        "noise": noise,
        "clouds": cv2.resize(noise[:30, :40], (640, 480), interpolation=cv2.INTER_CUBIC),
        "ramp": np.repeat(ramp[..., None], 3, axis=2),
        "one pixel": np.zeros((1, 1, 3), np.uint8),
        "a line": np.full((2, 900, 3), 40, np.uint8),
    }


@pytest.mark.parametrize("name", pictures_without_faces())
def test_nothing_is_found_where_there_is_nothing(engine, name):
    pixels = pictures_without_faces()[name]
    assert engine.analyse(pixels, hands=True) == ()
    assert engine.analyse(pixels, thorough=False) == ()


def test_nobody_is_found_in_photos_whose_faces_are_painted_over(
    engine, astronaut, astronaut_face, group_photo, group_faces
):
    for photo, faces in ((astronaut, (astronaut_face,)), (group_photo, group_faces)):
        empty = photo.copy()
        for face in faces:
            middle, radius = (face.box[:2] + face.box[2:]) / 2, 0.75 * face.height_px
            cv2.circle(empty, [int(value) for value in middle], int(radius), (110, 105, 100), -1)
        assert engine.analyse(empty, embed=False) == ()


def test_two_copies_one_mirrored_are_numbered_from_the_left(engine, astronaut, astronaut_face):
    pair = np.ascontiguousarray(np.hstack([astronaut, astronaut[:, ::-1]]))
    left, right = engine.analyse(pair)
    assert np.abs(left.points - astronaut_face.points).max() < 4
    assert right.yaw_deg == pytest.approx(-left.yaw_deg, abs=4)
    assert cosine(*(one.embeddings["descriptor1024"] for one in (left, right))) > 0.9


def test_a_face_upside_down_beside_an_upright_one_is_found_too(engine, astronaut):
    pair = np.ascontiguousarray(np.hstack([astronaut, astronaut[::-1, ::-1]]))
    upright, hanging = engine.analyse(pair, embed=False)
    assert abs(upright.roll_deg) < 10
    assert abs(hanging.roll_deg) > 170


def test_a_picture_is_not_written_to_and_threads_agree(engine, astronaut, astronaut_face):
    before = astronaut.copy()
    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(engine.analyse, [astronaut, astronaut]))
    assert np.array_equal(astronaut, before)
    for (face,) in both:
        assert np.array_equal(face.mesh, astronaut_face.mesh)


def test_only_what_is_asked_for_is_computed(engine, astronaut):
    (face,) = engine.analyse(astronaut, thorough=False, embed=False)
    assert not face.embeddings
    assert face.age_years is None
    assert face.mesh.shape == (478, 3)


def test_a_face_is_followed_as_it_moves(engine, astronaut, astronaut_face):
    move = np.array([[1.03, 0.05, 3.0], [-0.05, 1.03, -6.0]])
    moved = cv2.warpAffine(astronaut, move, (512, 512), borderMode=cv2.BORDER_REPLICATE)
    (face,) = engine.track(moved, [astronaut_face])
    expected = astronaut_face.mesh[:, :2] @ move[:, :2].T + move[:, 2]
    off = np.linalg.norm(face.mesh[:, :2] - expected, axis=1).mean()
    assert off < 0.04 * eye_distance(astronaut_face)
    assert face.embeddings is astronaut_face.embeddings
    assert np.all(face.box >= face.mesh[:, :2].min(0).repeat(2)[[0, 2, 0, 2]])


def test_a_face_that_is_gone_is_lost(engine, astronaut, astronaut_face):
    assert engine.track(np.full_like(astronaut, 90), [astronaut_face]) == ()
