"""Whether a clause affirms or denies: "이월할 수 있습니다" is not let through where the evidence says "없다"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.content_words import WordBag, bag_of, content_words, held_share, is_korean, latin_stem

_CLAUSE_END = re.compile(
    r"(?<=[.!?。])\s+|\n+|;\s*|,\s+|(?<=[가-힣](?:며|나|만|고))\s+|(?<=이고)\s+|\s+(?=but\b|however\b|whereas\b)"
)
_NEGATIVE = re.compile(
    r"(?:없(?:었\S{1,4}|다|습니다|음|으며|고|는|을|어)|않(?:았\S{1,4}|는다|습니다|음|으며|고|는|을|아)|아니\s?(?:한다|"
    r"합니다|하며|하고|됩니다|된다|함|다)|"
    r"못\s?(?:한다|합니다|함|하며)|안\s?(?:된다|됩니다|됨|되며)|(?:금지|제외|불가|불허|미지급|"
    r"불인정|면제)(?:한다|합니다|된다|됩니다|됨|함|하며|"
    r"되며|이다|입니다|하다|하나|하되|하지만|되나|되지만|하고|되고|되어\s?있습니다|되어\s?있다|돼\s?있습니다|돼\s?있어요)?|불가능(?:하다|합니다|함)?|아닙니다|아니다)\s*[)\].!?\"'」』]*\s*$"
)
_ENGLISH_VERB = re.compile(
    r"\b(?:can|may|must|shall|will|should|do|does|did|is|are|was|were)(?:\s?not|n't)?\s+(?:be\s+|not\s+)?([a-z]{3,})|"
    r"\bcannot\s+(?:be\s+)?([a-z]{3,})",
    re.IGNORECASE,
)
_NEGATIVE_ENGLISH = re.compile(
    r"\b(?:not|cannot|can't|never|no|isn't|aren't|doesn't|don't|won't|neither|prohibited|forbidden|"
    r"excluded|ineligible|"
    r"unable|without)\b",
    re.IGNORECASE,
)
# verbs of permission and of inclusion: those that affirm and those that deny stand for the same question
_OPPOSITES = (
    (re.compile(r"(?:허용|허가|허락|금지|불허|불가|가능|불가능)\S*(?:\s있\S*)?$"), "허용"),
    (re.compile(r"(?:포함|제외)\S*(?:\s있\S*)?$"), "포함"),
    (re.compile(r"(?:지급|미지급)\S*$"), "지급"),
    (re.compile(r"(?:인정|불인정)\S*$"), "인정"),
)
# "…없다”라고 되어 있습니다": what is reported decides
_REPORTED = re.compile(
    r"[”\"'’」]?\s?(?:이라고|라고|(?<=다)고)\s?(?:(?:되어|규정|정하|정해|명시|나와|적혀|적고|말하|합니다|한다)[가-힣\s]*)?[.!?]?\s*$"
)
_SHARED = 0.6
_TOPIC_SHARED = 0.5
_MODAL = re.compile(r"(\S+?)\s*수(?:가|는|도)?\s*(?:있|없)")
_EXISTS = re.compile(r"(?<=[은는이가도]\s)(?:있|없)(?:었|다|습|음|으|는|을|고)\S*$")
_AUXILIARY = re.compile(r"\s*(?:지|하지|하여서는|해서는|하면)?\s*(?:아니|않|못|안\s?[되됩된됨])\S*\s*$")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of the evidence, with what it is about."""

    text: str
    words: tuple[str, ...]
    bag: WordBag
    is_denied: bool
    predicate: str


def clauses_of(text: str) -> list[Clause]:
    """The clauses of a text that hold telling words."""
    return [
        Clause(piece, words, bag, is_denied(piece), predicate_of(piece))
        for line in text.splitlines()
        for bag in [bag_of(line)]  # what a clause is about stands in an earlier one of its line
        for piece in split_clauses(line)
        if (words := content_words(piece))
    ]


def split_clauses(text: str) -> Iterator[str]:
    """The clauses of a text, one after the other."""
    for piece in _CLAUSE_END.split(text):
        if piece.strip():
            yield piece.strip()


def is_denied(clause: str) -> bool:
    """Whether the clause ends in a denial."""
    if is_korean(clause):
        return _NEGATIVE.search(_REPORTED.sub("", clause)) is not None
    return len(_NEGATIVE_ENGLISH.findall(clause)) % 2 == 1


def contradicted(claim: str, evidence: Sequence[Clause]) -> str | None:
    """The clause of the evidence that says the opposite of a claim, when none says the same as surely."""
    for piece in split_clauses(claim):
        words = content_words(piece)
        if not words:
            continue
        found = _opposite_of(piece, words, evidence)
        if found is not None:
            return found
    return None


def _opposite_of(piece: str, words: Sequence[str], evidence: Sequence[Clause]) -> str | None:
    denied, korean = is_denied(piece), is_korean(piece)
    predicate = predicate_of(piece)
    about = [word for word in words if word[:2] != predicate[:2]] or list(words)
    same = opposite = 0.0
    same_topic = opposite_topic = False
    found = None
    for clause in evidence:
        if not _meet(piece, predicate, clause) or is_korean(clause.text) != korean:
            continue
        share, has_topic = held_share(about, clause.bag), clause.bag.holds(about[0])
        if clause.is_denied == denied:
            same, same_topic = max(same, share), same_topic or has_topic
        elif share > opposite:
            opposite, opposite_topic, found = share, has_topic, clause.text
    if found is None:
        return None
    if opposite >= _SHARED and opposite > same:
        return found
    # an exception: what the claim is about stands in the denial alone
    return found if opposite >= _TOPIC_SHARED and opposite_topic and not same_topic else None


def _meet(piece: str, predicate: str, clause: Clause) -> bool:
    """Whether both speak of the same deed; a ban names it in front: "사용은 금지한다" speaks of "사용"."""
    theirs = clause.predicate
    if not predicate or not theirs:
        return False
    if predicate == theirs:
        return True
    if "허용" in (predicate, theirs):
        text, deed = (clause.text, predicate) if theirs == "허용" else (piece, theirs)
        return deed[:2] in text
    return False


def predicate_of(clause: str) -> str:
    """The beginning of the verb that a clause affirms or denies: two letters in Korean, one word in English."""
    if not is_korean(clause):
        found = _ENGLISH_VERB.search(clause)
        return latin_stem(found[1] or found[2]) if found else ""
    clause = _REPORTED.sub("", clause)
    for pattern, root in _OPPOSITES:
        if pattern.search(clause.rstrip(" .!?)")[-12:]):
            return root
    modals = _MODAL.findall(clause)
    if modals:
        return _verb_root(modals[-1])
    if _EXISTS.search(clause.rstrip(" .!?)")):
        return "있"
    bare = _AUXILIARY.sub("", clause.rstrip(" .!?)")).rstrip()
    words = content_words(bare)
    return _verb_root(words[-1]) if words else ""


def _verb_root(word: str) -> str:
    """ "이월할" -> "이월", "지급하지" -> "지급", "쓸" -> "쓰"."""
    root = re.sub(r"(?:할|하지|한다|합니다|하여야|해야|하|될|되지|된다|됩니다|되|을|지)$", "", word) or word
    if len(root) == 1:  # the final ㄹ of "쓸" belongs to the ending
        code = ord(root) - 0xAC00
        root = chr(0xAC00 + code - code % 28) if 0 <= code < 11172 and code % 28 == 8 else root
    return root[-2:]
