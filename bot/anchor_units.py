"""Evidence cut into the stretches that one clause of an answer may rest on: clauses of prose and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.claims import Claims, claims_of, squeeze
from bot.content_words import is_korean
from bot.dates import ClockTime, PartialDate
from bot.evidence_tables import EvidenceTable
from bot.excerpt import is_row
from bot.quantities import Quantity, plain
from bot.rule_words import Rule, rule_of
from bot.translated_words import translations_of
from bot.word_forms import Form, Vocabulary, forms_of

_SENTENCE = re.compile(
    r"\n+|(?<=[가-힣A-Za-z)\"'”」][.!?])\s+|(?<=\d[.])(?<!^\d[.])(?<!^\d\d[.])\s+(?=[A-Z가-힣])|"
    r"(?<=\s)(?=[①-⑳]\s?)|(?<=[^\d\s][.:])\s+(?=[①-⑳])",
    re.MULTILINE,
)
_CONNECTED = re.compile(
    r";\s*|\s/\s|(?<=[가-힣A-Za-z.,])\s+(?=[가-힣]{2,6}:\s)|(?<=[가-힣](?:며|되))[,\s]\s*|"
    r"(?<=[가-힣]고)(?<![가-힣][라려]고)(?<!먼저 신고)[,\s]\s*(?!있)|(?<=[가-힣](?:으나|하나|되나))[,\s]\s*|"
    r"(?<=지만)[,\s]\s*|(?<=는데)[,\s]\s*|"
    r",\s+(?=but\b|however\b|whereas\b|while\b|and\b)|\s+(?=but\b|whereas\b)|\s+and\s+(?=(?:a|"
    r"an|the|it|they|you|must|may|can)\b)|,\s+and\s+",
    re.IGNORECASE,
)
_COMMA = re.compile(r",\s+")
_CONDITION_ENDS = re.compile(r"(?:경우|때|면|는|은|에|시|서|여|로|후|뒤|다만|단|하지만|그러나|또한|따라서)$")
_CONDITION_STARTS = re.compile(
    r"^(?:if|when|where|while|during|for|in|after|before|first|once|unless|until|as|at|on|with|of|which|who|e\.g)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?P<korean>.{4,}?(?:경우(?:에|에는|에 한하여|에 한해)?|때(?:에|에는|"
    r"에 한하여)?|하면|되면|으면|지면|리면|주면|않으면))[,\s]|"
    r"\b(?P<english>(?:if|when|unless|provided that|in case)\b[^,.;]{4,80})",
    re.IGNORECASE,
)
_PROVISO = re.compile(r"^(?:다만|단)[,\s]|^(?:however|except that)\b", re.IGNORECASE)
_LEADS_LIST = re.compile(r"다음\s?각\s?호|다음과\s?같|다음의|as follows|the following|:\s*$")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[가-하][.)]|[-*•]|[①-⑳])\s*")
_EXCLUDING = frozenset(("lt", "gt"))
_MARK = re.compile(r"^\s*(?:#{1,6}\s|[①-⑳]|제\s?\d+\s?항|\d{1,2}[.)]|[가-하][.)]|[-*•])\s*")
_ENDED = re.compile(r"[.!?]\s*$|[다음함됨임요]\s*$")
_LONGEST_HEAD_LINES = 3
_NAMED_PART = re.compile(r"[가-힣A-Za-z ]{1,12}:\s")
_LABEL_ALONE = re.compile(
    r"(?:제\s?\d+조(?:의\d+)?\s?\([^)]{1,40}\)|\[?(?:별표|별지|서식|부칙)[^\n]{0,40}|(?:section|chapter|"
    r"article|appendix)\s[^\n]{1,60}|\d{1,2}\.\s[^\n.]{1,40})",
    re.IGNORECASE,
)
_ENGLISH_VERB = re.compile(
    r"\b(?:must|may|can|cannot|will|shall|should|are|is|were|was|has|have|do|does|did|receive|need)\b"
)
_ENGLISH_SUBJECT = re.compile(
    r"(?:(?:the|a|an|any|all|no|each|every|this|that|these|they|it|there|you|he|she|we|its|their|your)\b|[A-Z0-9])"
)


@dataclass(frozen=True, slots=True)
class RowKey:
    """What a row of a table is about: its first cell, and the second where rows begin alike."""

    words: Vocabulary
    quantities: tuple[Quantity, ...]

    def names(self, forms: Sequence[Form], quantities: Sequence[Quantity]) -> bool:
        """Whether words or amounts name it."""
        return any(map(self.words.holds, forms)) or any(
            q.equals(other) for q in quantities for other in self.quantities
        )


@dataclass(frozen=True, slots=True)
class Unit:
    """One stretch of evidence. `own` are its words, `shared` those of its heading and of what it goes on from."""

    number: int  # of the piece of evidence
    text: str
    sentence: str  # the whole sentence, or the row with its header, as it is quoted
    own: Vocabulary
    shared: Vocabulary
    condition: Vocabulary | None
    quantities: tuple[Quantity, ...]
    dates: tuple[PartialDate, ...]
    times: tuple[ClockTime, ...]
    rule: Rule
    is_korean: bool
    is_row: bool = False
    proviso: str = ""  # the sentence that limits this one
    key: RowKey | None = None  # of a row: what tells it from the others

    def holds_amount(self, quantity: Quantity) -> bool:
        return any(
            q.equals(quantity)
            and not q.contradicts_bound(quantity)
            and not (q.bound in _EXCLUDING and quantity.bound is None)  # "1,000만원 미만" says nothing of 1,000만원
            for q in self.quantities
        )

    def holds(self, form: Form) -> bool:
        """Whether the word stands in the stretch, in its heading or in what it goes on from."""
        return self.own.holds(form) or self.shared.holds(form)

    def holds_translation(self, form: Form) -> bool:
        """Whether the word stands there in the other language."""
        return any(
            self.own.holds_part(word) or self.shared.holds_part(word)
            for stem in form.stems
            for word in translations_of(stem)
        )

    def place_of(self, form: Form) -> int | None:
        """Where the word stands in the stretch; None when it does not stand there in this form."""
        return next((other.place for other in self.own.forms if other.stem == form.stem), None)


def units_of(number: int, text: str, tables: Sequence[EvidenceTable]) -> list[Unit]:
    """The stretches of a piece of evidence, in order."""
    lines = [line for line in text.splitlines() if line.strip() and not is_row(line)]
    head = _head(lines)
    prose = "\n".join(lines)
    found: list[Unit] = [_head_unit(number, line) for line in head]
    lead = before = ""
    for sentence in sentences_of(prose):
        if len(sentence) < 4 or sentence in head:
            continue
        is_item = _ITEM.match(sentence) is not None
        proviso = _PROVISO.match(_MARK.sub("", sentence)) is not None
        if proviso and found:
            found = [replace(u, proviso=sentence) if u.sentence == before else u for u in found]
        shared = [*head, lead if is_item else "", before if proviso else ""]
        found += _clauses(number, sentence, shared, lead if is_item else "")
        before = sentence if not proviso else before
        if _LEADS_LIST.search(sentence):
            lead = sentence
        elif not is_item and not proviso:
            lead = ""
    for table in tables:
        found += _rows(number, table, head)
    return found


def without_mark(sentence: str) -> str:
    """The sentence without the number or the dot of a list in front of it."""
    return _MARK.sub("", sentence)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of prose, each item of a list for itself."""
    for sentence in _SENTENCE.split(text):
        if sentence and sentence.strip():
            yield sentence.strip()


