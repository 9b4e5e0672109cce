"""What is stored comes back as it was, without its secrets."""

from __future__ import annotations

from datetime import date

import pytest

from bot.stored_forms import (
    decode_delivery,
    decode_reply,
    decode_scope,
    encode_delivery,
    encode_reply,
    encode_scope,
)
from bot.types import Attachment, Citation, Command, Reply
from knowledge.types import Locator, Scope
from tests.unit.bot.messages import PERSON, message, thread

LOCATOR = Locator(
    source="rules", uri="여비규정.pdf", revision="r1", page=12, label="제3조", valid_from=date(2024, 3, 1),
    valid_until=date(2026, 1, 1), doubtful=("80,O00원",), doubtful_pages=(12,),
)  # fmt: skip
CITATION = Citation(index=1, locator=LOCATOR, chunk_id="c1", title="여비규정", url="https://h/x", quote="80,000원")


def test_a_reply_comes_back_with_its_citations():
    reply = Reply(
        thread=thread(), markdown="80,000원입니다. [1]", citations=(CITATION,), delivery_id="d1", final=True,
        nearest=(CITATION,), notices=("낮은 관련성",), kind="refusal", error_id="e1", language="ko",
    )  # fmt: skip
    assert decode_reply(encode_reply(reply)) == reply


def test_a_message_and_a_command_come_back():
    said = message(attachments=(Attachment(name="a.log", media_type="text/plain", text="로그"),), mentions_others=True)
    given = Command(name="haechi", args="ask 연차?", author=PERSON, thread=thread(""), delivery_id="c1", is_direct=True)
    assert decode_delivery(encode_delivery(said)) == said
    assert decode_delivery(encode_delivery(given)) == given


def test_secrets_in_commands_are_masked():
    given = Command(name="haechi", args="ask AKIAIOSFODNN7EXAMPLE", author=PERSON, thread=thread(""), delivery_id="c1")
    assert "AKIAIOSFODNN7EXAMPLE" not in encode_delivery(given)


@pytest.mark.parametrize("scope", [Scope.everything(), Scope.of("rules", "shop"), Scope.of(), None])
def test_a_scope_comes_back(scope):
    assert decode_scope(encode_scope(scope)) == scope
