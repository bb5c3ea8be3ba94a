"""Results take space; old ones can go, and new ones stay."""

from __future__ import annotations

import os
import threading
import time

from core.results import DAY_S, Kept, delete, keep_for, kept


def results(folder, ages_h):
    for number, age in enumerate(ages_h):
        place = folder / f"run{number}"
        place.mkdir(parents=True)
        (place / "a.png").write_bytes(b"x" * 100)
        then = time.time() - age * 3600
        os.utime(place, (then, then))


def test_only_old_results_go(tmp_path):
    results(tmp_path, [0, 1, 30, 50])
    assert kept(tmp_path) == Kept(4, 400)
    assert kept(tmp_path, older_than_s=DAY_S) == Kept(2, 200)
    assert delete(tmp_path, older_than_s=DAY_S) == Kept(2, 200)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run0", "run1"]
    assert delete(tmp_path) == Kept(2, 200)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert kept(tmp_path / "nowhere") == delete(tmp_path / "nowhere") == Kept(0, 0)


def test_a_shared_page_keeps_its_word_about_deleting(tmp_path):
    results(tmp_path, [0, 5])
    keep_for(tmp_path, hours=2)
    assert any(thread.name == "old-results" for thread in threading.enumerate())
    end = time.monotonic() + 10
    while (tmp_path / "run1").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert (tmp_path / "run0").exists()
