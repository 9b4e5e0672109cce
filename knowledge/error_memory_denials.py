"""Causes that people called wrong or replaced: whether one that is found again is among them, in other words too."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable

from knowledge.analysis import analyze, analyze_query

ALIKE_SHARE = 0.6  # of the telling words of the shorter one
MIN_WORDS = 2  # fewer tell nothing
_STEM = 5  # letters
_EMPTY = frozenset(("no", "not", "when", "after", "all", "becaus", "sinc", "have", "be", "out", "run", "is"))
MAX_COMPARED = 500  # of one service and fault, the latest


def deny(connection: sqlite3.Connection, row: sqlite3.Row, now: str) -> None:
    """Marks a case as wrong, and its cause as one that is not learnt again."""
    connection.execute("UPDATE error_cases SET state = 'wrong', changed_at = ? WHERE number = ?", (now, row["number"]))
    connection.execute(
        "INSERT OR IGNORE INTO error_case_denials VALUES (?, ?, ?)",
        (row["service"], row["fingerprint"], cause_hash(row["cause"])),
    )


def is_denied(connection: sqlite3.Connection, row: dict[str, object]) -> bool:
    """Whether the cause of `row`, a case of the same shape as in the table, was called wrong for its fault or for one
    of the same class in the same service: word by word, or in other words."""
    known = connection.execute(
        "SELECT 1 FROM error_case_denials WHERE service = ? AND fingerprint = ? AND cause_hash = ?",
        (row["service"], row["fingerprint"], cause_hash(str(row["cause"]))),
    ).fetchone()
    if known is not None:
        return True
    return any(
        _are_alike(str(row["cause"]), denied["cause"], _names(row), _names(denied))
        for denied in denied_rows(
            connection,
            service=str(row["service"]),
            error_class=str(row["error_class"]),
            fingerprint=str(row["fingerprint"]),
        )
    )


def denied_rows(
    connection: sqlite3.Connection, *, service: str, error_class: str, fingerprint: str
) -> list[sqlite3.Row]:
    """Cases of a fault, and of faults of its class, that people called wrong or replaced; the latest first."""
    return connection.execute(
        "SELECT * FROM error_cases WHERE service = ? AND state IN ('wrong', 'replaced') AND cause != ''"
        " AND (fingerprint = ? OR (error_class != '' AND error_class = ?)) ORDER BY number DESC LIMIT ?",
        (service, fingerprint, error_class, MAX_COMPARED),
    ).fetchall()


def plain_cause(cause: str) -> str:
    """The cause without the numbers of its evidence."""
    return re.sub(r"\s*\[\d+\]", "", cause).strip()


def cause_hash(cause: str) -> str:
    """Equal for causes that differ in markers, punctuation and blanks only."""
    words = re.sub(r"[\W_]+", " ", plain_cause(cause).casefold())
    return hashlib.sha256(words.strip().encode()).hexdigest()[:32]


def _are_alike(one: str, other: str, names: Iterable[str], other_names: Iterable[str]) -> bool:
    """Whether two causes of a fault say the same. The names of the fault itself stand in every one of its causes, so
    they tell nothing."""
    common = {word for name in (*names, *other_names) for word in analyze(name)}
    first, second = (set(analyze_query(plain_cause(text))) - common - _EMPTY for text in (one, other))
    smaller, larger = sorted((first, second), key=len)
    if len(smaller) < MIN_WORDS:
        return False
    shared = sum(any(_is_same_word(word, known) for known in larger) for word in smaller)
    return shared >= ALIKE_SHARE * len(smaller)


def _is_same_word(one: str, other: str) -> bool:
    """Whether two stems are of one word: "succe" and "succeed"."""
    return one == other or (min(len(one), len(other)) >= _STEM and one[:_STEM] == other[:_STEM])


def _names(row: sqlite3.Row | dict[str, object]) -> list[str]:
    cited = json.loads(str(row["cited"]))
    symbols = [str(one["symbol"]) for one in cited if one["symbol"]]
    return [str(row["error_class"]), str(row["message"]), *symbols, *(str(one["uri"]) for one in cited)]
