"""What the commands do, for the owner of the data folder: JSON values in, JSON values out.

The command line calls this directly, or through the control socket when another process owns the folder; so both ways
give the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import structlog

from bot import json_forms
from bot.answering import Answering
from bot.control import Report
from bot.errors import BotError
from bot.jobs import JobQueue
from bot.query_log import QueryLog, outcome_name
from bot.readiness import Readiness
from bot.routing import route, search_text
from bot.tracing import following
from knowledge.api import Knowledge
from knowledge.errors import (
    Busy,
    CatalogCorrupt,
    KnowledgeError,
    NewerData,
    NotFound,
    SourceMissing,
    StorageFull,
    UnknownSource,
)
from knowledge.masking import mask
from knowledge.types import Evidence, EvidenceKind, FailedItem, Progress, Scope, SyncReport

if TYPE_CHECKING:
    from knowledge.evaluate import EvaluationQuestion

log = structlog.get_logger(__name__)

PROGRESS_INTERVAL_S = 0.1

Parameters = Mapping[str, Any]
ScheduleStates = Callable[[], Mapping[str, Mapping[str, Any]]]
MAX_JOBS = 200

_CONCERN_ALL = (StorageFull, CatalogCorrupt, NewerData, Busy)  # every other source would meet the same


class KnowledgeOperations:
    """Implements bot.control.Operations."""

    def __init__(
        self,
        *,
        knowledge: Knowledge,
        answering: Answering,
        query_log: QueryLog,
        queue: JobQueue,
        source_names: tuple[str, ...],
        default_top_k: int,
        readiness: Readiness,
        last_backup_at: Callable[[], datetime | None],
        new_id: Callable[[], str],
    ) -> None:
        self._readiness = readiness
        self._last_backup_at = last_backup_at
        self._new_id = new_id
        self._knowledge = knowledge
        self._answering = answering
        self._query_log = query_log
        self._source_names = source_names
        self._default_top_k = default_top_k
        self.queue = queue
        self.schedule_states: ScheduleStates = dict  # source -> how it is kept up to date, of the running bot
        self.nightly_states: ScheduleStates = dict  # what is done at night -> when, of the running bot
        self._methods: Mapping[str, Callable[[Parameters, Report], Awaitable[dict[str, Any]]]] = {
            "search": self._search,
            "ask": self._ask,
            "list": self._list,
            "read": self._read,
            "ingest": self._ingest,
            "status": self._status,
            "jobs": self._jobs,
            "cancel_job": self._cancel_job,
            "cancel_sources": self._cancel_sources,
            "eval": self._evaluate,
            "calibrate": self._calibrate,
        }

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        if method not in self._methods:
            raise BotError(f"The running process does not know the command {method!r}; restart it with this version.")
        return await self._methods[method](params, report)

    async def _search(self, params: Parameters, report: Report) -> dict[str, Any]:
        query = str(params["query"])
        routed = route(query)
        evidence = await asyncio.to_thread(
            self._knowledge.search,
            search_text(mask(routed.question)),
            scope=self._scope(params),
            top_k=int(params.get("top_k") or self._default_top_k),
            kind=_kind(params) or routed.kind,
        )
        return json_forms.search_form(query, evidence)

    async def _ask(self, params: Parameters, report: Report) -> dict[str, Any]:
        question, delivery_id = str(params["question"]), f"cli:{self._new_id()}"
        started = perf_counter()
        with following(delivery_id):
            outcome = await self._answering.answer(question, scope=self._scope(params), kind=_kind(params))
            total_ms = (perf_counter() - started) * 1000
            await asyncio.to_thread(
                self._query_log.record, outcome, origin="cli", asker="cli", delivery_id=delivery_id, total_ms=total_ms
            )
            log.info("delivery.answered", outcome=outcome_name(outcome), took_ms=round(total_ms))
        answer = outcome.answer
        return {
            "form": json_forms.ask_form(question, outcome),
            "language": outcome.language,
            "notices": list(answer.degraded),
            "nearest": [json_forms.citation_form(citation) for citation in answer.nearest],
        }

    async def _list(self, params: Parameters, report: Report) -> dict[str, Any]:
        summaries = await asyncio.to_thread(self._knowledge.list_documents, scope=self._scope(params))
        return {"documents": [json_forms.summary_form(summary) for summary in summaries]}

    async def _read(self, params: Parameters, report: Report) -> dict[str, Any]:
        document, label = str(params["document"]), str(params["label"])
        chunks = await asyncio.to_thread(self._knowledge.read, document, label, scope=self._scope(params))
        if not chunks:
            raise NotFound(f'"{document}" has no section "{label}"')
        return {"parts": [json_forms.passage_form(chunk) for chunk in chunks]}

    async def _status(self, params: Parameters, report: Report) -> dict[str, Any]:
        statuses = await asyncio.to_thread(self._knowledge.status, scope=self._scope(params))
        parts = await self._readiness.parts(fresh=True)
        backup = await asyncio.to_thread(self._last_backup_at)
        form = json_forms.status_form(statuses, parts, last_backup=backup, is_running=self._readiness.is_watched)
        form["nightly"] = dict(self.nightly_states())
        schedule = self.schedule_states()
        for source in form["sources"]:
            source["schedule"] = schedule.get(source["source"])
        return form

    async def _ingest(self, params: Parameters, report: Report) -> dict[str, Any]:
        sources = [str(name) for name in dict.fromkeys(params.get("sources") or ())]
        for name in sources:
            self._require_source(name)
        by, force = str(params.get("by") or "command line"), bool(params.get("force"))
        if params.get("dry_run"):
            return await self._reported(await self._preview(sources or list(self._source_names), force=force))
        if not sources:
            await asyncio.to_thread(self._knowledge.maintenance.remove_unconfigured)
        throttle = _Throttle()

        def progress(step: Progress) -> None:
            if throttle.lets_through(step):
                report(json_forms.progress_form(step))

        async def carry_out(source: str) -> SyncReport | KnowledgeError:
            if self.queue.is_busy(source):
                report({"source": source, "stage": "waiting", "done": 0, "total": None, "detail": "another sync"})
            try:
                job, result = await self.queue.carry_out(source, by=by, force=force, progress=progress)
            except KnowledgeError as error:
                return error
            if job.state == "cancelled":  # by somebody else: who leaves by himself gets no report
                problem = f"The sync was {job.reason}; what was finished is kept"
                return _problem_report(source, problem) if result is None else replace(result, problem=problem)
            return result if result is not None else _problem_report(source, job.reason or "it did not begin")

        work = [asyncio.create_task(carry_out(source)) for source in sources or self._source_names]
        try:
            outcomes = await asyncio.gather(*work)
        except asyncio.CancelledError:
            await asyncio.wait(work)
            report({"source": "", "stage": "stopped", "done": 0, "total": None, "detail": ""})
            raise
        return await self._reported(_reports(sources or self._source_names, outcomes))

    async def _preview(self, sources: Sequence[str], *, force: bool) -> list[SyncReport]:
        """What syncs would do. When this is cancelled the thread is asked to stop, and waited for."""
        stop = Event()
        work = asyncio.ensure_future(
            asyncio.to_thread(self._knowledge.sync, sources=sources, dry_run=True, force=force, should_stop=stop.is_set)
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({work})
            raise

    async def _reported(self, reports: Sequence[SyncReport]) -> dict[str, Any]:
        statuses = await asyncio.to_thread(self._knowledge.status, scope=Scope.everything())
        failing = {status.source: status.failed for status in statuses}
        return {
            "sources": [
                json_forms.report_form(with_still_failing(item, failing.get(item.source, ()))) for item in reports
            ]
        }

    async def _jobs(self, params: Parameters, report: Report) -> dict[str, Any]:
        limit = min(MAX_JOBS, int(params.get("limit") or 20))
        return {"jobs": [json_forms.job_form(job, step) for job, step in await self.queue.recent(limit)]}

    async def _cancel_sources(self, params: Parameters, report: Report) -> dict[str, Any]:
        by = str(params.get("by") or "command line")
        stopped = [name for name in params["sources"] if await self.queue.cancel_source(str(name), by=by)]
        return {"sources": stopped}

    async def _cancel_job(self, params: Parameters, report: Report) -> dict[str, Any]:
        number = int(params["number"])
        job = await self.queue.cancel(number, by=str(params.get("by") or "command line"))
        if job is None:
            raise BotError(f"No job {number} waits or runs; `haechi jobs` shows those that do.")
        return {"job": json_forms.job_form(job, None)}

    async def _evaluate(self, params: Parameters, report: Report) -> dict[str, Any]:
        """Asks every question of a file, each within its source, and gives the scores by type of question."""
        from knowledge.evaluate import evaluate, read_question_set, summarise

        questions = read_question_set(Path(str(params["file"])))
        for question in questions:
            if question.source is not None:
                self._require_source(question.source)

        def search(question: EvaluationQuestion) -> Evidence:
            scope = Scope.everything() if question.source is None else Scope.of(question.source)
            return self._knowledge.search(
                question.question, scope=scope, top_k=int(params.get("top_k") or self._default_top_k), kind=None
            )

        outcomes = await asyncio.to_thread(evaluate, questions, search)
        return {"groups": {name: score.to_json() for name, score in summarise(outcomes).items()}}

    async def _calibrate(self, params: Parameters, report: Report) -> dict[str, Any]:
        """Measures the gate on a file of labelled questions and keeps the result."""
        outcomes = await asyncio.to_thread(self._knowledge.calibrate, Path(str(params["file"])))
        return {"kinds": [json_forms.calibration_form(outcome) for outcome in outcomes]}

    def _scope(self, params: Parameters) -> Scope:
        """Everything, or the one source that was named: the socket is open to the owner of the data alone."""
        source = params.get("source")
        if source is None:
            return Scope.everything()
        self._require_source(str(source))
        return Scope.of(str(source))

    def _require_source(self, name: str) -> None:
        if name not in self._source_names:
            known = ", ".join(self._source_names)
            raise UnknownSource(f"There is no source {name!r}; the configuration has {known}.")


def _reports(names: Sequence[str], outcomes: Sequence[SyncReport | KnowledgeError]) -> list[SyncReport]:
    """A report for every source. Raises what concerns all of them, and SourceMissing when none of them is there."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, KnowledgeError)]
    for error in errors:
        if isinstance(error, _CONCERN_ALL):
            raise error
    if errors and len(errors) == len(outcomes) and all(isinstance(error, SourceMissing) for error in errors):
        raise errors[0]
    return [
        _problem_report(name, str(outcome)) if isinstance(outcome, KnowledgeError) else outcome
        for name, outcome in zip(names, outcomes, strict=True)
    ]


