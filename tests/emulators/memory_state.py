"""A PlatformState in memory."""

from __future__ import annotations


class MemoryState:
    """Implements bot.ports.PlatformState; survives as long as the test keeps it."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.values.get(key)

    def put(self, key: str, value: str) -> None:
        self.values[key] = value
