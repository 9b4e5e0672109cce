"""What the words of a question do in a conversation: lean on the one before, name a topic, an aspect of it, or ask."""

from __future__ import annotations

import re

from bot.content_words import content_words

SHORT_WORDS = 3  # a question with so few telling words may lean on the one before

_OPENS = re.compile(
    r"^\s*(?:그럼|그러면|그렇다면|그리고|그런데|근데|그건|그거|그것|이건|이거|그때|그 ?경우|이 "
    r"?경우|또|아니|혹시 그|반대로|만약|and\b|what about|how about|"
    r"then\b|also\b|but\b|so\b|what if|same for|for\s+\w+(?:\s\w+){0,3}\?)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"(?:^|\s)(?:그|저|이|위|해당|같은|방금|아까|앞)\s?(?:규정|조항|경우|문서|함수|파일|코드|내용|"
    r"금액|기간|휴가|표|기준|것|거|때|사람|제도)|"
    r"\b(?:it|its|that|those|these|this|they|them|there|the same|previous|above|one|ones)\b|거기|그게|그것|이것|저것",
    re.IGNORECASE,
)
_ONLY_TOPIC = re.compile(r"^[\s\S]{1,24}(?:은|는|도|이면|라면|일 ?때는|의 ?경우는?|의 ?경우에는)(?:요)?\s*\?*\s*$")
# a condition alone leaves out what happens then: "퇴직하면?", "부부가 다 직원이면요?"
_ONLY_CONDITION = re.compile(
    r"^[\s\S]{1,24}(?:면|때|경우)(?:요|에)?\s*\?+\s*$|^(?:if|when|unless)\b[^,]{1,40}\?*\s*$", re.I
)
_CASE = re.compile(r"^\S{1,10}이면(?:요)?\s*\?*\s*$")  # of the topic before: "휴일이면?"
_NO_TOPIC = re.compile(
    r"^\s*(?:왜|언제|어디서?|누가|누구|얼마|며칠|몇 \S+|어떻게|(?:why|when|where|who|how (?:much|"
    r"many|long)|which)\b)[\s\S]{0,16}$",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:면|면요|나요|까요|어요|아요|해요|지요|죠|니까|는가요|ㄴ가요|인가요|할까|할지|되나|하나|써야|써도)$"
)
_LAST_VERB = re.compile(r"\s\S{0,4}(?:해|돼|야|지|니|냐|나|까|래|줘|어|아|와|려|예요|에요)\s*[?？.!~]*\s*$")
_ASKS = re.compile(r"^(?:얼마|며칠|언제|무엇|무슨|뭐|뭘|뭔|어디|어떤|어떻|누구|누가|왜|몇|되나요|하나요)")
_COUNTS = re.compile(r"몇\s?[가-힣]{1,3}(?:이|까지)?(?:야|나|예요|이에요|인가요|인지)?")
# of a topic or of a body; alone they say nothing of what a question is about
_ASPECT = re.compile(
    "취소|변경|신청|연장|승인|결재|반납|반환|환불|연기|면제|예외|기간|기한|한도|금액|비용|절차|방법|서류|양식|대상|자격|조건"
    "|담당자?|위반|벌칙|처벌|제출|접수|보고|비밀|임기|횟수|시기|사유|정족수|의결|위원장|부위원장|위원|간사|의장|구성|인원"
    "|정원|소집|연임|중임|해임|선출|임명|이율|이자|금리|상환|이월|진단서|증빙|증빙서류|영수증|정산|상한|하한|최대|최소|주기"
    "|비율|가산|감액|회의록|책임자|승인권자|결재권자|deadline|limit|exceptions?|approval|documents?|amount|quorum|chair|members?"
)
_GENERIC = re.compile(
    r"^(?:얼마\S*|며칠\S*|언제\S*|어떻게|무엇\S*|뭐\S*|뭘|몇|\S{1,2}(?:이에요|예요|인가요|이야|이죠)|누가|누구\S*|어디\S*|왜"
    r"|하나요|해요|하죠|하면|돼요|되나요|되죠|되어|있나요|있어요|인가요|이에요|예요|나요|나와요|가능해요|가능한가요|알려\S*|쓸|수"
    r"|받을|받나요|주나요|내용이|말해\S*)[?？.!]*$"
)


def leans_on_before(question: str) -> bool:
    """Whether a question leaves out what the one before named."""
    words = telling_words(question)
    alone = (_OPENS, _ONLY_TOPIC, _ONLY_CONDITION, _NO_TOPIC)
    if any(pattern.match(question) for pattern in alone):
        return True
    points_back = len(words) <= 2 * SHORT_WORDS and _POINTS_BACK.search(question) is not None
    return points_back or names_no_topic(question)


