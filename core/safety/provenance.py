"""Every written file says inside that it was edited with AI; ``verify`` explains what a file says.

Signed by a key made on this computer (``signing_key.py``). Others do not know such a signer, which
the texts say. There is no way to write without a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import c2pa

from core.errors import MediaError, UnreadableMedia
from core.imaging.metadata import source_type_of
from core.safety.credentials import EDIT_LABEL, read, sidecar_of, sign
from core.safety.signing_key import KeyStore
from core.sentences import Sentence, say
from core.types import ProvenanceRecord

State = Literal["ours", "other", "none", "broken"]

TOLD = {
    "compositeWithTrainedAlgorithmicMedia": "verify.ai",
    "trainedAlgorithmicMedia": "verify.ai_made",
}
"""What IPTC's digital source types mean, in words; others need none."""
EXPIRED = "signingCredential.expired"
ABOUT_THE_SIGNER = {EXPIRED, "signingCredential.untrusted"}
"""Findings that concern who signed, not whether the file changed afterwards."""
LONGEST_WORD = 80


@dataclass(frozen=True, slots=True)
class Mark:
    """How a file was marked; the fields of the report's ProvenanceFacts.

    ``sidecar`` lies beside the signed file; whoever renames that must rename both.
    """

    c2pa: bool
    signer: str
    digital_source_type: str
    xmp: bool
    label: bool
    sidecar: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a file says about its origin.

    ``ours``: signed by this installation and unchanged. ``other``: unchanged, signed by someone
    else. ``none``: no credentials. ``broken``: changed after it was signed (``tampered``).
    The other fields are what the file claims; in a broken file they are not to be believed.
    """

    state: State
    sentences: tuple[Sentence, ...]
    signer: str = ""
    program: str = ""
    digital_source_type: str = ""
    xmp: bool = False
    models: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    time: str = ""

    @property
    def tampered(self) -> bool:
        """Whether it was changed after it was signed."""
        return self.state == "broken"

    def facts(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "state": self.state,
            "tampered": self.tampered,
            "explanation": [str(sentence) for sentence in self.sentences],
            "signer": self.signer,
            "program": self.program,
            "digital_source_type": self.digital_source_type,
            "xmp": self.xmp,
            "models": list(self.models),
            "steps": list(self.steps),
            "time": self.time,
        }


class Provenance:
    """Signs and verifies with the key kept in ``folder``; the key is made at first use."""

    def __init__(self, folder: Path) -> None:
        self._keys = KeyStore(folder / "signing")

    def marker(self, record: ProvenanceRecord) -> Callable[[Path, Path], Mark]:
        """A function that signs the first path's file into the second, and reads it back.

        MediaError when that fails, and the second file is gone: nothing unmarked may leave.
        """

        def mark(plain: Path, signed: Path) -> Mark:
            try:
                sidecar = sign(self._keys.current(), record, plain, signed)
                found = self.verify(signed)
                if found.state != "ours" or found.digital_source_type != record.digital_source_type:
                    raise ValueError(f"it reads back as {found.state}")
            except (c2pa.C2paError, OSError, ValueError, UnreadableMedia) as cause:
                signed.unlink(missing_ok=True)
                sidecar_of(signed).unlink(missing_ok=True)
                raise MediaError(say("err.mark"), hint=say("err.mark.hint")) from cause
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
        """Read the credentials of ``path``, or of its sidecar, back.

        UnreadableMedia when there is no such file or it may not be read. Makes no key.
        """
        if not path.is_file():
            raise UnreadableMedia(say("err.missing", name=path.name), hint=say("err.missing.hint"))
        try:
            found = read(path, self._keys.authorities())
        except OSError as cause:
            reason = cause.strerror or type(cause).__name__
            raise UnreadableMedia(
                say("err.unreadable", name=path.name, reason=reason),
                hint=say("err.unreadable.hint"),
            ) from cause
        stated = source_type_of(found.xmp)
        if found.store is None:
            key = "verify.none_xmp" if stated else "verify.none"
            return Verification(
                state="none", sentences=(say(key),), digital_source_type=stated, xmp=bool(stated)
            )
        return _explained(found.store, stated)


def _explained(store: dict[str, Any], stated: str) -> Verification:
    manifests = store.get("manifests", {})
    active = manifests.get(store.get("active_manifest", ""), {})
    info = active.get("signature_info", {})
    signer = _word(info.get("common_name") or info.get("issuer"))
    # An editor that changed our result later lists our manifest behind its own.
    every = [active, *(one for one in manifests.values() if one is not active)]
    actions = [action for one in every for action in _actions(one)]
    types = [str(action["digitalSourceType"]) for action in actions if _has_type(action)]
    source = next((one for one in types if one.rpartition("/")[2] in TOLD), (*types, stated)[0])
    facts = next(iter(_data(active, EDIT_LABEL)), {})
    models = tuple(_word(name) for name in facts.get("models", ()))
    state, key = _state_of(store)
    sentences = [say(key, signer=signer or "?")]
    if state != "broken" and (told := TOLD.get(source.rpartition("/")[2])):
        sentences.append(say(told))
    if state != "broken" and models:
        sentences.append(say("verify.models", models=", ".join(models)))
    if state == "ours":
        sentences.append(say("mark.help"))
    programs = active.get("claim_generator_info") or [{}]
    return Verification(
        state=state,
        sentences=tuple(sentences),
        signer=signer,
        program=_word(f"{programs[0].get('name', '')} {programs[0].get('version', '')}"),
        digital_source_type=source,
        xmp=bool(stated),
        models=models,
        steps=tuple(_word(name) for name in facts.get("steps", ())),
        time=next((_word(one["when"]) for one in _actions(active) if "when" in one), ""),
    )


def _state_of(store: dict[str, Any]) -> tuple[State, str]:
    told = store.get("validation_state")
    if told == "Trusted":
        return "ours", "verify.ours"
    if told == "Valid":
        return "other", "verify.other"
    results = store.get("validation_results", {}).get("activeManifest", {})
    codes = {finding.get("code") for finding in results.get("failure", ())}
    if EXPIRED in codes and codes <= ABOUT_THE_SIGNER:
        return "other", "verify.expired"
    return "broken", "verify.broken"


def _data(manifest: dict[str, Any], label: str) -> Iterator[dict[str, Any]]:
    for assertion in manifest.get("assertions", ()):
        if str(assertion.get("label", "")).startswith(label):
            yield assertion.get("data") or {}


def _actions(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for data in _data(manifest, "c2pa.actions") for one in data.get("actions", ())]


def _has_type(action: dict[str, Any]) -> bool:
    return bool(action.get("digitalSourceType"))


def _word(text: object) -> str:
    """What a stranger's file says, fit to be shown: printable, one line, not long."""
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text or ""))
    return " ".join(shown.split())[:LONGEST_WORD]
