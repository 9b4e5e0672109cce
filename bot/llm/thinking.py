"""Removal of a model's thoughts from its reply."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ThoughtFilter:
    """Drops a `<think>...</think>` block at the very start of a streamed reply.

    Newer servers send thoughts in a field of their own; older ones, and models whose template the server does not
    know, leave them in the text. A block later in the text is a quotation and stays.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._passing = False

    def feed(self, piece: str) -> str:
        """What of the text so far may be shown now; the rest is held until it is clear what it is."""
        if self._passing:
            return piece
        self._held += piece
        if not self._thinking:
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._thinking = True
            elif _OPEN.startswith(start):
                return ""
            else:
                return self._release(self._held)
        _, closed, rest = self._held.partition(_CLOSE)
        if not closed or not rest.strip():
            return ""
        return self._release(rest.lstrip())

    def finish(self) -> str:
        """What was held back and turned out to be no thought; a thought that never ended is dropped."""
        held, self._held = self._held, ""
        return "" if self._thinking else held

    def _release(self, text: str) -> str:
        self._passing, self._held = True, ""
        return text
