"""Masks values that are assigned to secret-like names, in code, configuration, command lines and prose.

The name decides how much the value must look like a secret: after `password` nearly every literal is one, after
`token` or `api_key` only what is long and random. A bare value (without quotes) is masked where configuration would
have it; in code a bare word is a variable, a type or a call and stays.
"""

from __future__ import annotations

import re
from collections import Counter

from knowledge.masking_names import SecretName, secret_names
from knowledge.masking_strength import DOTTED, NOT_NULL, is_expression, is_mixed, is_path, is_secret_value, is_strong
from knowledge.masking_told import told_value, value_below
from knowledge.masking_values import SECRET_WORD, is_placeholder, is_random, replace_spans

_OPERATOR = r"(?:[:=]=?|=>|:=|\?\?|\|\||<<)"
_TYPE = r"(?::[^\S\n]*[\w.<>\[\]?|&*]{1,40}(?:[^\S\n]*\|[^\S\n]*\w+)?[^\S\n]*)?"
_WRAPPED = r"\[?(?:\[\]byte\(|bytes?\(|Buffer\.from\(|String::from\(|new String\()?"
_QUOTED = re.compile(
    rf"(?:\\?[\"'`])?\]?[^\S\n]*{_TYPE}{_OPERATOR}[^\S\n]*{_WRAPPED}[uUbBrR@$]{{0,2}}"
    r"(?P<q>\\?[\"'`])(?P<v>(?:(?!(?P=q))[^\n]){1,400})(?P=q)"
)
_PAIR = re.compile(
    r"(?P<q1>\\?[\"'])[^\S\n]*(?:,|\)\s*,|value\s*=|to)[^\S\n]*(?:value\s*=\s*)?"
    r"(?:[\"'](?=\\[\"']))?(?P<q>\\?[\"'])(?P<v>(?:(?!(?P=q))[^\s]){1,400})(?P=q)"
)
_LISTED_NAME = re.compile(r"[a-z0-9]+(?:[_-][a-z]+)+")  # the next name in a list of names
_XML = re.compile(r"\s*>(?P<v>[^<>\s]{1,400})</")
_XML_ATTRIBUTE = re.compile(r"[\"'][^<>\n]{0,60}>(?P<v>[^<>\s]{4,400})</")
_XML_NEXT = re.compile(r"\s*[:：]?\s*</\w{1,6}>\s*<\w{1,6}[^<>\n]{0,80}>(?P<v>[^<>\s]{4,100})</")
_BARE = re.compile(
    r"(?:\\?[\"'])?[^\S\n]*(?P<op>:=|\?=|[:：=]|=>)(?P<gap>[^\S\n]*)(?P<v>[^\s\"'`,;]{1,400})(?P<tail>[^\S\n]*)"
)
_ARGUMENT = re.compile(r"[ =](?P<v>[^\s\"'`,;]{1,400})")
_NEXT_LINE = re.compile(
    r"[\"']?[^\S\n]*\n[^\S\n]*[\"']?value[\"']?[^\S\n]*:[^\S\n]*"
    r"(?P<q>[\"']?)(?P<v>[^\s\"']{1,400})(?P=q)[^\S\n]*(?=\n|$)"
)

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
_CODE_LINE = re.compile(
    r"^[^\S\n]*(?:import|from|package|def|class|func|fun|public|private|protected|const|let|var|val|export|pragma|"
    r"using|return|interface|struct|contract|#include|async|await|@\w+)\b[^\n:=]*",
    re.MULTILINE,
)
_CONFIG_LEAD = re.compile(
    r"[^\S\n]*(?:(?:#|//|\*|--|;|>|<!--)+[^\S\n]*)?(?:-[^\S\n]+)?"
    r"(?:(?:export|set|env|ARG|ENV)[^\S\n]+|\$env:)?[\"']?[\w.\-$가-힣 ]{0,60}"
)
_WHOLE_LINE = re.compile(r"(?P<v>[^\s]{5,200}?)[,;]*[^\S\n]*(?=\n|$)")
_LINE_REST = re.compile(r"[^\S\n]*(?:(?:#|//|;)[^\n]*)?(?=\n|$)")


def mask_assignments(text: str, counts: Counter[str]) -> str:
    """`text` with the values of secret-like names masked; `counts` grows by what was replaced."""
    finder = _AssignmentFinder(text)
    spans = [span for name in secret_names(text) if (span := finder.value_after(name))]
    return replace_spans(text, spans, counts)


