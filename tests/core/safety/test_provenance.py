"""Every result says that it was edited with AI, and shows when it was changed afterwards."""

from __future__ import annotations

import dataclasses
import getpass
import shutil
from pathlib import Path

import pytest
from PIL import Image

from core.errors import MediaError, UnreadableMedia
from core.imaging.metadata import xmp_packet
from core.imaging.stills import read_still, write_still
from core.safety import provenance as module
from core.safety.credentials import read, sidecar_of, sign
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


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp", ".avif", ".tiff"])
@pytest.mark.parametrize("part", [b"jumb", b"c2pa.actions", b"c2pa.signature"])
def test_damaged_credentials_are_not_taken_for_none(provenance, signed, ending, part):
    path = signed(ending)
    data = bytearray(path.read_bytes())
    data[data.index(part) + 2] ^= 1
    path.write_bytes(data)
    assert provenance.verify(path).tampered


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
    for name, content in (
        ("letter.txt", b"Dear reader"),
        ("no.png", b"Dear reader"),
        ("e.jpg", b""),
    ):
        (tmp_path / name).write_bytes(content)
        found = provenance.verify(tmp_path / name)
        assert found.state == "none"
        assert found.sentences == ("It carries no content credentials.",)


def test_looking_at_a_file_makes_no_key(astronaut_path, tmp_path):
    Provenance(tmp_path / "data").verify(astronaut_path)
    assert not (tmp_path / "data").exists()


def test_a_file_that_may_not_be_read_is_named(provenance, astronaut_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "read", refuse)
    with pytest.raises(UnreadableMedia, match=r"astronaut\.png.*Permission denied"):
        provenance.verify(astronaut_path)


def test_a_certificate_that_ran_out_is_not_called_a_change(provenance, signed, monkeypatch):
    path = signed()
    found = read(path, provenance._keys.authorities())
    found.store["validation_state"] = "Invalid"
    found.store["validation_results"]["activeManifest"]["failure"] = [
        {"code": "signingCredential.untrusted"},
        {"code": "signingCredential.expired"},
    ]
    monkeypatch.setattr(module, "read", lambda *_: found)
    seen = provenance.verify(path)
    assert (seen.state, seen.tampered) == ("other", False)
    assert "has run out" in seen.sentences[0]


def test_a_result_that_another_program_changed_and_signed_still_says_ai(
    provenance, signed, tmp_path
):
    key = Provenance(tmp_path / "editor")._keys.current()
    record = dataclasses.replace(RECORD, digital_source_type="http://example.org/humanEdits")
    later = tmp_path / "later.png"
    sign(key, record, signed(), later)
    found = provenance.verify(later)
    assert found.state == "other"
    assert found.digital_source_type == DIGITAL_SOURCE_TYPE
    assert "edited with AI" in " ".join(found.sentences)


def test_the_summary_says_program_steps_models_and_time(provenance, signed):
    facts = provenance.verify(signed()).facts()
    assert facts["program"].startswith("FaceFusion UI ")
    assert facts["steps"] == ["swap"]
    assert facts["time"].endswith("Z")
    assert facts["tampered"] is False


def test_what_a_stranger_wrote_is_shown_on_one_short_line(provenance, signed, monkeypatch):
    path = signed()
    found = read(path, provenance._keys.authorities())
    active = found.store["manifests"][found.store["active_manifest"]]
    active["signature_info"]["common_name"] = "Evil\x1b[31m\nName " + "x" * 500
    monkeypatch.setattr(module, "read", lambda *_: found)
    signer = provenance.verify(path).signer
    assert signer.isprintable()
    assert len(signer) <= 80


def test_a_missing_file_is_named(provenance, tmp_path):
    with pytest.raises(UnreadableMedia, match=r"nowhere\.png"):
        provenance.verify(tmp_path / "nowhere.png")


