"""Words that carry grammar or address rather than a subject, for Korean and English."""

from __future__ import annotations

from knowledge.stemming import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Morphemes that stand in nearly every Korean sentence; they are not indexed. Verbs carry their "-다".
GRAMMAR_MORPHEMES = _words("""
    하다 되다 있다 없다 같다 이다 아니다 그렇다 이렇다 저렇다 어떻다 관하다 대하다 따르다 의하다 위하다 통하다
    인하다 보다 주다 가다 오다 그 이 저 및 또 더 잘 다 것 수 등 바 때
""")

# What a Korean question is made of besides its subject.
_KOREAN_QUESTION_WORDS = _words("""
    뭐 무엇 무슨 어떤 어느 어디 언제 얼마 며칠 몇 누구 왜 어떻게 얼마나 알리다 알려주다 궁금 궁금하다 말하다
    말씀 질문 답변 대답 돕다 가르치다 알다 모르다 싶다 좀 혹시 그냥 제발 지금 요 네 예 응 안녕 감사 고맙다
    부탁 해치 해치야 봇 내 나 우리 저희 너 당신 이거 그거 저거 여기 거기 경우 정도 관련 찾다 보이다 좋다 맞다
    그리고 그런데 근데 그럼 어쩌다 이유 나오다 들다 얘기 말 거 게 건
""")

_ENGLISH_WORDS = _words("""
    a an the of in on at to for from by with and or is are was were be been being am do does did done have has
    had i me my we our us you your he she it its they them their that these those there here what which who
    whom whose when where why how if then else so as can could may might must shall should will would about
    into please tell want know help hi hello hey haechi bot thanks thank any some just also s t re ll ve d m
    many much long
""")

QUESTION_WORDS = _KOREAN_QUESTION_WORDS | _ENGLISH_WORDS | frozenset(map(stem, _ENGLISH_WORDS))
