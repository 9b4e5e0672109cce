"""Deployments in bot.sqlite3: a bounded number of each service, so that a pipeline may tell of every one for years."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.alerts.alert import Deploy
from bot.alerts.deploys import PRODUCTION
from bot.store import Store, moment, timestamp

KEEP_EACH = 50  # of one repository in one environment
KEEP_FOR = timedelta(days=400)
NEEDED = 2  # of one repository in one environment, however old: the one that runs, and the one before
KEEP_OF_SERVICE = 1000  # many environments may come and go, one for each change under review

# The same commit again is the same deployment, since the first of them.
_PRUNE = """
DELETE FROM deploys WHERE service = :service
    AND (environment, repository, deployed_at, revision) IN (
        SELECT environment, repository, deployed_at, revision FROM (
            SELECT *, lead(revision) OVER latest AS earlier, row_number() OVER latest AS place
            FROM deploys WHERE service = :service
            WINDOW latest AS (PARTITION BY environment, repository ORDER BY deployed_at DESC, revision DESC)
        ) WHERE earlier = revision OR place > :each OR (place > :needed AND deployed_at < :oldest)
    )
"""
_CAP = """
DELETE FROM deploys WHERE service = :service
    AND (environment, repository, deployed_at, revision) IN (
        SELECT environment, repository, deployed_at, revision FROM (
            SELECT *, row_number() OVER latest AS place
            FROM deploys WHERE service = :service
            WINDOW latest AS (PARTITION BY environment, repository ORDER BY deployed_at DESC, revision DESC)
        ) ORDER BY
            environment IN ('', :production) AND place <= :needed DESC, place <= :needed DESC, deployed_at DESC
        LIMIT -1 OFFSET :most
    )
"""


class DeployStore:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def note(self, deploy: Deploy) -> None:
        """Keeps it, each once, and removes what no alert will be judged by any more."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO deploys (service, environment, repository, deployed_at, revision)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    deploy.service, deploy.environment or "", deploy.repository or "", timestamp(deploy.deployed_at),
                    deploy.revision,
                ),
            )  # fmt: skip
            self._prune(connection, deploy.service)

    def of_service(self, service: str, until: datetime) -> list[Deploy]:
        """The deployments of a service up to a moment, the latest first."""
        rows = self._store.query(
            "SELECT * FROM deploys WHERE service = ? AND deployed_at <= ? ORDER BY deployed_at DESC, revision DESC",
            (service, timestamp(until)),
        )
        return [
            Deploy(
                service=row["service"],
                environment=row["environment"] or None,
                revision=row["revision"],
                repository=row["repository"] or None,
                deployed_at=moment(row["deployed_at"]),
            )
            for row in rows
        ]

    def _prune(self, connection: sqlite3.Connection, service: str) -> None:
        values = {
            "service": service,
            "each": KEEP_EACH,
            "needed": NEEDED,
            "oldest": timestamp(self._clock() - KEEP_FOR),
            "most": KEEP_OF_SERVICE,
            "production": PRODUCTION,
        }
        connection.execute(_PRUNE, values)
        connection.execute(_CAP, values)
