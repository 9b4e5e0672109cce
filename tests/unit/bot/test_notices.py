"""What is said beside an answer is said in the reader's language, and names what is missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.errors import ModelNotInstalled, ModelReplyCut, ModelTimeout, ModelUnavailable
from bot.notices import degraded_line, degraded_lines, model_problem, unsearched
from bot.sources import without_addresses
from knowledge.types import Scope, SourceStatus
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.company import build_answering


@pytest.mark.parametrize(
    ("sentence", "korean"),
    [
        ("vectors pending for 12 of 340 chunks of rules", "rules: 340개 조각 중 12개는 아직"),
        ("embedder e5 could not be used, its results are missing: connection refused", "의미 검색 e5을 쓸 수 없어"),
        ("reranker could not be used: no model", "순위 모델을 쓸 수 없어"),
        (
            "the question asks for 2015년에는: the earliest wording of 여비규정 that is known holds since 2023-10-20",
            "2015년의 여비규정 내용은 색인에 없습니다. 아는 것 가운데 가장 이른 내용은 2023-10-20부터",
        ),
        (
            "the question asks before its last revision: the earliest wording of 여비규정 that is known holds since 2023-10-20",
            "마지막 개정 전의 여비규정 내용은",
        ),
        ("여비규정 is not in force before 2030-01-01", "2030-01-01부터 시행됩니다"),
    ],
)
def test_sentences_of_the_search_are_korean_for_korean_readers(sentence, korean):
    assert korean in degraded_line(sentence, "ko")
    assert degraded_line(sentence, "en")


def status(source, title, *, documents, synced):
    return SourceStatus(
        source=source, title=title, kind="documents", documents=documents, chunks=documents, pending={}, failed=(),
        skipped={}, last_sync=datetime(2026, 11, 30, tzinfo=UTC) if synced else None, revision=None, embedders=("use",),
        calibrated=True,
    )  # fmt: skip


def test_sources_are_called_by_their_titles_and_one_that_is_not_indexed_whole_is_named_once():
    lines = degraded_lines(
        [f"vectors pending for 12 of 340 chunks of {name}" for name in ("rules", "wiki", "gone")],
        [
            status("rules", "사규", documents=9, synced=True),
            status("wiki", "위키", documents=3, synced=False),
            status("shop", "Shop", documents=0, synced=False),
        ],
        "ko",
    )
    assert lines == [
        "사규: 340개 조각 중 12개는 아직 의미 검색에 들어가지 않았습니다.",
        "gone: 340개 조각 중 12개는 아직 의미 검색에 들어가지 않았습니다.",
        "위키: 아직 다 색인되지 않았습니다. 지금까지 3개 문서만 찾아볼 수 있습니다.",
        "Shop: 아직 색인되지 않았습니다. 색인이 돌고 있지 않으면 관리자가 `haechi ingest`를 실행해야 합니다.",
    ]


def test_what_was_never_read_and_what_has_no_vectors_at_all_could_not_be_searched():
    now = datetime(2026, 11, 30, 9, tzinfo=UTC)
    found = unsearched(
        [
            replace(status("rules", "사규", documents=9, synced=True), pending={"ollama:bge-m3": 9, "use": 2}),
            replace(status("wiki", "위키", documents=0, synced=False), problem="The folder is not there."),
            status("shop", "Shop", documents=5, synced=True),
        ],
        "ko",
        now=now,
    )
    assert [(tool.name, tool.detail) for tool in found if tool.state == "down"] == [
        ("source:위키", "The folder is not there"),
        ("vectors:ollama:bge-m3", "사규: 아직 들어간 것이 없음"),
    ]
    assert {tool.name for tool in found if tool.state == "ok"} == {"source:사규", "source:Shop", "vectors:use"}


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModelNotInstalled("x http://10.0.0.1"), "서버에 더는 없음"),
        (ModelTimeout("x http://10.0.0.1"), "제한 시간"),
        (ModelReplyCut("x"), "길이 제한"),
        (ModelUnavailable("x http://10.0.0.1"), "연결되지 않"),
    ],
)
def test_readers_are_told_why_a_model_gave_nothing_but_no_addresses(error, says):
    assert says in model_problem(error, "ko")
    assert "10.0.0.1" not in model_problem(error, "ko") + model_problem(error, "en")


class LackingKnowledge:
    """Real knowledge whose gate found a telling word of the question nowhere."""

    def __init__(self, inner, missing):
        self.inner, self.missing = inner, missing

    def search(self, query, *, scope, top_k, kind):
        evidence = self.inner.search(query, scope=scope, top_k=top_k, kind=kind)
        return replace(evidence, verdict=replace(evidence.verdict, decision="ok", missing=self.missing))

    def status(self, *, scope):
        return self.inner.status(scope=scope)


async def test_a_word_that_no_evidence_holds_is_named_in_quotes_and_beside_answers(company):
    knowledge = LackingKnowledge(company.knowledge, ("반려견",))
    quoting = build_answering(knowledge, company.folder, clock=company.clock)
    answer = (await quoting.answer("반려견 연차휴가는 며칠인가요?", scope=Scope.everything())).answer
    assert "근거에 ‘반려견’에 대한 내용은 없습니다." in answer.text
    model = FakeChatModel.saying("연차휴가는 15일입니다 [1].")
    answering = build_answering(knowledge, company.folder, clock=company.clock, model=model)
    answered = (await answering.answer("연차휴가는 며칠인가요? 반려견", scope=Scope.everything())).answer
    assert any("‘반려견’" in line for line in answered.degraded)


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        ("Ollama at http://10.0.0.1:11434 cannot be reached: start it", "Ollama cannot be reached: start it"),
        ("The vector index at http://chroma:8000 failed: refused", "The vector index failed: refused"),
        ("The folder /srv/share/rules does not exist", "The folder rules does not exist"),
        ("/srv/data/catalog.sqlite3 is damaged", "catalog.sqlite3 is damaged"),
        ("and/or stays, 1/2 too", "and/or stays, 1/2 too"),
    ],
)
def test_readers_are_not_told_where_on_the_network_or_the_disk_things_stand(problem, told):
    assert without_addresses(problem) == told
