"""Pictures that are on the desk: read, looked at and checked once, then kept for a while.

A preview after every touch of a slider would otherwise read and analyse the same two files again.
Entries are keyed by place, time and size of the file, so a changed file is read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cachetools import LRUCache

from core.config import Settings
from core.errors import UnreadableMedia
from core.faces.analyse import Analyser
from core.imaging.stills import Still, read_still
from core.pipeline.stages import Stages
from core.runtime.sessions import SessionPool
from core.safety.content import ContentCheck, What
from core.sentences import say
from core.types import Face, ModelSpec, Session

KEPT_BYTES = 400_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A picture, its faces from left to right, and for which uses it passed the content check.

    ``models`` names the models that really ran on it.
    """

    path: Path
    still: Still
    faces: tuple[Face, ...]
    passed: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)


class Desk:
    """Reads, analyses and checks pictures; safe to use from several threads."""

    def __init__(self, settings: Settings, sessions: SessionPool) -> None:
        self._settings = settings
        self._sessions = sessions
        self._kept: LRUCache[tuple[object, ...], Seen] = LRUCache(KEPT_BYTES, _bytes_of)
        self._guard = threading.Lock()
        self._busy: dict[tuple[object, ...], threading.Lock] = {}

    def look(self, path: Path, *, provider: str, stages: Stages | None = None) -> Seen:
        """The picture at ``path`` with its faces; UnreadableMedia when it cannot be read."""
        stages = stages or Stages()
        key = (*_file_key(path), provider)
        with self._guard:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            with self._guard:
                found = self._kept.get(key)
            if found is not None:
                return found
            try:
                seen = self._see(path, provider, stages)
            finally:
                with self._guard:
                    self._busy.pop(key, None)
            if _bytes_of(seen) <= KEPT_BYTES:
                with self._guard:
                    self._kept[key] = seen
            return seen

    def _see(self, path: Path, provider: str, stages: Stages) -> Seen:
        with stages.timed("read"):
            still = read_still(
                path,
                max_megapixels=self._settings.max_megapixels,
                max_bytes=self._settings.max_upload_mb * 1_000_000,
            )
        models: set[str] = set()
        with stages.timed("analyse"):
            faces = Analyser(self._opener(provider, models)).analyse(still.pixels, hands=True)
        return Seen(path, still, faces, models=models)

    def check(
        self,
        seen: Seen,
        *,
        what: What,
        strict: bool,
        provider: str,
        stages: Stages,
        number: int | None = None,
    ) -> None:
        """Refuse unsuitable content; ContentRefused also when the check cannot run."""
        passed = f"{what} {strict}"
        if passed in seen.passed:
            return
        with stages.timed("check"):
            ContentCheck(self._opener(provider, seen.models)).check(
                seen.still.pixels, what=what, strict=strict, faces=seen.faces, number=number
            )
        seen.passed.add(passed)

    def clear(self) -> None:
        """Forget all pictures."""
        with self._guard:
            self._kept.clear()

    def _opener(self, provider: str, used: set[str]) -> Callable[[ModelSpec], Session]:
        def open_session(spec: ModelSpec) -> Session:
            used.add(spec.name)
            return self._sessions.open(spec, provider)

        return open_session


def _file_key(path: Path) -> tuple[str, int, int]:
    try:
        facts = path.stat()
    except OSError as cause:
        raise UnreadableMedia(
            say("err.missing", name=path.name), hint=say("err.missing.hint")
        ) from cause
    return str(path.resolve()), facts.st_mtime_ns, facts.st_size


def _bytes_of(seen: Seen) -> int:
    return seen.still.size_bytes
