"""A real browser, a page with the real engine, and one with fixed faces and times."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from core.config import Settings
from core.services import Services, build_services
from facefusion_ui.page import build_page, launch
from tests.facefusion_ui.fakes import FakeRenderer, FakeServices

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = (1280, 800), (390, 844)
RESULTS = Path(os.environ.get("UI_RESULTS", "test-results"))
"""Any run of pytest-playwright empties ``test-results`` when it starts."""
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gradio leaves event loops and sockets of its servers to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:.*no_silent_downcasting"))
            item.add_marker(pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"))
            ignored = "ignore::pytest.PytestUnraisableExceptionWarning"
            item.add_marker(pytest.mark.filterwarnings(ignored))


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The system's Chromium when there is one, else Playwright's own."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    place = {"executable_path": found} if found else {}
    return {"headless": True, "args": list(FLAGS), **place}


@dataclass(frozen=True)
class Site:
    """A served page, and what stands behind it."""

    address: str
    services: Any


Serve = Callable[[Any], str]
Visit = Callable[..., Page]


@contextmanager
def served(services: Any) -> Iterator[str]:
    """The address of a page for ``services``."""
    blocks = build_page(services)
    yield launch(services, blocks, wait=False)
    blocks.close(verbose=False)
    with warnings.catch_warnings():
        # Gradio leaves its event loop and sockets to the garbage collector
        warnings.simplefilter("ignore", ResourceWarning)
        del blocks
        gc.collect()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves pages until the test ends."""
    with ExitStack() as stack:
        yield lambda services: stack.enter_context(served(services))


@pytest.fixture(scope="session")
def real_services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The real engine on the processor, with its own empty folders."""
    return _services(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="session")
def real_site(real_services: Services) -> Iterator[Site]:
    """The page with the real engine."""
    with served(real_services) as address:
        yield Site(address, real_services)


@pytest.fixture(scope="session")
def fake_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The page with fixed faces and times."""
    real = _services(tmp_path_factory.mktemp("fake"))
    services = FakeServices(real.settings, FakeRenderer(real.settings), real)
    with served(services) as address:
        yield Site(address, services)


@pytest.fixture
def renderer(fake_site: Site) -> FakeRenderer:
    """The renderer behind ``fake_site``, as new."""
    fake_site.services.renderer = FakeRenderer(fake_site.services.settings)
    return fake_site.services.renderer


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens pages: ``visit(address, lang=…, dark=…, size=…)``.

    A script error on a page, or a request to another host, fails the test.
    """
    contexts, faults = [], []

    def open_page(
        address: str, *, lang: str = "en-US", dark: bool = False, size: tuple[int, int] = DESKTOP
    ) -> Page:
        context = browser.new_context(
            locale=lang,
            color_scheme="dark" if dark else "light",
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce",
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda request: None if _is_here(request.url, address) else faults.append(request.url),
        )
        page.goto(address)
        expect(page.locator("#go")).to_be_visible()
        expect(page.locator("#need .ff-need")).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def known_to_axe(finding: dict[str, Any], node: dict[str, Any]) -> bool:
    """Gradio's own fault: the Gallery's upload icon is a button inside a button."""
    upload = "#photos" in str(node["target"]) or 'aria-label="choose a file"' in node["html"]
    return bool(finding["id"] == "nested-interactive" and upload)


def shot(page: Page, name: str) -> Path:
    """A picture of the window in ``test-results``, to be looked at."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.png"
    page.screenshot(path=path, animations="disabled", scale="css")
    return path


def _is_here(url: str, address: str) -> bool:
    return url.startswith((address.rstrip("/"), "data:", "blob:"))


def _services(folder: Path) -> Services:
    return build_services(
        Settings(
            data_folder=folder / "data",
            model_folder=folder / "models",
            provider="cpu",
            port=0,
        )
    )
