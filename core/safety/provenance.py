"""Content credentials: every written file says inside that it was edited with AI.

Source: C2PA technical specification 2.2; signed with c2pa-python by a key made on this computer.
Such a signer is unknown to others, which the texts say. Nothing here uses the network.
"""

from __future__ import annotations

import datetime
import io
import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import c2pa
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from filelock import FileLock
from PIL import Image

from core.config import VERSION
from core.errors import MediaError, UnreadableMedia
from core.imaging.metadata import source_type_of, xmp_of
from core.sentences import Sentence, say
from core.types import ProvenanceRecord

PROGRAM = "FaceFusion UI"
SIGNER = "FaceFusion UI (this computer)"
LEAF_DAYS = 365
AUTHORITY_DAYS = 3650
RENEW_DAYS = 14
CAN_CARRY = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jfif": "image/jpeg",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".heic": "image/heic",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".gif": "image/gif",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
}
OTHER_KIND = "application/octet-stream"
LABELLED = "org.facefusion-ui.edit"


@dataclass(frozen=True, slots=True)
class Mark:
    """How a file was marked; the fields of the report's ProvenanceFacts."""

    c2pa: bool
    signer: str
    digital_source_type: str
    xmp: bool
    label: bool
    sidecar: Path | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What a file says about its origin.

    ``ours``: signed by this installation and unchanged. ``other``: unchanged, signed by someone
    else. ``none``: no credentials. ``broken``: changed after it was signed.
    """

    state: Literal["ours", "other", "none", "broken"]
    sentences: tuple[Sentence, ...]
    signer: str = ""
    digital_source_type: str = ""
    xmp: bool = False
    models: tuple[str, ...] = ()
    time: str = ""

    def facts(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "state": self.state,
            "explanation": [str(sentence) for sentence in self.sentences],
            "signer": self.signer,
            "digital_source_type": self.digital_source_type,
            "xmp": self.xmp,
            "models": list(self.models),
            "time": self.time,
        }


@dataclass(frozen=True, slots=True)
class _Keys:
    key: str
    chain: str
    authority: str


class Provenance:
    """Signs and verifies with the key kept in ``folder``; the key is made at first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "signing"
        self._guard = threading.Lock()
        self._keys: _Keys | None = None

    def marker(self, record: ProvenanceRecord) -> Callable[[Path, Path], Mark]:
        """A function that signs the first path's file into the second, and reads it back.

        MediaError when that fails: nothing unmarked may leave.
        """

        def mark(plain: Path, signed: Path) -> Mark:
            sidecar = None
            try:
                keys = self._ready()
                if signed.suffix.lower() in CAN_CARRY:
                    self._sign_inside(keys, record, plain, signed)
                else:
                    sidecar = self._sign_beside(keys, record, plain, signed)
            except (c2pa.C2paError, OSError, ValueError) as cause:
                raise MediaError(say("err.mark"), hint=say("err.mark.hint")) from cause
            found = self.verify(signed)
            if found.state != "ours":
                raise MediaError(say("err.mark"), hint=say("err.mark.hint"))
            return Mark(
                c2pa=True,
                signer=found.signer,
                digital_source_type=found.digital_source_type,
                xmp=found.xmp,
                label=record.label,
                sidecar=sidecar,
            )

        return mark

    def verify(self, path: Path) -> Verification:
        """Read the credentials of ``path`` back. UnreadableMedia when there is no such file."""
        if not path.is_file():
            raise UnreadableMedia(say("err.missing", name=path.name), hint=say("err.missing.hint"))
        packet = _xmp_in(path)
        stated = source_type_of(packet)
        store = self._read(path)
        if store is None:
            key = "verify.none_xmp" if stated else "verify.none"
            return Verification("none", (say(key),), digital_source_type=stated, xmp=bool(stated))
        return self._explained(store, stated)

    def _explained(self, store: dict[str, Any], stated: str) -> Verification:
        active = store.get("manifests", {}).get(store.get("active_manifest", ""), {})
        info = active.get("signature_info", {})
        signer = info.get("common_name") or info.get("issuer") or ""
        edits = [
            assertion["data"]
            for assertion in active.get("assertions", [])
            if assertion["label"].startswith("c2pa.actions")
        ]
        actions = [action for data in edits for action in data.get("actions", [])]
        source = next(
            (one["digitalSourceType"] for one in actions if "digitalSourceType" in one), stated
        )
        ours = [
            assertion["data"]
            for assertion in active.get("assertions", [])
            if assertion["label"].startswith(LABELLED)
        ]
        models = tuple(str(name) for data in ours for name in data.get("models", []))
        state, told = _state_of(store)
        sentences = [say(f"verify.{state}", signer=signer or "?")]
        if state in ("ours", "other"):
            if "compositeWithTrainedAlgorithmicMedia" in source or "trainedAlg" in source:
                sentences.append(say("verify.ai"))
            if models:
                sentences.append(say("verify.models", models=", ".join(models)))
            if state == "ours":
                sentences.append(say("mark.help"))
        return Verification(
            told, tuple(sentences), signer, source, bool(stated), models, str(info.get("time", ""))
        )

    # ---- signing ---------------------------------------------------------------------------

    def _sign_inside(
        self, keys: _Keys, record: ProvenanceRecord, plain: Path, signed: Path
    ) -> None:
        with self._signer(keys) as signer, self._builder(keys, record) as builder:
            builder.sign_file(str(plain), str(signed), signer)

    def _sign_beside(
        self, keys: _Keys, record: ProvenanceRecord, plain: Path, signed: Path
    ) -> Path:
        shutil.copyfile(plain, signed)
        sidecar = sidecar_of(signed)
        with (
            self._signer(keys) as signer,
            self._builder(keys, record) as builder,
            signed.open("rb") as source,
        ):
            builder.set_no_embed()
            manifest = builder.sign(signer, OTHER_KIND, source, io.BytesIO())
        sidecar.write_bytes(manifest)
        return sidecar

    def _signer(self, keys: _Keys) -> Any:
        info = c2pa.C2paSignerInfo(
            alg=c2pa.C2paSigningAlg.ES256,
            sign_cert=keys.chain.encode(),
            private_key=keys.key.encode(),
            ta_url=None,
        )
        return c2pa.Signer.from_info(info)

    def _builder(self, keys: _Keys, record: ProvenanceRecord) -> Any:
        builder = c2pa.Builder(_manifest(record), c2pa.Context(_settings(keys.authority)))
        builder.set_intent(c2pa.C2paBuilderIntent.EDIT)
        return builder

    def _read(self, path: Path) -> dict[str, Any] | None:
        beside = sidecar_of(path)
        kind = _kind_by_content(path) or CAN_CARRY.get(path.suffix.lower())
        if kind is None and not beside.is_file():
            return None
        manifest = beside.read_bytes() if kind is None else None
        try:
            context = c2pa.Context(_settings(self._ready().authority))
            with (
                path.open("rb") as stream,
                c2pa.Reader(kind or OTHER_KIND, stream, manifest, context) as reader,
            ):
                return dict(json.loads(reader.json()))
        except c2pa.C2paError:
            return None

    # ---- keys ------------------------------------------------------------------------------

    def _ready(self) -> _Keys:
        with self._guard:
            if self._keys is None or _ends_soon(self._keys.chain):
                self._keys = self._load_or_make()
            return self._keys

    def _load_or_make(self) -> _Keys:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(str(self._folder / ".lock")):
            try:
                found = json.loads((self._folder / "key.json").read_text(encoding="utf-8"))
                keys = _Keys(found["key"], found["chain"], found["authority"])
                if not _ends_soon(keys.chain):
                    return keys
            except (OSError, ValueError, KeyError, TypeError):
                pass
            keys = _new_keys()
            part = self._folder / f".key-{os.getpid()}"
            part.unlink(missing_ok=True)
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"key": keys.key, "chain": keys.chain, "authority": keys.authority}, file)
            part.replace(self._folder / "key.json")
            return keys


