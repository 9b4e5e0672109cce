"""Whether everything that is needed can be used: health for the page, checks with remedies for `haechi doctor`."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import stat
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import structlog

from bot.data_folder import DataFolder
from bot.errors import BotError, DataFolderBusy
from bot.settings import Settings
from bot.settings_sources import SourceSettings
from bot.types import Part, PartKind
from knowledge.api import check_source
from knowledge.errors import KnowledgeError
from knowledge.types import ToolStatus

PlatformStates = Callable[[], Awaitable[Sequence[ToolStatus]]]

HEALTH_TTL_S = 10.0
WATCH_S = 30.0
OLDEST_PYTHON = (3, 11)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of `haechi doctor`. `remedy` is empty when all is well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class ChecksTools(Protocol):
    """What health needs of knowledge.api.Knowledge."""

    def check(self) -> list[ToolStatus]: ...


class ChecksModels(Protocol):
    """What health needs of bot.model_chain.ModelPool."""

    async def check(self) -> list[ToolStatus]: ...


class Readiness:
    """Health of a running bot; the parts are asked at most every HEALTH_TTL_S, unless somebody wants it fresh."""

    def __init__(self, *, knowledge: ChecksTools, models: ChecksModels, clock: Callable[[], datetime]) -> None:
        self._knowledge = knowledge
        self._models = models
        self.clock = clock
        self._since: dict[str, tuple[str, datetime]] = {}  # part -> its state, and since when it has it
        self._last: tuple[datetime, list[Part]] | None = None
        self._asking = asyncio.Lock()
        self.platform_states: PlatformStates = no_platforms  # of the running bot; put here when it runs
        self.is_watched = False  # then "since" is when it happened
        self.more_states: list[PlatformStates] = []  # of parts that only a running bot has

    async def health(self) -> dict[str, object]:
        """{"status": "ok" | "degraded" | "down", "tools": {name: state}, "platforms": {name: state}}: down when the
        catalog is."""
        found = await self.parts()
        return {
            "status": _overall(found),
            "tools": {part.name: part.state for part in found if part.kind != "platform"},
            "platforms": {part.name: part.state for part in found if part.kind == "platform"},
        }

    async def parts(self, *, fresh: bool = False) -> list[Part]:
        """Every part with its state and since when it has had it, as far as it was looked at."""
        async with self._asking:
            now = self.clock()
            if fresh or self._last is None or (now - self._last[0]).total_seconds() > HEALTH_TTL_S:
                self._last = (now, await self._look(now))
            return self._last[1]

    async def ready(self) -> dict[str, object]:
        """{"status", "parts": [{"name", "state", "since", "detail"}]}; down when the catalog is."""
        found = await self.parts()
        forms = [
            {"name": p.name, "state": p.state, "since": p.since.isoformat(timespec="seconds"), "detail": p.detail}
            for p in found
        ]
        return {"status": _overall(found), "parts": forms}

    async def watch(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Looks again and again, until it is cancelled: so that "since" is when it happened and not when somebody
        asked, and so that the log tells of it."""
        self.is_watched = True
        while True:
            await self.parts()
            await pause(WATCH_S)

    async def _look(self, now: datetime) -> list[Part]:
        tools = [*await asyncio.to_thread(self._knowledge.check), *await self._models.check()]
        more = [state for ask in self.more_states for state in await _states_of(ask, now)]
        return [
            *(self._part(tool, "tool", now) for tool in (*tools, *more)),
            *(self._part(platform, "platform", now) for platform in await self.platform_states()),
        ]

    def _part(self, tool: ToolStatus, kind: PartKind, now: datetime) -> Part:
        known, since = self._since.get(tool.name, ("", now))
        if known != tool.state:
            since = now
            self._since[tool.name] = (tool.state, now)
            if known or tool.state != "ok":
                say = log.info if tool.state == "ok" else log.warning
                say("part.changed", part=tool.name, state=tool.state, before=known or "unknown", reason=tool.detail)
        return Part(name=tool.name, kind=kind, state=tool.state, detail=tool.detail, since=since)


async def no_platforms() -> Sequence[ToolStatus]:
    """Nothing: no bot is running."""
    return ()


async def _states_of(ask: PlatformStates, now: datetime) -> Sequence[ToolStatus]:
    """What it says; that it cannot look is a state too, and must not end who looks."""
    try:
        return await ask()
    except (BotError, KnowledgeError) as error:
        return [ToolStatus(name="records", state="down", detail=str(error), checked_at=now)]


def _overall(parts: Sequence[Part]) -> str:
    if any(part.name == "catalog" and part.state == "down" for part in parts):
        return "down"
    return "ok" if all(part.state == "ok" for part in parts) else "degraded"


