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
