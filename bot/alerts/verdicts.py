"""What people said about analyses, in bot.sqlite3, until the memory knows it; and cases that it does not hold yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.alerts.learnt import decode_case
from bot.alerts.store import Fault, FaultStore
from bot.store import Store, timestamp
from knowledge.masking import mask
from knowledge.types_cases import NewCase

MAX_CORRECTIONS_EACH = 5  # of one fault, by one person: each takes the place of the one before
MAX_CORRECTIONS = 20  # of one fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One thing that somebody said about the analysis of a fault."""

    number: int
    fault: int
    kind: Literal["wrong", "correction"]
    author_id: str
    key: str
    cause: str


def _is_full(connection: sqlite3.Connection, fault: Fault, author_id: str, key: str) -> bool:
    """Whether no further correction of a fault is taken from a person; one that is known already is no further one."""
    given = connection.execute(
        "SELECT count(*) AS all_of, coalesce(sum(author_id = ?), 0) AS own, coalesce(sum(key = ?), 0) AS known"
        " FROM alert_verdicts WHERE fault = ? AND kind = 'correction'",
        (author_id, key, fault.number),
    ).fetchone()
    return not given["known"] and (given["own"] >= MAX_CORRECTIONS_EACH or given["all_of"] >= MAX_CORRECTIONS)


class VerdictStore:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, faults: FaultStore, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._faults = faults
        self._clock = clock

    def save(
        self, fault: Fault, kind: Literal["wrong", "correction"], *, author_id: str, key: str, cause: str = ""
    ) -> Literal["new", "known", "too_many"]:
        """What became of it. The analysis shows from now on what was said about it."""
        with self._store.transaction() as connection:
            if kind == "correction" and _is_full(connection, fault, author_id, key):
                return "too_many"
            saved = connection.execute(
                "INSERT OR IGNORE INTO alert_verdicts (fault, kind, author_id, key, cause, given_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (fault.number, kind, author_id, key, mask(cause), timestamp(self._clock())),
            ).rowcount
            if saved:
                judged = "corrected" if kind == "correction" else "wrong"
                connection.execute(
                    "UPDATE alert_faults SET judged = ?, is_changed = 1 WHERE number = ? AND judged != 'corrected'",
                    (judged, fault.number),
                )
        return "new" if saved else "known"

    def open(self) -> list[tuple[Verdict, Fault]]:
        """Verdicts that the memory does not know yet, in the order in which they came, each with its fault."""
        rows = self._store.query("SELECT * FROM alert_verdicts WHERE applied_at IS NULL ORDER BY number LIMIT 100")
        found = []
        for row in rows:
            fault = self._faults.find(row["fault"])
            assert fault is not None, "a verdict refers to its fault"
            verdict = Verdict(
                number=row["number"], fault=row["fault"], kind=row["kind"], author_id=row["author_id"], key=row["key"],
                cause=row["cause"],
            )  # fmt: skip
            found.append((verdict, fault))
        return found

    def applied(self, verdict: Verdict) -> None:
        """Records that the memory knows it and the thread was told."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_verdicts SET applied_at = ? WHERE number = ?", (timestamp(self._clock()), verdict.number)
            )

    def forgotten(self, origin: str) -> None:
        """Records that the memory has forgotten the case again."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_forgotten SET applied_at = ? WHERE origin = ?", (timestamp(self._clock()), origin)
            )

    def to_forget(self) -> list[str]:
        """Origins of forgotten cases that a restored memory may hold again."""
        rows = self._store.query("SELECT origin FROM alert_forgotten WHERE applied_at IS NULL LIMIT 1000")
        return [str(row["origin"]) for row in rows]

    def cases_to_remember(self) -> list[tuple[int, NewCase]]:
        """(number of the fault, case) of analyses that are posted and not remembered yet."""
        rows = self._store.query(
            "SELECT number, pending_case FROM alert_faults WHERE pending_case IS NOT NULL AND post_id IS NOT NULL"
            " ORDER BY number LIMIT 100"
        )
        return [(row["number"], decode_case(row["pending_case"])) for row in rows]

    def remembered(self, fault: int) -> None:
        """Records that the memory holds the case of this fault."""
        with self._store.transaction() as connection:
            connection.execute("UPDATE alert_faults SET pending_case = NULL WHERE number = ?", (fault,))
