"""FaceFusion UI: read the settings, then open the page or run one command; nothing else."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.runtime.quiet import silence_telemetry

silence_telemetry()  # before anything else is loaded

from core.cli import run_command  # noqa: E402
from core.config import Settings  # noqa: E402
from core.results import DAY_S, delete  # noqa: E402

if TYPE_CHECKING:
    from core.services import Services


def make_services(settings: Settings) -> Services:
    """The long-lived objects; their libraries are loaded only now."""
    from core.services import build_services

    return build_services(settings)


def open_page(settings: Settings, browser: bool) -> None:
    """Build the services and serve the page until it is stopped."""
    print("FaceFusion UI is starting…", flush=True)  # noqa: T201 - Gradio takes seconds to load
    with own_upload_folder(settings):
        from facefusion_ui.page import build_page, launch

        services = make_services(settings)
        launch(services, build_page(services), browser=browser)


@contextmanager
def own_upload_folder(settings: Settings) -> Iterator[None]:
    """Give Gradio a folder of this run's own, gone at the end; clear what a crash left behind.

    By default all Gradio apps of a machine share one, named by content, and an app that ends
    deletes its files there, also those that another one still needs.
    """
    delete(settings.uploads, older_than_s=DAY_S)
    folder = settings.uploads / secrets.token_urlsafe(12)
    folder.mkdir(parents=True)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str]) -> int:
    """Run a command, or open the page without one; the exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    return run_command(arguments, Settings(), make_services, open_page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
