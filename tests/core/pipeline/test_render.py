"""From two photos to a file and a true report, with the real built-in engine."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from core.errors import (
    Cancelled,
    ConsentMissing,
    ContentRefused,
    NoFaceFound,
    OptionError,
    UnreadableMedia,
    UnusableOutput,
)
from core.faces.analyse import Analyser
from core.faces.detect import BLAZEFACE
from core.faces.embed import same_person
from core.pipeline import desk, render
from core.pipeline.render import Job, render_frame
from core.registry import Applied
from core.request import Output, People, RenderRequest, Step
from core.safety.content import ContentCheck
from core.types import Frame
from tests.conftest import group_photo_path, rgb

SWAP = (Step(processor="swap"),)


@pytest.fixture
def request_for(astronaut_path, grace_hopper_path, tmp_path):
    def made(**changes) -> RenderRequest:
        usual = {
            "sources": (grace_hopper_path,),
            "target": astronaut_path,
            "steps": SWAP,
            "output": Output(path=tmp_path / "out.png"),
            "consent": True,
        }
        return RenderRequest(**(usual | changes))

    return made


def flat(path: Path, size: tuple[int, int] = (320, 240)) -> Path:
    picture = np.full((size[1], size[0], 3), (120, 160, 90), np.uint8)
    path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    return path


def test_the_report_is_true(services, request_for, tmp_path):
    report = services.renderer.render_image(request_for())
    written = tmp_path / "out.png"
    assert (report.frames_total, report.frames_changed) == (1, 1)
    assert (report.faces_found, report.faces_changed) == (1, 1)
    assert report.changed_numbers == (1,)
    assert report.output.path == written
    assert report.output.sha256 == hashlib.sha256(written.read_bytes()).hexdigest()
    assert (report.output.width, report.output.height) == (512, 512)
    assert report.provenance.c2pa
    assert {line.used for line in report.providers} == {"cpu"}
    assert {line.asked for line in report.providers} == {"cpu"}
    assert {"swap", "analyse", "check", "write"} <= set(report.stage_ms)
    assert {line.name for line in report.models} == {line.model for line in report.providers}


def test_only_models_that_took_part_are_named(services, request_for):
    """The second finder knows this face no better, so it is never asked."""
    services.renderer.free()
    services.sessions.open(BLAZEFACE, "cpu").load()
    report = services.renderer.render_image(request_for())
    named = [line.name for line in report.models]
    assert {"centerface", "face_mesh478", "nsfw5"} <= set(named)
    assert "blazeface_back256" not in named
    assert list(services.provenance.verify(report.output.path).models) == named
    assert {line.model for line in report.providers} == set(named)
    again = services.renderer.render_image(request_for())
    assert [line.name for line in again.models] == named  # also when the pictures were kept


def test_the_result_is_the_source_person_and_only_the_face_changed(
    services, engine, request_for, astronaut, grace_hopper, tmp_path
):
    services.renderer.render_image(request_for())
    result = rgb(tmp_path / "out.png")
    face = engine.analyse(result)[0].embeddings["descriptor128"]
    source = engine.analyse(grace_hopper)[0].embeddings["descriptor128"]
    target = engine.analyse(astronaut)[0]
    to_target = np.linalg.norm(face - target.embeddings["descriptor128"])
    assert np.linalg.norm(face - source) < to_target
    left, top, right, bottom = target.box
    grow = 0.35 * max(right - left, bottom - top)
    outside = np.ones(result.shape[:2], bool)
    outside[
        int(max(0, top - grow)) : int(bottom + grow), int(max(0, left - grow)) : int(right + grow)
    ] = False
    np.testing.assert_array_equal(result[outside], astronaut[outside])


def test_the_numbered_face_changes_and_no_other(services, request_for, engine, group_photo):
    people = People(choose="numbers", numbers=(3,))
    request = request_for(target=group_photo_path(), people=people)
    report = services.renderer.render_image(request)
    assert report.faces_found == 6
    assert report.changed_numbers == (3,)
    result = rgb(report.output.path)
    faces = engine.analyse(group_photo)
    for number, face in enumerate(faces, start=1):
        x0, y0, x1, y1 = (round(float(edge)) for edge in face.box)
        inner = np.s_[
            (3 * y0 + y1) // 4 : (y0 + 3 * y1) // 4, (3 * x0 + x1) // 4 : (x0 + 3 * x1) // 4
        ]
        changed = bool((result[inner] != group_photo[inner]).any())
        assert changed is (number == 3), number


def test_everyone_changes_when_asked(services, request_for):
    request = request_for(target=group_photo_path(), people=People(choose="everyone"))
    assert services.renderer.render_image(request).faces_changed == 6


def test_a_number_that_is_not_there_is_named(services, request_for):
    request = request_for(people=People(choose="numbers", numbers=(4,)))
    with pytest.raises(NoFaceFound, match="no face 4"):
        services.renderer.render_image(request)


@pytest.mark.parametrize("entry", ["render_image", "preview"])
def test_without_consent_nothing_is_even_read(services, request_for, tmp_path, entry):
    request = request_for(consent=False, target=tmp_path / "not-there.png")
    with pytest.raises(ConsentMissing):
        getattr(services.renderer, entry)(request)


def test_no_face_in_the_picture_is_said_and_nothing_written(services, request_for, tmp_path):
    with pytest.raises(NoFaceFound, match="No face found in this picture"):
        services.renderer.render_image(request_for(target=flat(tmp_path / "flat.png")))
    assert not (tmp_path / "out.png").exists()


def test_no_face_in_the_photo_is_said(services, request_for, tmp_path):
    with pytest.raises(NoFaceFound, match="photo of the new face"):
        services.renderer.render_image(request_for(sources=(flat(tmp_path / "flat.png"),)))


def test_a_photo_without_a_face_is_left_out_and_named(
    services, request_for, tmp_path, grace_hopper_path
):
    request = request_for(sources=(flat(tmp_path / "flat.png"), grace_hopper_path))
    report = services.renderer.render_image(request)
    assert report.frames_changed == 1
    assert "noface.photo" in [notice.key for notice in report.notices]


def test_photos_of_different_people_are_noticed(
    services, request_for, astronaut_path, grace_hopper_path
):
    report = services.renderer.render_image(
        request_for(sources=(grace_hopper_path, astronaut_path), target=group_photo_path())
    )
    assert "photo.differ" in [notice.key for notice in report.notices]


def test_an_original_is_never_written_over(services, request_for, astronaut_path, tmp_path):
    copy = tmp_path / "copy.png"
    shutil.copy(astronaut_path, copy)
    before = copy.read_bytes()
    with pytest.raises(OptionError, match="never written over"):
        services.renderer.render_image(
            request_for(target=copy, output=Output(path=copy, overwrite=True))
        )
    assert copy.read_bytes() == before


def test_an_earlier_result_is_not_lost(services, request_for, tmp_path):
    first = services.renderer.render_image(request_for())
    second = services.renderer.render_image(request_for())
    assert first.output.path != second.output.path
    assert first.output.path.exists()


def test_preview_and_result_are_the_same_pixels(services, request_for, monkeypatch):
    monkeypatch.setattr(render, "draw_preview_mark", lambda pixels: pixels)
    preview = services.renderer.preview(request_for())
    report = services.renderer.render_image(request_for())
    np.testing.assert_array_equal(preview.pixels, rgb(report.output.path))


def test_a_preview_is_marked_and_small_enough(services, request_for):
    preview = services.renderer.preview(request_for(target=group_photo_path()), max_side=640)
    assert max(preview.pixels.shape) == 640
    assert preview.report.output is None


def test_a_file_changed_in_the_meantime_is_read_again(
    services, request_for, tmp_path, astronaut_path, grace_hopper_path, engine
):
    source = tmp_path / "source.png"
    shutil.copy(astronaut_path, source)
    group = group_photo_path()
    services.renderer.render_image(request_for(sources=(source,), target=group))
    source.write_bytes(grace_hopper_path.read_bytes())
    report = services.renderer.render_image(request_for(sources=(source,), target=group))
    fresh = services.renderer.render_image(request_for(target=group))
    np.testing.assert_array_equal(rgb(report.output.path), rgb(fresh.output.path))


def test_a_file_deleted_in_the_meantime_is_named(services, request_for, tmp_path):
    with pytest.raises(UnreadableMedia, match=r"gone\.png"):
        services.renderer.render_image(request_for(target=tmp_path / "gone.png"))


def test_called_off_work_leaves_nothing(services, request_for, tmp_path):
    with pytest.raises(Cancelled):
        services.renderer.render_image(request_for(), cancelled=lambda: True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("years", "strict"), [(15.0, True), (40.0, False)])
def test_one_young_face_makes_the_check_strict_for_every_picture(
    services, request_for, monkeypatch, years, strict
):
    seen = []

    class Recorder:
        def __init__(self, open_session):
            pass

        def check(self, pixels, *, strict, **how):
            seen.append((how["what"], strict, len(how["faces"])))

    aged = Analyser.analyse

    def analyse(self, pixels, **how):
        faces = aged(self, pixels, **how)
        first = len(seen) == 0 and pixels.shape == (512, 512, 3)
        return tuple(replace(face, age_years=years if first else 40.0) for face in faces)

    monkeypatch.setattr(desk, "ContentCheck", Recorder)
    monkeypatch.setattr(Analyser, "analyse", analyse)
    services.renderer.free()
    services.renderer.render_image(request_for())
    services.renderer.free()
    assert seen == [("photo", strict, 1), ("pic", strict, 1)]


def test_a_refused_photo_is_named_and_nothing_written(services, request_for, monkeypatch, tmp_path):
    def refuse(self, means):
        return [0.0, 0.0, 0.01, 0.99, 0.0]

    monkeypatch.setattr(ContentCheck, "_means", refuse)
    services.renderer.free()
    with pytest.raises(ContentRefused, match="photo cannot be used"):
        services.renderer.render_image(request_for())
    assert not (tmp_path / "out.png").exists()


def test_repeated_runs_keep_the_number_of_sessions(services, request_for):
    services.renderer.render_image(request_for())
    count = services.sessions.count
    for _ in range(3):
        services.renderer.render_image(request_for())
    assert services.sessions.count == count


def test_an_unusable_model_output_keeps_the_face_and_says_so(astronaut, engine, pool):
    class Broken:
        name = "broken"

        def apply(self, frame, faces):
            raise UnusableOutput("The model gave nothing usable.")

    job = Job(open_session=pool.open)
    frame = Frame(0, Fraction(0), astronaut)
    faces = [replace(face) for face in engine.analyse(astronaut)]
    rendered = render_frame(frame, faces, (0,), [Broken()], job)
    assert rendered.frame is frame
    assert rendered.changed == frozenset()
    assert [notice.key for notice in job.notices] == ["none.model"]


def test_a_run_that_changed_nothing_writes_nothing(services, request_for, monkeypatch, tmp_path):
    from core.processors.swap import Swap

    monkeypatch.setattr(Swap, "apply", lambda self, frame, faces: Applied(frame))
    report = services.renderer.render_image(request_for())
    assert (report.frames_changed, report.output) == (0, None)
    assert "none.image" in [notice.key for notice in report.notices]
    assert not (tmp_path / "out.png").exists()


def test_two_photos_of_one_person_are_no_reason_to_remark(services, engine, astronaut, tmp_path):
    mirrored = astronaut[:, ::-1]
    first, second = engine.analyse(astronaut)[0], engine.analyse(np.ascontiguousarray(mirrored))[0]
    assert same_person(first, second)
