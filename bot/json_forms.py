"""The stable JSON forms of the commands, as docs and tools rely on them. One function a form, values only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from bot.answering import Outcome
from bot.types import Citation, Job, Part
from knowledge.types import (
    Building,
    Caller,
    Chunk,
    DocumentSummary,
    Evidence,
    Locator,
    Progress,
    ScoredChunk,
    SourceStatus,
    SyncReport,
)

if TYPE_CHECKING:
    from knowledge.api import CalibrationOutcome

TIMES = ("total", "embed", "dense", "keyword", "rerank")


def search_form(query: str, evidence: Evidence) -> dict[str, Any]:
    """One line of `search --json`; `query` as it was asked."""
    verdict = evidence.verdict
    return {
        "query": query,
        "route": evidence.route,
        "verdict": verdict.decision,
        "probability": verdict.probability,
        "reason": verdict.reason,
        "degraded": list(evidence.degraded),
        "took_ms": {name: round(float(evidence.took_ms.get(name, 0.0)), 1) for name in TIMES},
        "results": [_result(rank, scored) for rank, scored in enumerate(evidence.chunks, start=1)],
    }


def calibration_form(outcome: CalibrationOutcome) -> dict[str, Any]:
    """One kind in `calibrate --json`: the file that was written and its measured figures, or why there is none."""
    return {
        "kind": outcome.kind,
        "file": None if outcome.path is None else str(outcome.path),
        "measured": dict(outcome.measured),
        "reason": outcome.reason,
    }


def failed_search_form(query: str, error: Exception) -> dict[str, Any]:
    """The line of a query that could not be searched: the same keys, no results, and what went wrong."""
    return {
        "query": query,
        "route": "both",
        "verdict": "none",
        "probability": None,
        "reason": str(error),
        "degraded": [],
        "took_ms": dict.fromkeys(TIMES, 0.0),
        "results": [],
        "error": {"type": type(error).__name__, "message": str(error)},
    }


def ask_form(question: str, outcome: Outcome) -> dict[str, Any]:
    """`ask --json`."""
    answer = outcome.answer
    refusal = answer.refusal
    return {
        "question": question,
        "verdict": answer.verdict.decision,
        "answer": answer.text,
        "citations": [citation_form(citation) for citation in answer.citations],
        "refusal": None if refusal is None else {"reason": refusal.reason, "detail": refusal.detail},
    }


def citation_form(citation: Citation) -> dict[str, Any]:
    """One of the citations of `ask --json`."""
    return {
        "index": citation.index,
        **_place(citation.locator),
        "title": citation.title,
        "url": citation.url,
        "quote": citation.quote,
    }


def status_form(
    statuses: Sequence[SourceStatus], parts: Sequence[Part], *, last_backup: datetime | None, is_running: bool
) -> dict[str, Any]:
    """`status --json`; platforms, and since when a part has its state, only a running bot knows."""
    return {
        "running": is_running,
        "last_backup": None if last_backup is None else last_backup.isoformat(timespec="seconds"),
        "sources": [
            {
                "source": status.source,
                "title": status.title,
                "kind": status.kind,
                "documents": status.documents,
                "chunks": status.chunks,
                "pending": dict(status.pending),
                "failed": [{"document": item.uri, "reason": item.reason} for item in status.failed],
                "skipped": dict(status.skipped),
                "warned": dict(status.warned),
                "last_sync": status.last_sync.isoformat() if status.last_sync else None,
                "revision": status.revision,
                "embedder": list(status.embedders),
                "calibrated": status.calibrated,
                "problem": status.problem,
                "parts": status.parts,
                "building": building_form(status.building),
            }
            for status in statuses
        ],
        "tools": [_part_form(part, is_running) for part in parts if part.kind == "tool"],
        "platforms": [_part_form(part, is_running) for part in parts if part.kind == "platform"],
    }


def _part_form(part: Part, is_running: bool) -> dict[str, Any]:
    since = part.since.isoformat(timespec="seconds") if is_running else None
    return {"name": part.name, "state": part.state, "detail": part.detail, "since": since}


def building_form(building: Building | None) -> dict[str, Any] | None:
    """The generation that is built beside the shown one, with how far it has got."""
    if building is None:
        return None
    return {
        "documents": building.documents,
        "of_documents": building.of_documents,
        "chunks": building.chunks,
        "pending": dict(building.pending),
        "complete": building.complete,
        "embedder": list(building.embedders),
        "since": building.since.isoformat(),
    }


def job_form(job: Job, step: Progress | None) -> dict[str, Any]:
    """One of the jobs of `jobs --json`; `progress` while it runs."""
    return {
        "job": job.number,
        "source": job.source,
        "force": job.force,
        "state": job.state,
        "requested_by": list(job.requested_by),
        "requested_at": job.requested_at.isoformat(),
        "started_at": job.started_at.isoformat() if job.started_at else None,
        "finished_at": job.finished_at.isoformat() if job.finished_at else None,
        "duration_s": job.duration_s,
        "counts": dict(job.counts) if job.counts is not None else None,
        "reason": job.reason,
        "progress": progress_form(step) if step is not None and job.state == "running" else None,
    }


def report_form(report: SyncReport) -> dict[str, Any]:
    """One of the sources of `ingest --json`; a dry run lists its documents."""
    form: dict[str, Any] = {
        "source": report.source,
        "added": report.added,
        "updated": report.updated,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
        "failed": [{"document": item.uri, "reason": item.reason} for item in report.failed],
        "chunks": report.chunks,
        "embedded": report.embedded,
        "pending": report.pending,
        "duration_s": round(report.duration_s, 2),
        "dry_run": report.dry_run,
        "problem": report.problem,
        "stopped": report.stopped,
    }
    if report.dry_run:
        form["documents"] = [
            {
                "document": item.uri,
                "change": item.change,
                "format": item.format,
                "extractor": item.extractor,
                "blocks": item.blocks,
                "chunks": item.chunks,
                "warnings": list(item.warnings),
            }
            for item in report.documents
        ]
    return form


def summary_form(summary: DocumentSummary) -> dict[str, Any]:
    """One of the documents of `list --json`."""
    return {
        "source": summary.source,
        "document": summary.uri,
        "title": summary.title,
        "media_type": summary.media_type,
        "status": summary.status,
        "reason": summary.reason,
        "chunks": summary.chunks,
        "revision": summary.revision,
        "updated_at": summary.updated_at.isoformat(),
    }


def passage_form(chunk: Chunk) -> dict[str, Any]:
    """One part of a section that `read` prints."""
    return {**_place(chunk.locator), "title": chunk.title, "text": chunk.text}


def progress_form(progress: Progress) -> dict[str, Any]:
    """A step of a sync, as it goes over the control socket."""
    return {
        "source": progress.source,
        "stage": progress.stage,
        "done": progress.done,
        "total": progress.total,
        "detail": progress.detail,
    }


def _result(rank: int, scored: ScoredChunk) -> dict[str, Any]:
    chunk = scored.chunk
    return {
        "rank": rank,
        "source": chunk.locator.source,
        "kind": chunk.evidence_kind,
        "document": chunk.locator.uri,
        "label": chunk.locator.label,
        "page": chunk.locator.page,
        "path": chunk.locator.uri if chunk.evidence_kind == "code" else None,
        "start_line": chunk.locator.start_line,
        "end_line": chunk.locator.end_line,
        "symbol": chunk.locator.symbol,
        "valid_from": _day(chunk.locator.valid_from),
        "valid_until": _day(chunk.locator.valid_until),
        "text": chunk.text,
        "via": scored.via,
        "callers": [_caller(caller) for caller in scored.callers],
        "scores": {
            "dense": {name: round(float(score), 4) for name, score in scored.dense_scores.items()},
            "keyword": _rounded(scored.keyword_score),
            "rrf": round(float(scored.rrf), 6),
            "rerank": _rounded(scored.rerank),
        },
    }


def _caller(caller: Caller) -> dict[str, Any]:
    locator = caller.locator
    return {
        "signature": caller.signature,
        "symbol": caller.symbol,
        "source": locator.source,
        "path": locator.uri,
        "line": locator.start_line,
    }


def _place(locator: Locator) -> dict[str, Any]:
    is_code = locator.start_line is not None and locator.label is None
    return {
        "source": locator.source,
        "document": locator.uri,
        "label": locator.label,
        "page": locator.page,
        "path": locator.uri if is_code else None,
        "start_line": locator.start_line,
        "end_line": locator.end_line,
        "symbol": locator.symbol,
    }


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(float(score), 4)
