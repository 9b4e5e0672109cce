"""Whether every word of a sentence stands in one clause or one row of the evidence that it names, meaning the same.

The other checks look for what is wrong; this one asks what is certain. A clause of a sentence is anchored when one
stretch of the evidence holds all of its words and amounts, affirms or denies, allows or demands as it does, and has no
limit ("only", "unless", "with the approval of") that the sentence leaves out. What is not anchored need not be
wrong, but nobody can tell: the reader is shown the evidence's own words in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.anchor_units import RowKey, Unit, split_parts
from bot.claims import Claims, claims_of, squeeze, without_amounts
from bot.content_words import is_korean
from bot.quantities import Quantity
from bot.rule_words import Rule, rule_of
from bot.translated_words import translations_of
from bot.word_forms import Form, Vocabulary, forms_of, unheld

_KINDS = """
    기간 금액 비용 횟수 한도 일수 시간 시각 날짜 기한 비율 가격 요금 인원 개수 마감 마감일 시한 상한
    하한 액수 값 길이 주기 간격 기준 대상 조건 결과 방법 현재 지금 총액 합계 순서 절차 이유 종류
    수준
"""
_KINDS_OF_AMOUNT = frozenset(_KINDS.split())
_LATIN_KINDS = frozenset(["amoun", "durat", "limit", "deadl", "perio", "maxim", "minim", "curre", "total", "numbe"])
_OPENING = re.compile(
    r"^\W*(?:네|예|아니요|아니오|아뇨|yes|no|correct|맞습니다|그렇습니다|안\s?됩니다|가능합니다|불가능합니다)\s*[,.]\s*",
    re.IGNORECASE,
)
_BY_SOURCE = re.compile(
    r"[가-힣A-Za-z·\s]{0,24}(?:규정|지침|기준|규칙|안내|정책|별표|조항|항|조|문서|근거)?(?:에|을|를|에서는?)?\s?"
    r"(?:따르면|따라서?|의하면|의하여|의거하여|근거하여)\s*,?\s*|\baccording to [^,]{2,40},\s*",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(
    r"[가-힣](?:한|된|린|난|친|은|운|간)\s?(?:뒤|후|다음)(?![가-힣]{2})|먼저|\bthen\b|\bfirst\b|\bbefore\b|\bafter\b",
    re.IGNORECASE,
)
_VERBS_OF_ROWS = frozenset(
    [
        "이용",
        "사용",
        "받",
        "지급",
        "지원",
        "적용",
        "부과",
        "주",
        "내",
        "쓰",
        "가",
        "해당",
        "부담",
        "청구",
        "지원받",
        "결재",
        "탑승",
        "타",
        "들",
        "붙",
        "되",
    ]
)
_TAKEN_OUT = re.compile(
    r"([가-힣]{2,})(?:이|가|을|를)\s(?:아닌|제외한|뺀)|"
    r"\b(?:other than|except(?: for)?|excluding)\s(?:the\s|an?\s)?([a-z-]{3,})",
    re.IGNORECASE,
)
_ADNOMINAL = re.compile(
    r"([가-힣]{1,8}?)(?:한|된)\s(날|자|사람|직원|달|해)(?=(?:부터|까지|에게|에|은|는|이|로부터|의|을|만)?(?:[\s,.]|$))"
)
_RULED_OUT = re.compile(r"\d[\d,.]*\s?[가-힣%]{0,4}?(?:이|가)?\s?아니라\s?")
_COMPUTES = re.compile(r"\d\D{0,6}\s?[=＝]\s?\d|\d\D{0,4}\s?[×+]\s?\d")
_PER = re.compile(r"\s?(?:에\s|에는|당|마다|최대|\d)")
_PERIODS = {
    "년": re.compile(r"연간|매년|해마다|연\s|년|annual|year", re.IGNORECASE),
    "개월": re.compile(r"매월|매달|월|month", re.IGNORECASE),
    "주": re.compile(r"매주|주간|주당|주\s|week", re.IGNORECASE),
    "일": re.compile(r"매일|하루|일일|1일|일\s|daily|day", re.IGNORECASE),
}
_ENDS_PHRASE = re.compile(r"(?:면|에|고|며|로|서|여|어|때|경우|[까부]지|부터)$")
_ITEM_WORDS = 5
_LEAST_KNOWN, _LEAST_KNOWN_BESIDE_AMOUNTS = 0.6, 0.3  # share of words that can be translated
_VERB_ENDS = re.compile(r"(?:다|해요|어요|아요|돼요|음|함|됨|임|까|며|지만)[.!?]?$|[a-z]", re.IGNORECASE)
_IN_LIST = "만 제외 승인 원칙 예정 일부"  # every limit: the lead of the list tells it
_RECEIVES = re.compile(r"받[가-힣]{0,6}\s?수|받[가-힣]{1,5}[.\s]*$")


@dataclass(frozen=True, slots=True)
class Unanchored:
    """A clause of a sentence that no stretch of the evidence is known to say, and why."""

    clause: str
    reason: str


def unanchored(spoken: str, units: Sequence[Unit], *, question: str, context: str = "") -> list[Unanchored]:
    """The clauses of a sentence that nothing in the evidence is certain to say; empty when all of it stands there."""
    spoken = _OPENING.sub("", spoken.strip())
    carried: tuple[Form, ...] = ()
    found: list[Unanchored] = []
    candidates = list(units)
    heading = forms_of(context)
    for clause in split_parts(spoken):
        claim = _Claim.of(_without_source(clause, candidates), carried, candidates)
        if claim.is_empty or _COMPUTES.search(clause):
            continue  # the operands and the result of a computation have been checked
        about = _About.of(f"{question}\n{context}")
        keys = [unit.key for unit in candidates if unit.key is not None]
        reasons = [
            _reason(claim, unit, spoken, question) or _row_reason(claim, unit, about, keys) for unit in candidates
        ]
        if None not in reasons:
            nearest = max((r for r in reasons if r is not None), key=lambda r: r.nearness, default=None)
            found.append(Unanchored(clause, nearest.text if nearest else "it is in another language than the evidence"))
        carried = claim.subject or carried or heading
    return found


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why a stretch of evidence does not say a clause, and how near it comes: higher is nearer."""

    text: str
    nearness: float


