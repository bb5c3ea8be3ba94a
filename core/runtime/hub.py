"""One file from the Hugging Face Hub or a mirror of it; all its troubles as our errors.

Resumes, reports progress, can be called off. Whether the file is the right one is for
``core.runtime.weights`` to say.
"""

from __future__ import annotations

import errno
import io
import re
import shutil
import socket
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import Cancelled, DownloadFailed
from core.sentences import say
from core.types import ModelSpec

CHUNK = 1 << 20
BUSY = (429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes so far, in all (0 when unknown), a second, and seconds left (None when unknown)."""

    done_bytes: int
    total_bytes: int
    bytes_per_s: float
    eta_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A Hub at ``endpoint`` (empty: the public one, or what ``HF_ENDPOINT`` says)."""

    endpoint: str = ""
    timeout_s: float = 10.0
    attempts: int = 3

    def fetch(
        self,
        spec: ModelSpec,
        folder: Path,
        *,
        progress: Callable[[Progress], None],
        stop: Callable[[], bool],
    ) -> Path:
        """Download into ``folder``, going on with what is there; DownloadFailed, Cancelled."""
        import httpx2
        import huggingface_hub
        from huggingface_hub import constants

        self._knock(spec)
        folder.mkdir(parents=True, exist_ok=True)
        constants.HF_HUB_DOWNLOAD_TIMEOUT = max(1, round(self.timeout_s))
        constants.DOWNLOAD_CHUNK_SIZE = CHUNK  # 10 MB by default: too coarse to resume or cancel
        failure: Exception | None = None
        for _ in range(self.attempts):
            if stop():
                raise Cancelled
            try:
                return Path(
                    huggingface_hub.hf_hub_download(
                        str(spec.repo),
                        spec.file,
                        revision=spec.revision,
                        local_dir=folder,
                        endpoint=self.endpoint or None,
                        etag_timeout=self.timeout_s,
                        tqdm_class=_bar(progress, stop),
                        token=False,
                    )
                )
            except (OSError, ValueError, httpx2.HTTPError) as cause:
                failure = cause
                if _is_final(cause):
                    break
        assert failure is not None
        raise _explain(spec, folder, failure) from failure

    def told_sha256(self, spec: ModelSpec) -> str | None:
        """The checksum the Hub itself gives for the file; None when it gives none."""
        import httpx2
        import huggingface_hub

        try:
            url = huggingface_hub.hf_hub_url(
                str(spec.repo), spec.file, revision=spec.revision, endpoint=self.endpoint or None
            )
            facts = huggingface_hub.get_hf_file_metadata(
                url, token=False, timeout=self.timeout_s, endpoint=self.endpoint or None
            )
        except (OSError, ValueError, httpx2.HTTPError):
            return None
        told = facts.etag or ""
        return told if re.fullmatch(r"[0-9a-f]{64}", told) else None

    def _knock(self, spec: ModelSpec) -> None:
        """Fail within seconds when nobody is there; huggingface_hub alone takes half a minute."""
        from huggingface_hub import constants

        if constants.is_offline_mode():
            raise offline(spec)
        if urllib.request.getproxies():
            return
        place = urllib.parse.urlsplit(self.endpoint or constants.ENDPOINT)
        port = place.port or (443 if place.scheme == "https" else 80)
        try:
            socket.create_connection((place.hostname or "", port), self.timeout_s).close()
        except OSError as cause:
            raise _failed(spec, "err.download") from cause


def offline(spec: ModelSpec) -> DownloadFailed:
    """The file is not here and the network may not be used."""
    return DownloadFailed(say("offline.model", model=spec.title), hint=say("offline.model.hint"))


def no_space(need_bytes: int, free_bytes: int) -> DownloadFailed:
    """The disk is too full."""
    need, free = f"{need_bytes / 1e6:.0f} MB", f"{free_bytes / 1e6:.0f} MB"
    return DownloadFailed(say("err.disk", need=need, free=free), hint=say("err.disk.hint"))


def read_only(folder: Path) -> DownloadFailed:
    """Nothing can be written where the models belong."""
    return DownloadFailed(say("err.read_only", folder=str(folder)), hint=say("err.read_only.hint"))


def web_page(spec: ModelSpec) -> DownloadFailed:
    """A login page of the network, or something of that kind, came instead of the file."""
    return _failed(spec, "err.hub_page")


def _failed(spec: ModelSpec, key: str) -> DownloadFailed:
    return DownloadFailed(say(key, model=spec.title), hint=say(f"{key}.hint"))


def _is_final(cause: Exception) -> bool:
    """Whether trying again at once cannot help."""
    from huggingface_hub import errors

    final = (
        errors.RemoteEntryNotFoundError,
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.OfflineModeIsEnabled,
        errors.FileMetadataError,
    )
    return any(
        isinstance(one, final) or getattr(one, "errno", None) in _DISK for one in _chain(cause)
    )


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from: the library wraps most in a LocalEntryNotFoundError."""
    while cause is not None:
        yield cause
        cause = cause.__cause__


_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def _explain(spec: ModelSpec, folder: Path, cause: Exception) -> DownloadFailed:
    from huggingface_hub import errors

    for one in _chain(cause):
        number = getattr(one, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT):
            return no_space(spec.size_bytes, shutil.disk_usage(folder).free)
        if number in _DISK:
            return read_only(folder)
        if isinstance(one, errors.OfflineModeIsEnabled):
            return offline(spec)
        if isinstance(one, errors.GatedRepoError):
            return _failed(spec, "err.hub_gated")
        if isinstance(one, errors.FileMetadataError):
            return web_page(spec)
        if getattr(getattr(one, "response", None), "status_code", None) in BUSY:
            return _failed(spec, "err.hub_busy")
    return _failed(spec, "err.hub_gone" if _is_final(cause) else "err.download")


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
