"""The results kept on this computer: how much they take, and deleting them."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

SWEEP_EVERY_S = 600
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Kept:
    """How many files, and their size."""

    files: int
    size_bytes: int


def kept(folder: Path, *, older_than_s: float = 0.0) -> Kept:
    """What :func:`delete` with the same words would delete."""
    sizes = [
        file.stat().st_size
        for entry in _old(folder, older_than_s)
        for file in (entry.rglob("*") if entry.is_dir() else [entry])
        if file.is_file()
    ]
    return Kept(len(sizes), sum(sizes))


def delete(folder: Path, *, older_than_s: float = 0.0) -> Kept:
    """Delete the results in ``folder`` that are at least so old; what went."""
    gone = kept(folder, older_than_s=older_than_s)
    for entry in list(_old(folder, older_than_s)):
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    return gone


def keep_for(folder: Path, hours: float) -> None:
    """From now on delete what is older than ``hours``, in the background, as long as we run."""

    def work() -> None:
        while True:
            try:
                gone = delete(folder, older_than_s=hours * 3600)
            except OSError as cause:  # a file went between looking and deleting: next time then
                log.warning("Old results could not be deleted: %s", cause)
            else:
                log.info("%d results were older than %g h and are gone.", gone.files, hours)
            time.sleep(SWEEP_EVERY_S)

    threading.Thread(target=work, name="old-results", daemon=True).start()


def _old(folder: Path, older_than_s: float) -> Iterator[Path]:
    if not folder.is_dir():
        return
    now = time.time()
    for entry in folder.iterdir():
        if now - entry.stat().st_mtime >= older_than_s:
            yield entry