@dataclass(frozen=True, slots=True)
class _Claim:
    """One clause of a sentence."""

    text: str
    forms: tuple[Form, ...]
    carried: tuple[Form, ...]  # what an earlier clause of the sentence is about, for one that does not say it
    claims: Claims
    amounts: tuple[Quantity, ...]  # those that stand in the evidence at all: others are of the question, or computed
    rule: Rule

    @classmethod
    def of(cls, clause: str, carried: tuple[Form, ...], units: Sequence[Unit]) -> _Claim:
        claims = claims_of(_RULED_OUT.sub("", clause))
        forms = forms_of(without_amounts(claims))
        own = [form for form in forms if not _is_kind(form)]
        subject = any(form.role in ("topic", "agent") for form in own)
        amounts = tuple(q for q in claims.quantities if any(q.equals(o) for unit in units for o in unit.quantities))
        return cls(claims.spoken, forms, () if subject else carried, claims, amounts, rule_of(claims.spoken))

    @property
    def is_empty(self) -> bool:
        return not self.forms and self.claims.is_empty

    @property
    def is_item(self) -> bool:
        """Whether it is a name in a list, which says nothing of when and for whom."""
        return len(self.forms) <= _ITEM_WORDS and not _VERB_ENDS.search(self.text.rstrip())

    @property
    def subject(self) -> tuple[Form, ...]:
        """What the clause is about: the last word that is marked as such, with the words in front that belong to it."""
        places = [n for n, form in enumerate(self.forms) if form.role in ("topic", "agent") and not _is_kind(form)]
        if not places:
            return ()
        start = places[-1]
        while (
            start and self.forms[start - 1].role in ("", "of") and not _ENDS_PHRASE.search(self.forms[start - 1].word)
        ):
            start -= 1
        return self.forms[start : places[-1] + 1]


@dataclass(frozen=True, slots=True)
class _About:
    """What the question and the lines above ask for."""

    forms: tuple[Form, ...]
    quantities: tuple[Quantity, ...]

    @classmethod
    def of(cls, text: str) -> _About:
        claims = claims_of(text)
        return cls(forms_of(without_amounts(claims)), claims.quantities)


