"""What a visitor does on the image tab."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from core.config import PROJECT

EXAMPLES = PROJECT / "facefusion_ui" / "static" / "examples"
PHOTO = EXAMPLES / "astronaut.png"
PICTURE = EXAMPLES / "grace_hopper.jpg"


def give_photo(page: Page, path: Path = PHOTO) -> None:
    """Box 1."""
    page.locator("#photos input[type=file]").first.set_input_files(str(path))
    expect(page.locator("#photos img").first).to_be_visible()


def give_picture(page: Page, path: Path = PICTURE) -> None:
    """Box 2; does not wait for faces."""
    page.locator("#pic input[type=file]").set_input_files(str(path))


def tick(page: Page) -> None:
    """The consent line."""
    page.locator("#consent input").check()


def make_ready(page: Page, picture: Path = PICTURE) -> None:
    """Photo, picture, tick; returns with the preview on screen."""
    give_photo(page)
    give_picture(page, picture)
    expect(page.locator(".ff-face").first).to_be_visible()
    expect(page.locator("#need")).not_to_contain_text("photo of the new face")
    tick(page)
    expect(page.locator("#layer img")).to_be_visible()


def press(page: Page) -> None:
    """The big button."""
    page.locator("#go").click()
