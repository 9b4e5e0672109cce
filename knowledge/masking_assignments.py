"""Masks values that are assigned to secret-like names, in code, configuration, command lines and prose.

The name decides how much the value must look like a secret: after `password` nearly every literal is one, after
`token` or `api_key` only what is long and random. A bare value (without quotes) is masked where configuration would
have it; in code a bare word is a variable, a type or a call and stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from knowledge.masking_values import SECRET_WORD, is_placeholder, is_random, replace_spans

# What a name must hold, the longest first. A key of no known use ("key", "sortKey", "foreign_key") is not secret.
_WORDS: dict[str, str] = {
    "password": "password", "passwd": "password", "passphrase": "password", "passcode": "password", "pass": "password",
    "pwd": "password", "pw": "password", "비밀번호": "password", "패스워드": "password", "암호": "password",
    "secret_access_key": "secret", "secretaccesskey": "secret", "secret_key": "secret", "secret-key": "secret",
    "secretkey": "secret", "secret": "secret",
    "token": "token", "credential": "credential", "_auth": "credential", "key": "api-key",
}  # fmt: skip
_ANCHORS = ("pass", "pwd", "pw", "비밀번호", "패스워드", "암호", "secret", "token", "credential", "_auth", "key")
_WORD = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_SHORT_WORDS = frozenset(("pass", "pw"))  # count at the start of a name's part only: not in "compass" or "bypass"
_KEY_USE = re.compile(
    r"(?:api|access|private|encryption|encrypt|signing|auth|account|service|master|license|app|admin|client|consumer|"
    r"deploy|hmac|jwt|aes|storage|session|shared|subscription|webhook)[_.-]?$"
)
_REST = re.compile(r"[A-Za-z0-9_-]{0,40}")
_AFTER_NAME = frozenset("\"'`\\]:= \t>：?|<\n은는")
_OPERATOR = r"(?:[:=]=?|=>|:=|\?\?|\|\||<<)"
_TYPE = r"(?::[^\S\n]*[\w.<>\[\]?|&*]{1,40}(?:[^\S\n]*\|[^\S\n]*\w+)?[^\S\n]*)?"
_QUOTED = re.compile(
    rf"(?:\\?[\"'`])?\]?[^\S\n]*{_TYPE}{_OPERATOR}[^\S\n]*[uUbBrR@$]{{0,2}}"
    r"(?P<q>\\?[\"'`])(?P<v>(?:(?!(?P=q))[^\n]){1,400})(?P=q)"
)
_PAIR = re.compile(
    r"(?P<q1>\\?[\"'])[^\S\n]*(?:,|\)\s*,|value\s*=|to)[^\S\n]*(?:value\s*=\s*)?"
    r"(?P<q>\\?[\"'])(?P<v>(?:(?!(?P=q))[^\s]){1,400})(?P=q)"
)
_LISTED_NAME = re.compile(r"[a-z0-9]+(?:[_-][a-z]+)+")  # the next name in a list of names
_XML = re.compile(r"\s*>(?P<v>[^<>\s]{1,400})</")
_BARE = re.compile(
    r"(?:\\?[\"'])?[^\S\n]*(?P<op>[:：=]|=>)(?P<gap>[^\S\n]*)(?P<v>[^\s\"'`,;]{1,400})(?P<tail>[^\S\n]*)"
)
_ARGUMENT = re.compile(r"[ =](?P<v>[^\s\"'`,;]{1,400})")
_NEXT_LINE = re.compile(
    r"[\"']?[^\S\n]*\n[^\S\n]*[\"']?value[\"']?[^\S\n]*:[^\S\n]*"
    r"(?P<q>[\"']?)(?P<v>[^\s\"']{1,400})(?P=q)[^\S\n]*(?=\n|$)"
)
_SENTENCE = re.compile(r"[^\S\n]*(?:is|was|are|은|는|:)[^\S\n]+[\"'`]?(?P<v>[^\s\"'`]{6,60})")

_NOT_SECRET_REST = re.compile(
    r"hash|type|url|uri|name|field|len|min|max|polic|file|path|regex|pattern|expir|ttl|label|placeholder|hint|error|"
    r"message|msg|title|param|header|prefix|suffix|count|limit|endpoint|address|encoder|manager|service|provider|"
    r"validat|strength|reset|format|algorithm|digest|status|state|class|style|page|link|icon|col|row|index|kind|"
    r"version|size|rule|mode|issuer|aud|scope|input|visib|confirm|help|desc|attr|ized|izer|^s?[-_.]?id(?![a-z])|ring|board|"
    r"word|down|press|up$|code$|stroke|map|set$|pair|store|ref",
    re.IGNORECASE,
)
_PLAIN_REST = re.compile(
    r"s?[-_.]?(?:\d+|value|prod(?:uction)?|dev|test|stag(?:e|ing)|live|default|plain|base64|raw|string|str|v\d+)?",
    re.IGNORECASE,
)
_CALL_OR_TYPE = re.compile(r"\w[(\[<{]|[)\]}>]$|^[({\[<!&|]|::|->|\w\.\w+\(")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:[.?!]+[A-Za-z_$][\w$]*)+[!?;]*")
_PATH = re.compile(
    r"(?:[.~]{0,2}/|[A-Za-z]:\\|https?://|file:|classpath:|arn:)\S*|[\w.-]+(?:/[a-z_.-]+){2,}"
    r"|\S+\.(?:pem|key|crt|json|ya?ml|txt|env|conf|xml|py|js|ts|java|kt|md)"
)
_CODE_LINE = re.compile(
    r"^[^\S\n]*(?:import|from|package|def|class|func|fun|public|private|protected|const|let|var|val|export|pragma|"
    r"using|return|interface|struct|contract|#include|async|await|@\w+)\b[^\n:=]*",
    re.MULTILINE,
)
_CONFIG_LEAD = re.compile(
    r"[^\S\n]*(?:(?:#|//|\*|--|;|>|<!--)+[^\S\n]*)?(?:-[^\S\n]+)?"
    r"(?:(?:export|set|env|ARG|ENV)[^\S\n]+|\$env:)?[\"']?[\w.\-$가-힣 ]{0,60}"
)
_LINE_REST = re.compile(r"[^\S\n]*(?:(?:#|//|;)[^\n]*)?(?=\n|$)")


def mask_assignments(text: str, counts: Counter[str]) -> str:
    """`text` with the values of secret-like names masked; `counts` grows by what was replaced."""
    finder = _AssignmentFinder(text)
    spans = [span for name in _names(text) if (span := finder.value_after(name))]
    return replace_spans(text, spans, counts)


@dataclass(frozen=True, slots=True)
class _Name:
    start: int  # of the keyword
    end: int  # of the identifier
    kind: str
    rest: str  # of the identifier, behind the keyword


def _names(text: str) -> Iterator[_Name]:
    """Identifiers that hold a secret-like word and are followed by something that can assign a value.

    Plain substring searches come first: a regular expression over all words at once is ten times slower.
    """
    lowered = _lowered(text)
    places = set()
    for anchor in _ANCHORS:
        at = lowered.find(anchor)
        while at >= 0:
            places.add(at)
            at = lowered.find(anchor, at + 1)
    for start in sorted(places):
        word = _WORD.match(lowered, start)
        if word is None:
            continue
        rest = _REST.match(text, word.end())
        end = rest.end() if rest else word.end()
        if text[end : end + 1] not in _AFTER_NAME:
            continue
        if word[0] == "key" and not _KEY_USE.search(lowered, max(0, start - 14), start):
            continue
        if word[0] in _SHORT_WORDS and start > 0 and text[start - 1].isalpha() and not text[start].isupper():
            continue
        yield _Name(start, end, _WORDS[word[0]], text[word.end() : end])


def _lowered(text: str) -> str:
    """Lower case of the same length, so that positions agree ("İ" would become two characters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


class _AssignmentFinder:
    """Finds the value that belongs to one secret-like name in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_code: bool | None = None

    def value_after(self, name: _Name) -> tuple[int, int, str] | None:
        """(start, end, kind) of the secret assigned to the name, or None."""
        if name.rest and _NOT_SECRET_REST.search(name.rest):
            return None
        is_plain = _PLAIN_REST.fullmatch(name.rest) is not None
        if name.kind == "password":
            strength = "password" if is_plain else "secret"
        else:
            strength = "secret" if name.kind == "secret" else "key"
        span = self._literal(name.end, strength) or self._bare(name, strength)
        return (*span, name.kind) if span else None

    def _literal(self, end: int, strength: str) -> tuple[int, int] | None:
        text = self._text
        match = _QUOTED.match(text, end)
        if match:
            return match.span("v") if is_secret_value(match["v"], strength) else None
        match = _PAIR.match(text, end)
        if match and len(match["v"]) >= 6 and _mixed(match["v"]) and not _LISTED_NAME.fullmatch(match["v"]):
            return match.span("v") if is_secret_value(match["v"], strength) else None
        match = _XML.match(text, end)
        if match and is_secret_value(match["v"], strength):
            return match.span("v")
        match = _NEXT_LINE.match(text, end)
        if match and is_secret_value(match["v"], strength):
            return match.span("v")
        return None

    def _bare(self, name: _Name, strength: str) -> tuple[int, int] | None:
        """A value without quotes: in configuration, `NAME=value`, an argument, a query string, or a sentence."""
        text, start, end = self._text, name.start, name.end
        before = _name_start(text, start)
        lead = text[before - 2 : before] if before >= 2 else text[:before]
        if lead == "--" or text[before : before + 2] == "--":
            match = _ARGUMENT.match(text, end)
            if match and _mixed(match["v"]) and self._bare_value(match["v"], strength, code=False):
                return match.span("v")
        match = _BARE.match(text, end)
        if match is None:
            return self._sentence(end, strength)
        value, value_start = match["v"], match.start("v")
        inside = lead[-1:] in ";?&" or lead[-2:] == "/:"
        if inside and match["op"] == "=" and not match["gap"]:
            value = re.split(r"[&#\\)}\]]", value)[0]
            return (value_start, value_start + len(value)) if self._bare_value(value, strength, code=False) else None
        quoted_pair = lead[-1:] in "\"'" and text[match.end("v") : match.end("v") + 1] in "\"'" and "\\" not in value
        if quoted_pair or (match["op"] == "=" and not match["gap"] and text[before:end].isupper()):
            value = value.split("\\")[0]
            code = False if quoted_pair else None
            return (value_start, value_start + len(value)) if self._bare_value(value, strength, code=code) else None
        line_start = text.rfind("\n", 0, start) + 1
        if not _CONFIG_LEAD.fullmatch(text, line_start, start) or not _LINE_REST.match(text, match.end("tail")):
            return None
        value = value.rstrip("\\")
        return (value_start, value_start + len(value)) if self._bare_value(value, strength, code=None) else None

    def _sentence(self, end: int, strength: str) -> tuple[int, int] | None:
        match = _SENTENCE.match(self._text, end) if strength == "password" else None
        if match is None:
            return None
        value = re.sub(r"(?:[.,;:)]|입니다|이다|이며|임)+$", "", match["v"])
        strong = _mixed(value) and re.search(r"[A-Z!@#$%^&*]", value) and value.isascii()
        if not strong or not is_secret_value(value, "secret"):
            return None
        return match.start("v"), match.start("v") + len(value)

    def _bare_value(self, value: str, strength: str, *, code: bool | None) -> bool:
        if _CALL_OR_TYPE.search(value) or _DOTTED.fullmatch(value) or not value.isascii():
            return False
        if code is None and (value.isidentifier() or value[-1] in "{})"):
            if value.isalpha() and strength != "password":
                return False
            return not self._looks_like_code() and is_secret_value(value, strength)
        if code is None and self._looks_like_code() and not (_mixed(value) and is_random(value, least_bits=2.5)):
            return False
        return is_secret_value(value, strength)

    def _looks_like_code(self) -> bool:
        if self._is_code is None:
            self._is_code = sum(1 for _, _ in zip(_CODE_LINE.finditer(self._text), range(2), strict=False)) > 0
        return self._is_code


def _name_start(text: str, start: int) -> int:
    """Where the identifier that holds the keyword at `start` begins."""
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_-.$"):
        start -= 1
    return start


def _mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_secret_value(value: str, strength: str) -> bool:
    """True when `value` can be a secret for a name of this strength ("password", "secret" or "key")."""
    if is_placeholder(value) or any(c.isspace() for c in value) or not value.isascii():
        return False
    if _PATH.fullmatch(value) or _DOTTED.fullmatch(value):
        return False
    if strength == "password":
        if value.isdigit():
            return len(value) >= 4
        if _mixed(value):
            return len(value) >= 5
        if value.isalpha():
            return len(value) >= 6 and value[1:].islower() and SECRET_WORD.search(value) is None
        return len(value) >= 6 and re.search(r"[!@#$%^&*+=~]", value) is not None and not value.startswith(("#", "."))
    if strength == "secret":
        return len(value) >= 6 and _mixed(value) and is_random(value, least_bits=2.2)
    if len(value) < 12:
        return False
    if _mixed(value):
        return is_random(value, least_bits=2.8)
    # Letters alone: long and without the rhythm of words.
    is_plain = value.isalnum() and not value.isdigit()
    return len(value) >= 24 and is_plain and is_random(value, least_bits=3.8) and _ragged(value)


def _ragged(value: str) -> bool:
    """True when upper and lower case change too often for camel case."""
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return changes * 3 > len(value)
