"""From the articles, chapters and appendices that a question names by number to the sections that they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knowledge.analysis import analyze_query
from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import Held, is_everyday
from knowledge.retrieval.named_sections import named_sections, stands_behind_a_name, without_named_sections
from knowledge.retrieval.question import Question
from knowledge.types import Chunk

_MAX_DOCUMENTS = 8  # revisions of one regulation among them
_MAX_OF_CHAPTER = 6
_FEW_WORDS = 1  # beside the number, for a question that is about nothing but the article
_REGULATION = re.compile(r"[가-힣·]*(?:규정|규칙|세칙|정관|학칙|회칙|지침|내규|규약|요령|기준)")
_ENGLISH_REGULATION = re.compile(
    r"\b(?:rules?|regulations?|polic(?:y|ies)|charter|bylaws?|articles of (?:association|incorporation)|guidelines?"
    r"|code|statutes?|act)\b",
    re.IGNORECASE,
)
_KINDS_OF_REGULATION = frozenset(("규정", "규칙", "규약", "지침", "기준"))  # that tell no name

Place = tuple[str, str]  # source and uri


def locate_articles(
    question: Question, ranked: Sequence[Candidate], lookup: ChunkLookup, generations: Mapping[str, int]
) -> list[Chunk]:
    """The first part of every section that the question names by number, of the regulation that it names.

    The regulation must be one that was found. Where one name holds another ("국외여비규정", "여비규정") the longer one
    is meant; a shorter name that somebody uses ("취업규칙" for "표준취업규칙") means those that end with it, an English
    one those whose Korean name says the same. Without a name every regulation that was found may be meant, as long as
    the question is about nothing but the section.
    """
    text = question.text
    sections = named_sections(text)
    if not sections:
        return []
    chosen = _regulations(question, ranked)[:_MAX_DOCUMENTS]
    files = lookup.chunks_in_files({uri for (_, uri), _ in chosen}, generations) if chosen else {}
    found: dict[tuple[str, str], Chunk] = {}
    for section in sections:
        for (source, uri), name in chosen:
            of_section = 0
            for chunk in files.get(uri, ()):
                where = chunk.locator
                if (where.source, where.uri) != (source, uri) or (name and _name_of(chunk) != name):
                    continue
                if section.means(chunk) and of_section < _MAX_OF_CHAPTER:
                    of_section += (chunk.document_id, chunk.group) not in found
                    found.setdefault((chunk.document_id, chunk.group), chunk)
    return list(found.values())


def asks_for_sections_alone(question: Question, located: Sequence[Chunk]) -> bool:
    """Whether a question is about nothing but the sections that were located: all else that it says names them."""
    if not located:
        return False
    first = located[0]
    named = Held(" ".join(filter(None, (first.title, first.family, first.locator.label))))
    return all(
        term in named or any(other in named for other in question.expansions.get(term, ()))
        for term in _telling_terms(question)
    )


def _regulations(question: Question, ranked: Sequence[Candidate]) -> list[tuple[Place, str]]:
    """The regulations that the question means, each with its document, in the order in which they were found."""
    known: dict[tuple[Place, str], None] = {}
    for candidate in ranked:
        where = candidate.chunk.locator
        known.setdefault(((where.source, where.uri), _name_of(candidate.chunk)))
    text = question.text
    named = {name for _, name in known if name and _says(text, name)}
    if named:
        meant = max(named, key=len)
        return [one for one in known if one[1] == meant]
    if short := [word for word in _REGULATION.findall(text) if word not in _KINDS_OF_REGULATION]:
        return [one for one in known if any(one[1].endswith(word) for word in short)]
    if _ENGLISH_REGULATION.search(text):
        best = max((_translated(question, name) for _, name in known), default=0)
        return [one for one in known if best and _translated(question, one[1]) == best]
    if stands_behind_a_name(text) or len(_telling_terms(question)) > _FEW_WORDS:
        return []
    return [one for one in known if one[1]]


def _name_of(chunk: Chunk) -> str:
    """The name of a chunk's regulation, without blanks; the title of a document that is none."""
    family = (chunk.family or "").rsplit(" / ", 1)[-1]
    return family or "".join(chunk.title.split())


def _says(text: str, name: str) -> bool:
    """Whether a text names a regulation, with whatever blanks; "국외여비규정" does not name a "여비규정"."""
    spaced = r"\s*".join(map(re.escape, name))
    return re.search(rf"(?<![가-힣A-Za-z]){spaced}", text, re.IGNORECASE) is not None


def _translated(question: Question, name: str) -> int:
    """How many words of an English question the Korean name of a regulation says, but for what kind it is of."""
    return sum(
        any(len(other) > 1 and other in name and other not in _KINDS_OF_REGULATION for other in others)
        for others in question.expansions.values()
    )


def _telling_terms(question: Question) -> list[str]:
    """The words of a question beside the numbers that name sections."""
    said = set(analyze_query(without_named_sections(question.text)))
    return [word for word in question.words if word in said and len(word) > 1 and not is_everyday(word)]
