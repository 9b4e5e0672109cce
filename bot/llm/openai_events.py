"""What servers that speak OpenAI's chat completions send, read as leniently as they differ.

Keep-alive comments, `data:` without a blank, events without choices, content in parts, thoughts in fields of their own,
a whole JSON object where a stream was asked for, an end without a finish reason: all of it is met in practice.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

DONE = "[DONE]"
_TO_THE_LIMIT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_WITHHELD = frozenset({"content_filter", "safety", "recitation"})
# fields that a server may not know: what is sent in their place, when it names them in a refusal
_OPTIONAL = ("response_format", "stream_options", "temperature", "max_tokens")
_ALSO_SAID = {"response_format": ("json_schema", "structured output", "guided"), "stream_options": ("include_usage",)}


@dataclass(slots=True)
class Ending:
    """How a reply ended, and how long its prompt was; 0 when the server does not say."""

    reason: str | None = None
    prompt_tokens: int = 0

    @property
    def is_at_limit(self) -> bool:
        return self.reason in _TO_THE_LIMIT

    @property
    def is_withheld(self) -> bool:
        """Whether the server's own filter broke the reply off."""
        return self.reason in _WITHHELD


async def events_of(lines: AsyncIterator[str], ending: Ending) -> AsyncGenerator[dict[str, Any]]:
    """The JSON objects of an event stream, up to `[DONE]`; of an answer that is one object, that object.

    Raises ValueError for data that is no JSON.
    """
    whole: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            data = line.removeprefix("data:").strip()
            if data == DONE:
                ending.reason = ending.reason or "stop"
                return
            if data and isinstance(event := json.loads(data), dict):
                yield event
        elif line.lstrip().startswith("{") or whole:
            whole.append(line)
    if whole and isinstance(event := json.loads("\n".join(whole)), dict):
        yield event


def text_of(event: Mapping[str, Any], ending: Ending) -> str:
    """The text of one event, without thoughts; how the reply ended and what the prompt measured go into `ending`."""
    usage = event.get("usage")
    if isinstance(usage, dict) and isinstance(tokens := usage.get("prompt_tokens"), int):
        ending.prompt_tokens = tokens
    choices = event.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return ""
    choice = choices[0]
    message = choice.get("delta") or choice.get("message") or {}
    reason = choice.get("finish_reason") or (choice.get("stop_reason") if "message" in choice else None)
    if isinstance(reason, str) and reason:
        ending.reason = reason
    elif "message" in choice:
        ending.reason = "stop"
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def refused_field(body: Mapping[str, Any], words: str) -> str | None:
    """The optional field of a request that a server's refusal names; None when it names none."""
    lowered = words.lower()
    for name in _OPTIONAL:
        if name in body and any(said in lowered for said in (name, *_ALSO_SAID.get(name, ()))):
            return name
    return None


def without_field(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The request without the field; a limit of the reply goes by its newer name."""
    rest = {key: value for key, value in body.items() if key != name}
    if name == "max_tokens":
        rest["max_completion_tokens"] = body[name]
    return rest
