"""Figures for Prometheus, in a registry of their own. Labels are names from the configuration or from closed lists:
never texts, people or channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.answering import Outcome
from bot.query_log import outcome_name
from bot.store import Store, moment
from bot.types import Job

STAGES = ("total", "embed", "dense", "keyword", "rerank", "answer")
BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
STATE_VALUES = {"ok": 1.0, "degraded": 0.5, "down": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is asked anew for every reading."""

    parts: Mapping[str, str] = field(default_factory=dict)  # part -> ok, degraded, down
    synced_at: Mapping[str, datetime | None] = field(default_factory=dict)  # source -> its last sync
    last_backup_at: datetime | None = None


class Metrics:
    """Counts what happens; `render` adds what is the case."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._standing = _Standing(store, clock)
        self.registry.register(self._standing)
        self._questions = Counter(
            "haechi_questions", "Questions by outcome.", ["origin", "outcome"], registry=self.registry
        )
        self._stages = Histogram(
            "haechi_stage_seconds", "Time by stage of a question.", ["stage"], buckets=BUCKETS_S, registry=self.registry
        )
        self._degraded = Counter(
            "haechi_searches_degraded",
            "Searches in which an embedder or an index took no part.",
            registry=self.registry,
        )
        self._models_skipped = Counter(
            "haechi_models_skipped", "Times that a model was to answer and did not.", registry=self.registry
        )
        self._syncs = Counter("haechi_syncs", "Jobs that ended.", ["source", "state"], registry=self.registry)
        self._documents = Counter(
            "haechi_sync_documents", "Documents by what a sync did.", ["source", "change"], registry=self.registry
        )
        self._sync_s = Histogram(
            "haechi_sync_seconds", "Duration of syncs.", ["source"], buckets=BUCKETS_S, registry=self.registry
        )

    def answered(self, outcome: Outcome, origin: str, total_ms: float) -> None:
        """Counts a question that was answered or refused."""
        self._questions.labels(origin, outcome_name(outcome)).inc()
        took_ms = outcome.evidence.took_ms if outcome.evidence else {}
        for stage in STAGES[:-1]:
            if stage in took_ms:
                self._stages.labels(stage).observe(took_ms[stage] / 1000)
        self._stages.labels("answer").observe(total_ms / 1000)
        if outcome.evidence is None or outcome.evidence.degraded:
            self._degraded.inc()
        self._models_skipped.inc(len(outcome.skipped))

    def job_ended(self, job: Job) -> None:
        """Counts a sync that ended."""
        self._syncs.labels(job.source, job.state).inc()
        if job.duration_s is not None:
            self._sync_s.labels(job.source).observe(job.duration_s)
        for change, count in (job.counts or {}).items():
            self._documents.labels(job.source, change).inc(count)

    def render(self, snapshot: Snapshot) -> bytes:
        """The text that Prometheus reads."""
        self._standing.snapshot = snapshot
        return generate_latest(self.registry)


class _Standing(Collector):
    """What bot.sqlite3 and the last snapshot say."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self.snapshot = Snapshot()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        now = self._clock()
        yield from self._queue(now)
        deliveries = GaugeMetricFamily(
            "haechi_deliveries", "Deliveries kept, by kind and state.", labels=["kind", "state"]
        )
        for row in self._store.query("SELECT kind, state, count(*) n FROM inbox GROUP BY kind, state"):
            deliveries.add_metric([row["kind"], row["state"]], row["n"])
        yield deliveries
        parts = GaugeMetricFamily("haechi_part_state", "1 ok, 0.5 degraded, 0 down.", labels=["part"])
        for part, state in self.snapshot.parts.items():
            parts.add_metric([part], STATE_VALUES.get(state, 0.0))
        yield parts
        ages = GaugeMetricFamily("haechi_index_age_seconds", "Time since the last sync.", labels=["source"])
        for source, synced_at in self.snapshot.synced_at.items():
            ages.add_metric([source], float("inf") if synced_at is None else (now - synced_at).total_seconds())
        yield ages
        backup = self.snapshot.last_backup_at
        yield GaugeMetricFamily(
            "haechi_backup_age_seconds",
            "Time since the last backup; +Inf without one.",
            value=float("inf") if backup is None else (now - backup).total_seconds(),
        )

    def _queue(self, now: datetime) -> Iterable[GaugeMetricFamily]:
        length = GaugeMetricFamily("haechi_queue_length", "Deliveries that wait or are worked on.", labels=["lane"])
        age = GaugeMetricFamily("haechi_queue_age_seconds", "Age of the oldest of them.", labels=["lane"])
        found = {
            row["lane"]: (row["n"], row["oldest"])
            for row in self._store.query(
                "SELECT lane, count(*) n, min(received_at) oldest FROM inbox"
                " WHERE state IN ('received', 'working') GROUP BY lane"
            )
        }
        for lane in ("slow", "quick", "long", "alert"):
            count, oldest = found.get(lane, (0, None))
            length.add_metric([lane], count)
            age.add_metric([lane], 0.0 if oldest is None else (now - moment(oldest)).total_seconds())
        yield length
        yield age
