"""From a question to quotes, a checked answer, or the refusal that says why."""

from __future__ import annotations

import re

import pytest

from bot.errors import ModelUnavailable
from knowledge.errors import ToolDown
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.unit.bot.company import build_answering, open_company, write_company
from tests.unit.bot.times import Clock

EVERYTHING = Scope.everything()


@pytest.fixture
def ask(company):
    async def ask(question, *, scope=EVERYTHING, model=None, kind=None, release=None):
        answering = build_answering(company.knowledge, company.folder, clock=company.clock, model=model)
        return await answering.answer(question, scope=scope, kind=kind, release=release)

    return ask


# --- without a model ------------------------------------------------------------------------------


async def test_without_a_model_the_evidence_itself_comes_first_and_that_is_said_below(ask):
    outcome = await ask("연차휴가는 며칠인가요?")
    answer = outcome.answer
    assert answer.refusal is None
    assert answer.text.startswith("**휴가규정")
    assert "15일의 연차휴가를 준다." in answer.text
    assert answer.degraded[0].startswith("언어 모델이 설정되어 있지 않아")
    assert answer.model is None
    first = answer.citations[0]
    assert (first.index, first.locator.uri, first.locator.label) == (1, "휴가규정.md", "휴가규정 제2조(연차휴가)")
    assert first.url == f"http://127.0.0.1:8765/evidence/{first.chunk_id}#cited"


async def test_every_marker_has_a_citation_and_every_citation_a_marker(ask):
    answer = (await ask("숙박비 상한은 얼마인가요?")).answer
    assert {int(n) for n in re.findall(r"\[(\d+)\]", answer.text)} == {c.index for c in answer.citations}


async def test_documents_are_quoted_with_the_next_best_piece_whatever_words_it_uses(ask):
    answer = (await ask("연차휴가는 며칠인가요?")).answer
    assert len(answer.citations) >= 2
    assert {c.locator.uri for c in answer.citations} <= {"휴가규정.md", "여비규정.md"}


async def test_a_table_keeps_its_header_and_its_rows_whole(ask):
    answer = (await ask("팀장의 서울 숙박비 상한은 얼마인가요?")).answer
    assert "| 직급 | 서울 | 광역시 |" in answer.text
    assert "| 팀장 | 110,000원 | 90,000원 |" in answer.text


async def test_code_is_quoted_as_a_block_of_its_language(ask):
    answer = (await ask("Where is retry_declined for a declined card payment?")).answer
    assert answer.refusal is None
    assert answer.text.startswith("**payments.py:7-12** [1]")
    assert "```python\n" in answer.text
    assert "def retry_declined" in answer.text
    assert answer.citations[0].locator.start_line is not None


async def test_an_answer_says_how_fresh_the_index_is(ask, company):
    fresh = (await ask("연차휴가는 며칠인가요?")).answer
    assert "사규: 방금 색인" in fresh.degraded
    code = (await ask("code: retry declined payment")).answer
    assert any(re.fullmatch(r"Shop: indexed just now, at commit [0-9a-f]{10}", line) for line in code.degraded)


async def test_an_off_topic_question_is_refused_without_sources(ask):
    answer = (await ask("오늘 부산 날씨는 어떤가요?")).answer
    assert answer.refusal is not None
    assert answer.refusal.reason == "no_evidence"
    assert answer.text.startswith("제공된 문서와 코드에서")
    assert (answer.citations, answer.nearest) == ((), ())


async def test_an_english_question_is_refused_in_english(ask):
    answer = (await ask("Who won the world cup in 1998?")).answer
    assert answer.refusal is not None
    assert answer.text.startswith("I found nothing")


async def test_the_prefix_decides_what_is_searched(ask):
    outcome = await ask("code: retry_declined")
    assert outcome.question == "retry_declined"
    assert outcome.answer.route == "code"
    assert {chunk.chunk.evidence_kind for chunk in outcome.evidence.chunks} == {"code"}


async def test_what_the_scope_does_not_hold_is_not_found(ask):
    hidden = (await ask("연차휴가는 며칠인가요?", scope=Scope.of("shop"))).answer
    assert hidden.refusal is not None
    assert "연차휴가를 준다" not in hidden.text


