"""What a model wrote, checked against the evidence it was given: the code decides, not the prompt.

A sentence passes when it names given evidence and every number, date and identifier in it stands in the evidence it
names. Numbers of the question and list numbering are not claims. In a table the number must stand in the row and under
the header that the sentence speaks of. A computed value needs operands that pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.anchoring import Unanchored, unanchored
from bot.arithmetic import computed_values, is_multiplier, is_total
from bot.claims import Claims, claims_of, squeeze, without_amounts
from bot.clause_quotes import Quote, left_out_provisos, quote_for
from bot.clause_support import support_fault
from bot.code_anchoring import code_unanchored, without_names
from bot.code_quotes import LEAST_SCORE, code_quote
from bot.code_words import behaviour_fault
from bot.content_words import bag_of, content_words, held_share, is_korean
from bot.evidence_pieces import EvidencePiece, piece_of
from bot.evidence_pieces import NumberedEvidence as NumberedEvidence
from bot.leads import LEAST_SHARE, is_lead, is_verdict
from bot.polarity import contradicted
from bot.quantities import Quantity
from bot.row_binding import ABSENT, Surroundings
from bot.sanitising import sanitised
from bot.sentences import MARKERS, marked_numbers, split_numbers
from bot.sentences import SentenceReader as SentenceReader
from bot.sentences import split_sentences as split_sentences
from bot.types import Language

LEAK_CHARS = 28  # a stretch of the instructions that no answer repeats by chance
_CONFIRMS = re.compile(
    r"^\W*(?:네|예|맞|그렇|옳|yes\b|correct\b|right\b|that's (?:right|correct)|indeed\b|that is (?:right|correct))",
    re.IGNORECASE,
)
_STEP = re.compile(r"\s*\(?\d{1,2}[.)]\s")
_ASSERTED = re.compile(
    r"\s?(?:입니다|이다|이에요|예요|이며|이고|임(?![가-힣])|까지|씩|을\s(?:준|받|줍|부여|지급)|"
    r"를\s(?:준|받|줍|부여|지급)|로\s(?:정|한)|됩니다|이\s(?:주어|부여))"
)
_FOREIGN_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u0900-\u097f]")
_INSIDE_CODE = re.compile(r"`[^`]*`|\([^)]*\)|\"[^\"]*\"|「[^」]*」|'[^']*'")
_LATIN_WORD = re.compile(r"\b[A-Za-z]{2,}\b")
_SYSTEM_WORDS = re.compile(
    r"NO_ANSWER|<\s?/?\s?evidence|\bsystem prompt\b|시스템 프롬프트|</?s>|<\|[\w]+\|>|\[/?INST\]|"
    r"#{2,}\s?(?:system|instruction)",
    re.IGNORECASE,
)
_PERIODS = {
    "년": re.compile(r"연간|매년|해마다|연\s?\d|annual|yearly|per year|a year", re.IGNORECASE),
    "개월": re.compile(r"매월|매달|월\s?\d|월간|월\s|monthly|per month|a month", re.IGNORECASE),
    "주": re.compile(r"매주|주간|주당|주\s?\d|weekly|per week|a week", re.IGNORECASE),
    "일": re.compile(r"매일|하루|일일|일\s?최대|daily|per day|a day", re.IGNORECASE),
    "명": re.compile(r"인당|명당|per person|per head|a person|each", re.IGNORECASE),
}
_PREDICATE = re.compile(r"(?:니다|다|요|죠|음|함|됨)$")  # its form in the evidence is another one
_FEW_WORDS = 4
_OF_THE_PAST = re.compile(
    r"개정\s?전|이전|종전|예전|과거|당시|옛|전에는|까지는|었습니다|았습니다|였습니다|했습니다|\d{4}년|\b(?:former|previous|until|before|old|"
    r"earlier|was|were|used to|in (?:19|20)\d\d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A sentence after its check: what may be shown, the evidence it rests on, and why it was held back."""

    text: str  # "" when held back
    cited: tuple[int, ...]
    fault: str | None
    is_lead: bool = False  # a heading or an introduction: shown only before something that passes
    doubt: str | None = None  # why nobody can tell whether the evidence says it; only where there is no fault
    quote: Quote | None = None  # the evidence's own words about the same thing, where there is a doubt or a fault

    @property
    def as_quote(self) -> Checked | None:
        """The evidence's own words in place of the sentence; None where it has none about the same thing."""
        if self.quote is None:
            return None
        return replace(self, text=self.quote.text, cited=self.quote.cited, fault=None, doubt=None)


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong with a sentence, and whether it lies in how it is written: then there is nothing to quote."""

    reason: str
    is_of_manner: bool = False


class EvidenceIndex:
    """The evidence of one answer, prepared so that checking a sentence costs little."""

    def __init__(
        self,
        evidence: Sequence[NumberedEvidence],
        question: str,
        *,
        language: Language | None = None,
        instructions: str = "",
    ) -> None:
        self._pieces = {item.number: piece_of(item) for item in evidence}
        self._asked = claims_of(question)
        self._question = question
        self._squeezed_question = squeeze(question)
        self._question_words = bag_of(question)
        self._addresses = frozenset(a for piece in self._pieces.values() for a in piece.addresses)
        self._language = language
        held = "".join(piece.squeezed for piece in self._pieces.values()) + self._squeezed_question
        self._foreign_ok = frozenset(_FOREIGN_SCRIPT.findall(held))
        self._leaks = _shingles(squeeze(instructions)) - _shingles(held)
        self._computed: list[Quantity] = []

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(self._pieces)

    def check(self, sentence: str, *, context: str = "", inherited: Sequence[int] = ()) -> Checked:
        """The sentence as it may be shown. `context` is the heading or introduction that it stands under; `inherited`
        are markers of a later sentence of its paragraph, for one that has none of its own."""
        clean = sanitised(sentence, self._addresses)
        cited = tuple(dict.fromkeys(n for n in marked_numbers(clean) if n in self._pieces))
        text = self._without_unknown_markers(clean)
        if not cited and self._is_lead(MARKERS.sub(" ", text)):
            return Checked(text=text, cited=(), fault=None, is_lead=True)
        if not cited and inherited:
            cited = tuple(n for n in inherited if n in self._pieces)
            text = _with_markers(text, cited)
        bare = MARKERS.sub(lambda match: " " * len(match[0]), text)
        if is_verdict(bare):  # what follows says it; where nothing does, the evidence's own words about the question
            quote = self._quote([self._question], cited) if cited and bare.strip() else None
            return Checked(text=text if not text.strip() else "", cited=cited, fault=None, quote=quote)
        around = Surroundings(question=self._question, context=context)
        fault = self._fault(bare, cited, around)
        if fault is not None:
            quote = None if fault.is_of_manner else self._quote([bare], cited, context)
            return Checked(text="", cited=(), fault=fault.reason, quote=quote)
        doubts = self._doubts(bare, cited, around)
        if not doubts:
            return Checked(text=text, cited=cited, fault=None)
        clauses = [doubt.clause for doubt in doubts]
        quote = self._quote(clauses, cited, context) or self._quote([bare], cited, context, least=0.0)
        return Checked(text=text, cited=cited, fault=None, doubt=doubts[0].reason, quote=quote)

    def holding_code(self, block: str) -> int | None:
        """The number of the piece of code that holds every line of a fenced block; None when none does."""
        lines = [squeeze(line) for line in block.strip().splitlines()[1:-1]]
        lines = [line for line in lines if line and line not in ("...", "…")]
        for number, piece in self._pieces.items():
            if piece.is_code and lines and all(line in piece.squeezed for line in lines):
                return number
        return None

    def left_out_of(self, answer: str, cited: Sequence[int]) -> Quote | None:
        """The provisos of the rules that an answer tells without them."""
        return left_out_provisos(
            MARKERS.sub(" ", answer),
            [unit for number in cited if number in self._pieces for unit in self._pieces[number].units],
            language=self._language or ("ko" if is_korean(answer) else "en"),
            addresses=self._addresses,
        )

    def sanitise(self, text: str) -> str:
        """`text` without links, images, HTML and mentions that the evidence does not hold."""
        return sanitised(text, self._addresses)

    # --- what is wrong ------------------------------------------------------------------------

    def _fault(self, bare: str, cited: Sequence[int], around: Surroundings) -> _Fault | None:
        if fault := self._manner_fault(bare):
            return _Fault(fault, is_of_manner=True)
        if not cited:
            return _Fault("names no evidence", is_of_manner=True)
        claims = claims_of(bare)
        pieces = [self._pieces[number] for number in cited]
        confirms = _CONFIRMS.match(bare) is not None
        if any(piece.says(bare) for piece in pieces):  # a quotation is right
            return None
        absent = self._names_fault(claims, pieces) or self._places_fault(claims, pieces, confirms=confirms)
        if absent:
            return _Fault(absent)
        if fault := self._numbers_fault(claims, pieces, around, confirms=confirms):
            return _Fault(fault)
        if fault := self._words_fault(claims, pieces, around):
            return _Fault(fault)
        code = "\n".join(piece.evidence.text for piece in pieces if piece.is_code)
        if code and (fault := behaviour_fault(claims.spoken, "\n".join(piece.evidence.text for piece in pieces))):
            return _Fault(fault)
        return None

    def _doubts(self, bare: str, cited: Sequence[int], around: Surroundings) -> list[Unanchored]:
        """The clauses of which it is not certain that the evidence says them."""
        pieces = [self._pieces[number] for number in cited]
        if any(piece.says(bare) for piece in pieces):
            return []
        old = [piece.superseded for piece in pieces if piece.superseded]
        if len(old) == len(pieces) and not (_OF_THE_PAST.search(bare) or _OF_THE_PAST.search(around.question)):
            return [Unanchored(bare, f"the wording held only until {old[0]}")]
        code = [piece.code for piece in pieces if piece.code is not None]
        if code and _STEP.match(bare):
            return [Unanchored(bare.strip(), "the order of steps cannot be told for certain")]
        spoken = claims_of(bare).spoken
        units = [
            unit for piece in pieces for unit in piece.units if not piece.is_code or unit.is_korean == is_korean(bare)
        ]
        told = without_names(spoken, [piece.titles for piece in code])  # a comment does not name what it stands at
        open_clauses = unanchored(told, units, question=around.question, context=around.context)
        return (
            code_unanchored(spoken, open_clauses, code, question=around.question, context=around.context)
            if code
            else open_clauses
        )

    def _quote(
        self, clauses: Sequence[str], cited: Sequence[int], context: str = "", *, least: float = LEAST_SCORE
    ) -> Quote | None:
        """The evidence's own words nearest to the clauses; what was asked, and the lines above, decide between them."""
        pieces = [self._pieces[number] for number in cited]
        asked = f"{self._question}\n{context}"
        language = self._language or ("ko" if is_korean(clauses[0]) else "en")
        quote = quote_for(
            clauses,
            [unit for piece in pieces if not piece.is_code for unit in piece.units],
            question=asked,
            language=language,
            addresses=self._addresses,
            superseded={piece.evidence.number: piece.superseded for piece in pieces if piece.superseded},
        )
        code = [unit for piece in pieces if piece.code is not None for unit in piece.code.units]
        return quote or code_quote(clauses, code, question=asked, language=language, least=least)

    def _manner_fault(self, bare: str) -> str | None:
        if _SYSTEM_WORDS.search(bare) or (self._leaks and not self._leaks.isdisjoint(_shingles(squeeze(bare)))):
            return "repeats its instructions"
        foreign = set(_FOREIGN_SCRIPT.findall(bare)) - self._foreign_ok
        if foreign:
            return "is not in the language of the question"
        words = _INSIDE_CODE.sub(" ", bare)
        latin = len(_LATIN_WORD.findall(words))
        if self._language == "ko" and latin and not is_korean(words) and (latin >= 4 or claims_of(words).is_empty):
            return "is not in Korean"
        if self._language == "en" and len(re.findall(r"[가-힣]+", words)) > 2 * len(_LATIN_WORD.findall(words)) + 2:
            return "is not in English"
        return None

    def _names_fault(self, claims: Claims, pieces: Sequence[EvidencePiece]) -> str | None:
        for name in claims.names:
            if squeeze(name) in self._squeezed_question or any(piece.holds_name(name) for piece in pieces):
                continue
            return f"{name} does not stand in the evidence it names"
        for line in claims.lines:
            if line not in self._asked.lines and not any(piece.holds_line(line) for piece in pieces):
                return f"line {line} does not lie in the evidence it names"
        return None

    def _places_fault(self, claims: Claims, pieces: Sequence[EvidencePiece], *, confirms: bool) -> str | None:
        """What is wrong with numbered places, dates and times."""
        for label in claims.labels:
            asked = not confirms and any(label & other for other in self._asked.labels)
            if not asked and not any(piece.holds_label(label) for piece in pieces):
                return f"{min(label)} does not stand in the evidence it names"
        for day in claims.dates:
            asked = not confirms and any(day.is_part_of(other) for other in self._asked.dates)
            if not asked and not any(day.is_part_of(other) for piece in pieces for other in piece.claims.dates):
                return f"the date {day} does not stand in the evidence it names"
        for time in claims.times:
            asked = not confirms and any(time.equals(other) for other in self._asked.times)
            if not asked and not any(time.equals(other) for piece in pieces for other in piece.claims.times):
                return f"the time {time} does not stand in the evidence it names"
        return None

    def _numbers_fault(
        self, claims: Claims, pieces: Sequence[EvidencePiece], around: Surroundings, *, confirms: bool
    ) -> str | None:
        results = computed_values(claims.text, claims.quantities)
        supported: list[Quantity] = []
        open_faults: list[tuple[Quantity, str]] = []
        for quantity in claims.quantities:
            if quantity.start in results or is_multiplier(quantity, claims.text, results, self._asked.quantities):
                continue
            fault = self._number_fault(quantity, claims, pieces, around)
            if fault is None:
                supported.append(quantity)
            else:
                open_faults.append((quantity, fault))
        for quantity, fault in open_faults:
            if self._is_of_question(quantity, claims, confirms=confirms, alone=not supported):
                supported.append(quantity)
                continue
            if fault == ABSENT and _is_once_a_period(quantity, claims.text, pieces):
                continue
            if fault == ABSENT and is_total(claims.text, quantity, [*supported, *self._asked.quantities]):
                self._computed.append(replace(quantity, bound=None))
                continue
            if fault == ABSENT:
                return f"the number {quantity.value:,f}{quantity.unit or ''} does not stand in the evidence it names"
            return fault
        self._computed += [q for q in claims.quantities if q.start in results]
        return None

    def _number_fault(
        self, quantity: Quantity, claims: Claims, pieces: Sequence[EvidencePiece], around: Surroundings
    ) -> str | None:
        faults = [piece.number_fault(quantity, claims, around) for piece in pieces]
        if None in faults or any(q.unit is not None and q.equals(quantity) for q in self._computed):
            return None
        return next((fault for fault in faults if fault is not None and fault != ABSENT), ABSENT)

    def _is_of_question(self, quantity: Quantity, claims: Claims, *, confirms: bool, alone: bool) -> bool:
        """Whether the number repeats the question as a condition; as the answer itself it is a claim."""
        if not any(q.equals(quantity) for q in self._asked.quantities):
            return False
        if confirms:
            return False
        return not (alone and _ASSERTED.match(claims.text, quantity.end))

    def _words_fault(self, claims: Claims, pieces: Sequence[EvidencePiece], around: Surroundings) -> str | None:
        """What is wrong with the words: cells of another row, the opposite of the evidence, nothing of the evidence."""
        for piece in pieces:
            if fault := piece.text_fault(claims, around):
                return fault
        spoken = claims.spoken
        opposite = contradicted(spoken, [clause for piece in pieces for clause in piece.clauses])
        if opposite is not None:
            return f'says the opposite of the evidence: "{opposite[:80]}"'
        whole = "\n".join(piece.evidence.text for piece in pieces)
        windows = [window for piece in pieces for window in piece.windows]
        if not all(piece.is_code for piece in pieces) and (fault := support_fault(claims, windows, whole)):
            return fault
        korean = bag_of(spoken).is_korean
        bags = [piece.bag for piece in pieces if piece.bag.is_korean == korean and not piece.is_code]
        if len(bags) < len(pieces):  # in another language words cannot be compared, only numbers and names
            return None
        words = [word for word in content_words(without_amounts(claims)) if not _PREDICATE.search(word)]
        share = held_share(words, *bags)
        if words and share == 0.0 and not claims.is_empty:  # other words for what the evidence and the question name
            share = held_share([*content_words(around.question), *content_words(around.context)], *bags) - 0.25
        if words and (share <= 0.0 or (len(words) >= _FEW_WORDS and share < LEAST_SHARE and claims.is_empty)):
            return "its words do not stand in the evidence it names"
        return None

    # --- what is left of it -------------------------------------------------------------------

    def _is_lead(self, bare: str) -> bool:
        """Whether it only introduces what follows."""
        return self._manner_fault(bare) is None and is_lead(bare, self._question, self._pieces.values())

    def _without_unknown_markers(self, text: str) -> str:
        def keep(match: re.Match[str]) -> str:
            known = [n for n in split_numbers(match[1]) if n in self._pieces]
            return "".join(f"[{n}]" for n in known)

        return re.sub(r" +(?=[.!?]?$)", "", MARKERS.sub(keep, text), flags=re.MULTILINE)


def _is_once_a_period(quantity: Quantity, text: str, pieces: Sequence[EvidencePiece]) -> bool:
    """Whether it says "1년에" where the evidence says "연간" or "매년"."""
    words = _PERIODS.get(quantity.unit or "")
    if words is None or quantity.value != 1 or not re.match(r"\s?(?:에|당|마다|간)", text[quantity.end :]):
        return False
    return any(words.search(piece.evidence.text) for piece in pieces)


def _with_markers(text: str, numbers: Sequence[int]) -> str:
    """The sentence with markers in front of its stop."""
    body = text.rstrip()
    tail = text[len(body) :]
    stop = body[-1] if body[-1:] in ".!?" else ""
    return f"{body.removesuffix(stop)} {''.join(f'[{n}]' for n in numbers)}{stop}{tail}"


def _shingles(squeezed: str) -> frozenset[str]:
    return frozenset(squeezed[n : n + LEAK_CHARS] for n in range(len(squeezed) - LEAK_CHARS + 1))
