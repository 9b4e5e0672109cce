"""What a model wrote, checked against the evidence it was given: the code decides, not the prompt.

A sentence passes when it names given evidence and every number, date and identifier in it stands in the evidence it
names. Numbers of the question and list numbering are not claims. In a table the number must stand in a row that the
sentence speaks of, under a header that it speaks of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.claims import Claims, claims_of, numbers_of, squeeze, unit_of
from bot.evidence_text import WORD_JOINER
from bot.excerpt import cells_of, is_row

_MARKERS = re.compile(r"[\[【](\d{1,3}(?:\s*[,;]\s*\d{1,3})*)[\]】]")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)]*)\)")
_REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
_ADDRESS = re.compile(r"<?\b(?:https?|ftp)://[^\s<>)\]]+>?|\bwww\.[^\s<>)\]]+|\bmailto:\S+", re.IGNORECASE)
_BROADCAST = re.compile(r"<!(?:channel|here|everyone)[^>]*>|[@＠](?:channel|here|all|everyone)\b", re.IGNORECASE)
_MENTION = re.compile(r"<@[A-Z0-9]+>|(?<![\w.])[@＠](?=[\w가-힣])")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|<!--.*?-->", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[가-힣A-Za-z0-9)\]】」\"'`%][.!?])(?:(?:\s*[\[【][\d,; ]+[\]】])*)(?=\s|$)|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEvidence:
    """One piece of evidence as the model saw it. `text` holds title and label too."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A sentence after its check: what may be shown, the evidence it rests on, and why it was held back."""

    text: str  # "" when held back
    cited: tuple[int, ...]
    fault: str | None


class EvidenceIndex:
    """The evidence of one answer, prepared so that checking a sentence costs little."""

    def __init__(self, evidence: Sequence[NumberedEvidence], question: str) -> None:
        self._texts = {item.number: squeeze(item.text) for item in evidence}
        self._units = {item.number: unit_of(item.text) for item in evidence}
        self._numbers = {item.number: _with_unit(numbers_of(item.text), unit_of(item.text)) for item in evidence}
        self._prose_numbers = {item.number: numbers_of(_prose(item.text)) for item in evidence}
        self._tables = {item.number: _tables(item.text) for item in evidence}
        self._question_numbers = numbers_of(question)
        self._question = squeeze(question)
        self._addresses = {address.strip("<>") for item in evidence for address in _ADDRESS.findall(item.text)}

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(self._texts)

    def check(self, sentence: str) -> Checked:
        """The sentence as it may be shown."""
        clean = self.sanitise(sentence)
        cited = tuple(dict.fromkeys(n for n in marked_numbers(clean) if n in self._texts))
        text = self._without_unknown_markers(clean)
        bare = _MARKERS.sub(" ", text)
        if not any(character.isalnum() for character in bare):
            return Checked(text=text if not text.strip() else "", cited=(), fault=None)
        fault = self._fault(claims_of(bare), bare, cited)
        return Checked(text="" if fault else text, cited=() if fault else cited, fault=fault)

    def sanitise(self, text: str) -> str:
        """`text` without links, images, HTML and mentions that the evidence does not hold."""
        text = _REFERENCE.sub("", text)
        text = _TAG.sub("", _BROADCAST.sub("", _IMAGE.sub(r"\1", text)))
        text = _LINK.sub(lambda m: m[1] if not m[1].isdigit() else f"[{m[1]}]", text)
        text = _ADDRESS.sub(lambda m: _shown_address(m[0]) if m[0].strip("<>") in self._addresses else "", text)
        return _MENTION.sub("", text)

    def _without_unknown_markers(self, text: str) -> str:
        def keep(match: re.Match[str]) -> str:
            known = [n for n in _split_numbers(match[1]) if n in self._texts]
            return "".join(f"[{n}]" for n in known)

        return re.sub(r" +(?=[.!?]?$)", "", _MARKERS.sub(keep, text), flags=re.MULTILINE)

    def _fault(self, claims: Claims, sentence: str, cited: Sequence[int]) -> str | None:
        if not cited:
            return "names no evidence"
        for number in claims.numbers - self._question_numbers:
            if not any(self._supports(number, sentence, source) for source in cited):
                return f"the number {number} does not stand in the evidence it names"
        for name in claims.identifiers:
            wanted = squeeze(name)
            if wanted not in self._question and not any(wanted in self._texts[source] for source in cited):
                return f"{name} does not stand in the evidence it names"
        return None

    def _supports(self, number: Decimal, sentence: str, source: int) -> bool:
        if number not in self._numbers[source]:
            return False
        if number in self._prose_numbers[source]:
            return True
        return any(_row_supports(number, sentence, rows, self._units[source]) for rows in self._tables[source])


