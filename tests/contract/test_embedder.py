"""What every Embedder does, whatever its engine: bundled ones, the hashed one, and Ollama's against an emulated server."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from knowledge.embed.registry import build_embedder
from knowledge.ports import Embedder, Vectors
from tests.emulators.ollama import EmbeddingModel, OllamaEmulator

MODELS = [
    EmbeddingModel(name="nomic-embed-text", dim=768, window_tokens=2048),
    EmbeddingModel(name="bge-m3", dim=1024, window_tokens=8192),
]
NAMES = ["e5", "use", "hash", "ollama:nomic-embed-text", "ollama:bge-m3"]
KOREAN = "제12조(연차 유급휴가) 회사는 1년간 80퍼센트 이상 출근한 직원에게 15일의 유급휴가를 준다."
ENGLISH = "def retry_payment(order_id): Charge the card again when the gateway timed out."
TEXTS = [
    KOREAN,
    ENGLISH,
    "급여는 매월 25일에 지급한다.",
    "여비 지급 기준표",
    "class PaymentGateway",
    "회의실 예약",
    "x",
]


@pytest.fixture(scope="module", params=NAMES)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    with OllamaEmulator(models=list(MODELS)) as server:
        made = build_embedder(request.param, ollama_url=server.url)
        yield made
        if request.param.startswith("ollama:"):
            made.close()  # type: ignore[attr-defined]


def test_one_unit_vector_of_the_spaces_dimension_comes_back_for_each_text(embedder):
    for vectors in (embedder.embed_passages(TEXTS), embedder.embed_queries(TEXTS)):
        assert vectors.shape == (len(TEXTS), embedder.space.dim)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_no_text_gives_no_row(embedder):
    assert embedder.embed_passages([]).shape == (0, embedder.space.dim)
    assert embedder.embed_queries([]).shape == (0, embedder.space.dim)


ODD = {
    "empty": "",
    "white space": " \n\t　",
    "only a NUL": "\0",
    "emoji": "🦄" * 30,
    "joined emoji": "👨‍👩‍👧‍👦",
    "lone surrogate": "\ud800",
    "control characters": "\x01\x02\x1b[0m",
    "right to left": "مرحبا שלום",
    "one long word": "a" * 2000,
    "combining marks": "e" + "\u0301" * 200,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_give_finite_unit_vectors(embedder, text):
    for vectors in (embedder.embed_passages([text]), embedder.embed_queries([text])):
        assert np.isfinite(vectors).all()
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_what_stands_behind_a_nul_counts(embedder):
    one, other = embedder.embed_passages(["규정\0연차 휴가는 15일", "규정\0여비는 실비로 지급"])
    assert float(one @ other) < 0.999


def test_the_end_of_a_text_longer_than_any_window_counts(embedder):
    # beyond 512 tokens for e5, which is slow, and beyond 6,000 characters for the others
    beginning = "회사는 직원의 건강을 위하여 노력한다. " * (60 if embedder.space.name == "e5" else 290)
    one, other = embedder.embed_passages([beginning + ENGLISH * 10, beginning + KOREAN * 10])
    assert float(one @ other) < 0.9999
    np.testing.assert_allclose(np.linalg.norm(one), 1.0, rtol=1e-5)


def test_a_texts_vector_does_not_depend_on_its_neighbours(embedder):
    together = embedder.embed_passages(TEXTS)
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-6)
    backwards = embedder.embed_passages(TEXTS[::-1])[::-1]
    np.testing.assert_allclose(together, backwards, atol=2e-6)


def test_the_same_text_gives_the_same_vector_again(embedder):
    np.testing.assert_array_equal(embedder.embed_passages(TEXTS), embedder.embed_passages(TEXTS))


def test_threads_that_embed_at_the_same_time_get_the_vectors_of_one(embedder):
    expected = embedder.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: embedder.embed_passages(TEXTS), range(8)):
            np.testing.assert_array_equal(vectors, expected)


def passages_of(name: str) -> Vectors:
    return build_embedder(name).embed_passages(TEXTS)


@pytest.mark.parametrize("name", ["e5", "use", "hash"])
def test_two_processes_that_embed_at_the_same_time_get_the_vectors_of_one(name):
    expected = passages_of(name)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for vectors in pool.map(passages_of, [name] * 4):
            np.testing.assert_array_equal(vectors, expected)


def test_the_space_identifies_the_embedder(embedder):
    space = embedder.space
    assert space == embedder.space
    assert space.digest
    assert space.dim == embedder.embed_queries(["a"]).shape[1]


@pytest.mark.parametrize(
    ("name", "query", "near", "far"),
    [
        ("e5", "연차는 며칠인가요?", KOREAN, ENGLISH),
        ("e5", "how do we retry a failed payment", ENGLISH, KOREAN),
        ("e5", "월급날이 언제인가요", "급여는 매월 25일에 지급한다.", "회의실 예약"),
        ("use", "how do we retry a failed payment", ENGLISH, KOREAN),
        ("use", "월급날이 언제인가요", "급여는 매월 25일에 지급한다.", "회의실 예약"),
    ],
)
def test_a_model_finds_the_passage_that_answers(name, query, near, far):
    embedder = build_embedder(name)
    scores = embedder.embed_passages([near, far]) @ embedder.embed_queries([query])[0]
    assert scores[0] > scores[1]
