"""Each part taken away while questions come, or absent at the start: what the reader is told, and that answers return.

Nothing is restarted in these tests: the same objects answer before, during and after.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from bot.answering import Answering
from bot.llm.ollama import OllamaChat, OllamaOptions
from bot.model_chain import ModelChain, ModelPool
from bot.types import Answer
from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.embed.hashed import HashEmbedder
from knowledge.errors import ToolDown
from knowledge.types import Scope
from tests.emulators.ollama import LanguageModel, OllamaEmulator, Script, unused_url
from tests.fakes.reranker import WordReranker
from tests.fakes.vector_index import MemoryVectorIndex
from tests.unit.bot.company import build_answering, company_sources, write_company
from tests.unit.bot.times import Clock

QUESTION = "연차휴가는 며칠인가요?"
EVERYTHING = Scope.everything()


@dataclass
class Switch:
    """Whether a part is there."""

    on: bool = True

    def check(self, what: str) -> None:
        if not self.on:
            raise ToolDown(f"{what} does not answer: start it")


class SwitchedEmbedder(HashEmbedder):
    """The hash embedder, as long as its switch is on."""

    def __init__(self, switch: Switch) -> None:
        super().__init__()
        self.switch = switch

    def embed_passages(self, texts):
        self.switch.check("The embedder")
        return super().embed_passages(texts)


class SwitchedVectors(MemoryVectorIndex):
    """Vectors in memory, as long as the switch is on."""

    def __init__(self, switch: Switch) -> None:
        super().__init__()
        self.switch = switch

    def search(self, collection, vector, limit):
        self.switch.check("Chroma")
        return super().search(collection, vector, limit)

    def upsert(self, collection, ids, vectors):
        self.switch.check("Chroma")
        super().upsert(collection, ids, vectors)


@dataclass
class House:
    """A company whose parts can be taken away one by one."""

    folder: Path
    embedder: Switch = field(default_factory=Switch)
    chroma: Switch = field(default_factory=Switch)
    reranker: Switch | None = None
    clock: Clock = field(default_factory=Clock)

    @contextmanager
    def opened(self) -> Iterator[Knowledge]:
        (self.folder / "data").mkdir(exist_ok=True)
        config = KnowledgeConfig(
            data_dir=self.folder / "data",
            sources=company_sources(self.folder),
            embedders={"docs": ("hash",), "code": ("hash",)},
            workers=1,
        )
        index = SwitchedVectors(self.chroma)
        adapters = Adapters(
            embedder=lambda name: SwitchedEmbedder(self.embedder),
            vectors=lambda: index,
            reranker=None if self.reranker is None else WordReranker(partial(self.reranker.check, "The reranker")),
        )
        with closing(Knowledge.open(config, clock=self.clock, adapters=adapters)) as knowledge:
            yield knowledge


@pytest.fixture
def house(tmp_path: Path) -> House:
    write_company(tmp_path)
    return House(tmp_path)


async def asked(answering: Answering, question: str = QUESTION) -> Answer:
    return (await answering.answer(question, scope=EVERYTHING)).answer


def is_answered(answer: Answer) -> bool:
    return answer.refusal is None and "15일" in answer.text and bool(answer.citations)


# --- the model server -----------------------------------------------------------------------------


def ollama_at(url: str) -> ModelPool:
    async def no_pause(seconds: float) -> None:
        """The time between two tries is not waited for."""

    options = OllamaOptions(first_token_timeout_s=5.0)
    model = OllamaChat("qwen3:8b", url=url, clock=lambda: datetime.now(UTC), options=options)
    chain = ModelChain([model], num_ctx=8192, pause=no_pause)
    return ModelPool(chains={"docs": chain, "code": chain})


async def test_ollama_absent_at_the_start_then_there_then_taken_away(house):
    url = unused_url()
    port = int(url.rpartition(":")[2])
    pool = ollama_at(url)
    says = Script(pieces=("연차휴가는 15일입니다 [1].",))
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock, models=pool)
        absent = await asked(answering)
        with OllamaEmulator(models=[LanguageModel(name="qwen3:8b")], port=port) as server:
            server.scripts.extend([says])
            there = await asked(answering)
        await pool.close()  # the connections that the server left open are gone with it
        gone = await asked(answering)
        with OllamaEmulator(models=[LanguageModel(name="qwen3:8b")], port=port) as server:
            server.scripts.extend([says])
            back = await asked(answering)
        await pool.close()
        with OllamaEmulator(models=[LanguageModel(name="other")], port=port):
            vanished = await asked(answering)
            statuses = await pool.check()
        await pool.close()
    for answer in (absent, gone):
        assert is_answered(answer)  # quoted from the evidence
        assert answer.model is None
        assert answer.text.startswith("언어 모델이 답하지 않아 근거를 그대로 보여 드립니다")
        assert "연결되지 않" in answer.text
        assert "qwen3:8b: " in answer.text  # which
        assert "03-02 09:00 UTC부터" in answer.text  # since when
    for answer in (there, back):
        assert (answer.text, answer.model) == ("연차휴가는 15일입니다 [1].", "qwen3:8b")
    assert "모델 서버에 더는 없음" in vanished.text
    assert [(s.name, s.state) for s in statuses] == [("model:qwen3:8b", "down")]
    assert "ollama pull qwen3:8b" in statuses[0].detail


# --- parts of the search --------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["embedder", "chroma"])
async def test_search_by_meaning_taken_away_is_told_and_comes_back(house, part):
    switch: Switch = getattr(house, part)
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        before = await asked(answering)
        switch.on = False
        during = await asked(answering, "연차휴가는 며칠 주나요?")
        nothing = await asked(answering, "화성 탐사선 발사 일정은?")
        switch.on = True
        after = await asked(answering, "연차휴가를 며칠 줍니까?")
    assert is_answered(before)
    assert is_answered(after)
    told = "\n".join(during.degraded)
    assert "일부 검색을 쓰지 못했습니다" in told
    assert "의미 검색 hash" in told
    assert "UTC부터" in told
    assert "does not answer" in told
    assert told.count("의미 검색 hash") == 1  # said once
    assert nothing.refusal is not None
    assert nothing.refusal.reason == "tool_down"  # it could not look everywhere: that is not "nothing found"
    for answer in (before, after):
        assert not any("쓰지 못했습니다" in line for line in answer.degraded)


@pytest.mark.parametrize("part", ["embedder", "chroma"])
async def test_search_by_meaning_absent_at_the_start_joins_by_itself(house, part):
    switch: Switch = getattr(house, part)
    switch.on = False
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        during = await asked(answering)
        lacking = await asked(answering, "화성 탐사선 발사 일정은?")
        switch.on = True
        knowledge.sync()  # the next run on schedule
        after = await asked(answering)
        nothing = await asked(answering, "화성 탐사선 발사 일정은?")
    assert "15일" in during.text or during.refusal is not None
    assert any("의미 검색" in line for line in during.degraded)
    assert lacking.refusal is not None
    assert lacking.refusal.reason == "tool_down"  # nothing could be found by its meaning yet
    assert "의미 검색 hash(" in lacking.text
    assert "03-02 09:00 UTC부터" in lacking.text
    assert nothing.refusal is not None
    assert nothing.refusal.reason == "no_evidence"
    assert is_answered(after)
    assert not any("의미 검색" in line for line in after.degraded)


@pytest.mark.parametrize("at_start", [True, False])
async def test_the_reranker_taken_away_is_told_with_since_when_and_answers_go_on(house, at_start):
    house.reranker = Switch(on=not at_start)
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        before = None if at_start else await asked(answering)
        house.reranker.on = False
        during = await asked(answering)
        house.clock.advance(3600)
        later = await asked(answering)
        nothing = await asked(answering, "화성 탐사선 발사 일정은?")
        english = (await answering.answer(QUESTION, scope=EVERYTHING, language="en")).answer
        states = [tool for tool in knowledge.check() if tool.name == "reranker"]
        house.reranker.on = True
        after = await asked(answering)
    for answer in (during, later):
        assert is_answered(answer)
        (line,) = [line for line in answer.degraded if "순위 모델" in line]
        assert "결과 순서가 평소보다 거칠 수 있습니다(" in line
        assert line.count("순위 모델") == 1  # one sentence, with its reason behind it
        assert line.endswith("UTC부터).")
        assert "03-02 09:00 UTC부터" in line  # an hour later too
        assert "does not answer" in line
    assert any("since 03-02 09:00 UTC" in line for line in english.degraded)
    assert nothing.refusal is not None
    assert nothing.refusal.reason == "no_evidence"  # it was looked up all the same
    assert [state.state for state in states] == ["down"]
    for answer in (before, after):
        if answer is not None:
            assert is_answered(answer)
            assert not any("순위 모델" in line for line in answer.degraded)


async def test_questions_are_answered_while_another_process_writes_the_catalog(house):
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        with closing(sqlite3.connect(house.folder / "data" / "catalog.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            during = await asked(answering)
            other.execute("ROLLBACK")
    assert is_answered(during)


class Locked:
    """Knowledge whose catalog is locked for as long as the switch is off: what it raises then is its own error."""

    def __init__(self, inner: Knowledge, switch: Switch) -> None:
        self.inner, self.switch = inner, switch

    def search(self, query, *, scope, top_k, kind):
        self.switch.check("The catalog")
        return self.inner.search(query, scope=scope, top_k=top_k, kind=kind)

    def status(self, *, scope):
        self.switch.check("The catalog")
        return self.inner.status(scope=scope)


async def test_a_catalog_that_cannot_be_read_is_told_with_since_when_and_comes_back(house):
    switch = Switch(on=False)
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(Locked(knowledge, switch), house.folder, clock=house.clock)
        first = await asked(answering)
        house.clock.advance(3600)
        later = await asked(answering)
        hello = await asked(answering, "안녕하세요")
        switch.on = True
        after = await asked(answering)
    for answer in (first, later, hello):
        assert answer.refusal is not None
        assert answer.refusal.reason == "tool_down"
        assert "03-02 09:00" in answer.text  # since when, an hour later too
        assert "근거가 없다는 뜻은 아닙니다" in answer.text
    assert is_answered(after)


async def test_a_source_that_is_not_there_is_named_and_joins_when_it_appears(house):
    hidden = house.folder / "away"
    (house.folder / "rules").rename(hidden)
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        during = await asked(answering)
        code = await asked(answering, "Where is retry_declined for a declined card payment?")
        english = await asked(answering, "Who won the world cup in 1998?")
        of_code = await asked(answering, "code: who won the world cup?")
        hidden.rename(house.folder / "rules")
        knowledge.sync()
        after = await asked(answering)
        (house.folder / "rules").rename(hidden)
        knowledge.sync()
        again = await asked(answering)
        hidden.rename(house.folder / "rules")
    assert during.refusal is not None
    assert during.refusal.reason == "tool_down"  # it could not look there
    assert "찾아볼 수 있는 자료(Shop)에서는 이 질문에 답할 근거를 찾지 못했습니다" in during.text
    assert "찾아볼 수 없었고, 그 안에 근거가 있을 수도 있습니다: 자료 사규(" in during.text
    assert "03-02 09:00 UTC부터" in during.text
    assert any(line.startswith("사규:") for line in during.degraded)
    assert "I found nothing that answers this question in what could be searched (Shop)." in english.text
    assert "could not be searched, and there may be an answer in it: the source 사규 (" in english.text
    assert of_code.refusal.reason == "no_evidence"  # documents were not asked for
    assert code.refusal is None  # the other source answers meanwhile
    assert any(line.startswith("사규:") for line in code.degraded)
    assert is_answered(after)
    assert not any("실패" in line for line in after.degraded)
    assert is_answered(again)  # what was known stays, and that it is stale is said
    assert any(line.startswith("사규: 마지막 색인에 실패") for line in again.degraded)
    assert any("03-02 09:00 UTC에 읽은 내용으로 답합니다" in line for line in again.degraded)


async def test_a_repository_that_is_no_repository_yet_joins_when_it_has_a_commit(house):
    git = house.folder / "shop" / ".git"
    git.rename(house.folder / "git-away")
    with house.opened() as knowledge:
        knowledge.sync()
        answering = build_answering(knowledge, house.folder, clock=house.clock)
        during = await asked(answering, "code: retry_declined")
        (house.folder / "git-away").rename(git)
        knowledge.sync()
        after = await asked(answering, "code: retry_declined")
    assert during.refusal is not None
    assert after.refusal is None


@pytest.mark.parametrize("question", ["연차휴가는 며칠인가요?", "How many days of annual leave?"])
async def test_nothing_is_answered_from_memory_when_all_of_the_search_is_gone(house, question):
    model_says: Callable[[], Script] = lambda: Script(pieces=("연차휴가는 15일입니다 [1].",))  # noqa: E731
    with ExitStack() as stack:
        server = stack.enter_context(OllamaEmulator(models=[LanguageModel(name="qwen3:8b")]))
        server.scripts.append(model_says())
        knowledge = stack.enter_context(house.opened())
        pool = ollama_at(server.url)
        answering = build_answering(Locked(knowledge, Switch(on=False)), house.folder, clock=house.clock, models=pool)
        answer = await asked(answering, question)
        await pool.close()
    assert answer.refusal is not None
    assert answer.refusal.reason == "tool_down"
    assert server.requests("/api/chat") == []
