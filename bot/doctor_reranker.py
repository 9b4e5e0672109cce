"""The reranker's part of `haechi doctor`: whether it can be used, and how long a question waits for it here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

from bot.readiness import Check
from bot.settings import Settings
from knowledge.api import build_reranker
from knowledge.errors import KnowledgeError

_QUESTION = "출장 숙박비는 얼마까지 지급하나요?"
_PASSAGE = (
    "여비규정 제{number}조(숙박비의 지급) ① 출장 직원에게는 별표에서 정하는 숙박비를 실비로 지급한다. ② 부득이한 "
    "사유로 상한을 넘은 때에는 증빙을 갖추어 부서장의 승인을 받아야 하며, 승인을 받지 못한 금액은 지급하지 아니한다. "
) * 6  # about as long as a section of a regulation


def check_reranker(settings: Settings, *, now_s: Callable[[], float] = time.perf_counter) -> Iterator[Check]:
    """One line: the model, and the time for as many passages as a question has."""
    reranker = build_reranker(settings.reranker.config())
    if reranker is None:
        yield Check(name="reranker", ok=True, detail="none configured; words and vectors alone make the order")
        return
    count = settings.reranker.candidates
    with closing(reranker):
        try:
            about = reranker.check()
            reranker.warm_up()
            started_s = now_s()
            reranker.score(_QUESTION, [_PASSAGE.format(number=number) for number in range(1, count + 1)])
        except KnowledgeError as error:
            yield Check(name="reranker", ok=False, detail=str(error), remedy="results keep their usual order meanwhile")
            return
        took_ms = (now_s() - started_s) * 1000
    yield Check(name="reranker", ok=True, detail=f"{about}, {took_ms:.0f} ms for {count} passages")
