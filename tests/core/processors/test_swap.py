"""What the options of the swap do to pixels."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cv2
import numpy as np
import pytest

from core.pipeline.render import Job
from core.processors.swap import Swap, SwapOptions
from core.types import Cover, Frame, SourceFace


@pytest.fixture(scope="module")
def face(engine, astronaut):
    return engine.analyse(astronaut)[0]


@pytest.fixture(scope="module")
def swapped(pool, engine, astronaut, grace_hopper, face):
    job = Job(
        open_session=pool.open,
        sources=(SourceFace(grace_hopper, engine.analyse(grace_hopper)[0]),),
    )

    def run(shown=None, **options):
        step = Swap(SwapOptions(**options), job)
        step.setup()
        return step.apply(Frame(0, Fraction(0), astronaut), [shown or face])

    return run


@pytest.fixture(scope="module")
def usual(swapped):
    return swapped().frame.pixels


@pytest.mark.parametrize(
    "options",
    [
        {"likeness": 0},
        {"skin_tone": 0},
        {"edge": 1},
        {"keep_mouth": False},
        {"keep_eyes": True},
        {"poisson": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_option_has_a_visible_effect(swapped, usual, options):
    other = swapped(**options).frame.pixels
    assert np.abs(other.astype(int) - usual).max() > 12


def hand_over(face):
    """A block over the lower half of the face, as the finder of hands would report it."""
    x0, y0, x1, y1 = (int(edge) for edge in face.box)
    mask = np.ones(((y1 - y0) // 2, x1 - x0), np.float32)
    return replace(face, front=Cover(x0, (y0 + y1) // 2, mask)), np.s_[
        (y0 + y1) // 2 : y1 - 2, x0:x1
    ]


def test_a_hand_in_front_stays_in_front(swapped, usual, astronaut, face):
    covered, area = hand_over(face)
    assert (usual[area] != astronaut[area]).any()
    np.testing.assert_array_equal(swapped(covered).frame.pixels[area], astronaut[area])


def test_a_hand_is_painted_over_only_on_request(swapped, astronaut, face):
    covered, area = hand_over(face)
    assert (swapped(covered, in_front=False).frame.pixels[area] != astronaut[area]).any()


def test_a_face_without_a_mesh_is_kept_and_told(swapped, face):
    applied = swapped(replace(face, mesh=None))
    assert applied.changed == ()
    assert [sentence.key for sentence in applied.kept.values()] == ["note.face_kept"]


def likeness_of_eyes(picture, original, face) -> float:
    """How well the eyes of ``original`` are found again in ``picture``, -1 to 1."""
    found = []
    for x, y in face.points[:2].round().astype(int):
        eye = original[y - 4 : y + 5, x - 8 : x + 9]
        round_it = picture[y - 8 : y + 9, x - 12 : x + 13]
        found.append(cv2.matchTemplate(round_it, eye, cv2.TM_CCOEFF_NORMED).max())
    return min(found)


def test_eyes_of_the_target_stay_on_request(swapped, usual, astronaut, face):
    kept = likeness_of_eyes(swapped(keep_eyes=True).frame.pixels, astronaut, face)
    assert kept > 0.8
    assert kept > likeness_of_eyes(usual, astronaut, face) + 0.1
