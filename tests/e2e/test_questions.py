"""The question set on the samples, asked of what `make run` serves, with floors that a change must not fall below.

`questions.tsv` names for each question the document, and the words that must stand in one piece of evidence. A question
with a source is asked within it, as people of one team would; the others are asked of everything at once.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.embed.registry import DEFAULT_EMBEDDERS
from knowledge.evaluate import EvaluationQuestion, Outcome, evaluate, read_question_set, summarise
from knowledge.types import Evidence, Scope, SourceConfig

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = read_question_set(Path(__file__).with_name("questions.tsv"))
TOP_K = 8


def committed(folder: Path) -> Path:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "shop"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Outcome]]:
    folder = tmp_path_factory.mktemp("questions")
    shop = committed(Path(shutil.copytree(ROOT / "samples" / "shop", folder / "shop")))
    sources = (
        SourceConfig(name="rules", kind="documents", path=ROOT / "samples" / "rules"),
        SourceConfig(name="shop", kind="repository", path=shop),
        SourceConfig(
            name="haechi",
            kind="repository",
            path=ROOT,
            exclude=("samples/", "tests/", "benchmarks/", "README*.md", "requirements*.lock"),
        ),
    )
    config = KnowledgeConfig(
        data_dir=folder / "data", sources=sources, embedders=DEFAULT_EMBEDDERS, ollama_url="http://127.0.0.1:9"
    )
    config.data_dir.mkdir()
    knowledge = Knowledge.open(config)
    reports = knowledge.sync()
    assert [(r.source, r.failed, r.pending) for r in reports] == [(s.name, (), 0) for s in sources]

    def ask(question: EvaluationQuestion) -> Evidence:
        scope = Scope.everything() if question.source is None else Scope.of(question.source)
        return knowledge.search(question.question, scope=scope, top_k=TOP_K, kind=None)

    yield evaluate(QUESTIONS, ask)
    knowledge.close()


def told(outcomes: list[Outcome]) -> str:
    """What a failing floor shows: every question that did not go as it should."""
    return "\n".join(
        f"{o.question.id} {o.question.type}: rank {o.rank}, {o.decision}: {o.question.question}"
        for o in outcomes
        if (o.question.is_answerable and (o.rank != 1 or o.decision != "ok"))
        or (not o.question.is_answerable and o.decision != "none")
    )


def test_the_set_is_large_enough_and_covers_every_kind_of_question() -> None:
    types = {question.type for question in QUESTIONS}
    assert len(QUESTIONS) >= 60
    assert types == {
        "exact-term",
        "paraphrase",
        "english",
        "numeric-in-appendix",
        "two-hop article->appendix",
        "unanswerable-but-plausible",
        "off-topic",
        "code-en",
        "code-ko",
    }


@pytest.mark.parametrize(
    ("group", "figure", "floor"),
    [
        ("answerable", "hit@1", 0.75),
        ("answerable", "hit@5", 0.95),
        ("answerable", "judged_ok", 0.65),
        ("exact-term", "hit@1", 0.90),
        ("exact-term", "hit@5", 1.00),
        ("paraphrase", "hit@5", 0.90),
        ("numeric-in-appendix", "hit@5", 0.90),
        ("two-hop article->appendix", "hit@5", 0.80),
        ("code-en", "hit@5", 0.85),
        ("code-ko", "hit@5", 0.85),
        ("off-topic", "refused", 1.00),
    ],
)
def test_figures_stay_above_their_floors(outcomes: list[Outcome], group: str, figure: str, floor: float) -> None:
    assert summarise(outcomes)[group].to_json()[figure] >= floor, told(outcomes)


@pytest.mark.parametrize(
    ("group", "figure", "ceiling"), [("answerable", "refused", 0.07), ("unanswerable", "judged_ok", 0.30)]
)
def test_figures_stay_below_their_ceilings(outcomes: list[Outcome], group: str, figure: str, ceiling: float) -> None:
    assert summarise(outcomes)[group].to_json()[figure] <= ceiling, told(outcomes)
