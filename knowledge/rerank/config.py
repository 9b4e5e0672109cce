"""Where a reranking model is, and how much is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerConfig:
    """Where the reranker is, a folder or a server, and how it is used."""

    model: Path | None = None  # a folder, or an ".onnx" file in one
    url: str | None = None
    name: str = ""  # of the model on the server
    token: Callable[[], str | None] = lambda: None
    candidates: int = 20  # pieces of evidence that it looks at
    weight: float = 0.5  # of what it says, against the best score without it
    max_tokens: int = 256  # of question and passage together
    threads: int = 2
    timeout_s: float = 5.0
