"""What keeps the data folder sound and bounded: verify, backup, restore, export, erasure, retention. JSON values in and
out, for the command line and the control socket, as bot.operations does for everything else."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from bot.audit import AuditLog
from bot.backup import read_archive, write_archive
from bot.control import Report
from bot.erasure import erase_person
from bot.errors import BackupError, BotError
from bot.export import export_page
from bot.platform_state import StoredPlatformState
from bot.restoring import STATE_PLATFORM, keep_what_is_newer
from bot.retention import apply_periods
from bot.settings_operations import RetentionSettings
from bot.store import Store, require_usable
from knowledge.api import Knowledge
from knowledge.errors import KnowledgeError

BOT = "bot.sqlite3"
RESTORING = "restoring"  # in the data folder, while a restore runs: what was there before
COMPLETE = "previous-is-complete"
LAST_BACKUP = "last_backup"
VACUUM_ABOVE_BYTES = 32 * 1024 * 1024

log = structlog.get_logger(__name__)


class Maintenance:
    """`methods` are what it can be asked for by name."""

    def __init__(
        self,
        *,
        store: Store,
        knowledge: Knowledge,
        data_dir: Path,
        retention: RetentionSettings,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._knowledge = knowledge
        self._data_dir = data_dir
        self._retention = retention
        self._clock = clock
        self._state = StoredPlatformState(store, STATE_PLATFORM, clock=clock)
        self._audit = AuditLog(store, clock=clock)
        self._alone = asyncio.Lock()
        self.methods: Mapping[str, Callable[[Mapping[str, Any], Report], Awaitable[dict[str, Any]]]] = {
            "verify": self._verify,
            "backup": self._backup,
            "restore": self._restore,
            "export": self._export,
            "erase": self._erase,
        }

    def last_backup_at(self) -> datetime | None:
        """When the last backup was finished; None when there was none."""
        kept = self._state.get(LAST_BACKUP)
        return datetime.fromisoformat(kept) if kept else None

    def apply_retention(self, now: datetime) -> dict[str, int]:
        """How much of each kind was removed because its period is over; then bot.sqlite3 is tidied."""
        removed = apply_periods(self._store, self._retention, now)
        freed = self._store.tidy(vacuum_above_bytes=VACUUM_ABOVE_BYTES)
        log.info("retention.applied", freed_bytes=freed, **removed)
        return removed

    def finish_interrupted_restore(self) -> bool:
        """Whether a restore had been killed in its middle: what was there before is then back in place."""
        previous = self._data_dir / RESTORING / "previous"
        if not (self._data_dir / RESTORING).exists():
            return False
        complete = (self._data_dir / RESTORING / COMPLETE).exists()
        if complete:
            self._knowledge.maintenance.restore(previous)
            self._store.replace_by(previous / BOT, clock=self._clock)
            log.warning("restore.undone", reason="the process ended in the middle of it; give `haechi restore` again")
        shutil.rmtree(self._data_dir / RESTORING)
        return complete

    # --- by name ------------------------------------------------------------------------------------

    async def _verify(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        loop = asyncio.get_running_loop()

        def progress(part: str) -> None:
            loop.call_soon_threadsafe(
                report, {"source": "", "stage": part, "done": 0, "total": None, "detail": "verify"}
            )

        async with self._alone:
            found = await asyncio.to_thread(
                self._knowledge.maintenance.verify, repair=bool(params.get("repair")), progress=progress
            )
            bot = await asyncio.to_thread(self._check_bot)
        findings = [asdict(finding) for finding in found.findings] + bot
        return {
            "ok": found.ok and not bot,
            "documents": found.documents,
            "chunks": found.chunks,
            "vectors": found.vectors,
            "findings": findings,
        }

    async def _backup(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        async with self._alone:
            return await asyncio.to_thread(self._write_backup, Path(str(params["file"])))

    async def _restore(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        async with self._alone:
            work = asyncio.ensure_future(asyncio.to_thread(self._put_back, Path(str(params["file"]))))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:  # half a restore is worse than a late end
                await asyncio.wait({work})
                raise

    async def _export(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        since = params.get("since")
        rows, after = await asyncio.to_thread(
            export_page, self._store, str(params["kind"]), since=None if since is None else str(since),
            after=int(params.get("after") or 0),
        )  # fmt: skip
        return {"rows": rows, "after": after}

    async def _erase(self, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        platform, separator, person = str(params["person"]).partition(":")
        if not (platform and separator and person):
            raise BotError(
                "Name the person as PLATFORM:USER_ID, such as slack:U0123456, mattermost:4xp9fdt7 or web:1f2e3d."
            )
        counts = await asyncio.to_thread(erase_person, self._store, platform, person)
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        await asyncio.to_thread(self._audit.record, "cli", "erase", f"{platform}:{person}: {told}")
        await asyncio.to_thread(self._store.tidy, vacuum_above_bytes=VACUUM_ABOVE_BYTES)
        return {"erased": counts}

    # --- inside -------------------------------------------------------------------------------------

    def _check_bot(self) -> list[dict[str, Any]]:
        said = str(self._store.query("PRAGMA quick_check(1)")[0][0])
        return [] if said == "ok" else [{"part": BOT, "what": said, "found": 1, "repaired": 0}]

    def _write_backup(self, target: Path) -> dict[str, Any]:
        taken_at = self._clock()
        if not target.parent.is_dir():
            raise BackupError(f"The backup {target} cannot be written: {target.parent} is not a folder.")
        with tempfile.TemporaryDirectory(prefix=".haechi-backup-", dir=target.parent) as name:
            self._copy_all(Path(name))
            manifest = write_archive(target, Path(name), version=version("haechi"), taken_at=taken_at)
        self._state.put(LAST_BACKUP, taken_at.isoformat())
        log.info("backup.written", bytes=target.stat().st_size, files=len(manifest.files))
        return {"file": str(target), "bytes": target.stat().st_size, "files": len(manifest.files),
                "taken_at": manifest.taken_at}  # fmt: skip

    def _copy_all(self, folder: Path) -> None:
        """The bot's database first: what it says was answered rests on a catalog that is at least as new."""
        self._store.copy_to(folder / BOT)
        self._knowledge.maintenance.backup(folder)

    def _put_back(self, archive: Path) -> dict[str, Any]:
        restoring = self._data_dir / RESTORING
        shutil.rmtree(restoring, ignore_errors=True)
        wanted, previous = restoring / "wanted", restoring / "previous"
        wanted.mkdir(parents=True, mode=0o700)
        previous.mkdir(mode=0o700)
        try:
            manifest = read_archive(archive, wanted)
            require_usable(wanted / BOT)
            self._copy_all(previous)
            (restoring / COMPLETE).touch()
            try:
                verified = self._knowledge.maintenance.restore(wanted)
                keep_what_is_newer(wanted / BOT, previous / BOT, self._clock())
                self._store.replace_by(wanted / BOT, clock=self._clock)
            except (BotError, KnowledgeError):
                with suppress(KnowledgeError):  # busy or damaged: then the knowledge was not touched
                    self._knowledge.maintenance.restore(previous)
                raise
        finally:
            shutil.rmtree(restoring, ignore_errors=True)
        self._audit.record("cli", "restore", f"backup of {manifest.taken_at} by version {manifest.version}")
        log.info("restore.done", taken_at=manifest.taken_at, ok=verified.ok)
        return {
            "taken_at": manifest.taken_at, "version": manifest.version, "ok": verified.ok,
            "documents": verified.documents, "chunks": verified.chunks, "vectors": verified.vectors,
        }  # fmt: skip
