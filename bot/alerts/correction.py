"""The cause that a person names in an alert's thread: "원인은 커넥션 풀 고갈이었어", "actually the cause was X".

Only plain statements count. A question, a guess, a hope or a plan is none: what it says would be remembered as a fact.
"""

from __future__ import annotations

import re

MAX_CAUSE_CHARS = 600
_LEAD_KO = (
    r"(?:(?:아니|아뇨|아니요|틀렸(?:어|어요|습니다|네요)|사실은?|실제로는?|알고 ?보니|확인해 ?보니(?:까)?|결국"
    r"|참고로)[,.!]?\s*)*"
)
_OF_KO = r"(?:(?:이번|이|그|진짜|실제|근본|정확한|최종|장애|오류|에러|알림|문제|건)(?:의|은|는)?\s*)*"
_TITLED_KO = re.compile(rf"^{_LEAD_KO}(?:정정|바로잡음|{_OF_KO}원인)(?:은|는)?\s*[:：]\s*(?P<cause>\S.*)$", re.DOTALL)
_SAID_KO = re.compile(
    rf"^{_LEAD_KO}{_OF_KO}원인은?\s+(?P<cause>\S.*?(?:때문)?)"
    r"(?:이었(?:어|어요|음|습니다|네요|다|거든요?)|였(?:어|어요|음|습니다|네요|다|거든요?)|입니다|이에요|예요|이야|임|(?<=[가-힣])야"
    r"|이다|이네요|네요|더라고?요?|이더라고?요?)\s*[.!~]*$"
)
_LEAD_EN = (
    r"(?:(?:no|nope|wrong|actually|in fact|it turns out|turns out|it turned out|fyi|update)[,.:!]?\s+"
    r"(?:that\s+)?)*"
)
_OF_EN = r"(?:the\s+)?(?:(?:actual|real|true|root|underlying|final)\s+)*"
_TITLED_EN = re.compile(
    rf"^{_LEAD_EN}(?:correction|{_OF_EN}cause)\s*(?::|\s[-–—]\s)\s*(?P<cause>\S.*)$", re.IGNORECASE | re.DOTALL
)
_SAID_EN = re.compile(
    rf"^{_LEAD_EN}{_OF_EN}cause\s+(?:was|is|turned out to be|has been)\s+(?:that\s+)?(?P<cause>\S.*)$", re.IGNORECASE
)
_DUE_EN = re.compile(
    r"^(?:actually|in fact|it turns out|turns out|it turned out)[,:]?\s+(?:that\s+)?(?:it|this|that)\s+"
    r"(?:was|is|has been)\s+(?:caused by|due to|because of)\s+(?P<cause>\S.*)$",
    re.IGNORECASE,
)
# What makes a sentence something else than a statement of a known cause.
_UNSURE = re.compile(
    r"[?？]"
    r"|(?:^|\s)(?:뭐|뭔|뭘|무엇|무슨|왜|어디|누구|누가|어떤|어느|어떻게|언제)(?![가-힣]{3})"
    r"|(?:^|\s)(?:아마|혹시|아직|글쎄|설마|만약|만일)(?![가-힣]{3})"
    r"|모르|모름|모릅|몰라|미상|불명|의심|추정|추측|예상(?:됩|돼|되|입|이|함|중)"
    r"|(?:조사|파악|확인|분석|점검) ?(?:중|필요|예정|하고|해야|해 ?(?:주|줘|봐|보))"
    r"|찾는 ?중|찾고|(?:것|거|건가) ?같|듯(?:\s|$|해|합|하|싶)"
    r"|일 ?수|수도 있|일지|일까|인가|인지 |려나|아니(?:었|였|야$|다$|에요$|예요$)"
    r"|아닙니다|아님$|이라면|다면|(?:알려|찾아|봐|적어|말해) ?(?:줘|주|달라)|여러 ?가지|공유드"
    r"|\b(?:maybe|perhaps|probably|possibly|likely|might|may|could be|unknown|unclear|tbd|no idea|pending|investigat\w*"
    r"|looking (?:at|into)|looked (?:at|into)|guess\w*|think|believe|suspect\w*|assum\w*|seems?|appears?|unsure|please"
    r"|under review|not (?:sure|known|clear|yet|found)|never found)\b",
    re.IGNORECASE,
)
_NO_CAUSE = re.compile(
    r"(?:없(?:어|었|음|습|다)|비밀|따로|나중|내일|다음|이야기|논의)"
    r"|(?:not|never|nothing|none|no|n/?a|yet|explained|described|documented|listed|below|above|being|why|what|who|how|where"
    r"|in the (?:wiki|docs?|document|ticket))\b",
    re.IGNORECASE,
)
_TRACE = re.compile(r"^\s*(?:at \S+\(|File \"|Caused by:|\d+:\s+0x)", re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?。])\s+|\n+")


def correction_in(text: str) -> str | None:
    """The cause that `text` states, in its own words and as one line; None for anything else than such a statement."""
    text = re.sub(r"^\s*(?:<@[\w|.-]+>|@[\w.-]+)[,:]?\s*", "", text).strip()
    if not text or len(text) > 4 * MAX_CAUSE_CHARS or _TRACE.search(text):
        return None
    titled = _TITLED_KO.match(text) or _TITLED_EN.match(text)
    if titled is not None:
        paragraph = titled["cause"].split("\n\n")[0]
        return _stated(paragraph)
    for sentence in _SENTENCES.split(text)[:4]:
        said = _SAID_KO.match(sentence) or _SAID_EN.match(sentence) or _DUE_EN.match(sentence)
        if said is not None:
            return None if _UNSURE.search(sentence) else _stated(said["cause"])
    return None


def _stated(cause: str) -> str | None:
    line = " ".join(cause.split()).strip(" .!~`'\"")
    if sum(character.isalnum() for character in line) < 2 or _UNSURE.search(line) or _NO_CAUSE.match(line):
        return None
    return line[:MAX_CAUSE_CHARS]
