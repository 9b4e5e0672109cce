"""`/haechi cases` and `haechi cases`: admins list, show and forget cases; the scope of the channel holds."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from bot.audit import AuditLog
from bot.case_operations import CaseOperations, note_forgotten
from bot.channels import ChannelPolicy, Channels
from bot.cli_cases import add_case_commands
from bot.commands_parsing import parse_cases
from bot.types import Author
from knowledge.errors import NotFound
from knowledge.types import Scope
from knowledge.types_cases import CitedText, NewCase
from tests.unit.bot.alerts.desk_world import open_world
from tests.unit.bot.chat_line import ChatLine

ADMIN = Author(id="boss", display_name="Boss", is_bot=False)
KIM = Author(id="kim", display_name="Kim", is_bot=False)
CHANNELS = Channels(
    default=ChannelPolicy(scope=Scope.everything(), language="en"),
    direct=ChannelPolicy(scope=Scope.everything()),
    configured={
        ("fake", "hr"): ChannelPolicy(scope=Scope.of("rules"), language="ko"),
        ("fake", "dev"): ChannelPolicy(scope=Scope.of("shop"), language="en"),
    },
)
EVERYTHING = Scope.everything()


@pytest.fixture
def world(tmp_path):
    with open_world(tmp_path) as opened:
        for service, cause in (("pay", "The `pool` is too small @channel."), ("mail", "The queue is full.")):
            opened.knowledge.memory.remember(case(service, cause))
        yield opened


def case(service: str, cause: str) -> NewCase:
    cited = CitedText(
        source="shop", uri="payments.py", revision="0" * 40, start_line=4, end_line=9, symbol="PaymentRetry", text="x"
    )
    return NewCase(
        service=service, error_class=f"{service.title()}Error", fingerprint=service, message="it failed", summary="s",
        cause=cause, fix="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", cited=(cited,), origin=f"fake:{service}",
        url="https://chat.example.com/1",
    )  # fmt: skip


async def told(world, args: str, *, author=ADMIN, channel="general") -> str:
    line = ChatLine(world, world.store, world.platform, channels=CHANNELS, admins=("fake:boss",), clock=world.clock)
    async with line.running():
        await world.platform.command(args, author=author, channel=channel)
        await line.settled()
    return world.platform.private[-1][1]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", ("list", None, None)), ("list", ("list", None, None)), ("목록 pay", ("list", None, "pay")),
        ("show 12", ("show", 12, None)), ("보기 #12", ("show", 12, None)), ("12", ("show", 12, None)),
        ("forget 3", ("forget", 3, None)), ("삭제 3", ("forget", 3, None)), ("forget", ("forget", None, None)),
        ("forget 3 4", ("forget", None, None)), ("forget all", ("forget", None, None)),
        ("drop 3", ("unknown", None, None)), ("show ١٢x", ("show", None, None)), ("show 99999999999999", ("show", None, None)),
    ],
)  # fmt: skip
def test_the_words_behind_cases(rest, expected):
    assert parse_cases(rest) == expected


async def test_admins_list_and_show_cases(world):
    listed = await told(world, "cases")
    assert "[#1](https://chat.example.com/1) `PayError` (`pay`)" in listed
    assert "[#2](https://chat.example.com/1) `MailError` (`mail`)" in listed
    assert "#1" not in await told(world, "cases list mail")
    shown = await told(world, "사례 보기 1")
    assert "The 'pool' is too small" in shown
    assert "`shop/payments.py:4`" in shown
    assert "```diff\n--- a/x" in shown
    assert "@channel" not in shown.replace("\u200b", "|")


async def test_a_forgotten_case_is_gone_and_leaves_a_row_in_the_audit_log(world):
    assert "Case #1" in await told(world, "cases forget 1")
    assert [one.number for one in world.knowledge.memory.list_cases(scope=EVERYTHING)] == [2]
    with pytest.raises(NotFound):
        world.knowledge.memory.show(1, scope=EVERYTHING)
    assert "There is no case 1" in await told(world, "cases show 1")
    rows = [(row["actor"], row["action"], row["detail"]) for row in world.store.query("SELECT * FROM audit_log")]
    assert rows[0] == (
        "fake:boss", "/haechi cases", "forget 1 in general: forgot case 1 of service pay, PayError",
    )  # fmt: skip
    assert world.knowledge.memory.remember(case("pay", "The pool is too small, @channel!")) is not None  # same origin
    assert [one.number for one in world.knowledge.memory.list_cases(scope=EVERYTHING)] == [2]


async def test_only_admins_see_cases_and_only_those_that_the_channel_may_see(world):
    assert "Only admins" in await told(world, "cases", author=KIM)
    assert "사례가 없습니다" in await told(world, "cases", channel="hr")
    assert "사례 1번이 없습니다" in await told(world, "cases show 1", channel="hr")
    assert "사례 1번이 없습니다" in await told(world, "cases forget 1", channel="hr")
    assert "#1" in await told(world, "cases", channel="dev")
    assert len(world.knowledge.memory.list_cases(scope=EVERYTHING)) == 2


@pytest.mark.parametrize("args", ["cases forget", "cases forget all", "cases drop 1", "cases show 1 2"])
async def test_what_cannot_be_understood_changes_nothing(world, args):
    assert "Write `/haechi cases`" in await told(world, args)
    assert len(world.knowledge.memory.list_cases(scope=EVERYTHING)) == 2


def run(world, *words: str) -> SimpleNamespace:
    import asyncio

    operations = CaseOperations(
        world.knowledge.memory,
        AuditLog(world.store, clock=world.clock),
        partial(note_forgotten, world.store, world.clock),
    )
    app = typer.Typer()
    add_case_commands(app, lambda method, params: asyncio.run(operations.methods[method](params, lambda step: None)))
    app.command("other")(lambda: None)
    done = CliRunner().invoke(app, ["cases", *words])
    return SimpleNamespace(code=done.exit_code, out=done.output, error=done.exception)


def test_the_command_line_lists_shows_and_forgets(world):
    import json

    listed = run(world, "list")
    assert listed.code == 0
    assert "#1  pay  PayError" in listed.out
    shown = json.loads(run(world, "show", "2", "--json").out)
    assert (shown["case"], shown["service"], shown["cause"]) == (2, "mail", "The queue is full.")
    assert shown["cited"][0] == {
        "source": "shop", "uri": "payments.py", "revision": "0" * 40, "start_line": 4, "end_line": 9,
        "symbol": "PaymentRetry",
    }  # fmt: skip
    assert "rests on: shop/payments.py:4-9  PaymentRetry" in run(world, "show", "2").out
    assert "forgotten: #2  mail  MailError" in run(world, "forget", "2").out
    assert [one["case"] for one in json.loads(run(world, "list", "--json").out)] == [1]
    assert isinstance(run(world, "show", "2").error, NotFound)
    assert run(world, "list", "--service", "mail").out.strip() == "No case is remembered yet."
    (row,) = world.store.query("SELECT actor, action, detail FROM audit_log")
    assert tuple(row) == ("cli", "case forgotten", "case 2 of service mail, MailError")
