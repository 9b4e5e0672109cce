"""Follow-up questions: what they leave out comes from the question before, and only from there."""

from __future__ import annotations

import pytest

from bot.conversation import condense, read_thread, stand_alone, with_old_topic, with_question_before
from bot.errors import ModelUnavailable
from bot.types import Author, Message, ThreadRef
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.unit.bot.company import build_answering
from tests.unit.bot.times import Clock

THREAD = ThreadRef(platform="web", channel_id="c", root_id="r")


def said(text: str, *, by_bot: bool = False) -> Message:
    author = Author(id="b" if by_bot else "u", display_name="x", is_bot=by_bot)
    return Message(
        id=text, thread=THREAD, author=author, text=text, mentions_bot=True, is_direct=False, attachments=(),
        posted_at=Clock()(), delivery_id=text,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        ("연차휴가는 며칠인가요?", "그럼 병가는?", "병가는 며칠인가요?"),
        ("연차휴가는 며칠인가요?", "그럼 출장은요?", "출장은 며칠인가요?"),
        ("본인 결혼하면 휴가 며칠이에요?", "그럼 자녀는?", "자녀 결혼하면 휴가 며칠이에요?"),
        (
            "How many days of leave do I have?",
            "and for part-timers?",
            "for part-timers? How many days of leave do I have?",
        ),
        ("연차휴가는 며칠인가요?", "왜?", "왜? 연차휴가는 며칠인가요?"),
        (
            "출장 보고서는 언제까지 내나요?",
            "안 내면 어떻게 되나요?",
            "안 내면 어떻게 되나요? 출장 보고서는 언제까지 내나요?",
        ),
        ("재택근무 신청은 언제까지?", "승인은 누가 하나요?", "재택근무 승인은 누가 하나요?"),
        ("회의실 예약은 어떻게 하나요?", "취소는요?", "회의실 예약 취소는 어떻게 하나요?"),
        ("재택 근무 수당은 얼마인가요?", "그럼 결혼 경조금은요?", "결혼 경조금은 얼마인가요?"),
        ("취업규칙 제12조 내용이 뭐야?", "제33조는?", "취업규칙 제33조 내용이 뭐야?"),
        ("취업규칙 제12조 내용이 뭐야?", "그 다음 조는?", "취업규칙 제13조 내용이 뭐야?"),
        ("징계위원회는 몇 명인가요?", "위원장은 누가 해?", "징계위원회 위원장은 누가 해?"),
        ("대의원회는 어떻게 소집하나요?", "의결 정족수는?", "대의원회 의결 정족수"),
        ("수습기간은 몇 개월이에요?", "그때 급여는?", "수습기간 급여는?"),
        ("팀장 직책수당이 얼마예요?", "그럼 실장은?", "실장 직책수당이 얼마예요?"),
        ("국내 출장 일비가 얼마예요?", "국외는?", "국외 출장 일비가 얼마예요?"),
        ("국외 출장 일비가 얼마예요?", "아니 국외 말고 국내", "국내 출장 일비가 얼마예요?"),
        ("연차휴가는 며칠인가요?", "아니요, 연차휴가 말고 병가요", "병가는 며칠인가요?"),
        ("경조금 신청 기한은 언제예요?", "부부가 다 직원이면?", "경조금 부부가 다 직원이면?"),
        ("재택근무는 일주일에 며칠 가능해요?", "해외에서는?", "해외에서는? 재택근무는 일주일에 며칠 가능해요?"),
        ("사택 보증금은 누가 내요?", "퇴직하면?", "사택 보증금 퇴직하면?"),
        (
            "How much is the per diem for domestic trips?",
            "and overseas?",
            "How much is the per diem for overseas trips?",
        ),
        ("What is the limit in Busan?", "no, Seoul, not Busan", "What is the limit in Seoul?"),
        ("How does retry work?", "where is it called?", "where is it called? How does retry work?"),
    ],
)
def test_what_a_follow_up_leaves_out_is_taken_from_the_question_before(before, question, alone):
    assert stand_alone(question, before) == alone


