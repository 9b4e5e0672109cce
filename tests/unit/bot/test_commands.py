"""What `/haechi` does: private, within the channel's scope, admins only where something changes, one audit row each."""

from __future__ import annotations

import asyncio

import pytest

from bot.channels import ChannelPolicy, Channels
from bot.commands_parsing import lane_of, parse_command, parse_reindex, parse_vote
from bot.errors import PlatformError
from bot.types import Author
from knowledge.errors import ToolDown
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.messages import PERSON
from tests.unit.bot.times import counting_ids

ONLY_SHOP = ChannelPolicy(scope=Scope.of("shop"))
CHANNELS = Channels(
    default=ChannelPolicy(scope=Scope.everything()),
    direct=ONLY_SHOP,
    configured={("fake", "dev"): ONLY_SHOP, ("fake", "ko"): ChannelPolicy(scope=Scope.everything(), language="ko")},
)
ADMIN = Author(id="boss", display_name="관리자", is_bot=False)


@pytest.fixture
def platform():
    return FakePlatform(new_id=counting_ids())


async def told(
    company, store, platform, args: str, *, author=PERSON, channel="general", direct=False, **options
) -> str:
    """The last thing that whoever gave the command was told."""
    line = ChatLine(company, store, platform, channels=CHANNELS, admins=("fake:boss",), **options)
    async with line.running():
        await platform.command(args, author=author, channel=channel, direct=direct)
        await line.settled()
    assert all(person == author.id for person, _ in platform.private)
    return platform.private[-1][1] if platform.private else ""


def audit(store) -> list[tuple[str, str, str]]:
    return [(row["actor"], row["action"], row["detail"]) for row in store.query("SELECT * FROM audit_log ORDER BY id")]


@pytest.mark.parametrize(
    ("args", "name", "rest"),
    [
        ("ask 연차는 며칠?", "ask", "연차는 며칠?"),
        ("질문 연차는?", "ask", "연차는?"),
        ("ASK\n여러 줄\n질문", "ask", "여러 줄\n질문"),
        ("검색 숙박비", "search", "숙박비"),
        ("상태", "status", ""),
        ("자료", "sources", ""),
        ("재색인 rules --force", "reindex", "rules --force"),
        ("평가 틀림 금액", "feedback", "틀림 금액"),
        ("", "help", ""),
        ("도움말", "help", ""),
    ],
)
def test_subcommands_are_known_in_both_languages(args, name, rest):
    parsed = parse_command(args)
    assert (parsed.name, parsed.rest) == (name, rest)


@pytest.mark.parametrize(
    ("typed", "meant"), [("serach", "search"), ("reindx", "reindex"), ("도움맣", "도움"), ("xyzzy", "")]
)
def test_an_unknown_subcommand_names_the_nearest(typed, meant):
    assert (parse_command(typed).name, parse_command(typed).nearest) == ("unknown", meant)


def test_options_and_votes():
    assert parse_reindex("rules shop --force") == (["rules", "shop"], True, "")
    assert parse_reindex("--forec") == ([], False, "--forec")
    assert parse_vote("wrong 금액이 다릅니다") == ("wrong", "금액이 다릅니다")
    assert parse_vote("좋아요") == ("up", "")
    assert parse_vote("그냥 의견") == (None, "의견")
    assert [lane_of(parse_command(args)) for args in ("ask x", "ask", "status", "reindex")] == [
        "slow",
        "quick",
        "quick",
        "long",
    ]


async def test_a_question_is_answered_to_its_asker_alone_with_its_sources(company, store, platform):
    answer = await told(company, store, platform, "ask 연차휴가는 며칠인가요?")
    assert platform.posts == []
    assert "15일의 연차휴가" in answer
    assert "**출처**" in answer
    assert platform.private[0][1] == "자료를 찾고 있습니다…"  # at once, while it is looked up
    assert audit(store) == [("fake:u1", "/haechi ask", "연차휴가는 며칠인가요? in general: answered")]
    assert store.query("SELECT origin, outcome FROM query_log")[0]["outcome"] == "answered"


@pytest.mark.parametrize("args", ["ask 연차휴가는 며칠인가요?", "search 연차휴가", "sources", "status"])
@pytest.mark.parametrize("place", [{"channel": "dev"}, {"channel": "d1", "direct": True}])
async def test_what_the_channels_scope_excludes_cannot_be_reached(company, store, platform, args, place):
    shown = await told(company, store, platform, args, **place)
    for hidden in ("15일의", "휴가규정", "사규", "rules"):
        assert hidden not in shown


async def test_search_shows_places_and_passages(company, store, platform):
    shown = await told(company, store, platform, "search 숙박비 상한")
    assert "[1] 여비규정.md" in shown
    assert "150,000원" in shown
    assert "http://127.0.0.1" not in shown  # a link that only this machine could open


async def test_status_names_sources_tools_platforms_and_the_queue(company, store, platform):
    shown = await told(company, store, platform, "상태")
    for part in ("사규", "Shop", "fake: 정상", "의미 검색 hash: 정상", "기다리는 것 0개"):
        assert part in shown


async def test_the_language_of_a_channel_holds_for_commands(company, store, platform):
    assert "이 채널에서 볼 수 있는 자료" in await told(company, store, platform, "sources", channel="ko")
    assert "Sources that may be seen" in await told(company, store, platform, "sources")


async def test_an_unknown_command_gets_help_and_the_nearest(company, store, platform):
    shown = await told(company, store, platform, "serach 숙박비")
    assert "`/haechi search`" in shown
    assert "/haechi reindex" in shown


