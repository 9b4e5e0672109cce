"""Korean questions about code are searched in English too: beside the first search, bounded, remembered."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import ModelUnavailable
from bot.translation import Translator
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.unit.bot.company import build_answering

QUESTION = "거절된 카드를 다시 긁는 곳은 어디인가요?"


async def test_a_translation_is_remembered():
    model = FakeChatModel.saying('"Where is a declined card charged again?"')
    translator = Translator(model)
    for _ in range(2):
        assert await translator.translate(QUESTION) == "Where is a declined card charged again?"
    assert len(model.asked) == 1


@pytest.mark.parametrize("written", ["", "거절된 카드는 어디?", "x" * 500, "???"])
async def test_what_is_no_english_question_is_not_taken(written):
    assert await Translator(FakeChatModel.saying(written)).translate(QUESTION) is None


async def test_a_model_that_fails_or_is_too_slow_gives_none():
    failing = FakeChatModel(otherwise=FakeReply(error=ModelUnavailable("gone")))
    slow = FakeChatModel(otherwise=FakeReply(pieces=("late",), hold=asyncio.Event()))
    assert await Translator(failing).translate(QUESTION) is None
    assert await Translator(slow, limit_s=0.02).translate(QUESTION) is None


async def test_secrets_in_a_translation_are_masked():
    model = FakeChatModel.saying("Where is AKIAIOSFODNN7EXAMPLE used?")
    assert "AKIAIOSFODNN7EXAMPLE" not in str(await Translator(model).translate(QUESTION))


def test_an_english_question_and_a_missing_model_need_none():
    assert Translator(FakeChatModel()).start("Where is retry?") is None
    assert Translator(None).start(QUESTION) is None


async def test_code_that_only_the_translation_finds_becomes_evidence(company):
    question = "code: 승인이 안 난 건을 몇 번 더 긁나요?"
    plain = build_answering(company.knowledge, company.folder, clock=company.clock)
    small = FakeChatModel.saying("How many attempts does retry_declined make for a declined payment?")
    translated = build_answering(
        company.knowledge, company.folder, clock=company.clock, model=FakeChatModel.saying("NO_ANSWER"), small=small
    )
    before = await plain.answer(question, scope=Scope.everything())
    after = await translated.answer(question, scope=Scope.everything())
    assert before.evidence.verdict.decision == "none"
    assert after.evidence.verdict.decision == "ok"
    assert after.evidence.chunks[0].chunk.locator.uri == "payments.py"


async def test_a_question_that_documents_answer_does_not_wait_for_its_translation(company):
    small = FakeChatModel(otherwise=FakeReply(pieces=("late",), hold=asyncio.Event()))
    answering = build_answering(
        company.knowledge, company.folder, clock=company.clock, model=FakeChatModel.saying("NO_ANSWER"), small=small
    )
    async with asyncio.timeout(60):
        outcome = await answering.answer("연차휴가는 며칠인가요?", scope=Scope.everything())
    assert outcome.evidence.route == "docs"


async def test_without_code_in_sight_nothing_is_translated(company):
    small = FakeChatModel.saying("x")
    answering = build_answering(
        company.knowledge, company.folder, clock=company.clock, model=FakeChatModel.saying("NO_ANSWER"), small=small
    )
    await answering.answer("연차휴가는 며칠인가요?", scope=Scope.of("rules"))
    assert small.asked == []
