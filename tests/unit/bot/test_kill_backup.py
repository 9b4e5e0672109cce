"""A process that is killed during backup and restore while people ask: no accepted question is lost, the index is what it
was or what the backup holds and never a mixture, nothing is embedded again, and nothing is left lying about."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from bot.audit import AuditLog
from bot.inbox import Inbox
from bot.maintenance import Maintenance
from bot.settings_operations import RetentionSettings
from bot.store import Store
from bot.types import Author, Message, ThreadRef
from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.types import SourceConfig
from tests.unit.knowledge.shelf import EVERYTHING, CountingEmbedder

ROOT = Path(__file__).parents[3]
DOCUMENTS = 6
RESTORE_STEPS = (
    "restore-unpacked",
    "restored-catalog",
    "restored-cache",
    "restored-verified",
    "restore-knows",
    "restore-complete",
)
BACKUP_STEPS = ("backup-copied", "backup-written")


@dataclass
class Opened:
    store: Store
    knowledge: Knowledge
    maintenance: Maintenance
    embedder: CountingEmbedder


def utc_now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def opened(place: Path, on_step: Callable[[str], None] = lambda step: None) -> Iterator[Opened]:
    """As `haechi run` opens its data folder."""
    data = place / "data"
    data.mkdir(exist_ok=True)
    store = Store.open(data / "bot.sqlite3", clock=utc_now)
    embedder = CountingEmbedder()
    config = KnowledgeConfig(
        data_dir=data,
        sources=(SourceConfig(name="rules", kind="documents", path=place / "docs"),),
        embedders={"docs": ("counting",)},
        workers=1,
    )
    knowledge = Knowledge.open(config, adapters=Adapters(embedder=lambda name: embedder, on_step=on_step))
    maintenance = Maintenance(
        store=store, knowledge=knowledge, data_dir=data, retention=RetentionSettings(), clock=utc_now, on_step=on_step
    )
    try:
        maintenance.finish_interrupted()
        yield Opened(store, knowledge, maintenance, embedder)
    finally:
        knowledge.close()
        store.close()


def write_documents(place: Path, version: int) -> None:
    (place / "docs").mkdir(exist_ok=True)
    for number in range(DOCUMENTS):
        articles = "\n\n".join(
            f"## 제{n}조(조항{n})\n문서{number} 판{version} 금액은 {n * 7}원이다." for n in (1, 2, 3)
        )
        (place / "docs" / f"doc{number}.md").write_text(f"# 규정 {number}\n\n{articles}\n", encoding="utf-8")


def versions(knowledge: Knowledge) -> list[str]:
    """The version that each shown chunk is of."""
    catalog = knowledge._catalog
    chunks = catalog.chunks_where("1", (), catalog.active_generations(EVERYTHING))
    return [chunk.text.split(" 판")[1].split(" ")[0] for chunk in chunks]


def message(number: int) -> Message:
    return Message(
        id=str(number), thread=ThreadRef(platform="slack", channel_id="C1", root_id=str(number)),
        author=Author(id="U1", display_name="미나", is_bot=False), text="연차는?", mentions_bot=True, is_direct=False,
        attachments=(), posted_at=utc_now(), delivery_id=f"C1:{number}",
    )  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1 is in the backup, version 2 is shown."""
    place = tmp_path_factory.mktemp("prepared")
    write_documents(place, 1)
    with opened(place) as now:
        now.knowledge.sync()
        Inbox(now.store, clock=utc_now).save(message(0))
        now.maintenance._write_backup(place / "old.backup")
        write_documents(place, 2)
        now.knowledge.sync()
        AuditLog(now.store, clock=utc_now).record("slack:U1", "reindex", "since the backup")
    return place


@pytest.fixture
def home(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared, tmp_path / "home", copy_function=shutil.copy2)  # times too: nothing has changed
    return tmp_path / "home"


