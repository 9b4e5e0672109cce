"""Generated chunks, vectors, documents and questions, in the product's own format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from knowledge.analysis import analyze
from knowledge.catalog import Catalog
from knowledge.catalog_generations import RecordedSpace, begin_generation
from knowledge.catalog_rows import PreparedDocument, with_ids
from knowledge.catalog_writes import put_document
from knowledge.embed.registry import build_embedder
from knowledge.index.collections import collection_name
from knowledge.index.vectors_chroma import ChromaIndex
from knowledge.ingest_prepare import content_fingerprint
from knowledge.ports import Vectors
from knowledge.types import ChunkDraft, VectorSpace

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GENERATED = "generated"  # stands for an embedder that knows nothing and costs nothing
GENERATED_DIM = 512
CHUNKS_A_DOCUMENT = 25
DOCUMENTS_A_TRANSACTION = 40
WORDS_A_CHUNK = 120
RARE_WORDS = 120_000

# from everyday to seldom: a word's place decides how many chunks hold it
NOUNS = [
    "규정",
    "직원",
    "회사",
    "경우",
    "기준",
    "지급",
    "업무",
    "신청",
    "승인",
    "부서",
    "기간",
    "휴가",
    "급여",
    "여비",
    "수당",
    "출장",
    "교육",
    "평가",
    "계약",
    "보고",
    "위원회",
    "징계",
    "채용",
    "퇴직",
    "연차",
    "보험",
    "복지",
    "안전",
    "보안",
    "시설",
    "장비",
    "차량",
    "회의",
    "문서",
    "결재",
    "예산",
    "구매",
    "재고",
    "정산",
    "회계",
    "감사",
    "출근",
    "야근",
    "재택근무",
    "경조사",
    "상여금",
    "성과급",
    "승진",
    "전보",
    "파견",
    "휴직",
    "육아",
    "출산",
    "병가",
    "공가",
    "숙박비",
    "일비",
    "식비",
    "교통비",
    "마일리지",
    "법인카드",
    "영수증",
    "세금계산서",
    "기숙사",
    "통근버스",
    "주차",
    "사원증",
    "노트북",
    "비밀번호",
    "백업",
    "방화벽",
    "특허",
    "발명",
]
QUESTIONS = (
    "{}은 며칠까지 쓸 수 있나요?",
    "{} {} 기준이 어떻게 되나요?",
    "{}과 {}은 누가 승인하나요?",
    "회사 직원이 {} 신청을 하려면 어떤 문서가 필요한가요?",
    "{} 한도는 얼마인가요?",
    "{}에 대한 {} 규정을 알려 주세요",
)


class GeneratedEmbedder:
    """A random unit vector for each text, the same every time."""

    def __init__(self, name: str) -> None:
        self.space = VectorSpace(name=name, digest=GENERATED, dim=GENERATED_DIM, prefix_scheme="")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(GENERATED_DIM) for seed in seeds]
        return _unit(np.array(rows, dtype=np.float32).reshape(len(texts), GENERATED_DIM))


def build_catalog(folder: Path, *, chunks: int, embedder: str) -> None:
    """Fills `folder`/data with one source "rules" of that many chunks, all their vectors confirmed."""
    random = np.random.default_rng(1)
    space = GeneratedEmbedder(GENERATED).space if embedder == GENERATED else build_embedder(embedder).space
    catalog = Catalog.open(folder / "data" / "catalog.sqlite3")
    vectors = ChromaIndex.embedded(folder / "data" / "chroma")
    collection = collection_name(catalog.installation, "rules", space.key)
    with catalog.transaction() as connection:
        generation = begin_generation(
            connection,
            source="rules",
            kind="documents",
            fingerprint=content_fingerprint("documents"),
            spaces=[RecordedSpace(embedder=embedder, space=space)],
            now=NOW,
        )
    for batch in _batches(random, chunks // CHUNKS_A_DOCUMENT):
        ids = [draft.id for document in batch for draft in document.drafts]
        vectors.upsert(collection, ids, _unit(random.standard_normal((len(ids), space.dim)).astype(np.float32)))
        with catalog.transaction() as connection:
            for document in batch:
                put_document(connection, generation, document, now=NOW)
            connection.execute("DELETE FROM pending")
    vectors.close()
    catalog.close()


def incoming_documents(folder: Path, count: int) -> None:
    """Writes Markdown documents that a sync has to read, cut and embed."""
    random = np.random.default_rng(2)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        sections = [f"# 새 규정 {number}\n"]
        for article in range(1, 7):
            words = " ".join(f"{random.choice(NOUNS)}의 {random.choice(NOUNS)}을 정한다." for _ in range(20))
            sections.append(f"## 제{article}조({random.choice(NOUNS)})\n{words}\n")
        (folder / f"new-{number}.md").write_text("\n".join(sections), encoding="utf-8")


def questions(count: int) -> list[str]:
    """Different questions from everyday and seldom words."""
    random = np.random.default_rng(3)
    return [
        f"{random.choice(QUESTIONS).format(*random.choice(NOUNS, size=2, replace=False))} ({number}번)"
        for number in range(count)
    ]


def _batches(random: np.random.Generator, documents: int) -> Iterator[list[PreparedDocument]]:
    vocabulary = _Vocabulary()
    for start in range(0, documents, DOCUMENTS_A_TRANSACTION):
        numbers = range(start, min(start + DOCUMENTS_A_TRANSACTION, documents))
        yield [_document(random, vocabulary, number) for number in numbers]


class _Vocabulary:
    """Words with their index tokens, drawn by Zipf's law; the nouns of the questions spread over the first ranks."""

    def __init__(self) -> None:
        nouns = [(noun, tuple(analyze(noun))) for noun in NOUNS]
        rare = [(word := f"낱말{number}", (word,)) for number in range(RARE_WORDS)]
        self.words = [*nouns[:20], *rare[:40], *nouns[20:40], *rare[40:400], *nouns[40:], *rare[400:]]
        weights = 1.0 / np.arange(3, len(self.words) + 3)
        self.cumulative = np.cumsum(weights / weights.sum())

    def draw(self, random: np.random.Generator, count: int) -> list[tuple[str, tuple[str, ...]]]:
        places = np.searchsorted(self.cumulative, random.random(count), side="right")
        return [self.words[min(int(place), len(self.words) - 1)] for place in places]


def _document(random: np.random.Generator, vocabulary: _Vocabulary, number: int) -> PreparedDocument:
    drafts, tokens = [], []
    for article in range(1, CHUNKS_A_DOCUMENT + 1):
        drawn = vocabulary.draw(random, WORDS_A_CHUNK)
        label = f"규정 {number} 제{article}조"
        text = f"제{article}조 " + " ".join(word for word, _ in drawn)
        drafts.append(
            ChunkDraft(
                kind="article",
                text=text,
                index_text=f"{label}\n{text}",
                group=label,
                label=label,
                anchors=(f"제{article}조",),
            )
        )
        tokens.append([f"제{article}조", *(token for _, of_word in drawn for token in of_word)])
    uri = f"regulations/{number // 100}/{number}.md"
    return PreparedDocument(
        source="rules",
        uri=uri,
        content_hash=hashlib.sha256(uri.encode()).hexdigest(),
        revision="1",
        title=f"규정 {number}",
        media_type="text/markdown",
        status="indexed",
        drafts=tuple(with_ids("rules", uri, drafts, tokens)),
    )


def _unit(vectors: Vectors) -> Vectors:
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return (vectors / norms).astype(np.float32)
