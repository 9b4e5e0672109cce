"""Raised and lowered letters as characters of their own: 10² is not 102."""

from __future__ import annotations

_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_MAX_CHARS = 6  # longer raised text is a remark


def raised(text: str) -> str:
    """`text` in raised characters where Unicode has all of them, else as it is."""
    made = text.strip().translate(_RAISED)
    if not 0 < len(made) <= _MAX_CHARS or any(char.isascii() for char in made) or text.strip() == made:
        return text
    return made
