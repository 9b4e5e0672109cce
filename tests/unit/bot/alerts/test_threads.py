"""What people say below alerts, through the whole chat line: votes, corrections, questions about the evidence."""

from __future__ import annotations

import pytest

from bot.alerts.verdicts import MAX_CORRECTIONS, MAX_CORRECTIONS_EACH
from bot.channels import ChannelPolicy, Channels
from bot.errors import Unreachable
from bot.types import Author
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.alerts.desk_world import BOT, CAUSE, NO_TOOL, TRACE, alert, build, finding, open_world
from tests.unit.bot.chat_line import ChatLine

KIM = Author(id="kim", display_name="Kim", is_bot=False)
LEE = Author(id="lee", display_name="Lee", is_bot=False)
EVERYTHING = Scope.everything()
OPS = Channels(
    default=ChannelPolicy(scope=EVERYTHING),
    direct=ChannelPolicy(scope=EVERYTHING),
    configured={
        ("fake", "ops"): ChannelPolicy(scope=EVERYTHING, alerts=True, language="en"),
        ("fake", "silent"): ChannelPolicy(scope=Scope.of("shop"), alerts=True, answers=False, language="ko"),
    },
)


@pytest.fixture
def world(tmp_path):
    with open_world(tmp_path) as opened:
        yield opened


def line_of(world, desk, **options) -> ChatLine:
    options = {"channels": OPS, "clock": world.clock, **options}
    return ChatLine(world, world.store, world.platform, alerts=desk, **options)


def desk_of(world, *answers: str):
    return build(world, model=FakeChatModel.saying(*answers) if answers else None, channels=OPS)


async def alerted(line, text=TRACE, channel="ops"):
    message = await line.platform.say(text, author=BOT, mention=False, channel=channel)
    await line.settled()
    return message


async def said(line, root, text, *, author=KIM, mention=False, channel="ops", **more):
    before = len(line.platform.posts)
    await line.platform.say(text, author=author, root=root.id, mention=mention, channel=channel, **more)
    await line.settled()
    return [post.reply for post in line.platform.posts[before:]]


def causes(world) -> list[str]:
    return [case.cause for case in world.knowledge.memory.list_cases(scope=EVERYTHING)]


def audited(world) -> list[tuple[str, str]]:
    return [(row["actor"], row["action"]) for row in world.store.query("SELECT * FROM audit_log ORDER BY id")]


