"""A running bot that is told to stop at busy times: what is being answered is finished, or answered by the next start."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bot.stopping import STOPPED_AT_ONCE
from tests.e2e.haechi import FOLLOWS_NOTHING, TIMEOUT_S, Haechi, wait_for_line
from tests.e2e.storm import CONFIG, SECRETS, Bot, Storm, complaints, inbox_of
from tests.e2e.test_cli_faults import documents_of, slow_company
from tests.e2e.waiting import eventually
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.ollama import LanguageModel, OllamaEmulator, Script
from tests.emulators.slack import SlackEmulator

MODEL = """
[model]
provider = "ollama"
name = "slow"
url = "{ollama}"
first_token_timeout_s = 300
concurrency = 2
"""
SAID = "연차휴가는 15일입니다 [1]."


@dataclass
class Office:
    """A bot with a model that says nothing before it is let go."""

    haechi: Haechi
    bot: Bot
    storm: Storm
    model: OllamaEmulator
    let_go: threading.Event

    async def ask(self) -> None:
        await self.storm._ask_slack("연차휴가는 며칠인가요?", None)
        await self.storm._ask_mattermost("연차휴가는 며칠인가요?", None)

    async def asked_model(self) -> None:
        await eventually(lambda: len(self.model.requests("/api/chat")) >= 2, in_thread=True)

    def signal(self, number: signal.Signals) -> None:
        assert self.bot.process is not None
        self.bot.process.send_signal(number)

    async def ended(self) -> int:
        assert self.bot.process is not None
        return await asyncio.to_thread(self.bot.process.wait, TIMEOUT_S)

    def said(self) -> str:
        return self.bot.logs[-1].read_text(encoding="utf-8")

    async def all_answered_once(self) -> None:
        await self.storm.calm(TIMEOUT_S)
        assert complaints(self.storm) == []
        assert inbox_of(self.haechi).get("failed", 0) == 0


@asynccontextmanager
async def office(haechi: Haechi):
    let_go = threading.Event()
    scripts = [Script(pieces=(SAID,), hold_before_first=let_go) for _ in range(40)]
    with OllamaEmulator(models=[LanguageModel(name="slow")]) as model:
        model.scripts.extend(scripts)
        async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
            platforms = CONFIG.format(slack=slack.url, mattermost=mattermost.url)
            haechi.configure(platforms + MODEL.format(ollama=model.url) + FOLLOWS_NOTHING)
            haechi.secrets |= SECRETS
            assert (await asyncio.to_thread(haechi.run, "ingest")).returncode == 0
            bot = Bot(haechi=haechi)
            try:
                await bot.start()
                yield Office(haechi, bot, Storm(slack, mattermost, bot, mentions=2, seed=1), model, let_go)
            finally:
                let_go.set()
                bot.end()


async def test_answers_that_are_being_written_are_finished_before_the_bot_ends(haechi):
    async with office(haechi) as busy:
        await busy.ask()
        await busy.asked_model()
        busy.signal(signal.SIGTERM)
        await eventually(lambda: "Stopping" in busy.said(), in_thread=True)
        busy.let_go.set()
        assert await busy.ended() == 0
        assert "Traceback" not in busy.said()
        await busy.all_answered_once()  # without another start


async def test_answers_that_take_longer_than_the_limit_are_given_by_the_next_start(haechi):
    async with office(haechi) as busy:
        await busy.ask()
        await busy.asked_model()
        busy.signal(signal.SIGTERM)
        assert await busy.ended() == 0
        assert "Traceback" not in busy.said()
        assert inbox_of(haechi) == {"received": 2}  # no crash of theirs
        busy.let_go.set()
        await busy.bot.start()
        await busy.all_answered_once()


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
async def test_a_second_signal_ends_the_bot_at_once_and_the_next_start_answers(haechi, second):
    async with office(haechi) as busy:
        await busy.ask()
        await busy.asked_model()
        busy.signal(signal.SIGINT)
        await eventually(lambda: "Stopping" in busy.said(), in_thread=True)
        busy.signal(second)
        assert await busy.ended() == 1
        assert STOPPED_AT_ONCE in busy.said()
        busy.let_go.set()
        await busy.bot.start()
        await busy.all_answered_once()


async def test_a_stop_in_the_middle_of_a_sync_leaves_it_to_the_next_start(haechi):
    async with office(haechi) as busy:
        slow_company(haechi, documents=80)
        ingest = haechi.start("ingest", "--source", "rules")
        await asyncio.to_thread(wait_for_line, ingest, "rules: reading", stream="stderr")
        busy.signal(signal.SIGTERM)
        assert await busy.ended() == 0
        assert "Traceback" not in busy.said()
        ingest.kill()  # it would go on by itself, and take over the data folder
        ingest.communicate()
        await busy.bot.start()  # takes up what was left, although nothing is synced at the start
        wanted = ["done", "interrupted"]
        await eventually(
            lambda: [job["state"] for job in haechi.json("jobs", "--json")][:2] == wanted, every_s=0.5, in_thread=True
        )
        assert len(documents_of(haechi)) == 83
