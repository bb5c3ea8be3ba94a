"""Every sentence exists in both languages, says the same things, and keeps its voice down."""

from __future__ import annotations

import re
import string

import pytest

from core.sentences import ENGLISH
from facefusion_ui.chinese import CORE
from facefusion_ui.texts import TEXTS

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("key", TEXTS)
def test_every_sentence_is_in_both_languages_with_the_same_values(key):
    english, chinese = TEXTS[key]
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(text) if name}
        for text in (english, chinese)
    ]
    assert fields[0] == fields[1]
    assert not CHINESE.search(english) or key == "lang.label"
    assert "!" not in english
    assert "！" not in chinese


@pytest.mark.parametrize("key", ENGLISH)
def test_every_sentence_of_core_has_chinese_with_the_same_values(key):
    chinese = CORE[key] if key in CORE else TEXTS[key][1]
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(text) if name}
        for text in (ENGLISH[key], chinese)
    ]
    assert fields[0] == fields[1]
    assert CHINESE.search(chinese)
