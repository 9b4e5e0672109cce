"""Syncs that are asked for, joined and cancelled by command line, slash command and HTTP meet in one queue."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, TIMEOUT_S, Haechi, wait_for_line
from tests.e2e.storm import SECRETS, Bot
from tests.e2e.test_cli_faults import documents_of, slow_company
from tests.emulators.mattermost import MattermostEmulator

CONFIG = """
[mattermost]
enabled = true
url = "{mattermost}"
token_env = "STORM_MATTERMOST"
command_token_env = "JOBS_COMMANDS"
callback_url = "http://127.0.0.1:1"

[commands]
admins = ["mattermost:{admin}"]

[hooks]
reindex_token_env = "JOBS_REINDEX"
"""
REINDEX_TOKEN, SLASH_TOKEN = "jobs-reindex-token", "jobs-slash-token"
DOCUMENTS = 50


async def by_command_line(haechi: Haechi, page: str, server: MattermostEmulator, number: int) -> str:
    run = await asyncio.to_thread(haechi.run, "jobs", "cancel", str(number))
    assert run.returncode == 0, run.stderr
    return "command line"


async def by_http(haechi: Haechi, page: str, server: MattermostEmulator, number: int) -> str:
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {REINDEX_TOKEN}"}, timeout=TIMEOUT_S) as client:
        answer = await client.request("DELETE", f"{page}/reindex", json={"sources": ["rules"]})
    assert answer.json() == {"jobs": [number]}
    return "http"


async def by_slash_command(haechi: Haechi, page: str, server: MattermostEmulator, number: int) -> str:
    state = server.state
    address = f"{page}/mattermost/command"
    state.create_command(state.alice, {"team_id": state.team["id"], "trigger": "haechi", "method": "P", "url": address})
    state.commands["haechi"]["token"] = SLASH_TOKEN
    await server._execute_command(state.alice, {"channel_id": state.town, "command": "/haechi reindex cancel rules"})
    return f"mattermost:{server.state.alice}"


@pytest.mark.parametrize("cancel", [by_command_line, by_slash_command, pytest.param(by_http, marks=pytest.mark.long)])
async def test_a_running_sync_is_cancelled_keeps_what_it_has_done_and_the_next_one_goes_on(haechi, cancel):
    slow_company(haechi, documents=DOCUMENTS)
    async with MattermostEmulator() as server:
        haechi.configure(CONFIG.format(mattermost=server.url, admin=server.state.alice) + FOLLOWS_NOTHING)
        haechi.secrets |= {**SECRETS, "JOBS_REINDEX": REINDEX_TOKEN, "JOBS_COMMANDS": SLASH_TOKEN}
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            ingest = haechi.start("ingest", "--source", "rules")
            await asyncio.to_thread(wait_for_line, ingest, "rules: reading", stream="stderr")
            (job,) = await asyncio.to_thread(haechi.json, "jobs", "--json")
            assert job["state"] == "running"
            who = await cancel(haechi, bot.page(), server, job["job"])
            out, err = await asyncio.to_thread(ingest.communicate, timeout=TIMEOUT_S)
            assert f"cancelled by {who}" in out + err
            (job,) = await asyncio.to_thread(haechi.json, "jobs", "--json")
            assert (job["state"], job["reason"]) == ("cancelled", f"cancelled by {who}")
            kept = await asyncio.to_thread(documents_of, haechi)
            assert len(kept) < DOCUMENTS
            run = await asyncio.to_thread(haechi.run, "ingest", "--source", "rules")
            assert run.returncode == 0, run.stderr
            whole = await asyncio.to_thread(documents_of, haechi)
            assert kept <= whole
            assert len(whole) == DOCUMENTS + 2
        finally:
            bot.end()


def test_a_job_that_is_over_cannot_be_cancelled(indexed):
    run = indexed.run("jobs", "cancel", "1")
    assert run.returncode == 1
    assert "No job 1 waits or runs" in run.stderr
