"""One piece of evidence, prepared so that asking whether it holds a claim costs little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from bot.anchor_units import Unit, units_of, without_mark
from bot.claims import Claims, claims_of, squeeze
from bot.clause_windows import Window, windows_of
from bot.code_anchoring import CodePiece
from bot.code_units import code_units_of
from bot.content_words import WordBag, bag_of, content_words
from bot.evidence_tables import EvidenceTable, tables_of
from bot.excerpt import is_row
from bot.labels import Label
from bot.polarity import Clause, clauses_of
from bot.quantities import Quantity, plain
from bot.row_binding import ABSENT, Surroundings, number_fault, text_fault
from bot.sanitising import addresses_of

_ASSIGNED = re.compile(
    r"(?<![\w/.-])([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?(?:=|:[ \t]|"
    r"\?\?)[ \t]*(\d[\d_]*(?:\.\d+)?)(?![\d.]\d)(?=[A-Za-z]{0,2}\b)"
)
_OPEN_REST = re.compile(
    r"\b(?:anything|everything|amounts?|those|all) (?:above|over|below|under)\b|그 (?:이상|이하|초과|미만)"
)
_BESIDE_CHARS = 8
_LEAST_SAID_CHARS = 10
_AMENDED = re.compile(r"[<〈＜(\[]\s?(?:신설|개정|본조신설|전문개정|단서신설)[^>〉＞)\]]*[>〉＞)\]]")
_UNITS_OF_NAMES = tuple(
    (re.compile(ending, re.IGNORECASE), unit)
    for ending, unit in (
        (r"(?:_ms|Ms|millis|milliseconds)$", "밀리초"),
        (r"(?<!mill)(?:_s|_secs?|_?seconds)$", "초"),
        (r"(?:_mins?|_?minutes)$", "분"),
        (r"_?hours$", "시간"),
        (r"_?days$", "일"),
    )
)
_TIME_UNITS = frozenset(unit for _, unit in _UNITS_OF_NAMES)
_OLD_WORDING = re.compile(r"(\d{4}\. ?\d{1,2}\. ?\d{1,2}\.) 개정 전의 옛 규정")  # as bot.prompting writes it
_HEAD_CHARS = 300
_SEGMENT = re.compile(r"\n+|[;。]\s*|(?<=[^\d])[.]\s+|,\s+|(?<=[가-힣](?:며|고))\s+|\s(?=and\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEvidence:
    """One piece of evidence as the model saw it. `text` holds its name, title and label too."""

    number: int
    text: str
    is_code: bool = False
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of prose between two commas, with the amounts that it holds."""

    quantities: tuple[Quantity, ...]
    bag: WordBag

    @property
    def kinds(self) -> list[str]:
        return sorted(str(q.base[0]) for q in self.quantities)


