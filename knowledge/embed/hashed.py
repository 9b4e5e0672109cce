"""An embedder without a model: hashed words and character pairs. It knows nothing of meaning.

It exists for tests that need vectors fast and the same everywhere, and as a last resort on machines where no model
runs: texts are near when they share words or syllable pairs, which the keyword index finds better.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from knowledge.embed.text import embeddable
from knowledge.embed.vectors import unit_vectors
from knowledge.ports import Vectors
from knowledge.types import VectorSpace

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Deterministic signed feature hashing (Weinberger et al. 2009) over words and their character pairs."""

    name = "hash"

    def __init__(self, dim: int = 256) -> None:
        self._dim = dim

    @property
    def space(self) -> VectorSpace:
        return VectorSpace(name=self.name, digest="feature-hashing-1", dim=self._dim, prefix_scheme="")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, 0] = 1e-3  # texts without a single word are near each other, and no vector is zero
            for feature, count in Counter(_features(embeddable(text))).items():
                digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
                sign = 1.0 if digest[7] & 1 else -1.0
                vectors[row, int.from_bytes(digest[:6], "big") % self._dim] += sign * np.sqrt(count)
        return unit_vectors(vectors, rows=len(texts), dim=self._dim, origin="The hash embedder")


def _features(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        yield word
        for first, second in pairwise(word):
            yield f"{first}\0{second}"
