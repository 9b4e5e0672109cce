"""What is heard on Slack, how it reads, and that nothing is acknowledged before it is saved."""

from __future__ import annotations

import time

import pytest

from bot.errors import StoreError
from bot.types import Attachment
from tests.emulators.slack import BOT_USER, Failure, event_callback
from tests.unit.bot.platforms.slack_bench import MENTION, listening, slack_server


@pytest.fixture
async def server():
    async with slack_server(ack_timeout_s=0.2) as server:
        yield server


@pytest.fixture
async def bench(server):
    async with listening(server) as bench:
        yield bench


async def test_a_mention_that_arrives_as_two_events_is_delivered_once(bench, server):
    await server.say("C1", "U1", f"{MENTION} 연차는?")
    await server.sockets.settled()
    assert len(server.sockets.acknowledged) == 2
    assert [(m.text, m.mentions_bot, m.is_direct, m.author.display_name) for m in bench.messages] == [
        ("연차는?", True, False, "미나")
    ]


async def test_a_mention_is_heard_when_only_mentions_are_subscribed(bench, server):
    server.subscribed = {"app_mention"}
    await server.say("C1", "U1", f"{MENTION} 연차는?")
    await server.sockets.settled()
    assert [m.mentions_bot for m in bench.messages] == [True]


async def test_a_follow_up_without_a_mention_belongs_to_the_thread_of_its_root(bench, server):
    root = await server.say("C1", "U1", f"{MENTION} 연차는?")
    below = await server.say("C1", "U2", "그럼 병가는?", thread_ts=root)
    await server.sockets.settled()
    last = bench.messages[-1]
    assert (last.id, last.thread.root_id, last.mentions_bot) == (below, root, False)


@pytest.mark.parametrize(("channel", "kind", "direct"), [("D7", "im", True), ("G7", "mpim", False)])
async def test_only_a_conversation_with_the_bot_alone_is_direct(bench, server, channel, kind, direct):
    server.workspace.add_channel(channel, "x", kind=kind)
    await server.say(channel, "U1", "연차는?")
    await server.say(channel, "U1", f"{MENTION} 병가는?")
    await server.sockets.settled()
    assert [(m.is_direct, m.mentions_bot) for m in bench.messages] == [(direct, False), (direct, True)]


async def test_others_who_are_spoken_to_are_named_and_marked(bench, server):
    await server.say("C1", "U1", f"{MENTION} <@U2>에게 알려줘")
    await server.sockets.settled()
    assert (bench.messages[0].text, bench.messages[0].mentions_others) == ("@준호에게 알려줘", True)


async def test_an_alert_of_a_webhook_is_read_from_its_attachments(bench, server):
    await server.say(
        "C1", None, "", subtype="bot_message", bot_id="B9", username="Grafana",
        attachments=[{"title": "[FIRING] PaymentTimeout", "text": "TimeoutError in pay()", "fallback": "firing"}],
    )  # fmt: skip
    await server.sockets.settled()
    alert = bench.messages[0]
    assert (alert.author.id, alert.author.display_name, alert.author.is_bot, alert.event) == (
        "B9",
        "Grafana",
        True,
        "posted",
    )
    assert alert.text == "[FIRING] PaymentTimeout\nTimeoutError in pay()"


async def test_another_app_with_a_bot_user_is_a_bot(bench, server):
    server.workspace.add_user("U7BOT", "jira", is_bot=True)
    await server.say("C1", "U7BOT", "티켓", bot_id="B7", bot_profile={"name": "Jira"})
    await server.sockets.settled()
    assert (bench.messages[0].author.id, bench.messages[0].author.is_bot) == ("U7BOT", True)


async def test_own_posts_and_edits_are_not_delivered(bench, server):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("연차는 ")
    await stream.finish(bench.reply(message))
    await server.sockets.settled()
    assert bench.messages == [message]


