"""Which sentences below an alert name its cause, and which only speak of it."""

from __future__ import annotations

import pytest

from bot.alerts.correction import correction_in

STATED = {
    "원인은 커넥션 풀 고갈이었어": "커넥션 풀 고갈",
    "원인: 인증서 만료": "인증서 만료",
    "원인 : DB 비밀번호 교체 후 재시작 누락": "DB 비밀번호 교체 후 재시작 누락",
    "실제 원인은 배포 스크립트의 환경 변수 누락이었습니다.": "배포 스크립트의 환경 변수 누락",
    "사실 원인은 Redis 메모리 초과였어요": "Redis 메모리 초과",
    "알고 보니 이번 장애의 원인은 DNS 설정 오류였습니다!": "DNS 설정 오류",
    "틀렸어. 원인은 타임존 설정이었어. 어제 바꿨거든.": "타임존 설정",
    "@haechi 원인은 캐시 키 충돌이야": "캐시 키 충돌",
    "<@U0HAECHI> 원인: 캐시 키 충돌": "캐시 키 충돌",
    "근본 원인: N+1 쿼리": "N+1 쿼리",
    "정정: PG사 점검 시간대에 재시도가 몰림": "PG사 점검 시간대에 재시도가 몰림",
    "원인은 코드가 아니라 방화벽 정책 변경이었어": "코드가 아니라 방화벽 정책 변경",
    "원인은 재고 차감 순서 때문이었어요": "재고 차감 순서 때문",
    "원인: 인덱스가 없었음": "인덱스가 없었음",
    "원인: 같은 키로 두 번 저장": "같은 키로 두 번 저장",
    "원인: 입력값 확인 누락": "입력값 확인 누락",
    "원인은 예상보다 많은 트래픽이었습니다": "예상보다 많은 트래픽",
    "the cause was a race when two workers pick the same job": "a race when two workers pick the same job",
    "Correction: the config was not reloaded": "the config was not reloaded",
    "cause: expired gateway certificate": "expired gateway certificate",
    "Correction: the pool size was set to 5": "the pool size was set to 5",
    "Actually the cause was a stale DNS entry.": "a stale DNS entry",
    "root cause: missing index on orders.user_id": "missing index on orders.user_id",
    "The root cause was an expired token": "an expired token",
    "It turns out the real cause was clock skew between nodes": "clock skew between nodes",
    "actually, it was caused by the nightly job": "the nightly job",
    "No, the actual cause is the retry loop in the client": "the retry loop in the client",
}  # fmt: skip
ORDINARY = [
    "원인은 뭐였어?", "원인이 뭐야", "원인은 아직 몰라", "원인: 확인 중", "원인: 조사 중입니다", "원인: ?", "원인은 DB인 것 같아",
    "원인은 아마 커넥션 풀일 거야", "혹시 원인은 배포였어?", "원인은 DB가 아니었어", "원인을 찾는 중입니다", "원인은 모름", "원인 파악이 필요합니다",
    "원인은 배포일 수도 있어요", "원인은 네트워크로 추정됩니다", "제가 원인 확인해 볼게요", "원인 알려줘", "원인: 미상", "커넥션 풀이 고갈됐어", "왜 그런데?",
    "원인은 나중에 공유드릴게요", "원인은 내일 회의에서 이야기해요", "로그 확인했어요", "이거 어제도 났었어", "고쳤습니다", "원인은 뭐였는지 누가 아시나요",
    "what was the cause?", "the cause is unknown", "cause: unknown", "Cause: TBD", "root cause: still investigating",
    "I think the cause was the deploy", "the cause might be the deploy", "maybe the cause was DNS",
    "if the cause was DNS then we should see it elsewhere", "the cause was never found", "the cause is explained in the wiki",
    "Caused by: java.lang.IllegalStateException: pool", "because of this we should roll back", "cause: why did it restart",
    "looks like the deploy", "the cause is not the database", "can you show me the cause", "it was caused by",
    "java.lang.IllegalStateException: x\n  at a.B.c(B.java:1)\nCaused by: java.io.IOException", "", "  ", "cause", "원인:",
    "the cause was probably the cache", "the cause is being looked at", "원인이 되는 코드 보여줘", "correction: ?",
]  # fmt: skip


@pytest.mark.parametrize("text", STATED)
def test_a_stated_cause_is_taken_in_its_own_words(text):
    assert correction_in(text) == STATED[text]


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_sentence_is_no_correction(text):
    assert correction_in(text) is None


def test_long_texts_cost_linear_time_and_are_cut():
    assert correction_in("원인: " + "가" * 2000) == "가" * 600
    assert correction_in("원인은 " * 100_000) is None
    assert correction_in("actually " * 200) is None
