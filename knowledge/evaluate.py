"""Scores of a question set against search: what `haechi eval FILE` prints and what the project's own test holds up.

Documents: a TSV with the columns id, type, source, question, answer_doc, label, must_contain. The types "off-topic" and
"unanswerable..." have no answer; types that start with "two-hop" find theirs in several pieces of evidence together.
Code: JSON lines with id, repo, kind, query, gold_files and gold_symbols ({file, name, start, end}), or rows of the same
TSV whose type starts with "code" and whose answer_doc names the file.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from knowledge.errors import PermanentError
from knowledge.types import Evidence, EvidenceKind, ScoredChunk

RANKS = (1, 3, 5, 8)
COLUMNS = ("id", "type", "source", "question", "answer_doc", "label", "must_contain")
REQUIRED_COLUMNS = {"id", "type", "question", "answer_doc"}
Search = Callable[["EvaluationQuestion"], Evidence]


class BadQuestionSet(PermanentError):
    """A question set cannot be read; the message names the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationQuestion:
    """One question of a set, with what a right answer consists of."""

    id: str
    type: str
    question: str
    source: str | None = None
    documents: tuple[str, ...] = ()  # file names or ends of paths; any of them counts
    must_contain: tuple[str, ...] = ()
    symbols: tuple[tuple[str, int, int], ...] = ()  # file, first and last line of gold definitions

    @property
    def is_off_topic(self) -> bool:
        return self.type == "off-topic"

    @property
    def is_answerable(self) -> bool:
        return not self.is_off_topic and not self.type.startswith("unanswerable")

    @property
    def kind(self) -> EvidenceKind | None:
        """The kind of source that is asked; None for questions without an answer."""
        if not self.is_answerable:
            return None
        return "code" if self.type.startswith("code") else "docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What search made of one question. `rank` is where the answer is complete, from 1; None when it is not there."""

    question: EvaluationQuestion
    decision: str
    rank: int | None
    symbol_rank: int | None = None
    took_ms: float = 0.0


@dataclass(slots=True, kw_only=True)
class Score:
    """Figures of one group of questions, all shares 0..1."""

    n: int = 0
    hits: dict[int, float] = field(default_factory=dict)  # rank -> share of questions answered within it
    mrr: float = 0.0
    refused: float = 0.0  # verdict "none": false refusals of answerable questions, right for the others
    judged_ok: float = 0.0  # verdict "ok": false answers where there is no answer
    symbol_mrr: float | None = None

    def to_json(self) -> dict[str, float | int | None]:
        figures: dict[str, float | int | None] = {"n": self.n}
        figures |= {f"hit@{rank}": round(share, 4) for rank, share in self.hits.items()}
        figures |= {"mrr": round(self.mrr, 4), "refused": round(self.refused, 4), "judged_ok": round(self.judged_ok, 4)}
        if self.symbol_mrr is not None:
            figures["symbol_mrr"] = round(self.symbol_mrr, 4)
        return figures


def read_question_set(path: Path) -> list[EvaluationQuestion]:
    """The questions of a TSV or JSON lines file. Raises BadQuestionSet."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestionSet(f"{path}: cannot be read ({error})") from error
    if path.suffix in (".jsonl", ".json"):
        return [_from_json(path, number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or not REQUIRED_COLUMNS.issubset(rows[0]):
        raise BadQuestionSet(f"{path}: the first line must name the columns {', '.join(sorted(REQUIRED_COLUMNS))}")
    if unknown := [name for name in rows[0] if name not in COLUMNS]:
        raise BadQuestionSet(f'{path}: unknown column "{unknown[0]}"; the columns are {", ".join(COLUMNS)}')
    questions = [_from_row(row) for row in rows]
    for number, question in enumerate(questions, 2):
        if question.is_answerable and not question.documents:
            raise BadQuestionSet(
                f"{path}:{number}: an answerable question needs an answer_doc;"
                " the others have the type off-topic or unanswerable"
            )
    return questions


def _from_row(row: Mapping[str, str | None]) -> EvaluationQuestion:
    return EvaluationQuestion(
        id=row["id"] or "",
        type=row["type"] or "",
        question=row["question"] or "",
        source=row.get("source") or None,
        documents=_parts(row.get("answer_doc")),
        must_contain=_parts(row.get("must_contain")),
    )


def _from_json(path: Path, number: int, line: str) -> EvaluationQuestion:
    try:
        data = json.loads(line)
        return EvaluationQuestion(
            id=data["id"],
            type=f"code {data['kind']}",
            question=data["query"],
            source=data.get("repo"),
            documents=tuple(data["gold_files"]),
            symbols=tuple((gold["file"], gold["start"], gold["end"]) for gold in data.get("gold_symbols", ())),
        )
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise BadQuestionSet(f"{path}:{number}: not a query ({error})") from error


def _parts(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())


def evaluate(questions: Iterable[EvaluationQuestion], search: Search) -> list[Outcome]:
    """One outcome a question, in order. `search` asks within the question's source, or all of them."""
    return [judge_evidence(question, search(question)) for question in questions]


