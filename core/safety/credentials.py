"""Content credentials as bytes: put them into a file or beside it, and read them back.

Source: C2PA technical specification 2.2, by way of c2pa-python. Nothing here uses the network.
"""

from __future__ import annotations

import datetime
import json
import mmap
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import c2pa
from PIL import Image

from core.config import VERSION
from core.imaging.metadata import xmp_of
from core.safety.signing_key import PROGRAM, SigningKey
from core.types import ProvenanceRecord

KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jfif": "image/jpeg",
    ".mpo": "image/jpeg",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".gif": "image/gif",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
}
"""Containers that can carry credentials inside, by ending or by Pillow's name of the format."""
OTHER_KIND = "application/octet-stream"
EDIT_LABEL = "org.facefusion-ui.edit"
TRACES = (b"jumdc2pa", b"c2pa.claim", b"c2pa.assertions\x00", b"c2pa.signature\x00")
"""Bytes that only a file with credentials has, even when these cannot be read any more."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds. ``store`` None: no credentials; empty: some, but they are unreadable."""

    store: dict[str, Any] | None
    xmp: bytes | None


def sidecar_of(path: Path) -> Path:
    """Where the manifest of a file lies whose container cannot carry one."""
    return path.with_name(path.name + ".c2pa")


def sign(key: SigningKey, record: ProvenanceRecord, plain: Path, signed: Path) -> Path | None:
    """Copy ``plain`` to ``signed`` with credentials inside, or beside it; the sidecar's path then.

    c2pa.C2paError, OSError or ValueError when that fails.
    """
    kind, _ = _look(plain, signed.suffix)
    info = c2pa.C2paSignerInfo(
        alg=c2pa.C2paSigningAlg.ES256,
        sign_cert=key.chain.encode(),
        private_key=key.key.encode(),
        ta_url=None,
    )
    context = c2pa.Context(_settings(key.authorities))
    with c2pa.Signer.from_info(info) as signer, c2pa.Builder(_manifest(record), context) as builder:
        builder.set_intent(c2pa.C2paBuilderIntent.EDIT)
        if kind is not None:
            with plain.open("rb") as source, signed.open("w+b") as out:
                builder.sign(signer, kind, source, out)
            return None
        builder.set_no_embed()
        with plain.open("rb") as source, signed.open("w+b") as out:
            manifest = builder.sign(signer, OTHER_KIND, source, out)
    sidecar = sidecar_of(signed)
    sidecar.write_bytes(manifest)
    shutil.copyfile(plain, signed)
    return sidecar


def read(path: Path, authorities: tuple[str, ...]) -> Found:
    """The credentials in ``path`` or beside it, checked against the file. OSError as it comes."""
    kind, xmp = _look(path, path.suffix)
    store = _store(path, kind, None, authorities) if kind is not None else None
    beside = sidecar_of(path)
    if store is None and beside.is_file():
        store = _store(path, OTHER_KIND, beside.read_bytes(), authorities) or {}
    if store is None and _has_traces(path):
        store = {}
    return Found(store, xmp)


def _store(
    path: Path, kind: str, manifest: bytes | None, authorities: tuple[str, ...]
) -> dict[str, Any] | None:
    try:
        context = c2pa.Context(_settings(authorities))
        with path.open("rb") as stream, c2pa.Reader(kind, stream, manifest, context) as reader:
            return dict(json.loads(reader.json()))
    except (c2pa.C2paError, ValueError):
        return None


def _has_traces(path: Path) -> bool:
    if path.stat().st_size == 0:
        return False
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return any(content.find(trace) >= 0 for trace in TRACES)


def _look(path: Path, ending: str) -> tuple[str | None, bytes | None]:
    """Kind of container (by content, else by ``ending``) and XMP packet."""
    fallback = KINDS.get(ending.lower())
    try:
        with Image.open(path) as picture:
            kind = KINDS.get(f".{(picture.format or '').lower()}", fallback)
            return kind, xmp_of(picture)
    except Exception:  # noqa: BLE001 - Pillow raises anything on damaged or strange files
        return fallback, None


def _settings(authorities: tuple[str, ...]) -> Any:
    return c2pa.Settings.from_dict(
        {
            "builder": {"thumbnail": {"enabled": False}},
            "trust": {"user_anchors": "".join(authorities)} if authorities else {},
            "verify": {
                "verify_trust": True,
                "remote_manifest_fetch": False,
                "ocsp_fetch": False,
            },
        }
    )


def _manifest(record: ProvenanceRecord) -> dict[str, Any]:
    agent = {"name": PROGRAM, "version": VERSION}
    now = datetime.datetime.now(datetime.UTC)
    edit = {
        "action": "c2pa.edited",
        "when": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "digitalSourceType": record.digital_source_type,
        "softwareAgent": agent,
        "parameters": {"steps": ", ".join(record.actions)},
    }
    facts = {
        "models": list(record.models),
        "steps": list(record.actions),
        "visible_label": record.label,
    }
    return {
        "claim_generator_info": [agent],
        "title": record.title,
        "assertions": [
            {"label": "c2pa.actions", "data": {"actions": [edit]}},
            {"label": EDIT_LABEL, "data": facts},
        ],
    }
