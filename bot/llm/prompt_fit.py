"""Whether a prompt fits into a window: told before it is sent where that is certain, and by the counts of the reply."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import ModelPromptCut
from bot.types import ChatTurn

# No tokeniser in use packs more than this into a token on average, so a longer prompt is certain not to fit.
_MOST_BYTES_A_TOKEN = 8


def refuse_hopeless(turns: Sequence[ChatTurn], *, model: str, num_ctx: int) -> None:
    """Raises ModelPromptCut for turns that cannot fit into `num_ctx` tokens, however they are tokenised."""
    size_bytes = sum(len(turn.content.encode("utf-8", "replace")) for turn in turns)
    if size_bytes > num_ctx * _MOST_BYTES_A_TOKEN:
        raise prompt_cut(f"{size_bytes} bytes", model=model, num_ctx=num_ctx)


def prompt_cut(size: str, *, model: str, num_ctx: int) -> ModelPromptCut:
    """The error that a prompt of `size` did not fit."""
    return ModelPromptCut(
        f"The prompt for {model} ({size}) does not fit into num_ctx {num_ctx}: raise num_ctx, or give less evidence"
    )
