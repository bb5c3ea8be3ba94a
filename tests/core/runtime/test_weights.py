"""Downloads that go wrong in every way (case B-15), and files that are here already."""

from __future__ import annotations

import errno
import hashlib
import itertools
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import (
    Cancelled,
    DownloadFailed,
    LicenceNotAccepted,
    WeightsDamaged,
    WeightsMissing,
)
from core.faces.analyse import MODELS as FACE_MODELS
from core.runtime import weights as weights_module
from core.runtime.downloads import Downloads
from core.runtime.weights import WeightStore
from core.safety.content import NSFW5
from core.services import EMBEDDED
from core.types import ModelSpec
from tests.core.runtime.hub import serving

DATA = np.random.default_rng(7).integers(0, 256, 3_000_000, np.uint8).tobytes()


def spec(**changes) -> ModelSpec:
    usual = {
        "name": "big_model",
        "title": "Big model",
        "file": "weights/big.onnx",
        "repo": "someone/models",
        "size_bytes": len(DATA),
        "sha256": hashlib.sha256(DATA).hexdigest(),
        "licence": "MIT",
        "licence_kind": "open",
        "licence_url": "https://example.org/licence",
        "vendor": "someone",
        "year": 2026,
        "url": "https://example.org",
    }
    return ModelSpec(**(usual | changes))


@pytest.fixture
def hub():
    with serving(DATA) as made:
        yield made


@pytest.fixture
def store(hub, tmp_path):
    return WeightStore(
        tmp_path / "models", embedded=EMBEDDED, endpoint=hub.url, timeout_s=1, attempts=2
    )


def leftovers(store: WeightStore) -> list[str]:
    return [
        path.name
        for path in store.folder.rglob("*")
        if path.is_file() and path.suffix in (".onnx", ".part", ".incomplete")
    ]


def test_a_download_arrives_with_progress_and_is_recorded(store):
    seen = []
    path = store.fetch(spec(sha256=None), progress=seen.append)
    assert path.read_bytes() == DATA
    assert seen[-1].done_bytes == seen[-1].total_bytes == len(DATA)
    assert all(one.done_bytes <= two.done_bytes for one, two in itertools.pairwise(seen))
    assert store.verify(spec(sha256=None)).checksum == "verified"
    path.write_bytes(DATA[:-1] + b"x")
    assert store.verify(spec(sha256=None)).state == "damaged"


def test_what_is_here_needs_no_network_call(store, hub):
    store.fetch(spec())
    before = len(hub.requests)
    again = WeightStore(store.folder, embedded=EMBEDDED, endpoint=hub.url, offline=True)
    assert again.fetch(spec()) == store.place(spec())
    assert again.state(spec()) == "ready"
    assert len(hub.requests) == before


def test_a_cut_download_goes_on_where_it_stopped(store, hub):
    hub.fault, hub.faults_left = "cut", 1
    assert store.fetch(spec()).read_bytes() == DATA
    assert hub.ranges
    assert hub.sent < 1.2 * len(DATA)


@pytest.mark.parametrize("known", [True, False], ids=["checksum", "no checksum"])
@pytest.mark.parametrize(
    ("fault", "error", "key"),
    [
        ("changed", WeightsDamaged, "model.bad"),
        ("html", DownloadFailed, "err.hub_page"),
        ("portal", DownloadFailed, "err.hub_page"),
        ("404", DownloadFailed, "err.hub_gone"),
        ("404 revision", DownloadFailed, "err.hub_gone"),
        ("403 gated", DownloadFailed, "err.hub_gated"),
    ],
)
def test_a_bad_download_never_gets_the_final_name(store, hub, fault, error, key, known):
    hub.fault = fault
    wanted = spec() if known else spec(sha256=None)
    with pytest.raises(error) as caught:
        store.fetch(wanted)
    assert caught.value.message.key == key
    assert caught.value.hint.key == f"{key}.hint"
    assert store.locate(wanted) is None
    assert [name for name in leftovers(store) if name.endswith((".onnx", ".part"))] == []
    assert store.verify(wanted).checksum != "verified"