def run_child(place: Path, what: str, *, at_step: str = "", after_asked: int = 0) -> tuple[bool, int]:
    """Whether the child died of the kill, at a named step or from outside, and the last question it had accepted."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.bot.test_kill_backup", str(place), what, at_step],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    accepted = 0
    for line in child.stdout:
        accepted = int(line)
        if after_asked and accepted >= after_asked:
            child.kill()
    _, errors = child.communicate()
    assert child.returncode in (0, -signal.SIGKILL), errors
    return child.returncode != 0, accepted


def check(place: Path, accepted: int, *, allowed: set[str]) -> str:
    """The version that is shown after the next start, once everything that must hold has been seen to hold."""
    with opened(place) as now:
        shown = versions(now.knowledge)
        assert len(shown) == DOCUMENTS * 3
        assert len(set(shown)) == 1, f"a mixture: {shown}"
        assert shown[0] in allowed
        report = now.knowledge.maintenance.verify(repair=False)
        assert report.ok, report.findings
        assert report.vectors == DOCUMENTS * 3
        assert now.knowledge.search("조항2 금액", scope=EVERYTHING).chunks
        assert now.embedder.passages == []
        stored = {row["delivery_id"] for row in now.store.query("SELECT delivery_id FROM inbox")}
        assert {f"C1:{number}" for number in range(accepted + 1)} <= stored
        assert [row["detail"] for row in now.store.query("SELECT detail FROM audit_log WHERE action = 'reindex'")]
    names = {path.name for path in (place / "data").iterdir()}
    assert not names & {"restoring", "backing-up"}
    assert [path for path in place.iterdir() if path.name.startswith(".haechi-backup-")] == []
    assert not (place / "new.backup.partial").exists()
    return shown[0]


@pytest.mark.parametrize("step", RESTORE_STEPS)
def test_a_restore_that_is_killed_at_a_commit_point_is_undone_or_complete(home: Path, step: str) -> None:
    killed, accepted = run_child(home, "restore", at_step=step)
    assert killed
    shown = check(home, accepted, allowed={"1", "2"})
    assert shown == ("1" if step == "restore-complete" else "2")


def test_undoing_a_restore_that_is_killed_itself_is_done_at_the_start_after(home: Path) -> None:
    assert run_child(home, "restore", at_step="restored-cache")[0]
    killed, accepted = run_child(home, "start", at_step="restored-catalog")
    assert killed
    assert check(home, accepted, allowed={"2"}) == "2"


@pytest.mark.parametrize("step", BACKUP_STEPS)
def test_a_backup_that_is_killed_at_a_commit_point_is_whole_or_not_there(home: Path, step: str) -> None:
    killed, accepted = run_child(home, "backup", at_step=step)
    assert killed
    check(home, accepted, allowed={"2"})
    assert (home / "new.backup").exists() == (step == "backup-written")


def storm(home: Path, kills: int, seed: int) -> int:
    chance = random.Random(seed)
    killed = 0
    while killed < kills:
        before = check(home, 0, allowed={"1", "2"})
        what = chance.choice(("restore", "restore", "backup"))
        died, accepted = run_child(home, what, after_asked=chance.randint(1, 60))
        killed += died
        after = check(home, accepted, allowed={before, "1"} if what == "restore" else {before})
        if not died:
            assert after == ("1" if what == "restore" else before)
        if (home / "new.backup").exists():
            with tarfile.open(home / "new.backup") as whole:
                assert len(whole.getmembers()) >= 4
            (home / "new.backup").unlink()
        if after == "1" and chance.random() < 0.5:  # the folder holds version 2
            with opened(home) as now:
                now.knowledge.sync()
    return killed


def test_killed_at_random_moments_of_backup_and_restore_nothing_is_lost_or_mixed(home: Path) -> None:
    assert storm(home, kills=3, seed=3) >= 3


@pytest.mark.long
def test_killed_at_a_hundred_random_moments_of_backup_and_restore(home: Path) -> None:
    assert storm(home, kills=100, seed=7) >= 100


def test_a_restore_that_cannot_finish_puts_back_what_was_there_at_once(home: Path) -> None:
    """The backup's own database is sound and of this version, but its content breaks a rule of ours."""
    folder = home / "unpacked"
    with tarfile.open(home / "old.backup") as whole:
        whole.extractall(folder, filter="data")
    other = Store.open(folder / "bot.sqlite3", clock=utc_now)
    with other.transaction() as connection:
        connection.execute("DROP TABLE inbox")
    other.close()
    (folder / "manifest.json").unlink()
    from bot.backup import write_archive
    from bot.errors import StoreError

    write_archive(home / "broken.backup", folder, version="1", taken_at=utc_now())
    shutil.rmtree(folder)
    with opened(home) as now:
        with pytest.raises(StoreError):
            now.maintenance._put_back(home / "broken.backup")
        assert set(versions(now.knowledge)) == {"2"}
    assert check(home, 0, allowed={"2"}) == "2"


def _work_and_die(place: Path, what: str, at_step: str) -> None:
    def on_step(step: str) -> None:
        if step == at_step:
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(place, on_step) as now:
        inbox, over = Inbox(now.store, clock=utc_now), threading.Event()
        taken = {row["delivery_id"] for row in now.store.query("SELECT delivery_id FROM inbox")}

        def ask() -> None:
            number = 0
            while not over.is_set():
                number += 1
                if f"C1:{number}" not in taken:
                    inbox.save(message(number))
                print(number, flush=True)
                over.wait(0.002)

        people = threading.Thread(target=ask)
        people.start()
        try:
            if what == "restore":
                now.maintenance._put_back(place / "old.backup")
            elif what == "backup":
                now.maintenance._write_backup(place / "new.backup")
        finally:
            over.set()
            people.join()


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # standard output is for numbers
    _work_and_die(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