async def test_edits_deletes_and_joins_are_marked_as_what_they_are(bench, server):
    ts = await server.say("C1", "U1", f"{MENTION} 연차는?")
    await server.edit("C1", ts, f"{MENTION} 병가는?")
    await server.delete("C1", ts)
    await server.say("C1", "U2", f"<@U2> has joined, invited by {MENTION}", subtype="channel_join")
    await server.sockets.settled()
    assert sorted(m.event for m in bench.messages) == ["deleted", "edited", "posted", "system"]
    assert len({m.delivery_id for m in bench.messages}) == 4


async def test_a_repeated_event_is_acknowledged_and_not_delivered_again(bench, server):
    message = {
        "type": "message",
        "user": "U1",
        "text": "안녕",
        "ts": "1790000000.000100",
        "channel": "C1",
        "channel_type": "channel",
    }
    for _ in range(3):
        server.sockets.dispatch("events_api", event_callback(message, 1))
    await server.sockets.settled()
    assert len(bench.messages) == 1
    assert len(server.sockets.acknowledged) == 3


async def test_what_cannot_be_saved_is_not_acknowledged_and_comes_again(bench, server):
    bench.refuse = StoreError("The disk is full.")
    server.subscribed = {"message"}
    await server.say("C1", "U1", "연차는?")
    await bench.until(lambda: len(server.sockets.sent) >= 2)
    assert server.sockets.acknowledged == []
    bench.refuse = None
    await server.sockets.settled()
    assert [m.text for m in bench.messages] == ["연차는?"]


async def test_events_that_nobody_needs_are_acknowledged(bench, server):
    server.subscribed.add("member_joined_channel")
    server.event({"type": "member_joined_channel", "user": "U1", "channel": "C1", "event_ts": "1.1"})
    await server.sockets.settled()
    assert (len(server.sockets.acknowledged), bench.heard) == (1, [])


# --- files ----------------------------------------------------------------------------------------


async def test_text_and_log_files_join_the_message_and_others_are_named(bench, server):
    files = [
        server.add_file("app.log", b"TimeoutError\n  at pay()", "application/octet-stream"),
        server.add_file("메모.txt", "한글 메모".encode("cp949"), "text/plain"),
        server.add_file("사진.png", b"\x89PNG", "image/png"),
    ]
    await server.say("C1", "U1", f"{MENTION} 봐줘", subtype="file_share", files=files)
    await server.sockets.settled()
    assert bench.messages[0].attachments == (
        Attachment(name="app.log", media_type="application/octet-stream", text="TimeoutError\n  at pay()"),
        Attachment(name="메모.txt", media_type="text/plain", text="한글 메모"),
        Attachment(name="사진.png", media_type="image/png", text=None),
    )


@pytest.mark.parametrize("lie", [False, True])
async def test_of_a_log_of_five_megabytes_the_beginning_and_the_end_are_read(bench, server, lie):
    lines = b"".join(b"%07d nothing happened\n" % number for number in range(180_000))
    file = server.add_file("big.log", lines + b"TimeoutError: pay", "text/plain")
    if lie:
        file["size"] = 10
    await server.say("C1", "U1", f"{MENTION} 봐줘", subtype="file_share", files=[file])
    await server.sockets.settled()
    (text,) = (a.text for a in bench.messages[0].attachments)
    assert text is not None
    assert len(text) <= 256_100
    assert text.startswith("0000000 nothing happened\n")
    assert text.endswith("0179999 nothing happened\nTimeoutError: pay")


async def test_a_text_file_that_holds_no_text_is_named_as_unread(bench, server):
    file = server.add_file("core.txt", bytes(range(1, 256)) * 20, "text/plain")
    await server.say("C1", "U1", f"{MENTION} 봐줘", subtype="file_share", files=[file])
    await server.sockets.settled()
    assert [(a.name, a.text) for a in bench.messages[0].attachments] == [("core.txt", None)]


