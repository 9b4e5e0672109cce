"""From the name in the configuration to an embedder. Building is cheap: models load, servers answer, at first use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from knowledge.embed.hashed import HashEmbedder
from knowledge.ports import Embedder
from knowledge.types import EvidenceKind

__all__ = ["BUNDLED_NAMES", "DEFAULT_EMBEDDERS", "DEFAULT_OLLAMA_URL", "HashEmbedder", "build_embedder"]

DEFAULT_OLLAMA_URL = "http://127.0.0.1:11434"
BUNDLED_NAMES = ("e5", "use", "hash")

DEFAULT_EMBEDDERS: Mapping[EvidenceKind, tuple[str, ...]] = MappingProxyType({"docs": ("use",), "code": ("use",)})


def build_embedder(name: str, *, ollama_url: str = DEFAULT_OLLAMA_URL) -> Embedder:
    """The embedder of that name: "e5", "use", "hash", or "ollama:MODEL". Raises ValueError for any other name.

    The same name and address give an equal embedder in every process, so worker processes are told the name.
    """
    if name == "e5":
        from knowledge.embed.bundled import E5Embedder

        return E5Embedder()
    if name == "use":
        from knowledge.embed.bundled import UseEmbedder

        return UseEmbedder()
    if name == "hash":
        return HashEmbedder()
    scheme, _, model = name.partition(":")
    if scheme == "ollama" and model:
        from knowledge.embed.ollama import OllamaEmbedder

        return OllamaEmbedder(model, url=ollama_url)
    raise ValueError(f'There is no embedder "{name}": use one of {", ".join(BUNDLED_NAMES)}, or ollama:MODEL')
