"""What every Reranker does: a model in a folder, servers of five kinds, and the fake."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from knowledge.errors import KnowledgeError, ModelMissing, ToolDown
from knowledge.ports import Reranker
from knowledge.rerank.config import RerankerConfig
from knowledge.rerank.registry import build_reranker
from tests.emulators.reranker import RerankServer
from tests.fakes.reranker import WordReranker
from tests.fakes.reranker_folder import write_reranker

PASSAGES = [
    "취업규칙 제12조 연차휴가 는 15일 로 한다",
    "여비규정 제5조 출장 여비 를 지급한다",
    "class PaymentRetry retries a declined payment",
    "",
]
QUESTION = "출장 여비 는 얼마"
KINDS = ["fake", "folder", "folder-roberta", "tei", "llama", "vllm", "infinity", "cohere"]


@dataclass
class Part:
    """A reranker, and the ways to take it away and to bring it back."""

    reranker: Reranker
    take_away: Callable[[], object]
    bring_back: Callable[[], object]


@pytest.fixture(params=KINDS)
def part(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Part]:
    with ExitStack() as stack:
        yield build_part(request.param, tmp_path, stack)


def build_part(kind: str, folder: Path, stack: ExitStack) -> Part:
    if kind == "fake":
        gone = threading.Event()

        def trouble() -> None:
            if gone.is_set():
                raise ToolDown("The reranker does not answer: start it")

        return Part(WordReranker(trouble), gone.set, gone.clear)
    if kind.startswith("folder"):
        place, away = folder / "model", folder / "away"
        write_reranker(place, [*PASSAGES, QUESTION], family="roberta" if "roberta" in kind else "bert")
        made = build_reranker(RerankerConfig(model=place, timeout_s=600.0))
        assert made is not None
        stack.callback(made.close)
        return Part(made, lambda: place.rename(away), lambda: away.rename(place))
    servers = [stack.enter_context(RerankServer(style=kind))]  # type: ignore[arg-type]
    made = build_reranker(RerankerConfig(url=servers[0].url, name=servers[0].model, timeout_s=600.0))
    assert made is not None
    stack.callback(made.close)

    def take_away() -> None:
        servers[-1].__exit__()

    def bring_back() -> None:
        servers.append(stack.enter_context(RerankServer(style=kind, port=servers[0].port)))  # type: ignore[arg-type]

    return Part(made, take_away, bring_back)


def test_one_finite_number_comes_back_for_each_passage_in_their_order(part):
    scores = part.reranker.score(QUESTION, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(isinstance(score, float) and math.isfinite(score) for score in scores)
    assert max(range(4), key=scores.__getitem__) == 1
    assert part.reranker.score(QUESTION, PASSAGES[::-1]) == pytest.approx(scores[::-1])


def test_no_passage_gives_no_number(part):
    assert list(part.reranker.score(QUESTION, [])) == []


def test_a_number_does_not_depend_on_the_other_passages(part):
    together = part.reranker.score(QUESTION, PASSAGES)
    assert [part.reranker.score(QUESTION, [passage])[0] for passage in PASSAGES] == pytest.approx(together, abs=1e-4)


def test_more_passages_than_are_computed_or_sent_at_once_keep_their_order(part):
    many = [PASSAGES[1] if number == 57 else f"{PASSAGES[0]} {number}" for number in range(70)]
    scores = part.reranker.score(QUESTION, many)
    assert len(scores) == 70
    assert max(range(70), key=scores.__getitem__) == 57


@pytest.mark.parametrize(
    "odd",
    [
        "",
        " \n\t",
        "\0",
        "🦄👨‍👩‍👧‍👦",
        "\ud800",
        "\x01\x1b[0m",
        "a" * 100_000,
        "연차휴가 " * 20_000,
        "\u110b\u1167\u1107\u1175",
    ],
)
def test_odd_and_overlong_texts_are_scored_on_either_side(part, odd):
    first, second = part.reranker.score(QUESTION, [odd, PASSAGES[1]])
    assert math.isfinite(first)
    assert math.isfinite(second)
    assert math.isfinite(part.reranker.score(odd, [PASSAGES[1]])[0])


def test_threads_that_ask_at_the_same_time_get_the_numbers_of_one(part):
    expected = part.reranker.score(QUESTION, PASSAGES)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: part.reranker.score(QUESTION, PASSAGES), range(12)):
            assert scores == pytest.approx(expected)


def test_what_is_gone_is_told_and_comes_back_by_itself(part):
    part.reranker.warm_up()
    before = part.reranker.score(QUESTION, PASSAGES)
    assert part.reranker.check()
    part.take_away()
    for ask in (lambda: part.reranker.score(QUESTION, PASSAGES), part.reranker.check, part.reranker.warm_up):
        with pytest.raises((ToolDown, ModelMissing)) as caught:
            ask()
        assert isinstance(caught.value, KnowledgeError)
        assert len(str(caught.value)) > 20
    part.bring_back()
    assert part.reranker.check()
    assert part.reranker.score(QUESTION, PASSAGES) == pytest.approx(before)


def test_what_is_not_there_at_the_start_joins_when_it_comes(part):
    part.take_away()
    with pytest.raises((ToolDown, ModelMissing)):
        part.reranker.check()
    with pytest.raises((ToolDown, ModelMissing)):
        part.reranker.score(QUESTION, PASSAGES)
    part.bring_back()
    assert len(part.reranker.score(QUESTION, PASSAGES)) == len(PASSAGES)
    assert part.reranker.check()


def test_after_closing_the_next_use_opens_it_again(part):
    before = part.reranker.score(QUESTION, PASSAGES)
    part.reranker.close()
    assert part.reranker.score(QUESTION, PASSAGES) == pytest.approx(before)
