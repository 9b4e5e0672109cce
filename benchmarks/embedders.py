"""Quality and time of embedders, alone and fused, on labelled questions; one JSON line a figure.

usage: python benchmarks/embedders.py EVALUATION [--repos DIR] [--source NAME ...] [--spaces use e5,use] [--cache FILE]

EVALUATION holds questions.tsv, docs/SOURCE/ and code_queries.jsonl; DIR one checkout for each repository of them.
The vectors are kept in FILE, so that a second run measures quality alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.embed.registry import build_embedder
from knowledge.evaluate import EvaluationQuestion, evaluate, read_question_set, summarise
from knowledge.types import EvidenceKind, Scope, SourceConfig

TIMED_QUERIES = 40


def main() -> None:
    """Prints the figures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--source", nargs="*", default=["kogas", "moel", "fossforall"])
    parser.add_argument("--spaces", nargs="*", default=["use", "e5", "e5,use"])
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    sources = [_source(name, arguments.evaluation, arguments.repos) for name in arguments.source]
    questions = _questions(arguments.evaluation, {source.name for source in sources})
    for name in dict.fromkeys(name for spaces in arguments.spaces for name in spaces.split(",")):
        _time_queries(name, questions)
    for spaces in arguments.spaces:
        with tempfile.TemporaryDirectory() as folder:
            _measure(tuple(spaces.split(",")), sources, questions, Path(folder), arguments.cache)


def _source(name: str, evaluation: Path, repos: Path | None) -> SourceConfig:
    folder = evaluation / "docs" / name
    if folder.is_dir():
        return SourceConfig(name=name, kind="documents", path=folder)
    if repos is None or not (repos / name).is_dir():
        raise SystemExit(f"{name}: neither {folder} nor a checkout in --repos")
    return SourceConfig(name=name, kind="repository", path=repos / name)


def _questions(evaluation: Path, sources: set[str]) -> list[EvaluationQuestion]:
    asked = [*read_question_set(evaluation / "questions.tsv"), *read_question_set(evaluation / "code_queries.jsonl")]
    return [question for question in asked if question.source in sources]


def _time_queries(name: str, questions: Sequence[EvaluationQuestion]) -> None:
    embedder = build_embedder(name)
    embedder.embed_queries(["warm up"])
    asked = [question.question for question in questions][:TIMED_QUERIES]
    started = time.process_time()
    for question in asked:
        embedder.embed_queries([question])
    _print(embedder=name, figure="query_cpu_ms", value=(time.process_time() - started) * 1000 / max(1, len(asked)))


def _measure(
    spaces: tuple[str, ...],
    sources: Sequence[SourceConfig],
    questions: Sequence[EvaluationQuestion],
    folder: Path,
    cache: Path | None,
) -> None:
    config = KnowledgeConfig(
        data_dir=folder, sources=tuple(sources), embedders={"docs": spaces, "code": spaces}, vector_cache=cache
    )
    knowledge = Knowledge.open(config)
    try:
        for report in knowledge.sync():
            _print(
                embedder=",".join(spaces),
                source=report.source,
                figure="ingest_s",
                value=report.duration_s,
                chunks=report.chunks,
                embedded=report.embedded,
            )
        for kind in ("docs", "code"):
            _score(knowledge, spaces, kind, [question for question in questions if question.kind == kind])
    finally:
        knowledge.close()


def _score(
    knowledge: Knowledge, spaces: tuple[str, ...], kind: EvidenceKind, questions: Sequence[EvaluationQuestion]
) -> None:
    outcomes = evaluate(
        questions,
        lambda question: knowledge.search(
            question.question, scope=Scope.of(question.source or ""), top_k=50, kind=kind
        ),
    )
    for group, score in summarise(outcomes).items():
        _print(embedder=",".join(spaces), kind=kind, group=group, **score.to_json())


def _print(**figures: object) -> None:
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()}, ensure_ascii=False))


if __name__ == "__main__":
    main()
