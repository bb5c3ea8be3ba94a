"""Every result says that it was edited with AI, and shows when it was changed afterwards."""

from __future__ import annotations

import datetime
import getpass
import json
import multiprocessing
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.errors import ConsentMissing, MediaError, UnreadableMedia
from core.imaging.stills import read_still, write_still
from core.request import RenderRequest
from core.safety import provenance as module
from core.safety.consent import require_consent
from core.safety.label import draw_label, draw_preview_mark
from core.safety.provenance import Provenance
from core.types import DIGITAL_SOURCE_TYPE, ProvenanceRecord

RECORD = ProvenanceRecord(title="party-swapped.png", models=("face_mesh478",), actions=("swap",))


@pytest.fixture(scope="module")
def provenance(tmp_path_factory):
    return Provenance(tmp_path_factory.mktemp("data"))


@pytest.fixture
def signed(provenance, astronaut_path, tmp_path):
    def made(ending: str = ".png") -> Path:
        still = read_still(astronaut_path)
        return write_still(
            still,
            still.pixels,
            tmp_path / f"out{ending}",
            source_type=DIGITAL_SOURCE_TYPE,
            mark=provenance.marker(RECORD),
        ).path

    return made


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp", ".avif", ".tiff"])
def test_what_was_signed_here_is_recognised(provenance, signed, ending):
    found = provenance.verify(signed(ending))
    assert found.state == "ours"
    assert found.digital_source_type == DIGITAL_SOURCE_TYPE
    assert found.models == ("face_mesh478",)
    assert found.xmp
    text = " ".join(found.sentences)
    assert "edited with AI" in text
    assert "unknown signer" in text


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp"])
def test_one_changed_byte_shows(provenance, signed, ending):
    path = signed(ending)
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 1
    path.write_bytes(data)
    found = provenance.verify(path)
    assert found.state == "broken"
    assert "changed after it was signed" in found.sentences[0]


def test_another_installation_sees_an_unknown_signer(signed, tmp_path):
    found = Provenance(tmp_path / "other").verify(signed())
    assert found.state == "other"
    assert "FaceFusion UI" in found.signer
    assert "does not know" in found.sentences[0]


def test_saving_again_elsewhere_loses_the_credentials_and_that_is_said(
    provenance, signed, tmp_path
):
    again = tmp_path / "again.png"
    with Image.open(signed()) as picture:
        picture.save(again)
    assert provenance.verify(again).state == "none"
    kept = tmp_path / "kept.jpg"
    with Image.open(signed(".jpg")) as picture:
        picture.save(kept, xmp=picture.info["xmp"])
    found = provenance.verify(kept)
    assert found.state == "none"
    assert "saved it again" in found.sentences[0]


def test_a_file_without_credentials_says_so(provenance, astronaut_path, tmp_path):
    assert provenance.verify(astronaut_path).state == "none"
    text = tmp_path / "letter.txt"
    text.write_text("Dear reader")
    assert provenance.verify(text).state == "none"


def test_a_missing_file_is_named(provenance, tmp_path):
    with pytest.raises(UnreadableMedia, match=r"nowhere\.png"):
        provenance.verify(tmp_path / "nowhere.png")


def test_a_container_that_cannot_carry_credentials_gets_them_beside(provenance, tmp_path):
    plain, out = tmp_path / "plain.webm", tmp_path / "out.webm"
    plain.write_bytes(b"a clip " * 999)
    mark = provenance.marker(RECORD)(plain, out)
    assert mark.sidecar == tmp_path / "out.webm.c2pa"
    assert provenance.verify(out).state == "ours"
    out.write_bytes(b"another " * 999)
    assert provenance.verify(out).state == "broken"


def test_the_credentials_name_no_person_and_no_folder(signed, provenance, tmp_path):
    data = signed().read_bytes()
    for word in (str(tmp_path), str(Path.home()), getpass.getuser() + "@", "astronaut"):
        assert word.encode() not in data


