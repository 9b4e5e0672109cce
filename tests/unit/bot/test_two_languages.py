"""Every table of texts has both languages, with the same words in braces."""

from __future__ import annotations

import pytest

from bot import admin_notices, commands_texts, wording
from bot.alerts import announcing, texts
from bot.two_languages import Texts


@pytest.mark.parametrize(
    "table", [wording.TEXTS, commands_texts.TEXTS, texts.TEXTS, announcing.TEXTS, admin_notices.TEXTS]
)
def test_every_text_has_both_languages_with_the_same_words_in_braces(table):
    assert list(table.faults()) == []


def test_a_text_that_lacks_a_language_or_a_word_is_named():
    table = Texts({
        "whole": {"ko": "{n}번", "en": "{n} times"},
        "half": {"ko": "열기", "en": ""},
        "torn": {"ko": "{n}번, {at}", "en": "{n} times"},
    })  # fmt: skip
    assert list(table.faults()) == [
        "half has no text in en", "torn has other words in braces in one language than in the other"
    ]  # fmt: skip


def test_a_text_is_told_in_the_readers_language():
    assert wording.TEXTS.say("page", "ko", n=3) == "3쪽"
    assert wording.word("page", "en", n=3) == "page 3"
