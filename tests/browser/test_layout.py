"""Nothing cut off, everything reachable, one language, no finding of axe."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from facefusion_ui.texts import TEXTS
from tests.browser.conftest import DESKTOP, PHONE, known_to_axe, shot

CHINESE = re.compile(r"[\u4e00-\u9fff]")
TABS = {"en": ("Image", "Models", "System"), "zh": ("图片", "模型", "系统")}


LOCALES = {"en": "en-US", "zh": "zh-CN"}


@pytest.fixture
def show(visit, real_site):
    """Opens the page with the real engine."""

    def go(*, lang="en", **how):
        return visit(real_site.address, lang=LOCALES[lang], **how)

    return go


def open_tab(page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    page.wait_for_timeout(400)


@pytest.mark.parametrize("lang", TABS)
@pytest.mark.parametrize("width", [320, 360, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(show, width, lang):
    page = show(size=(width, 800), lang=lang)
    for tab in TABS[lang]:
        open_tab(page, tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab


@pytest.mark.parametrize("lang", TABS)
def test_the_big_button_is_in_sight_on_a_desktop(show, lang):
    page = show(lang=lang)
    box = page.locator("#go").bounding_box()
    assert box["y"] + box["height"] <= DESKTOP[1]
    shot(page, f"empty-{lang}")


@pytest.mark.parametrize("lang", TABS)
def test_the_big_button_is_always_in_sight_on_a_phone(show, lang):
    page = show(size=PHONE, lang=lang, dark=True)
    for place in (0, 600, 5000):
        page.evaluate(f"window.scrollTo(0, {place})")
        page.wait_for_timeout(100)
        box = page.locator("#go").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= PHONE[1]
    shot(page, f"empty-phone-{lang}")


def visible_text(page) -> str:
    return page.evaluate("document.body.innerText")


def test_the_english_page_has_no_chinese_but_the_language_link(show):
    page = show()
    for tab in TABS["en"]:
        open_tab(page, tab)
        assert CHINESE.findall(visible_text(page).replace("中文", "")) == [], tab


def test_the_chinese_page_has_no_english_sentence(show):
    page = show(lang="zh")
    english = {
        text
        for text, chinese in TEXTS.values()
        if text != chinese and len(text) > 5 and "{" not in text
    }
    for tab in TABS["zh"]:
        open_tab(page, tab)
        lines = {line.strip() for line in visible_text(page).splitlines()}
        assert lines & english == set(), tab


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("tab", TABS["en"])
def test_axe_finds_nothing_but_the_known_one(show, tab, dark):
    page = show(dark=dark)
    open_tab(page, tab)
    if tab == "System":
        page.locator("#system-check").click()
        page.wait_for_selector("#system-table table", timeout=30_000)
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    found = Axe().run(page, options=options).response["violations"]
    ours = {
        (one["id"], node["html"][:120])
        for one in found
        for node in one["nodes"]
        if not known_to_axe(one, node)
    }
    assert ours == set()


def test_an_early_press_says_what_is_missing(show):
    page = show()
    page.locator("#go").click()
    expect(page.locator("#need [role=alert]")).to_contain_text("a photo of the new face")
    expect(page.locator("#need [role=alert]")).to_contain_text("a picture")
    expect(page.locator("#need [role=alert]")).to_contain_text("your tick above")
    shot(page, "early-press")


def test_tab_reaches_the_controls_in_reading_order(show):
    page = show()
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "(() => { const e = document.activeElement;"
                "const box = e.closest('#photos,#pic,#preset,#tune,#consent,#go,.ff-lang');"
                "return box ? (box.id || box.className || box.getAttribute('role')) : ''; })()"
            )
        )
    order = [name for name in dict.fromkeys(seen) if name]
    wanted = ["photos", "pic", "preset", "tune", "consent", "go"]
    assert [name for name in order if name in wanted] == wanted
    assert order.index("ff-lang") < order.index("photos")


def test_the_language_can_be_chosen_and_is_kept(show, real_site):
    page = show()
    page.locator(".ff-lang").get_by_text("中文").click()
    page.wait_for_selector("#go")
    expect(page.locator("#go")).to_contain_text("换脸")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.goto(real_site.address)
    page.wait_for_selector("#go")
    expect(page.locator("#go")).to_contain_text("换脸")


def test_system_tells_runs_and_frees(show):
    page = show()
    open_tab(page, "System")
    page.locator("#system-test").click()
    page.wait_for_selector("#system-table td:has-text('ms')", timeout=60_000)
    expect(page.locator("#system-head")).to_contain_text("Processor (your choice)")
    page.locator("#system-free").click()
    expect(page.locator("#system-told")).to_contain_text("MB given back", timeout=20_000)
    shot(page, "system-en")