def judge_evidence(question: EvaluationQuestion, evidence: Evidence) -> Outcome:
    """Where the evidence answers the question, by the rules of the question's type."""
    rank = symbol_rank = None
    if question.is_answerable:
        rank = _file_rank(question, evidence.chunks) if question.symbols or not question.must_contain else None
        rank = _text_rank(question, evidence.chunks) if question.must_contain else rank
        symbol_rank = _symbol_rank(question, evidence.chunks) if question.symbols else None
    return Outcome(
        question=question,
        decision=evidence.verdict.decision,
        rank=rank,
        symbol_rank=symbol_rank,
        took_ms=evidence.took_ms.get("total", 0.0),
    )


def _text_rank(question: EvaluationQuestion, chunks: Sequence[ScoredChunk]) -> int | None:
    """Rank of the first text of a right document that holds every value; of the union of texts for two hops."""
    needed = [_squeeze(value) for value in question.must_contain]
    pool = ""
    for rank, scored in enumerate(chunks, 1):
        if question.documents and not _is_one_of(scored.chunk.locator.uri, question.documents):
            continue
        text = _squeeze((scored.chunk.locator.label or "") + scored.chunk.text)
        pool = pool + text if question.type.startswith("two-hop") else text
        if all(value in pool for value in needed):
            return rank
    return None


def _file_rank(question: EvaluationQuestion, chunks: Sequence[ScoredChunk]) -> int | None:
    """Rank of the first right file among the distinct files."""
    files = list(dict.fromkeys(scored.chunk.locator.uri for scored in chunks))
    return next((rank for rank, uri in enumerate(files, 1) if _is_one_of(uri, question.documents)), None)


def _symbol_rank(question: EvaluationQuestion, chunks: Sequence[ScoredChunk]) -> int | None:
    """Rank of the first gold definition among the distinct definitions; half of either must overlap."""
    seen: list[tuple[str, object]] = []
    for scored in chunks:
        locator = scored.chunk.locator
        key = (locator.uri, locator.symbol or (locator.start_line, locator.end_line))
        if key not in seen:
            seen.append(key)
            if any(_covers(scored, gold) for gold in question.symbols):
                return len(seen)
    return None


def _covers(scored: ScoredChunk, gold: tuple[str, int, int]) -> bool:
    locator = scored.chunk.locator
    file, start, end = gold
    if locator.uri != file or locator.start_line is None or locator.end_line is None:
        return False
    overlap = min(locator.end_line, end) - max(locator.start_line, start) + 1
    return overlap > 0 and overlap >= 0.5 * min(end - start + 1, locator.end_line - locator.start_line + 1)


def _is_one_of(uri: str, names: Sequence[str]) -> bool:
    uri = unicodedata.normalize("NFC", uri)
    return any(uri == name or uri.endswith("/" + name) for name in (unicodedata.normalize("NFC", n) for n in names))


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFC", text))


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    """Score by type, with "answerable", "unanswerable" and "off-topic" over all; empty groups are left out."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        question = outcome.question
        whole = "answerable" if question.is_answerable else "off-topic" if question.is_off_topic else "unanswerable"
        for name in dict.fromkeys((question.type, whole)):
            groups.setdefault(name, []).append(outcome)
    return {name: _score(group) for name, group in groups.items()}


def _score(outcomes: Sequence[Outcome]) -> Score:
    n = len(outcomes)
    with_symbols = [outcome for outcome in outcomes if outcome.question.symbols]
    return Score(
        n=n,
        hits={rank: sum(o.rank is not None and o.rank <= rank for o in outcomes) / n for rank in RANKS},
        mrr=sum(1.0 / o.rank for o in outcomes if o.rank) / n,
        refused=sum(o.decision == "none" for o in outcomes) / n,
        judged_ok=sum(o.decision == "ok" for o in outcomes) / n,
        symbol_mrr=sum(1.0 / o.symbol_rank for o in with_symbols if o.symbol_rank) / len(with_symbols)
        if with_symbols
        else None,
    )
