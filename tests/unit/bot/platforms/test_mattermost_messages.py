"""Posts become messages: who said what, where, to whom, and what came along."""

from __future__ import annotations

import asyncio
import json
from time import perf_counter

import pytest

from bot.platforms.mattermost_messages import Own, author_of, flattened_attachments, message_of
from bot.reply_text import safe_markdown
from tests.unit.bot.platforms.mattermost_bench import bench, quiet, until

OWN = Own(id="b" * 26, username="helperbot")


def post(text: str = "", **fields):
    return {
        "id": "p" * 26, "create_at": 1000, "user_id": "a" * 26, "channel_id": "c" * 26, "root_id": "", "message": text,
        "type": "", "props": {}, **fields,
    }  # fmt: skip


def message(text: str = "", **fields):
    made = post(text, **fields)
    return message_of(made, own=OWN, author=author_of(made, "앨리스", is_bot_account=False), is_direct=False)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("@helperbot 연차는?", True),
        ("@helperbot야 연차는?", True),
        ("연차는? @HelperBot", True),
        ("(@helperbot)", True),
        ("@helperbot.", True),
        ("@helperbot2 연차는?", False),
        ("@helperbot-test", False),
        ("me@helperbot.com", False),
        ("@channel 회의", False),
        ("@all @here", False),
        ("`@helperbot` 은 봇입니다", False),
        ("```\n@helperbot\n```", False),
        ("helperbot 연차는?", False),
        ("", False),
    ],
)
def test_the_bot_is_named_by_its_name_alone(text, named):
    assert message(text).mentions_bot is named


@pytest.mark.parametrize(
    ("text", "others"),
    [("@bob 어떻게 생각해요?", True), ("@helperbot @bob", True), ("@helperbot. @channel", False), ("@Override", False),
     ("`@bob`", False), ("mail@bob.com", False), ("", False)],
)  # fmt: skip
def test_somebody_else_is_spoken_to_by_name(text, others):
    assert message(text).mentions_others is others


def test_the_name_of_the_bot_is_no_part_of_the_question():
    assert message("@helperbot 연차는 며칠인가요?").text == "연차는 며칠인가요?"


def test_a_join_that_names_the_bot_is_a_system_event():
    joined = message(
        "@helperbot added to the channel by alice.", type="system_add_to_channel", props={"addedUserId": OWN.id}
    )
    assert (joined.event, joined.mentions_bot, joined.author.is_bot) == ("system", False, True)


def test_a_reply_belongs_to_the_root_of_its_thread():
    assert message("x", root_id="r" * 26).thread.root_id == "r" * 26
    assert message("x").thread.root_id == "p" * 26


@pytest.mark.parametrize(
    "mark", [{"from_webhook": "true"}, {"from_bot": "true"}, {"from_plugin": True}, {"from_bot": True}]
)
def test_posts_of_machines_are_marked(mark):
    assert message("x", props=mark).author.is_bot


def test_a_webhook_has_the_rights_of_nobody():
    """It posts in the name of the person who made it."""
    sent = message("x", props={"from_webhook": "true", "override_username": "alertmanager"})
    assert sent.author.id != "a" * 26
    assert sent.author.display_name == "alertmanager"


def test_the_text_of_an_alert_is_read_from_its_attachments():
    attachment = {
        "fallback": "kurz", "pretext": "앞말", "title": "[FIRING:1] HighErrorRate", "text": "java.lang.NullPointerException",
        "fields": [{"title": "service", "value": "shop-api"}, {"title": "", "value": "critical"}, None], "footer": "grafana",
    }  # fmt: skip
    made = message("", type="slack_attachment", props={"attachments": [attachment, {"fallback": "nur das"}, "x"]})
    assert made.text.split("\n") == [
        "앞말", "[FIRING:1] HighErrorRate", "java.lang.NullPointerException", "service: shop-api", "critical", "grafana",
        "", "nur das",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "attachments", [None, "x", [], [[]], [{"fields": "x"}], [{"text": None, "fields": [1]}], {"a": 1}]
)
def test_attachments_of_any_shape_break_nothing(attachments):
    assert flattened_attachments(post(props={"attachments": attachments})) == ""


