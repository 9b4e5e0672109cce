"""What people call things and deeds that code names in its own way, in Korean and English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from bot.claims import Claims, without_amounts
from bot.content_words import latin_stem
from bot.translated_words import translations_of
from bot.word_forms import Form, Vocabulary, forms_of
from knowledge.retrieval.lexicon import load_lexicon

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HANGUL = re.compile(r"[가-힣]")
_LEAST_SHARED = 4  # letters with which a word must begin to be another form of a shorter one
_LONGEST_SHARED = 40  # no word of a question is longer; encoded data in code has words of thousands of letters
_GENERIC_WORDS = """
    함수 메서드 메소드 클래스 값 변수 상수 설정 설정값 파일 코드 컬럼 칼럼 열 필드 속성 인자 매개변수 파라미터 옵션
    항목 객체 로직 구현 정의 위치 결과 기본 기본값 디폴트 이름 부분 곳 줄 라인 블록 문 절 컨트롤러 서비스 모듈 스크립트
    보다 만큼 처럼 까지 부터 에서 에게 이면 이라면 이나 이거나 마저 조차
    기본적 이미 현재 바로 그냥 최대 한도로 사이 동안 대상 여부 지정된 들어 잡혀 나옵 오며
    환경변수 환경 프로퍼티 테이블 엔드포인트 경로 지정 되어 돼 호출부 상태 값이 최댓값 최솟값 개수 횟수
    function method class value variable constant setting settings file code column field attribute argument parameter
    option item object result name line block default defaults set sets defined definition located found implemented
    comes come taken environment holds already currently then here there does do gets happens request call calls
    specified configured configuration config called named by at in table module script endpoint path
