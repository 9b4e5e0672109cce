"""What a reader gets when the model, asked to write a sentence anew, goes on to the next one, and how blocks stand."""

from __future__ import annotations

from bot.evidence_pieces import NumberedEvidence
from bot.generating import Asked, Generated, Writer
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.unit.bot.model_outputs import PERSONA

TABLE = """여비규정.md · 여비규정 [별표 1] 국내 여비
[별표 1] 국내 여비
구분 | 일비 | 식비
이사 | 52,000원 | 61,000원
사원 | 31,000원 | 37,000원"""
CODE = """retry.py · charge_again
(billing/retry.py lines 10-22, commit 5c0de11a9f)
def charge_again(card, amount):
    \"\"\"Charges the card and waits twice as long after each timeout.\"\"\"
    try:
        return charge(card, amount)
    except CardDeclined:
        log.warning("card declined")
        raise
    except GatewayTimeout:
        log.error("gateway timed out")
        return None"""
EVIDENCE = [NumberedEvidence(number=1, text=TABLE), NumberedEvidence(number=2, text=CODE, is_code=True)]


async def written(question: str, first: str, again: str = "NO_ANSWER") -> Generated:
    model = FakeChatModel(FakeReply(pieces=(first,)), otherwise=FakeReply(pieces=(again,)))
    writer = Writer(Asked(question=question, persona=PERSONA, language="ko"), EVIDENCE, None)
    await writer.write(model, [ChatTurn(role="user", content=question)])
    return writer.result


async def test_the_evidence_stands_first_where_the_model_goes_on_instead_of_correcting():
    made = await written(
        "이사의 일비는?",
        "이사의 일비는 31,000원입니다 [1]. 이사의 식비는 61,000원입니다 [1].",
        "이사의 식비는 61,000원입니다 [1].",
    )
    assert made.text.startswith("원문: “구분: 이사, 일비: 52,000원")
    assert made.text.rstrip().endswith("이사의 식비는 61,000원입니다 [1].")
    assert len(made.quoted) == len(made.replaced) == 1


async def test_a_sentence_that_is_written_anew_needs_no_quotation_beside_it():
    made = await written("이사의 일비는?", "이사의 일비는 31,000원입니다 [1].", "이사의 일비는 52,000원입니다 [1].")
    assert made.text.strip() == "이사의 일비는 52,000원입니다 [1]."
    assert made.quoted == []


async def test_blocks_of_code_follow_each_other_at_the_start_of_their_lines_under_one_introduction():
    made = await written(
        "code: 카드가 거절되거나 시간이 초과되면?",
        "카드가 거절되면 `CardDeclined`를 무시합니다 [2]. 시간이 초과되면(`GatewayTimeout`) 관리자에게 메일을 보냅니다 [2]. 끝입니다 [2].",
    )
    assert made.text.count("코드에는 이렇게 되어 있습니다") == 1
    fences = [line for line in made.text.splitlines() if "```" in line]
    assert len(fences) >= 4
    assert set(fences) == {"```"}
    assert "```\n\n```" in made.text
    assert "\n\n\n" not in made.text


async def test_a_reply_does_not_begin_with_a_conjunction_whose_first_half_is_not_shown():
    made = await written("이사의 일비가 있나요?", "네, 있습니다 [1]. 다만, 이사의 일비는 52,000원입니다 [1].")
    assert made.text.strip() == "이사의 일비는 52,000원입니다 [1]."
    made = await written("이사의 식비는?", "이사의 식비는 61,000원입니다 [1]. 다만, 이사의 일비는 52,000원입니다 [1].")
    assert "다만, 이사의 일비" in made.text
