"""Faces found once and used by many tests."""

import pytest


@pytest.fixture(scope="session")
def astronaut_face(engine, astronaut):
    """The astronaut's face, described."""
    (face,) = engine.analyse(astronaut)
    return face


@pytest.fixture(scope="session")
def grace_hopper_face(engine, grace_hopper):
    """Grace Hopper's face, described."""
    (face,) = engine.analyse(grace_hopper)
    return face


@pytest.fixture(scope="session")
def group_faces(engine, group_photo):
    """The six faces of the group photo, described, left to right."""
    return engine.analyse(group_photo)
