"""What a sentence says that code does, where the code shows that it does another thing.

Code says in its own words what it does, so words are not compared one by one. But behaviour that has a name in every
language ("throws", "returns null", "is deleted", "every hour", "true") must show in the code or in its comments.
"""

from __future__ import annotations

import re

_COMMENT = re.compile(
    r"\"\"\"(?P<doc>.*?)\"\"\"|'''(?P<single>.*?)'''|/\*+(?P<block>.*?)\*/|(?://+|#+|--)(?P<line>[^\n]*)", re.DOTALL
)
# what a sentence may say: what the code or a comment must then show
_SHOWN = tuple(
    (re.compile(said, re.IGNORECASE | re.ASCII), re.compile(shown, re.IGNORECASE | re.ASCII))
    for said, shown in (  # re.ASCII: a Korean particle after a word is not part of it
        (r"\bpanic|패닉", r"panic"),
        (
            r"예외를\s?(?:던|발생|일으)|\bthrows?\b|\braises?\b|\bthrown\b|\braised\b",
            r"throw|raise|panic|reject|assert|abort|fatal",
        ),
        (
            r"\b(?:null|nil|none|undefined)\b(?=\S*\s?(?:을|를)?\s?(?:반환|돌려|return))|\breturns? (?:null|"
            r"nil|none|undefined)\b",
            r"null|nil|\bNone\b|undefined|Optional",
        ),
        (r"매시간|시간마다|\bhourly\b|\bevery hour\b", r"hour|@hourly|\d \* \* \* \*|3600"),
        (r"매일|하루마다|\bdaily\b|\bevery day\b|\bnightly\b", r"daily|day|nightly|cron|\d \d+ \* \* \*|86400|24"),
        (r"매주|\bweekly\b|\bevery week\b", r"week|cron|604800"),
        (r"매분|분마다|\bevery minute\b", r"minute|cron|60"),
        (r"비동기|\basync", r"async|await|future|promise|thread|go |coroutine|suspend|Mono|CompletableFuture|queue"),
        (
            r"병렬|동시에\s?(?:실행|처리)|\bparallel|\bconcurrent",
            r"parallel|concurrent|thread|pool|gather|async|go |executor|worker",
        ),
        (r"캐시|\bcach(?:e|ed|es|ing)\b", r"cache|memo|redis|lru|ttl"),
        (r"암호화|\bencrypt", r"encrypt|cipher|crypt|aes|rsa|hash|tls|ssl"),
        (r"트랜잭션|\btransaction", r"transaction|commit|rollback|begin|atomic"),
        (r"메일을|이메일|\be?-?mails?\b", r"mail|smtp|ses"),
        (r"로그를\s?남|기록을\s?남|\blogs? (?:a|an|the)\b", r"log|print|trace|record|warn|audit"),
        (r"재귀|\brecursi", r"recurs"),
        (r"\bRedis\b|레디스", r"redis"),
    )
)
# deeds of which a comment that tells the one does not mean the other
_OPPOSITE = tuple(
    (re.compile(one, re.IGNORECASE | re.ASCII), re.compile(other, re.IGNORECASE | re.ASCII))
    for one, other in (
        (
            r"삭제|제거|지우(?!지)|지워|버려|버립|\bdelet|\bremov|\bdiscard|\bdropp?(?:ed|s)?\b|\bpurg",
            r"\bstays?\b|\bkept\b|\bkeeps?\b|\bremains?\b|\bretain|남는|남긴|남아|유지|보존",
        ),
        (
            r"계속(?!\s?대기)|이어서\s?(?:처리|보|실행)|\bcontinu|\bgoes on\b|\bkeeps (?:on|going)\b",
            r"\bstops?\b|\babort|\bbreaks? off\b|\bfirst (?:error|failure)\b|멈추|멈춘|중단",
        ),
        (r"건너뛰|무시(?:하고|합|한)|\bskip|\bignor", r"\braises?\b|\bthrows?\b|\bfails?\b|\breject|실패|거부"),
        (r"허용|\ballow|\bpermit|\baccept", r"\breject|\bden(?:y|ied|ies)\b|\brefus|\bforbid|거부|금지"),
        (r"덮어\s?쓰|\boverwrit|\breplac", r"\bappend|\bkeeps? (?:the )?(?:old|existing)|덧붙|추가"),
        (r"오름차순|\bascending", r"\bdescending|내림차순"),
        (r"내림차순|\bdescending", r"\bascending|오름차순"),
        (r"동기적|\bsynchronously\b", r"\basynchronous|비동기"),
        (r"대소문자를\s?구분(?!하지)|\bcase[- ]sensitive\b", r"case[- ]insensitive|대소문자를\s?구분하지|ignore ?case"),
    )
)
_NOT = re.compile(r"지\s?(?:않|아니|못)|없|\bnot\b|n't\b|\bnever\b|\bno\b|\bcannot\b", re.IGNORECASE | re.ASCII)
_NEAR_CHARS = 12
_FLAG = re.compile(
    r"(?<![\w.])[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*(?::[ \t]*\w+[ \t]*)?[:=][ \t]*[\"']?(true|false)\b",
    re.IGNORECASE | re.ASCII,
)
_NAMED = re.compile(
    r"(?<![\w])(?=([A-Za-z_][\w-]*)[^.A-Za-z]{0,12}(?:\b(?:is|defaults? to|is set to)\s)?\W{0,3}(true|false)\b)",
    re.IGNORECASE | re.ASCII,
)


def behaviour_fault(spoken: str, code: str) -> str | None:
    """What is wrong with a sentence about code; None when nothing shows."""
    for said, shown in _SHOWN:
        if (match := said.search(spoken)) and not shown.search(code) and not _is_denied(match, spoken):
            return f'"{match[0]}" does not show in the code it names'
    if flag := _flag_fault(spoken, code):
        return flag
    comments = " ".join(next(filter(None, match.groups()), "") for match in _COMMENT.finditer(code))
    denied = _NOT.search(spoken) is not None
    for one, other in _OPPOSITE:
        match = one.search(spoken)
        if match and not denied and not one.search(comments) and other.search(comments):
            return f'"{match[0]}" is not what the comments of the code say'
    return None


def _is_denied(match: re.Match[str], spoken: str) -> bool:
    """Whether a sentence says that the code does not do it: "does not raise", "던지지 않습니다"."""
    before, behind = spoken[: match.start()][-_NEAR_CHARS:], spoken[match.end() :][:_NEAR_CHARS]
    return _NOT.search(before) is not None or _NOT.search(behind) is not None


def _flag_fault(spoken: str, code: str) -> str | None:
    """What is wrong when a flag is said to be true that is set to false, or the other way round."""
    values: dict[str, set[str]] = {}
    for name, value in _FLAG.findall(code):
        values.setdefault(name.lower(), set()).add(value.lower())
    for name, value in _NAMED.findall(spoken):
        held = values.get(name.lower())
        if held and value.lower() not in held and not _NOT.search(spoken):
            return f"{name} has another value in the code"
    return None