@pytest.mark.parametrize("name", ["out.webm", "out.bmp", "out"])
def test_a_container_that_cannot_carry_credentials_gets_them_beside(provenance, tmp_path, name):
    plain, out = tmp_path / "plain", tmp_path / name
    plain.write_bytes(b"a clip " * 999)
    mark = provenance.marker(RECORD)(plain, out)
    assert mark.sidecar == sidecar_of(out) == tmp_path / f"{name}.c2pa"
    assert out.read_bytes() == plain.read_bytes()
    assert provenance.verify(out).state == "ours"
    out.write_bytes(b"another " * 999)
    assert provenance.verify(out).state == "broken"
    out.write_bytes(plain.read_bytes())
    mark.sidecar.write_bytes(b"nonsense")
    assert provenance.verify(out).state == "broken"
    mark.sidecar.unlink()
    assert provenance.verify(out).state == "none"


def test_a_picture_under_another_ending_is_still_recognised(provenance, signed, tmp_path):
    other = tmp_path / "picture.dat"
    shutil.copy(signed(), other)
    assert provenance.verify(other).state == "ours"


def test_what_the_original_said_stays_and_the_pixels_do(provenance, astronaut, tmp_path):
    plain, out = tmp_path / "plain.jpg", tmp_path / "out.jpg"
    said = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/">'
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        b'<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        b"<dc:rights>Ada, 2026</dc:rights></rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    Image.fromarray(astronaut).save(plain, xmp=xmp_packet(said, source_type=DIGITAL_SOURCE_TYPE))
    mark = provenance.marker(RECORD)(plain, out)
    with Image.open(plain) as before, Image.open(out) as after:
        assert before.tobytes() == after.tobytes()
        assert b"Ada, 2026" in after.info["xmp"]
        assert DIGITAL_SOURCE_TYPE.encode() in after.info["xmp"]
    assert mark.xmp


def test_the_credentials_name_no_person_and_no_folder(signed, provenance, tmp_path):
    data = signed().read_bytes()
    for word in (str(tmp_path), str(Path.home()), getpass.getuser() + "@", "astronaut"):
        assert word.encode() not in data


def test_no_picture_of_the_original_is_inside(signed):
    data = signed().read_bytes()
    assert data.count(b"\x89PNG") == 1
    assert b"c2pa.thumbnail" not in data


def fail(*_):
    raise OSError(5, "Input/output error")


def test_when_signing_fails_no_file_gets_out(astronaut_path, tmp_path, monkeypatch):
    still = read_still(astronaut_path)
    monkeypatch.setattr(module, "sign", fail)
    with pytest.raises(MediaError, match="not kept"):
        write_still(
            still,
            still.pixels,
            tmp_path / "out" / "out.png",
            source_type=DIGITAL_SOURCE_TYPE,
            mark=Provenance(tmp_path / "data").marker(RECORD),
        )
    assert list((tmp_path / "out").iterdir()) == []


def test_a_signature_that_does_not_hold_is_caught_before_the_file_gets_out(
    astronaut_path, tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "sign", lambda key, record, plain, out: shutil.copy(plain, out))
    out = tmp_path / "out.png"
    with pytest.raises(MediaError):
        Provenance(tmp_path / "data").marker(RECORD)(astronaut_path, out)
    assert not out.exists()


@pytest.mark.parametrize("step", ["write_bytes", "copyfile"])
def test_a_full_disk_leaves_neither_file_nor_sidecar(tmp_path, monkeypatch, step):
    plain, out = tmp_path / "plain.webm", tmp_path / "out.webm"
    plain.write_bytes(b"a clip " * 999)
    marker = Provenance(tmp_path / "data").marker(RECORD)
    monkeypatch.setattr(*((Path, step) if step == "write_bytes" else (shutil, step)), fail)
    with pytest.raises(MediaError):
        marker(plain, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "plain.webm"]


def test_a_data_folder_that_cannot_be_written_stops_the_work(astronaut_path, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(MediaError, match="could not be marked"):
        Provenance(tmp_path / "data").marker(RECORD)(astronaut_path, tmp_path / "out.png")
    assert not (tmp_path / "out.png").exists()