def _problem_report(source: str, problem: str) -> SyncReport:
    return SyncReport(
        source=source, added=0, updated=0, deleted=0, unchanged=0, failed=(), duration_s=0.0, problem=problem
    )


def with_still_failing(report: SyncReport, failing: Sequence[FailedItem]) -> SyncReport:
    """The report with the documents that failed before and have not changed since: they are failed, not unchanged."""
    if report.dry_run:
        return report
    named = {item.uri for item in report.failed}
    still = tuple(item for item in failing if item.uri not in named)
    return replace(report, failed=(*report.failed, *still), unchanged=max(0, report.unchanged - len(still)))


class _Throttle:
    """Lets a step through when its stage is new or ends, else at most every PROGRESS_INTERVAL_S."""

    def __init__(self) -> None:
        self._stage: tuple[str, str] | None = None
        self._last_s = 0.0

    def lets_through(self, step: Progress) -> bool:
        stage, now_s = (step.source, step.stage), perf_counter()
        if stage == self._stage and step.done != step.total and now_s - self._last_s < PROGRESS_INTERVAL_S:
            return False
        self._stage, self._last_s = stage, now_s
        return True


def _kind(params: Parameters) -> EvidenceKind | None:
    kind = params.get("kind")
    return cast(EvidenceKind, kind) if kind in ("docs", "code") else None
