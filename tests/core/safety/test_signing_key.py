"""The signing key: one per installation, for its owner only, renewed in time."""

from __future__ import annotations

import datetime
import json
import multiprocessing
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography import x509

from core.safety import signing_key as module
from core.safety.provenance import Provenance
from core.safety.signing_key import KeyStore
from core.types import ProvenanceRecord

RECORD = ProvenanceRecord(title="AI-edited picture", models=("a",), actions=("swap",))


def chain_of(folder: str) -> str:
    return KeyStore(Path(folder)).current().chain


def test_the_key_is_for_its_owner_only_and_nothing_else_lies_about(tmp_path):
    chain_of(str(tmp_path / "signing"))
    file = tmp_path / "signing" / "key.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {path.name for path in file.parent.iterdir()} <= {"key.json", ".lock"}


def test_a_key_that_others_could_read_is_closed_again(tmp_path):
    chain = chain_of(str(tmp_path))
    (tmp_path / "key.json").chmod(0o644)
    assert chain_of(str(tmp_path)) == chain
    assert stat.S_IMODE((tmp_path / "key.json").stat().st_mode) == 0o600


def test_two_processes_started_at_once_share_one_key(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        chains = workers.map(chain_of, [str(tmp_path)] * 4)
    assert len(set(chains)) == 1


def test_threads_with_stores_of_their_own_share_one_key(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        chains = list(threads.map(chain_of, [str(tmp_path)] * 16))
    assert len(set(chains)) == 1


def test_a_key_that_signed_for_a_year_is_renewed_and_its_results_stay_ours(
    astronaut_path, tmp_path, monkeypatch
):
    old = tmp_path / "old.png"
    Provenance(tmp_path / "data").marker(RECORD)(astronaut_path, old)
    folder = str(tmp_path / "data" / "signing")
    first = chain_of(folder)
    with monkeypatch.context() as later:
        later.setattr(module, "SIGNS_FOR", module.CLOCK_SLACK)  # as if a year had gone by
        KeyStore(Path(folder)).current()
    second = chain_of(folder)
    assert second != first
    assert chain_of(folder) == second
    after = Provenance(tmp_path / "data")
    assert after.verify(old).state == "ours"
    after.marker(RECORD)(astronaut_path, tmp_path / "new.png")
    assert after.verify(tmp_path / "new.png").state == "ours"


def test_a_program_that_runs_on_renews_its_key_too(tmp_path, monkeypatch):
    store = KeyStore(tmp_path)
    first = store.current().chain
    monkeypatch.setattr(module, "SIGNS_FOR", module.CLOCK_SLACK)
    assert store.current().chain != first


def test_the_certificate_is_valid_from_before_now_for_years(tmp_path):
    leaf, authority = x509.load_pem_x509_certificates(chain_of(str(tmp_path)).encode())
    now = datetime.datetime.now(datetime.UTC)
    assert leaf.not_valid_before_utc < now < leaf.not_valid_after_utc
    assert leaf.not_valid_after_utc <= authority.not_valid_after_utc
    leaf.verify_directly_issued_by(authority)


def test_the_certificate_names_the_program_and_nobody_else(tmp_path):
    leaf, authority = x509.load_pem_x509_certificates(chain_of(str(tmp_path)).encode())
    for certificate in (leaf, authority):
        names = [str(part.value) for part in certificate.subject]
        assert all(name.startswith("FaceFusion UI") for name in names)


@pytest.mark.parametrize(
    "content",
    ["", "{}", "no json", json.dumps({"key": 1}), json.dumps(["key"]), "\x00" * 9],
)
def test_a_damaged_key_file_is_replaced(tmp_path, content):
    (tmp_path / "key.json").write_text(content)
    assert KeyStore(tmp_path).authorities() == ()
    chain = chain_of(str(tmp_path))
    assert "BEGIN CERTIFICATE" in chain
    assert chain_of(str(tmp_path)) == chain


def test_a_key_that_cannot_be_kept_is_not_half_written(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        KeyStore(tmp_path).current()
    assert {path.name for path in tmp_path.iterdir()} <= {".lock"}
