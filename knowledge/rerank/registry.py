"""From the settings to a reranker. Building is cheap: a model loads, a server is asked, at first use."""

from __future__ import annotations

from knowledge.ports import Reranker
from knowledge.rerank.config import RerankerConfig


def build_reranker(config: RerankerConfig | None) -> Reranker | None:
    """The reranker of these settings; None without any."""
    if config is None:
        return None
    if config.url is not None:
        from knowledge.rerank.http import HttpReranker

        return HttpReranker(
            config.url,
            model=config.name,
            token=config.token,
            max_tokens=config.max_tokens,
            timeout_s=config.timeout_s,
        )
    if config.model is None:
        return None
    from knowledge.rerank.onnx import OnnxReranker

    return OnnxReranker(config.model, max_tokens=config.max_tokens, threads=config.threads, timeout_s=config.timeout_s)
