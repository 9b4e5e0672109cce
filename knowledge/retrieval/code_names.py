"""Whether a question names a definition: by its name, with its class, with its module or package."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.types import Chunk

_NAMED_ALONE = 0.25  # many definitions share a simple name
_NO_PART = frozenset({"src", "lib"})  # folders that stand in no name


def how_surely_named(identifiers: Sequence[str], chunk: Chunk) -> float:
    """0..1: a name with its class, or with the module or package that its file is, means no other definition."""
    symbol = chunk.locator.symbol
    if not symbol:
        return 0.0
    best = 0.0
    parts = symbol.casefold().split(".")
    for identifier in identifiers:
        named = identifier.casefold().split(".")
        if named == parts[-len(named) :]:
            best = max(best, 1.0 if len(named) > 1 else _NAMED_ALONE)
        elif len(named) > len(parts) and named[-len(parts) :] == parts:
            if _is_place(named[: -len(parts)], chunk.locator.uri):
                best = 1.0
        elif len(parts) == 1 and parts[0] == named[0]:
            best = max(best, _NAMED_ALONE)
    return best


def _is_place(qualifiers: Sequence[str], uri: str) -> bool:
    """Whether the words before a name are the end of its file's path: its package, or the module that the file is."""
    *above, name = uri.casefold().split("/")
    folders = [folder for folder in above if folder not in _NO_PART]
    module = [*folders, name.split(".", 1)[0]]
    count = len(qualifiers)
    return list(qualifiers) in (module[-count:], folders[-count:])
