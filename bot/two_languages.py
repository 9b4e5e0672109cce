"""Tables of short texts, each in both languages: what an admin may want to change stands in persona.md instead."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import get_args

from bot.types import Language


class Texts:
    """Texts by name. A text must have every language, with the same words in braces."""

    def __init__(self, table: Mapping[str, Mapping[Language, str]]) -> None:
        self._table = table

    def say(self, name: str, language: Language, /, **values: object) -> str:
        """The text of that name with its values filled in."""
        return self._table[name][language].format(**values)

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def faults(self) -> Iterator[str]:
        """What is wrong with the table, one sentence each."""
        for name, texts in self._table.items():
            missing = [language for language in get_args(Language) if not texts.get(language)]
            if missing:
                yield f"{name} has no text in {', '.join(missing)}"
            elif len({frozenset(_fields(text)) for text in texts.values()}) > 1:
                yield f"{name} has other words in braces in one language than in the other"


def _fields(text: str) -> Iterator[str]:
    return (field for _, field, _, _ in string.Formatter().parse(text) if field is not None)
