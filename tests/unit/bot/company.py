"""A small company: two regulations and a piece of code, really indexed, with vectors in memory."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from bot.answering import Answering
from bot.finding import KnowledgeSearch
from bot.model_chain import ModelPool
from bot.persona import load_persona
from bot.ports import ChatModel
from bot.sources import SourceLinks
from knowledge.analysis import analyze, analyze_query
from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.embed.hashed import HashEmbedder
from knowledge.ports import VectorIndex
from knowledge.types import SourceConfig
from tests.fakes.vector_index import MemoryVectorIndex
from tests.unit.bot.times import Clock

PERSONA = Path(__file__).resolve().parents[3] / "persona.md"

LEAVE = """# 휴가규정

## 제1조(목적)
이 규정은 직원의 휴가를 정하는 것을 목적으로 한다.

## 제2조(연차휴가)
① 1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다.
② 3년 이상 근속한 직원에게는 2년마다 1일을 더한다.

## 제3조(병가)
병가는 연 30일까지 쓸 수 있으며 진단서를 내야 한다.
"""

TRAVEL = """# 여비규정

## 제1조(지급)
국내 출장의 숙박비는 별표 1에 따라 지급한다.

## [별표 1] 숙박비 상한

| 직급 | 서울 | 광역시 |
| --- | --- | --- |
| 임원 | 150,000원 | 120,000원 |
| 팀장 | 110,000원 | 90,000원 |
| 팀원 | 90,000원 | 70,000원 |
"""

CODE = '''"""Payments."""


class PaymentRetry:
    """Retries declined card payments."""

    def retry_declined(self, payment, max_attempts=3):
        """Try a declined payment again, at most max_attempts times."""
        for attempt in range(max_attempts):
            if payment.charge():
                return attempt + 1
        raise PaymentDeclined(payment.id)
'''


def write_company(folder: Path) -> None:
    """Folders `rules` and `shop` below `folder`; the second is a repository with one commit."""
    rules, shop = folder / "rules", folder / "shop"
    rules.mkdir(parents=True)
    (rules / "휴가규정.md").write_text(LEAVE, encoding="utf-8")
    (rules / "여비규정.md").write_text(TRAVEL, encoding="utf-8")
    shop.mkdir()
    (shop / "payments.py").write_text(CODE, encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "shop"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(["git", *identity, *command], cwd=shop, check=True)


def company_sources(folder: Path) -> tuple[SourceConfig, ...]:
    return (
        SourceConfig(name="rules", kind="documents", path=folder / "rules", title="사규"),
        SourceConfig(name="shop", kind="repository", path=folder / "shop", title="Shop"),
    )


@contextmanager
def open_company(folder: Path, *, clock: Clock, vectors: Callable[[], VectorIndex] | None = None):
    """The knowledge of the company in `folder`; not synced yet."""
    (folder / "data").mkdir(exist_ok=True)
    config = KnowledgeConfig(
        data_dir=folder / "data",
        sources=company_sources(folder),
        embedders={"docs": ("hash",), "code": ("hash",)},
        workers=1,
    )
    index = MemoryVectorIndex()
    adapters = Adapters(embedder=lambda name: HashEmbedder(), vectors=vectors or (lambda: index))
    knowledge = Knowledge.open(config, clock=clock, adapters=adapters)
    try:
        yield knowledge
    finally:
        knowledge.close()


def build_answering(
    knowledge: KnowledgeSearch,
    folder: Path,
    *,
    clock: Clock,
    model: ChatModel | None = None,
    small: ChatModel | None = None,
    models: ModelPool | None = None,
) -> Answering:
    if models is None:
        models = ModelPool.of(model, small=small) if model is not None else ModelPool()
    return Answering(
        knowledge=knowledge,
        persona=load_persona(PERSONA),
        models=models,
        link=SourceLinks.of(company_sources(folder), permalinks={}, page_url="http://127.0.0.1:8765"),
        analyze=analyze,
        analyze_query=analyze_query,
        clock=clock,
        top_k=8,
    )
