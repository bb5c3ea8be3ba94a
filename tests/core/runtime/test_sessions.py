"""One session per model and provider, shared, freed and counted."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from core.errors import WeightsMissing
from core.faces.detect import BLAZEFACE
from core.faces.landmarks import MESH478
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.services import EMBEDDED
from tests.core.runtime.fake_onnxruntime import CPU, CUDA, INPUT, MODEL, FakeRuntime

IMAGE = {"image": np.zeros((1, 256, 256, 3), np.float32)}


@pytest.fixture
def fresh(tmp_path):
    return SessionPool(WeightStore(tmp_path, embedded=EMBEDDED, offline=True), provider="cpu")


def test_threads_share_one_session(fresh):
    sessions, start = [], threading.Barrier(6)

    def work():
        start.wait()
        session = fresh.open(BLAZEFACE)
        session.run(IMAGE)
        sessions.append(session)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(session) for session in sessions}) == 1
    assert fresh.count == 1


def test_memory_is_given_back_on_demand_and_taken_again_when_needed(fresh):
    session = fresh.open(BLAZEFACE)
    first = session.run(IMAGE)["logits"]
    assert fresh.count == 1
    fresh.unload()
    assert fresh.count == 0
    np.testing.assert_array_equal(session.run(IMAGE)["logits"], first)
    assert fresh.count == 1


def test_only_idle_models_are_dropped(fresh):
    old, new = fresh.open(BLAZEFACE), fresh.open(MESH478)
    old.run(IMAGE)
    new.run({"image": np.zeros((1, 192, 192, 3), np.float32)})
    old.last_used_s -= 100
    assert fresh.sweep(50) == 1
    assert (old.loaded, new.loaded) == (False, True)


def test_a_report_exists_only_for_what_ran(fresh):
    fresh.open(BLAZEFACE)
    assert fresh.reports() == ()
    fresh.open(BLAZEFACE).run(IMAGE)
    assert [report.model for report in fresh.reports("cpu")] == ["blazeface_back256"]
    assert fresh.reports("cuda") == ()


def test_missing_weights_are_named_with_the_way_to_get_them(tmp_path):
    pool = SessionPool(WeightStore(tmp_path, embedded=tmp_path), provider="cpu")
    with pytest.raises(WeightsMissing, match="models fetch blazeface_back256"):
        pool.open(BLAZEFACE)


def test_the_count_stays_the_same_over_many_runs(pool_of):
    runtime = FakeRuntime()
    pool = pool_of(runtime)
    for _ in range(20):
        pool.open(MODEL).run(INPUT)
        pool.open(MODEL, "cpu").run(INPUT)
    assert pool.count == 2
    assert runtime.made == [CUDA, CPU]


def test_the_threads_of_a_model_reach_the_real_runtime(fresh):
    session = fresh.open(BLAZEFACE)
    session.load()
    assert session._ort.get_session_options().intra_op_num_threads == BLAZEFACE.threads


def test_what_was_freed_is_told_in_megabytes(fresh):
    fresh.open(MESH478).load()
    freed = fresh.unload()
    assert isinstance(freed, int)
    assert 0 < freed < 2000


def test_a_model_that_was_only_loaded_is_not_idle_at_once(fresh):
    session = fresh.open(BLAZEFACE)
    session.last_used_s -= 100
    session.load()
    assert fresh.sweep(50) == 0
    assert session.loaded
