"""What every chat platform must do. Adapters and their fakes run the same suite.

An adapter joins by adding a `Case` to CASES: how to build it on an empty folder, and how a person says something on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot.errors import PlatformError
from bot.platforms.mattermost import MattermostOptions, MattermostPlatform
from bot.platforms.slack import SlackPlatform
from bot.platforms.web import WebPlatform
from bot.ports import ChatPlatform
from bot.store import Store
from bot.types import Author, Command, Delivery, Message, Reply, ThreadRef
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.mattermost_time import quick_timing
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import BOT_USER, SlackEmulator
from tests.emulators.slack_options import slack_options
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.times import Clock

PERSON = Author(id="web:person", display_name="미나", is_bot=False)


def counting_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{next(numbers):012x}"


@dataclass(frozen=True)
class Case:
    """`open` gives the platform on a folder; `say` posts as a person, in a new thread or below `root`."""

    name: str
    open: Callable[[Path], Any]
    say: Callable[[Any, str, str | None], Awaitable[Message]]


@asynccontextmanager
async def open_fake(folder: Path) -> AsyncIterator[FakePlatform]:
    yield FakePlatform(new_id=counting_ids())


@asynccontextmanager
async def open_web(folder: Path) -> AsyncIterator[WebPlatform]:
    store = Store.open(folder / "bot.sqlite3", clock=Clock())
    try:
        yield WebPlatform(store, clock=Clock(), new_id=counting_ids())
    finally:
        store.close()


async def say_on_fake(platform: FakePlatform, text: str, root: str | None) -> Message:
    return await platform.say(text, author=PERSON, root=root)


async def say_on_web(platform: WebPlatform, text: str, root: str | None) -> Message:
    post = await platform.submit(channel_id="general", root_id=root, author=PERSON, text=text)
    found = [m for m in await platform.fetch_thread(post.thread, 100) if m.id == post.id]
    return found[0]


@asynccontextmanager
async def open_mattermost(folder: Path) -> AsyncIterator[MattermostPlatform]:
    async with MattermostEmulator() as server:
        options = MattermostOptions(url=server.url, token="bot-token", retry_wait_s=0.01)
        platform = MattermostPlatform(options, MemoryState(), clock=lambda: datetime.now(UTC), timing=quick_timing())
        platform.emulator = server  # type: ignore[attr-defined]
        yield platform
        await platform.close()


async def say_on_mattermost(platform: Any, text: str, root: str | None) -> Message:
    state = platform.emulator.state
    post = state.say(state.alice, state.town, text.replace("@haechi", "@helperbot"), root=root or "")
    thread = ThreadRef(platform="mattermost", channel_id=state.town, root_id=root or post["id"])
    return next(m for m in await platform.fetch_thread(thread, 100) if m.id == post["id"])


@asynccontextmanager
async def open_slack(folder: Path) -> AsyncIterator[SlackPlatform]:
    async with SlackEmulator() as server:
        server.workspace.add_user("U0PERSON1", "미나")
        server.workspace.add_channel("C0GENERAL", "general")
        platform = SlackPlatform(slack_options(server), state=MemoryState(), clock=lambda: datetime.now(UTC))
        platform.emulator = server  # type: ignore[attr-defined]
        yield platform
        await platform.close()


async def say_on_slack(platform: Any, text: str, root: str | None) -> Message:
    server = platform.emulator
    ts = await server.say("C0GENERAL", "U0PERSON1", text.replace("@haechi", f"<@{BOT_USER}>"), thread_ts=root)
    thread = ThreadRef(platform="slack", channel_id="C0GENERAL", root_id=root or ts)
    return next(m for m in await platform.fetch_thread(thread, 100) if m.id == ts)


CASES = [
    Case("fake", open_fake, say_on_fake),
    Case("web", open_web, say_on_web),
    Case("mattermost", open_mattermost, say_on_mattermost),
    Case("slack", open_slack, say_on_slack),
]


@dataclass
class Listening:
    """A platform that is being listened to, and what it delivered."""

    platform: ChatPlatform
    case: Case
    heard: list[Delivery]
    arrived: asyncio.Event

    async def say(self, text: str, root: str | None = None) -> Message:
        return await self.case.say(self.platform, text, root)

    async def next(self) -> Delivery:
        async with asyncio.timeout(60):
            while not self.heard:
                self.arrived.clear()
                await self.arrived.wait()
        return self.heard.pop(0)


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request) -> Case:
    return request.param


@pytest.fixture
async def listening(case, tmp_path):
    async with case.open(tmp_path) as platform:
        heard: list[Delivery] = []
        arrived = asyncio.Event()

        async def receive(delivery: Delivery) -> None:
            heard.append(delivery)
            arrived.set()

        listener = asyncio.create_task(platform.listen(receive))
        while (await platform.check()).state != "ok":  # noqa: ASYNC110 - the port has no event for it
            await asyncio.sleep(0)
        yield Listening(platform, case, heard, arrived)
        await platform.close()
        async with asyncio.timeout(60):
            await listener


def reply_to(message: Message, text: str = "15일입니다. [1]", **changes: Any) -> Reply:
    fields: dict[str, Any] = {
        "thread": message.thread,
        "markdown": text,
        "citations": (),
        "delivery_id": message.delivery_id,
        "final": True,
    }
    return Reply(**{**fields, **changes})


async def texts(platform: ChatPlatform, thread: ThreadRef) -> list[str]:
    return [message.text for message in await platform.fetch_thread(thread, 100)]


async def test_what_a_person_says_is_delivered_once_with_its_thread_as_root(listening):
    said = await listening.say("@haechi 연차는 며칠인가요?")
    heard = await listening.next()
    assert isinstance(heard, Message)
    assert heard.delivery_id == said.delivery_id
    assert heard.thread == ThreadRef(
        platform=listening.platform.name, channel_id=heard.thread.channel_id, root_id=heard.id
    )
    assert heard.mentions_bot
    assert not heard.author.is_bot
    assert heard.posted_at.tzinfo is not None
    assert listening.heard == []


async def test_a_reply_to_a_reply_goes_to_the_thread_root(listening):
    root = await listening.say("@haechi 연차는?")
    await listening.next()
    below = await listening.say("@haechi 그럼 병가는?", root.thread.root_id)
    heard = await listening.next()
    assert heard.thread == root.thread
    assert heard.thread.root_id == root.id
    await listening.platform.post(reply_to(below))
    assert (await texts(listening.platform, root.thread))[-1] == "15일입니다. [1]"


async def test_what_was_said_before_anybody_listened_is_delivered_then(case, tmp_path):
    async with case.open(tmp_path) as platform:
        said = await case.say(platform, "@haechi 거기 있나요?", None)
        heard: list[Delivery] = []

        async def receive(delivery: Delivery) -> None:
            heard.append(delivery)
            await platform.close()

        async with asyncio.timeout(60):
            await platform.listen(receive)
        assert [delivery.delivery_id for delivery in heard] == [said.delivery_id]


async def test_two_messages_have_two_delivery_ids(listening):
    first, second = await listening.say("@haechi 하나"), await listening.say("@haechi 둘")
    assert first.delivery_id != second.delivery_id


async def test_posts_come_back_in_order_and_the_last_ones_first_in_number(listening):
    root = await listening.say("@haechi 하나")
    for number in range(4):
        await listening.platform.post(reply_to(root, f"답 {number}", delivery_id=f"other-{number}"))
    shown = await texts(listening.platform, root.thread)
    assert shown[1:] == ["답 0", "답 1", "답 2", "답 3"]
    assert [m.text for m in await listening.platform.fetch_thread(root.thread, 2)] == ["답 2", "답 3"]


async def test_a_final_post_is_found_by_the_delivery_that_it_answers(listening):
    said = await listening.say("@haechi 연차는?")
    assert await listening.platform.find_own(said.thread, said.delivery_id) is None
    post_id = await listening.platform.post(reply_to(said))
    assert await listening.platform.find_own(said.thread, said.delivery_id) == post_id
    assert await listening.platform.find_own(said.thread, "another delivery") is None


async def test_an_unfinished_stream_is_not_taken_for_an_answer_and_is_continued(listening):
    said = await listening.say("@haechi 연차는?")
    broken = listening.platform.stream(said.thread, said.delivery_id)
    await broken.append("연차는 ")
    assert await listening.platform.find_own(said.thread, said.delivery_id) is None
    again = listening.platform.stream(said.thread, said.delivery_id)
    post_id = await again.finish(reply_to(said, "연차는 15일입니다. [1]"))
    assert await listening.platform.find_own(said.thread, said.delivery_id) == post_id
    answers = [text for text in await texts(listening.platform, said.thread) if text.startswith("연차는 ")]
    assert answers == ["연차는 15일입니다. [1]"]


async def test_a_stream_ends_as_one_post_with_the_final_text(listening):
    said = await listening.say("@haechi 연차는?")
    stream = listening.platform.stream(said.thread, said.delivery_id)
    await stream.append("연차는 ")
    await stream.append("15일입니다.")
    post_id = await stream.finish(reply_to(said, "연차는 15일입니다. [1]"))
    own = [m for m in await listening.platform.fetch_thread(said.thread, 100) if m.author.is_bot]
    assert [(m.id, m.text) for m in own] == [(post_id, "연차는 15일입니다. [1]")]


async def test_own_posts_are_marked_as_a_bots_and_are_not_delivered(listening):
    said = await listening.say("@haechi 연차는?")
    await listening.next()
    await listening.platform.post(reply_to(said, "@haechi 스스로에게"))
    own = (await listening.platform.fetch_thread(said.thread, 100))[-1]
    assert own.author.is_bot
    assert listening.heard == []


async def test_an_edit_replaces_the_text(listening):
    said = await listening.say("@haechi 연차는?")
    post_id = await listening.platform.post(reply_to(said, "틀린 답"))
    await listening.platform.edit(post_id, reply_to(said, "고친 답"))
    assert (await texts(listening.platform, said.thread))[1:] == ["고친 답"]


async def test_editing_a_post_that_is_not_there_is_an_error(listening):
    said = await listening.say("@haechi 연차는?")
    with pytest.raises(PlatformError):
        await listening.platform.edit("ffffffffffff", reply_to(said))


async def test_posting_in_a_thread_that_is_not_there_is_an_error(listening):
    said = await listening.say("@haechi 연차는?")
    nowhere = ThreadRef(platform=said.thread.platform, channel_id=said.thread.channel_id, root_id="ffffffffffff")
    with pytest.raises(PlatformError):
        await listening.platform.post(reply_to(said, thread=nowhere))


async def test_a_private_answer_is_no_part_of_the_thread(listening):
    said = await listening.say("@haechi 연차는?")
    await listening.platform.respond_private(said.thread, said.author.id, "당신에게만")
    assert "당신에게만" not in await texts(listening.platform, said.thread)


async def test_reactions_change_no_text(listening):
    said = await listening.say("@haechi 연차는?")
    for emoji in ("eyes", "white_check_mark", "x"):
        await listening.platform.react(said, emoji)
    assert len(await texts(listening.platform, said.thread)) == 1


async def test_different_posts_have_different_addresses(listening):
    said = await listening.say("@haechi 연차는?")
    first = await listening.platform.post(reply_to(said, delivery_id="a"))
    second = await listening.platform.post(reply_to(said, delivery_id="b"))
    assert listening.platform.permalink(said.thread, first) != listening.platform.permalink(said.thread, second)


async def test_a_channel_of_this_company_alone_is_not_shared(listening):
    said = await listening.say("@haechi 연차는?")
    assert await listening.platform.is_shared(said.thread.channel_id) is False
    assert said.is_shared is False


async def test_a_platform_that_nobody_listens_to_says_so(case, tmp_path):
    async with case.open(tmp_path) as platform:
        assert (await platform.check()).state == "down"
        assert (await platform.check()).name == platform.name


LONG = "\n\n".join(f"{number}. " + "가나다 라마바사 " * 60 for number in range(60))


def command_of(message: Message) -> Command:
    return Command(
        name="haechi",
        args="status",
        author=message.author,
        thread=message.thread,
        delivery_id=f"command of {message.id}",
    )


async def test_a_status_gives_way_to_the_answer(listening):
    said = await listening.say("@haechi 연차는?")
    stream = listening.platform.stream(said.thread, said.delivery_id)
    await stream.status("찾는 중")
    assert await listening.platform.find_own(said.thread, said.delivery_id) is None
    await stream.finish(reply_to(said))
    assert (await texts(listening.platform, said.thread))[1:] == ["15일입니다. [1]"]


async def test_an_answer_of_any_length_arrives_whole_and_is_found(listening):
    said = await listening.say("@haechi 연차는?")
    post_id = await listening.platform.post(reply_to(said, LONG))
    own = [m.text for m in await listening.platform.fetch_thread(said.thread, 100) if m.author.is_bot]
    assert "".join(own).count("라마바사") == LONG.count("라마바사")
    assert await listening.platform.find_own(said.thread, said.delivery_id) == post_id


async def test_a_commands_answer_and_progress_are_no_part_of_the_thread(listening):
    said = await listening.say("@haechi 연차는?")
    command = command_of(said)
    await listening.platform.answer_command(command, "당신에게만")
    post_id = await listening.platform.show_progress(command, "1/2", post_id=None)
    assert await listening.platform.show_progress(command, "2/2", post_id=post_id) == post_id
    assert await texts(listening.platform, said.thread) == [said.text]


async def test_what_is_wrong_with_a_platform_comes_with_a_remedy(listening):
    found = await listening.platform.diagnose(["no-such-channel"])
    assert found
    assert all(item.remedy for item in found if not item.ok)
