"""Who gave which command: one row each in bot.sqlite3."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.store import Store, timestamp
from knowledge.masking import mask

MAX_DETAIL_CHARS = 1000


class AuditLog:
    """The audit log; may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def record(self, actor: str, action: str, detail: str) -> None:
        """Writes a row: `actor` is platform and user id, `detail` is masked."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT INTO audit_log (at, actor, action, detail) VALUES (?, ?, ?, ?)",
                (timestamp(self._clock()), actor, action, mask(detail)[:MAX_DETAIL_CHARS]),
            )
