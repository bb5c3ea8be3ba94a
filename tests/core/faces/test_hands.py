import cv2
import numpy as np
import pytest

from core.faces.hands import Hand, HandFinder
from core.faces.regions import front_of, guided, share_of_oval

OPEN_HAND = [
    (0, 0),
    *((-26, -14), (-44, -32), (-56, -48), (-66, -62)),
    *((-22, -60), (-27, -84), (-29, -98), (-31, -110)),
    *((-6, -64), (-7, -92), (-7, -108), (-7, -122)),
    *((10, -60), (13, -85), (15, -100), (16, -112)),
    *((24, -52), (31, -71), (35, -82), (39, -92)),
]
"""Wrist, thumb, four fingers, upright, about 60 wide at the knuckles."""


def hand_at(x, y, *, scale=1.0):
    points = np.zeros((21, 3), np.float32)
    points[:, :2] = np.array(OPEN_HAND) * scale + (x, y)
    return Hand(points, 0.99)


def pasted(pixels, hand_photo, hand, to, *, width_px):
    """``hand`` cut out of its photo along its outline and put over ``pixels``."""
    outline = np.zeros(hand_photo.shape[:2], np.uint8)
    hull = cv2.convexHull(np.round(hand.points[:, :2]).astype(np.int32))
    cv2.fillConvexPoly(outline, hull, 255)
    grown = cv2.dilate(outline, np.ones((3, 3), np.uint8), iterations=int(hand.unit_px))
    alpha = cv2.GaussianBlur(grown, (3, 3), 0).astype(np.float32) / 255
    scale = width_px / hand.width_px
    centre = hand.points[:, :2].mean(0)
    move = np.array([[scale, 0, to[0] - scale * centre[0]], [0, scale, to[1] - scale * centre[1]]])
    size = pixels.shape[1], pixels.shape[0]
    alpha = cv2.warpAffine(alpha, move, size)
    part = cv2.warpAffine(hand_photo, move, size, flags=cv2.INTER_CUBIC)
    mixed = pixels * (1 - alpha[..., None]) + part * alpha[..., None]
    return mixed.round().astype(np.uint8), alpha


@pytest.fixture(scope="module")
def finder(pool):
    return HandFinder(pool.open)


@pytest.fixture(scope="module")
def held_hand(finder, group_photo, group_faces):
    """The hand that holds the cards at the left of the group photo."""
    (hand,) = finder.find(group_photo, group_faces[0].mesh)
    return hand


def test_hands_round_the_table_are_found_and_cover_nobody(engine, finder, group_photo, group_faces):
    found = [hand for face in group_faces for hand in finder.find(group_photo, face.mesh)]
    assert len(found) >= 3
    assert not any(face.covered for face in engine.analyse(group_photo, embed=False, hands=True))


def test_a_hand_has_its_fingers_away_from_its_wrist(held_hand):
    reach = np.linalg.norm(held_hand.points[:, :2] - held_hand.points[0, :2], axis=1)
    assert np.all(reach[[8, 12, 16, 20]] > 3 * held_hand.unit_px)
    assert 20 < held_hand.width_px < 80


