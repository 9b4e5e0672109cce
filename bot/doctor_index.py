"""The data folder's part of `haechi doctor`: what is indexed and how old it is, backups, what the running bot says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.errors import BotError
from bot.readiness import Check
from bot.services import open_services, utc_now
from bot.session import Session
from bot.settings import Settings
from bot.wording import ago
from knowledge.errors import KnowledgeError

OLD_BACKUP = timedelta(days=7)
_OWN_CHECKS = ("dense:", "model:", "reranker")  # doctor asks these itself, more thoroughly


def check_index(settings: Settings) -> Iterator[Check]:
    """One line for each source, the backup and, of a running bot, each part that is not well, with since when."""
    if not (settings.data_dir / "catalog.sqlite3").exists():
        yield Check(name="index", ok=True, detail="nothing is indexed yet", remedy="haechi ingest, or haechi run")
        return
    try:
        form = asyncio.run(_ask(settings))
    except (BotError, KnowledgeError) as error:
        yield Check(name="index", ok=False, detail=str(error), remedy="haechi verify, then see docs/operations.md")
        return
    now = utc_now()
    for source in form["sources"]:
        yield _source_check(source, now)
    yield _backup_check(form["last_backup"], now)
    yield from _running_checks(form, now)


async def _ask(settings: Settings) -> Mapping[str, Any]:
    """`status`, from the process that owns the folder, or from here."""
    async with Session(settings, "haechi doctor", open_services, clock=utc_now, note=lambda sentence: None) as session:
        return await session.call("status", {}, lambda step: None)


def _source_check(source: Mapping[str, Any], now: datetime) -> Check:
    last = source["last_sync"]
    age = ago(datetime.fromisoformat(last), now, "en") if last else "never"
    detail = f"{source['documents']} documents, {source['chunks']} chunks, synced {age}"
    if missing := sum(source["pending"].values()):
        detail += f", {missing} vectors missing still"
    if failed := len(source["failed"]):
        detail += f", {failed} could not be read"
    if building := source["building"]:
        detail += f", a new generation at {building['documents']}/{building['of_documents']} documents"
    if (schedule := source.get("schedule")) and schedule["next"]:
        detail += f", next sync at {schedule['next']}"
    name = f"index {source['source']}"
    if source["problem"]:
        return Check(name=name, ok=False, detail=f"{detail}; {source['problem']}", remedy="mend it, then haechi ingest")
    if failed:
        return Check(name=name, ok=True, detail=detail, remedy="haechi status names them with the reason")
    return Check(name=name, ok=True, detail=detail, remedy="" if last else f"haechi ingest --source {source['source']}")


def _backup_check(last: str | None, now: datetime) -> Check:
    """Never a problem: a company may copy the whole disk instead."""
    if last is None:
        return Check(name="backup", ok=True, detail="none yet", remedy="haechi backup FILE, every night")
    age = now - datetime.fromisoformat(last)
    remedy = "haechi backup FILE, every night" if age > OLD_BACKUP else ""
    return Check(
        name="backup", ok=True, detail=f"{ago(datetime.fromisoformat(last), now, 'en')}, at {last}", remedy=remedy
    )


def _running_checks(form: Mapping[str, Any], now: datetime) -> Iterator[Check]:
    if not form["running"]:
        yield Check(name="bot", ok=True, detail="not running", remedy="haechi run")
        return
    parts = [part for part in (*form["tools"], *form["platforms"]) if not part["name"].startswith("source:")]
    names = ", ".join(part["name"] for part in parts if part["state"] == "ok")
    yield Check(name="bot", ok=True, detail=f"running; well: {names}")
    for part in parts:
        if part["state"] == "ok":
            continue
        since = f"{part['state']} since {part['since']} ({ago(datetime.fromisoformat(part['since']), now, 'en')})"
        remedy = "see the line of its own check" if part["name"].startswith(_OWN_CHECKS) else "see docs/operations.md"
        yield Check(name=f"bot: {part['name']}", ok=False, detail=f"{since}: {part['detail']}", remedy=remedy)
