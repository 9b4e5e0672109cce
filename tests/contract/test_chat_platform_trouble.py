"""The rest of what every chat platform must do: retries, restarts, repeated deliveries, edits, commands, hostile text.

What a person does on each platform stands in `DOINGS`; a platform on which it cannot be done has no entry.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.errors import PlatformError
from bot.platforms.mattermost import MattermostOptions, MattermostPlatform
from bot.platforms.slack import SlackPlatform
from bot.ports import ChatPlatform
from bot.types import Command, Message
from tests.contract.test_chat_platform import PERSON, case, listening, reply_to, texts  # noqa: F401 - fixtures
from tests.emulators.mattermost_time import quick_timing
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import Failure
from tests.emulators.slack_options import slack_options

Doing = Callable[..., Awaitable[Any]]
CALLS = ("@channel", "@here", "@all", "<!channel>", "<!everyone>")
HOSTILE = " ".join(CALLS) + " \x00\x07\x1b[31m \u202e뒤집힌 글\u202c \u2066x\u2069 ```\n~~~ ](http://x) | a | b |"
DOINGS: dict[str, dict[str, Doing]] = {"fake": {}, "web": {}, "mattermost": {}, "slack": {}}


def on(platform: str) -> Callable[[Doing], Doing]:
    """Registers what is done on a platform under the name of the function."""

    def register(doing: Doing) -> Doing:
        DOINGS[platform][doing.__name__.rpartition("_on_")[0]] = doing
        return doing

    return register


@on("fake")
async def edit_on_fake(platform: Any, said: Message) -> None:
    await platform.change(said, "edited", "고친 질문")


@on("fake")
async def delete_on_fake(platform: Any, said: Message) -> None:
    await platform.change(said, "deleted")


@on("fake")
async def repeat_on_fake(platform: Any, said: Message) -> None:
    await platform.deliver(said)


@on("fake")
async def command_on_fake(platform: Any, args: str) -> None:
    await platform.command(args, author=PERSON)


@on("web")
async def command_on_web(platform: Any, args: str) -> None:
    await platform.submit(channel_id="general", root_id=None, author=PERSON, text=f"/haechi {args}")


@on("mattermost")
async def edit_on_mattermost(platform: Any, said: Message) -> None:
    state = platform.emulator.state
    state.patch_post(state.alice, said.id, {"message": "고친 질문"})


@on("mattermost")
async def delete_on_mattermost(platform: Any, said: Message) -> None:
    state = platform.emulator.state
    state.delete_post(state.alice, said.id)


@on("mattermost")
async def repeat_on_mattermost(platform: Any, said: Message) -> None:
    await platform.emulator.repeat_event()


@on("mattermost")
async def again_on_mattermost(platform: Any) -> ChatPlatform:
    options = MattermostOptions(url=platform.emulator.url, token="bot-token", retry_wait_s=0.01)
    return MattermostPlatform(options, MemoryState(), clock=lambda: datetime.now(UTC), timing=quick_timing())


@on("mattermost")
async def refuse_edits_on_mattermost(platform: Any) -> None:
    platform.emulator.fail("PUT", r"/posts/\w+/patch", times=1000, status=500)


@on("mattermost")
async def shown_on_mattermost(platform: Any) -> str:
    return "\n".join(post["message"] for post in platform.emulator.state.own_posts())


@on("slack")
async def edit_on_slack(platform: Any, said: Message) -> None:
    await platform.emulator.edit("C0GENERAL", said.id, "고친 질문")


@on("slack")
async def delete_on_slack(platform: Any, said: Message) -> None:
    await platform.emulator.delete("C0GENERAL", said.id)


@on("slack")
async def repeat_on_slack(platform: Any, said: Message) -> None:
    server = platform.emulator
    server._message_event("C0GENERAL", dict(server.workspace.channels["C0GENERAL"].messages[said.id]))


@on("slack")
async def command_on_slack(platform: Any, args: str) -> None:
    await platform.emulator.command("U0PERSON1", "C0GENERAL", args)


@on("slack")
async def again_on_slack(platform: Any) -> ChatPlatform:
    return SlackPlatform(slack_options(platform.emulator), state=MemoryState(), clock=lambda: datetime.now(UTC))


@on("slack")
async def refuse_edits_on_slack(platform: Any) -> None:
    edits = ("chat.update", "chat.appendStream", "chat.stopStream")
    platform.emulator.chaos = lambda method: Failure(status=500) if method in edits else None


@on("slack")
async def shown_on_slack(platform: Any) -> str:
    return "\n".join(str(post) for post in platform.emulator.workspace.bot_posts())


def doing(heard: Any, name: str) -> Doing:
    """What a person does on this platform; the test does not concern a platform where nobody can."""
    found = DOINGS[heard.case.name].get(name)
    if found is None:
        pytest.skip(f"nobody can {name.replace('_', ' ')} on {heard.case.name}")
    return found


async def own_texts(platform: ChatPlatform, said: Message) -> list[str]:
    return [m.text for m in await platform.fetch_thread(said.thread, 100) if m.author.is_bot]


async def test_the_platform_knows_the_bots_own_account(listening):  # noqa: F811
    await listening.say("@haechi 연차는?")
    assert listening.platform.bot_id


async def test_a_delivery_that_comes_again_has_the_same_id(listening):  # noqa: F811
    repeat = doing(listening, "repeat")
    said = await listening.say("@haechi 연차는?")
    ids = {(await listening.next()).delivery_id}
    await repeat(listening.platform, said)
    while listening.heard:
        ids.add((await listening.next()).delivery_id)
    assert ids == {said.delivery_id}


@pytest.mark.parametrize(("name", "event"), [("edit", "edited"), ("delete", "deleted")])
async def test_edits_and_deletions_are_delivered_as_what_they_are(listening, name, event):  # noqa: F811
    do = doing(listening, name)
    said = await listening.say("@haechi 연차는?")
    while (await listening.next()).event != "posted":
        pass
    await do(listening.platform, said)
    async with asyncio.timeout(60):
        heard = await listening.next()
        while heard.event == "posted":  # the pair of message and mention that some platforms deliver
            heard = await listening.next()
    assert heard.event == event
    assert heard.thread == said.thread


async def test_the_same_reply_posted_again_is_one_post(listening):  # noqa: F811
    said = await listening.say("@haechi 연차는?")
    first = await listening.platform.stream(said.thread, said.delivery_id).finish(reply_to(said))
    found = await listening.platform.find_own(said.thread, said.delivery_id)
    assert found == first


async def test_a_status_is_no_part_of_the_answer(listening):  # noqa: F811
    said = await listening.say("@haechi 연차는?")
    stream = listening.platform.stream(said.thread, said.delivery_id)
    await stream.status("자료를 찾고 있습니다…")
    assert await listening.platform.find_own(said.thread, said.delivery_id) is None
    await stream.status("7번째입니다")
    await stream.finish(reply_to(said))
    assert await own_texts(listening.platform, said) == ["15일입니다. [1]"]


async def test_an_error_takes_the_place_of_what_had_been_shown(listening):  # noqa: F811
    said = await listening.say("@haechi 연차는?")
    stream = listening.platform.stream(said.thread, said.delivery_id)
    await stream.append("연차는 ")
    await stream.finish(reply_to(said, "오류가 났습니다. 번호 ab12cd34", kind="error", error_id="ab12cd34"))
    (shown,) = await own_texts(listening.platform, said)
    assert "ab12cd34" in shown
    assert "연차는" not in shown


async def test_what_was_posted_is_found_after_a_restart(listening):  # noqa: F811
    again = doing(listening, "again")
    said = await listening.say("@haechi 연차는?")
    post_id = await listening.platform.post(reply_to(said))
    other = await again(listening.platform)
    try:
        assert await other.find_own(said.thread, said.delivery_id) == post_id
        assert await other.find_own(said.thread, "another delivery") is None
    finally:
        await other.close()


async def test_a_stream_that_a_killed_run_left_is_completed_by_the_next(listening):  # noqa: F811
    again = doing(listening, "again")
    said = await listening.say("@haechi 연차는?")
    await listening.platform.stream(said.thread, said.delivery_id).append("연차는 ")
    other = await again(listening.platform)
    try:
        assert await other.find_own(said.thread, said.delivery_id) is None
        await other.stream(said.thread, said.delivery_id).finish(reply_to(said, "연차는 15일입니다. [1]"))
        answers = [text for text in await own_texts(other, said) if text.startswith("연차는 ")]
        assert answers == ["연차는 15일입니다. [1]"]
    finally:
        await other.close()


async def test_a_long_reply_is_whole_in_its_thread_and_found_when_it_is(listening):  # noqa: F811
    said = await listening.say("@haechi 전부 알려 주세요")
    lines = [f"{number}. 제{number}조는 휴가를 정한다. " + "가나다라마바사 " * 12 for number in range(1, 260)]
    code = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(200)) + "\n```"
    text = "\n\n".join([*lines[:130], code, *lines[130:]])
    assert len(text) > 25_000
    post_id = await listening.platform.stream(said.thread, said.delivery_id).finish(reply_to(said, text))
    assert await listening.platform.find_own(said.thread, said.delivery_id) == post_id
    shown = "\n".join(await own_texts(listening.platform, said))
    places = [shown.find(f"제{number}조는") for number in range(1, 260)]
    assert -1 not in places
    assert places == sorted(places)
    assert all(f"value_{n} = {n}" in shown for n in range(200))


async def test_a_failed_edit_keeps_what_was_shown(listening):  # noqa: F811
    refuse_edits = doing(listening, "refuse_edits")
    said = await listening.say("@haechi 연차는?")
    stream = listening.platform.stream(said.thread, said.delivery_id)
    await stream.append("연차는 15일입니다.")
    shown = doing(listening, "shown")
    async with asyncio.timeout(60):
        while "15일입니다." not in await shown(listening.platform):
            await stream.append(" ")
            await asyncio.sleep(0)
    await refuse_edits(listening.platform)
    try:
        await stream.append(" 다음 문장.")
        await stream.finish(reply_to(said, "연차는 15일입니다. 다음 문장. [1]"))
    except PlatformError:
        pass  # then it is tried again later; what stands there must not be gone
    assert "15일입니다." in await shown(listening.platform)


async def test_hostile_text_is_posted_and_calls_nobody(listening):  # noqa: F811
    said = await listening.say("@haechi 연차는?")
    reply = reply_to(said, HOSTILE + "\n\n" + HOSTILE * 50)
    await listening.platform.stream(said.thread, said.delivery_id).finish(reply)
    assert await listening.platform.find_own(said.thread, said.delivery_id)
    after = await listening.say("@haechi 다음 질문", said.thread.root_id)
    assert after.thread == said.thread
    if (shown := DOINGS[listening.case.name].get("shown")) is not None:
        posted = await shown(listening.platform)
        assert [call for call in CALLS if call in posted] == []
        assert not set("\x00\x07\x1b\u202e\u2066") & set(posted)


async def test_a_hostile_question_is_delivered_like_any_other(listening):  # noqa: F811
    said = await listening.say("@haechi " + HOSTILE.replace("\x00", ""))
    heard = await listening.next()
    assert heard.delivery_id == said.delivery_id
    await listening.platform.react(said, "hourglass_flowing_sand")
    await listening.platform.post(reply_to(said))
    assert await listening.platform.find_own(said.thread, said.delivery_id)


async def test_a_command_is_answered_beside_the_thread_and_shows_its_progress_in_one_post(listening):  # noqa: F811
    give = doing(listening, "command")
    said = await listening.say("@haechi 연차는?")
    await give(listening.platform, "reindex rules")
    heard = await listening.next()
    while not isinstance(heard, Command):
        heard = await listening.next()
    assert (heard.name, heard.args) == ("haechi", "reindex rules")
    assert heard.thread.platform == listening.platform.name
    await listening.platform.answer_command(heard, "알겠습니다. @channel")
    post_id = await listening.platform.show_progress(heard, "읽는 중 1/9", post_id=None)
    for number in range(2, 10):
        assert await listening.platform.show_progress(heard, f"읽는 중 {number}/9", post_id=post_id) == post_id
    assert "알겠습니다." not in "\n".join(await texts(listening.platform, said.thread))


async def test_diagnose_names_what_is_wrong_with_what_to_do(listening):  # noqa: F811
    for line in await listening.platform.diagnose(["no-such-channel"]):
        assert line.name
        assert line.ok or (line.detail and line.remedy), line
