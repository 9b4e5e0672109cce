"""Whether the thing that is asked for stands where the evidence speaks of the subject."""

from __future__ import annotations

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import term_weights
from knowledge.retrieval.question import understand
from knowledge.retrieval.told import Told, told_of
from knowledge.types import Chunk
from tests.unit.knowledge.retrieval.corpus import chunk

HALL = chunk(
    "hall", "외부기관에서 강당을 쓸 때에는 사용료를 징수할 수 있다. 사용료는 따로 정한다.", label="제6조(강당 사용료)"
)
FEES = chunk("fees", "학생증을 다시 받으려면 3,000원을 낸다.", label="제9조(수수료)")
FARES = chunk(
    "fares", "구간 | 책임급 | 선임급\n서울-부산 | 59,800 | 41,200\n서울-강릉 | 37,100 | 30,900", label="철도 운임"
)
LEAVE = chunk("leave", "휴가는 다음 각 호와 같다.\n1. 본인 결혼: 5일\n2. 형제 사망: 3일", label="제8조(경조휴가)")
MEETINGS = chunk("meetings", "위원회는 분기마다 모인다.\n위원에게는 회의 수당을 준다.", label="제3조(위원회)")


def told(question: str, *chunks: Chunk) -> Told:
    understood = understand(question, "docs")
    return told_of(understood, [Candidate(chunk=one) for one in chunks], term_weights(understood.words, {}, 1000))


def test_a_fee_that_is_set_elsewhere_is_not_told_by_the_fees_beside_it() -> None:
    assert told("강당 사용료는 얼마예요?", HALL, FEES).share < 0.6
    assert told("학생증 재발급 수수료는 얼마예요?", HALL, FEES).share == 1.0


def test_a_row_is_read_with_the_head_of_its_table() -> None:
    assert told("강릉에서 서울까지 선임급 운임은 얼마예요?", FARES).share == 1.0


def test_a_list_belongs_to_the_sentence_that_announces_it() -> None:
    assert told("형제가 죽으면 경조휴가가 며칠이에요?", LEAVE).share == 1.0


def test_a_date_must_stand_in_the_very_line() -> None:
    text = "신청은 따로 공고한다.\n이 규정은 3월 1일부터 시행한다."
    assert told("신청 날짜가 몇 월 며칠이에요?", chunk("apply", text, label="제2조")).share == 0.0


def test_where_the_kind_is_not_clear_any_line_will_do() -> None:
    found = told("위원회는 누가 소집해요?", MEETINGS)
    assert found.share == 1.0
    assert 0.0 < found.beside <= 1.0


def test_how_much_of_the_subject_stands_beside_the_value_counts() -> None:
    near = told("서울에서 강릉까지 운임은 얼마예요?", FARES)
    far = told("서울에서 제주까지 항공 할인 운임은 얼마예요?", FARES)
    assert far.beside < near.beside


def test_without_evidence_nothing_is_told() -> None:
    assert told("수당은 얼마예요?") == Told(share=0.0, beside=0.0)
