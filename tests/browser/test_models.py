"""A model from a stand-in Hub: licence first, then a bar, then ready; and a damaged one."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from playwright.sync_api import expect

from core.config import Settings
from core.services import Services, build_services
from core.types import ModelSpec
from tests.browser.conftest import shot
from tests.core.runtime.hub import serving

DATA = np.random.default_rng(3).integers(0, 256, 12_000_000, np.uint8).tobytes()
MODEL = ModelSpec(
    name="sharper_256",
    title="Sharper face 256",
    file="sharper_256.onnx",
    repo="someone/models",
    size_bytes=len(DATA),
    sha256=hashlib.sha256(DATA).hexdigest(),
    licence="Research only",
    licence_kind="private",
    licence_url="https://example.org/licence",
    vendor="someone",
    year=2025,
    url="https://example.org",
)


@pytest.fixture
def hub():
    with serving(DATA) as made:
        yield made


@pytest.fixture
def page(serve, visit, hub, tmp_path, monkeypatch):
    own = Services.models
    monkeypatch.setattr(Services, "models", lambda self: (*own(self), MODEL))
    services = build_services(
        Settings(
            data_folder=tmp_path / "data",
            model_folder=tmp_path / "models",
            hub_endpoint=hub.url,
            port=0,
        )
    )
    made = visit(serve(services))
    made.get_by_role("tab", name="Models", exact=True).click()
    return made


def row(page):
    return page.locator("[data-model=sharper_256]")


def accept(page) -> None:
    row(page).get_by_role("button", name="Download").first.click()
    expect(row(page)).to_contain_text("Private and research use only")
    row(page).get_by_role("checkbox").check()
    row(page).get_by_role("button", name="Download").first.click()


def test_the_licence_comes_first_then_the_bar_then_ready(page, hub, tmp_path):
    expect(row(page)).to_contain_text("Not downloaded")
    row(page).get_by_role("button", name="Download").first.click()
    row(page).get_by_role("button", name="Download").first.click()
    page.wait_for_timeout(500)
    assert hub.requests == []  # not ticked
    hub.slow_s = 0.06
    row(page).get_by_role("checkbox").check()
    row(page).get_by_role("button", name="Download").first.click()
    expect(row(page).get_by_role("progressbar")).to_be_visible(timeout=10_000)
    shot(page, "models-downloading")
    expect(row(page)).to_contain_text("Ready", timeout=60_000)
    assert (tmp_path / "models" / "sharper_256.onnx").read_bytes() == DATA


def test_a_damaged_download_says_so_and_can_be_repeated(page, hub):
    hub.fault = "changed"
    accept(page)
    expect(row(page)).to_contain_text("Check failed", timeout=60_000)
    expect(row(page)).to_contain_text("damaged")
    shot(page, "models-failed")
    hub.fault = ""
    accept(page)
    expect(row(page)).to_contain_text("Ready", timeout=60_000)


def test_a_download_can_be_cancelled(page, hub):
    hub.slow_s = 0.15
    accept(page)
    row(page).get_by_role("button", name="Cancel").click(timeout=10_000)
    expect(row(page)).to_contain_text("Stopped", timeout=20_000)


def test_a_file_at_hand_is_checked_before_it_is_used(page, hub, tmp_path):
    row(page).get_by_role("button", name="Use a file I have").click()
    wrong, right = tmp_path / "wrong.onnx", tmp_path / "right.onnx"
    wrong.write_bytes(b"something else")
    right.write_bytes(DATA)
    page.locator("#models-own input[type=file]").set_input_files(wrong)
    expect(row(page)).to_contain_text("is not the right file", timeout=20_000)
    page.locator("#models-own input[type=file]").set_input_files(right)
    expect(row(page)).to_contain_text("Ready", timeout=20_000)
    assert hub.requests == []


def test_a_download_goes_on_when_the_page_is_loaded_again(page, hub):
    hub.slow_s = 0.15
    accept(page)
    expect(row(page).get_by_role("progressbar")).to_be_visible(timeout=10_000)
    page.reload()
    page.get_by_role("tab", name="Models", exact=True).click()
    bar = row(page).get_by_role("progressbar")
    expect(bar).to_be_visible(timeout=10_000)
    before = int(bar.get_attribute("aria-valuenow"))
    page.wait_for_function(
        "before => { const b = document.querySelector('[data-model] [role=progressbar]');"
        " return !b || Number(b.getAttribute('aria-valuenow')) > before; }",
        arg=before,
        timeout=20_000,
    )
    hub.slow_s = 0.0
    expect(row(page)).to_contain_text("Ready", timeout=60_000)
    expect(page.locator("#models-top")).to_contain_text("12 MB downloaded")


def test_the_keyboard_goes_into_the_licence_and_back(page, hub):
    row(page).get_by_role("button", name="Download").first.press("Enter")
    expect(row(page).get_by_role("checkbox")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row(page).get_by_role("alert")).to_contain_text("Still needed")
    shot(page, "models-licence")
    row(page).get_by_role("button", name="Cancel").press("Enter")
    expect(row(page).get_by_role("button", name="Download").first).to_be_focused()
    assert hub.requests == []
