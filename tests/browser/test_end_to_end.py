"""With the real engine: from two files to a download."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import Site, Visit, shot
from tests.browser.steps import give_photo, give_picture, press, tick
from tests.conftest import group_photo_path


def test_two_files_become_the_very_file_that_was_written(
    real_site: Site, visit: Visit, tmp_path: Path
) -> None:
    page = visit(real_site.address)
    give_photo(page)
    give_picture(page, group_photo_path())
    faces = page.locator(".ff-face")
    expect(faces).to_have_count(6)
    faces.nth(2).click()
    expect(faces.nth(2)).to_have_attribute("aria-pressed", "true")
    tick(page)
    expect(page.locator("#layer img")).to_be_visible()
    press(page)
    expect(page.locator("#headline")).to_have_text("Done. Face 3 has the new face.")
    page.get_by_label("Original", exact=True).check()
    expect(page.locator("#canvas")).to_be_visible()
    page.get_by_label("Result", exact=True).check()
    expect(page.locator("#slider img").first).to_be_visible()
    with page.expect_download() as arriving:
        page.locator("#download").click()
    saved = tmp_path / "saved"
    arriving.value.save_as(saved)
    written = [
        path
        for path in real_site.services.settings.outputs.rglob("*")
        if path.name == arriving.value.suggested_filename
    ]
    assert len(written) == 1
    assert saved.read_bytes() == written[0].read_bytes()
    page.locator("#card summary").click()
    expect(page.locator("#card")).to_contain_text(hashlib.sha256(saved.read_bytes()).hexdigest())
    claim = real_site.services.provenance.verify(saved)
    assert "ompositeWithTrainedAlgorithmicMedia" in json.dumps(str(claim))


def test_the_example_needs_no_files_and_makes_the_picture_of_the_readme(
    real_site: Site, visit: Visit
) -> None:
    page = visit(real_site.address)
    page.get_by_role("button", name="No photo at hand? Try an example").click()
    expect(page.locator(".ff-face")).to_have_count(1)
    tick(page)
    expect(page.locator("#layer img")).to_be_visible()
    press(page)
    expect(page.locator("#headline")).to_have_text("Done. Face 1 has the new face.")
    expect(page.locator("#slider img").first).to_be_visible()
    page.wait_for_timeout(400)
    made = shot(page, "image-done-real")
    wanted = os.environ.get("UI_SCREENSHOT")
    if wanted:
        small = Image.open(made).convert("RGB").quantize(256, dither=Image.Dither.FLOYDSTEINBERG)
        Path(wanted).parent.mkdir(parents=True, exist_ok=True)
        small.save(wanted, optimize=True)


def test_moving_a_knob_shows_a_new_preview(real_site: Site, visit: Visit) -> None:
    page = visit(real_site.address)
    page.get_by_role("button", name="No photo at hand? Try an example").click()
    expect(page.locator(".ff-face")).to_have_count(1)
    tick(page)
    expect(page.locator("#layer img")).to_be_visible()
    before = page.locator("#layer img").get_attribute("src")
    page.locator("#tune .label-wrap").first.click()
    knob = page.get_by_label("range slider for Likeness")
    expect(knob).to_be_visible()
    page.wait_for_timeout(400)  # the fold slides open; keys pressed before that are lost
    knob.focus()
    page.keyboard.press("Home")
    expect(page.locator("#layer img")).not_to_have_attribute("src", before or "")
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_visible()
