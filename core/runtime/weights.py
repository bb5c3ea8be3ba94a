"""Weights: where they are, and how they get there from the Hugging Face Hub.

A file appears under its final name only after its checksum was right. What is here is used
without a network call. Downloads resume, are shared by everyone who waits for the same file, and
never start by themselves.
"""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock
from filelock import Timeout as LockTimeout

from core.errors import Cancelled, LicenceNotAccepted, WeightsDamaged, WeightsMissing
from core.runtime.hub import Hub, no_space, offline, read_only, web_page
from core.runtime.hub import Progress as Progress
from core.sentences import say
from core.types import ModelSpec

State = Literal["ready", "missing", "damaged"]
SPARE_BYTES = 200_000_000
"""Left free on the disk after a download."""
RECORD = "checksums.json"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of comparing a file with its checksum.

    ``checksum`` is ``verified`` (known from the maker or recorded at the first download),
    ``unverified`` (only third parties report it) or ``unknown``.
    """

    state: State
    checksum: Literal["verified", "unverified", "unknown"]


class WeightStore:
    """The weights on this computer. Safe to use from several threads and processes."""

    def __init__(
        self,
        folder: Path,
        *,
        embedded: Path,
        offline: bool = False,
        endpoint: str = "",
        timeout_s: float = 10.0,
        attempts: int = 3,
    ) -> None:
        self.folder = folder
        self._embedded = embedded
        self.offline = offline
        self._hub = Hub(endpoint=endpoint, timeout_s=timeout_s, attempts=attempts)

    def place(self, spec: ModelSpec) -> Path:
        """Where the file belongs, whether or not it is there."""
        return self._embedded / spec.file if spec.embedded else self.folder / Path(spec.file).name

    def locate(self, spec: ModelSpec) -> Path | None:
        """The file when it is on this computer. No network call."""
        path = self.place(spec)
        return path if path.is_file() else None

    def require(self, spec: ModelSpec) -> Path:
        """The file; WeightsMissing when it is not on this computer. No network call."""
        path = self.locate(spec)
        if path is None:
            raise WeightsMissing(
                say("err.weights_missing", model=spec.title),
                hint=say("err.weights_missing.hint", name=spec.name),
            )
        return path

    def state(self, spec: ModelSpec) -> State:
        """Quick answer by presence and size; :meth:`verify` reads the whole file."""
        path = self.locate(spec)
        if path is None:
            return "missing"
        wrong = spec.size_bytes and spec.sha256 and path.stat().st_size != spec.size_bytes
        return "damaged" if wrong else "ready"

    def verify(self, spec: ModelSpec) -> Verdict:
        """Compare the file with its checksum."""
        known = self._known_sha256(spec)
        checksum: Literal["verified", "unverified", "unknown"] = "unknown"
        if known is not None:
            recorded = spec.name in self._recorded()
            checksum = "verified" if spec.sha256_verified or recorded else "unverified"
        path = self.locate(spec)
        if path is None:
            return Verdict("missing", checksum)
        good = known is None or sha256_of(path) == known
        return Verdict("ready" if good else "damaged", checksum)

    def fetch(
        self,
        spec: ModelSpec,
        *,
        accept_licence: bool = False,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        again: bool = False,
    ) -> Path:
        """Download when it is not here (or ``again``); the file.

        LicenceNotAccepted, DownloadFailed, WeightsDamaged, Cancelled. A second caller waits for
        the first one's download and uses it.
        """
        here = self.locate(spec)
        if here is not None and not again:
            return here
        if spec.embedded:
            return self.require(spec)
        if spec.licence_kind != "open" and not accept_licence:
            raise LicenceNotAccepted(
                say("err.licence", model=spec.title, licence=spec.licence),
                hint=say("err.licence.hint"),
            )
        if self.offline:
            raise offline(spec)
        self._make_folder()
        self._check_space(spec)
        stop = cancelled or (lambda: False)
        with self._locked(spec, stop):
            here = self.locate(spec)
            if here is not None and not again:
                return here
            return self._download(spec, progress or (lambda _: None), stop)

    def adopt(self, spec: ModelSpec, path: Path) -> Path:
        """Copy a file the user already has; WeightsDamaged when it is another file.

        A model whose checksum nobody knows is taken as it is and stays *unknown*.
        """
        if spec.embedded:
            return self.require(spec)
        wrong, hint = say("err.adopt", name=path.name), say("err.adopt.hint", model=spec.title)
        if not path.is_file() or _is_web_page(path):
            raise WeightsDamaged(wrong, hint=hint)
        self._make_folder()
        part = self.folder / f".{spec.name}-{secrets.token_hex(6)}.part"
        try:
            shutil.copyfile(path, part)
            return self._accept(spec, part, self._known_sha256(spec), wrong)
        except OSError as cause:
            if cause.errno in (errno.ENOSPC, errno.EDQUOT):
                free = shutil.disk_usage(self.folder).free
                raise no_space(path.stat().st_size, free) from cause
            raise WeightsDamaged(wrong, hint=hint) from cause
        finally:
            part.unlink(missing_ok=True)

    def remove(self, spec: ModelSpec) -> None:
        """Delete downloaded weights; embedded ones stay."""
        if not spec.embedded:
            self.place(spec).unlink(missing_ok=True)

    def used_bytes(self) -> int:
        """Space taken by downloaded weights."""
        if not self.folder.is_dir():
            return 0
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    # ---- the download itself ---------------------------------------------------------------

    def _download(
        self, spec: ModelSpec, progress: Callable[[Progress], None], stop: Callable[[], bool]
    ) -> Path:
        known = self._known_sha256(spec) or self._hub.told_sha256(spec)
        parts = self.folder / ".parts" / spec.name
        for attempt in (1, 2):
            part = self._hub.fetch(spec, parts, progress=progress, stop=stop)
            if _is_web_page(part):
                part.unlink()
                raise web_page(spec)
            try:
                final = self._accept(spec, part, known, say("model.bad"))
            except WeightsDamaged:
                if attempt == 2:
                    raise
                continue
            shutil.rmtree(parts, ignore_errors=True)
            return final
        raise AssertionError("unreachable")

    def _accept(self, spec: ModelSpec, part: Path, known: str | None, damaged: str) -> Path:
        """Give ``part`` its final name when its checksum is the ``known`` one."""
        if known is not None and sha256_of(part) != known:
            part.unlink(missing_ok=True)
            raise WeightsDamaged(damaged, hint=say("model.bad.hint"))
        final = self.place(spec)
        part.replace(final)
        if known is not None:
            self._record(spec, known)
        return final

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".probe-{secrets.token_hex(6)}"
            probe.touch()
            probe.unlink()
        except OSError as cause:
            raise read_only(self.folder) from cause

    def _check_space(self, spec: ModelSpec) -> None:
        free, need = shutil.disk_usage(self.folder).free, spec.size_bytes + SPARE_BYTES
        if free < need:
            raise no_space(need, free)

    @contextmanager
    def _locked(self, spec: ModelSpec, stop: Callable[[], bool]) -> Iterator[None]:
        lock = FileLock(str(self.folder / f".{spec.name}.lock"))
        while not lock.is_locked:
            if stop():
                raise Cancelled
            with suppress(LockTimeout):
                lock.acquire(timeout=0.2)
        try:
            yield
        finally:
            lock.release()

    # ---- checksums -------------------------------------------------------------------------

    def _known_sha256(self, spec: ModelSpec) -> str | None:
        return spec.sha256 or self._recorded().get(spec.name)

    def _recorded(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _record(self, spec: ModelSpec, sha256: str) -> None:
        with FileLock(str(self.folder / f".{RECORD}.lock")):
            part = self.folder / f".{RECORD}.part"
            known = self._recorded() | {spec.name: sha256}
            part.write_text(json.dumps(known, indent=1), encoding="utf-8")
            part.replace(self.folder / RECORD)


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_web_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(256).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<")