@pytest.mark.parametrize("sign", ["`", "~", "@", "```x", "`a", "@a.", "[", ">", "@helperbot ", "~~~ `", " "])
def test_a_hostile_text_of_100000_characters_is_read_and_made_safe_at_once(sign):
    """Quadratic patterns would keep the event loop for many seconds."""
    text = sign * (100_000 // len(sign))
    started = perf_counter()
    message(text)
    safe_markdown(text)
    assert perf_counter() - started < 2  # measured: below 0.1 s


async def test_attached_text_comes_along_and_other_files_are_named():
    async with bench() as b:
        state = b.server.state
        files = [
            state.add_file("error.log", b"NullPointerException", "text/plain"),
            state.add_file("photo.png", b"\x89PNG", "image/png"),
            state.add_file("huge.log", b"begin\n" + b"x\n" * 1_000_000 + b"end", "text/plain"),
            state.add_file("core.txt", bytes(range(256)) * 9, "text/plain"),
        ]
        state.say(state.alice, state.town, "@helperbot 이 로그 봐 주세요", file_ids=files)
        await until(lambda: b.messages)
        found = {a.name: a.text for a in b.messages[0].attachments}
        huge = found.pop("huge.log")
        assert found == {"error.log": "NullPointerException", "photo.png": None, "core.txt": None}
        assert huge is not None
        assert huge.startswith("begin\n")
        assert huge.endswith("x\nend")


async def test_a_file_that_cannot_be_read_does_not_keep_the_question_back():
    async with bench() as b:
        state = b.server.state
        b.server.fail("GET", "/files/.*", times=100, status=403)
        state.say(
            state.alice, state.town, "@helperbot 봐 주세요", file_ids=[state.add_file("a.log", b"x", "text/plain")]
        )
        await until(lambda: b.messages)
        assert [(a.name, a.text) for a in b.messages[0].attachments] == [("a.log", None)]


async def test_people_are_called_by_the_name_they_chose_and_looked_up_once():
    async with bench() as b:
        b.ask("@helperbot 하나")
        b.ask("@helperbot 둘")
        b.ask("@helperbot 셋")
        await until(lambda: len(b.messages) == 3)
        assert {m.author.display_name for m in b.messages} == {"앨리스"}
        asked = [path for _, path, _ in b.server.requests if path == f"/users/{b.server.state.alice}"]
        assert len(asked) == 1


async def test_other_bots_and_webhooks_are_heard_as_machines():
    async with bench() as b:
        state = b.server.state
        other = state.add_user("buildbot", token="x", is_bot=True)
        state.channels[state.town].members.add(other)
        state.say(other, state.town, "@helperbot 빌드 실패")
        hook = state.create_webhook(state.alice, {"channel_id": state.town, "username": "alertmanager"})[1]["id"]
        state.webhook_post(hook, {"attachments": [{"title": "[FIRING:1]", "text": "NullPointerException"}]})
        await until(lambda: len(b.messages) == 2)
        assert [m.author.is_bot for m in b.messages] == [True, True]
        assert b.texts[1] == "[FIRING:1]\nNullPointerException"


async def test_the_first_post_of_a_bot_is_a_bots_also_where_the_server_does_not_mark_it():
    async with bench() as b:
        state = b.server.state
        state.marks_bots = False
        other = state.add_user("buildbot", token="x", is_bot=True)
        state.channels[state.town].members.add(other)
        state.say(other, state.town, "@helperbot 빌드 실패")
        b.ask("@helperbot 연차는?")
        await until(lambda: len(b.messages) == 2)
        assert [m.author.is_bot for m in b.messages] == [True, False]


async def test_newcomers_are_looked_up_side_by_side():
    """Fifty who ask at once must not wait for one another's names."""
    async with bench() as b:
        state = b.server.state
        hold = asyncio.Event()
        b.server.fail("GET", "/users/[a-z0-9]{26}", times=1000, status=0, hold=hold)
        people = [state.add_user(f"person{number}", token=f"t{number}") for number in range(20)]
        state.channels[state.town].members.update(people)
        for person in people:
            state.say(person, state.town, "@helperbot 연차는?")
        await until(lambda: sum(path.startswith("/users/") for _, path, _ in b.server.requests) >= 8)
        hold.set()
        await until(lambda: len(b.messages) == 20)
        assert [m.author.id for m in b.messages] == people


async def test_a_server_with_collapsed_threads_tells_more_and_the_same_is_heard():
    """It sends events about threads between those about posts, and roots carry what their readers follow."""
    async with bench() as b:
        state = b.server.state
        row = state.channels[state.town]
        root = b.ask("다들 보세요")
        for event in ("thread_updated", "thread_follow_changed", "thread_read_changed", "channel_viewed"):
            state._send(event, {"thread": json.dumps({"id": root["id"], "reply_count": 1, "is_following": True})}, row)
        state.posts[root["id"]].update(is_following=True, last_reply_at=1, participants=[{"id": state.alice}])
        b.ask("@helperbot 연차는?", root=root["id"])
        await until(lambda: len(b.messages) == 2)
        assert b.messages[1].thread.root_id == root["id"]
        assert [m.text for m in await b.platform.fetch_thread(b.messages[1].thread, 9)] == ["다들 보세요", "연차는?"]


async def test_a_bot_that_is_renamed_while_it_runs_hears_its_new_name():
    async with bench() as b:
        state = b.server.state
        state.rename(state.bot, "haechi")
        state.rename(state.alice, "alicia")
        b.ask("@haechi 연차는?")
        b.ask("@helperbot 연차는?")
        await until(lambda: len(b.messages) == 2)
        assert [m.mentions_bot for m in b.messages] == [True, False]
        assert b.texts[0] == "연차는?"


async def test_a_channel_that_another_organisations_server_takes_part_in_is_marked():
    async with bench() as b:
        state = b.server.state
        partners = state.add_channel("partners", "Partners", {state.bot, state.alice})
        state.channels[partners].shared = True
        state.say(state.alice, partners, "@helperbot 연차는?")
        b.ask("@helperbot 연차는?")
        await until(lambda: len(b.messages) == 2)
        assert {m.thread.channel_id: m.is_shared for m in b.messages} == {partners: True, state.town: False}
        assert [await b.platform.is_shared(channel) for channel in (partners, state.town)] == [True, False]


async def test_two_mentions_in_one_post_are_one_message_and_indentation_stays():
    async with bench() as b:
        b.ask("@helperbot 이 코드는?\n```\ndef pay():\n    return  1\n``` @helperbot 왜죠?")
        await until(lambda: b.messages)
        assert b.texts == ["이 코드는?\n```\ndef pay():\n    return  1\n``` 왜죠?"]


async def test_edits_deletes_and_joins_are_told_apart_from_what_was_said():
    async with bench() as b:
        state = b.server.state
        said = b.ask("@helperbot 하나")
        state.patch_post(state.alice, said["id"], {"message": "@helperbot 둘"})
        state.delete_post(state.alice, said["id"])
        state.add_member(state.alice, state.town, {"user_id": state.bot})
        await until(lambda: len(b.heard) == 4)
        assert [m.event for m in b.heard] == ["posted", "edited", "deleted", "system"]
        assert len({m.delivery_id for m in b.heard}) == 4


async def test_with_teams_named_other_teams_are_not_heard_but_direct_messages_are():
    async with bench(teams=("other",)) as b:
        state = b.server.state
        b.ask("@helperbot 들리나요?")
        state.say(state.alice, state.direct(state.alice, state.bot), "여기는요?")
        await until(lambda: b.messages)
        await quiet()
        assert b.texts == ["여기는요?"]


async def test_addresses_lead_to_the_post_in_its_team():
    async with bench() as b:
        said = b.ask()
        await until(lambda: b.messages)
        assert b.platform.permalink(b.thread(said), said["id"]) == f"{b.server.url}/acme/pl/{said['id']}"


async def test_a_question_is_heard_while_names_and_files_cannot_be_read():
    gate = asyncio.Event()
    async with bench(request_timeout_s=60) as b:
        b.server.fail("GET", f"/users/{b.server.state.alice}", hold=gate, status=0)
        b.ask()
        await until(lambda: b.messages, limit_s=30)
        gate.set()
