"""A bot under a steady load of mentions, alerts and syncs, and how to tell that something of it grows."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.e2e.haechi import TIMEOUT_S, Haechi
from tests.e2e.storm import Storm

EVERY_S = 2.0  # between two looks at the process
DATABASES = ("bot.sqlite3", "catalog.sqlite3", "vectors.sqlite3")
TRACE = """Traceback (most recent call last):
  File "payments.py", line 12, in retry_declined
    raise PaymentDeclined(payment.id)
PaymentDeclined: order {number}"""


@dataclass(frozen=True, kw_only=True)
class Look:
    """What the process held at one moment."""

    at_s: float
    memory_mb: float  # its own, without what is mapped from files
    threads: int
    files: int
    processes: int
    wal_mb: float


def look_at(pid: int, data: Path, began_s: float) -> Look:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    wal = [data / f"{name}-wal" for name in DATABASES]
    return Look(
        at_s=time.monotonic() - began_s,
        memory_mb=int(status["RssAnon"].split()[0]) / 1024,
        threads=int(status["Threads"]),
        files=len(os.listdir(f"/proc/{pid}/fd")),
        processes=1 + len(children),
        wal_mb=sum(path.stat().st_size for path in wal if path.exists()) / 1e6,
    )


def growth(values: Sequence[float]) -> float:
    """How much the second half of a series grows from its beginning to its end: the median of the slopes between its
    pairs (Theil 1950, Sen 1968) times its length, so that no peak and no single step decides."""
    half = values[len(values) // 2 :]
    step = max(1, len(half) // 120)
    points = list(enumerate(half))[::step]
    slopes = [(b - a) / (j - i) for n, (i, a) in enumerate(points) for j, b in points[n + 1 :]]
    return statistics.median(slopes) * len(half) if slopes else 0.0


@dataclass(kw_only=True)
class Soak:
    """People, an alerting system and whoever changes documents and code, at once, for `seconds`."""

    haechi: Haechi
    storm: Storm
    page: str
    token: str
    pid: int
    seconds: float
    looks: list[Look] = field(default_factory=list)
    alerts: int = 0
    syncs: int = 0
    backups: int = 0

    async def run(self) -> None:
        began_s = time.monotonic()

        def goes_on() -> bool:
            return time.monotonic() - began_s < self.seconds

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._ask(goes_on))
            tasks.create_task(self._alert(goes_on))
            tasks.create_task(self._change(goes_on))
            tasks.create_task(self._operate(goes_on))
            while goes_on():
                self.looks.append(await asyncio.to_thread(look_at, self.pid, self.haechi.folder / "data", began_s))
                await asyncio.sleep(EVERY_S)

    async def _ask(self, goes_on: Callable[[], bool]) -> None:
        """Through the storm's own doors, with what goes wrong there."""
        while goes_on():
            self.storm.mentions = 20
            await self.storm.ask_all(())
            await asyncio.sleep(6.0)

    async def _alert(self, goes_on: Callable[[], bool]) -> None:
        """A few kinds of faults, most of which come again and again."""
        chance = random.Random(1)
        async with httpx.AsyncClient(timeout=TIMEOUT_S, headers={"authorization": f"Bearer {self.token}"}) as client:
            while goes_on():
                self.alerts += 1
                kind = chance.choice(("retry_declined", "charge", f"odd{self.alerts}"))
                text = TRACE.format(number=self.alerts).replace("retry_declined", kind)
                told = {"labels": {"alertname": "Declined", "service": "shop"}, "annotations": {"description": text}}
                body = {"version": "4", "status": "firing", "alerts": [{"status": "firing", **told}]}
                answer = await client.post(f"{self.page}/alerts", json=body)
                assert answer.status_code < 300, answer.text
                await asyncio.sleep(chance.uniform(1.0, 5.0))

    async def _change(self, goes_on: Callable[[], bool]) -> None:
        """A document is written, another one goes, code is committed: always about as many of them."""
        while goes_on():
            self.syncs += 1
            number = self.syncs % 20
            text = f"# 임시규정{number}\n\n## 제1조(금액)\n{self.syncs}번째 금액은 {self.syncs * 7}원으로 한다.\n"
            (self.haechi.folder / "rules" / f"임시{number}.md").write_text(text, encoding="utf-8")
            (self.haechi.folder / "rules" / f"임시{(number + 10) % 20}.md").unlink(missing_ok=True)
            if self.syncs % 3 == 0:
                await asyncio.to_thread(self._commit)
            await asyncio.sleep(5.0)

    def _commit(self) -> None:
        shop = self.haechi.folder / "shop"
        (shop / "totals.py").write_text(f"def total_{self.syncs}():\n    return {self.syncs}\n", encoding="utf-8")
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        for words in (["add", "."], ["commit", "-q", "-m", f"change {self.syncs}"]):
            subprocess.run(["git", *identity, *words], cwd=shop, check=True)

    async def _operate(self, goes_on: Callable[[], bool]) -> None:
        """An administrator: syncs, backups, and a monitoring system that reads the figures."""
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as client:
            while goes_on():
                for path in ("metrics", "readyz", "healthz"):
                    assert (await client.get(f"{self.page}/{path}")).status_code == 200
                forced = ("--force",) if self.backups % 2 else ()
                run = await asyncio.to_thread(self.haechi.run, "ingest", *forced)
                assert run.returncode == 0, run.stderr
                run = await asyncio.to_thread(self.haechi.run, "backup", "soak.backup")
                assert run.returncode == 0, run.stderr
                self.backups += 1
                await asyncio.sleep(20.0)

    def growths(self) -> dict[str, tuple[float, float]]:
        """figure -> its median in the second half, and how much it grew there."""
        half = self.looks[len(self.looks) // 2 :]
        names = ("memory_mb", "threads", "files", "processes", "wal_mb")
        return {
            name: (
                statistics.median(getattr(look, name) for look in half),
                growth([getattr(look, name) for look in self.looks]),
            )
            for name in names
        }
