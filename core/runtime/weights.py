"""Weights: where they are, and how they get there from the Hugging Face Hub.

A file appears under its final name only after its checksum was right. What is here is used
without a network call. Downloads resume, are shared by everyone who waits for the same file, and
never start by themselves.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import socket
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock
from filelock import Timeout as LockTimeout

from core.errors import (
    Cancelled,
    DownloadFailed,
    LicenceNotAccepted,
    WeightsDamaged,
    WeightsMissing,
)
from core.sentences import say
from core.types import ModelSpec

State = Literal["ready", "missing", "damaged"]
CHUNK = 1 << 20
SPARE_BYTES = 200_000_000
"""Left free on the disk after a download."""
RECORD = "checksums.json"


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes so far, in all (0 when unknown), a second, and seconds left (None when unknown)."""

    done_bytes: int
    total_bytes: int
    bytes_per_s: float
    eta_s: float | None


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
        self.endpoint = endpoint
        self._timeout_s = timeout_s
        self._attempts = attempts

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
            raise DownloadFailed(
                say("offline.model", model=spec.title), hint=say("offline.model.hint")
            )
        self._make_folder()
        self._check_space(spec)
        stop = cancelled or (lambda: False)
        with self._locked(spec, stop):
            here = self.locate(spec)
            if here is not None and not again:
                return here
            return self._download(spec, progress or (lambda _: None), stop)

    def adopt(self, spec: ModelSpec, path: Path) -> Path:
        """Copy a file the user already has; WeightsDamaged when it is another file."""
        self._make_folder()
        part = self.place(spec).with_suffix(".part")
        try:
            shutil.copyfile(path, part)
        except OSError as cause:
            part.unlink(missing_ok=True)
            raise WeightsDamaged(
                say("err.adopt", name=path.name), hint=say("err.adopt.hint", model=spec.title)
            ) from cause
        return self._accept(spec, part, say("err.adopt", name=path.name))

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
        damaged = say("model.bad")
        for attempt in (1, 2):
            local = self._from_hub(spec, progress, stop)
            try:
                return self._accept(spec, local, damaged)
            except WeightsDamaged:
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def _from_hub(
        self, spec: ModelSpec, progress: Callable[[Progress], None], stop: Callable[[], bool]
    ) -> Path:
        import huggingface_hub
        from huggingface_hub import constants, errors

        assert spec.repo is not None
        constants.HF_HUB_DOWNLOAD_TIMEOUT = max(1, round(self._timeout_s))
        constants.DOWNLOAD_CHUNK_SIZE = CHUNK  # 10 MB by default: too coarse to resume or cancel
        self._knock(spec, self.endpoint or constants.ENDPOINT)
        bar = _bar(progress, stop)
        failure: Exception | None = None
        for _ in range(self._attempts):
            if stop():
                raise Cancelled
            try:
                return Path(
                    huggingface_hub.hf_hub_download(
                        spec.repo,
                        spec.file,
                        revision=spec.revision,
                        local_dir=self.folder / ".parts" / spec.name,
                        endpoint=self.endpoint or None,
                        etag_timeout=self._timeout_s,
                        tqdm_class=bar,
                        token=False,
                    )
                )
            except (errors.EntryNotFoundError, errors.RepositoryNotFoundError) as cause:
                raise DownloadFailed(
                    say("err.hub_gone", model=spec.title), hint=say("err.hub_gone.hint")
                ) from cause
            except (errors.HfHubHTTPError, OSError, ValueError, _http_error()) as cause:
                failure = cause
        raise DownloadFailed(
            say("err.download", model=spec.title), hint=say("err.download.hint")
        ) from failure

    def _knock(self, spec: ModelSpec, endpoint: str) -> None:
        """Fail within seconds when nobody is there; huggingface_hub alone takes half a minute."""
        if urllib.request.getproxies():
            return
        place = urllib.parse.urlsplit(endpoint)
        port = place.port or (443 if place.scheme == "https" else 80)
        try:
            socket.create_connection((place.hostname or "", port), self._timeout_s).close()
        except OSError as cause:
            raise DownloadFailed(
                say("err.download", model=spec.title), hint=say("err.download.hint")
            ) from cause

    def _accept(self, spec: ModelSpec, part: Path, damaged: str) -> Path:
        known, found = self._known_sha256(spec), sha256_of(part)
        if known is not None and found != known:
            part.unlink(missing_ok=True)
            raise WeightsDamaged(damaged, hint=say("model.bad.hint"))
        final = self.place(spec)
        part.replace(final)
        self._record(spec, found)
        shutil.rmtree(self.folder / ".parts" / spec.name, ignore_errors=True)
        return final

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".probe-{secrets.token_hex(6)}"
            probe.touch()
            probe.unlink()
        except OSError as cause:
            raise DownloadFailed(
                say("err.read_only", folder=str(self.folder)), hint=say("err.read_only.hint")
            ) from cause

    def _check_space(self, spec: ModelSpec) -> None:
        free = shutil.disk_usage(self.folder).free
        need = spec.size_bytes + SPARE_BYTES
        if free < need:
            raise DownloadFailed(
                say("err.disk", need=f"{need / 1e6:.0f} MB", free=f"{free / 1e6:.0f} MB"),
                hint=say("err.disk.hint"),
            )

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
        part = self.folder / f".{RECORD}.{os.getpid()}"
        known = self._recorded() | {spec.name: sha256}
        part.write_text(json.dumps(known, indent=1), encoding="utf-8")
        part.replace(self.folder / RECORD)


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _http_error() -> type[Exception]:
    import httpx2

    return httpx2.HTTPError


def _bar(progress: Callable[[Progress], None], stop: Callable[[], bool]) -> Any:
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        """Tells our callback instead of drawing; ends the download when it was called off."""

        def __init__(self, *given: Any, **named: Any) -> None:
            named["disable"] = False
            named["file"] = io.StringIO()
            super().__init__(*given, **named)
            self._start_s = time.monotonic()
            self._start_n = self.n

        def update(self, n: float | None = 1) -> bool | None:
            """Count ``n`` more bytes."""
            if stop():
                raise Cancelled
            shown: bool | None = super().update(n)
            spent = max(1e-3, time.monotonic() - self._start_s)
            speed = (self.n - self._start_n) / spent
            total = int(self.total or 0)
            left = (total - self.n) / speed if total and speed > 0 else None
            progress(Progress(int(self.n), total, speed, left))
            return shown

    return Bar
