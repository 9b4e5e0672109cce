"""Disks that are full or read-only, databases that others hold, a vector index that is lost, under a running bot: people
are told or served later, no question is lost or answered twice, and nothing is embedded again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

import pytest

from tests.e2e.disks import disk
from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi, interrupt, wait_for_line
from tests.e2e.storm import CONFIG, SECRETS, Bot, Storm, complaints, inbox_of
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import SlackEmulator

ANSWERED_WITHIN_S = 300.0
QUESTIONS = 6


@dataclass
class Company:
    """A running bot that people ask over Slack and Mattermost."""

    haechi: Haechi
    bot: Bot
    storm: Storm

    async def ask(self) -> None:
        for number in range(QUESTIONS):
            if number % 2:
                await self.storm._ask_slack(f"연차휴가는 며칠인가요? ({number})", None)
            else:
                await self.storm._ask_mattermost(f"연차휴가는 며칠인가요? ({number})", None)

    async def all_answered_once(self) -> None:
        await self.storm.calm(ANSWERED_WITHIN_S)
        assert complaints(self.storm) == []
        assert inbox_of(self.haechi).get("failed", 0) == 0


@asynccontextmanager
async def company(haechi: Haechi):
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        haechi.configure(CONFIG.format(slack=slack.url, mattermost=mattermost.url) + FOLLOWS_NOTHING)
        haechi.secrets |= SECRETS
        assert haechi.run("ingest").returncode == 0
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            yield Company(haechi, bot, Storm(slack, mattermost, bot, mentions=QUESTIONS, seed=1))
        finally:
            bot.end()


async def test_questions_on_a_full_disk_are_answered_once_when_there_is_room_again(haechi):
    with disk(haechi.folder / "data", "60m") as full:
        async with company(haechi) as running:
            await running.ask()
            await running.all_answered_once()
            full.fill()
            await running.ask()
            run = haechi.run("ingest", "--force")
            assert run.returncode == 1
            assert "is full" in run.stdout + run.stderr
            assert "Traceback" not in run.stderr
            full.free()
            await running.all_answered_once()
            assert haechi.run("ingest").returncode == 0
            assert haechi.json("verify", "--check-only", "--json")["ok"]


async def test_questions_on_a_disk_that_became_read_only_are_answered_once_when_it_is_mended(haechi):
    with disk(haechi.folder / "data", "60m") as broken:
        async with company(haechi) as running:
            await running.ask()
            await running.all_answered_once()
            await running.bot.kill()  # as when a disk fails: a file that is open for writing keeps it writable
            broken.remount("ro")
            run = haechi.run("run")
            assert run.returncode != 0
            assert "cannot be written" in run.stderr
            assert "Traceback" not in run.stderr
            await running.ask()
            broken.remount("rw")
            await running.bot.start()
            await running.all_answered_once()


async def test_questions_while_another_process_holds_the_databases_are_answered_once_afterwards(haechi):
    async with company(haechi) as running:
        with closing(sqlite3.connect(haechi.folder / "data" / "bot.sqlite3", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            await running.ask()
            held.execute("ROLLBACK")
        await running.all_answered_once()
        with closing(sqlite3.connect(haechi.folder / "data" / "catalog.sqlite3", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            run = haechi.run("ingest", "--force")
            assert run.returncode == 1
            assert "in use by another process" in run.stdout + run.stderr
            await running.ask()
            await running.all_answered_once()  # questions only read
            held.execute("ROLLBACK")
        assert haechi.run("ingest", "--force").returncode == 0


def test_a_bot_that_starts_while_another_process_holds_the_catalog_waits_for_it_and_then_answers(haechi):
    haechi.configure(FOLLOWS_NOTHING)
    assert haechi.run("ingest").returncode == 0
    with closing(sqlite3.connect(haechi.folder / "data" / "catalog.sqlite3", isolation_level=None)) as held:
        held.execute("PRAGMA locking_mode = EXCLUSIVE")
        held.execute("BEGIN EXCLUSIVE")
        process = haechi.start("run")
        assert "in use by another process" in wait_for_line(process, "Waiting for it")
        held.execute("ROLLBACK")
    wait_for_line(process, "Haechi answers at ")
    assert "15일" in haechi.run("ask", "연차휴가는 며칠인가요?").stdout
    interrupt(process)
    assert process.returncode == 0


@pytest.mark.parametrize("damage", ["deleted", "truncated"])
async def test_a_vector_index_that_is_lost_under_a_running_bot_is_named_and_mended_without_embedding(haechi, damage):
    async with company(haechi) as running:
        await running.ask()
        await running.all_answered_once()
        chroma = haechi.folder / "data" / "chroma"
        if damage == "deleted":
            shutil.rmtree(chroma)
        else:
            for path in [path for path in chroma.rglob("*") if path.is_file()]:
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        await running.ask()
        await running.all_answered_once()  # from keywords, if need be
        assert haechi.json("verify", "--json")["ok"]
        report = haechi.json("ingest", "--json")
        assert [source["embedded"] for source in report["sources"]] == [0, 0]
        found = haechi.json("search", "--json", "연차휴가는 며칠인가요?")
        assert found["degraded"] == []
        assert found["results"][0]["scores"]["dense"]
