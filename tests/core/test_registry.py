"""What every processor promises, checked for every processor there is."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from core import registry
from core.errors import OptionError
from core.faces.analyse import Analyser
from core.pipeline.render import Job
from core.registry import Processor
from core.runtime.sessions import SessionPool
from core.types import Face, Frame, Pixels, SourceFace

KINDS = registry.processors()
each_processor = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


@pytest.fixture(scope="module")
def faces(engine: Analyser, astronaut: Pixels) -> Sequence[Face]:
    return engine.analyse(astronaut)


@pytest.fixture(scope="module")
def job(pool: SessionPool, engine: Analyser, grace_hopper: Pixels) -> Job:
    face = engine.analyse(grace_hopper)[0]
    return Job(open_session=pool.open, sources=(SourceFace(grace_hopper, face),))


@pytest.fixture
def make(job: Job) -> Callable[[type[Processor]], Processor]:
    def made(kind: type[Processor]) -> Processor:
        step = kind(kind.Options(), job)
        step.setup()
        return step

    return made


@each_processor
def test_defaults_are_valid_and_survive_json(kind):
    options = kind.Options()
    assert registry.options_of(kind, json.loads(options.model_dump_json())) == options


@each_processor
def test_every_option_has_a_title_and_a_help(kind):
    for name, field in kind.Options.model_fields.items():
        assert field.title, name
        assert field.description, name


@each_processor
def test_no_faces_means_no_change(kind, make, astronaut):
    frame = Frame(0, Fraction(0), astronaut)
    applied = make(kind).apply(frame, ())
    assert applied.frame is frame
    assert applied.changed == ()


@each_processor
def test_a_face_changes_while_size_type_and_input_stay(kind, make, astronaut, faces):
    before = astronaut.copy()
    applied = make(kind).apply(Frame(0, Fraction(0), astronaut), faces)
    assert applied.changed == (0,)
    assert applied.frame.pixels.shape == astronaut.shape
    assert applied.frame.pixels.dtype == np.uint8
    assert (applied.frame.pixels != before).any()
    np.testing.assert_array_equal(astronaut, before)


@each_processor
def test_two_threads_get_the_same_picture(kind, make, astronaut, faces):
    step, results = make(kind), {}

    def work(name: int) -> None:
        results[name] = step.apply(Frame(0, Fraction(0), astronaut), faces).frame.pixels

    threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(results[0], results[1])


@each_processor
def test_every_model_says_where_it_is_from_and_its_licence(kind):
    for spec in kind.models:
        assert spec.licence
        assert spec.licence_url.startswith("https://")
        assert spec.url.startswith("https://")
        assert spec.size_bytes > 0


def test_processor_files_are_named_after_their_processor():
    for kind in KINDS:
        assert kind.__module__ == f"core.processors.{kind.name}"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"likenes": 1}, "Did you mean 'likeness'?"),
        ({"likeness": 3}, "Higher: more of the new face's shape."),
    ],
    ids=["misspelt", "out of limits"],
)
def test_a_wrong_option_is_explained(values, says):
    with pytest.raises(OptionError) as caught:
        registry.options_of(registry.processor("swap"), values)
    assert says in str(caught.value)


def test_an_unknown_processor_is_explained():
    with pytest.raises(OptionError, match="Did you mean 'swap'"):
        registry.processor("swp")


def test_the_registry_loads_no_model_runtime():
    code = (
        "import sys; from core import registry; registry.processors();"
        "print([m for m in ('onnxruntime','gradio','insightface') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
