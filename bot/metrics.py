"""Figures for Prometheus, in a registry of their own. Labels are names from the configuration or from closed lists:
never texts, people or channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.answering import Outcome
from bot.errors import ModelError
from bot.query_log import outcome_name
from bot.store import Store, moment
from bot.types import Job
from knowledge.types import SourceStatus

SearchStage = Literal["total", "embed", "dense", "keyword", "rerank"]
Stage = Literal["queue", SearchStage, "model", "answer", "post"]  # "total": search, "answer": all but queue and post
SEARCH_STAGES: tuple[SearchStage, ...] = get_args(SearchStage)
BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
STATE_VALUES = {"ok": 1.0, "degraded": 0.5, "down": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is asked anew for every reading."""

    parts: Mapping[str, str] = field(default_factory=dict)  # part -> ok, degraded, down
    sources: Sequence[SourceStatus] = ()
    last_backup_at: datetime | None = None


class Metrics:
    """Counts what happens; `render` adds what is the case."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, which nobody asks for
        self.registry = CollectorRegistry(auto_describe=True)
        self._standing = _Standing(store, clock)
        self.registry.register(self._standing)
        ProcessCollector(registry=self.registry)  # memory, processor time, open files
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
        self._tool_errors = Counter(
            "haechi_tool_errors",
            "Searches that an embedder, the vector index or the catalog failed.",
            ["tool"],
            registry=self.registry,
        )
        self._model_calls = Counter(
            "haechi_model_calls", "Calls of a model by what came of them.", ["model", "outcome"], registry=self.registry
        )
        self._alerts = Counter("haechi_alerts", "Alerts by what became of them.", ["outcome"], registry=self.registry)
        self._requests = Counter("haechi_http_requests", "HTTP requests.", ["route", "status"], registry=self.registry)
        self._request_s = Histogram(
            "haechi_http_request_seconds",
            "Time of HTTP requests.",
            ["route"],
            buckets=BUCKETS_S,
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
        for stage in SEARCH_STAGES:
            if stage in took_ms:
                self.stage(stage, took_ms[stage] / 1000)
        self.stage("answer", total_ms / 1000)
        for tool in outcome.evidence.tools if outcome.evidence else ():
            if tool.state == "down":
                self._tool_errors.labels(tool.name).inc()
        if outcome.evidence is None or outcome.evidence.degraded:
            self._degraded.inc()
        self._models_skipped.inc(len(outcome.skipped))

    def stage(self, stage: Stage, took_s: float) -> None:
        """Counts the time of one stage of an answer."""
        self._stages.labels(stage).observe(took_s)

    def model_called(self, model: str, took_s: float, failure: ModelError | None) -> None:
        """Counts a call of a model: answered, or the class of its error."""
        self._model_calls.labels(model, "answered" if failure is None else type(failure).__name__).inc()
        self.stage("model", took_s)

    def alert_taken(self, outcome: str) -> None:
        """Counts an alert; of an outcome with a reason only the outcome is a label."""
        self._alerts.labels(outcome.partition(":")[0]).inc()

    def requested(self, route: str, status: int, took_s: float) -> None:
        """Counts an HTTP request."""
        self._requests.labels(route, str(status)).inc()
        self._request_s.labels(route).observe(took_s)

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
        yield from self._sources(now)
        backup = self.snapshot.last_backup_at
        yield GaugeMetricFamily(
            "haechi_backup_age_seconds",
            "Time since the last backup; +Inf without one.",
            value=float("inf") if backup is None else (now - backup).total_seconds(),
        )

    def _sources(self, now: datetime) -> Iterable[GaugeMetricFamily]:
        ages = GaugeMetricFamily("haechi_index_age_seconds", "Time since the last sync.", labels=["source"])
        documents = GaugeMetricFamily("haechi_documents", "Documents by state.", labels=["source", "state"])
        pending = GaugeMetricFamily("haechi_vectors_pending", "Vectors that are missing still.", labels=["source"])
        for status in self.snapshot.sources:
            synced_at = status.last_sync
            ages.add_metric([status.source], float("inf") if synced_at is None else (now - synced_at).total_seconds())
            documents.add_metric([status.source, "indexed"], status.documents)
            documents.add_metric([status.source, "failed"], len(status.failed))
            pending.add_metric([status.source], sum(status.pending.values()))
        yield from (ages, documents, pending)

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
