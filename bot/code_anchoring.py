"""Whether a clause of an answer is certain to say what a statement of the code, or its comment, says.

Code tells in its own words what it does, so a clause is anchored when one statement shows the deed that it tells, holds
all of its names, amounts and words (or what these are called in code), and runs under just the condition that it
tells. A value is anchored when it is set for what the clause names and for nothing else that it may mean. All else may
be right, but nobody can tell: the lines themselves are shown instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.anchor_units import split_parts
from bot.anchoring import Unanchored
from bot.claims import Claims, claims_of, evidence_amounts, squeeze
from bot.code_conditions import conditions_fault, split_condition
from bot.code_terms import DEEDS, Deed, called_in_code, telling_forms, words_of
from bot.code_units import CodeUnit
from bot.code_values import Value, value_fault, values_of
from bot.content_words import is_korean
from bot.rule_words import rule_of
from bot.sentences import MARKERS
from bot.word_forms import Form

# what code does not say of itself, or says in a way that is not read here
_BEYOND = re.compile(
    r"수\s?(?:도\s|가\s|는\s)?(?:있|없)|가능|허용|함께|또한|(?<=[가-힣])(?<![시정속빈온])도\s|마다|별로|당\s|항상|언제나|절대|반드시|모든\s|모두|전부|각각|"
    r"(?<=[가-힣])만\s|뿐|대신|자동|동시|비동기|병렬|순서|"
    r"\b(?:may|can|could|cannot|also|too|per|always|never|only|every|each|all|any|both|instead|automatic\w*|async\w*|parallel|"
    r"concurrent\w*|within|inside|unless|until|still|even|should|must)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"지\s?(?:않|아니|못)|없|(?<![가-힣])안\s|아닙|아니(?!요|오)|\bnot\b|n't\b|\bno\b|\bnever\b|\bnothing\b|\bwithout\b",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(
    r"(?<=[가-힣])\s?(?:뒤|후|다음)(?:에)?[,\s]\s*|\s(?:and then|then)\s|,\s(?:then)\s", re.IGNORECASE
)
_ORDER = re.compile(r"전에|먼저|이후|나중|\bbefore\b|\bafter\b|\bfirst\b|\blater\b|\bfinally\b|\bonce\b", re.IGNORECASE)
_PLACES = re.compile(
    r"(?:있습니다|있어요|정의|위치|입니다|예요|이에요|구현)|\b(?:is|are|defined|located|lives?|implemented|found|stands?)\b",
    re.IGNORECASE,
)
_CALLS = re.compile(r"호출|부르|부릅|불러|\bcall(?:s|ed)?\b|\binvok", re.IGNORECASE)
_CALLED_BY = re.compile(r"\bcalled by\b|\bcaller\b|호출자|호출부", re.IGNORECASE)
_LITERALS = frozenset(["true", "false", "null", "none", "nil", "undefined"])
_OTHERWISE = re.compile(r"^(?:아니면|그렇지\s?않으면|아닐\s?(?:때|경우)(?:에는)?|otherwise|else)[,\s]+", re.IGNORECASE)
_AND_VERB = re.compile(
    r",?\s+and\s+(?=(?:returns?|throws?|raises?|sends?|logs?|increments?|deletes?|saves?|publishes|updates?|sets?|"
    r"closes|skips?|waits?|retries|removes?|stores?)\b)|,\s+(?=(?:returns?|throws?|raises?|sends?|logs?|increments?)\b)",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"^\W*(?:네|예|아니요|아니오|yes|no)\s*[,.]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CodePiece:
    """The code that a sentence names, prepared for asking whether it says a clause."""

    units: tuple[CodeUnit, ...]
    values: tuple[Value, ...]
    titles: str  # name, symbol and path

    @classmethod
    def of(cls, units: Sequence[CodeUnit], text: str) -> CodePiece:
        called_in_code("")  # the word lists are read here, beside the event loop
        head = [line for number, line in enumerate(text.splitlines()[:2]) if number == 0 or line.startswith("(")]
        values = tuple(values_of(units))
        head += [value.literal for value in values if value.name == "name"][:1]  # of what a manifest is about
        return cls(tuple(units), values, "\n".join(head))

    @property
    def headers(self) -> str:
        return "\n".join([self.titles, *(unit.text for unit in self.units if unit.kind == "header")])


@dataclass(frozen=True, slots=True)
class _Before:
    """What the clauses in front of one have said that it may go on from."""

    condition: str = ""
    names: tuple[str, ...] = ()


def code_unanchored(
    spoken: str, clauses: Sequence[Unanchored], pieces: Sequence[CodePiece], *, question: str, context: str = ""
) -> list[Unanchored]:
    """Those of the clauses of a sentence that none of the pieces of code is certain to say, either. `context` is what
    the sentence stands under; its condition goes on; so does that of the question, unless the clause holds anyhow."""
    left = {squeeze(one.clause): one for one in clauses}
    titles = [piece.titles for piece in pieces]
    found: list[Unanchored] = []
    before = _Before(split_condition(MARKERS.sub(" ", context).strip())[0])
    asked = split_condition(f"{question.rstrip('?？ ')} ?")[0]
    for clause in split_parts(_ANSWERS.sub("", spoken)):
        one = left.pop(squeeze(without_names(clause, titles)), None)
        condition, main = split_condition(clause)
        if _OTHERWISE.match(clause):
            condition, main = f"{before.condition} 않으면".strip(), _OTHERWISE.sub("", clause)
        condition = condition or before.condition
        if one is not None:
            faults = [_clause_fault(main, condition, before, piece, asked) for piece in pieces]
            if not faults:
                found.append(one)
            elif None not in faults:
                found.append(Unanchored(clause, faults[0] or ""))
        subjects = tuple(name for name in claims_of(main).names if _is_subject_name(name, _telling(main)))
        before = _Before(condition, subjects or before.names)
    return [*found, *left.values()]


def without_names(spoken: str, titles: Sequence[str]) -> str:
    """A sentence without the names of the code that it is about."""
    for name in claims_of(spoken).names:
        if any(_has_name(name, title) for title in titles):
            spoken = spoken.replace(f"`{name}`", " ").replace(name, " ")
    return spoken


def _clause_fault(main: str, condition: str, before: _Before, piece: CodePiece, asked: str) -> str | None:
    """Why it is not certain that a piece of code says a clause; None when it is."""
    whole = f"{condition}, {main}" if condition else main
    if any(_comment_says(whole, unit, piece) for unit in piece.units if unit.kind == "comment"):
        return None
    last = -1
    for part in _deeds_apart(main):
        found = _part_places(part, condition, before, piece, asked)
        if isinstance(found, str):
            return found
        later = [place for place in found if place > last]
        if not later:
            return "the code does it in another order"
        last = min(later)
    return None


def _deeds_apart(main: str) -> list[str]:
    """A clause at the words that say that one thing comes after another, and in English at the "and" of two verbs."""
    parts = [part.strip() for part in _SEQUENCE.split(main) if part and part.strip()]
    if is_korean(main):
        return parts
    return [one.strip() for part in parts for one in _AND_VERB.split(part) if one.strip()]


def _telling(text: str) -> _Telling:
    return _Telling(text, claims_of(text), tuple(deed for deed in DEEDS if deed.said.search(text)))


def _part_places(part: str, condition: str, before: _Before, piece: CodePiece, asked: str) -> list[int] | str:
    """The units that say a part of a clause; else why none does."""
    telling = _telling(part)
    claims, everywhere = telling.claims, [unit.index for unit in piece.units]
    if not condition and _is_place(claims, piece):
        return everywhere
    if beyond := _BEYOND.search(telling.without_deeds):
        return f'"{beyond[0].strip()}" is not for the code to say'
    if _ORDER.search(part):
        return "an order cannot be told for certain"
    if _CALLS.search(part):
        return _call_places(claims, piece, has_condition=bool(condition)) or "the code does not show that call"
    if not telling.deeds:
        if condition:
            return "it does not tell what is done"
        return (
            value_fault(claims, telling.words, piece.values, f"{piece.titles}\n{' '.join(before.names)}") or everywhere
        )
    if _DENIES.search(telling.without_deeds):
        return "it denies, where code does things"
    faults = [(unit.index, _statement_fault(telling, condition, before, unit, piece, asked)) for unit in piece.units]
    found = [index for index, fault in faults if fault is None]
    return found or max((fault for _, fault in faults if fault), key=lambda fault: fault.nearness).text


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a statement does not say what a clause says, and how near it comes."""

    text: str
    nearness: int


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a part of a clause says that is done."""

    text: str
    claims: Claims
    deeds: tuple[Deed, ...]

    @property
    def without_deeds(self) -> str:
        text = self.claims.spoken
        for deed in self.deeds:
            text = deed.said.sub(lambda match: " " * len(match[0]), text)
        return text

    @property
    def words(self) -> tuple[Form, ...]:
        """The words that must stand in the code: all but the deed itself and talk about code."""
        spans = [match.span() for deed in self.deeds for match in deed.said.finditer(self.claims.spoken)]
        return tuple(
            form
            for form in telling_forms(self.claims)
            if not any(start < form.place + len(form.word) and form.place < end for start, end in spans)
        )

    @property
    def verb_place(self) -> int:
        """Where the deed is told: in English, what stands in front of it does it."""
        places = [match.start() for deed in self.deeds if (match := deed.said.search(self.claims.spoken))]
        return min(places, default=0)


def _statement_fault(
    telling: _Telling, condition: str, before: _Before, unit: CodeUnit, piece: CodePiece, asked: str
) -> _Fault | None:
    """Why a statement does not say what the clause says; None when it does."""
    if unit.kind in ("comment", "caller", "header"):
        return _Fault("it does nothing", 0)
    if missing := next((deed for deed in telling.deeds if not deed.shown.search(unit.text)), None):
        return _Fault(f"{missing.name} does not show in the code", 1)
    around = f"{unit.header}\n{piece.titles}"
    scope = words_of(unit.header, unit.keys, piece.titles)
    own = words_of(unit.text, *(constant.name for constant in _constants_in(unit, piece)))
    held = 0
    for name in telling.claims.names:
        if _has_name(name, unit.text):
            held += 1
        elif not _is_subject_name(name, telling) or not _has_name(name, around):
            return _Fault(f"{name} does not stand in that statement", 2)
    if (
        not telling.claims.names
        and before.names
        and not all(_has_name(name, f"{unit.text}\n{around}") for name in before.names)
    ):
        return _Fault("it is not about the same thing", 2)
    amounts = _amounts_of(unit, piece)
    for quantity in telling.claims.quantities:
        if quantity.value not in amounts:
            return _Fault("its amount does not stand in that statement", 2)
        held += 1
    loops = words_of(*(guard.text for guard in unit.guards if guard.kind == "loop"))
    for form in telling.words:
        if own.holds(form) or loops.holds(form):
            held += 1
        elif not (_is_subject(form, telling) and scope.holds(form)):
            return _Fault(f"{form.word} does not stand in that statement", 3)
    if not held:
        return _Fault("nothing of it stands in that statement", 3)
    fault = conditions_fault(condition, unit, asked=asked, scope=scope, names=around)
    fault = fault or _other_ways_fault(condition, unit, piece)
    return _Fault(fault, 4) if fault else None


def _other_ways_fault(condition: str, unit: CodeUnit, piece: CodePiece) -> str | None:
    """What is wrong when it is told without a condition though the code returns other things as well."""
    if condition or unit.told or unit.kind != "return":
        return None
    others = [other for other in piece.units if other.kind == "return" and other.header == unit.header]
    return "the code returns other things, too" if len({other.text for other in others}) > 1 else None


def _is_subject(form: Form, telling: _Telling) -> bool:
    if form.is_korean:
        return form.role in ("topic", "agent")
    return form.place < telling.verb_place and not is_korean(telling.text)


def _is_subject_name(name: str, telling: _Telling) -> bool:
    """Whether a name is that of what does it."""
    place = telling.claims.spoken.find(name)
    behind = telling.claims.spoken[place + len(name) :].lstrip("`()")
    if is_korean(telling.text):
        return re.match(r"(?:은|는|이|가|에서|에서는|의)(?![가-힣])", behind) is not None
    return place < telling.verb_place


def _amounts_of(unit: CodeUnit, piece: CodePiece) -> frozenset[Decimal]:
    """The amounts of a statement, and those of the constants that it names."""
    return evidence_amounts(unit.text).union(*(evidence_amounts(str(c.amount)) for c in _constants_in(unit, piece)))


def _constants_in(unit: CodeUnit, piece: CodePiece) -> Iterator[Value]:
    return (value for value in piece.values if value.is_constant and _has_name(value.name, unit.text))


def _has_name(name: str, text: str) -> bool:
    """Whether a name stands in a text as a whole."""
    wanted = name.strip().removesuffix("()")
    left = r"(?<![A-Za-z0-9_])" if wanted[:1].isalnum() or wanted[:1] == "_" else ""
    right = r"(?![A-Za-z0-9_])" if wanted[-1:].isalnum() or wanted[-1:] == "_" else ""
    if re.search(left + re.escape(wanted) + right, text):
        return True
    parts = [part for part in re.split(r"\.|::|#", wanted) if part]
    return (
        len(parts) > 1 and all(re.fullmatch(r"\w+", part) for part in parts) and all(_has_name(p, text) for p in parts)
    )


def _is_place(claims: Claims, piece: CodePiece) -> bool:
    """Whether it only says where something stands: its names have been found, and it says nothing else."""
    if not (claims.names or claims.lines) or not _PLACES.search(claims.spoken) or claims.quantities:
        return False
    if any(name.lower() in _LITERALS for name in claims.names) or _DENIES.search(claims.spoken):
        return False
    words = telling_forms(claims)
    held = words_of(piece.headers)
    return all(map(held.holds, words)) and all(_has_name(name, piece.headers) for name in claims.names)


def _call_places(claims: Claims, piece: CodePiece, *, has_condition: bool) -> list[int]:
    """The units that show the call that is told; none when the code does not show who calls whom."""
    words = [form for form in telling_forms(claims) if not _CALLS.search(form.word)]
    if not all(map(words_of(piece.titles, *(unit.text for unit in piece.units)).holds, words)):
        return []
    agents, called = _parts_of_call(claims)
    callers = [unit for unit in piece.units if unit.kind == "caller"]
    by_caller = [unit.index for unit in callers if agents and all(_has_name(agent, unit.text) for agent in agents)]
    if by_caller and not has_condition and all(_has_name(name, piece.headers) for name in called):
        return by_caller
    if not called or not all(_has_name(agent, piece.headers) for agent in agents) or has_condition or words:
        return []
    bare = [re.split(r"\.|::|#", name)[-1] for name in called]
    statements = [unit for unit in piece.units if unit.kind in ("statement", "return") and not unit.told]
    return [
        unit.index for unit in statements if all(re.search(rf"\b{re.escape(name)}!?\(", unit.text) for name in bare)
    ]


def _parts_of_call(claims: Claims) -> tuple[list[str], list[str]]:
    """The names of those who call, and of what is called; paths belong to the callers."""
    agents: list[str] = []
    called: list[str] = []
    by, verb = _CALLED_BY.search(claims.spoken), _CALLS.search(claims.spoken)
    for name in claims.names:
        place = claims.spoken.find(name)
        behind = claims.spoken[place + len(name) :].lstrip("`()")
        if is_korean(claims.spoken):
            passive = re.search(r"에서\s?(?:호출|불)", claims.spoken) is not None
            particle = re.match(r"(?:이|가|에서|의|입니다|예요)", behind) is not None
            is_agent = particle or (not passive and behind[:1] in ("은", "는"))
        else:
            is_agent = place > by.start() if by else verb is not None and place < verb.start()
        (agents if is_agent or "/" in name else called).append(name)
    return agents, called


def _comment_says(clause: str, unit: CodeUnit, piece: CodePiece) -> bool:
    """Whether a sentence of a comment says the clause, in the other language; in the same it is compared as prose."""
    if is_korean(clause) == is_korean(unit.text) or _BEYOND.search(clause):
        return False
    claims = claims_of(clause)
    words = telling_forms(claims)
    own, title = words_of(unit.text), words_of(unit.header)
    if len(words) + len(claims.names) < 2:
        return False
    if not all(
        own.holds(f) or _is_deed_of(f, unit.text) or (f.role in ("topic", "agent") and title.holds(f)) for f in words
    ):
        return False
    amounts = _amounts_of(unit, piece)
    if not all(quantity.value in amounts for quantity in claims.quantities):
        return False
    if not all(_has_name(name, f"{unit.text}\n{piece.headers}") for name in claims.names):
        return False
    ours, theirs = rule_of(clause), rule_of(unit.text)
    if ours.denials % 2 != theirs.denials % 2 or ours.differs_across(theirs, whole=clause):
        return False
    return bool(split_condition(clause)[0]) == bool(split_condition(unit.text)[0])


def _is_deed_of(form: Form, text: str) -> bool:
    """Whether the word is a deed that the comment tells in its language."""
    return any(deed.said.search(form.word) and deed.said.search(text) for deed in DEEDS)