async def test_a_secret_in_the_question_goes_nowhere(ask):
    outcome = await ask("연차휴가는 며칠인가요? AKIAIOSFODNN7EXAMPLE")
    assert "AKIAIOSFODNN7EXAMPLE" not in outcome.question
    assert "AKIAIOSFODNN7EXAMPLE" not in outcome.evidence.query


# --- could not look -------------------------------------------------------------------------------


class Failing:
    """Search that cannot look; the real errors of knowledge."""

    def __init__(self, error):
        self.error = error

    def search(self, query, *, scope, top_k, kind):
        raise self.error

    def status(self, *, scope):
        return []


async def test_could_not_look_never_looks_like_found_nothing(company):
    answering = build_answering(Failing(ToolDown("The index does not answer.")), company.folder, clock=company.clock)
    first = (await answering.answer("연차휴가는 며칠인가요?", scope=EVERYTHING)).answer
    assert first.refusal is not None
    assert first.refusal.reason == "tool_down"
    assert "근거가 없다는 뜻은 아닙니다" in first.text
    assert "The index does not answer" in first.text
    assert "03-02 09:00" in first.text


async def test_since_when_a_tool_is_down_stays_the_same_while_it_is(company):
    clock = Clock()
    answering = build_answering(Failing(ToolDown("No answer.")), company.folder, clock=clock)
    await answering.answer("연차?", scope=EVERYTHING)
    clock.advance(3600)
    later = (await answering.answer("연차?", scope=EVERYTHING)).answer
    assert "03-02 09:00" in later.text


async def test_before_the_first_sync_the_index_is_said_to_be_missing(tmp_path):
    write_company(tmp_path)
    clock = Clock()
    with open_company(tmp_path, clock=clock) as knowledge:
        answering = build_answering(knowledge, tmp_path, clock=clock)
        answer = (await answering.answer("연차휴가는 며칠인가요?", scope=EVERYTHING)).answer
    assert answer.refusal is not None
    assert answer.refusal.reason == "tool_down"
    assert "색인" in answer.text
    assert any(line.startswith("사규: 아직 색인되지 않았습니다.") for line in answer.degraded)


# --- with a model ---------------------------------------------------------------------------------


def marker_of(outcome, label):
    return next(
        n for n, scored in enumerate(outcome.evidence.chunks, start=1) if label in (scored.chunk.locator.label or "")
    )


async def test_a_checked_answer_of_the_model_reaches_the_reader(ask):
    found = await ask("연차휴가는 며칠인가요?")
    n = marker_of(found, "제2조")
    model = FakeChatModel.saying(f"1년간 80퍼센트 이상 출근하면 연차휴가는 15일입니다 [{n}].")
    answer = (await ask("연차휴가는 며칠인가요?", model=model)).answer
    assert answer.text == f"1년간 80퍼센트 이상 출근하면 연차휴가는 15일입니다 [{n}]."
    assert [c.index for c in answer.citations] == [n]
    assert answer.model == "fake-model"


async def test_what_a_model_says_of_code_is_called_its_reading(ask):
    told = "compare it with the lines it cites"
    retried = FakeChatModel.saying("`retry_declined` retries payments [1].")
    answer = (await ask("code: where is retry_declined?", model=retried)).answer
    assert answer.model == "fake-model"
    assert any(told in note for note in answer.degraded)
    model = FakeChatModel.saying("1년간 80퍼센트 이상 출근하면 연차휴가는 15일입니다 [1].")
    rules = (await ask("연차휴가는 며칠인가요?", model=model)).answer
    assert rules.model == "fake-model"
    assert not any("코드" in note for note in rules.degraded)


async def test_the_model_is_given_numbered_evidence_and_the_rules(ask):
    model = FakeChatModel.saying("모름")
    await ask("연차휴가는 며칠인가요?", model=model)
    system, user = model.asked[0]
    assert "Say only what stands in the numbered evidence" in system.content
    assert "Write the answer in Korean." in system.content
    assert '<evidence n="1">' in user.content
    assert "15일의 연차휴가를 준다." in user.content
    assert user.content.rstrip().endswith("Question: 연차휴가는 며칠인가요?")


