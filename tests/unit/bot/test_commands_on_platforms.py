"""Every command in every place on Slack and Mattermost: answered once, to whoever gave it and to nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bot.store import Store
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.platforms.mattermost_bench import bench as mattermost_bench
from tests.unit.bot.platforms.slack_bench import listening, slack_server
from tests.unit.bot.test_places_taken_away import working

COMMANDS = (
    ("feedback up", "no answer here yet"),
    ("", "What `/haechi` can do"),
    ("help", "What `/haechi` can do"),
    ("도움말", "할 수 있는 일"),
    ("serch 여비", "혹시 `/haechi search`인가요?"),
    ("ask", "Write the question"),
    ("질문", "무엇을 물어볼지"),
    ("ask 연차휴가는 며칠인가요?", "15일"),
    ("ask " + "연차 " * 200, "너무 깁니다"),
    ("search", "Write what to look for"),
    ("search 연차휴가", "검색 결과"),
    ("sources", "`rules`"),
    ("status", "Connections"),
    ("상태", "연결"),
    ("reindex", "[commands] admins"),
    ("feedback", "Write a vote"),
    ("feedback up", "Your vote is saved"),
)
SIGNS_OF_LIFE = ("자료를 찾고 있습니다…", "Searching…")  # of commands that may wait for a model
PLACES = ("channel", "thread", "direct", "elsewhere")


@dataclass
class Told:
    """What the giver of the commands saw, and what the channel saw."""

    privately: list[str]
    publicly: list[Any]


async def on_slack(company: Any, store: Store, place: str) -> Told:
    async with slack_server() as server, listening(server) as heard:
        line = ChatLine(company, store, heard.platform)  # type: ignore[arg-type] - any platform will do
        heard.forward = line.reception.receive
        server.workspace.add_channel("C7", "elsewhere", bot_in=False)
        channel = {"direct": "D1", "elsewhere": "C7"}.get(place, "C1")
        root = await server.say("C1", "U2", "점심?") if place == "thread" else ""
        async with working(line):
            for number, (args, _) in enumerate(COMMANDS, start=1):
                await server.command("U1", channel, args, thread_ts=root)
                await saved(line, number)
                await line.settled()
        assert {entry["user"] for entry in server.workspace.ephemeral} == {"U1"}
        return Told(
            privately=[str(entry.get("blocks") or entry["text"]) for entry in server.workspace.ephemeral],
            publicly=server.workspace.bot_posts(),
        )


async def saved(line: ChatLine, number: int) -> None:
    """Returns when so many commands stand in the inbox: an answer comes before the next command."""
    await until(lambda: len(line.store.query("SELECT 1 FROM inbox WHERE kind = 'command'")) == number)


async def on_mattermost(company: Any, store: Store, place: str) -> Told:
    async with mattermost_bench(command_tokens=("right",), callback_url="http://127.0.0.1:9") as heard:
        line = ChatLine(company, store, heard.platform)  # type: ignore[arg-type] - any platform will do
        heard.forward = line.reception.receive
        state = heard.server.state
        elsewhere = state.add_channel("elsewhere", "Elsewhere", {state.alice})
        channel = {"direct": state.direct(state.bot, state.alice), "elsewhere": elsewhere}.get(place, state.town)
        root = state.say(state.bob, state.town, "점심?")["id"] if place == "thread" else ""
        state.create_command(
            state.alice, {"team_id": state.team["id"], "trigger": "haechi", "method": "P", "url": "http://x"}
        )
        async with working(line):
            for args, _ in COMMANDS:
                _, form, hook = state.start_command(state.alice, {"channel_id": channel, "command": f"/haechi {args}"})
                address = f"{heard.server.url}/hooks/commands/{hook}"
                form |= {"token": "right", "response_url": address, "root_id": root}
                await heard.platform.take_command(form)
                await line.settled()
        assert {user for user, _ in state.ephemeral} == {state.alice}
        return Told(privately=[text for _, text in state.ephemeral], publicly=state.own_posts())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("give", [on_slack, on_mattermost])
async def test_every_command_is_answered_once_and_in_private_wherever_it_is_given(company, store, give, place):
    told = await give(company, store, place)
    answers = [text for text in told.privately if not any(sign in text for sign in SIGNS_OF_LIFE)]
    assert len(answers) == len(COMMANDS)
    for (args, words), text in zip(COMMANDS, answers, strict=True):
        assert words in text.replace("\\n", "\n"), (args, text)
    assert told.publicly == []
    searching = next(place for place, text in enumerate(told.privately) if SIGNS_OF_LIFE[0] in text)
    assert searching < next(place for place, text in enumerate(told.privately) if "15일" in text)