async def test_the_token_goes_to_slack_alone(bench, server):
    elsewhere = {
        "id": "F9",
        "name": "evil.txt",
        "mimetype": "text/plain",
        "size": 3,
        "url_private": "http://127.0.0.1:1/evil.txt",
    }
    await server.say("C1", "U1", f"{MENTION} 봐줘", subtype="file_share", files=[elsewhere])
    await server.sockets.settled()
    assert [a.text for a in bench.messages[0].attachments] == [None]


async def test_a_file_that_slack_keeps_back_is_named_as_unread(bench, server):
    file = server.add_file("app.log", b"x", "text/plain")
    file["url_private_download"] = file["url_private"].replace("/files/F", "/files/X")
    await server.say("C1", "U1", f"{MENTION} 봐줘", subtype="file_share", files=[file])
    await server.sockets.settled()
    assert [a.text for a in bench.messages[0].attachments] == [None]


# --- names ----------------------------------------------------------------------------------------


async def test_names_are_asked_once(bench, server):
    for _ in range(3):
        await server.say("C1", "U1", "안녕")
    await server.sockets.settled()
    assert server.calls["users.info"] == 1


async def test_a_message_does_not_wait_for_a_name_that_slack_does_not_tell(bench, server, monkeypatch):
    server.workspace.scopes.discard("users:read")
    await server.say("C1", "U1", "안녕")
    await server.sockets.settled()
    assert bench.messages[0].author.display_name == "U1"


# --- votes ----------------------------------------------------------------------------------------


async def answered(bench, text="15일입니다. [1]"):
    message = await bench.ask()
    return message, await bench.platform.post(bench.reply(message, text))


@pytest.mark.parametrize(
    ("emoji", "vote"),
    [
        ("+1", "up"),
        ("+1::skin-tone-3", "up"),
        ("thumbsdown", "down"),
        ("-1", "down"),
        ("x", "wrong"),
        ("wrong", "wrong"),
    ],
)
async def test_reactions_on_an_answer_are_votes(bench, server, emoji, vote):
    message, post = await answered(bench)
    await server.react("U2", "C1", post, emoji)
    await server.sockets.settled()
    given = bench.votes[0]
    assert (given.vote, given.reply_id, given.channel_id, given.delivery_id) == (vote, post, "C1", message.delivery_id)
    assert (given.author.id, given.taken_back, given.platform) == ("U2", False, "slack")


async def test_a_reaction_that_is_removed_takes_the_vote_back(bench, server):
    _, post = await answered(bench)
    await server.react("U2", "C1", post, "+1", removed=True)
    await server.sockets.settled()
    assert [(v.vote, v.taken_back) for v in bench.votes] == [("up", True)]


async def test_a_reaction_on_any_part_is_a_vote_on_the_answer(bench, server):
    message, _ = await answered(bench, "문단입니다.\n\n" * 1500)
    last = server.workspace.bot_posts()[-1]["ts"]
    await server.react("U2", "C1", last, "-1")
    await server.sockets.settled()
    assert [v.delivery_id for v in bench.votes] == [message.delivery_id]


async def test_other_reactions_and_reactions_elsewhere_are_no_votes(bench, server):
    message, post = await answered(bench)
    await server.react("U2", "C1", post, "eyes")
    await server.react("U2", "C1", message.id, "+1")
    await server.react(BOT_USER, "C1", post, "+1")
    await server.sockets.settled()
    assert bench.votes == []


@pytest.mark.parametrize("vote", ["up", "down", "wrong"])
async def test_buttons_are_votes_and_are_thanked_for(bench, server, vote):
    message, post = await answered(bench)
    await server.press("U2", "C1", post, f"haechi_vote_{vote}")
    await bench.until(lambda: server.workspace.ephemeral)
    given = bench.votes[0]
    assert (given.vote, given.delivery_id, given.author.id) == (vote, message.delivery_id, "U2")
    thanks = server.workspace.ephemeral[0]
    assert (thanks["user"], thanks["response_type"], thanks["replace_original"]) == ("U2", "ephemeral", False)