@pytest.mark.parametrize("mirror", [False, True], ids=["as it is", "mirrored"])
@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_faces_without_hands_are_never_called_covered(
    engine, finder, astronaut, grace_hopper, group_photo, factor, mirror
):
    for photo in (astronaut, grace_hopper, group_photo):
        view = cv2.resize(photo, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        view = np.ascontiguousarray(view[:, ::-1]) if mirror else view
        faces = engine.analyse(view, embed=False, hands=True)
        assert faces
        assert not any(face.covered for face in faces)


def test_tight_crops_of_faces_hold_no_hands(
    finder, engine, astronaut, astronaut_face, group_photo, group_faces
):
    views = [(astronaut, astronaut_face), *((group_photo, face) for face in group_faces)]
    for photo, face in views:
        x0, y0, x1, y1 = face.box.astype(int)
        by = (x1 - x0) // 6
        part = np.ascontiguousarray(photo[y0 - by : y1 + by, x0 - by : x1 + by])
        for found in engine.analyse(part, embed=False):
            assert finder.find(part, found.mesh) == ()


def test_a_hand_before_the_mouth_covers_the_face_and_leaves_the_eyes(
    engine, astronaut, group_photo, held_hand
):
    large = cv2.resize(astronaut, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    (clear,) = engine.analyse(large, embed=False)
    chin = clear.mesh[152, :2]
    pixels, alpha = pasted(large, group_photo, held_hand, chin, width_px=0.4 * clear.height_px)
    (face,) = engine.analyse(pixels, embed=False, hands=True)
    assert face.covered
    front = face.front
    where = (
        slice(front.y0, front.y0 + front.mask.shape[0]),
        slice(front.x0, front.x0 + front.mask.shape[1]),
    )
    truth, found = alpha[where] > 0.5, front.mask > 0.5
    assert (truth & found).sum() / (truth | found).sum() > 0.6
    for x, y in clear.points[:2]:
        assert front.mask[int(y) - front.y0, int(x) - front.x0] < 0.05


def test_a_mask_follows_the_fingers(astronaut, astronaut_face):
    x, y = astronaut_face.mesh[152, :2]
    hand = hand_at(x, y + 30, scale=0.6)
    skin = astronaut.copy()
    for finger in ((5, 8), (9, 12), (13, 16), (17, 20), (1, 4), (0, 9)):
        start, end = (tuple(int(v) for v in hand.points[at, :2]) for at in finger)
        cv2.line(skin, start, end, (60, 120, 60), round(2 * hand.unit_px))
    front = front_of(skin, astronaut_face.mesh, [hand])
    tip = hand.points[12, :2].astype(int) - (front.x0, front.y0)
    assert front.mask[tip[1] + 2, tip[0]] > 0.8
    for eye in astronaut_face.points[:2].astype(int) - (front.x0, front.y0):
        assert front.mask[eye[1], eye[0]] == 0
    assert 0.02 < share_of_oval(front, astronaut_face.mesh) < 0.6
    assert front.mask.dtype == np.float32
    assert front.mask.min() >= 0
    assert front.mask.max() <= 1


def test_the_same_picture_gives_the_same_mask(astronaut, astronaut_face):
    hand = hand_at(*astronaut_face.mesh[152, :2], scale=0.5)
    one, other = (front_of(astronaut, astronaut_face.mesh, [hand]) for _ in range(2))
    assert np.array_equal(one.mask, other.mask)


@pytest.mark.parametrize("place", [(60, 480), (500, 40)], ids=["below", "in the corner"])
def test_a_hand_elsewhere_lies_in_front_of_nothing(astronaut, astronaut_face, place):
    assert front_of(astronaut, astronaut_face.mesh, [hand_at(*place, scale=0.4)]) is None


def test_no_hands_no_mask(astronaut, astronaut_face):
    assert front_of(astronaut, astronaut_face.mesh, []) is None


def test_a_face_at_the_border_can_be_covered(astronaut, astronaut_face):
    x0, y0 = (int(value) for value in (astronaut_face.box[0] + 30, astronaut_face.box[1] + 20))
    part = np.ascontiguousarray(astronaut[y0:, x0:])
    mesh = astronaut_face.mesh - (x0, y0, 0)
    hand = hand_at(*mesh[152, :2], scale=0.5)
    front = front_of(part, mesh.astype(np.float32), [hand])
    assert (front.x0, front.y0) == (0, 0)
    assert front.mask.max() > 0.9


def test_the_width_of_a_hand_does_not_depend_on_where_it_points():
    upright = hand_at(0, 0)
    tilted = upright.points.copy()
    angle = np.radians(70)
    tilted[:, 1] = upright.points[:, 1] * np.cos(angle)
    tilted[:, 2] = upright.points[:, 1] * np.sin(angle)
    assert Hand(tilted, 0.9).width_px == pytest.approx(upright.width_px, rel=1e-3)


def test_a_guided_mask_keeps_the_edge_of_its_guide():
    guide = np.zeros((60, 60, 3), np.uint8)
    guide[:, 30:] = 200
    rough = np.zeros((60, 60), np.float32)
    rough[:, 27:] = 1
    smooth = guided(guide, rough, radius=4)
    step = np.abs(np.diff(smooth[30]))
    assert step.argmax() == 29
    assert step.max() > 0.2
