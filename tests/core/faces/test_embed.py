import itertools

import cv2
import numpy as np
import pytest

from core.faces.embed import SAME_DISTANCE, cosine, distance, same_person


@pytest.mark.parametrize(
    "change",
    [
        lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
        lambda pixels: cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
        lambda pixels: cv2.resize(pixels, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC),
        lambda pixels: (pixels * 0.6).astype(np.uint8),
    ],
    ids=["mirrored", "half size", "four times the size", "darker"],
)
def test_one_person_stays_one_person(engine, astronaut, astronaut_face, change):
    (face,) = engine.analyse(change(astronaut))
    assert same_person(face, astronaut_face)
    both = (one.embeddings["descriptor128"] for one in (face, astronaut_face))
    assert distance(*both) < SAME_DISTANCE


def test_eight_people_are_eight_people(astronaut_face, grace_hopper_face, group_faces):
    everyone = (astronaut_face, grace_hopper_face, *group_faces)
    confused = [pair for pair in itertools.combinations(everyone, 2) if same_person(*pair)]
    assert not confused
    distances = [
        distance(*(face.embeddings["descriptor128"] for face in pair))
        for pair in itertools.combinations(everyone, 2)
    ]
    assert min(distances) > SAME_DISTANCE


def test_embeddings_have_the_promised_form(astronaut_face):
    wide = astronaut_face.embeddings["descriptor1024"]
    assert wide.shape == (1024,)
    assert cosine(wide, wide) == pytest.approx(1, abs=1e-5)
    assert astronaut_face.embeddings["descriptor128"].shape == (128,)


def test_age_and_sex_are_plausible(astronaut_face, grace_hopper_face, group_faces):
    assert 20 < astronaut_face.age_years < 50
    assert grace_hopper_face.age_years > astronaut_face.age_years + 10
    # from the left: a woman, a woman, a man, a man, a man, a woman
    assert [face.male > 0.5 for face in group_faces] == [False, False, True, True, True, False]
