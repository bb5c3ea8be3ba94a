import numpy as np
import pytest

from core.errors import NoFaceFound
from core.faces.select import choose, left_to_right
from core.request import People
from core.types import Face


def face(x0, y0, side=40.0):
    box = np.array([x0, y0, x0 + side, y0 + side], np.float32)
    return Face(box=box, points=np.zeros((5, 2), np.float32), score=0.9)


FACES = left_to_right([face(300, 10, 80), face(20, 50), face(150, 5)])


def test_faces_are_numbered_from_the_left_whatever_order_they_come_in():
    again = left_to_right(FACES[::-1])
    assert [float(one.box[0]) for one in again] == [20, 150, 300]


def test_faces_above_one_another_are_numbered_from_the_top():
    assert [float(one.box[1]) for one in left_to_right([face(7, 90), face(7, 10)])] == [10, 90]


@pytest.mark.parametrize(
    ("people", "positions"),
    [
        (People(choose="everyone"), (0, 1, 2)),
        (People(choose="largest"), (2,)),
        (People(choose="numbers", numbers=(3, 1)), (0, 2)),
        (People(choose="numbers", numbers=(2, 2)), (1,)),
    ],
    ids=["everyone", "largest", "two by number", "one named twice"],
)
def test_the_people_that_were_meant_are_chosen(people, positions):
    assert choose(FACES, people) == positions


@pytest.mark.parametrize("people", [People(choose="everyone"), People(choose="largest")])
def test_nobody_is_chosen_where_nobody_is(people):
    assert choose((), people) == ()


def test_a_number_that_does_not_exist_is_named():
    with pytest.raises(NoFaceFound, match="no face 4") as caught:
        choose(FACES, People(choose="numbers", numbers=(4,)))
    assert caught.value.message.values == {"n": 4, "count": 3}