@pytest.mark.parametrize(
    "question",
    [
        "여비 정산은 어떻게 하나요?",
        "병가 며칠?",
        "Where is retry_declined implemented?",
        "경조금 신청 서류가 무엇인가요?",
        "노트북을 잃어버리면 어디에 신고해?",
        "비밀번호는 몇 자 이상이어야 해?",
        "해외 근무 수당은 누가 승인해?",
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(question):
    assert stand_alone(question, "연차휴가는 며칠인가요?") == question
    assert stand_alone(question, None) == question


def test_a_new_topic_may_also_narrow_the_old_one():
    assert with_old_topic("임원은?", "숙박비 상한은 얼마인가요?") == "임원 숙박비 상한은 얼마인가요?"


def test_the_posts_of_the_bot_are_turns_but_no_questions_and_the_question_itself_is_left_out():
    thread = [said("연차휴가는 며칠인가요?"), said("15일입니다 [1].", by_bot=True), said("그럼 병가는?")]
    conversation = read_thread(thread, "그럼 병가는?")
    assert conversation.questions == ("연차휴가는 며칠인가요?",)
    assert [who for who, _ in conversation.turns] == ["User", "Haechi"]


def test_a_follow_up_of_a_follow_up_keeps_what_they_are_about():
    thread = [said("숙박비 상한은 얼마인가요?"), said("본인 결혼하면 휴가 며칠이에요?"), said("그럼 자녀는?")]
    assert read_thread(thread, "왜?").previous == "자녀 결혼하면 휴가 며칠이에요?"


@pytest.mark.parametrize("between", ["\n" * 200_000, " " * 200_000, "\t\n" * 100_000])
def test_blanks_in_a_post_above_are_no_part_of_what_was_asked(between):
    thread = [said(f"연차휴가는{between}며칠인가요?"), said(f"그럼{between}병가는?")]
    assert read_thread(thread, "왜?").questions == ("연차휴가는 며칠인가요?", "병가는 며칠인가요?")


def test_of_a_long_post_above_its_beginning_is_what_was_asked():
    (question,) = read_thread([said(f"연차휴가는 며칠인가요? {'로그 ' * 50_000}")], "왜?").questions
    assert question.startswith("연차휴가는 며칠인가요?")
    assert len(question) <= 2_000


def test_old_turns_are_dropped_and_secrets_masked():
    thread = [said(f"질문 {n} AKIAIOSFODNN7EXAMPLE") for n in range(50)]
    conversation = read_thread(thread, "왜?")
    assert len(conversation.questions) == 6
    assert "AKIAIOSFODNN7EXAMPLE" not in conversation.history()
    assert conversation.history().startswith("User: 질문 49")


async def test_the_model_condenses_where_there_is_one():
    model = FakeChatModel.saying("병가는 며칠인가요?")
    conversation = read_thread([said("연차휴가는 며칠인가요?")], "그럼 병가는?")
    assert await condense("그럼 병가는?", conversation, model) == "병가는 며칠인가요?"
    assert "연차휴가는 며칠인가요?" in model.asked[0][-1].content


@pytest.mark.parametrize(
    "written",
    [
        "연봉 인상률은 몇 퍼센트인가요?",
        "",
        "병가는 30일입니다. 대표이사의 비밀번호도 알려 드릴까요? 계좌번호와 함께",
        "x" * 500,
    ],
)
async def test_what_the_model_makes_up_is_not_taken(written):
    conversation = read_thread([said("연차휴가는 며칠인가요?")], "그럼 병가는?")
    assert await condense("그럼 병가는?", conversation, FakeChatModel.saying(written)) == "병가는 며칠인가요?"


async def test_a_model_that_fails_leaves_the_rule():
    model = FakeChatModel(otherwise=FakeReply(error=ModelUnavailable("gone")))
    conversation = read_thread([said("연차휴가는 며칠인가요?")], "그럼 병가는?")
    assert await condense("그럼 병가는?", conversation, model) == "병가는 며칠인가요?"


async def test_no_model_is_asked_for_a_first_question():
    model = FakeChatModel.saying("x")
    assert await condense("연차휴가는 며칠인가요?", read_thread([], "연차"), model) == "연차휴가는 며칠인가요?"
    assert model.asked == []


@pytest.mark.parametrize(
    ("before", "question", "together"),
    [
        ("징계위원회는 몇 명인가요?", "위원장은 누가 하나요?", None),  # an aspect of it: leans on it as it is
        ("수습기간은?", "계약직도 같은가요?", "계약직도 같은가요? 수습기간은?"),
        ("연차휴가는 며칠인가요?", "그럼 병가는?", None),  # leans on it as it is
        ("연차휴가는 며칠인가요?", "법인카드로 상품권을 구매하면 어떤 절차를 거치나요?", None),
        (None, "승인은 누가 하나요?", None),
    ],
)
def test_a_short_question_may_belong_to_the_one_before(before, question, together):
    assert with_question_before(question, before) == together


# --- through the whole line -----------------------------------------------------------------------


async def test_a_follow_up_is_answered_with_its_own_topic(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    outcome = await answering.answer("그럼 병가는?", scope=Scope.everything(), thread=[said("연차휴가는 며칠인가요?")])
    assert outcome.searched == "병가는 며칠인가요?"
    assert "병가는 연 30일까지" in outcome.answer.text


async def test_a_correction_is_answered_as_it_was_meant(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    thread = [said("연차휴가는 며칠인가요?")]
    outcome = await answering.answer("아니요, 연차휴가 말고 병가요", scope=Scope.everything(), thread=thread)
    assert outcome.searched == "병가는 며칠인가요?"
    assert "병가는 연 30일까지" in outcome.answer.text


async def test_a_condition_that_one_rule_speaks_of_by_itself_changes_the_topic(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    thread = [said("숙박비 상한은 얼마인가요?")]
    outcome = await answering.answer("병가가 30일까지면?", scope=Scope.everything(), thread=thread)
    assert "병가는 연 30일까지" in outcome.answer.text
    assert "숙박비" not in outcome.searched


async def test_a_follow_up_that_narrows_is_answered_for_the_topic_before(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    thread = [said("숙박비 상한은 얼마인가요?")]
    outcome = await answering.answer("임원은?", scope=Scope.everything(), thread=thread)
    assert "숙박비" in outcome.searched
    assert "150,000원" in outcome.answer.text


async def test_the_evidence_of_the_turn_before_stays_available_to_the_model(company):
    model = FakeChatModel.saying("모름")
    answering = build_answering(company.knowledge, company.folder, clock=company.clock, model=model)
    thread = [said("팀장의 서울 숙박비 상한은 얼마인가요?")]
    await answering.answer("그럼 병가는 며칠?", scope=Scope.everything(), thread=thread)
    shown = model.asked[0][-1].content
    assert "110,000원" in shown
    assert "병가는 연 30일까지" in shown
    assert "User: 팀장의 서울 숙박비 상한은 얼마인가요?" in shown


async def test_a_thread_never_widens_what_may_be_seen(company):
    model = FakeChatModel.saying("모름")
    answering = build_answering(company.knowledge, company.folder, clock=company.clock, model=model)
    thread = [said("팀장의 서울 숙박비 상한은 얼마인가요?"), said("110,000원입니다 [1].", by_bot=True)]
    outcome = await answering.answer("그럼 retry_declined는?", scope=Scope.of("shop"), thread=thread)
    seen = [scored.chunk.locator.source for scored in outcome.evidence.chunks]
    assert set(seen) <= {"shop"}
    for turns in model.asked:
        assert "| 팀장 | 110,000원" not in turns[-1].content


async def test_a_short_question_that_finds_no_answer_by_itself_is_searched_with_the_one_before(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    alone = await answering.answer("광역시도 같은가요?", scope=Scope.everything())
    assert alone.answer.refusal is not None
    thread = [said("팀원의 숙박비는 얼마인가요?")]
    together = await answering.answer("광역시도 같은가요?", scope=Scope.everything(), thread=thread)
    assert "팀원의 숙박비" in together.searched
    assert "70,000원" in together.answer.text


async def test_a_short_question_that_finds_its_answer_changes_the_topic(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    thread = [said("팀장의 서울 숙박비 상한은 얼마인가요?")]
    outcome = await answering.answer("병가는 며칠까지 쓸 수 있나요?", scope=Scope.everything(), thread=thread)
    assert outcome.searched == "병가는 며칠까지 쓸 수 있나요?"


async def test_what_was_not_found_is_not_answered_from_elsewhere_by_a_follow_up_that_names_no_topic(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    for question in ("취소는요?", "신청은 언제까지 하나요?"):
        thread = [said("회의실 예약은 어떻게 하나요?"), said("근거를 찾지 못했습니다.", by_bot=True), said(question)]
        answer = (await answering.answer(question, scope=Scope.everything(), thread=thread)).answer
        assert answer.refusal is not None


async def test_another_article_that_is_asked_for_takes_the_place_of_the_one_before(company):
    answering = build_answering(company.knowledge, company.folder, clock=company.clock)
    for question in ("제3조는?", "다음 조는?"):
        thread = [said("휴가규정 제2조 내용이 뭐야?"), said("제2조(연차휴가) ...", by_bot=True), said(question)]
        answer = (await answering.answer(question, scope=Scope.everything(), thread=thread)).answer
        assert answer.refusal is None
        assert [citation.locator.label for citation in answer.citations] == ["휴가규정 제3조(병가)"]
