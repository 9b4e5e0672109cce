"""Whether the condition that a sentence tells is the one under which a statement runs: which way round it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.claims import claims_of, evidence_amounts, squeeze
from bot.code_terms import CodeWords, telling_forms, words_of
from bot.code_units import CodeUnit, Guard
from bot.word_forms import Form, forms_of

_CONDITION = re.compile(
    r"^(?P<korean>.+?(?:면|[을를ㄹ할될]\s때|때|경우)(?:에|에는|에만|는)?)(?:[,\s]+)(?P<rest>\S.*)$|"
    r"^(?P<before>(?:if|when|unless|while|once|whenever)\b[^,]+),\s*(?P<main>.+)$|"
    r"^(?P<first>.+?)\s(?P<after>(?:if|when|unless|while|once|whenever)\b.+)$",
    re.IGNORECASE | re.DOTALL,
)
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_COMPARES = re.compile(
    r"(?P<left>[\w.()\[\]'\"-]+)\s*(?P<op><=|>=|===|!==|==|!=|<(?![\w<])|>(?![\w>]))\s*(?P<right>[\w.()\[\]'\"-]+)"
)
_BIT_TESTS = {"-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">=", "-eq": "==", "-ne": "!="}
_SAID = {
    "<": r"미만|(?:적|작|낮|짧|모자라|부족)(?=[가-힣])|\b(?:less|fewer|lower|smaller|shorter)\b(?: \w+)? than\b|"
    r"\bbelow\b|\bunder\b",
    "<=": r"이하|\bat most\b|\bor (?:less|fewer)\b|\bno more than\b",
    ">": r"초과|넘|(?:많|크|큰|높|길)(?=[가-힣으면])|\b(?:more|greater|larger|higher|longer)\b(?: \w+)? than\b|"
    r"\babove\b|\bover\b|\bexceed",
    ">=": r"이상|\bat least\b|\bor more\b",
}
_SAYS = {op: re.compile(pattern, re.IGNORECASE) for op, pattern in _SAID.items()}
_SAYS_NOT = re.compile(
    r"없|않|아니|아닌|못(?=하|한|합|했|찾)|비어|비었|빈\s|꺼|다르|다른|거짓|만료|실패|잘못|"
    r"\bnot\b|n't\b|\b(?:no|missing|empty|absent|false|fails?|failed|invalid|without|unless|differs?|null|none)\b",
    re.IGNORECASE,
)
_SHOWS_NOT = re.compile(
    r"!(?!=)|\bnot\b|==\s*(?:null|None|nil|undefined|false|False|0\b|\"\"|'')|\bis None\b|"
    r"(?i:is_?null|is_?empty|is_?blank|\bempty\b)|"
    r"===\s*(?:null|undefined|false)|!==?(?!\s*(?:null|None|nil|undefined|false|\"\"|''))|-z\s|"
    r"\bis nil\b|\.nil\?|\bis False\b"
)
_FAILS = re.compile(r"실패|오류|에러|예외|\bfails?\b|\bfailed\b|\berrors?\b|\bfailure\b|\bexception\b", re.IGNORECASE)
_SHOWS_FAILURE = re.compile(
    r"\berr(?:or)?\s*!=\s*nil|!\s*\w*(?:\.ok|ok\b|success)|not\s+\w*(?:ok|success)|is_?err|fail|error", re.IGNORECASE
)
_SUCCEEDS = re.compile(r"성공|정상|통과|\bsucce(?:ed|ss)|\botherwise\b", re.IGNORECASE)
_ENDS = re.compile(r"소진|다\s?쓰|끝나|\bexhaust|\bused up\b|\bran out\b", re.IGNORECASE)
_COMPARING = re.compile(
    r"(?:fewer|less|more|greater|larger|smaller|higher|lower|longer|shorter|equals?|same|true)$|참|같|설정되|켜져|맞",
    re.IGNORECASE,
)
_JOINED = re.compile(r"&&|\|\||\band\b|\bor\b")
_CALL_OR_NAME = re.compile(r"[A-Za-z_]\w*")
_NOISE_WORDS = """
    get is has not null none nil true false self this len size length equals contains by of in and or err