class _AssignmentFinder:
    """Finds the value that belongs to one secret-like name in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_code: bool | None = None

    def value_after(self, name: SecretName) -> tuple[int, int, str] | None:
        """(start, end, kind) of the secret assigned to the name, or None."""
        if name.rest and _NOT_SECRET_REST.search(name.rest):
            return None
        is_plain = _PLAIN_REST.fullmatch(name.rest) is not None
        if name.kind == "password":
            strength = "password" if is_plain else "secret"
        else:
            strength = "secret" if name.kind == "secret" else "key"
        span = self._literal(name.end, strength) or self._bare(name, strength) or self._told(name, strength)
        return (*span, name.kind) if span else None

    def _literal(self, end: int, strength: str) -> tuple[int, int] | None:
        text = self._text
        match = _QUOTED.match(text, end)
        if match:
            return match.span("v") if is_secret_value(match["v"], strength) else None
        match = _PAIR.match(text, end)
        if match and len(match["v"]) >= 6 and is_mixed(match["v"]) and not _LISTED_NAME.fullmatch(match["v"]):
            return match.span("v") if is_secret_value(match["v"], strength) else None
        match = _XML.match(text, end)
        if match and is_secret_value(match["v"], strength):
            return match.span("v")
        match = _XML_ATTRIBUTE.match(text, end)
        if match and is_mixed(match["v"]) and is_secret_value(match["v"], strength):
            return match.span("v")
        match = _XML_NEXT.match(text, end)
        if match and is_strong(match["v"]) and is_secret_value(match["v"], strength):
            return match.span("v")
        match = _NEXT_LINE.match(text, end)
        if match and is_secret_value(match["v"], strength):
            return match.span("v")
        return None

    def _bare(self, name: SecretName, strength: str) -> tuple[int, int] | None:
        """A value without quotes: in configuration, `NAME=value`, an argument, a query string, or a sentence."""
        text, start, end = self._text, name.start, name.end
        before = _name_start(text, start)
        lead = text[before - 2 : before] if before >= 2 else text[:before]
        if lead == "--" or text[before : before + 2] == "--":
            match = _ARGUMENT.match(text, end)
            if match and is_mixed(match["v"]) and self._bare_value(match["v"], strength, code=False):
                return match.span("v")
        match = _BARE.match(text, end)
        if match is None:
            return None
        value, value_start = match["v"], match.start("v")
        inside = lead.endswith((";", "?", "&")) or lead[-2:] == "/:"
        if inside and match["op"] == "=" and not match["gap"]:
            value = re.split(r"[&#\\)}\]]", value)[0]
            return (value_start, value_start + len(value)) if self._bare_value(value, strength, code=False) else None
        quotes = ('"', "'")
        quoted_pair = lead.endswith(quotes) and text.startswith(quotes, match.end("v")) and "\\" not in value
        if quoted_pair or (match["op"] == "=" and not match["gap"] and text[before:end].isupper()):
            value = value.split("\\")[0]
            code = False if quoted_pair else None
            if self._bare_value(value, strength, code=code):
                return value_start, value_start + len(value)
            return None if quoted_pair else self._environment(value_start)
        line_start = text.rfind("\n", 0, start) + 1
        if not _CONFIG_LEAD.fullmatch(text, line_start, start):
            return None
        if not _LINE_REST.match(text, match.end("tail")):
            return self._punctuated(value_start, strength)
        if match["op"] == "=" and match["gap"] and NOT_NULL.fullmatch(value):
            return None
        value = value.rstrip("\\")
        return (value_start, value_start + len(value)) if self._bare_value(value, strength, code=None) else None

    def _punctuated(self, start: int, strength: str) -> tuple[int, int] | None:
        """A value with commas, semicolons or quotes inside that is all the line still holds."""
        match = _WHOLE_LINE.match(self._text, start)
        if match is None or self._looks_like_code() or not is_mixed(match["v"]) or match["v"][0] in "\"'`":
            return None
        return match.span("v") if self._bare_value(match["v"], strength, code=False) else None

    def _environment(self, start: int) -> tuple[int, int] | None:
        """A literal of signs (`Zx9->k"Q`) behind `NAME=`, where there are no expressions."""
        match = _WHOLE_LINE.match(self._text, start)
        if match is None or self._looks_like_code() or "(" in match["v"] or match["v"][0] in "\"'`$":
            return None
        value = match["v"]
        if not is_strong(value) or not is_mixed(value) or SECRET_WORD.search(value) or is_placeholder(value):
            return None
        return None if is_path(value) or DOTTED.fullmatch(value) else match.span("v")

    def _told(self, name: SecretName, strength: str) -> tuple[int, int] | None:
        """A value in a sentence, or alone on the line below its name."""
        text = self._text
        span = told_value(text, name, strength, in_code=self._looks_like_code)
        return span or value_below(text, name, strength, in_code=self._looks_like_code)

    def _bare_value(self, value: str, strength: str, *, code: bool | None) -> bool:
        if not value or is_expression(value) or not value.isascii():
            return False
        if code is None and NOT_NULL.fullmatch(value) and value[:1].islower() and self._looks_like_code():
            return False
        if code is None and (value.isidentifier() or value[-1] in "{})"):
            if value.isalpha() and strength != "password":
                return False
            return not self._looks_like_code() and is_secret_value(value, strength)
        if code is None and self._looks_like_code() and not (is_mixed(value) and is_random(value, least_bits=2.5)):
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
