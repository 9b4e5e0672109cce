"""What the Ollama embedder sends, and what it makes of everything that can go wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from knowledge.embed.ollama import OllamaEmbedder, recipe_for
from knowledge.errors import BadInput, ModelMissing, ToolDown
from tests.emulators.ollama import EmbeddingModel, Failure, OllamaEmulator, hashed_vector, unused_url


@pytest.fixture
def server() -> Iterator[OllamaEmulator]:
    models = [
        EmbeddingModel(name="nomic-embed-text", dim=768, window_tokens=2048),
        EmbeddingModel(name="bge-m3", dim=1024, window_tokens=8192),
        EmbeddingModel(name="minilm", dim=384, window_tokens=50),
    ]
    with OllamaEmulator(models=list(models)) as emulator:
        yield emulator


@pytest.fixture
def embedder(server: OllamaEmulator) -> Iterator[OllamaEmbedder]:
    made = OllamaEmbedder("minilm", url=server.url, timeout_s=5.0)
    yield made
    made.close()


def sent(server: OllamaEmulator) -> list[str]:
    return [text for body in server.requests("/api/embed") for text in body["input"]]


@pytest.mark.parametrize(
    ("model", "query", "passage", "window_tokens"),
    [
        ("nomic-embed-text", "search_query: 연차", "search_document: 연차", 2048),
        ("nomic-embed-text:v1.5", "search_query: 연차", "search_document: 연차", 2048),
        ("someone/nomic-embed-text", "search_query: 연차", "search_document: 연차", 2048),
        ("bge-m3", "연차", "연차", 8192),
        ("minilm", "연차", "연차", None),
    ],
)
def test_each_model_gets_its_prefixes_and_its_window(server, model, query, passage, window_tokens):
    recipe = recipe_for(model)
    assert recipe.query_prefix + "연차" == query
    assert recipe.passage_prefix + "연차" == passage
    assert recipe.window_tokens == window_tokens
    if server.find(model) is None:
        return
    embedder = OllamaEmbedder(model, url=server.url)
    embedder.embed_queries(["연차"])
    embedder.embed_passages(["연차"])
    assert sent(server)[-2:] == [query, passage]
    last = server.requests("/api/embed")[-1]
    assert last["truncate"] is False
    assert last.get("options") == ({"num_ctx": window_tokens} if window_tokens else None)
    embedder.close()


def test_the_space_holds_the_servers_digest_dimension_and_prefixes(server):
    embedder = OllamaEmbedder("nomic-embed-text", url=server.url)
    space = embedder.space
    assert (space.name, space.dim) == ("ollama-nomic-embed-text", 768)
    assert space.prefix_scheme == "search_query: |search_document: "
    [digest] = [entry["digest"] for entry in _tags(server) if entry["name"] == "nomic-embed-text:latest"]
    assert space.digest.startswith(digest)
    assert set(space.key) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    embedder.close()


def _tags(server: OllamaEmulator) -> list[dict[str, str]]:
    import httpx

    return httpx.get(server.url + "/api/tags").json()["models"]  # type: ignore[no-any-return]


def test_texts_go_in_batches_and_come_back_in_their_order(server):
    embedder = OllamaEmbedder("bge-m3", url=server.url, batch_texts=4)
    texts = [f"text number {n}" for n in range(10)]
    vectors = embedder.embed_passages(texts)
    assert [len(body["input"]) for body in server.requests("/api/embed")[1:]] == [4, 4, 2]
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(vector, hashed_vector(text, 1024), atol=1e-6)
    embedder.close()


def test_a_text_that_is_too_long_is_halved_and_does_not_disturb_its_neighbours(server, embedder):
    long = " ".join(f"w{n}" for n in range(120))
    vectors = embedder.embed_passages(["short one", long, "another"])
    np.testing.assert_allclose(vectors[0], hashed_vector("short one", 384), atol=1e-6)
    np.testing.assert_allclose(vectors[2], hashed_vector("another", 384), atol=1e-6)
    np.testing.assert_array_equal(vectors[1], embedder.embed_passages([long])[0])
    pieces = [text for text in sent(server) if text.startswith("w0 ")]
    assert len(pieces[-1].split()) <= 50
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_every_part_of_a_halved_text_gets_the_prefix_again(server):
    embedder = OllamaEmbedder("nomic-embed-text", url=server.url)
    embedder.embed_passages(["word " * 3000])
    parts = sent(server)[2:]
    assert len(parts) == 2
    assert all(part.startswith("search_document: ") for part in parts)
    embedder.close()


def test_a_server_that_finds_everything_too_long_is_reported_with_the_remedy(server, embedder):
    assert embedder.space.dim == 384
    server.failures.extend(Failure(status=400, error="input length exceeds maximum context length") for _ in range(99))
    with pytest.raises(BadInput, match="raise the model's num_ctx"):
        embedder.embed_passages(["word " * 40])


def test_a_missing_model_is_named_with_the_command_that_installs_it(server):
    embedder = OllamaEmbedder("snowflake", url=server.url)
    with pytest.raises(ModelMissing, match="ollama pull snowflake"):
        _ = embedder.space
    embedder.close()


def test_a_model_removed_meanwhile_is_missing_too(server, embedder):
    assert embedder.space.dim == 384
    server.models.clear()
    with pytest.raises(ModelMissing, match="ollama pull minilm"):
        embedder.embed_queries(["연차"])


def test_no_server_is_a_tool_that_is_down():
    embedder = OllamaEmbedder("minilm", url=unused_url())
    with pytest.raises(ToolDown, match="start it"):
        embedder.embed_queries(["연차"])
    embedder.close()


@pytest.mark.parametrize("passing", [Failure(status=503, error="busy"), Failure(status=None)])
def test_a_passing_failure_is_tried_once_more(server, embedder, passing):
    assert embedder.space.dim == 384
    server.failures.append(passing)
    assert embedder.embed_queries(["연차"]).shape == (1, 384)


@pytest.mark.parametrize("failure", [Failure(status=503, error="busy"), Failure(status=None)])
def test_a_failure_that_stays_is_a_tool_that_is_down(server, embedder, failure):
    assert embedder.space.dim == 384
    server.failures.extend([failure, failure])
    with pytest.raises(ToolDown):
        embedder.embed_queries(["연차"])
    assert len(server.requests("/api/embed")) == 3


def test_a_server_error_is_not_tried_again(server, embedder):
    assert embedder.space.dim == 384
    server.failures.append(Failure(status=500, error="llama runner process has terminated"))
    with pytest.raises(ToolDown, match="runner process"):
        embedder.embed_queries(["연차"])
    assert len(server.requests("/api/embed")) == 2


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (lambda text, dim: [float("nan")] * dim, "not finite"),
        (lambda text, dim: [0.5] * (dim - 1), "shape"),
        (lambda text, dim: [0.0] * dim, "zeros"),
    ],
)
def test_a_broken_vector_never_reaches_an_index(server, embedder, vector, reason):
    assert embedder.space.dim == 384
    server.vector = vector
    with pytest.raises(ToolDown, match=reason):
        embedder.embed_passages(["연차"])


def test_a_slow_server_is_a_tool_that_is_down(server):
    import threading

    never = threading.Event()
    embedder = OllamaEmbedder("minilm", url=server.url, timeout_s=0.05)
    assert embedder.space.dim == 384

    def slow(text: str, dim: int) -> list[float]:
        never.wait(10)
        return hashed_vector(text, dim)

    server.vector = slow
    try:
        with pytest.raises(ToolDown, match="in time"):
            embedder.embed_queries(["연차"])
    finally:
        never.set()
        embedder.close()
