"""Under which name a file is kept: as it is called, unless its name holds a secret or a personal number."""

from __future__ import annotations

from collections.abc import Container

from knowledge.masking import MASKED, mask_path


def shown_name(plain: str, taken: Container[str]) -> str:
    """The masked path of a file; two files whose names differ in what is masked alone get numbers behind."""
    shown = mask_path(plain)
    if shown == plain or shown not in taken:
        return shown
    head, dot, suffix = shown.rpartition(".")
    stem, end = (head, f".{suffix}") if dot and MASKED not in suffix and "/" not in suffix else (shown, "")
    number = 2
    while (numbered := f"{stem} ({number}){end}") in taken:
        number += 1
    return numbered


def hides_something(name: str) -> bool:
    """Whether a name is not the true one."""
    return MASKED in name
