"""Values that code sets: constants, settings, defaults and arguments, each with what it is set for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.claims import Claims, squeeze
from bot.code_terms import words_of
from bot.code_units import CodeUnit
from bot.quantities import Quantity
from bot.word_forms import Form

_LITERAL = re.compile(
    r"(?P<text>\"[^\"\n]*\"|'[^'\n]*')|(?<![\w.$])(?P<number>-?\d[\d_,]*(?:\.\d+)?)(?P<unit>[A-Za-z]{0,9}\b)?(?![\w.]*\.\d)|"
    r"(?<![\w.])(?P<word>true|false|True|False|null|None|nil|undefined)\b|"
    r"(?<=[=:]\s)(?P<bare>[A-Za-z][\w./:@-]*)\s*[,;]?$"
)
_CONSTANT = re.compile(
    r"(?:(?:export|public|private|static|final|const|let|var|val|readonly)\s+|\w+\s+(?=[A-Z_]+\s*=))*([A-Za-z_][\w.-]*)\s*(?::\s*[\w<>\[\]]+\s*)?:?="
)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_COMPARES = re.compile(r"[<>!]=?\s*$|==\s*$|\bcase\s*$")
_UNIT_NAMES = (
    ("밀리초", re.compile(r"(?:_ms|Ms|MS|millis|milliseconds)(?![a-z])", re.IGNORECASE)),
    ("초", re.compile(r"(?<!milli)(?:_s\b|secs?\b|seconds?)", re.IGNORECASE)),
    ("분", re.compile(r"mins?\b|minutes?", re.IGNORECASE)),
    ("시간", re.compile(r"hours?", re.IGNORECASE)),
    ("일", re.compile(r"days?", re.IGNORECASE)),
)
_ON = re.compile(r"켜|켠|활성|enabled?\b|on\b")
_OFF = re.compile(r"꺼|끈|비활성|disabled?\b|off\b")
_SUFFIXES = {"ms": "밀리초", "s": "초", "m": "분", "h": "시간", "d": "일"}
_MEASURES = frozenset(
    ("밀리초", "초", "분", "시간", "일", "주", "개월", "년", "원", "달러", "%", "tb", "gb", "mb", "kb")
)


@dataclass(frozen=True, slots=True)
class Value:
    """A literal, and what it is set for, from near to far: the words in front of it, the call, keys and headers."""

    name: str
    target: str
    scope: str
    literal: str
    amount: Decimal | None
    unit: str | None
    is_constant: bool


def values_of(units: Sequence[CodeUnit]) -> Iterator[Value]:
    """The values that statements and headers set."""
    for unit in units:
        if unit.kind in ("comment", "caller", "return", "throw"):
            continue
        for match in _LITERAL.finditer(unit.text):
            value = _value(unit, match)
            if value is not None:
                yield value


def _value(unit: CodeUnit, match: re.Match[str]) -> Value | None:
    before = unit.text[: match.start()]
    if _COMPARES.search(before) or unit.text.startswith(("if ", "if(", "for ", "for(", "while", "elif", "} else if")):
        return None
    segment, calls = _in_front(before)
    target = segment if _NAME.search(segment) else " ".join(calls[-1:])
    if not _NAME.search(target):
        return None
    constant = _CONSTANT.match(unit.text)
    number = match["number"]
    return Value(
        name=constant[1] if constant else _NAME.findall(target)[-1],
        target=f"{target} {constant[1] if constant else ''}",
        scope="\n".join(
            [
                *calls,
                unit.keys,
                unit.header if unit.kind != "header" else unit.text.split("(")[0],
                unit.text if _is_annotation(unit) else "",
            ]
        ),
        literal=(match["text"] or number or match["word"] or match["bare"]).strip("\"'"),
        amount=Decimal(re.sub(r"[_,]", "", number)) if number else None,
        unit=match["unit"] or None,
        is_constant=constant is not None and not unit.guards and match.end() >= len(unit.text.rstrip(" ;,")),
    )


def _in_front(before: str) -> tuple[str, list[str]]:
    """What stands in front of a literal up to the comma or the bracket that opens before it, and the calls around it,
    outermost first."""
    depth, start = 0, 0
    for place in range(len(before) - 1, -1, -1):
        character = before[place]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            if depth == 0:
                start = place + 1
                break
            depth -= 1
        elif character in ",;" and depth == 0:
            start = place + 1
            break
    return before[start:], re.findall(r"([\w.]+)\s*\((?=[^()]*$)", before)


def _is_annotation(unit: CodeUnit) -> bool:
    return unit.text.startswith(("@", "["))


def value_fault(claims: Claims, words: Sequence[Form], values: Sequence[Value], titles: str) -> str | None:
    """Why it is not certain that a value is set as a clause says; None when it is. `titles` name the whole piece."""
    told = [value for value in values if _is_said(value, claims)]
    if not told:
        return "no such value is set there"
    if len({quantity.value for quantity in claims.quantities}) > 1:
        return "it tells more than one value"
    for value in told:
        names = [name for name in claims.names if not _is_literal(name, value)]
        left = [form for form in words if not _says_literal(form, value)]
        if not names and not left:
            continue
        if _names_fault(value, names, left, titles) or not _unit_fits(value, claims.quantities):
            continue
        nearness = _nearness(value, names, left)
        if nearness and not any(
            other.literal != value.literal
            and _nearness(other, names, left) >= nearness
            and not _names_fault(other, names, left, titles)
            for other in values
        ):
            return None
    return "the value is set for something else there"


def _is_literal(name: str, value: Value) -> bool:
    return squeeze(name.strip("'\"")) == squeeze(value.literal)


def _says_literal(form: Form, value: Value) -> bool:
    """Whether a word is the literal itself, its unit, or "on" and "off" for it."""
    literal = value.literal.lower()
    if form.word in (literal, (value.unit or "").lower()):
        return True
    return (literal in ("true", "yes", "on") and _ON.match(form.word) is not None) or (
        literal in ("false", "no", "off") and _OFF.match(form.word) is not None
    )


def _is_said(value: Value, claims: Claims) -> bool:
    if value.amount is not None and any(q.value == value.amount for q in claims.quantities):
        return True
    literal = squeeze(value.literal)
    if any(
        squeeze(name.strip("'\"")) in (literal, squeeze(f"{value.name}={literal}"), squeeze(f"{value.name}:{literal}"))
        for name in claims.names
    ):
        return True
    return literal in {word.lower() for word in re.findall(r"[A-Za-z0-9.]+", claims.spoken)} and len(literal) > 1


def _names_fault(value: Value, names: Sequence[str], words: Sequence[Form], titles: str) -> bool:
    """Whether something that the clause names is not what the value is set for."""
    held = words_of(value.target, value.scope, titles)
    text = f"{value.target}\n{value.scope}\n{value.literal}\n{titles}"
    if any(
        not re.search(rf"(?<!\w){re.escape(_bare(name))}(?!\w)", text) and not _dotted(name, text) for name in names
    ):
        return True
    return any(not held.holds(form) for form in words)


def _bare(name: str) -> str:
    """A name without the value that is written behind it: "enabled = false"."""
    return name.split("=")[0].strip()


def _dotted(name: str, text: str) -> bool:
    parts = [part for part in re.split(r"[.:/]", name) if part]
    return len(parts) > 1 and all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts)


def _nearness(value: Value, names: Sequence[str], words: Sequence[Form]) -> int:
    """How many of the names and words stand right at the value."""
    own = words_of(value.target)
    return sum(2 for name in names if squeeze(_bare(name).split(".")[-1]) in squeeze(value.target)) + sum(
        map(own.holds, words)
    )


def _unit_fits(value: Value, quantities: Sequence[Quantity]) -> bool:
    """Whether the unit of the amount is known to be that of the value; numbers without one, and counts, fit."""
    for quantity in quantities:
        if quantity.value != value.amount or quantity.unit not in _MEASURES:
            continue
        if value.unit and (value.unit.lower() == quantity.unit or _SUFFIXES.get(value.unit.lower()) == quantity.unit):
            continue
        text = f"{value.name} {value.target}"
        known = next((unit for unit, pattern in _UNIT_NAMES if pattern.search(text)), None)
        if known != quantity.unit:
            return False
    return True
