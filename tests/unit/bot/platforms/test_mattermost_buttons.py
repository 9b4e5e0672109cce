"""Votes by button and by reaction: whose they are, and that nobody can make them up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.platforms.mattermost_buttons import LIFETIME, ButtonRefused, Buttons, Place, derived_key, vote_of
from tests.unit.bot.platforms.mattermost_bench import bench, quiet, until
from tests.unit.bot.platforms.test_mattermost_posting import LONG

NOW = datetime(2026, 3, 2, tzinfo=UTC)
PLACE = Place(channel_id="c", root_id="r", delivery_id="d")
CALLBACK = "http://127.0.0.1:1"


def buttons(key: bytes = b"key") -> Buttons:
    return Buttons(key, "http://haechi/mattermost/button")


def test_what_was_signed_is_read_back():
    context = buttons().context(PLACE, "down", now=NOW)
    assert buttons().verified(context, channel_id="c", now=NOW + LIFETIME) == (PLACE, "down")


@pytest.mark.parametrize(
    "change",
    [{"vote": "up"}, {"channel_id": "x"}, {"root_id": "x"}, {"delivery_id": "x"}, {"expires_s": 10**12}, {"version": 2},
     {"signature": "0" * 64}, {"signature": ""}, {"signature": None}, {"signature": "é\ud800"}, {"more": 1}],
)  # fmt: skip
def test_nothing_of_a_context_can_be_changed(change):
    context = {**buttons().context(PLACE, "down", now=NOW), **change}
    with pytest.raises(ButtonRefused):
        buttons().verified(context, channel_id="c", now=NOW)


@pytest.mark.parametrize("context", [None, "", [], {}, {"signature": "x"}, 7])
def test_a_context_of_any_shape_is_refused(context):
    with pytest.raises(ButtonRefused):
        buttons().verified(context, channel_id="c", now=NOW)


def test_a_button_ends_after_a_while():
    context = buttons().context(PLACE, "up", now=NOW)
    with pytest.raises(ButtonRefused) as caught:
        buttons().verified(context, channel_id="c", now=NOW + LIFETIME + timedelta(seconds=2))
    assert caught.value.expired


def test_a_button_belongs_to_its_channel_and_to_its_key():
    context = buttons().context(PLACE, "up", now=NOW)
    with pytest.raises(ButtonRefused):
        buttons().verified(context, channel_id="other", now=NOW)
    with pytest.raises(ButtonRefused):
        buttons(b"another key").verified(context, channel_id="c", now=NOW)
    assert derived_key("one token") != derived_key("another token")


@pytest.mark.parametrize(
    ("emoji", "vote"),
    [("+1", "up"), ("thumbsup", "up"), ("-1_medium_dark_skin_tone", "down"), ("+1_medium_light_skin_tone", "up"),
     ("x", "wrong"), ("eyes", None), ("", None)],
)  # fmt: skip
def test_reactions_that_are_votes(emoji, vote):
    assert vote_of(emoji) == vote


async def test_a_reaction_on_an_answer_is_a_vote():
    async with bench() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        state.vote(state.alice, post_id, "-1")
        await until(lambda: b.votes)
        assert [(v.reply_id, v.author.id, v.author.display_name, v.vote) for v in b.votes] == [
            (post_id, state.alice, "앨리스", "down")
        ]


async def test_a_reaction_that_is_removed_takes_the_vote_back():
    async with bench() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        state.vote(state.alice, post_id, "-1")
        state.remove_reaction(state.alice, state.alice, post_id, "-1")
        await until(lambda: len(b.votes) == 2)
        assert [(v.vote, v.taken_back, v.delivery_id) for v in b.votes] == [
            ("down", False, f"mattermost:{asked['id']}"), ("down", True, f"mattermost:{asked['id']}"),
        ]  # fmt: skip


async def test_a_reaction_on_a_later_part_counts_for_the_whole_answer():
    async with bench() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked, LONG))
        state.vote(state.alice, state.own_posts(thread=asked["id"])[-1]["id"], "+1")
        await until(lambda: b.votes)
        assert b.votes[0].reply_id == post_id


async def test_reactions_elsewhere_and_the_bots_own_are_no_votes():
    async with bench() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        state.vote(state.bob, asked["id"], "+1")
        state.vote(state.bot, post_id, "x")
        state.vote(state.alice, post_id, "eyes")
        await b.platform.post(b.reply(asked, "아직", delivery_id="open", final=False))
        state.vote(state.alice, state.own_posts(thread=asked["id"])[-1]["id"], "+1")
        await quiet()
        assert b.votes == []


async def test_buttons_stand_under_the_last_part_of_an_answer_and_under_no_refusal():
    async with bench(callback_url=CALLBACK) as b:
        asked = b.ask()
        await b.platform.post(b.reply(asked, LONG))
        await b.platform.post(b.reply(asked, "모릅니다", delivery_id="other", kind="refusal"))
        posts = b.server.state.own_posts(thread=asked["id"])
        assert ["attachments" in post["props"] for post in posts] == [*[False] * (len(posts) - 2), True, False]
        actions = posts[-2]["props"]["attachments"][0]["actions"]
        assert [action["id"] for action in actions] == ["haechiup", "haechidown", "haechiwrong"]
        assert all("integration" not in action for action in actions)  # the server keeps it to itself


async def test_without_an_address_for_callbacks_there_are_no_buttons():
    async with bench() as b:
        asked = b.ask()
        await b.platform.post(b.reply(asked))
        assert "attachments" not in b.server.state.own_posts()[0]["props"]


async def test_buttons_are_no_part_of_what_the_bot_said():
    async with bench(callback_url=CALLBACK) as b:
        asked = b.ask()
        await b.platform.post(b.reply(asked))
        assert [m.text for m in await b.platform.fetch_thread(b.thread(asked), 10)][1:] == ["15일입니다. [1]"]
