"""Signs that a question is about the world or about programming in general, not about these rules or this code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.retrieval.coverage import is_everyday

# A language or tool as the setting of a question: "파이썬에서 리스트 뒤집기", "reverse a list in C"
_TOOLS_KO = (
    "파이썬|자바스크립트|자바|타입스크립트|코틀린|스위프트|씨언어|씨플플|루비|러스트|고랭|엑셀|구글\\s?시트|워드|파워포인트"
    "|포토샵|리눅스|우분투|윈도우|맥북|맥|도커|쿠버네티스|깃허브|깃|리액트|장고|스프링|아이폰|갤럭시|안드로이드폰|유튜브"
    "|카톡|카카오톡|넷플릭스"
)
_TOOLS_EN = (
    r"c|c\+\+|c#|python|java|javascript|js|typescript|kotlin|swift|ruby|rust|go|golang|php|perl|matlab|css|html|sql|bash"
    r"|linux|ubuntu|windows|macos|excel|google sheets|word|powerpoint|photoshop|git|github|docker|kubernetes|numpy"
    r"|pandas|react|vim|vscode"
)
_SETTING = re.compile(
    rf"(?:^|[\s(])(?:{_TOOLS_KO}|{_TOOLS_EN})(?:에서는?|으?로|의|은|는|이|가|을|를)?(?=\s)(?=.*[가-힣])"
    rf"|\b(?:in|using|with|on) (?:{_TOOLS_EN})\b(?![\w./(-])"
    r"|\bgit (?:commit|branch|merge|rebase|push|pull|stash)\b|\bexit vim\b|\bflexbox\b|\ba div\b",
    re.IGNORECASE,
)
# What is asked of somebody to chat with
_CHAT = re.compile(
    r"추천(?:\s?(?:해|좀|부탁)|$)|위로\s?(?:해|좀)|맛집|갈\s?만한|볼\s?만한|(?:제일|가장) (?:싼|좋은|맛있는)|싸게\s"
    r"|(?:어디|뭐|누)가 (?:제일 )?(?:좋|싸|나아|나을|맛있)|(?:짜|지어|예측해)\s?줘|써\s?줘$|장단점|심심|농담"
    r"|\brecommend|\bwrite (?:me )?a (?:poem|story|song|regex)\b|\btell me a (?:joke|story)\b|\bbest\b"
    r"|\btranslate .+ (?:in)?to\b",
    re.IGNORECASE,
)
# How people ask for instructions and explanations, of a colleague as well as of a search engine
_INSTRUCTION = re.compile(
    r"[가-힣]는\s?법|방법|설명해|차이|의미|[이가]\s?뭐야|[은는이가]\s?뭐|뜻"
    r"|\bhow (?:do|can|should|would) (?:i|you)\b|\bhow to\b|\bwhat(?:'s| is| are| does)\b|\bexplain\b|\bdifference\b"
    r"|\bwhy is my\b|\btutorial\b|\bexamples?$|^write\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"[가-힣]는\s?법|방법|\bhow (?:do|can|should|would) (?:i|you)\b|\bhow to\b"
    r"|\bwhat(?:'s| is| are) an?\b|\bwhy is my\b",
    re.IGNORECASE,
)
_EMPTY = frozenset({"방법", "법", "차이", "설명", "의미", "뜻", "explain", "differ", "exampl", "write", "tutori"})
_MOSTLY = 0.5


def names_setting(text: str) -> bool:
    """Whether a language or tool is named that the question is about."""
    return _SETTING.search(text) is not None


def generality(text: str, words: Sequence[str], *, code: bool) -> float:
    """How much a question sounds like one for a search engine, 0..1; `words` are its terms.

    1 for chat, and for instructions or explanations in mostly everyday words. Instructions in other words count half
    for code alone: colleagues are asked where something is done, a search engine how; of rules both are asked how.
    """
    if _CHAT.search(text):
        return 1.0
    if not _INSTRUCTION.search(text):
        return 0.0
    telling = [word for word in words if word not in _EMPTY]
    if sum(map(is_everyday, telling)) >= len(telling) * _MOSTLY:
        return 1.0
    return 0.5 if code and _HOW_TO.search(text) else 0.0
