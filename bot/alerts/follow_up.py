"""What a question below an alert asks to see of it: "show me the code", "뭐가 바뀌었어?", "전에도 있었어?"."""

from __future__ import annotations

import re
from typing import Literal

Wanted = Literal["code", "changes", "callers", "cases"]
MAX_CHARS = 80  # more than this is a question of its own
_ASKED: tuple[tuple[Wanted, re.Pattern[str]], ...] = (
    (
        "callers",
        re.compile(
            r"(?:호출하는|부르는|호출부|어디서 (?:호출|불|부르)|누가 (?:호출|부르|불러)|호출(?:되|돼)|콜러)"
            r"|\b(?:callers?|who calls|what calls|where is (?:it|this|that) called|called (?:from|by))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "changes",
        re.compile(
            r"(?:바뀌|바꿨|바뀐|변경(?:점|사항|된|됐|되었|이|은|점은)?|수정(?:된|됐|되었)"
            r"|누가 (?:고쳤|수정|바꿨|만들|커밋)|커밋|배포(?:에서|때| 이후| 후)"
            r"|최근에 뭐|히스토리)"
            r"|\b(?:what(?:'s| has| have)? changed|changes?|who (?:changed|wrote|touched|committed)|commits?|blame"
            r"|history"
            r"|last deploy(?:ment)?|diff since)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "cases",
        re.compile(
            r"(?:전에도|예전에도|지난 ?사례|과거 ?사례|이전 ?사례|비슷한 (?:사례|장애|적)|또 있었"
            r"|처음이야|처음인가|사례)|\b(?:past cases?|previous cases?|similar (?:cases?|faults?|incidents?)"
            r"|happened before|seen (?:this|it) before|earlier cases?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "code",
        re.compile(
            r"(?:코드|소스|함수|구현).{0,12}(?:보여|볼 ?수|줘|보자|보고|확인|어디|뭐|좀)"
            r"|(?:어디서|어디에서|어느 (?:파일|함수|줄|라인)).{0,8}(?:났|나|터졌|터진|발생|죽|실패|이야|야|인가|예요)"
            r"|^코드[.?!]*$"
            r"|\b(?:show|see|give|print|paste|view|open)\b.{0,20}\b(?:code|source|function|method|file|lines?)\b"
            r"|\bwhich (?:file|function|line|method)\b"
            r"|\bwhere (?:in the code|does it (?:fail|crash|break|happen)|did it (?:fail|crash|break|happen))\b"
            r"|^code[.?!]*$",
            re.IGNORECASE,
        ),
    ),
)
_ELSE = re.compile(
    r"(?:규정|휴가|연차|고쳐|고치|어떻게 (?:해|하|수정)|왜)|\b(?:how (?:do|can|to|should)|fix it|policy|why)\b",
    re.IGNORECASE,
)
_ABOUT_FAULT = re.compile(
    r"(?:왜|원인|이유|에러|오류|장애|알림|예외|실패|고치|고쳐|수정|해결|재현|영향|로그|스택|트레이스"
    r"|코드|함수|줄|라인|배포|변경|어떻게|무슨 (?:뜻|일|의미)|언제부터)"
    r"|\b(?:why|cause|reason|error|fault|alert|exception|fail\w*|crash\w*|fix|resolve|reproduce|impact|log|stack|trace|code"
    r"|function|line|deploy\w*|chang\w*|happen\w*|mean|this|that|it)\b",
    re.IGNORECASE,
)


def asks_for(text: str) -> Wanted | None:
    """Which part of the alert's evidence a short question asks to see; None for every other question."""
    text = _without_mention(text)
    if not text or len(text) > MAX_CHARS or _ELSE.search(text):
        return None
    return next((wanted for wanted, pattern in _ASKED if pattern.search(text)), None)


def is_about_fault(text: str) -> bool:
    """Whether a question speaks of a fault at all, so that the evidence of one may answer it."""
    return _ABOUT_FAULT.search(_without_mention(text)) is not None


def _without_mention(text: str) -> str:
    return re.sub(r"^\s*(?:<@[\w|.-]+>|@[\w.-]+)[,:]?\s*", "", text).strip()
