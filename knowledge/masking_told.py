"""Secrets that are told in sentences and forms: "비밀번호는 korea1234 입니다", "ID/PW: admin / P@ssw0rd123".

Regulations speak of passwords as well ("비밀번호는 12자 이상으로 하고"), so a value must look chosen: letters with
digits or signs, and no measure, algorithm or name. How much is asked of it depends on what links it to its name: most
where nothing but a space does, least behind a colon.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knowledge.masking_names import SecretName
from knowledge.masking_strength import (
    is_expression,
    is_mixed,
    is_path,
    is_secret_value,
    is_strong,
    is_term,
)
from knowledge.masking_values import is_placeholder, is_random

_OPEN = r"(?P<open>[\"'`“‘「『\[(<*_]{0,3}[ ]?)"
_VALUE = r"(?P<v>[!-~]{4,100})"
_ASIDE = r"(?:[ ]?\([^()\n]{1,20}\)|[ ]?\[[^\[\]\n:]{1,20}\])?"
_MARK = r"[*_`]{0,3}(?:</\w{1,6}>)?"  # the end of emphasis
_SIGN = r"[:：=]|-{1,2}>|=>|[→⇒⇨▶►☞»–—]|-(?=[ ])"
_GAP = r"[^\S\n]{0,4}"
_KOREAN_LINK = re.compile(
    rf"{_MARK}{_ASIDE}(?:[ ]?(?:초기값|기본값|초기|기본|값|변경|안내|정보|설정|발급))?"
    rf"(?P<particle>은|는|이|가|을|를|도|만|으로|로|에는|에)?"
    rf"{_GAP}(?P<op>{_SIGN})?{_GAP}"
    rf"(?:(?:현재|모두|일단|당분간|임시로|기본적으로|아래와 같이|다음과 같이)[ ,]*)?{_OPEN}{_VALUE}"
)
_ENGLISH_LINK = re.compile(
    rf"(?:[ ](?:for|of|to|on)[ ](?:the[ ])?[\w.@-]{{1,30}}(?:[ ](?:user|account|server|database|db|host|login))?)?"
    rf"{_MARK}{_ASIDE}(?P<particle>은|는|이|가|을|를)?{_GAP}"
    rf"(?P<op>{_SIGN}|(?<=[ )])(?:is|was|are|will be|ha[sd] been|have been)(?:[ ](?:now|currently|still))?"
    rf"(?:[ ](?:set|changed|reset)?[ ]?to)?:?(?=[ ])|(?<=[ ])(?:(?:set|changed|reset)[ ])?to(?=[ ]))?"
    rf"{_GAP}{_OPEN}{_VALUE}"
)
_BELOW = re.compile(
    rf"{_ASIDE}(?:(?:은|는)?[ ](?:다음과|아래와)[ ]?같[^\n]{{0,8}}[.:：]"
    rf"|[ ](?:is|are)(?:[ ](?:as follows|below))?[:：]|[^\S\n]?[:：]|(?P<bare>))"
    rf"[^\S\n]*[|>]?[-+]?[^\S\n]*\n(?:[^\S\n]*\n)?[^\S\n]*(?:[-*>][^\S\n]+)?{_OPEN}(?P<v>[!-~]{{4,100}})[^\S\n]*(?=\n|$)"
)
_LABEL_LINE = re.compile(r"[^\S\n]*(?:[-*>#]+[^\S\n]+)?[\w가-힣 ]{0,12}")
_PAIR_BEFORE = re.compile(
    r"(?:\bid|user(?:[ _]?name)?|login|account|아이디|계정|사용자(?:[ ]?(?:명|id))?)"
    r"(?:[ ]?[/|&·][ ]?|(?:와|과|[ ](?:및|and))[ ])\Z",
    re.IGNORECASE,
)
_PAIR_VALUES = re.compile(
    r"[ ]?[)\]]?[ ]?(?:[:：=]|은|는|->|→|-)?[ ]{0,3}(?P<id>[\w.@가-힣-]{2,40})[ ]?[/|,:·][ ]?(?P<v>[!-~]{4,100})"
)
_USUAL_ACCOUNT = re.compile(
    r"(?:admin\w*|root|test\d*|user\d*|guest|sa|postgres|oracle|system|manager|관리자)", re.IGNORECASE
)

_DIGITS = re.compile(r"\d+")
_WORD_WITH_NUMBER = re.compile(r"[A-Za-z]{3,}\d{3,}")
_KOREAN_FOLLOWS = re.compile(r"[.,;!?)]*[ ]?[가-힣]")
_COPULA = re.compile(r"[ ]?(?:입니다|이다|이에요|예요|이며|이고|임(?![가-힣])|으로|로(?![가-힣])|였)")
_GLUED = re.compile(
    r"(?:입니다|이다|이에요|예요|이며|이고|임|으로|로|을|를|은|는|이|가|와|과|인|라|다|에서|부터)(?![가-힣]{3})"
)
_ENDS_HERE = re.compile(r"[ ]*(?:[.,;)\]/|]|\n|$)")
_WORD_FOLLOWS = re.compile(r"[.,;!?)}\]*_`\"'”’]*(?:[^\S\n]+[(\"'“‘A-Za-z가-힣/|]|[^\S\n]*(?:\n|$)|[가-힣])")
_FIELD_FOLLOWS = re.compile(r"[^\S\n]+(?:\[|\d)")  # in lines of logs: a time, a number, what is masked already
_COMMENT_LEAD = re.compile(r"[^\S\n]*(?:#|//|/?\*|--|<!--|>|-[ ])")


def told_value(text: str, name: SecretName, strength: str, *, in_code: Callable[[], bool]) -> tuple[int, int] | None:
    """(start, end) of the secret that a sentence gives for `name`, or None; `in_code` tells whether `text` is code."""
    if name.kind == "password":
        pair = _paired(text, name)
        if pair:
            return pair
    match = (_KOREAN_LINK if name.korean else _ENGLISH_LINK).match(text, name.end)
    if match is None:
        return None
    value = _trimmed(match["v"])
    end = match.start("v") + len(value)
    if len(value) < 4 or not _may_be_value(value):
        return None
    if value.isdigit() and text[name.start : name.end].lower() == "pass":
        return None  # the count of tests that passed
    if value.isidentifier() and not name.korean and _is_code_line(text, name.start) and in_code():
        return None
    linked = bool(match["op"] or match["particle"])
    if name.kind != "password":
        least = 16 if linked else 20
        drawn = len(value) >= least and is_secret_value(value, "key" if strength == "key" else "secret")
        # digits of names stand together: ERC20VotesMock
        scattered = len(_DIGITS.findall(value)) >= 2 or (len(value) >= 24 and is_mixed(value) and "/" in value)
        return (match.start("v"), end) if drawn and scattered and is_random(value, least_bits=3.0) else None
    fits = _fits_korean(text, value, end, linked) if name.korean else _fits_english(text, value, end, match["op"])
    return (match.start("v"), end) if fits else None


def value_below(text: str, name: SecretName, strength: str, *, in_code: Callable[[], bool]) -> tuple[int, int] | None:
    """(start, end) of a secret that stands alone on the line below its name and a colon, or None."""
    match = _BELOW.match(text, name.end)
    if match is None:
        return None
    value = _trimmed(match["v"])
    if len(match["v"]) - len(value) > 3 or len(value) < 4 or match["v"].endswith((":", "{", "(", "[", ",")):
        return None
    if not _may_be_value(value) or (value.isidentifier() and in_code()):
        return None
    if match["bare"] is not None:
        alone = _LABEL_LINE.fullmatch(text, text.rfind("\n", 0, name.start) + 1, name.start)
        return match.span("v") if alone and is_strong(value) and match["v"] == value and not in_code() else None
    if name.kind == "password":
        fits = is_strong(value) or (is_mixed(value) and len(value) >= 6) or (value.isdigit() and name.korean)
    else:
        fits = is_secret_value(value, strength)
    return (match.start("v"), match.start("v") + len(value)) if fits else None


def _paired(text: str, name: SecretName) -> tuple[int, int] | None:
    """The second of two values behind "ID/PW"."""
    if not _PAIR_BEFORE.search(text[max(0, name.start - 16) : name.start]):
        return None
    match = _PAIR_VALUES.match(text, name.end)
    if match is None:
        return None
    value = _trimmed(match["v"])
    if len(value) < 4 or not _may_be_value(value):
        return None
    usual = _USUAL_ACCOUNT.fullmatch(match["id"]) is not None and value.lower() != "password"
    fits = is_strong(value) or value.isdigit() or (is_mixed(value) and len(value) >= 5) or usual
    return (match.start("v"), match.start("v") + len(value)) if fits else None


def _trimmed(value: str) -> str:
    """`value` up to a closing quote or bracket, without the punctuation of the sentence behind it."""
    value = re.split(r"[\"'`<]|\|(?=$)|\)(?=[^(]*$)(?!\w)|(?<=\w)\((?=$)", value, maxsplit=1)[0]
    value = value.rstrip(".,;:/|\\*_]")
    return value.rstrip("}") if value.endswith("}") and "{" not in value else value


def _may_be_value(value: str) -> bool:
    if is_placeholder(value) or is_path(value) or is_expression(value) or is_term(value):
        return False
    if value[0] in "#/":  # a drawn one may begin so: no anchor, colour or path holds both cases and digits like that
        return len(value) >= 10 and is_strong(value[1:]) and is_random(value[1:], least_bits=3.0)
    return value[0] not in "=-{}|,;:.)]"


def _fits_korean(text: str, value: str, end: int, linked: bool) -> bool:
    """Whether the words around allow `value` to be the password of a Korean name."""
    copula = _COPULA.match(text, end) is not None
    glued = text[end : end + 1] >= "가"
    if glued and not copula and not _GLUED.match(text, end):
        return is_strong(value)
    if value.isdigit():
        return copula or (linked and _ENDS_HERE.match(text, end) is not None)
    if is_strong(value):
        return True
    if is_mixed(value):
        return len(value) >= (5 if linked else 7)
    if value.isalpha():
        return linked and copula and len(value) >= 6 and value[1:].islower()
    return linked and is_secret_value(value, "password")


def _fits_english(text: str, value: str, end: int, operator: str | None) -> bool:
    if not _WORD_FOLLOWS.match(text, end):
        return operator in ("=", ":") and is_strong(value) and _FIELD_FOLLOWS.match(text, end) is not None
    if is_strong(value):
        return True
    if value.isdigit():
        return operator in (":", "：") and len(value) <= 8 and _ENDS_HERE.match(text, end) is not None
    if operator is None or not is_mixed(value) or len(value) < 6:
        return False
    # weaker ones, such as hunter2, need a colon, Korean words behind them, or the end of the sentence
    if operator in (":", "：", "->", "→", "=>") or _KOREAN_FOLLOWS.match(text, end):
        return True
    return (
        operator[0].isalpha() and _WORD_WITH_NUMBER.fullmatch(value) is not None and bool(_ENDS_HERE.match(text, end))
    )


def _is_code_line(text: str, start: int) -> bool:
    return not _COMMENT_LEAD.match(text, text.rfind("\n", 0, start) + 1)
