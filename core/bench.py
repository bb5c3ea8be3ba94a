"""How quick the built-in engine is on this computer.

A frame of a clip costs tracking (one mesh pass), the swap and pasting; the search runs only now and
then. Timed on one 1280×720 frame with one face of 190 px, moved a little from frame to frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import cv2
import numpy as np
from pydantic import BaseModel, ConfigDict

from core.config import PROJECT
from core.faces.analyse import MODELS, Analyser
from core.imaging.blend import paste
from core.imaging.stills import read_still
from core.safety.content import NSFW5
from core.swappers.textured_mesh import MeshIdentity, MeshOptions, TexturedMesh
from core.types import Face, OpenSession, Pixels, SourceFace

EXAMPLES = PROJECT / "facefusion_ui" / "static" / "examples"
WIDTH, HEIGHT, FACE_PX = 1280, 720, 190
WARM_UP = 5


class BenchTable(BaseModel):
    """Least and median milliseconds by stage, in order."""

    model_config = ConfigDict(frozen=True)

    rows: dict[str, tuple[float, float]]


def bench_built_in(open_session: OpenSession, *, rounds: int = 60) -> BenchTable:
    """Time loading, search, analysis of a still, and the stages of a frame."""
    load_ms = _load(open_session)
    analyser, swapper = Analyser(open_session), TexturedMesh()
    source = read_still(EXAMPLES / "grace_hopper.jpg").pixels
    prepared = analyser.analyse(source)[0]
    start = time.perf_counter()
    identity = swapper.prepare([SourceFace(source, prepared)])
    prepare_ms = (time.perf_counter() - start) * 1000
    frames = _frames(analyser, 8)
    tracked: Sequence[Face] = analyser.analyse(frames[0], embed=False)
    spent: dict[str, list[float]] = {"track": [], "swap": [], "paste": [], "frame": []}
    for number in range(rounds + WARM_UP):
        frame = frames[number % len(frames)]
        times, tracked = _one(frame, tracked, analyser, swapper, identity)
        if number >= WARM_UP:
            for stage, ms in times.items():
                spent[stage].append(ms)
    searches = {
        "search (quick)": lambda: analyser.analyse(frames[0], thorough=False, embed=False),
        "still (thorough, with likeness)": lambda: analyser.analyse(frames[0], hands=True),
    }
    for name, work in searches.items():
        spent[name] = _repeat(work, max(2, rounds // 10))
    rows = {stage: (min(ms), float(np.median(ms))) for stage, ms in spent.items()}
    rows["load all models, once"] = (load_ms, load_ms)
    rows["prepare a source photo, once"] = (prepare_ms, prepare_ms)
    return BenchTable(
        rows={stage: (round(low, 2), round(mid, 2)) for stage, (low, mid) in rows.items()}
    )


def _load(open_session: OpenSession) -> float:
    start = time.perf_counter()
    for spec in (*MODELS, NSFW5):
        open_session(spec).load()
    return (time.perf_counter() - start) * 1000


def _one(
    frame: Pixels,
    tracked: Sequence[Face],
    analyser: Analyser,
    swapper: TexturedMesh,
    identity: MeshIdentity,
) -> tuple[dict[str, float], Sequence[Face]]:
    marks = [time.perf_counter()]
    faces = analyser.track(frame, tracked)
    marks.append(time.perf_counter())
    patches = [swapper.swap(frame, face, identity, MeshOptions()) for face in faces]
    marks.append(time.perf_counter())
    paste(frame, patches)
    marks.append(time.perf_counter())
    track, swap, pasted = (np.diff(marks) * 1000).tolist()
    return {"track": track, "swap": swap, "paste": pasted, "frame": track + swap + pasted}, faces


def _frames(analyser: Analyser, count: int) -> list[Pixels]:
    portrait = read_still(EXAMPLES / "astronaut.png").pixels
    face = analyser.analyse(portrait, embed=False)[0]
    scale = FACE_PX / face.height_px
    made = []
    for number in range(count):
        shift = np.array([WIDTH / 2 + 2 * number, HEIGHT / 2 + number])
        middle = (face.box[:2] + face.box[2:]) / 2 * scale
        move = np.array([[scale, 0, shift[0] - middle[0]], [0, scale, shift[1] - middle[1]]])
        frame = cv2.warpAffine(portrait, move, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REFLECT)
        made.append(np.asarray(frame, np.uint8))
    return made


def _repeat(work: Callable[[], object], times: int) -> list[float]:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append((time.perf_counter() - start) * 1000)
    return spent
