"""A model's reply as a checked value, whatever the server made of the schema."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from bot.errors import ModelReplyInvalid
from bot.structured import complete_as
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel

ASKED = [ChatTurn(role="user", content="Which service failed?")]


class Finding(BaseModel):
    service: str
    lines: list[int]


async def test_the_reply_is_a_checked_value_and_the_schema_was_asked_for():
    model = FakeChatModel.saying('{"service": "shop", "lines": [4]}')
    assert await complete_as(model, ASKED, Finding) == Finding(service="shop", lines=[4])
    assert model.schemas == [Finding.model_json_schema()]


async def test_fences_and_sentences_around_the_value_do_not_matter():
    model = FakeChatModel.saying('Here it is:\n```json\n{"service": "shop", "lines": []}\n```')
    assert (await complete_as(model, ASKED, Finding)).service == "shop"


async def test_a_reply_of_another_form_is_asked_for_again_with_its_faults():
    model = FakeChatModel.saying('{"service": "shop"}', '{"service": "shop", "lines": [1]}')
    assert (await complete_as(model, ASKED, Finding)).lines == [1]
    own, told = model.asked[1][-2:]
    assert own.content == '{"service": "shop"}'
    assert "lines: Field required" in told.content


async def test_a_model_that_never_keeps_to_the_form_is_named_and_its_words_are_not_repeated():
    model = FakeChatModel.saying("secret words", "secret words")
    with pytest.raises(ModelReplyInvalid, match="fake-model") as raised:
        await complete_as(model, ASKED, Finding)
    assert "secret words" not in str(raised.value)