"""
# words that people take over into Korean as they sound, beside those of the search
_LOANWORDS = """
    키:key 토큰:token 버킷:bucket 용량:capacity,size 이벤트:event 메시지:message,msg 큐:queue 락:lock 워커:worker
    배치:batch
    웹훅:webhook,hook 슬롯:slot 버퍼:buffer 스레드:thread 세션:session 쿠폰:coupon 포인트:point 아이디:id 헤더:header
    바디:body 파라미터:param 캐시:cache 쿼리:query 인덱스:index 레코드:record 로우:row 풀:pool 커넥션:connection,conn
    소켓:socket 채널:channel 토픽:topic 잡:job 태스크:task 스케줄:schedule 타임아웃:timeout 재시도:retry 리트라이:retry
    유저:user 회원:member,user 주문:order 결제:payment,charge 재고:stock,inventory 환불:refund 배송:ship,delivery
    수량:quantity,qty,count 금액:amount,price 상태:status,state 만료:expire,expiry 잔액:balance
    권한:role,permission,scope
    레플리카:replica 포드:pod 파드:pod 컨테이너:container 이미지:image 포트:port 볼륨:volume 프로브:probe
    엔드포인트:endpoint
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that code does: how a sentence tells it, and how a statement shows it."""

    name: str
    said: re.Pattern[str]
    shown: re.Pattern[str]


_TABLE = (
    (
        "return",
        r"반환|돌려\s?[주줍준]|리턴|되돌려|\breturn(?:s|ed|ing)?\b|\bgives? back\b|\byields?\b",
        r"\breturn\b|\byield\b",
    ),
    (
        "throw",
        r"예외(?:가|를)?\s?(?:던|발생|일으|나)|던지|던집|던져|발생(?:시|합|한|하)|\bthrow(?:s|n)?\b|\brais(?:e|es|ed)\b|\bpanics?\b",
        r"\bthrow\b|\braise\b|panic|reject|orElseThrow|\bErr\b|abort|fatal",
    ),
    ("wait", r"기다리|기다립|기다린|대기|쉬|\bwaits?\b|\bsleeps?\b|\bpauses?\b", r"sleep|wait|delay|pause|backoff"),
    ("retry", r"재시도|다시\s?시도|\bretr(?:y|ies|ied)\b|\btries again\b|\btried again\b", r"retr|attempt|again"),
    (
        "delete",
        r"삭제|지우|지웁|지운|제거|\bdelet(?:e|es|ed)\b|\bremov(?:e|es|ed)\b",
        r"delet|remove|purge|unlink|\brm\b|DROP|evict|discard",
    ),
    ("send", r"보내|보냅|보낸|전송|발송|\bsen(?:d|ds|t)\b", r"send|\bpost|publish|emit|notify|deliver|dispatch|mail"),
    ("publish", r"발행|게시|\bpublish(?:es|ed)?\b|\bemit(?:s|ted)?\b", r"publish|emit|dispatch|send"),
    (
        "save",
        r"저장|\bsav(?:e|es|ed)\b|\bstor(?:e|es|ed)\b|\bpersist",
        r"save|store|put|insert|persist|write|add\(|set\(|setex",
    ),
    (
        "log",
        r"로그를?\s?(?:남|기록|출력)|로깅|\blogs?\b(?! in)|\blogged\b",
        r"log|print|warn|\.info|\.error|debug|audit",
    ),
    (
        "increase",
        r"증가|늘리|늘립|올리|올립|\bincre(?:ase|ases|ased|ment|ments|mented)\b",
        r"\+=|\+\+|incr|add|\binc\b",
    ),
    (
        "decrease",
        r"감소|줄이|줄입|차감|빼|뺍|\bdecre(?:ase|ases|ased|ment|ments)\b|\bdeduct",
        r"-=|--|decr|\bsub|deduct",
    ),
    (
        "change",
        r"바꾸|바꿉|변경|갱신|업데이트|\bchang(?:e|es|ed)\b|\bupdat(?:e|es|ed)\b",
        r"set|update|change|(?<![=!<>])=(?!=)|assign|replace|UPDATE",
    ),
    ("skip", r"건너뛰|건너뜁|건너뛴|\bskip(?:s|ped)?\b", r"\bcontinue\b|skip|\bpass\b|\bnext\b"),
    ("refer", r"참조|\breferenc(?:e|es)\b|\brefers?\b", r"REFERENCES|foreign|\$ref|ForeignKey"),
    (
        "not null",
        r"NOT NULL|NULL을?\s?허용하지\s?않|널을?\s?허용하지\s?않|\bnot nullable\b|\bcannot be null\b",
        r"NOT NULL|nullable\s?=\s?False",
    ),
    (
        "read",
        r"읽|가져오|가져옵|조회|불러오|불러옵|\breads?\b|\bload(?:s|ed)?\b|\bfetch(?:es|ed)?\b|\bgets?\b|"
        r"\blook(?:s|ed)? up\b",
        r"get|read|load|find|fetch|select|query|open|env|lookup",
    ),
    (
        "create",
        r"만들|만듭|생성|\bcreat(?:e|es|ed)\b|\bbuil(?:d|ds|t)\b",
        r"create|\bnew\b|build|make|init|insert|open",
    ),
    ("encode", r"인코딩|\bencod(?:e|es|ed)\b", r"encode"),
    ("cancel", r"취소|\bcancel(?:s|led|ed)?\b", r"cancel"),
    ("refund", r"환불|\brefund(?:s|ed)?\b", r"refund"),
    ("commit", r"커밋|\bcommit(?:s|ted)?\b", r"commit"),
    ("sort", r"정렬|\bsort(?:s|ed)?\b|\border(?:s|ed) by\b", r"sort|order"),
    ("use", r"사용|이용|쓰(?:고|며|입)|씁|\bus(?:e|es|ed|ing)\b", r""),
    ("count", r"세(?:고|며|어)|셉|\bcounts?\b", r"count|len\(|size|length"),
    ("lock", r"잠그|잠금|\block(?:s|ed)?\b", r"lock|mutex|synchronized"),
    ("close", r"닫|\bclos(?:e|es|ed)\b", r"close"),
)
DEEDS = tuple(
    Deed(name, re.compile(said, re.IGNORECASE | re.ASCII), re.compile(shown, re.IGNORECASE | re.ASCII))
    for name, said, shown in _TABLE
)


class CodeWords:
    """The words of a stretch of code: the parts of its names, and what its strings say."""

    def __init__(self, texts: Iterable[str]) -> None:
        text = "\n".join(texts)
        self._parts = frozenset(part.lower() for part in _PARTS.findall(text))
        self._stems = frozenset(stem for part in self._parts if (stem := latin_stem(part)))
        self._beginnings = self._parts | {
            part[:end] for part in self._parts for end in range(_LEAST_SHARED, min(len(part), _LONGEST_SHARED))
        }
        self._words = Vocabulary([text]) if _HANGUL.search(text) else None
        self._known: dict[str, bool] = {}

    def holds(self, form: Form) -> bool:
        """Whether the word stands here in some form, or what it is called in English."""
        known = self._known.get(form.word)
        if known is None:
            known = self._known[form.word] = self._holds(form)
        return known

    def _holds(self, form: Form) -> bool:
        if form.is_korean and self._words is not None and self._words.holds(form):
            return True
        return any(self._has(word) for word in (*(() if form.is_korean else (form.word,)), *_called(form)))

    def _has(self, word: str) -> bool:
        if word in self._beginnings or latin_stem(word) in self._stems:
            return True
        return any(word[:end] in self._parts for end in range(_LEAST_SHARED, len(word)))


@lru_cache(maxsize=1024)
def words_of(*texts: str) -> CodeWords:
    """The words of a stretch of code; the same stretch is asked for again with every clause."""
    return CodeWords(texts)


@lru_cache(maxsize=4096)
def is_generic(form: Form) -> bool:
    """Whether it is a word of talk about code that says nothing of this code."""
    return form.word in _GENERIC or not _GENERIC.isdisjoint(form.stems)


def telling_forms(claims: Claims) -> list[Form]:
    """The words of a sentence that must stand in the code: without names, amounts and talk about code."""
    return [form for form in forms_of(without_amounts(claims)) if not is_generic(form)]


def _called(form: Form) -> tuple[str, ...]:
    return tuple(word for stem in (form.word, *form.stems) for word in called_in_code(stem))


@lru_cache(maxsize=4096)
def called_in_code(stem: str) -> tuple[str, ...]:
    """The English words by which code calls what a Korean or English word means."""
    known = (*_software().get(stem, ()), *_loanwords().get(stem, ()), *translations_of(stem))
    korean = tuple(word.lower() for word in known)
    return korean if stem and "가" <= stem[0] <= "힣" else (*korean, *load_lexicon("software_en").get(stem, ()))


@lru_cache(maxsize=1)
def _loanwords() -> dict[str, list[str]]:
    words = [pair.split(":") for pair in _LOANWORDS.split()]
    return {korean: english.split(",") for korean, english in words}


@lru_cache(maxsize=1)
def _software() -> dict[str, tuple[str, ...]]:
    """The Korean words of software, verbs by their stem."""
    return {
        key.removesuffix("다") if len(key) > 2 else key: words for key, words in load_lexicon("software_ko_en").items()
    }