def marked_numbers(text: str) -> list[int]:
    """The numbers of all markers, in order: "[1, 3] ... [2]" gives 1, 3, 2."""
    return [number for match in _MARKERS.finditer(text) for number in _split_numbers(match[1])]


def split_sentences(text: str) -> list[str]:
    """Sentences with their markers and the white space that follows; joined again they give `text`."""
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        while end < len(text) and text[end] in " \t":
            end += 1
        if end > start:
            pieces.append(text[start:end])
            start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


class SentenceReader:
    """Cuts a stream into whole sentences: the last one is held until it is certain where it ends."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> list[str]:
        self._pending += piece
        sentences = split_sentences(self._pending)
        self._pending = sentences.pop() if sentences else ""
        return sentences

    def finish(self) -> list[str]:
        last, self._pending = self._pending, ""
        return [last] if last.strip() else []


def _split_numbers(text: str) -> list[int]:
    return [int(part) for part in re.split(r"\s*[,;]\s*", text)]


def _shown_address(address: str) -> str:
    return address.strip("<>").replace("://", f":{WORD_JOINER}//")


def _prose(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not is_row(line))


def _tables(text: str) -> list[list[tuple[str, ...]]]:
    tables: list[list[tuple[str, ...]]] = []
    inside = False
    for line in text.splitlines():
        if is_row(line):
            if not inside:
                tables.append([])
            tables[-1].append(cells_of(line))
        inside = is_row(line)
    return tables


def _row_supports(number: Decimal, sentence: str, rows: Sequence[tuple[str, ...]], unit: Decimal) -> bool:
    """Whether a row holds the number in a cell whose row and column the sentence speaks of."""
    spoken = squeeze(sentence)
    header = rows[0]
    for row in rows:
        for column, cell in enumerate(row):
            if number not in _with_unit(numbers_of(cell), unit):
                continue
            others = [other for place, other in enumerate(row) if place != column]
            if _spoken_of(others, spoken) and not _other_column_spoken_of(header, column, spoken):
                return True
    return False


def _with_unit(numbers: frozenset[Decimal], unit: Decimal) -> frozenset[Decimal]:
    """Amounts as they stand and as the table's unit makes them: "8" under "단위: 만원" is 8 and 80000."""
    return numbers if unit == 1 else numbers | {(number * unit).normalize() for number in numbers}


def _spoken_of(cells: Sequence[str], spoken: str) -> bool:
    """Whether the sentence names one of the words of the cells that are not plain numbers; true when there is none."""
    words = [word for cell in cells for word in _words(cell)]
    return not words or any(word in spoken for word in words)


def _other_column_spoken_of(header: Sequence[str], column: int, spoken: str) -> bool:
    own = set(_words(header[column])) if column < len(header) else set()
    if not own or any(word in spoken for word in own):
        return False
    others = {word for place, cell in enumerate(header) if place not in (0, column) for word in _words(cell)}
    return any(word in spoken for word in others - own)


def _words(cell: str) -> list[str]:
    """Words of a cell that can tell rows apart, squeezed: two characters or more, amounts left out."""
    words = re.split(r"[\s,/()·~]+", unicodedata.normalize("NFKC", cell))
    return [
        squeezed
        for word in words
        if len(squeezed := squeeze(word)) >= 2 and not re.fullmatch(r"[\d.,%원달러$-]+", squeezed)
    ]