@pytest.mark.parametrize(("fault", "key"), [("503", "err.hub_busy"), ("stall", "err.download")])
def test_a_hub_that_does_not_get_ready_is_said(hub, tmp_path, fault, key):
    hub.fault = fault
    store = WeightStore(tmp_path, embedded=EMBEDDED, endpoint=hub.url, timeout_s=1, attempts=1)
    with pytest.raises(DownloadFailed) as caught:
        store.fetch(spec())
    assert caught.value.message.key == key
    assert store.locate(spec()) is None


def test_a_damaged_download_is_fetched_once_more(store, hub):
    hub.fault = "changed"
    with pytest.raises(WeightsDamaged, match="was removed"):
        store.fetch(spec())
    assert hub.requests.count("GET") == 2
    hub.fault = ""
    assert store.fetch(spec()).read_bytes() == DATA


def test_a_busy_hub_is_asked_again(store, hub):
    hub.fault, hub.faults_left = "429", 2
    assert store.fetch(spec()).read_bytes() == DATA


def test_offline_and_absent_says_so_without_a_call(hub, tmp_path):
    store = WeightStore(tmp_path, embedded=EMBEDDED, endpoint=hub.url, offline=True)
    with pytest.raises(DownloadFailed, match="offline mode is on"):
        store.fetch(spec())
    assert hub.requests == []


def test_offline_mode_of_the_library_is_respected(store, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.is_offline_mode", lambda: True)
    with pytest.raises(DownloadFailed, match="offline mode is on"):
        store.fetch(spec())
    assert hub.requests == []


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "Not enough space"), (errno.EROFS, "Nothing can be written")],
)
def test_a_disk_that_fails_half_way_is_said(store, monkeypatch, number, words):
    def fail(*given, **named):
        raise OSError(number, "no")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", fail)
    with pytest.raises(DownloadFailed, match=words):
        store.fetch(spec())


def test_a_dead_network_is_said_within_seconds(tmp_path):
    store = WeightStore(
        tmp_path, embedded=EMBEDDED, endpoint="http://127.0.0.1:9", timeout_s=1, attempts=1
    )
    with pytest.raises(DownloadFailed, match="internet connection"):
        store.fetch(spec())


def test_a_read_only_folder_names_what_to_set(hub, tmp_path, monkeypatch):
    def refuse(self, *given, **named):
        raise OSError(30, "Read-only file system")

    store = WeightStore(tmp_path / "models", embedded=EMBEDDED, endpoint=hub.url)
    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(DownloadFailed, match="FACEFUSION_MODEL_FOLDER"):
        store.fetch(spec())


def test_a_read_only_folder_with_the_file_is_no_problem(store, hub, monkeypatch):
    store.fetch(spec())
    monkeypatch.setattr(Path, "touch", lambda *_: pytest.fail("tried to write"))
    assert store.fetch(spec()).read_bytes() == DATA


