"""The web platform towards the bot: what it hears, what it keeps, what a retry finds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import PlatformError
from bot.platforms.web import WebPlatform, mention_pattern, without_mention
from bot.platforms.web_events import ChangeLog
from bot.types import Author, Command, Delivery, FeedbackGiven, Message, ThreadRef
from tests.unit.bot.http.site import Site, citation, reply

KIM = Author(id="web:kim", display_name="김하늘", is_bot=False)
NOWHERE = ThreadRef(platform="web", channel_id="general", root_id="nothing")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@asynccontextmanager
async def listening(site: Site) -> AsyncIterator[None]:
    task = asyncio.create_task(site.platform.listen(site.receive))
    await asyncio.sleep(0)  # lets it begin
    assert (await site.platform.check()).state == "ok"
    yield
    await site.platform.close()
    await task


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("@haechi 연차는?", True),
        ("안녕 @Haechi, 연차는?", True),
        ("연차는? @haechi", True),
        ("@haechi야 연차는?", True),
        ("＠haechi 연차는?", True),
        ("(@haechi)", True),
        ("물어보자 @haechi.", True),
        ("mail me at kim@haechi.com", False),
        ("someone@haechi wrote", False),
        ("@haechi-test 아님", False),
        ("@haechibot 아님", False),
        ("@haechi.com 으로", False),
        ("@@haechi", False),
        ("haechi 연차는?", False),
        ("", False),
    ],
)
def test_a_mention_is_the_configured_name_and_no_address(site: Site, text: str, mentions: bool) -> None:
    assert site.platform.mentions_bot(text) is mentions


def test_a_korean_bot_name_is_recognised_in_either_unicode_form() -> None:
    import unicodedata

    pattern = mention_pattern(unicodedata.normalize("NFD", "해치"))
    assert pattern.search("@해치야 연차는?")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("@haechi 연차는?", "연차는?"),
        ("@haechi, 연차는?", "연차는?"),
        ("@haechi야 연차는?", "연차는?"),
        ("@haechi 야근 수당은?", "야근 수당은?"),
        ("부장님 말고 @haechi 에게 물어봄", "부장님 말고 에게 물어봄"),
        ("@haechi", ""),
        ("kim@haechi.com 은?", "kim@haechi.com 은?"),
        ("@haechi 첫 줄\n둘째 줄", "첫 줄\n둘째 줄"),
    ],
)
def test_the_bot_hears_the_question_without_its_name(text: str, question: str) -> None:
    assert without_mention(text, mention_pattern("haechi")) == question


async def test_a_message_reaches_the_bot_before_the_page_hears_that_it_was_sent(site: Site) -> None:
    async with listening(site):
        message = await site.ask("@haechi 숙박비는 얼마인가요?")
    (heard,) = site.received
    assert isinstance(heard, Message)
    assert heard.text == "숙박비는 얼마인가요?"
    assert heard.mentions_bot
    assert heard.thread.root_id == heard.id == message.id
    assert heard.author.display_name == "김하늘"


async def test_a_secret_that_somebody_typed_is_masked_before_it_is_kept_or_passed_on(site: Site) -> None:
    async with listening(site):
        message = await site.ask("@haechi 제 주민등록번호 900101-1234567 로 조회해 주세요")
    (heard,) = site.received
    assert isinstance(heard, Message)
    kept = site.platform.posts.find(message.id)
    assert kept is not None
    assert "1234567" not in heard.text + kept.text
    assert "조회해 주세요" in kept.text


async def test_a_reply_in_a_thread_is_heard_with_its_root_and_without_a_mention(site: Site) -> None:
    async with listening(site):
        first = await site.ask("@haechi 숙박비는?")
        await site.ask("그럼 식비는?", root_id=first.id)
    follow_up = site.received[1]
    assert isinstance(follow_up, Message)
    assert follow_up.thread == first.thread
    assert not follow_up.mentions_bot


async def test_what_was_typed_while_the_bot_was_away_is_delivered_once_when_it_listens(
    site: Site, tmp_path: Path
) -> None:
    await site.ask("@haechi 첫째")
    await site.ask("@haechi 둘째")
    assert site.received == []
    site.close()
    again = Site(tmp_path, run="b")
    async with listening(again):
        pass
    assert [m.text for m in again.received if isinstance(m, Message)] == ["첫째", "둘째"]
    again.received.clear()
    third = Site(tmp_path, run="c")
    async with listening(third):
        pass
    assert third.received == []


async def test_a_message_that_the_inbox_could_not_save_is_delivered_again(site: Site) -> None:
    async def full(delivery: Delivery) -> None:
        raise PlatformError("disk full")

    task = asyncio.create_task(site.platform.listen(full))
    await asyncio.sleep(0)
    with pytest.raises(PlatformError):
        await site.platform.submit(channel_id="general", root_id=None, author=KIM, text="@haechi 안녕", client_key="k")
    site.platform._receive = site.receive
    post = await site.platform.submit(
        channel_id="general", root_id=None, author=KIM, text="@haechi 안녕", client_key="k"
    )
    assert len(site.received) == 1
    assert len(site.platform.posts.threads("general", limit=9)) == 1
    assert post.text == "@haechi 안녕"
    await site.platform.close()
    await task


async def test_sending_twice_with_one_key_posts_once(site: Site) -> None:
    async with listening(site):
        for _ in range(2):
            await site.platform.submit(
                channel_id="general", root_id=None, author=KIM, text="@haechi 안녕", client_key="k"
            )
    assert len(site.received) == 1


async def test_unknown_channels_and_threads_are_refused(site: Site) -> None:
    for channel_id, root_id in (("nowhere", None), ("general", "nothing")):
        with pytest.raises(LookupError):
            await site.platform.submit(channel_id=channel_id, root_id=root_id, author=KIM, text="x")
    with pytest.raises(PlatformError, match="no thread"):
        await site.platform.post(reply(NOWHERE, "x"))
    with pytest.raises(PlatformError, match="no post"):
        await site.platform.edit("nothing", reply(NOWHERE, "x"))


async def test_a_retry_finds_its_own_final_post_but_not_an_unfinished_one(site: Site) -> None:
    message = await site.ask("@haechi 숙박비는?")
    stream = site.platform.stream(message.thread, message.delivery_id)
    await stream.append("숙박비는 ")
    assert await site.platform.find_own(message.thread, message.delivery_id) is None
    post_id = await stream.finish(reply(message, "숙박비는 80,000원 [1].", citations=(citation(),)))
    assert await site.platform.find_own(message.thread, message.delivery_id) == post_id
    assert await site.platform.find_own(message.thread, "web:other") is None


async def test_a_run_that_broke_off_leaves_one_post_which_the_next_run_continues(site: Site, tmp_path: Path) -> None:
    message = await site.ask("@haechi 숙박비는?")
    await site.platform.stream(message.thread, message.delivery_id).append("숙박비는 80")
    site.close()
    again = Site(tmp_path, run="b")
    stream = again.platform.stream(message.thread, message.delivery_id)
    await stream.append("숙박비는 ")
    post_id = await stream.finish(reply(message, "숙박비는 80,000원."))
    posts = again.platform.posts.thread("general", message.thread.root_id, limit=9)
    assert [(post.id, post.text, post.final) for post in posts][1:] == [(post_id, "숙박비는 80,000원.", True)]


async def test_posts_sources_and_votes_outlive_a_restart(site: Site, tmp_path: Path) -> None:
    message = await site.ask("@haechi 숙박비는?")
    sources = (citation(), citation(2, "chunk-2", label=None, uri="a.py", start_line=3, end_line=9))
    post_id = await site.platform.post(
        reply(message, "80,000원 [1].", citations=sources, notices=("낮은 관련도",), nearest=(citation(3),))
    )
    async with listening(site):
        await site.platform.vote(post_id=post_id, author=KIM, vote="down", comment="")
    site.close()
    posts = Site(tmp_path, run="b").platform.posts
    kept = posts.find(post_id)
    assert kept is not None
    assert kept.citations == sources
    assert kept.nearest == (citation(3),)
    assert kept.notices == ("낮은 관련도",)
    assert kept.final
    assert posts.votes_of(KIM.id, "general", message.thread.root_id) == {post_id: "down"}


async def test_the_thread_that_a_model_sees_has_no_private_and_no_unfinished_posts(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    await site.platform.post(reply(message, "답 하나"))
    await site.platform.respond_private(message.thread, KIM.id, "혼자만")
    await site.ask("@haechi 둘", root_id=message.id)
    await site.platform.stream(message.thread, "web:x").append("쓰는 중")
    thread = await site.platform.fetch_thread(message.thread, 10)
    assert [(m.text, m.author.is_bot) for m in thread] == [("하나", False), ("답 하나", True), ("둘", False)]
    assert [m.text for m in await site.platform.fetch_thread(message.thread, 1)] == []


async def test_feedback_reaches_the_bot_and_only_for_finished_answers(site: Site) -> None:
    async with listening(site):
        message = await site.ask("@haechi 하나")
        post_id = await site.platform.post(reply(message, "답"))
        site.received.clear()
        await site.platform.vote(post_id=post_id, author=KIM, vote="wrong", comment="금액이 다릅니다")
        given = FeedbackGiven(
            reply_id=post_id,
            author=KIM,
            vote="wrong",
            comment="금액이 다릅니다",
            platform="web",
            delivery_id=message.delivery_id,
        )
        assert site.received == [given]
        for wrong in (message.id, "nothing"):
            with pytest.raises(LookupError):
                await site.platform.vote(post_id=wrong, author=KIM, vote="up", comment="")


async def test_a_vote_that_nobody_would_hear_is_not_shown_as_given(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    post_id = await site.platform.post(reply(message, "답"))
    with pytest.raises(PlatformError, match="not listening"):
        await site.platform.vote(post_id=post_id, author=KIM, vote="up", comment="")
    assert site.platform.posts.votes_of(KIM.id, "general", message.id) == {}


async def test_an_edit_replaces_the_text_and_marks_it(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    post_id = await site.platform.post(reply(message, "처음"))
    await site.platform.edit(post_id, reply(message, "고침"))
    post = site.platform.posts.find(post_id)
    assert post is not None
    assert post.text == "고침"
    assert post.edited_at is not None


async def test_a_thread_shows_that_work_has_started_and_how_it_ended(site: Site) -> None:
    message = await site.ask("@haechi 하나")

    def state() -> str:
        summary = site.platform.posts.summary("general", message.id)
        assert summary is not None
        return summary.state

    assert state() == "quiet"
    await site.platform.react(message, "eyes")
    assert state() == "working"
    await site.platform.post(reply(message, "찾지 못했습니다.", kind="refusal"))
    await site.platform.react(message, "white_check_mark")
    assert state() == "refusal"


async def test_a_permalink_opens_the_thread_at_the_post(tmp_path: Path) -> None:
    site = Site(tmp_path)
    platform = WebPlatform(site.store, clock=site.clock, new_id=lambda: "p", public_url="https://ask.corp/")
    thread = ThreadRef(platform="web", channel_id="general", root_id="r")
    assert platform.permalink(thread, "p1") == "https://ask.corp/c/general/t/r#post-p1"


# --- the change log -------------------------------------------------------------------------------


def change_log(kept: int = 3) -> tuple[ChangeLog, Callable[[str], None]]:
    log = ChangeLog("run", kept=kept)
    return log, lambda post_id: log.add(channel_id="general", root_id="r", post_id=post_id)


def test_a_page_continues_after_the_last_change_it_saw() -> None:
    log, add = change_log()
    add("p1")
    add("p2")
    position = log.position("run-1")
    assert position == 1
    assert [change.post_id for change in log.since(position) or ()] == ["p2"]
    assert log.position(None) == 2
    assert log.position("run-2") == 2


def test_a_page_of_another_run_or_far_behind_must_load_again() -> None:
    log, add = change_log()
    for number in range(1, 6):
        add(f"p{number}")
    for unknown in ("other-2", "run-1", "run-99", "run-x", "nonsense"):
        assert log.position(unknown) is None, unknown
    assert log.position("run-2") == 2
    assert log.since(1) is None


async def test_waiting_ends_with_a_change_with_time_and_with_the_end() -> None:
    log, add = change_log()
    waiting = asyncio.create_task(log.wait(0, 60))
    await asyncio.sleep(0)
    add("p1")
    await waiting
    await log.wait(0, 60)
    await log.wait(1, 0.001)
    waiting = asyncio.create_task(log.wait(1, 60))
    await asyncio.sleep(0)
    log.close()
    await waiting


async def test_a_post_that_begins_with_a_slash_and_the_name_is_a_command_that_others_do_not_see(site: Site) -> None:
    async with listening(site):
        post = await site.platform.submit(channel_id="general", root_id=None, author=KIM, text="/haechi ask 연차는?")
        (command,) = site.received
        assert isinstance(command, Command)
        assert (command.name, command.args, command.author) == ("haechi", "ask 연차는?", KIM)
        await site.platform.answer_command(command, "15일입니다.")
        posts = site.platform.posts
        assert posts.threads("general", limit=9, reader_id="web:lee") == []
        (mine,) = posts.threads("general", limit=9, reader_id=KIM.id)
        assert (mine.root.id, mine.replies) == (post.id, 1)
        assert not any(p.visible_to("web:lee") for p in posts.thread("general", post.id, limit=9))
        with pytest.raises(LookupError):  # nobody else can write below it
            await site.platform.submit(
                channel_id="general", root_id=post.id, author=replace(KIM, id="web:lee"), text="끼어들기"
            )


async def test_a_command_that_was_typed_while_nobody_listened_is_delivered_later(site: Site) -> None:
    await site.platform.submit(channel_id="general", root_id=None, author=KIM, text="/haechi status")
    async with listening(site), asyncio.timeout(60):
        while not site.received:  # noqa: ASYNC110 - what was typed before comes without an event
            await asyncio.sleep(0)
        assert [type(delivery) for delivery in site.received] == [Command]


async def test_a_word_that_only_begins_like_the_command_is_a_message(site: Site) -> None:
    async with listening(site):
        await site.platform.submit(channel_id="general", root_id=None, author=KIM, text="/haechimo는 무엇인가요?")
        assert [type(delivery) for delivery in site.received] == [Message]


async def test_a_status_is_shown_until_text_takes_its_place(site: Site) -> None:
    message = await site.ask("@haechi 연차는?")
    stream = site.platform.stream(message.thread, message.delivery_id)
    await stream.status("찾고 있습니다")
    open_post = site.platform.posts.find_reply(message.thread, message.delivery_id, final=False)
    assert open_post is not None
    assert open_post.text == "찾고 있습니다"
    await stream.append("15일")
    await stream.status("세 번째입니다")
    shown = site.platform.posts.find(open_post.id)
    assert shown is not None
    assert shown.text == "15일"