class EvidencePiece:
    """What a piece of evidence confirms."""

    def __init__(self, evidence: NumberedEvidence) -> None:
        text = evidence.text
        self.evidence = evidence
        self.is_code = evidence.is_code
        self.claims: Claims = claims_of(text, is_evidence=True)
        self.bag: WordBag = bag_of(text)
        self.addresses = addresses_of(text)
        self.clauses: list[Clause] = [] if evidence.is_code else clauses_of(_prose(text))
        self.tables: list[EvidenceTable] = [] if evidence.is_code else tables_of(text)
        self.windows: list[Window] = [] if evidence.is_code else windows_of(_prose(text))
        self.code = CodePiece.of(code_units_of(evidence.number, text), text) if evidence.is_code else None
        self.units: list[Unit] = units_of(evidence.number, _comments(self.code) if self.code else text, self.tables)
        self._sentences = frozenset(map(_as_said, (unit.sentence for unit in self.units if not unit.is_row)))
        self.superseded = old[1] if (old := _OLD_WORDING.search(text[:_HEAD_CHARS])) else ""
        self.squeezed = squeeze(text)
        self._lowered = re.sub(r"\s+", " ", plain(text)).lower()
        self._labels = frozenset(name for label in self.claims.labels for name in label)
        self._open_rests = [bag_of(part) for part in re.split(r"[;.\n]", text) if _OPEN_REST.search(part)]
        self._assigned = _assignments(text) if evidence.is_code else {}
        self._segments = [
            _Segment(claims.quantities, bag_of(part)) for part, claims in _segments(text, evidence.is_code)
        ]

    def number_fault(self, quantity: Quantity, claims: Claims, around: Surroundings) -> str | None:
        """None when it confirms the amount, ABSENT when it does not hold it, else what is wrong."""
        faults = [self._prose_fault(quantity, claims)]
        if faults[0] is None:
            return None
        for table in self.tables:
            fault = number_fault(quantity, claims, table, around)
            if fault is None:
                return None
            faults.append(fault)
        return next((fault for fault in faults if fault != ABSENT), ABSENT)

    def text_fault(self, claims: Claims, around: Surroundings) -> str | None:
        """What is wrong with words of a table in the sentence; None when nothing is."""
        return next((fault for table in self.tables if (fault := text_fault(claims, table, around))), None)

    def says(self, sentence: str) -> bool:
        """Whether the sentence stands here word for word, as a whole."""
        return len(said := _as_said(sentence)) >= _LEAST_SAID_CHARS and said in self._sentences

    def holds_label(self, label: Label) -> bool:
        return bool(label & self._labels)

    def holds_line(self, line: int) -> bool:
        """Whether a line number lies in the piece."""
        start, end = self.evidence.start_line, self.evidence.end_line
        return start is not None and start <= line <= (end or start)

    def holds_name(self, name: str) -> bool:
        """Whether an identifier, path or address stands in the piece as a whole word, or as the end of a path."""
        wanted = re.sub(r"\s+", " ", plain(name)).strip().lower().removesuffix("()")
        if not wanted:
            return True
        if self._finds(wanted):
            return True
        if "/" in wanted:  # a path may be written from the root, or with a dot in front
            return self._finds(wanted.lstrip("./~"))
        parts = [part for part in re.split(r"\.|::|#", wanted) if part]
        if len(parts) > 1 and all(re.fullmatch(r"\w+", part) for part in parts):
            return all(self._finds(part) for part in parts)
        if " " in wanted and not any(c in wanted for c in "_./(){}=;"):  # a term in backticks, not code
            return squeeze(wanted) in self.squeezed
        return False

    def _finds(self, wanted: str) -> bool:
        left = r"(?<![a-z0-9_])" if wanted[0].isalnum() or wanted[0] == "_" else ""
        right = r"(?![a-z0-9_])" if wanted[-1].isalnum() or wanted[-1] == "_" else ""
        if not wanted.isascii():
            return squeeze(wanted) in self.squeezed
        return re.search(left + re.escape(wanted) + right, self._lowered) is not None

    def _prose_fault(self, quantity: Quantity, claims: Claims) -> str | None:
        holding = [(s, q) for s in self._segments for q in s.quantities if q.equals(quantity)]
        if not holding:
            return ABSENT
        if not self._is_open_rest(claims, [s for s, _ in holding]) and all(
            q.contradicts_bound(quantity) for _, q in holding
        ):
            return f"the limit at {quantity.value:f}{quantity.unit or ''} is another one in the evidence"
        if self.is_code:
            return self._assignment_fault(quantity, claims)
        return self._parallel_fault(quantity, claims, [s for s, _ in holding])

    def _is_open_rest(self, claims: Claims, holding: Sequence[_Segment]) -> bool:
        """Whether the claim is rather about "anything above", which has no number of its own."""
        words = content_words(claims.text)
        mine = max(sum(map(segment.bag.holds, words)) for segment in holding)
        return any(sum(map(rest.holds, words)) > mine for rest in self._open_rests)

    def _assignment_fault(self, quantity: Quantity, claims: Claims) -> str | None:
        """What is wrong when the number belongs to another constant than the one that the claim names beside it."""
        if name := self._other_unit(quantity):
            return f"{name} is in another unit in the evidence"
        around = _words_around(quantity, claims, claims.spoken)
        others = [q for q in claims.quantities if q is not quantity]
        named = {
            name
            for name, values in self._assigned.items()
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|[A-Za-z])", around, re.IGNORECASE | re.ASCII)
            and not any(q.value in values and _stands_beside(name, q, claims.spoken) for q in others)
        }
        if not named or any(quantity.value in self._assigned[name] for name in named):
            return None
        if not any(quantity.value in values for values in self._assigned.values()):
            return None
        return f"{min(named)} has another value in the evidence"

    def _other_unit(self, quantity: Quantity) -> str | None:
        """The constant that holds the number, when its name says another unit: 250 of BASE_DELAY_MS are no seconds."""
        holding = [name for name, values in self._assigned.items() if quantity.value in values]
        units = {name: unit for name in holding for ending, unit in _UNITS_OF_NAMES if ending.search(name)}
        if quantity.unit not in _TIME_UNITS or not holding or len(units) < len(holding):
            return None
        return None if quantity.unit in units.values() else min(units)

    def _parallel_fault(self, quantity: Quantity, claims: Claims, holding: Sequence[_Segment]) -> str | None:
        """What is wrong when the words of the claim stand beside another amount of the same kind in a parallel clause:
        "본인 결혼은 5일, 자녀 결혼은 1일" does not confirm five days for a child's wedding."""
        words = content_words(_words_around(quantity, claims, claims.text))
        if not words:
            return None
        right = max((frozenset(w for w in words if s.bag.holds(w)) for s in holding), key=len)
        kinds = {tuple(s.kinds) for s in holding}
        for segment in self._segments:
            if tuple(segment.kinds) not in kinds or any(q.equals(quantity) for q in segment.quantities):
                continue
            wrong = frozenset(w for w in words if segment.bag.holds(w))
            if wrong > right:
                other = next(iter(wrong - right))
                return f"{quantity.value:f}{quantity.unit or ''} does not stand beside {other} in the evidence"
        return None


