"""The evidence's own words in place of a sentence: the clause or the row that speaks of the same thing."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from bot.anchor_units import Unit, without_mark
from bot.claims import claims_of, squeeze, without_amounts
from bot.evidence_text import escape_text
from bot.orders import withhold_orders
from bot.sanitising import sanitised
from bot.types import Language
from bot.word_forms import Form, Vocabulary, forms_of, unheld
from bot.wording import word

LONGEST_QUOTE_CHARS = 420
_LEAST_SCORE = 1.5  # a word and a half of the sentence, an amount counting as much
_MOST_QUOTES = 2
_LEAST_RULE_WORDS, _MOST_UNTOLD = 3, 0.3
_QUESTION_WEIGHT = 0.5
_NAME_WEIGHT = 1.5
_AMOUNT_WEIGHT, _ROW_AMOUNT_WEIGHT = 1.5, 0.4  # in a table it may be just the amount that is of another row
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Quote:
    """What stands in the evidence, with its markers, and the pieces that it is from."""

    text: str
    cited: tuple[int, ...]


def quote_for(
    clauses: Sequence[str],
    units: Sequence[Unit],
    *,
    question: str,
    language: Language,
    addresses: Container[str],
    superseded: dict[int, str],
) -> Quote | None:
    """What stands in the evidence instead of these clauses; None when nothing there speaks of the same thing.
    `superseded` names the pieces that are an older wording, with the day until which it held."""
    chosen: list[Unit] = []
    for clause in clauses:
        best = _nearest(clause, units, question)
        if best is not None and all(best.sentence != other.sentence for other in chosen):
            chosen += [best, *_note_below(clause, best, units)]
    shown: list[str] = []
    for unit in chosen[:_MOST_QUOTES]:
        text = " ".join(part for part in (unit.sentence, unit.proviso) if part)
        until = superseded.get(unit.number)
        name = word("source_says_old", language, until=until) if until else word("source_says", language)
        shown.append(f"{name} “{_as_text(text, addresses)}” [{unit.number}]")
    if not chosen:
        return None
    return Quote(" ".join(shown), tuple(dict.fromkeys(unit.number for unit in chosen[:_MOST_QUOTES])))


def left_out_provisos(
    text: str, units: Sequence[Unit], *, language: Language, addresses: Container[str]
) -> Quote | None:
    """The provisos ("다만, ...") of rules that an answer tells without them; None when none is left out."""
    told = Vocabulary([text])
    shown: list[str] = []
    cited: list[int] = []
    for unit in units:
        if not unit.proviso or withhold_orders(unit.proviso) != unit.proviso or unit.proviso in text:
            continue
        rule, proviso = unit.own.forms, forms_of(unit.proviso)
        if len(rule) < _LEAST_RULE_WORDS or len(unheld(rule, told)) > _MOST_UNTOLD * len(rule):
            continue  # the answer is not about this rule
        own = [form for form in proviso if not unit.own.holds(form)]
        quote = f"{word('proviso', language)} “{_as_text(unit.proviso, addresses)}” [{unit.number}]"
        if own and len(unheld(own, told)) * 2 > len(own) and quote not in shown:
            shown.append(quote)
            cited.append(unit.number)
    return Quote(" ".join(shown), tuple(dict.fromkeys(cited))) if shown else None


def _nearest(clause: str, units: Sequence[Unit], question: str) -> Unit | None:
    """The stretch that holds most of the clause; one that also speaks of the question comes before others."""
    claims = claims_of(clause)
    forms = forms_of(without_amounts(claims))
    asked = [form for form in forms_of(question) if form not in forms]
    asked_amounts = claims_of(question).quantities
    best, highest = None, 0.0
    for unit in units:
        held = _held(forms, unit)
        amounts = sum(unit.holds_amount(quantity) for quantity in claims.quantities)
        score = held + (_ROW_AMOUNT_WEIGHT if unit.is_row else _AMOUNT_WEIGHT) * amounts
        score += _NAME_WEIGHT * sum(squeeze(name) in squeeze(unit.sentence) for name in claims.names)
        if not unit.sentence or score < _LEAST_SCORE or withhold_orders(unit.sentence) != unit.sentence:
            continue
        score += _QUESTION_WEIGHT * (_held(asked, unit) + sum(map(unit.holds_amount, asked_amounts)))
        if score > highest:
            best, highest = unit, score
    return best


def _note_below(clause: str, row: Unit, units: Sequence[Unit]) -> list[Unit]:
    """The sentence beside a table that has a word of the clause which the row lacks: "가지역은 도쿄를 말한다"."""
    if not row.is_row:
        return []
    words = [form for form in forms_of(clause) if len(form.stem) > 1 and not row.holds(form)]
    notes = [unit for unit in units if unit.number == row.number and not unit.is_row]
    return [unit for unit in notes if any(unit.own.holds(form) for form in words)][:1]


def _held(forms: Sequence[Form], unit: Unit) -> float:
    own = len(forms) - len(unheld(forms, unit.own))
    either = sum(unit.holds(form) or unit.holds_translation(form) for form in forms)
    return own + 0.5 * max(0, either - own)


def _as_text(sentence: str, addresses: Container[str]) -> str:
    """The sentence on one line, without what could call somebody or lead elsewhere; very long ones are cut."""
    text = _SPACES.sub(" ", sanitised(without_mark(sentence), addresses)).strip()
    if len(text) > LONGEST_QUOTE_CHARS:
        text = text[:LONGEST_QUOTE_CHARS].rsplit(" ", 1)[0] + " …"
    return escape_text(text)
