"""The System tab in each story of the badge, and what its buttons do."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.config import Settings
from core.runtime.sessions import SessionPool
from core.services import build_services
from tests.browser.conftest import PHONE, shot
from tests.facefusion_ui.test_provider_badge import AMBER, CASES

WORDS = {
    "gpu": "Graphics card",
    "cpu_no_card": "Processor",
    "cpu_chosen": "Processor (your choice)",
    "fell_back": "Processor instead of graphics card",
    "mixed": "Partly graphics card",
    "switched": "Switched to processor",
}


def services(folder, **settings):
    return build_services(
        Settings(data_folder=folder / "data", model_folder=folder / "models", port=0, **settings)
    )


def open_system(page, name="System"):
    page.get_by_role("tab", name=name, exact=True).click()
    expect(page.locator("#system-table table")).to_be_visible(timeout=60_000)


@pytest.fixture
def pretend(monkeypatch):
    """Lets the sessions report one of the badge's stories."""

    def go(case):
        for name in ("reports", "outlook"):
            monkeypatch.setattr(SessionPool, name, lambda self, provider=None: tuple(CASES[case]))
        monkeypatch.setattr("core.pipeline.report.ProviderLine.of", staticmethod(lambda line: line))

    return go


@pytest.mark.parametrize("case", CASES)
def test_each_story_stands_at_the_top_and_in_the_pill(serve, visit, tmp_path, pretend, case):
    pretend(case)
    address = serve(services(tmp_path))
    page = visit(address)
    expect(page.locator(".ff-pill[data-act=system]")).to_contain_text(f"Ready · {WORDS[case]}")
    open_system(page)
    expect(page.locator("#system-head .ff-badge .ff-chip")).to_have_text(WORDS[case])
    assert page.locator("#system-head [data-copy]").count() == int(case in AMBER)
    shot(page, f"system-{case}-en")
    dark = visit(address, lang="zh-CN", dark=True, size=PHONE)
    open_system(dark, "系统")
    assert dark.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    shot(dark, f"system-{case}-zh-phone-dark")


def test_the_pill_opens_the_tab_with_the_reasons(serve, visit, tmp_path):
    page = visit(serve(services(tmp_path)))
    page.locator(".ff-pill[data-act=system]").click()
    expect(page.locator("#system-table table")).to_be_visible(timeout=60_000)


def test_a_choice_counts_for_one_visitor_and_shows_in_the_pill(serve, visit, tmp_path):
    address = serve(services(tmp_path))
    page, other = visit(address), visit(address)
    open_system(page)
    page.locator("#system-work").get_by_label("Processor", exact=True).check()
    expect(page.locator(".ff-pill[data-act=system]")).to_contain_text("(your choice)")
    expect(page.locator("#system-head")).to_contain_text("You chose the processor")
    open_system(other)
    expect(other.locator(".ff-pill[data-act=system]")).not_to_contain_text("(your choice)")


def test_results_are_cleaned_up_after_a_question(serve, visit, tmp_path):
    made = services(tmp_path)
    kept = made.settings.outputs / "run" / "a.png"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x" * 1_500_000)
    page = visit(serve(made))
    open_system(page)
    page.get_by_role("button", name="Clean up…").click()
    page.get_by_role("button", name="Keep them").click()
    expect(page.locator("#system-storage")).to_contain_text("1 result, 1.5 MB")
    assert kept.exists()
    page.get_by_role("button", name="Clean up…").click()
    page.get_by_role("button", name="All (1 result, 1.5 MB)").click()
    expect(page.locator("#system-storage")).to_contain_text("Files deleted: 1")
    assert not kept.exists()


def test_strangers_see_where_it_runs_and_no_buttons(serve, visit, tmp_path):
    page = visit(serve(services(tmp_path, public=True)))
    open_system(page)
    for name in ("#system-check", "#system-test", "#system-free", "#system-work"):
        expect(page.locator(name)).to_have_count(0)
    expect(page.locator("#system-storage")).to_have_count(0)
    assert str(tmp_path) not in page.content()
