"""Pictures and engines shared by the tests."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from core.config import PROJECT, Settings
from core.faces.analyse import Analyser
from core.runtime.quiet import silence_telemetry
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.services import EMBEDDED, Services, build_services
from core.types import Pixels

silence_telemetry()
# As app.py does: servers that share Gradio's folder delete each other's uploads when they end.
os.environ["GRADIO_TEMP_DIR"] = tempfile.mkdtemp(prefix="facefusion-ui-tests-")
atexit.register(shutil.rmtree, os.environ["GRADIO_TEMP_DIR"], ignore_errors=True)

EXAMPLES = PROJECT / "facefusion_ui" / "static" / "examples"


def rgb(path: Path) -> Pixels:
    """A test picture as RGB."""
    data = np.frombuffer(path.read_bytes(), np.uint8)
    return np.ascontiguousarray(cv2.imdecode(data, cv2.IMREAD_COLOR)[:, :, ::-1])


def group_photo_path() -> Path:
    """insightface's bundled photo of six people (read from the package, not copied)."""
    spec = importlib.util.find_spec("insightface")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "data" / "images" / "t1.jpg"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FACEFUSION_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def astronaut_path() -> Path:
    """512×512, one face."""
    return EXAMPLES / "astronaut.png"


@pytest.fixture(scope="session")
def grace_hopper_path() -> Path:
    """One face with glasses."""
    return EXAMPLES / "grace_hopper.jpg"


@pytest.fixture(scope="session")
def astronaut(astronaut_path: Path) -> Pixels:
    """The astronaut, RGB."""
    return rgb(astronaut_path)


@pytest.fixture(scope="session")
def grace_hopper(grace_hopper_path: Path) -> Pixels:
    """Grace Hopper, RGB."""
    return rgb(grace_hopper_path)


@pytest.fixture(scope="session")
def group_photo() -> Pixels:
    """Six people, RGB."""
    return rgb(group_photo_path())


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SessionPool:
    """Real sessions of the embedded models, on the processor."""
    weights = WeightStore(
        tmp_path_factory.mktemp("models"), embedded=EMBEDDED, offline=True, endpoint=""
    )
    return SessionPool(weights, provider="cpu", idle_unload_s=0)


@pytest.fixture(scope="session")
def engine(pool: SessionPool) -> Analyser:
    """The real analyser."""
    return Analyser(pool.open)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Real services with their own empty folders, on the processor."""
    folder = tmp_path_factory.mktemp("services")
    made = build_services(
        Settings(
            data_folder=folder / "data",
            model_folder=folder / "models",
            offline=True,
            provider="cpu",
        )
    )
    yield made
    made.free_memory()