async def test_nobody_is_thanked_for_a_vote_on_an_answer_that_is_not_on_record_any_more(bench, server):
    async def unknown(delivery) -> bool:
        return False

    _, post = await answered(bench)
    bench.forward = unknown
    await server.press("U2", "C1", post, "haechi_vote_up")
    await bench.until(lambda: server.workspace.ephemeral)
    assert "기록에 없어서" in server.workspace.ephemeral[0]["text"]


async def test_a_vote_that_cannot_be_saved_is_not_acknowledged(bench, server):
    _, post = await answered(bench)
    await server.sockets.settled()
    before = len(server.sockets.acknowledged)
    bench.refuse = StoreError("The disk is full.")
    await server.press("U2", "C1", post, "haechi_vote_up")
    await bench.until(lambda: len([e for e in server.sockets.sent if e["type"] == "interactive"]) >= 2)
    assert len(server.sockets.acknowledged) == before


async def test_buttons_of_other_apps_are_acknowledged_and_ignored(bench, server):
    ts = await server.say(
        "C1",
        "U1",
        "x",
        blocks=[
            {
                "type": "actions",
                "block_id": "b",
                "elements": [
                    {
                        "type": "button",
                        "action_id": "other",
                        "text": {"type": "plain_text", "text": "x"},
                        "value": "up:1",
                    }
                ],
            }
        ],
    )
    await server.press("U2", "C1", ts, "other")
    await server.sockets.settled()
    assert bench.votes == []


async def test_a_channel_that_another_organisation_reads_is_marked(bench, server):
    server.workspace.add_channel("C9", "partners").shared = True
    for channel in ("C1", "C9"):
        await server.say(channel, "U1", f"{MENTION} 연차는?")
    await server.sockets.settled()
    assert {m.thread.channel_id: m.is_shared for m in bench.messages} == {"C1": False, "C9": True}
    assert [await bench.platform.is_shared(channel) for channel in ("C1", "C9")] == [False, True]


async def test_people_of_other_organisations_and_of_the_grid_are_heard_by_their_ids(bench, server):
    server.workspace.add_user("W012ABC", "그리드")
    await server.say("C1", "W012ABC", f"{MENTION} 연차는?", user_team="E0GRID", source_team="T9")
    await server.say("C1", "U0STRANGER", f"{MENTION} <@W012ABC> 연차는?", user_team="T9", source_team="T9")
    await server.sockets.settled()
    said = {message.author.id: message for message in bench.messages}
    grid, stranger = said["W012ABC"], said["U0STRANGER"]
    assert grid.author.display_name == "그리드"
    assert not stranger.author.is_bot  # users.info does not know them
    assert stranger.text == "@그리드 연차는?"
    assert stranger.mentions_others


async def test_a_reply_that_is_also_sent_to_the_channel_is_one_message_of_its_thread(bench, server):
    root = await server.say("C1", "U2", "다들 보세요")
    await server.say("C1", "U1", f"{MENTION} 연차는?", thread_ts=root, subtype="thread_broadcast")
    await server.sockets.settled()
    (said,) = (m for m in bench.messages if m.mentions_bot)
    assert (said.thread.root_id, said.event) == (root, "posted")


async def test_two_mentions_in_one_post_are_one_message(bench, server):
    await server.say("C1", "U1", f"{MENTION} 연차는? {MENTION} 그리고 병가는?")
    await server.sockets.settled()
    assert [m.text for m in bench.messages] == ["연차는? 그리고 병가는?"]


async def test_people_who_are_renamed_are_called_by_their_new_name_after_a_while(bench, server):
    messages = bench.platform._messages
    assert (await messages.person("U2")).name == "준호"
    server.workspace.add_user("U2", "준호 (인사팀)")
    assert (await messages.person("U2")).name == "준호"
    later = time.monotonic() + 3601
    messages._monotonic = lambda: later
    assert (await messages.person("U2")).name == "준호 (인사팀)"
    later += 3601
    server.fail("users.info", Failure(error="internal_error"))
    assert (await messages.person("U2")).name == "준호 (인사팀)"  # an old name is better than an id
