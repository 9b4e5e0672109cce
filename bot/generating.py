"""The answer with a model: numbered evidence and persona in, sentences out, each checked before it is released."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from bot.citing import EvidenceIndex, SentenceReader
from bot.errors import ModelError
from bot.persona import Persona
from bot.ports import ChatModel
from bot.prompting import NO_ANSWER, build_turns, evidence_budget, number_evidence
from bot.types import Language
from knowledge.types import ScoredChunk

Release = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Generated:
    """What came of it. `text` is what passed the check; `failure` why the model broke off, if it did."""

    text: str = ""
    cited: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    declined: bool = False  # the model itself says that the evidence does not answer
    failure: ModelError | None = None


async def generate(
    question: str,
    chunks: Sequence[ScoredChunk],
    *,
    model: ChatModel,
    num_ctx: int,
    persona: Persona,
    language: Language,
    release: Release | None,
) -> Generated:
    """The checked reply. Sentences go to `release` as soon as they have passed; what it got is never taken back."""
    numbered = number_evidence(chunks, evidence_budget(num_ctx, question, persona))
    index = EvidenceIndex(numbered, question)
    turns = build_turns(question, numbered, persona=persona, language=language)
    result = Generated()
    reader = SentenceReader()

    async def take(sentence: str) -> None:
        if NO_ANSWER in sentence:
            result.declined = True
            return
        checked = index.check(sentence)
        if checked.fault is not None:
            result.faults.append(checked.fault)
            return
        result.text += checked.text
        result.cited += [number for number in checked.cited if number not in result.cited]
        if release is not None and checked.text.strip():
            await release(checked.text)

    pieces = model.stream(turns)
    try:
        async for piece in pieces:
            for sentence in reader.feed(piece):
                await take(sentence)
        for sentence in reader.finish():
            await take(sentence)
    except ModelError as error:
        result.failure = error
    finally:
        close = getattr(pieces, "aclose", None)  # ends the request at once instead of when it is collected
        if close is not None:
            await close()
    return result
