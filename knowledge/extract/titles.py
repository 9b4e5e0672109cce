"""Titles that files carry beside their text, believed only where the text confirms them."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.types import Block

_MUST_STAND_IN_FIRST_CHARS = 3_000


def confirmed_title(title: str | None, blocks: Sequence[Block]) -> str | None:
    """`title` where the document's beginning says the same; a template's leftover title would mislead."""
    wanted = "".join(title.split()) if title else ""
    if len(wanted) < 4 or not any(char.isalpha() for char in wanted):
        return None
    seen = ""
    for block in blocks:
        seen += "".join((block.text + "".join(cell for row in block.rows for cell in row)).split())
        if wanted in seen:
            return " ".join(title.split()) if title else None
        if len(seen) > _MUST_STAND_IN_FIRST_CHARS:
            return None
    return None