"""
_NOISE = frozenset(_NOISE_WORDS.split())


def split_condition(clause: str) -> tuple[str, str]:
    """The condition that a clause tells ("" without one), and what it says."""
    match = _CONDITION.match(clause)
    if match is None:
        return "", clause
    if match["korean"]:
        return match["korean"], match["rest"]
    if match["before"]:
        return match["before"], match["main"]
    return match["after"], match["first"]


def conditions_fault(condition: str, unit: CodeUnit, *, asked: str, scope: CodeWords, names: str) -> str | None:
    """Why the condition that is told is not that of the statement; None when it is, or when neither has one. `asked`
    is the condition of the question, `scope` and `names` are of what the statement stands in."""
    told = unit.told
    if condition and not told and _is_way_through(condition, unit):
        return None
    if not condition and not told:
        return _unreached_fault(asked, unit, scope, names) if asked else None
    condition = condition or asked
    if not condition:
        return "it leaves out a condition of the code"
    candidates = [guard for guard in reversed(unit.guards) if guard.kind not in ("loop", "ended")]
    matching = next((g for g in candidates if guard_fault(condition, g, scope, names) is None), None)
    if matching is None:
        return "the condition is not that of the code"
    for guard in told:
        if guard is not matching and not is_told(guard, [condition, asked]):
            return "it leaves out a condition of the code"
    return None


def _unreached_fault(asked: str, unit: CodeUnit, scope: CodeWords, names: str) -> str | None:
    """What is wrong when the code has left before the statement in just the case that is asked about."""
    for guard in unit.guards:
        if (
            guard.kind == "passed"
            and guard_fault(asked, replace(guard, negated=not guard.negated), scope, names) is None
        ):
            return "the code has left before in that case"
    return None


def _is_way_through(condition: str, unit: CodeUnit) -> bool:
    """Whether "when it succeeds" or "when all attempts failed" is told of what runs when nothing left before."""
    words = [form for form in _words(condition) if not _SUCCEEDS.search(form.word)]
    if _SUCCEEDS.search(condition) and not words:
        return any(guard.kind == "passed" for guard in unit.guards)
    ended = [guard for guard in unit.guards if guard.kind == "ended"]
    words = [form for form in _words(condition) if not (_FAILS.search(form.word) or _ENDS.search(form.word))]
    fails = _FAILS.search(condition) or _ENDS.search(condition)
    return bool(ended and fails and words) and all(words_of(ended[-1].text).holds(form) for form in words)


def guard_fault(condition: str, guard: Guard, scope: CodeWords, names: str) -> str | None:
    """Why a condition in words is not this one of the code."""
    if _JOINED.search(guard.text):
        return "the condition has more than one part"
    words = _words(condition)
    own = words_of(guard.text)
    missing = [form for form in words if not own.holds(form) and not scope.holds(form) and not _tells_way(form)]
    if missing:
        return f"{missing[0].word} does not stand there"
    claims = claims_of(condition)
    if any(squeeze(name) not in squeeze(f"{guard.text}\n{names}") for name in claims.names):
        return "its name does not stand there"
    if any(quantity.value not in evidence_amounts(guard.text) for quantity in claims.quantities):
        return "its amount does not stand there"
    if guard.kind == "catch" or (_FAILS.search(condition) and _SHOWS_FAILURE.search(guard.text)):
        fails = _FAILS.search(condition) is not None
        return None if fails != guard.negated and fails else "the condition is another one"
    if not is_told(guard, [condition]):
        return "it is not what the condition is about"
    return _direction_fault(condition, guard)


def is_told(guard: Guard, texts: Sequence[str]) -> bool:
    """Whether what a condition of the code is about is named in one of the texts."""
    own = words_of(_subject(guard.text))
    if any(squeeze(name) in squeeze(_subject(guard.text)) for text in texts for name in claims_of(text).names):
        return True
    if guard.kind == "catch":
        return any(_FAILS.search(text) for text in texts)
    return any(own.holds(form) for text in texts for form in forms_of(text))


def _direction_fault(condition: str, guard: Guard) -> str | None:
    """What is wrong when it is told the other way round: "at least" for "less", "is missing" for "is there"."""
    said = next((op for op, pattern in _SAYS.items() if pattern.search(condition)), "")
    compared = _COMPARES.search(_plain_tests(guard.text))
    op = {"===": "==", "!==": "!="}.get(compared["op"], compared["op"]) if compared else ""
    if guard.negated and op:
        op = _OPPOSITE[op]
    if op in _SAYS:
        if said != op:
            return "it is compared the other way"
        assert compared is not None
        return _operands_fault(condition, compared["left"], compared["right"])
    if said:
        return "it is not compared there"
    negations = len(_SHOWS_NOT.findall(guard.text)) + guard.negated
    return None if negations % 2 == len(_SAYS_NOT.findall(condition)) % 2 else "it is the other way round there"


def _operands_fault(condition: str, left: str, right: str) -> str | None:
    """What is wrong when the two sides of a comparison are told in the other order."""
    if re.fullmatch(r"[\d_.]+", left):
        return "its sides stand the other way round there"
    if re.fullmatch(r"[\d_.]+", right):
        return None
    first, second = _place(condition, left), _place(condition, right)
    return None if first is None or second is None or first < second else "its sides stand the other way round there"


def _place(condition: str, operand: str) -> int | None:
    """Where a side of a comparison is named."""
    name = operand.split("(")[0].split(".")[-1]
    if name and (place := condition.find(name)) >= 0:
        return place
    own = words_of(operand)
    return next((form.place for form in forms_of(condition) if own.holds(form)), None)


def _subject(text: str) -> str:
    """What a condition is about: the value compared with, else its last names."""
    compared = _COMPARES.search(_plain_tests(text))
    if compared and not re.fullmatch(
        r"[\d_.]+|null|None|nil|undefined|true|false|True|False|\"\"|''", compared["right"]
    ):
        return f"{compared['right']} {compared['left']}" if compared["op"] not in ("==", "===") else compared["right"]
    return " ".join(name for name in _CALL_OR_NAME.findall(text) if name.lower() not in _NOISE)


def _plain_tests(text: str) -> str:
    """The tests of a shell as comparisons."""
    for test, op in _BIT_TESTS.items():
        text = re.sub(rf"\s{test}\s", f" {op} ", text)
    return text


def _words(condition: str) -> list[Form]:
    """The words of a condition that must stand in the code."""
    return telling_forms(claims_of(condition))


def _tells_way(form: Form) -> bool:
    """Whether a word says which way round a condition is, or how it is compared."""
    patterns = (_FAILS, _SAYS_NOT, *_SAYS.values())
    return _COMPARING.match(form.word) is not None or any(pattern.search(form.word) for pattern in patterns)