def split_parts(sentence: str) -> list[str]:
    """The clauses of a sentence: what stands between verbs that are joined, and the members of "A는 1, B는 2"."""
    parts: list[str] = []
    for piece in _CONNECTED.split(sentence):
        if piece and piece.strip():
            parts += _members(piece.strip())
    return parts


def _members(piece: str) -> list[str]:
    """Parts between commas, but a condition stays with what it is a condition of."""
    found: list[str] = []
    held = ""
    for part in _COMMA.split(piece):
        joined = f"{held}, {part}" if held else part
        opens = _CONDITION_ENDS.search(part.strip()) or _CONDITION_STARTS.match(part.strip())
        if opens or not _is_member(part):
            held = joined
            continue
        found.append(joined)
        held = ""
    if held:
        if found:
            found[-1] = f"{found[-1]}, {held}"
        else:
            found.append(held)
    return found


def _is_member(part: str) -> bool:
    """Whether a part between commas can be told for itself: it has an amount, or ends in a verb."""
    return any(map(str.isdigit, part)) or _ENDED.search(part.strip()) is not None or len(forms_of(part)) > 3


def _head(lines: Sequence[str]) -> list[str]:
    """Title and label: the first line, and those below that repeat a part of it or are nothing but a label."""
    head = [line.strip() for line in lines[:1]]
    for line in lines[1:_LONGEST_HEAD_LINES]:
        if squeeze(line) not in squeeze(head[0]) and not _LABEL_ALONE.fullmatch(line.strip()):
            break
        head.append(line.strip())
    return head


