"""The error memory for admins: what is remembered of past faults, and how a case is forgotten. JSON values in and out,
for the command line and the control socket, as bot.operations does for everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from bot.audit import AuditLog
from bot.control import Report
from bot.store import Store, timestamp
from knowledge.types import Scope
from knowledge.types_cases import ErrorCase

MAX_CASES = 500
DEFAULT_CASES = 50


class CaseMemory(Protocol):
    """What is needed of knowledge.error_memory.ErrorMemory; called in threads."""

    def list_cases(self, *, scope: Scope, service: str | None = None, limit: int = 50) -> list[ErrorCase]: ...

    def show(self, number: int, *, scope: Scope) -> ErrorCase: ...

    def forget(self, number: int, *, scope: Scope) -> ErrorCase: ...


class CaseOperations:
    """`methods` are what it can be asked for by name; the caller may see everything."""

    def __init__(self, memory: CaseMemory, audit: AuditLog, forgotten: Callable[[str], None]) -> None:
        """`forgotten` is told the origin of every case that is forgotten, and keeps it durably."""
        self._memory = memory
        self._audit = audit
        self._forgotten = forgotten
        self.methods: Mapping[str, Callable[[Mapping[str, Any], Report], Awaitable[dict[str, Any]]]] = {
            "cases": self._list,
            "show_case": self._show,
            "forget_case": self._forget,
        }

    async def _list(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        service = params.get("service")
        limit = max(1, min(MAX_CASES, int(params.get("limit") or DEFAULT_CASES)))
        found = await asyncio.to_thread(
            self._memory.list_cases,
            scope=Scope.everything(),
            service=None if service is None else str(service),
            limit=limit,
        )
        return {"cases": [case_form(case) for case in found]}

    async def _show(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        case = await asyncio.to_thread(self._memory.show, int(params["number"]), scope=Scope.everything())
        return {"case": case_form(case)}

    async def _forget(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        case = await asyncio.to_thread(self._memory.forget, int(params["number"]), scope=Scope.everything())
        await asyncio.to_thread(self._forgotten, case.origin)
        await asyncio.to_thread(self._audit.record, "cli", "case forgotten", forgotten_detail(case))
        return {"case": case_form(case)}


def note_forgotten(store: Store, clock: Callable[[], datetime], origin: str) -> None:
    """Keeps in bot.sqlite3 that a case was forgotten: a restored memory that holds it must forget it again."""
    with store.transaction() as connection:
        now = timestamp(clock())
        connection.execute("INSERT OR REPLACE INTO alert_forgotten VALUES (?, ?, ?)", (origin, now, now))


def forgotten_detail(case: ErrorCase) -> str:
    """What the audit log says of a case that was forgotten: which it was, and nothing that stood in it."""
    return f"case {case.number} of service {case.service or '-'}, {case.error_class or '-'}"


def case_form(case: ErrorCase) -> dict[str, Any]:
    """One case as JSON values."""
    return {
        "case": case.number,
        "service": case.service or None,
        "error_class": case.error_class or None,
        "message": case.message,
        "summary": case.summary,
        "cause": case.cause,
        "fix": case.fix or None,
        "told_by_a_person": case.is_correction,
        "stale": case.is_stale,
        "learnt_at": case.learnt_at.isoformat(),
        "url": case.url,
        "cited": [
            {
                "source": one.source, "uri": one.uri, "revision": one.revision, "start_line": one.start_line,
                "end_line": one.end_line, "symbol": one.symbol,
            }
            for one in case.cited
        ],
    }  # fmt: skip
