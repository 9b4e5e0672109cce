"""The check costs little, and the first sentence is shown as soon as the model has written it."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.citing import EvidenceIndex
from bot.generating import Asked, Writer
from bot.sentences import split_sentences
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.model_outputs import PERSONA, read_evidence, read_outputs

MOST_MS_A_SENTENCE = 5.0
FIRST_TEXT_MS = 300.0


@pytest.mark.parametrize(
    ("evidence", "outputs"),
    [("model_evidence.md", "model_outputs.tsv"), ("model_evidence_mixed_8.md", "model_outputs_mixed_8.tsv")],
    ids=["documents", "code"],
)
def test_checking_a_sentence_takes_less_than_five_milliseconds(evidence: str, outputs: str):
    index = EvidenceIndex(read_evidence(evidence) * 2, "팀장의 서울 숙박비와 연차휴가는?", language="ko")
    sentences = [s for o in read_outputs(outputs) for s in split_sentences(o.output) if s.strip()]
    took = []
    for sentence in sentences:
        started = time.process_time()
        index.check(sentence)
        took.append((time.process_time() - started) * 1000)
    assert sum(took) / len(took) < MOST_MS_A_SENTENCE


async def test_the_first_sentence_is_shown_before_the_model_goes_on():
    hold = asyncio.Event()
    shown = asyncio.Queue[tuple[str, float]]()
    written_at = 0.0

    class Slow(FakeChatModel):
        async def stream(self, turns, *, waiting=None):
            nonlocal written_at
            for piece in ("연차휴가는 ", "15일입니다 ", "[1]."):
                yield piece
                written_at = time.monotonic()
            await hold.wait()
            yield " 그리고"

    async def release(text: str) -> None:
        shown.put_nowait((text, time.monotonic()))

    writer = Writer(Asked(question="연차휴가는 며칠인가요?", persona=PERSONA, language="ko"), read_evidence(), release)
    task = asyncio.create_task(writer.write(Slow(), [ChatTurn(role="user", content="x")]))
    text, at = await asyncio.wait_for(shown.get(), 60)
    hold.set()
    await task
    assert text == "연차휴가는 15일입니다 [1]."
    assert (at - written_at) * 1000 < FIRST_TEXT_MS