def test_no_picture_of_the_original_is_inside(signed):
    data = signed().read_bytes()
    assert data.count(b"\x89PNG") == 1
    assert b"c2pa.thumbnail" not in data


def test_the_key_is_for_its_owner_only(provenance, signed):
    signed()
    file = provenance._folder / "key.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def chain_of(folder: str) -> str:
    return Provenance(Path(folder))._ready().chain


def test_two_processes_started_at_once_share_one_key(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        chains = workers.map(chain_of, [str(tmp_path)] * 4)
    assert len(set(chains)) == 1


def test_a_certificate_that_ends_soon_is_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEAF_DAYS", 10)
    first = chain_of(str(tmp_path))
    monkeypatch.setattr(module, "LEAF_DAYS", 365)
    second = chain_of(str(tmp_path))
    assert second != first
    assert chain_of(str(tmp_path)) == second


@pytest.mark.parametrize("content", ["", "{}", "no json", json.dumps({"key": 1})])
def test_a_damaged_key_file_is_replaced(tmp_path, content):
    folder = tmp_path / "signing"
    folder.mkdir()
    (folder / "key.json").write_text(content)
    assert "BEGIN CERTIFICATE" in chain_of(str(tmp_path))


def test_when_signing_fails_no_file_gets_out(astronaut_path, tmp_path, monkeypatch):
    still = read_still(astronaut_path)
    broken = Provenance(tmp_path / "data")
    monkeypatch.setattr(broken, "_sign_inside", lambda *given: (_ for _ in ()).throw(OSError(5)))
    with pytest.raises(MediaError, match="not kept"):
        write_still(
            still,
            still.pixels,
            tmp_path / "out" / "out.png",
            source_type=DIGITAL_SOURCE_TYPE,
            mark=broken.marker(RECORD),
        )
    assert list((tmp_path / "out").iterdir()) == []


def test_a_signature_that_does_not_hold_is_caught_before_the_file_gets_out(
    astronaut_path, tmp_path, monkeypatch
):
    silent = Provenance(tmp_path / "data")
    monkeypatch.setattr(
        silent, "_sign_inside", lambda keys, record, plain, out: shutil.copy(plain, out)
    )
    with pytest.raises(MediaError):
        silent.marker(RECORD)(astronaut_path, tmp_path / "out.png")


def test_consent_is_asked():
    request = RenderRequest(target=Path("t.png"), steps=())
    with pytest.raises(ConsentMissing):
        require_consent(request)
    require_consent(request.model_copy(update={"consent": True}))


def test_the_certificate_is_valid_from_before_now(tmp_path):
    from cryptography import x509

    leaf = x509.load_pem_x509_certificates(chain_of(str(tmp_path)).encode())[0]
    now = datetime.datetime.now(datetime.UTC)
    assert leaf.not_valid_before_utc < now < leaf.not_valid_after_utc


# ---- marks people can see ------------------------------------------------------------------


@pytest.mark.parametrize("tone", [0, 128, 255], ids=["black", "grey", "white"])
@pytest.mark.parametrize("size", [(64, 64), (512, 512), (2000, 3000)])
def test_the_label_can_be_read_on_any_ground_and_touches_only_its_corner(tone, size):
    picture = np.full((*size, 3), tone, np.uint8)
    out = draw_label(picture)
    assert picture.min() == picture.max() == tone
    changed = (out != picture).any(2)
    rows, columns = np.nonzero(changed)
    plate = out[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    assert int(plate.max()) - int(plate.min()) > 120
    assert rows.min() > size[0] * 0.6
    assert columns.max() < size[1] * 0.8 or size[1] < 100


def test_a_preview_is_marked_everywhere(astronaut):
    out = draw_preview_mark(astronaut)
    assert out.shape == astronaut.shape
    changed = (out != astronaut).any(2)
    for rows in np.array_split(changed, 4):
        for part in np.array_split(rows, 4, axis=1):
            assert part.any()