def _row_reason(claim: _Claim, unit: Unit, about: _About, keys: Sequence[RowKey]) -> _Reason | None:
    """Why a row does not say a clause that does not name it itself: another row is asked for."""
    if unit.key is None or unit.key.names(claim.forms, claim.claims.quantities):
        return None
    forms = [form for form in about.forms if any(key.words.holds(form) for key in keys)]
    if any(not unit.key.words.holds(form) for form in forms):
        return _Reason("it is of another row", 0)
    amounts = [q for q in about.quantities if any(q.equals(o) for key in keys for o in key.quantities)]
    if any(not any(q.equals(o) and not o.contradicts_bound(q) for o in unit.key.quantities) for q in amounts):
        return _Reason("it is of another row", 0)
    return None


def _is_kind(form: Form) -> bool:
    return not (_KINDS_OF_AMOUNT if form.is_korean else _LATIN_KINDS).isdisjoint(form.stems)


def _reason(claim: _Claim, unit: Unit, spoken: str, question: str) -> _Reason | None:
    """Why a stretch of the evidence does not say what the clause says; None when it does."""
    if unit.is_korean != is_korean(claim.text):
        return _reason_across(claim, unit, spoken)
    has_amount = bool(claim.claims.quantities or claim.claims.dates or claim.claims.times)
    wanted = [form for form in claim.forms if not (has_amount and _is_kind(form))]
    if unit.is_row:
        wanted = [form for form in wanted if _VERBS_OF_ROWS.isdisjoint(form.stems)]
    missing = unheld([*wanted, *claim.carried], unit.own, unit.shared)
    if unit.is_row:
        missing = [form for form in missing if not any(unit.shared.holds_part(stem) for stem in form.stems)]
    if missing:
        return _Reason(f"{missing[0].word} does not stand there", -len(missing))
    if not any(unit.own.holds(form) for form in wanted) and not has_amount and wanted:
        return _Reason("none of its words stands there", -len(wanted))
    if figure := _figure_fault(claim, unit):
        return _Reason(figure, 0)
    if unit.is_row:
        return None
    fault = (
        claim.rule.differs_from(
            unit.rule, whole=_IN_LIST if claim.is_item else spoken, receives=_RECEIVES.search(claim.text) is not None
        )
        or _condition_fault(claim, unit, question)
        or _roles_fault(claim, unit)
        or _order_fault(claim, unit)
        or _adnominal_fault(claim, unit)
        or _denied_noun_fault(claim, unit)
    )
    return _Reason(fault, 1) if fault else None


def _reason_across(claim: _Claim, unit: Unit, spoken: str) -> _Reason | None:
    """The same where evidence and claim are in two languages: the words that can be translated must stand there, and
    where there is neither amount nor name, most of the words must be such."""
    own_language = [form for form in claim.forms if form.is_korean == unit.is_korean]  # "(휴가규정)", "Redis"
    known = [form for form in claim.forms if form in own_language or any(map(translations_of, form.stems))]
    strange = [form for form in claim.forms if form not in known and _is_proper_noun(form, claim.text)]
    if strange:
        return _Reason(f"{strange[0].word} may be named otherwise there", -len(strange))
    missing = [form for form in known if not unit.holds_translation(form) and not unit.holds(form)]
    if missing:
        return _Reason(f"{missing[0].word} does not stand there", -len(missing))
    if figure := _figure_fault(claim, unit):
        return _Reason(figure, 0)
    least = _LEAST_KNOWN if claim.claims.is_empty else _LEAST_KNOWN_BESIDE_AMOUNTS
    if len(known) < least * len(claim.forms):
        return _Reason("it is in another language than the evidence", 0)
    if unit.is_row:
        names_row = unit.key is None or any(_stands_across(form, unit.key.words) for form in claim.forms)
        return None if names_row else _Reason("it does not name the row", 0)
    fault = claim.rule.differs_across(unit.rule, whole=spoken)
    return _Reason(fault, 1) if fault else None


def _stands_across(form: Form, words: Vocabulary) -> bool:
    """Whether a word stands there, in this language or in the other one."""
    return words.holds(form) or any(words.holds_part(other) for stem in form.stems for other in translations_of(stem))


def _is_proper_noun(form: Form, text: str) -> bool:
    """Whether an English word is a name: written large though no sentence begins with it."""
    start = form.place
    return (
        not form.is_korean and start > 0 and text[start].isupper() and text[:start].rstrip()[-1:] not in ("", ".", ":")
    )


