"""Greetings and thanks get a friendly word, questions behind them an answer."""

from __future__ import annotations

import pytest

from bot.small_talk import small_talk
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.company import build_answering


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("안녕하세요", "greeting"),
        ("안녕 해치!", "greeting"),
        ("해치야 안녕", "greeting"),
        ("Hello Haechi", "greeting"),
        ("good morning!", "greeting"),
        ("뭐 할 수 있어?", "greeting"),
        ("무엇을 할 수 있나요?", "greeting"),
        ("안녕하세요, 누구세요?", "greeting"),
        ("what can you do?", "greeting"),
        ("help", "greeting"),
        ("고마워요", "thanks"),
        ("정말 감사합니다!", "thanks"),
        ("thanks a lot", "thanks"),
        ("안녕하세요, 연차는 며칠인가요?", None),
        ("감사 규정은 어디에 있나요?", None),
        ("감사실은 무엇을 하나요?", None),
        ("도움말 파일은 어디에서 읽나요?", None),
        ("hello world 함수는 어디에 있나요?", None),
        ("오늘 날씨 어때?", None),
    ],
)
def test_only_a_text_that_is_nothing_else_is_small_talk(text, kind):
    assert small_talk(text) == kind


async def test_a_greeting_names_what_can_be_asked_about_and_asks_no_model(company):
    model = FakeChatModel.saying("x")
    answering = build_answering(company.knowledge, company.folder, clock=company.clock, model=model)
    answer = (await answering.answer("안녕하세요!", scope=Scope.of("rules"))).answer
    assert answer.text.startswith("안녕하세요, 해치입니다.")
    assert "사규" in answer.text
    assert "Shop" not in answer.text  # only what may be seen here
    assert answer.refusal is not None  # nothing was looked up, so it is no answer
    assert (answer.citations, model.asked) == ((), [])


async def test_thanks_in_english_are_answered_in_english(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    assert (await answering.answer("thanks!", scope=Scope.everything())).answer.text.startswith("Glad")


async def test_an_empty_scope_is_told_as_such(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    answer = (await answering.answer("연차휴가는 며칠인가요?", scope=Scope.of())).answer
    assert answer.refusal is not None
    assert answer.refusal.reason == "not_allowed"
