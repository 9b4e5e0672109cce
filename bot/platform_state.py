"""What adapters must still know after a restart, such as how far they have read: a table of bot.sqlite3."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.store import Store, timestamp


class StoredPlatformState:
    """Implements bot.ports.PlatformState for one platform; may be called from any thread."""

    def __init__(self, store: Store, platform: str, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._platform = platform
        self._clock = clock

    def get(self, key: str) -> str | None:
        rows = self._store.query(
            "SELECT value FROM platform_state WHERE platform = ? AND key = ?", (self._platform, key)
        )
        return str(rows[0]["value"]) if rows else None

    def put(self, key: str, value: str) -> None:
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO platform_state (platform, key, value, changed_at) VALUES (?, ?, ?, ?)",
                (self._platform, key, value, timestamp(self._clock())),
            )