@pytest.mark.parametrize(("args", "words"), [("ask", "/haechi ask"), ("ask ?!", "/haechi ask"), ("ask " + "가" * 300, "too long|너무"), ("search", "/haechi search"), ("feedback", "/haechi feedback")])  # fmt: skip
async def test_a_command_without_what_it_needs_says_how_it_is_used(company, store, platform, args, words):
    shown = await told(company, store, platform, args)
    assert any(word in shown for word in words.split("|"))


async def test_feedback_by_command_is_on_the_last_answer_to_this_person(company, store, platform):
    assert "no answer here yet" in await told(company, store, platform, "feedback wrong")
    line = ChatLine(company, store, platform, channels=CHANNELS)
    async with line.running():
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
        await platform.command("feedback wrong 20일이에요", author=PERSON)
        await line.settled()
    (row,) = store.query("SELECT vote, comment, question FROM feedback")
    assert (row["vote"], row["comment"], row["question"]) == ("wrong", "20일이에요", "연차휴가는 며칠인가요?")


async def test_only_admins_read_sources_again(company, store, platform):
    asked = []

    async def ingest(method, params, report):
        asked.append(params)
        return {"sources": []}

    shown = await told(company, store, platform, "reindex", ingest=ingest)
    assert asked == []
    assert '"fake:u1"' in shown
    assert audit(store) == [("fake:u1", "/haechi reindex", " in general: not allowed")]


async def test_an_admin_reads_a_source_again_and_sees_how_far_it_is(company, store, platform):
    asked = []
    shown_in_between = asyncio.Event()

    async def ingest(method, params, report):
        asked.append((method, dict(params)))
        report({"source": "rules", "stage": "read", "done": 1, "total": 2, "detail": ""})
        await until(lambda: any(len(said) > 1 for said in platform.progress.values()))
        shown_in_between.set()
        source = {
            "source": "rules",
            "added": 1,
            "updated": 2,
            "deleted": 0,
            "unchanged": 3,
            "failed": [],
            "duration_s": 1.23,
            "problem": None,
        }
        return {"sources": [source]}

    await told(company, store, platform, "재색인 rules --force", author=ADMIN, ingest=ingest)
    assert asked == [("ingest", {"sources": ["rules"], "force": True, "by": "fake:boss"})]
    assert shown_in_between.is_set()
    (said,) = platform.progress.values()
    assert said[1].endswith("rules: 읽는 중 1/2")
    assert "새로 1, 바뀜 2, 없어짐 0, 그대로 3, 실패 0" in said[-1]
    assert audit(store)[-1] == ("fake:boss", "/haechi reindex", "rules --force in general: done")


async def test_who_asks_for_a_sync_that_runs_sees_it_at_once(company, store, platform):
    """The second admin must not look at nothing until the first one's sync has ended."""
    hold = asyncio.Event()

    async def ingest(method, params, report):
        report({"source": "rules", "stage": "read", "done": 1, "total": 2, "detail": ""})
        await hold.wait()
        return {"sources": []}

    other = Author(id="boss2", display_name="준", is_bot=False)
    line = ChatLine(company, store, platform, channels=CHANNELS, admins=("fake:boss", "fake:boss2"), ingest=ingest)
    async with line.running():
        for admin in (ADMIN, other):
            await platform.command("reindex rules", author=admin)
        await until(lambda: len(platform.progress) == 2)
        hold.set()
        await line.settled()


async def test_an_admin_in_a_channel_reads_no_source_that_the_channel_does_not_have(company, store, platform):
    shown = await told(company, store, platform, "reindex rules", author=ADMIN, channel="dev")
    assert "`rules`" in shown
    assert "`shop`" in shown
    assert audit(store)[-1][2] == "rules in dev: unknown source"


async def test_a_source_that_cannot_be_read_is_told(company, store, platform):
    async def ingest(method, params, report):
        raise ToolDown("The embedder does not answer.")

    shown = await told(company, store, platform, "reindex", author=ADMIN, ingest=ingest)
    assert "The embedder does not answer." in shown


async def test_a_command_that_fails_says_so_with_an_id_that_the_inbox_knows(company, store, platform):
    async def ingest(method, params, report):
        raise ZeroDivisionError("a bug")

    shown = await told(company, store, platform, "reindex", author=ADMIN, ingest=ingest)
    (row,) = store.query("SELECT state, outcome FROM inbox")
    assert row["state"] == "failed"
    assert row["outcome"].removeprefix("error ") in shown
    assert audit(store)[-1][2].endswith(": failed")


async def test_a_command_that_is_delivered_twice_is_carried_out_once(company, store, platform):
    line = ChatLine(company, store, platform, channels=CHANNELS)
    async with line.running():
        given = await platform.command("status", author=PERSON)
        await platform.deliver(given)
        await line.settled()
        await platform.deliver(given)
        await line.settled()
    assert len(platform.private) == 1


async def test_commands_do_not_wait_behind_questions(company, store, platform):
    hold = asyncio.Event()

    class Slow:
        async def answer(self, *args, **kwargs):
            await hold.wait()
            raise PlatformError("not needed any more")

    line = ChatLine(company, store, platform, channels=CHANNELS, answering=Slow(), at_once=1)
    async with line.running():
        for number in range(5):
            await platform.say(f"@haechi 질문 {number}", author=PERSON)
        await platform.command("help", author=PERSON)
        await until(lambda: platform.private)
        hold.set()
    assert platform.posts == [] or all(post.reply.kind == "error" for post in platform.posts)


async def test_hostile_words_in_a_command_call_nobody(company, store, platform):
    shown = await told(company, store, platform, "@channel `<!here>` \u202e")
    assert "@channel" not in shown
    assert "<!here" not in shown
    assert "\u202e" not in shown