async def test_the_vote_wrong_takes_the_case_out_and_the_thread_is_told_once(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        await alerted(line)
        (analysis,) = line.platform.posts
        assert causes(world) == [CAUSE]
        await line.platform.vote(analysis.id, "wrong", author=KIM)
        await line.platform.vote(analysis.id, "wrong", author=LEE)
        await desk.learn(line.platforms)
        await desk.learn(line.platforms)
        await desk.show_counts(line.platforms)
    assert causes(world) == []
    told = [post.reply.markdown for post in line.platform.posts if post is not analysis]
    assert len(told) == 1
    assert "out of the memory" in told[0]
    assert analysis.reply.notices[0] == "People have called this analysis wrong."
    assert audited(world) == [("fake:kim", "case wrong"), ("fake:lee", "case wrong")]


@pytest.mark.parametrize("vote", ["up", "down"])
async def test_other_votes_and_taking_one_back_leave_the_case(world, vote):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        await alerted(line)
        await line.platform.vote(line.platform.posts[0].id, vote, author=KIM)
        await line.platform.vote(line.platform.posts[0].id, "wrong", author=KIM, taken_back=True)
        await desk.learn(line.platforms)
    assert causes(world) == [CAUSE]
    assert len(line.platform.posts) == 1


async def test_a_vote_that_was_given_before_a_kill_is_carried_out_afterwards(tmp_path):
    with open_world(tmp_path) as world:
        desk = desk_of(world, NO_TOOL, finding(CAUSE))
        async with line_of(world, desk).running() as line:
            await alerted(line)
            await line.platform.vote(line.platform.posts[0].id, "wrong", author=KIM)
        assert causes(world) == [CAUSE]  # nobody had the time yet
        platform = world.platform
    with open_world(tmp_path, clock=world.clock) as again:
        again.platform = platform
        await desk_of(again).learn({"fake": platform})
        assert causes(again) == []
        assert "out of the memory" in platform.posts[-1].reply.markdown


async def test_the_command_feedback_wrong_means_the_latest_analysis_where_nothing_else_was_answered(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        await alerted(line)
        await line.platform.command("feedback wrong", author=KIM, channel="ops")
        await line.settled()
        await desk.learn(line.platforms)
    assert "latest analysis" in line.platform.private[-1][1]
    assert causes(world) == []


@pytest.mark.parametrize(
    ("channel", "shared", "expected"),
    [("partners", True, [CAUSE]), ("inhouse", False, []), ("ops", True, [])],
)
async def test_a_vote_changes_no_case_where_other_organisations_read_unless_the_channel_is_listed(
    world, channel, shared, expected
):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    if shared:
        world.platform.shared.add(channel)
    async with line_of(world, desk).running() as line:
        if channel == "ops":
            await alerted(line)
        else:  # where alerts by HTTP are posted, the channel needs no entry of its own
            message = await line.platform.say("alert", author=BOT, mention=False, channel=channel, shared=shared)
            await desk.take(alert(world), "a1", message.thread, line.platform)
        assert causes(world) == [CAUSE]
        await line.platform.vote(line.platform.posts[-1].id, "wrong", author=KIM)
        await desk.learn(line.platforms)
    assert causes(world) == expected
    assert len(world.store.query("SELECT * FROM feedback WHERE vote = 'wrong'")) == 1  # as a vote it is kept


async def test_a_vote_changes_no_case_while_nobody_can_tell_who_reads_the_channel(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        message = await line.platform.say("alert", author=BOT, mention=False, channel="unknown")
        await desk.take(alert(world), "a1", message.thread, line.platform)
        line.platform.errors.append(Unreachable("The platform does not answer."))
        await line.platform.vote(line.platform.posts[-1].id, "wrong", author=KIM)
        await desk.learn(line.platforms)
    assert causes(world) == [CAUSE]


@pytest.mark.parametrize(("people", "taken"), [(1, MAX_CORRECTIONS_EACH), (9, MAX_CORRECTIONS)])
async def test_a_cause_is_corrected_a_bounded_number_of_times_and_what_was_remembered_last_stays(world, people, taken):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    authors = [Author(id=f"p{number}", display_name="P", is_bot=False) for number in range(people)]
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        for number in range(taken + 2):
            author = authors[number % people]
            (reply,) = await said(line, root, f"cause: certificate number {number} had expired", author=author)
    assert "cannot be corrected any more" in reply.markdown
    assert "/haechi cases" in reply.markdown
    assert causes(world) == [f"certificate number {taken - 1} had expired"]


async def test_a_correction_needs_no_mention_and_takes_the_place_of_the_case(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        (reply,) = await said(line, root, "원인은 결제 게이트웨이 인증서 만료였어")
        assert "결제 게이트웨이 인증서 만료" in reply.markdown
        assert "PaymentDeclined" in reply.markdown
        await desk.show_counts(line.platforms)
    (case,) = world.knowledge.memory.list_cases(scope=EVERYTHING)
    assert (case.cause, case.is_correction) == ("결제 게이트웨이 인증서 만료", True)
    assert case.cited[0].uri == "payments.py"
    assert "corrected the cause" in line.platform.posts[0].reply.notices[0]
    assert audited(world) == [("fake:kim", "case corrected")]


async def test_a_correction_is_heard_where_questions_are_not_answered(world):
    desk = desk_of(world)
    async with line_of(world, desk).running() as line:
        root = await alerted(line, channel="silent")
        (reply,) = await said(line, root, "cause: the gateway was down", channel="silent")
        assert "기억합니다" in reply.markdown
        assert await said(line, root, "왜 그런데?", mention=True, channel="silent") == []
    assert causes(world) == ["the gateway was down"]


@pytest.mark.parametrize(
    "text", ["원인이 뭐였어?", "제가 보고 있어요", "cause: unknown", "maybe the cause was DNS", "고쳤습니다"]
)
async def test_people_who_talk_below_an_alert_are_not_interrupted(world, text):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        assert await said(line, root, text) == []
    assert causes(world) == [CAUSE]


async def test_a_cause_that_is_told_to_a_colleague_or_elsewhere_is_no_correction(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        assert await said(line, root, "@lee 원인은 DNS 설정이었어", mentions_others=True) == []
        await line.platform.say("원인: DNS 설정", author=KIM, mention=False, channel="ops")
        await line.settled()
    assert causes(world) == [CAUSE]


async def test_secrets_in_a_correction_are_stored_nowhere(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        (reply,) = await said(line, root, "원인: DB 접속 정보 교체 누락, password=hunter2secret9 로 바꿔야 했음")
    assert "hunter2secret9" not in reply.markdown
    assert "hunter2secret9" not in "".join(causes(world))
    world.store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in [*world.folder.glob("*.sqlite3*"), *(world.folder / "data").glob("*.sqlite3*")]:
        assert b"hunter2secret9" not in file.read_bytes()


# --- questions below an alert -----------------------------------------------------------------------


async def test_the_code_the_changes_the_callers_and_the_cases_are_shown_when_asked_for(world):
    desk = desk_of(world, NO_TOOL, finding(CAUSE))
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        (code,) = await said(line, root, "show me the code", mention=True)
        assert "def retry_declined" in code.markdown
        assert code.citations[0].locator.uri == "payments.py"
        (changes,) = await said(line, root, "what changed?")  # the thread is the bot's now
        assert "`shop`" in changes.markdown
        assert " t: " in changes.markdown
        (cases,) = await said(line, root, "전에도 있었어?")
        assert CAUSE.replace("`", "'") in cases.markdown
        (callers,) = await said(line, root, "who calls this?")
        assert "No caller was found" in callers.markdown


async def test_why_is_answered_from_the_evidence_of_the_alert(world):
    desk = desk_of(world)
    async with line_of(world, desk).running() as line:
        root = await alerted(line)
        (reply,) = await said(line, root, "왜 그런데?", mention=True)
        assert reply.kind == "answer"
        assert reply.citations[0].locator.uri == "payments.py"


async def test_a_model_gets_the_evidence_of_the_alert_for_a_follow_up(world):
    answer = "`retry_declined` raises PaymentDeclined after max_attempts attempts [1]."
    model = FakeChatModel.saying(answer)
    async with line_of(world, desk_of(world), model=model).running() as line:
        root = await alerted(line)
        (reply,) = await said(line, root, "why did it fail?", mention=True)
    assert "retry_declined" in model.asked[-1][-1].content
    assert reply.citations[0].locator.uri == "payments.py"
    assert "max_attempts" in reply.markdown


async def test_another_question_below_an_alert_is_answered_as_anywhere(world):
    async with line_of(world, desk_of(world)).running() as line:
        root = await alerted(line)
        (reply,) = await said(line, root, "docs: 연차휴가는 며칠인가요?", mention=True)
        assert reply.citations[0].locator.uri == "휴가규정.md"


async def test_what_a_channel_may_not_see_any_more_is_not_shown_below_its_old_alerts(world):
    async with line_of(world, desk_of(world)).running() as line:
        root = await alerted(line)
        assert "payments.py" in line.platform.posts[0].reply.markdown
    narrowed = Channels(
        default=ChannelPolicy(scope=Scope.of("rules")),
        direct=ChannelPolicy(scope=Scope.of("rules")),
        configured={("fake", "ops"): ChannelPolicy(scope=Scope.of("rules"), alerts=True, language="en")},
    )
    desk = build(world, channels=narrowed)
    async with line_of(world, desk, channels=narrowed).running() as line:
        for text in ("show me the code", "what changed?", "who calls this?", "why did it fail?"):
            for reply in await said(line, root, text, mention=True):
                assert "retry_declined" not in reply.markdown
                assert all(one.locator.source == "rules" for one in reply.citations)


async def test_korean_below_an_analysis_in_english_is_answered_in_korean(world):
    free = Channels(
        default=ChannelPolicy(scope=EVERYTHING),
        direct=ChannelPolicy(scope=EVERYTHING),
        configured={("fake", "ops"): ChannelPolicy(scope=EVERYTHING, alerts=True)},
    )
    desk = build(world, model=None, channels=free)
    async with line_of(world, desk, channels=free).running() as line:
        root = await alerted(line)
        (korean,) = await said(line, root, "<@BOT> 전에도 있었어?", mention=True)
        (english,) = await said(line, root, "<@BOT> seen before?", mention=True)
        (corrected,) = await said(line, root, "원인: 인증서가 만료됨")
    assert (korean.language, english.language, corrected.language) == ("ko", "en", "ko")
    assert "사례" in korean.markdown
    assert "원인으로" in corrected.markdown
