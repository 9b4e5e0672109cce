"""Reactions that were given or taken back while nobody listened."""

from __future__ import annotations

import json

from bot.platforms.mattermost_votes import STATE_KEY, WATCHED_FOR, WATCHED_POSTS
from tests.unit.bot.platforms.mattermost_bench import bench, until


async def settled(b) -> None:
    """Returns when the look for missed votes that a new connection makes is over."""
    await until(lambda: any(path == "/posts/ids/reactions" for _, path, _ in b.server.requests))
    await until(lambda: b.platform._votes._waiting.empty())


async def test_votes_that_were_given_while_the_bot_was_away_are_found_when_it_comes_back():
    async with bench() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        state.vote(state.bob, post_id, "+1")
        await until(lambda: state.bob in (b.state.get(STATE_KEY) or ""))
        await b.stop()
        state.vote(state.alice, post_id, "x_wrong")
        state.vote(state.alice, post_id, "-1_dark_skin_tone")
        state.vote(state.bot, post_id, "+1")
        again = b.another()
        await again.start()
        await until(lambda: again.votes)
        await settled(again)
        assert [(v.author.id, v.vote, v.delivery_id, v.taken_back) for v in again.votes] == [
            (state.alice, "down", f"mattermost:{asked['id']}", False)
        ]
        await again.stop()


async def test_a_vote_that_was_taken_back_while_the_bot_was_away_is_taken_back():
    async with bench() as b:
        state = b.server.state
        post_id = await b.platform.post(b.reply(b.ask()))
        state.vote(state.alice, post_id, "x")
        await until(lambda: state.alice in (b.state.get(STATE_KEY) or ""))
        await b.stop()
        state.remove_reaction(state.alice, state.alice, post_id, "x")
        state.vote(state.alice, post_id, "+1")
        again = b.another()
        await again.start()
        await until(lambda: len(again.votes) == 2)
        assert [(v.vote, v.taken_back) for v in again.votes] == [("wrong", True), ("up", False)]
        await again.stop()


async def test_what_was_handed_over_is_not_handed_over_again_lest_it_covers_a_later_click():
    async with bench() as b:
        state = b.server.state
        post_id = await b.platform.post(b.reply(b.ask()))
        state.vote(state.alice, post_id, "+1")
        await until(lambda: state.alice in (b.state.get(STATE_KEY) or ""))
        await b.stop()
        again = b.another()
        await again.start()
        await settled(again)
        assert again.votes == []
        await again.stop()


async def test_votes_on_other_answers_are_found_when_the_bot_was_taken_out_of_one_channel():
    async with bench() as b:
        state = b.server.state
        other = state.add_channel("other", "Other", {state.bot, state.alice})
        there = state.say(state.alice, other, "@helperbot 연차는?")
        await b.platform.post(b.reply(there))
        post_id = await b.platform.post(b.reply(b.ask()))
        await b.stop()
        state.channels[other].members.discard(state.bot)
        state.vote(state.alice, post_id, "+1")
        again = b.another()
        await again.start()
        await until(lambda: again.votes)
        assert [v.vote for v in again.votes] == ["up"]
        await again.stop()


async def test_a_reaction_on_a_reply_that_was_posted_by_a_killed_run_is_found_too():
    async with bench() as b:
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        b.state.put(STATE_KEY, "{}")  # killed before it was noted
        again = b.another()
        await again.start()
        assert await again.platform.find_own(b.thread(asked), f"mattermost:{asked['id']}") == post_id
        assert post_id in json.loads(again.state.get(STATE_KEY) or "{}")
        await again.stop()


async def test_how_much_is_remembered_is_bounded_in_number_and_age():
    async with bench(listening=False) as b:
        now = b.platform._clock().timestamp()
        old = {"old": [now - WATCHED_FOR.total_seconds() - 1, []]}
        b.state.put(STATE_KEY, json.dumps({**old, **{f"p{n}": [now, []] for n in range(WATCHED_POSTS + 9)}}))
        await b.platform._votes.watch(["new"])
        kept = json.loads(b.state.get(STATE_KEY) or "{}")
        assert len(kept) == WATCHED_POSTS
        assert "new" in kept
        assert "old" not in kept


async def test_a_state_that_cannot_be_read_counts_as_none():
    async with bench(listening=False) as b:
        b.state.put(STATE_KEY, '{"p1": 7}')
        await b.platform._votes.watch(["new"])
        assert list(json.loads(b.state.get(STATE_KEY) or "{}")) == ["new"]
