"""Headers and footers of pages: kept once, and only where they say something that the text itself does not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.types import Block

_WORD = re.compile(r"[^\W\d_]{2,}")


def telling_margins(margins: Sequence[str], body: Sequence[Block]) -> list[Block]:
    """One note for each of `margins` that holds a word which neither `body` nor an earlier one holds."""
    wanted = {word for margin in margins for word in _WORD.findall(margin)}
    if not wanted:
        return []
    known: set[str] = set()
    for block in body:
        known.update(_WORD.findall(block.text))
        for row in block.rows:
            for cell in row:
                known.update(_WORD.findall(cell))
    notes: list[Block] = []
    for margin in margins:
        words = set(_WORD.findall(margin))
        if words - known:
            notes.append(Block(kind="note", text=margin))
            known |= words
    return notes
