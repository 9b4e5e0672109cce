"""Messages without what differs from one occurrence to the next: ids, numbers, times, addresses, hosts, pods."""

from __future__ import annotations

import re

_MIXED = re.compile(r"\b(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{10,}\b")
_VARIABLE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"https?://[^\s\"'<>)\]]+"), "<url>"),
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"), "<mail>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\[masked:[\w-]+\]"), "<id>"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:z|[+-]\d{2}:?\d{2})?"), "<time>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<host>"),
    (re.compile(r"\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b"), "<host>"),
    (re.compile(r"\b(?:ip-\d+-\d+-\d+-\d+|i-[0-9a-f]{8,17})(?:\.[\w.-]+)?"), "<host>"),
    # payment-api-7d9f8b6c5-x2x4z, kafka-0.kafka.svc.cluster.local:9092
    (re.compile(r"\b([a-z][a-z0-9-]*?)-[0-9a-f]{7,10}-[a-z0-9]{5}\b"), r"\1"),
    (re.compile(r"\b([a-z][a-z0-9-]*?)(?:-\d+)?((?:\.[a-z][a-z0-9-]*)+)(?::\d{2,5})\b"), r"\1\2"),
    (re.compile(r"\b0x[0-9a-f]+\b|@[0-9a-f]{5,}\b"), "<id>"),
    (_MIXED, "<id>"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "<id>"),
    (re.compile(r"(?<![a-z\d])(?:[₩$€£]\s?)?\d[\d,]*(?:\.\d+)*"), "#"),
    (re.compile(r"(?<=[a-z_-])\d+"), "#"),
)
_SPACE = re.compile(r"\s+")
_ERRNO = (
    "EACCES|EADDRINUSE|EADDRNOTAVAIL|EAGAIN|EAI_AGAIN|EBADF|EBUSY|ECONNABORTED|ECONNREFUSED|ECONNRESET|EEXIST|EHOSTUNREACH"
    "|EINTR|EINVAL|EIO|EISDIR|ELOOP|EMFILE|ENETUNREACH|ENOENT|ENOMEM|ENOSPC|ENOTDIR|ENOTEMPTY|ENOTFOUND|EPERM|EPIPE"
    "|EPROTO|EROFS|ESRCH|ETIMEDOUT|EXDEV"
)
_CODES = re.compile(
    r"\b(?:(?:ORA|TNS|PLS|DPY|DPI|IJ|SQLCODE=?)-?\d{3,6}|(?:AADSTS|HHH|WFLY[A-Z]*|CS|TS|PGRST)\d{3,7}"
    rf"|(?:{_ERRNO})|ERR_[A-Z_]+|[A-Z]{(2,)}(?:_[A-Z]+){1, 6})\b"
    r"|\bSQLSTATE[ \[:=]+(?P<state>[0-9A-Z]{5})\b|\bSQL Error: (?P<sql>\d{3,5})"
    r"|(?:\b[Ss]tatus(?: code)?|\bHTTP(?:/[\d.]+)?|\b[Cc]ode|오류 ?코드|에러 ?코드"
    r"|코드)[ :=\[(]+(?P<status>[A-Z]{0,6}[-_]?\d{3,6})\b"
    r"|\berrno[ =:]+(?P<errno>\d+)|\[Errno (?P<number>\d+)\]"
)
_NAMES = re.compile(r"(?<![\w./-])(?P<name>[A-Za-z]+(?:_[A-Za-z]+)+)(?![\w/-])")
_WORDS_READ = 2_000


def without_variables(text: str) -> str:
    """`text` in small letters with what varies replaced by a sign of its kind, at most some lines of it."""
    plain = text[:_WORDS_READ].lower()
    for pattern, sign in _VARIABLE:
        plain = pattern.sub(sign, plain)
    return _SPACE.sub(" ", plain).strip()


def rule_name(text: str) -> str:
    """The name of an alerting rule in small letters: its numbers are part of it, ids and pods are not."""
    plain = text[:_WORDS_READ].lower()
    for pattern, sign in _VARIABLE:
        if sign not in ("#", "<host>") and pattern is not _MIXED:
            plain = pattern.sub(sign, plain)
    return _SPACE.sub(" ", plain).strip()


def error_codes(text: str) -> list[str]:
    """Codes and names in a message that no language translates: ORA-00942, ECONNREFUSED, 23505, orders_pkey."""
    found: list[str] = []
    for match in _CODES.finditer(text[:_WORDS_READ]):
        groups = [value for value in match.groups() if value]
        found.append((groups[0] if groups else match[0]).upper())
    found += [match["name"] for match in _NAMES.finditer(text[:_WORDS_READ])]
    return sorted(dict.fromkeys(found))