# --- haechi doctor --------------------------------------------------------------------------------

_OPTIONAL_READERS = (
    ("tesseract", "scans and pictures", "tesseract-ocr tesseract-ocr-kor"),
    ("soffice", "old Word files (.doc)", "libreoffice-writer-nogui"),
)


def check_machine() -> Iterator[Check]:
    """Python, SQLite, git, and the programs that read scans and old Word files."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Check(
        name="python",
        ok=sys.version_info[:2] >= OLDEST_PYTHON,
        detail=version,
        remedy="" if sys.version_info[:2] >= OLDEST_PYTHON else "install Python 3.11 or newer",
    )
    yield _check_sqlite()
    git = shutil.which("git")
    yield Check(
        name="git",
        ok=git is not None,
        detail=git or "not found",
        remedy="" if git else "install the Debian package git; repositories cannot be read without it",
    )
    for program, reads, packages in _OPTIONAL_READERS:
        found = shutil.which(program)
        yield Check(  # not a problem: what they would read is reported as unread, file by file
            name=program,
            ok=True,
            detail=found or f"not found, so that {reads} are left unread",
            remedy="" if found else f"`make readers`, or install the Debian packages {packages}",
        )


def check_settings(settings: Settings) -> Iterator[Check]:
    """Data folder, sources and the page's port."""
    yield _check_data_folder(settings.data_dir)
    for source in settings.sources:
        yield _check_source(source)
    if settings.web.enabled:
        yield _check_port(settings)
    token_file = settings.web.token_file
    if token_file is not None and stat.S_IMODE(token_file.stat().st_mode) & 0o077:
        yield Check(name="web token", ok=False, detail=f"{token_file} can be read by others", remedy="chmod 600 it")


def _check_sqlite() -> Check:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text, tokenize = 'unicode61')")
    except sqlite3.OperationalError as error:
        return Check(
            name="sqlite",
            ok=False,
            detail=f"{sqlite3.sqlite_version} without FTS5 ({error})",
            remedy="use a Python whose SQLite has FTS5, as Debian's has",
        )
    finally:
        connection.close()
    return Check(name="sqlite", ok=True, detail=f"{sqlite3.sqlite_version} with FTS5")


def _check_data_folder(path: Path) -> Check:
    try:
        folder = DataFolder.prepare(path)
    except BotError as error:
        return Check(name="data folder", ok=False, detail=str(error), remedy="correct data_dir or its rights")
    free_bytes = shutil.disk_usage(path).free
    free = f"{free_bytes / 1e9:.1f} GB free"
    if free_bytes < 200_000_000:
        return Check(name="data folder", ok=False, detail=f"{path}, {free}", remedy="free some space on that disk")
    try:
        folder.lock("haechi doctor", started_at=datetime.now().astimezone())
    except DataFolderBusy:
        owner = folder.owner()
        who = f"process {owner.pid} ({owner.command})" if owner else "another process"
        return Check(name="data folder", ok=True, detail=f"{path}, {free}, in use by {who}")
    except BotError as error:
        return Check(name="data folder", ok=False, detail=str(error), remedy="use a local disk for data_dir")
    folder.release()
    return Check(name="data folder", ok=True, detail=f"{path}, {free}")


def _check_source(source: SourceSettings) -> Check:
    name, path = f"source {source.name}", source.path
    if source.kind == "repository":
        try:
            return Check(name=name, ok=True, detail=check_source(source.config()))
        except KnowledgeError as error:
            return Check(name=name, ok=False, detail=str(error), remedy="see docs/code-repositories.md")
    if path is None or not path.is_dir():
        return Check(name=name, ok=False, detail=f"{path} is not a folder", remedy="correct its path")
    if not os.access(path, os.R_OK | os.X_OK):
        return Check(name=name, ok=False, detail=f"{path} cannot be read", remedy="change its rights")
    return Check(name=name, ok=True, detail=os.fspath(path))


def _check_port(settings: Settings) -> Check:
    web = settings.web
    family = socket.AF_INET6 if ":" in web.host else socket.AF_INET
    owner = DataFolder(settings.data_dir).owner()
    try:
        socket.create_server((web.host, web.port), family=family).close()
    except OSError as error:
        if owner is not None and owner.command == "haechi run":
            return Check(name="page", ok=True, detail=f"port {web.port} is served by process {owner.pid}")
        return Check(
            name="page",
            ok=False,
            detail=f"{web.host} port {web.port}: {error.strerror}",
            remedy="stop the program that uses it, or set another web.port",
        )
    return Check(name="page", ok=True, detail=f"port {web.port} of {web.host} is free")
