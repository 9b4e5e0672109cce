"""What keeps the data folder sound and bounded: verify, backup, restore, export, erasure, retention. JSON values in and
out, for the command line and the control socket, as bot.operations does for everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
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
from bot.restoring import RESTORED_AT, STATE_PLATFORM, bring_back
from bot.retention import apply_periods
from bot.settings_operations import RetentionSettings
from bot.store import Store, require_usable, timestamp
from bot.unfinished import UnfinishedBackup, UnfinishedRestore
from knowledge.api import Knowledge

BOT = "bot.sqlite3"
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
        on_step: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._store = store
        self._knowledge = knowledge
        self._restore_place = UnfinishedRestore(data_dir)
        self._backup_place = UnfinishedBackup(data_dir)
        self._retention = retention
        self._clock = clock
        self._state = StoredPlatformState(store, STATE_PLATFORM, clock=clock)
        self._audit = AuditLog(store, clock=clock)
        self._on_step = on_step
        self._alone = asyncio.Lock()
        self.on_restored: list[Callable[[], None]] = []  # told of every restore, in the event loop
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

    def finish_interrupted(self) -> bool:
        """Whether a restore had been killed in its middle and was undone; what a killed backup left is removed, too.

        The bot's own database is brought up to date last, in one transaction: a restore that came so far is complete,
        any other is undone. Raises KnowledgeError, with everything left for the next try.
        """
        self._backup_place.remove()
        begun = self._restore_place.begun()
        undone = begun is not None and begun != self._state.get(RESTORED_AT)
        if undone:
            self._knowledge.maintenance.restore(self._restore_place.previous)
            log.warning("restore.undone", reason="the process ended in the middle of it; give `haechi restore` again")
        self._restore_place.remove()
        return undone

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
                result = await asyncio.shield(work)
            except asyncio.CancelledError:  # half a restore is worse than a late end
                await asyncio.wait({work})
                raise
        for told in self.on_restored:
            told()
        return result

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
        try:
            with self._backup_place.copies(target) as folder:
                self._copy_all(folder)
                self._on_step("backup-copied")
                manifest = write_archive(target, folder, version=version("haechi"), taken_at=taken_at)
                self._on_step("backup-written")
        except OSError as error:
            raise BackupError(f"The backup {target} cannot be written: {error.strerror or error}.") from error
        self._state.put(LAST_BACKUP, taken_at.isoformat())
        log.info("backup.written", bytes=target.stat().st_size, files=len(manifest.files))
        return {"file": str(target), "bytes": target.stat().st_size, "files": len(manifest.files),
                "taken_at": manifest.taken_at}  # fmt: skip

    def _copy_all(self, folder: Path) -> None:
        """The bot's database first: what it says was answered rests on a catalog that is at least as new."""
        self._store.copy_to(folder / BOT)
        self._knowledge.maintenance.backup(folder)

    def _put_back(self, archive: Path) -> dict[str, Any]:
        place, now = self._restore_place, self._clock()
        place.prepare()

        def bring_bot_back() -> None:
            self._on_step("restore-knows")
            bring_back(self._store, place.wanted / BOT, now, clock=self._clock)
            self._on_step("restore-complete")

        try:
            manifest = read_archive(archive, place.wanted)
            require_usable(place.wanted / BOT)
            self._on_step("restore-unpacked")
            verified = self._knowledge.maintenance.restore(
                place.wanted,
                aside=place.previous,
                begins=lambda: place.begin(timestamp(now)),
                ends=bring_bot_back,
                undone=place.remove,
            )
        except OSError as error:
            raise BackupError(
                f"The backup cannot be put back: {error.strerror or error}; free space or mend the rights of"
                f" {place.folder.parent}, then give the command again."
            ) from error
        finally:
            if self._is_settled(place, timestamp(now)):
                place.remove()
        self._audit.record("cli", "restore", f"backup of {manifest.taken_at} by version {manifest.version}")
        log.info("restore.done", taken_at=manifest.taken_at, ok=verified.ok)
        return {
            "taken_at": manifest.taken_at, "version": manifest.version, "ok": verified.ok,
            "documents": verified.documents, "chunks": verified.chunks, "vectors": verified.vectors,
        }  # fmt: skip

    def _is_settled(self, place: UnfinishedRestore, restore: str) -> bool:
        """Whether nothing has been touched or all is in its place; else the next start needs what was put aside."""
        return place.begun() is None or self._state.get(RESTORED_AT) == restore