def names_no_topic(question: str) -> bool:
    """Whether a question names at most an aspect of what it is about: "신청은 언제까지 하나요?", "취소는요?"."""
    return all(_ASPECT.fullmatch(word) for word in telling_words(question))


def may_change_topic(question: str) -> bool:
    """Whether a question that leans on the one before may as well be about something else: "풍문이 돌면?"."""
    if _OPENS.match(question) or _POINTS_BACK.search(question) or _CASE.match(question):
        return False
    return bool(telling_words(question)) and not names_no_topic(question)


def telling_words(question: str) -> list[str]:
    """The words that say what a question is about, without those that only ask."""
    bare = _COUNTS.sub(" ", _LAST_VERB.sub(" ", question))
    return [word for word in content_words(bare) if not _VERB.search(word) and not _ASKS.match(word)]


def without_aspects(topic: str) -> str:
    """A topic without the aspect of it that was asked for: "경조금 신청 기한" -> "경조금"; unchanged if it is one."""
    words = topic.split()
    kept = [word for word in words if not all(_ASPECT.fullmatch(part) for part in content_words(word) or ("기한",))]
    return " ".join(kept) or topic


def asks_only(text: str) -> bool:
    """Whether a part of a question says nothing but that something is asked: "은 어떻게 하나요?"."""
    return all(_GENERIC.match(word) for word in text.split())


# --- one of several --------------------------------------------------------------------------------

# Words of which one stands for another: who asks for the one next means it instead.
_ALTERNATIVES = tuple(
    frozenset(line.split())
    for line in (
        "국내 국외 해외",
        "본인 배우자 자녀 부모 조부모 형제자매",
        "사원 대리 과장 차장 부장 팀장 파트장 실장 본부장 임원 상무 부사장 대표이사 선임 책임 수석 이사",
        "정규직 계약직 시간제 기간제 무기계약직 단시간근로자",
        "서울 부산 대구 인천 광주 대전 울산 세종 제주 광역시",
        "학부생 대학원생 석사 박사 학부 대학원",
        "교수 부교수 조교수 강사",
        "평일 휴일 주말 토요일 일요일 공휴일",
        "설날 추석",
        "이사회 총회 평의원회 운영위원회",
        "domestic overseas international abroad",
        "seoul busan incheon daegu daejeon",
        "myself spouse child parent grandparent",
    )
)


def swapped(text: str, new: str) -> str | None:
    """A text with `new` in place of the word that it is an alternative to; None when there is none."""
    for words in _ALTERNATIVES:
        if new.casefold() not in words:
            continue
        for old in sorted(words - {new.casefold()}, key=len, reverse=True):
            found = re.search(rf"(?<![가-힣A-Za-z]){old}(?![A-Za-z])", text, re.IGNORECASE)
            if found:
                return f"{text[: found.start()]}{new}{text[found.end() :]}"
    return None


_RATHER = re.compile(
    r"^\s*(?:아니(?:요|야)?|아뇨|no)?[\s,.]*(?P<old>\S{1,12}?)(?:이|가|은|는)?\s*(?:말고|아니라|아니고|대신)\s+(?P<new>\S{1,14}(?:\s\S{1,10})?)\s*$"
    r"|^\s*(?:no[\s,]+)?(?:i meant?\s+)?(?P<new_en>[\w ]{2,30}?),?\s+(?:not|instead of)\s+(?P<old_en>[\w ]{2,30})\s*$"
    r"|^\s*(?:no[\s,]+)?not\s+(?P<old_but>[\w ]{2,30}?),?\s+but\s+(?P<new_but>[\w ]{2,30})\s*$",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:(?:은|는|이|가|으로|로|요|이요|쪽|거|것)+)?\s*[?？.!~]*\s*$")


def corrected(question: str, before: str) -> str | None:
    """The question before as it is corrected: "국외 말고 국내" after "국외 숙박비는?"; None for other questions."""
    found = _RATHER.match(re.sub(r"[?？.!~]+\s*$", "", question))
    if found is None:
        return None
    old = found["old"] or found["old_en"] or found["old_but"]
    new = found["new"] or found["new_en"] or found["new_but"]
    new = _ENDING.sub("", new) or new
    place = re.search(re.escape(old), before, re.IGNORECASE)
    if place is not None:
        return f"{before[: place.start()]}{new}{before[place.end() :]}"
    return swapped(before, new)