@lru_cache(maxsize=512)
def piece_of(evidence: NumberedEvidence) -> EvidencePiece:
    """The piece prepared; the same text comes back in the questions that follow."""
    return EvidencePiece(evidence)


def _as_said(sentence: str) -> str:
    """A sentence without what does not change it: list marks, quotation marks, notes of amendments, its stop."""
    return re.sub(r"[“”\"'「」*]|[.。]+$", "", squeeze(_AMENDED.sub("", without_mark(sentence.strip()))))


def _stands_beside(name: str, quantity: Quantity, spoken: str) -> bool:
    """Whether the amount follows a name at once: "port 8081"."""
    before = spoken[max(0, quantity.start - len(name) - _BESIDE_CHARS) : quantity.start]
    return name.lower() in before.lower()


def _words_around(quantity: Quantity, claims: Claims, text: str) -> str:
    """The stretch of the claim between two commas in which the amount stands."""
    start = 0
    for match in _SEGMENT.finditer(claims.spoken):
        if match.end() <= quantity.start:
            start = match.end()
        elif match.start() >= quantity.end:
            return text[start : match.start()]
    return text[start:]


def _segments(text: str, is_code: bool) -> list[tuple[str, Claims]]:
    """The stretches of prose that hold amounts, with what they claim."""
    parts = text.splitlines() if is_code else _SEGMENT.split(_prose(text))
    read = [(part, claims_of(part, is_evidence=True)) for part in parts if part.strip()]
    return [(part, claims) for part, claims in read if claims.quantities]


def _assignments(text: str) -> dict[str, set[Decimal]]:
    """Names of code with the numbers that they are set to: "MAX_ATTEMPTS = 3"."""
    found: dict[str, set[Decimal]] = {}
    for name, number in _ASSIGNED.findall(text):
        found.setdefault(name, set()).add(Decimal(number.replace("_", "")).normalize())
    return found


def _comments(code: CodePiece) -> str:
    """The title of code and what its comments say."""
    return "\n".join([code.titles.partition("\n")[0], *(unit.text for unit in code.units if unit.kind == "comment")])


def _prose(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not is_row(line))