def _figure_fault(claim: _Claim, unit: Unit) -> str | None:
    """Which amount, date, time or name of the claim does not stand in the stretch, in whatever language they are."""
    if amount := next((q for q in claim.amounts if not unit.holds_amount(q) and not _is_period(q, claim, unit)), None):
        return f"{amount.value:f}{amount.unit or ''} does not stand there"
    if any(not any(day.is_part_of(other) for other in unit.dates) for day in claim.claims.dates):
        return "its date does not stand there"
    return None if _holds_times_and_names(claim, unit) else "its time or name does not stand there"


def _holds_times_and_names(claim: _Claim, unit: Unit) -> bool:
    """Whether the times of day, versions, paths and names of the claim stand in the stretch itself."""
    if any(not any(time.equals(other) for other in unit.times) for time in claim.claims.times):
        return False
    held = squeeze(f"{unit.sentence} {unit.text}")
    return all(squeeze(name) in held for name in claim.claims.names)


def _is_period(quantity: Quantity, claim: _Claim, unit: Unit) -> bool:
    """Whether it only says per which time: "1년에" where the evidence says "연간"."""
    words = _PERIODS.get(quantity.unit or "")
    if quantity.value != 1 or words is None or not _PER.match(claim.claims.text, quantity.end):
        return False
    return words.search(unit.sentence) is not None


def _condition_fault(claim: _Claim, unit: Unit, question: str) -> str | None:
    """What is wrong when the evidence says it under a condition of which neither claim nor question has a word."""
    if unit.condition is None:
        return None
    asked = Vocabulary([claim.text, question, " ".join(form.word for form in claim.carried)])
    if unit.condition.forms and len(unheld(unit.condition.forms, asked)) == len(unit.condition.forms):
        return "it leaves out a condition"
    return None


def _roles_fault(claim: _Claim, unit: Unit) -> str | None:
    """What is wrong when the one who does it there is the one to whom it is done here, or the other way round."""
    for form in claim.forms:
        theirs = unit.own.roles(form)
        doer = {"agent", "topic"}
        if form.role == "to" and theirs and theirs <= doer:
            return f"{form.word} has another part there"
        if form.role in doer and theirs == {"to"} and not _RECEIVES.search(claim.text):
            return f"{form.word} has another part there"
        if (
            form.role in doer
            and theirs == {"of"}
            and any(other.role == "of" and unit.own.roles(other) & doer for other in claim.forms)
        ):
            return f"{form.word} has another part there"  # "A asks B for his opinion" and "B asks A for his"
    return None


def _order_fault(claim: _Claim, unit: Unit) -> str | None:
    """What is wrong when the words come in another order where the order says who does what, or what comes first."""
    sequence = _SEQUENCE.search(claim.text) is not None
    if is_korean(claim.text) and not sequence:
        return None
    places = [place for form in claim.forms if (place := unit.place_of(form)) is not None]
    pairs = list(pairwise(places))
    turned = sum(later < earlier for earlier, later in pairs)
    if turned * 2 > len(pairs) or (turned and sequence):
        return "the words stand there in another order"
    return None


def _adnominal_fault(claim: _Claim, unit: Unit) -> str | None:
    """What is wrong when "동의한 날" is said of what the evidence counts from another day."""
    for match in _ADNOMINAL.finditer(claim.text):
        near = re.compile(rf"{re.escape(match[1])}(?:한|된|하는|되는|했던|하였던)\s?{match[2]}")
        if match[2] in unit.text and not near.search(unit.text):
            return f"{match[0]} does not stand there"
    return None


def _denied_noun_fault(claim: _Claim, unit: Unit) -> str | None:
    """What is wrong when the clause takes for what it is what the evidence takes out: "인사위원장이 아닌 이사"."""
    taken_out = {match[1] or match[2] for match in _TAKEN_OUT.finditer(unit.text)}
    told_so = {match[1] or match[2] for match in _TAKEN_OUT.finditer(claim.text)}
    for noun in taken_out - told_so:
        if noun.lower() in claim.text.lower() and not claim.rule.denials:
            return f"{noun} is taken out there"
    return None


def _without_source(clause: str, units: Sequence[Unit]) -> str:
    """The clause without "according to ..." in front; whether the source is named rightly is checked elsewhere."""
    match = _BY_SOURCE.match(clause)
    return clause[match.end() :] if match and units else clause