async def test_no_model_is_asked_when_there_is_no_evidence(ask):
    model = FakeChatModel.saying("날씨는 맑습니다 [1].")
    answer = (await ask("오늘 부산 날씨는 어떤가요?", model=model)).answer
    assert answer.refusal is not None
    assert model.asked == []


@pytest.mark.parametrize(
    "text",
    [
        "연차휴가는 20일입니다 [{n}].",  # a number that stands nowhere
        "연차휴가는 15일입니다.",  # no marker
        "연차휴가는 15일입니다 [77].",  # a marker that names nothing
        "",
    ],
)
async def test_what_the_evidence_does_not_confirm_is_refused_with_the_nearest_sources(ask, text):
    n = marker_of(await ask("연차휴가는 며칠인가요?"), "제2조")
    model = FakeChatModel.saying(text.format(n=n))
    answer = (await ask("연차휴가는 며칠인가요?", model=model)).answer
    assert answer.refusal is not None
    assert answer.refusal.reason == "uncited"
    assert answer.nearest
    assert "20일" not in answer.text


async def test_sentences_are_released_as_they_pass_and_bad_ones_never(ask):
    n = marker_of(await ask("연차휴가는 며칠인가요?"), "제2조")
    released = []

    async def release(text):
        released.append(text)

    model = FakeChatModel.saying(
        f"연차휴가는 15일입니다 [{n}]. 연차휴가는 99일입니다 [{n}]. 2년마다 1일을 더합니다 [{n}].",
        f"연차휴가는 98일입니다 [{n}]. 2년마다 1일을 더합니다 [{n}].",
    )
    answer = (await ask("연차휴가는 며칠인가요?", model=model, release=release)).answer
    assert [text.strip() for text in released] == [f"연차휴가는 15일입니다 [{n}].", f"2년마다 1일을 더합니다 [{n}]."]
    assert "99일" not in answer.text
    assert "98일" not in answer.text
    own, told = model.asked[1][-2:]
    assert own.content == f"연차휴가는 15일입니다 [{n}]."
    assert "the number 99일 does not stand in the evidence" in told.content
    assert any("1개를 뺐습니다" in line for line in answer.degraded)


async def test_a_model_that_says_it_does_not_know_leads_to_a_refusal(ask):
    answer = (await ask("연차휴가는 며칠인가요?", model=FakeChatModel.saying("NO_ANSWER"))).answer
    assert answer.refusal is not None
    assert answer.refusal.reason == "weak_evidence"
    assert answer.nearest


async def test_when_the_model_is_down_the_evidence_is_quoted_and_the_reader_told(ask):
    model = FakeChatModel(otherwise=FakeReply(error=ModelUnavailable("Ollama at http://x does not answer.")))
    answer = (await ask("연차휴가는 며칠인가요?", model=model)).answer
    assert answer.refusal is None
    assert answer.text.startswith("언어 모델이 답하지 않아")
    assert "15일의 연차휴가를 준다." in answer.text


async def test_when_the_model_breaks_off_what_was_released_stays(ask):
    n = marker_of(await ask("연차휴가는 며칠인가요?"), "제2조")
    pieces = (f"연차휴가는 15일입니다 [{n}]. ", "그리고 ")
    model = FakeChatModel(FakeReply(pieces=pieces, error=ModelUnavailable("The stream broke off.")))
    answer = (await ask("연차휴가는 며칠인가요?", model=model)).answer
    assert answer.text == f"연차휴가는 15일입니다 [{n}]."
    assert any("끝내지 못했습니다" in line for line in answer.degraded)


async def test_links_and_mentions_that_the_model_made_up_are_removed(ask):
    n = marker_of(await ask("연차휴가는 며칠인가요?"), "제2조")
    made_up = (
        f"@channel 연차휴가는 15일입니다, [여기](http://evil.example/x)를 보세요 [{n}]. ![x](http://evil.example/p.png)"
    )
    answer = (await ask("연차휴가는 며칠인가요?", model=FakeChatModel.saying(made_up))).answer
    assert answer.refusal is None
    assert "evil.example" not in answer.text
    assert "@channel" not in answer.text
