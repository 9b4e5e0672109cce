"""The lines of code in place of a sentence about it: the statement that the sentence is about, under its condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.claims import claims_of, evidence_amounts, squeeze
from bot.clause_quotes import Quote
from bot.code_conditions import split_condition
from bot.code_lines import indent_of
from bot.code_terms import DEEDS, CodeWords, is_generic, telling_forms, words_of
from bot.code_units import CodeUnit
from bot.orders import withhold_orders
from bot.types import Language
from bot.word_forms import Form, forms_of
from bot.wording import word

LONGEST_LINE_CHARS = 200
_FENCE = "```"
_MOST_LINES = 8
LEAST_SCORE = 1.0
_MOST_UNITS = 2
_NAME_WEIGHT, _AMOUNT_WEIGHT, _DEED_WEIGHT, _GUARD_WEIGHT, _ASKED_WEIGHT = 2.0, 2.0, 1.0, 0.8, 0.5
_BESIDE = re.compile(r"\s*(?:#|//|--|/\*|<!--).*")
_KINDS = {"header": -0.3, "comment": -0.2, "caller": -0.1}


def code_quote(
    clauses: Sequence[str], units: Sequence[CodeUnit], *, question: str, language: Language, least: float = LEAST_SCORE
) -> Quote | None:
    """The lines that are nearest to what the clauses tell, or to the question; None where none is at least so near."""
    shown = [_without_orders(unit) for unit in units if unit.written and withhold_orders(unit.text) == unit.text]
    chosen: list[CodeUnit] = []
    nearest = _nearest(clauses, shown, question) or _nearest([question], shown, question, least)
    for best in list(dict.fromkeys(nearest))[:_MOST_UNITS]:
        below = [unit for unit in shown if (unit.number, unit.index) == (best.number, best.index + 1)]
        goes_on = best.kind in ("comment", "header") and not any(unit.kind == "header" for unit in below)
        chosen += [unit for unit in (best, *(below if goes_on else ())) if unit not in chosen]
    chosen.sort(key=lambda unit: (unit.number, unit.index))
    if not chosen:
        return None
    numbers = tuple(dict.fromkeys(unit.number for unit in chosen))
    blocks = [_block([unit for unit in chosen if unit.number == number], units) for number in numbers]
    text = "\n".join(
        f"{word('code_says', language)} [{number}]\n{_FENCE}\n{block}\n{_FENCE}"
        for number, block in zip(numbers, blocks, strict=True)
    )
    return Quote(f"{text}\n", numbers)


def _without_orders(unit: CodeUnit) -> CodeUnit:
    """A unit without what stands beside its lines, and those of its condition, where that orders an assistant about."""
    written, opener = tuple(map(_without_order, unit.written)), tuple(map(_without_order, unit.opener))
    return unit if (written, opener) == (unit.written, unit.opener) else replace(unit, written=written, opener=opener)


def _without_order(line: str) -> str:
    if withhold_orders(line) == line:
        return line
    bare = _BESIDE.sub("", line)
    return bare if withhold_orders(bare) == bare else " " * indent_of(line) + "…"


def _nearest(
    clauses: Sequence[str], units: Sequence[CodeUnit], question: str, least: float = LEAST_SCORE
) -> list[CodeUnit]:
    """The unit that is nearest to each clause, for those to which one is near."""
    wanted = [_Wanted(clause, question) for clause in clauses]
    scored = [max(((one.score(unit), -place) for place, unit in enumerate(units)), default=(0.0, 0)) for one in wanted]
    return [units[-place] for score, place in scored if units and score >= least]


def block_of(quote: str) -> str:
    """A quotation of one piece without the words in front of it, for showing it right behind another one."""
    return quote[quote.index(_FENCE) :] if quote.count(_FENCE) == 2 else quote


def lines_of(quote: str) -> list[str]:
    """The lines of code in a quotation; none in one of prose."""
    inside = quote.split(_FENCE)[1::2]
    return [line.strip() for block in inside for line in block.splitlines() if line.strip() and line.strip() != "…"]


class _Wanted:
    """What a clause is about, for asking how near a unit comes to it."""

    def __init__(self, clause: str, question: str) -> None:
        claims = claims_of(clause)
        condition, main = split_condition(clause)
        self._names = [squeeze(name) for name in claims.names]
        self._amounts = [quantity.value for quantity in claims.quantities]
        self._forms = telling_forms(claims)
        self._asked = [form for form in forms_of(question) if form not in self._forms and not is_generic(form)]
        self._deeds = [deed for deed in DEEDS if deed.shown.pattern and deed.said.search(main)]
        self._has_condition = bool(condition)

    def score(self, unit: CodeUnit) -> float:
        own, guards = words_of(unit.text), words_of(*(guard.text for guard in unit.told))
        text, told = squeeze(unit.text), squeeze(" ".join(guard.text for guard in unit.told))
        score = _KINDS.get(unit.kind, 0.0) + sum(
            _NAME_WEIGHT * (name in text) + _GUARD_WEIGHT * (name in told) for name in self._names
        )
        if self._amounts:
            numbers = evidence_amounts(unit.text)
            score += _AMOUNT_WEIGHT * sum(value in numbers for value in self._amounts) / len(self._amounts)
        score += _DEED_WEIGHT * sum(deed.shown.search(unit.text) is not None for deed in self._deeds)
        score += _held(self._forms, own)
        if self._has_condition or unit.told:
            score += _GUARD_WEIGHT * _held(self._forms, guards)
        return score + _ASKED_WEIGHT * (_held(self._asked, own) + _held(self._asked, guards))


def _held(forms: Sequence[Form], words: CodeWords) -> int:
    return sum(map(words.holds, forms))


def _block(units: Sequence[CodeUnit], around: Sequence[CodeUnit]) -> str:
    """The lines of the statements, each under the line of its condition, with their common indentation taken away;
    "…" where lines between them are left out."""
    lines: list[str] = []
    before: CodeUnit | None = None
    for unit in units:
        opener = [line for line in unit.opener if line not in unit.written]
        above = _above(unit, around)
        if opener and above and above.written != unit.opener:
            opener.append(" " * indent_of(unit.written[0]) + "…")
        part = opener + list(unit.written)
        if lines and part[0] not in lines and before is not above:
            lines.append(" " * indent_of(part[0]) + "…")
        lines += [line for line in part if line not in lines]
        before = unit
    lines = [line.expandtabs(4).rstrip() for line in lines if line.strip()][:_MOST_LINES]
    least = min((indent_of(line) for line in lines), default=0)
    return "\n".join(line[least:][:LONGEST_LINE_CHARS].replace("```", "'''") for line in lines)


def _above(unit: CodeUnit, units: Sequence[CodeUnit]) -> CodeUnit | None:
    return next((one for one in units if (one.number, one.index) == (unit.number, unit.index - 1)), None)
