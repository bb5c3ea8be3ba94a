import numpy as np
import pytest

from core.faces.landmarks import pose, roi_of_mesh
from core.imaging.topology import topology


def mirrored(pixels):
    return np.ascontiguousarray(pixels[:, ::-1])


def test_the_five_points_lie_as_in_a_face(astronaut_face, grace_hopper_face):
    for face in (astronaut_face, grace_hopper_face):
        left_eye, right_eye, nose, left_mouth, right_mouth = face.points
        assert left_eye[0] < nose[0] < right_eye[0]
        assert left_mouth[0] < nose[0] < right_mouth[0]
        assert max(left_eye[1], right_eye[1]) < nose[1] < min(left_mouth[1], right_mouth[1])


def test_heads_that_look_to_the_left_have_a_negative_yaw(engine, group_photo, group_faces):
    looks_left = max(group_faces, key=lambda face: abs(face.yaw_deg))
    assert looks_left.yaw_deg < -30
    flipped = engine.analyse(mirrored(group_photo), embed=False)
    assert max(flipped, key=lambda face: abs(face.yaw_deg)).yaw_deg > 30


def turned_shape(*, yaw_deg=0.0, roll_deg=0.0):
    """The average face, turned about the vertical and then in the plane; irises in the eyes."""
    yaw, roll = np.radians([yaw_deg, roll_deg])
    about_y = np.array([[np.cos(yaw), 0, -np.sin(yaw)], [0, 1, 0], [np.sin(yaw), 0, np.cos(yaw)]])
    in_plane = np.array(
        [[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]]
    )
    shape = topology().frontal_shape
    eyes = [shape[topology().eye_image_left], shape[topology().eye_image_right]]
    full = np.vstack([shape, *(np.tile(eye.mean(0), (5, 1)) for eye in eyes)])
    return (100 * full @ about_y.T @ in_plane.T + (200, 150, 0)).astype(np.float32)


@pytest.mark.parametrize("yaw_deg", [-50, -20, 0, 35])
def test_yaw_is_read_from_the_mesh(yaw_deg):
    assert pose(turned_shape(yaw_deg=yaw_deg))[0] == pytest.approx(yaw_deg, abs=0.5)


@pytest.mark.parametrize("roll_deg", [-170, -60, 0, 90, 135])
def test_roll_is_clockwise_and_the_crop_follows_it(roll_deg):
    points = turned_shape(roll_deg=roll_deg)
    straight = pose(turned_shape())[1]
    turn = (pose(points)[1] - straight - roll_deg + 180) % 360 - 180
    assert turn == pytest.approx(0, abs=0.5)
    to_frame = roi_of_mesh(points).to_frame(192)
    local = (points[:, :2] - to_frame[:, 2]) @ np.linalg.inv(to_frame[:, :2]).T
    chin, brow = local[152], local[10]
    assert brow[1] < chin[1]
    assert local.min() > 0
    assert local.max() < 192
