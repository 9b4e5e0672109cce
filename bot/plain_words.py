"""Nouns that every answer may use: they structure it, and say nothing of their own about a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.content_words import WordBag, content_words

_PLAIN_NOUNS = """
    하루 이틀 사흘 나흘 열흘 보름 안에 안으로 내에 동안에 아무리 오래 매우 아주 특히 보통
    대체로 주로 먼저 나중 우선 이어서 마지막으로 개별적 일반적 기본적 원칙적 정확 구체적
    간단 간략 대략 실제 그대로 이러 이런 그런 어떤 같은 다른 모든 새로운 자세 아래쪽 뒤쪽
    있어 없어 가능하 필요하 경우 사이 기간 대상 작성 제출 확인 진행 신청 이용 사용 처리
    방법 절차 순서 단계 내용 사항 규정 문서 근거 자료 항목 정보 안내 설명 정리 요약 비교
    차이 예시 결과 이유 원인 목적 조건 기준 범위 한도 상한 하한 최대 최소 금액 비용 요금
    가격 횟수 일수 개수 번호 시간 시각 날짜 일자 시점 시작 종료 처음 마지막 이번 다음
    이전 현재 오늘 회사 직원 임직원 사원 사람 본인 조직 부서 담당 담당자 업무 근무 별도
    추가 포함 제외 참고 주의 유의 필수 의무 가능 불가 필요 허용 금지 적용 해당 관련 기본
    일반 특별 개별 각각 모두 전체 일부 나머지 합계 평균 정도 이상 이하 이내 이후 동안
    문의 요청 답변 질문 말씀 도움 변경 주기 길이 잠금 오류 가지 종류 유형 구분 분류 형태
    방식 부분 경과 도중 당일 전날 이때 모든 자신 여러 하나 무엇 어디 언제 누구 대신 바탕
    중심 통해 위해 결정 일정 계획 상황 상태 의미 역할 기능 특징 요건 자격 권한 책임
    책임자 제한 한정 예외 원칙 규칙 조항 조문 항목별 표현 문장 제공 지원 지급 부여 운영
    관리 실시 시행 준수 유지 보관 기록 작업 조치 대응 발생 존재 구성 설정 실행 호출 반환
    전달 코드 함수 메서드 클래스 파일 변수 상수 값은 매개변수 인자 호출자 로직 동작 예외가
    오류가 수준 단위 전후 직후 직전 기한 마감 마감일 시한
"""
_PLAIN = frozenset(_PLAIN_NOUNS.split())
_NOUN = re.compile(
    r"(?<![가-힣A-Za-z])([가-힣]{2,8}?)(?:을|를|에게는|에게도|에게서|에게|으로는|에서는|에는|에도|에서|으로|로|의|에)(?=[\s,.)]|$)"
)
_OFFICE = re.compile(
    r"(?<![가-힣])([가-힣]{1,8}(?:팀|본부|센터|위원회)|[가-힣]{0,8}(?:팀장|본부장|부장|실장|센터장|위원장|대표이사|사장|원장|감사))"
    r"(?=(?:은|는|이|가|을|를|의|에|에게|에서|과|와|도|입니다|이다|이며|이고)?(?:[\s,.)]|$))"
)
_SAID_TO_BE = re.compile(r"(?<![가-힣])([가-힣]{2,8}?)(?:입니다|이었습니다|였습니다|이다|예요|이에요)[.!\s]*$")
_VERB = re.compile(
    r"(?:춰|줘|봐|둬|워|려|와|춘|쓴|운|온|긴|른|킨|린|다|요|죠|네|까|습|니|냅|줍|붙|둡|옵|갑|봅|웁|깁|됩|합|입|십|답|랍|릅|칩|립|닙)$"
)
_PROPER = re.compile(r"\b[A-Z][A-Za-z]{2,}\b")
_ACRONYM = re.compile(r"\b[A-Z]{3,}\b")
_KNOWN_LATIN = frozenset(["API", "URL", "FAQ", "PDF", "HTTP", "HTTPS", "CPU", "NULL", "True", "False", "None"])
_ANY_OFFICE = frozenset(["담당팀", "해당팀", "소속팀", "해당부서", "소속팀장", "해당팀장", "부서장"])
_LISTED = re.compile(
    r"(?<![가-힣])([가-힣]{2,6})(?=,\s)|(?<=[가-힣],\s)([가-힣]{2,6})(?=(?:으?로|을|를|의|이|가)?[\s,])"
)
# forms of verbs and adverbs that end like a noun with a particle
_NOT_NOUN = re.compile(
    r"(?:므|며|고|나|만|면|으|하|되|있|없|않|같|지|게|기|도록|대|려|니|세|아|어|여|해|돼|된|한|할|될|별|바|따|함|됨|임|음|"
    r"면서|해서|여서|아서|어서|져서|돼서|워서|라서|실제|절대|새|스스|그대|반드시|함께|앞으|추후|정말|차례|의외|대체|주|실)$"
)


def foreign_words(claim: str, bags: Sequence[WordBag]) -> str | None:
    """Two words of a Korean claim of which nothing is known."""
    unknown = [
        word
        for word in content_words(claim)
        if "가" <= word[0] <= "힣"
        and word[:2] not in _PLAIN
        and word[-2:] not in _PLAIN
        and not _NOT_NOUN.search(word)
        and not _VERB.search(word)
        and not any(word[n : n + 2] in bag.pairs for bag in bags for n in range(len(word) - 1))
    ]
    return " ".join(unknown[:2]) if len(unknown) > 1 else None


def foreign_name(claim: str, bags: Sequence[WordBag], *, is_korean: bool) -> str | None:
    """A proper name in Latin letters that a claim brings along: "Redis", in English text an acronym."""
    for match in (_PROPER if is_korean else _ACRONYM).finditer(claim):
        if match[0] not in _KNOWN_LATIN and not any(bag.holds(match[0].lower()) for bag in bags):
            return match[0]
    return None


def foreign_office(claim: str, evidence: str) -> str | None:
    """A team, an office or a title of which the evidence does not know."""
    squeezed = re.sub(r"\s+", "", evidence)
    for match in _OFFICE.finditer(claim):
        name = match[1]
        if name not in squeezed and name not in _ANY_OFFICE:
            return name
    return None


def foreign_noun(claim: str, bags: Sequence[WordBag]) -> str | None:
    """A noun of a Korean claim of which nothing stands in the evidence, in the question or in every answer."""
    for match in (*_NOUN.finditer(claim), *_LISTED.finditer(claim), *_SAID_TO_BE.finditer(claim)):
        noun = next(group for group in match.groups() if group)
        if (
            noun in _PLAIN
            or noun[:2] in _PLAIN
            or noun[-2:] in _PLAIN
            or _NOT_NOUN.search(noun)
            or not content_words(noun)
        ):
            continue
        pairs = [noun[n : n + 2] for n in range(len(noun) - 1)]
        if not any(pair in bag.pairs for bag in bags for pair in pairs):
            return noun
    return None