def sidecar_of(path: Path) -> Path:
    """Where the manifest of a file lies whose container cannot carry one."""
    return path.with_name(path.name + ".c2pa")


def _settings(authority: str) -> Any:
    return c2pa.Settings.from_dict(
        {
            "builder": {"thumbnail": {"enabled": False}},
            "trust": {"user_anchors": authority},
            "verify": {
                "verify_trust": True,
                "remote_manifest_fetch": False,
                "ocsp_fetch": False,
            },
        }
    )


def _manifest(record: ProvenanceRecord) -> dict[str, Any]:
    agent = {"name": PROGRAM, "version": VERSION}
    action = {
        "action": "c2pa.edited",
        "digitalSourceType": record.digital_source_type,
        "softwareAgent": agent,
        "parameters": {"steps": ", ".join(record.actions)},
    }
    return {
        "claim_generator_info": [agent],
        "title": record.title,
        "assertions": [
            {"label": "c2pa.actions", "data": {"actions": [action]}},
            {
                "label": LABELLED,
                "data": {
                    "models": list(record.models),
                    "steps": list(record.actions),
                    "visible_label": record.label,
                },
            },
        ],
    }


def _state_of(store: dict[str, Any]) -> tuple[str, Literal["ours", "other", "none", "broken"]]:
    told = store.get("validation_state", "Invalid")
    if told == "Trusted":
        return "ours", "ours"
    if told == "Valid":
        return "other", "other"
    return "broken", "broken"


def _new_keys() -> _Keys:
    now = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=5)
    authority_key, leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = _name(f"{PROGRAM} installation")
    authority = (
        _certificate(authority_name, authority_name, authority_key, now, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(sign_certificates=True), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    leaf = (
        _certificate(_name(SIGNER), authority_name, leaf_key, now, LEAF_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(sign_certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False
        )
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(leaf_key.public_key()), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key = leaf_key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    top = authority.public_bytes(pem).decode()
    return _Keys(key.decode(), leaf.public_bytes(pem).decode() + top, top)


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, PROGRAM),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    start: datetime.datetime,
    days: int,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=days))
    )


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _ends_soon(chain: str) -> bool:
    leaf = x509.load_pem_x509_certificates(chain.encode())[0]
    left = leaf.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return left < datetime.timedelta(days=RENEW_DAYS)


def _xmp_in(path: Path) -> bytes | None:
    try:
        with Image.open(path) as picture:
            return xmp_of(picture)
    except (OSError, ValueError, SyntaxError):
        return None


def _kind_by_content(path: Path) -> str | None:
    try:
        with Image.open(path) as picture:
            return CAN_CARRY.get(f".{(picture.format or '').lower()}")
    except (OSError, ValueError, SyntaxError):
        return None
