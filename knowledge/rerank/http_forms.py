"""The forms in which servers are asked to rerank, and in which they answer.

Three ways are common: `/v1/rerank` with "documents" (vLLM, llama.cpp, Jina, LiteLLM), the same below `/rerank`
(Infinity) or `/v2/rerank` (Cohere), and `/rerank` with "texts" (text-embeddings-inference). Answers name each
passage by its place, best first, so that the order of an answer says nothing about the order of the passages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

Body = Literal["documents", "texts"]

_SURE = 1e-6  # a probability of exactly 0 or 1 has no finite odds


@dataclass(frozen=True, slots=True)
class Form:
    """An address and what its body looks like."""

    url: str
    body: Body


class UnknownAnswer(ValueError):
    """The answer has no form that is known."""


def forms_of(url: str) -> tuple[Form, ...]:
    """What is tried, in order, until a server understands it. A path that ends in "rerank" is taken as it stands."""
    base = url.rstrip("/")
    path = urlsplit(base).path
    if path.endswith(("/rerank", "/reranking")):
        return Form(base, "documents"), Form(base, "texts")
    if path.endswith(("/v1", "/v2")):
        return Form(f"{base}/rerank", "documents"), Form(f"{base}/rerank", "texts")
    return (
        Form(f"{base}/v1/rerank", "documents"),
        Form(f"{base}/rerank", "documents"),
        Form(f"{base}/rerank", "texts"),
    )


def body_of(form: Form, *, model: str, query: str, passages: Sequence[str]) -> dict[str, Any]:
    """The JSON of a request. What is not common is left out: some servers refuse what they do not know."""
    if form.body == "texts":
        return {"query": query, "texts": list(passages), "raw_scores": True, "truncate": True}
    named = {"model": model} if model else {}
    return {**named, "query": query, "documents": list(passages), "top_n": len(passages)}


def scores_of(answer: object, count: int) -> list[float]:
    """One number a passage, in the order of the request. Raises UnknownAnswer.

    Numbers that all lie between 0 and 1 are probabilities: they become the logarithms of their odds, as models give
    them and as all others are taken to be.
    """
    entries = answer.get("results", answer.get("data")) if isinstance(answer, Mapping) else answer
    if not isinstance(entries, list):
        raise UnknownAnswer("it has no list of results")
    found: dict[int, float] = {}
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise UnknownAnswer("a result is no object")
        place, score = entry.get("index"), entry.get("relevance_score", entry.get("score"))
        if type(place) is not int or isinstance(score, bool) or not isinstance(score, int | float):
            raise UnknownAnswer("a result has no index, or no relevance_score or score")
        found[place] = _finite(score)
    if found.keys() != set(range(count)) or len(entries) != count:
        raise UnknownAnswer(f"it has {len(entries)} results for {count} passages")
    scores = [found[place] for place in range(count)]
    return [_log_odds(score) for score in scores] if all(0.0 <= score <= 1.0 for score in scores) else scores


def reason_of(text: str) -> str:
    """What an answer says of an error, in any of the common forms; its text when it is none of them."""
    import json

    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    for key in ("error", "message", "detail", "msg"):
        while isinstance(said, Mapping) and said.get(key):
            said = said[key]
    if isinstance(said, list) and said:  # of FastAPI: one entry a field
        said = said[0].get("msg", said[0]) if isinstance(said[0], Mapping) else said[0]
    return str(said).strip()


def _finite(score: int | float) -> float:
    try:
        number = float(score)
    except OverflowError as error:
        raise UnknownAnswer("a score is too large a number") from error
    if not math.isfinite(number):
        raise UnknownAnswer("a score is no number")
    return number


def _log_odds(probability: float) -> float:
    sure = min(max(probability, _SURE), 1.0 - _SURE)
    return math.log(sure / (1.0 - sure))
