"""What was asked and what came of it: one row a question, masked, with the ids of the evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from bot.answering import Outcome
from bot.store import Store, timestamp
from knowledge.masking import mask


class QueryLog:
    """The log in bot.sqlite3."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self.observers: list[Callable[[Outcome, str, float], None]] = []  # outcome, origin, total_ms

    def record(self, outcome: Outcome, *, origin: str, asker: str, delivery_id: str | None, total_ms: float) -> None:
        """Writes the row. `origin` is the platform's name, or "cli"."""
        for told in self.observers:
            told(outcome, origin, total_ms)
        answer, evidence = outcome.answer, outcome.evidence
        took_ms = {**(evidence.took_ms if evidence else {}), "answer": round(total_ms, 1)}
        shown = [scored.chunk.id for scored in evidence.chunks] if evidence else []
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT INTO query_log (delivery_id, origin, asker, question, route, outcome, probability,"
                " evidence_ids, cited_ids, took_ms, degraded, model, asked_at, searched, faults, skipped_models)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    delivery_id,
                    origin,
                    asker,
                    mask(outcome.question),
                    answer.route,
                    outcome_name(outcome),
                    answer.verdict.probability,
                    json.dumps(shown),
                    json.dumps([citation.chunk_id for citation in answer.citations]),
                    json.dumps(took_ms),
                    json.dumps(answer.degraded, ensure_ascii=False),
                    answer.model,
                    timestamp(self._clock()),
                    mask(outcome.searched) or None,
                    mask(json.dumps(outcome.faults, ensure_ascii=False)),
                    json.dumps(outcome.skipped, ensure_ascii=False),
                ),
            )


def outcome_name(outcome: Outcome) -> str:
    """ "answered", or the reason of the refusal."""
    refusal = outcome.answer.refusal
    return refusal.reason if refusal is not None else "answered"