def test_two_who_want_the_same_file_make_one_download(store, hub):
    hub.slow_s = 0.02
    threads = [threading.Thread(target=store.fetch, args=(spec(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hub.requests.count("GET") == 1
    assert store.locate(spec()).read_bytes() == DATA


def test_an_old_version_is_seen_as_damaged_and_replaced(store):
    store.folder.mkdir()
    store.place(spec()).write_bytes(b"an older version")
    assert store.state(spec()) == "damaged"
    assert store.fetch(spec(), again=True).read_bytes() == DATA


def test_a_licence_has_to_be_accepted_before_any_byte(store, hub):
    with pytest.raises(LicenceNotAccepted, match="Non-Commercial"):
        store.fetch(spec(licence="Non-Commercial", licence_kind="private"))
    assert hub.requests == []
    store.fetch(spec(licence="Non-Commercial", licence_kind="private"), accept_licence=True)


def test_a_full_disk_is_said_before_the_download(store, hub, monkeypatch):
    monkeypatch.setattr(weights_module.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(DownloadFailed, match="Not enough space"):
        store.fetch(spec())
    assert hub.requests == []


def test_a_cancelled_download_goes_on_later(store, hub):
    hub.slow_s = 0.05
    stop = threading.Event()
    with pytest.raises(Cancelled):
        store.fetch(spec(), progress=lambda _: stop.set(), cancelled=stop.is_set)
    assert store.locate(spec()) is None
    assert store.fetch(spec()).read_bytes() == DATA


def test_a_file_the_user_has_is_taken_only_when_it_is_the_right_one(store, tmp_path):
    mine = tmp_path / "mine.onnx"
    mine.write_bytes(DATA)
    assert store.adopt(spec(), mine).read_bytes() == DATA
    store.remove(spec())
    mine.write_bytes(b"something else")
    with pytest.raises(WeightsDamaged, match=r"mine\.onnx is not the right file"):
        store.adopt(spec(), mine)
    assert store.locate(spec()) is None
    assert leftovers(store) == []


def test_a_full_disk_is_not_called_a_wrong_file(store, tmp_path, monkeypatch):
    mine = tmp_path / "mine.onnx"
    mine.write_bytes(DATA)

    def fail(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(weights_module.shutil, "copyfile", fail)
    with pytest.raises(DownloadFailed, match="Not enough space"):
        store.adopt(spec(), mine)


def test_a_file_whose_checksum_nobody_knows_is_never_called_verified(store, tmp_path):
    mine = tmp_path / "mine.onnx"
    mine.write_bytes(DATA)
    unknown = spec(sha256=None)
    store.adopt(unknown, mine)
    assert (store.verify(unknown).state, store.verify(unknown).checksum) == ("ready", "unknown")
    mine.write_bytes(b"<!DOCTYPE html>")
    with pytest.raises(WeightsDamaged):
        store.adopt(unknown, mine)
    assert store.locate(unknown).read_bytes() == DATA


def test_a_checksum_from_third_parties_is_unverified_until_a_download_agrees(store):
    told = spec(sha256_verified=False)
    assert store.verify(told).checksum == "unverified"
    store.fetch(told)
    assert store.verify(told).checksum == "verified"


def test_models_that_arrive_together_are_all_recorded(store):
    specs = [spec(name=f"m{n}", file=f"m{n}.onnx", sha256=None) for n in range(5)]
    threads = [threading.Thread(target=store.fetch, args=(one,)) for one in specs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.verify(one).checksum for one in specs] == ["verified"] * 5


def test_downloads_go_on_in_the_background_and_can_be_stopped(store, hub):
    downloads = Downloads(store)
    hub.slow_s = 0.02
    downloads.start(spec(), accept_licence=False)
    assert downloads.running
    downloads.cancel("big_model")
    wait_for(lambda: not downloads.running)
    assert downloads.of("big_model").state in ("cancelled", "done")
    hub.slow_s = 0
    downloads.start(spec(), accept_licence=False)
    wait_for(lambda: not downloads.running)
    assert downloads.of("big_model").state == "done"


def test_a_failed_download_tells_its_reason(store, hub):
    hub.fault = "404"
    downloads = Downloads(store)
    downloads.start(spec(), accept_licence=False)
    wait_for(lambda: not downloads.running)
    found = downloads.of("big_model")
    assert found.state == "failed"
    assert "no longer offers" in found.error.message


def wait_for(true) -> None:
    event = threading.Event()
    for _ in range(400):
        if true():
            return
        event.wait(0.05)
    pytest.fail("it never happened")


def test_weights_that_are_missing_say_how_to_get_them(store):
    with pytest.raises(WeightsMissing, match="models fetch big_model"):
        store.require(spec())


def test_the_built_in_files_are_the_ones_their_licences_speak_of():
    text = (EMBEDDED / "LICENCES.txt").read_text()
    told = {
        name: (int(size), sha)
        for name, size, sha in re.findall(
            r"^(\S+\.onnx)\n.*?bytes  : (\d+)\n  sha256 : ([0-9a-f]{64})", text, re.M | re.S
        )
    }
    present = {path.name for path in EMBEDDED.glob("*.onnx")}
    assert present <= set(told)
    for name in present:
        data = (EMBEDDED / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == told[name], name


@pytest.mark.parametrize("model", [*FACE_MODELS, NSFW5], ids=lambda model: model.name)
def test_the_code_knows_the_checksum_of_each_built_in_file(model):
    verdict = WeightStore(Path("nowhere"), embedded=EMBEDDED).verify(model)
    assert (verdict.state, verdict.checksum) == ("ready", "verified")
    assert (EMBEDDED / model.file).stat().st_size == model.size_bytes
