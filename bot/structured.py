"""A model's reply as a checked value: asked for by JSON schema, validated here, because servers may ignore schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bot.errors import ModelReplyInvalid
from bot.ports import ChatModel
from bot.prompting import prompt_text
from bot.types import ChatTurn

Form = TypeVar("Form", bound=BaseModel)
_MOST_FAULTS = 5


async def complete_as(model: ChatModel, turns: Sequence[ChatTurn], form: type[Form]) -> Form:
    """The reply as a `form`; asked for once more, with the faults named, when the first one is none.

    Raises ModelReplyInvalid when the second one is none either, and what the model raises.
    """
    asked = tuple(turns)
    faults = ""
    for _ in range(2):
        reply = await model.complete(asked, schema=form.model_json_schema())
        try:
            return form.model_validate_json(_json_part(reply))
        except ValidationError as error:
            faults = _faults_of(error)
        repair = prompt_text("repair_json", faults=faults)
        asked = (*turns, ChatTurn(role="assistant", content=reply), ChatTurn(role="user", content=repair))
    raise ModelReplyInvalid(f"{model.name} does not keep to the form it is given ({faults}): use another model")


def _json_part(reply: str) -> str:
    """The JSON object in a reply: models put fences or sentences around it."""
    start, end = reply.find("{"), reply.rfind("}")
    return reply[start : end + 1] if 0 <= start < end else reply


def _faults_of(error: ValidationError) -> str:
    """Places and kinds of the faults; values are left out, as they may hold what the alert or the evidence held."""
    details = error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]
    return "; ".join(f"{'.'.join(str(part) for part in item['loc']) or 'reply'}: {item['msg']}" for item in details)