def _clauses(number: int, sentence: str, shared: Sequence[str], lead: str) -> Iterator[Unit]:
    parts = split_parts(plain(_MARK.sub("", sentence)))
    named = any(_NAMED_PART.match(part) for part in parts)  # "참석: A / 불참: B": each part stands for itself
    predicate = _last_words(parts[-1]) if len(parts) > 1 and not named else ""
    topic = ""
    for part in (*parts, *([] if named else _of_one_subject(parts))):
        claims: Claims = claims_of(part, is_evidence=True)
        ends = _ENDED.search(part) or part.endswith(("며", "고", "되", "나"))
        text = part if ends or not predicate or not is_korean(part) else f"{part} {predicate}"
        if not forms_of(part) and claims.is_empty:
            continue  # a number of a note
        own_topic = _has_subject(part)
        rule = rule_of(text if not lead else f"{text} {_last_words(lead)}")
        yield Unit(
            number=number,
            text=text,
            sentence=sentence,
            own=Vocabulary([text]),
            shared=Vocabulary([*shared, *([] if own_topic or named else [topic])]),
            condition=_condition_of(part),
            quantities=claims.quantities,
            dates=tuple(claims.dates),
            times=tuple(claims.times),
            rule=rule,
            is_korean=is_korean(part),
        )
        topic = _topic_words(part) or topic


def _of_one_subject(parts: Sequence[str]) -> list[str]:
    """Clauses in a row of which only the first says what they are about, as one: "A checks it and reports it"."""
    found: list[str] = []
    run: list[str] = []
    for part in (*parts, None):
        if part is not None and run and is_korean(part) and _has_subject(run[0]) and not _has_subject(part):
            run.append(part)
            continue
        if len(run) > 1:
            found.append(" ".join(run))
        run = [part] if part is not None else []
    return found


def _condition_of(part: str) -> Vocabulary | None:
    match = _CONDITION.search(part)
    return Vocabulary([match["korean"] or match["english"]]) if match else None


def _last_words(part: str) -> str:
    """The verb at the end of a clause, with the word in front of it where the verb is an auxiliary one."""
    return " ".join(part.rstrip(" .").split()[-3:])


def _topic_words(part: str) -> str:
    """The words of a clause up to what it is about."""
    forms = forms_of(part)
    place = next((form.place + len(form.word) for form in forms if form.role in ("topic", "agent")), 0)
    if place:
        return part[:place]
    verb = _ENGLISH_VERB.search(part)
    return part[: verb.start()] if verb and not is_korean(part) else ""


def _has_subject(part: str) -> bool:
    """Whether a clause says itself what it is about."""
    if is_korean(part):
        return any(form.role in ("topic", "agent") for form in forms_of(part))
    return _ENGLISH_SUBJECT.match(part) is not None


def _head_unit(number: int, line: str) -> Unit:
    """Title and label as a stretch of their own: the day from which they hold stands there."""
    claims = claims_of(plain(line), is_evidence=True)
    return Unit(
        number=number,
        text=line,
        sentence="",  # nobody is helped by a title
        own=Vocabulary([line]),
        shared=Vocabulary([]),
        condition=None,
        quantities=claims.quantities,
        dates=tuple(claims.dates),
        times=tuple(claims.times),
        rule=rule_of(""),
        is_korean=is_korean(line),
        is_row=True,
    )


def _rows(number: int, table: EvidenceTable, head: Sequence[str]) -> Iterator[Unit]:
    header = " ".join(table.header)
    firsts = [row[0] if row else "" for row in table.rows]
    for cells, row in zip(table.cells, table.rows, strict=True):
        columns = 2 if firsts.count(row[0] if row else "") > 1 else 1
        text = " ".join(row)
        quantities = tuple(q for cell in cells for q in cell)
        yield Unit(
            number=number,
            text=text,
            sentence=", ".join(
                f"{name}: {cell}" if name else cell for name, cell in zip(table.header, row, strict=True)
            ),
            own=Vocabulary([text]),
            shared=Vocabulary([header, *head]),
            condition=None,
            quantities=(*quantities, *table.header_quantities),
            dates=tuple(claims_of(text, is_evidence=True).dates),
            times=tuple(claims_of(text, is_evidence=True).times),
            rule=rule_of(""),
            is_korean=is_korean(text) or is_korean(header),
            is_row=True,
            key=RowKey(Vocabulary(row[:columns]), tuple(q for cell in cells[:columns] for q in cell)),
        )
