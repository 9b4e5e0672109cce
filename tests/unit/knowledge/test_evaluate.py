"""How a question set is read and scored."""

import json
from pathlib import Path

import pytest

from knowledge.evaluate import BadQuestionSet, evaluate, read_question_set, summarise
from knowledge.types import Decision, Evidence, ScoredChunk, Verdict
from tests.unit.knowledge.retrieval.corpus import chunk

ROWS = """id\ttype\tsource\tquestion\tanswer_doc\tlabel\tmust_contain
a\texact-term\trules\t연차휴가 일수\tleave.md|leave.pdf\t제12조\t15일
b\ttwo-hop article->appendix\trules\t숙박비\ttravel.md\t제5조->별표1\t별표 1|80,000
c\toff-topic\t\t날씨\t\t\t
d\tunanswerable-but-plausible\trules\t로밍비\t\t\t
"""


def found(*texts: str, uri: str = "leave.md", decision: Decision = "ok") -> Evidence:
    chunks = tuple(ScoredChunk(chunk=chunk(str(i), text, uri=uri)) for i, text in enumerate(texts))
    return Evidence(query="", route="docs", chunks=chunks, verdict=Verdict(decision=decision, reason=""), tools=())


def test_ranks_and_verdicts_are_counted_by_type(tmp_path: Path) -> None:
    path = tmp_path / "questions.tsv"
    path.write_text(ROWS, encoding="utf-8")
    answers = {
        "a": found("제1조", "연차는 15 일로 한다"),
        "b": found("별표 1의 여비", "숙박비 80,000원", uri="rules/travel.md"),
        "c": found(decision="none"),
        "d": found("휴대폰", decision="ok"),
    }
    outcomes = evaluate(read_question_set(path), lambda question: answers[question.id])
    assert [outcome.rank for outcome in outcomes] == [2, 2, None, None]
    scores = summarise(outcomes)
    assert scores["answerable"].hits == {1: 0.0, 3: 1.0, 5: 1.0, 8: 1.0}
    assert scores["off-topic"].refused == 1.0
    assert scores["unanswerable"].judged_ok == 1.0
    assert scores["exact-term"].to_json()["mrr"] == 0.5


def test_the_right_words_in_another_document_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "questions.tsv"
    path.write_text(ROWS, encoding="utf-8")
    question = read_question_set(path)[0]
    assert evaluate([question], lambda _: found("연차는 15일", uri="other.md"))[0].rank is None


def test_code_is_scored_by_file_and_definition(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    gold = {"file": "src/pay.py", "name": "retry", "start": 10, "end": 20}
    query = {
        "id": "q",
        "repo": "shop",
        "kind": "howto",
        "query": "retry",
        "gold_files": ["src/pay.py"],
        "gold_symbols": [gold],
    }
    path.write_text(json.dumps(query) + "\n", encoding="utf-8")
    hits = (
        ScoredChunk(chunk=chunk("x", "x", uri="src/cart.py", symbol="total", lines=(1, 5))),
        ScoredChunk(chunk=chunk("y", "y", uri="src/pay.py", symbol="pay", lines=(1, 9))),
        ScoredChunk(chunk=chunk("z", "z", uri="src/pay.py", symbol="retry", lines=(10, 21))),
    )
    evidence = Evidence(query="", route="code", chunks=hits, verdict=Verdict(decision="ok", reason=""), tools=())
    (outcome,) = evaluate(read_question_set(path), lambda _: evidence)
    assert (outcome.rank, outcome.symbol_rank) == (2, 3)
    assert summarise([outcome])["answerable"].symbol_mrr == pytest.approx(1 / 3)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "q"}\n', encoding="utf-8")
    with pytest.raises(BadQuestionSet, match=r"queries\.jsonl:1"):
        read_question_set(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id\ttype\tquestion\na\texact\t연차?\n", "must name the columns answer_doc, id, question, type"),
        ("id\ttype\tquestion\tanswer_doc\tdocument\na\texact\t연차?\ta.md\tb\n", 'unknown column "document"'),
        ("id\ttype\tquestion\tanswer_doc\na\texact\t연차?\t\n", ":2: an answerable question needs an answer_doc"),
    ],
)
def test_a_set_that_could_only_score_zero_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "questions.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadQuestionSet, match=told):
        read_question_set(path)
