"""What each option does, and the awkward inputs."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from core.errors import NoFaceFound
from core.imaging.blend import paste
from core.imaging.colour import to_lab
from core.imaging.mesh import surface
from core.swappers.texture_source import rotation_of
from core.swappers.textured_mesh import MeshOptions, TexturedMesh, source_warnings
from core.types import Cover, Face, SourceFace

LIPS_INNER = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 415, 310, 311, 312, 13, 82, 81)
EYE = (33, 7, 163, 144, 145, 153, 154, 155, 133, 173, 157, 158, 159, 160, 161, 246)
LEFT_CHEEK = 50


def inside(face, ring, patch, *, shrink_px=1):
    """The polygon of mesh points ``ring`` on a patch, a little smaller."""
    made = np.zeros(patch.mask.shape, np.uint8)
    corners = face.mesh[list(ring), :2] - (patch.x0, patch.y0)
    cv2.fillPoly(made, [np.round(corners).astype(np.int32)], 1)
    return cv2.erode(made, np.ones((2 * shrink_px + 1,) * 2, np.uint8)) > 0


def difference(pixels, patch, where):
    """Mean absolute difference between a frame and a patch."""
    height, width = patch.mask.shape
    part = pixels[patch.y0 : patch.y0 + height, patch.x0 : patch.x0 + width]
    return np.abs(part.astype(int) - patch.pixels)[where].mean()


@pytest.fixture
def astronaut_source(faces):
    return faces["astronaut"]


def test_the_targets_teeth_stay(hopper_on_astronaut, astronaut_source):
    face, pixels = astronaut_source.face, astronaut_source.pixels
    kept, painted = (
        hopper_on_astronaut(likeness=0),
        hopper_on_astronaut(likeness=0, keep_mouth=False),
    )
    teeth = inside(face, LIPS_INNER, kept)
    assert difference(pixels, kept, teeth) < 3
    assert difference(pixels, painted, teeth) > 15


def test_the_targets_eyes_stay_when_asked(hopper_on_astronaut, astronaut_source):
    face, pixels = astronaut_source.face, astronaut_source.pixels
    kept, painted = hopper_on_astronaut(likeness=0, keep_eyes=True), hopper_on_astronaut(likeness=0)
    eye = inside(face, EYE, kept)
    assert difference(pixels, kept, eye) < 6
    assert difference(pixels, painted, eye) > 15


def test_likeness_moves_the_features_and_not_the_outline(faces):
    swapper, target = TexturedMesh(), faces["astronaut"]
    identity = swapper.prepare([faces["friend4"]])
    still, moved = (
        swapper.swap(target.pixels, target.face, identity, MeshOptions(likeness=share))
        for share in (0.0, 1.0)
    )
    assert still.mask.shape == moved.mask.shape
    assert (still.x0, still.y0) == (moved.x0, moved.y0)
    assert np.abs(still.pixels.astype(int) - moved.pixels)[still.mask > 0.9].mean() > 3


def test_skin_tone_goes_from_the_sources_to_the_targets(hopper_on_astronaut, faces):
    def tone(patch):
        return np.median(to_lab(patch.pixels)[patch.mask > 0.95], axis=0)[1:]

    part = hopper_on_astronaut()
    height, width = part.mask.shape
    target = faces["astronaut"].pixels[part.y0 : part.y0 + height, part.x0 : part.x0 + width]
    wanted = np.median(to_lab(np.ascontiguousarray(target))[part.mask > 0.95], axis=0)[1:]
    off = [np.hypot(*(tone(hopper_on_astronaut(skin_tone=t)) - wanted)) for t in (0.0, 0.5, 1.0)]
    assert off[0] > off[1] > off[2]
    assert off[0] > 10
    assert off[2] < 3


def test_edge_softness_widens_the_soft_band(hopper_on_astronaut):
    hard, soft = (hopper_on_astronaut(edge=edge).mask for edge in (0.0, 1.0))
    assert ((soft > 0.02) & (soft < 0.98)).sum() > 1.3 * ((hard > 0.02) & (hard < 0.98)).sum()


def test_poisson_changes_tone_and_keeps_the_mask(hopper_on_astronaut):
    plain, bent = hopper_on_astronaut(), hopper_on_astronaut(poisson=True)
    assert np.array_equal(plain.mask, bent.mask)
    assert (plain.pixels != bent.pixels).any()
    assert np.abs(plain.pixels.astype(int) - bent.pixels)[plain.mask > 0.9].mean() < 25


def test_what_is_in_front_stays_to_the_byte(faces):
    swapper, target = TexturedMesh(), faces["astronaut"]
    x0, y0, x1, y1 = target.face.box.astype(int)
    hand = Cover(x0 - 10, (y0 + y1) // 2, np.ones((y1 - y0, (x1 - x0) // 2 + 10), np.float32))
    covered = replace(target.face, front=hand)
    identity = swapper.prepare([faces["hopper"]])
    result = paste(target.pixels, [swapper.swap(target.pixels, covered, identity, MeshOptions())])
    height, width = hand.mask.shape
    where = (slice(hand.y0, hand.y0 + height), slice(hand.x0, hand.x0 + width))
    assert np.array_equal(result[where], target.pixels[where])
    assert (result != target.pixels).any()


def test_the_colour_of_a_hand_does_not_tint_the_face(faces):
    swapper, target = TexturedMesh(), faces["astronaut"]
    identity = swapper.prepare([faces["hopper"]])
    x0, y0, x1, y1 = target.face.box.astype(int)
    hand = Cover(x0, y0 + (y1 - y0) * 3 // 5, np.ones(((y1 - y0) // 2, x1 - x0), np.float32))
    glove = target.pixels.copy()
    glove[hand.y0 : hand.y0 + hand.mask.shape[0], x0:x1] = (150, 85, 75)
    plain = swapper.swap(target.pixels, target.face, identity, MeshOptions())
    known, unknown = (
        swapper.swap(glove, replace(target.face, front=front), identity, MeshOptions())
        for front in (hand, None)
    )
    above = np.zeros(plain.mask.shape, bool)
    above[: hand.y0 - plain.y0 - 4] = True
    above &= plain.mask > 0.9
    usual = to_lab(plain.pixels)[above]
    off = [np.abs(to_lab(one.pixels)[above] - usual).mean() for one in (known, unknown)]
    assert off[0] < 4
    assert off[0] < off[1]


@pytest.mark.parametrize("turn", ["left", "right"])
def test_of_several_photos_the_one_with_the_nearest_pose_is_used(faces, turn):
    front, side = faces["hopper"], faces["friend4"]
    mirrored = SourceFace(side.pixels[:, ::-1].copy(), mirrored_face(side))
    looks = side if turn == "left" else mirrored
    both = TexturedMesh().prepare([front, looks])
    alone = TexturedMesh().prepare([looks])
    target = looks.face.mesh
    used = both.nearest(rotation_of(target))
    assert used.points == pytest.approx(alone.textures[0].points)
    assert both.nearest(rotation_of(front.face.mesh)).points == pytest.approx(
        TexturedMesh().prepare([front]).textures[0].points
    )


def mirrored_face(source):
    """The same face in the mirrored photo."""
    order = surface().mirror[:478]
    mesh = source.face.mesh[order].copy()
    mesh[:, 0] = source.pixels.shape[1] - 1 - mesh[:, 0]
    return replace(source.face, mesh=mesh)


def test_a_second_photo_shows_what_the_first_one_hides(faces):
    side = faces["friend4"]
    face = mirrored_face(side)
    pixels = side.pixels[:, ::-1].copy()
    x, y = face.mesh[LEFT_CHEEK, :2].astype(int)
    cv2.circle(pixels, (int(x), int(y)), 6, (0, 150, 0), -1)
    column, row = surface().places[LEFT_CHEEK]
    spots = []
    for photos in ([side], [side, SourceFace(pixels, face)]):
        finest = TexturedMesh().prepare(photos).textures[0].levels[0]
        spots.append(finest[int(row * len(finest)), int(column * len(finest)), 1])
    assert spots[0] > 0, "skin is reddish"
    assert spots[1] < -10, "the mark is green"


def test_input_is_not_written_to_and_the_result_repeats(faces):
    swapper, target = TexturedMesh(), faces["friend2"]
    identity = swapper.prepare([faces["astronaut"]])
    before = target.pixels.copy()
    first, second = (
        swapper.swap(target.pixels, target.face, identity, MeshOptions()) for _ in range(2)
    )
    assert np.array_equal(target.pixels, before)
    assert np.array_equal(first.pixels, second.pixels)
    assert np.array_equal(first.mask, second.mask)


@pytest.mark.parametrize("shift", [(-60, 0), (70, 0), (0, -60), (0, 80)], ids=str)
def test_a_face_cut_by_the_border_is_swapped_as_far_as_it_shows(faces, shift):
    target = faces["astronaut"]
    x0, y0, x1, y1 = target.face.box.astype(int)
    left, top = max(0, x0 - 20 - min(shift[0], 0)), max(0, y0 - 20 - min(shift[1], 0))
    pixels = target.pixels[top : y1 + 20 - max(shift[1], 0), left : x1 + 20 - max(shift[0], 0)]
    mesh = target.face.mesh - np.array([left, top, 0], np.float32)
    swapper = TexturedMesh()
    face = replace(target.face, mesh=mesh)
    patch = swapper.swap(pixels, face, swapper.prepare([faces["hopper"]]), MeshOptions())
    result = paste(pixels, [patch])
    assert result.shape == pixels.shape
    assert (result != pixels).any(-1).sum() > 1000


def test_a_face_outside_the_picture_changes_nothing(faces):
    swapper, target = TexturedMesh(), faces["astronaut"]
    away = replace(target.face, mesh=target.face.mesh + np.array([5000, 0, 0], np.float32))
    patch = swapper.swap(target.pixels, away, swapper.prepare([faces["hopper"]]), MeshOptions())
    assert np.array_equal(paste(target.pixels, [patch]), target.pixels)


@pytest.mark.parametrize("scale", [0.15, 4.0], ids=["17 px face", "440 px face"])
def test_size_of_the_target_does_not_matter(faces, scale):
    target, swapper = faces["astronaut"], TexturedMesh()
    identity = swapper.prepare([faces["hopper"]])
    usual = paste(
        target.pixels, [swapper.swap(target.pixels, target.face, identity, MeshOptions())]
    )
    pixels, wanted = (
        cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        for image in (target.pixels, usual)
    )
    mesh = ((target.face.mesh + 0.5) * scale - 0.5).astype(np.float32)
    patch = swapper.swap(pixels, replace(target.face, mesh=mesh), identity, MeshOptions())
    result = paste(pixels, [patch])
    changed = (wanted != pixels).any(-1)
    off = np.abs(result.astype(int) - wanted)[changed].mean()
    assert off < 0.5 * np.abs(pixels.astype(int) - wanted)[changed].mean()


def test_work_side_caps_the_work_and_not_the_size(hopper_on_astronaut):
    plain, capped = hopper_on_astronaut(), hopper_on_astronaut(work_side=64)
    assert capped.pixels.shape == plain.pixels.shape
    assert capped.mask.shape == plain.mask.shape
    assert np.abs(plain.pixels.astype(int) - capped.pixels)[plain.mask > 0.9].mean() < 12


def test_a_person_without_a_mesh_cannot_be_prepared(faces):
    source = faces["astronaut"]
    with pytest.raises(NoFaceFound):
        TexturedMesh().prepare([SourceFace(source.pixels, replace(source.face, mesh=None))])


def seen(*, yaw=0.0, height=300.0, covered=False):
    face = Face(
        box=np.array([0, 0, height * 0.8, height], np.float32),
        points=np.zeros((5, 2), np.float32),
        score=1.0,
        yaw_deg=yaw,
        covered=covered,
    )
    return SourceFace(np.zeros((4, 4, 3), np.uint8), face)


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        (seen(), []),
        (seen(yaw=30), []),
        (seen(yaw=-48), ["photo.profile"]),
        (seen(height=120), ["photo.small"]),
        (seen(covered=True), ["photo.covered"]),
        (seen(yaw=60, height=90, covered=True), ["photo.profile", "photo.small", "photo.covered"]),
    ],
    ids=["good", "a little turned", "profile", "small", "covered", "all"],
)
def test_warnings_about_source_photos(source, keys):
    assert [said.key for said in source_warnings(source)] == keys


def test_the_warning_about_a_small_face_says_how_small():
    (said,) = source_warnings(seen(height=120))
    assert "120" in said
