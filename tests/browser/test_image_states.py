"""The states of the image tab, with fixed faces; each is also pictured in ``test-results``."""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from core.errors import ContentRefused, MediaError
from core.sentences import say
from facefusion_ui.texts import t
from tests.browser.conftest import DESKTOP, PHONE, Site, Visit, known_to_axe, shot
from tests.browser.steps import PHOTO, PICTURE, give_photo, give_picture, make_ready, press, tick
from tests.facefusion_ui.fakes import FakeRenderer, wait_until

LOOKS = [
    pytest.param("en-US", False, DESKTOP, id="en-light-desktop"),
    pytest.param("en-US", True, PHONE, id="en-dark-phone"),
    pytest.param("zh-CN", True, DESKTOP, id="zh-dark-desktop"),
    pytest.param("zh-CN", False, PHONE, id="zh-light-phone"),
]
HOSTILE = "${document.title=1}<img src=x onerror=document.title=2>.png"


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Two faces side by side."""
    left, right = (cv2.imread(str(path)) for path in (PICTURE, PHOTO))
    height = 600
    parts = [
        cv2.resize(part, (round(part.shape[1] * height / part.shape[0]), height))
        for part in (left, right)
    ]
    path = tmp_path / "pair.png"
    cv2.imwrite(str(path), np.hstack(parts))
    return path


@pytest.fixture
def noface(tmp_path: Path) -> Path:
    """A picture in which nobody is found."""
    path = tmp_path / "noface.png"
    cv2.imwrite(str(path), np.full((400, 600, 3), 180, np.uint8))
    return path


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def in_language(lang: str, key: str, **values: object) -> str:
    return t(key, "zh" if lang == "zh-CN" else "en", **values)


@pytest.mark.parametrize(("lang", "dark", "size"), LOOKS)
def test_from_empty_to_done(
    fake_site: Site,
    renderer: FakeRenderer,
    visit: Visit,
    pair: Path,
    lang: str,
    dark: bool,
    size: tuple[int, int],
    request: pytest.FixtureRequest,
) -> None:
    look = request.node.callspec.id.removeprefix("chromium-").replace("-chromium", "")
    page = visit(fake_site.address, lang=lang, dark=dark, size=size)
    shot(page, f"image-1-empty-{look}")
    give_photo(page)
    give_picture(page, pair)
    expect(page.locator(".ff-face")).to_have_count(2)
    expect(page.locator(".ff-face").first).to_have_attribute("aria-pressed", "true")
    page.locator(".ff-stage").scroll_into_view_if_needed()
    shot(page, f"image-2-several-{look}")
    tick(page)
    expect(page.locator("#layer img")).to_be_visible()
    assert bottom(page, "#go") <= size[1]
    shot(page, f"image-3-ready-{look}")
    renderer.hold.clear()
    press(page)
    expect(page.locator("#work .ff-workcard")).to_be_visible()
    expect(page.locator("#work")).to_contain_text(in_language(lang, "work.image", n=1))
    shot(page, f"image-4-working-{look}")
    renderer.hold.set()
    expect(page.locator("#headline")).to_have_text(in_language(lang, "done.image", n=1))
    page.wait_for_timeout(500)
    assert bottom(page, "#download") <= size[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    shot(page, f"image-5-done-{look}")


def test_faces_are_chosen_by_click_shift_and_link(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, pair: Path
) -> None:
    page = visit(fake_site.address)
    make_ready(page, pair)
    faces = page.locator(".ff-face")
    faces.nth(1).click()
    expect(faces.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(faces.nth(0)).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".ff-stage .ff-hint").first).to_contain_text("Face 2 will change")
    faces.nth(0).click(modifiers=["Shift"])
    expect(page.locator(".ff-stage .ff-hint").first).to_contain_text("Everyone will change")
    faces.nth(0).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ff-stage .ff-hint").first).to_contain_text("Face 1 will change")
    page.get_by_role("button", name="Change everyone").click()
    expect(page.locator(".ff-stage .ff-hint").first).to_contain_text("Everyone will change")
    press(page)
    expect(page.locator("#headline")).to_have_text("Done. 2 faces changed.")
    assert renderer.requests[-1].people.choose == "everyone"


def test_the_newest_wish_is_the_one_previewed(
    fake_site: Site, renderer: FakeRenderer, visit: Visit
) -> None:
    page = visit(fake_site.address)
    make_ready(page)
    page.locator("#tune .label-wrap").first.click()
    knob = page.get_by_label("range slider for Likeness")
    expect(knob).to_be_visible()
    page.wait_for_timeout(400)  # a slider sets itself to its value while its fold opens
    knob.focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_visible()
    expect(knob).to_have_value("50")
    wait_until(lambda: previewed(renderer) == pytest.approx(0.5))
    shot(page, "image-fine-tune")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_hidden()
    wait_until(lambda: previewed(renderer) == pytest.approx(0.7))


def previewed(renderer: FakeRenderer) -> float:
    return float(renderer.previews[-1].steps[0].options["likeness"])


@pytest.mark.parametrize("what", ["photo", "picture"])
def test_consent_is_asked_again_for_other_files(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, pair: Path, what: str
) -> None:
    page = visit(fake_site.address)
    make_ready(page)
    if what == "photo":
        page.locator("#photos input[type=file]").first.set_input_files(str(PICTURE))
    else:
        page.get_by_role("button", name="Change the picture").click()
        give_picture(page, pair)
        expect(page.locator(".ff-face")).to_have_count(2)
    expect(page.locator("#consent input")).not_to_be_checked()
    press(page)
    expect(page.locator("#need [role=alert]")).to_contain_text("your tick above")
    assert renderer.requests == []


def test_no_face_is_a_sentence_with_a_way_on(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, noface: Path
) -> None:
    del renderer
    page = visit(fake_site.address)
    give_photo(page, noface)
    expect(page.locator(".ff-src .ff-notice")).to_contain_text("No face found in photo 1.")
    give_picture(page, noface)
    expect(page.locator("#panel")).to_contain_text("No face found in this picture")
    shot(page, "image-no-face")
    page.get_by_role("button", name="Choose another picture").click()
    expect(page.locator("#pic input[type=file]")).to_be_attached()


def test_weak_photos_are_told_but_never_block(
    fake_site: Site, renderer: FakeRenderer, visit: Visit
) -> None:
    renderer.source_notices = (say("photo.profile"), say("photo.small", px=96))
    page = visit(fake_site.address)
    make_ready(page)
    expect(page.locator(".ff-src .ff-notice")).to_have_count(1)
    expect(page.locator(".ff-src .ff-notice")).to_contain_text("seen from the side")
    button = page.locator("#go").bounding_box()
    assert button["y"] + button["height"] <= DESKTOP[1]
    shot(page, "image-small-and-profile")
    page = visit(fake_site.address, lang="zh-CN", dark=True, size=PHONE)
    give_photo(page)
    expect(page.locator(".ff-src .ff-notice").first).to_contain_text("这是侧脸")
    shot(page, "image-small-and-profile-zh")


def test_nothing_changed_is_not_called_done(
    fake_site: Site, renderer: FakeRenderer, visit: Visit
) -> None:
    renderer.changes = False
    renderer.run_notices = (say("note.face_kept"),)
    page = visit(fake_site.address)
    make_ready(page)
    press(page)
    expect(page.locator("#headline")).to_have_text("Nothing changed")
    expect(page.locator("#card .ff-notice")).to_contain_text("A face was left as it was")
    expect(page.locator("#download")).to_be_hidden()
    shot(page, "image-nothing-changed")


def test_a_refusal_says_which_and_why(
    fake_site: Site, renderer: FakeRenderer, visit: Visit
) -> None:
    page = visit(fake_site.address)
    make_ready(page)
    renderer.failure = ContentRefused(say("refused.pic"), hint=say("refused.why"))
    press(page)
    expect(page.locator("#panel")).to_contain_text("This picture cannot be used.")
    expect(page.locator("#panel")).to_contain_text("try another crop")
    shot(page, "image-refused")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (MediaError("The disk is full.", hint="Make room, then try again."), "The disk is full."),
        (RuntimeError("secret/path 0x1f"), "Something unexpected happened."),
    ],
    ids=["known", "unknown"],
)
def test_an_error_is_a_sentence_a_number_and_a_way_on(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, failure: Exception, words: str
) -> None:
    page = visit(fake_site.address)
    make_ready(page)
    renderer.failure = failure
    press(page)
    panel = page.locator("#panel [role=alert]")
    expect(panel).to_contain_text(words)
    expect(panel).to_contain_text("Ref. ")
    assert "secret" not in page.content()
    assert "Traceback" not in page.content()
    shot(page, f"image-error-{type(failure).__name__}")
    renderer.failure = None
    panel.get_by_role("button", name="Try again").click()
    expect(page.locator("#headline")).to_have_text("Done. Face 1 has the new face.")


def test_a_long_run_can_be_cancelled(fake_site: Site, renderer: FakeRenderer, visit: Visit) -> None:
    page = visit(fake_site.address)
    make_ready(page)
    renderer.hold.clear()
    press(page)
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible(timeout=6_000)
    shot(page, "image-working-long")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#need")).to_contain_text("Cancelled. Nothing was written.")
    expect(page.locator("#work .ff-workcard")).to_be_hidden()


def test_a_hostile_file_name_is_only_text(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, tmp_path: Path
) -> None:
    del renderer
    path = tmp_path / HOSTILE
    shutil.copy(PHOTO, path)
    page = visit(fake_site.address)
    make_ready(page, path)
    press(page)
    expect(page.locator("#headline")).to_contain_text("Done.")
    page.locator("#card summary").click()
    expect(page.locator("#card")).to_contain_text("document.title")
    assert page.title() == "FaceFusion UI"
    assert page.locator("#card img").count() == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_ready_and_done(
    fake_site: Site, renderer: FakeRenderer, visit: Visit, pair: Path, dark: bool
) -> None:
    renderer.source_notices = (say("photo.profile"),)
    page = visit(fake_site.address, dark=dark)
    make_ready(page, pair)
    assert _findings(page) == set()
    press(page)
    expect(page.locator("#headline")).to_contain_text("Done.")
    page.locator("#card summary").click()
    assert _findings(page) == set()


def _findings(page: Page) -> set[tuple[str, str]]:
    """All but Gradio's own upload icon, a button inside a button."""
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    found = Axe().run(page, options=options).response["violations"]
    return {
        (one["id"], node["html"][:160])
        for one in found
        for node in one["nodes"]
        if not known_to_axe(one, node)
    }
