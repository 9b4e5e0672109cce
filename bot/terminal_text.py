"""Text of others as a terminal may show it: names and documents must not steer it with control characters."""

from __future__ import annotations

import re

# C0 and C1 controls, DEL, line and paragraph separators, marks that turn the direction of writing, lone surrogates
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with control characters written out ("\\x1b"); line ends and tabs stay."""
    return _CONTROL.sub(lambda match: match[0] if match[0] in "\n\t" else _written(match[0]), text)


def one_line(text: str) -> str:
    """The same for a name: line ends and tabs are written out as well."""
    return _CONTROL.sub(lambda match: _written(match[0]), text)


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
