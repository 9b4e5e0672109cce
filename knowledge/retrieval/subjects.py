"""The nouns and foreign words that a question is about: what they tell, and whether a text holds them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.retrieval.coverage import Held
from knowledge.retrieval.question import Question

_KIND_SUFFIXES = "증금비료용처서류율률액분치사"
_PART_CHARS = 2  # letters of a part of a compound, at least
# in front of a word these make another one of it: 비정규직 is no 정규직, 부회장 no 회장
_CHANGING = re.compile(r"[비부준한무미불]\Z")


def holds(piece: Held, question: Question, term: str) -> bool:
    """Whether a text holds a term of a question, in whatever wording.

    Synonyms count (the lexicons), and so does a word without its last syllable where that only says what kind of thing
    it is (자격증 for 자격, 이용료 for 이용).
    """
    if _holds_word(piece, term) or any(other in piece for other in question.expansions.get(term, ())):
        return True
    whole = [others for word, others in question.expansions.items() if term in word and term != word]
    if any(other in piece for others in whole for other in others):  # 기름 of 기름값, which the lexicon knows
        return True
    bare = term[:-1] if len(term) > 2 and term[-1] in _KIND_SUFFIXES else ""
    return (bool(bare) and bare in piece) or _holds_parts(piece, term)


def _holds_word(piece: Held, term: str) -> bool:
    """Whether the word itself is there, and not only as the end of a word that means something else."""
    if term not in piece:
        return False
    places = [match.start() for match in re.finditer(re.escape(term), piece.text)]
    return not places or not all(_CHANGING.search(piece.text[:place][-1:]) for place in places)


def _holds_parts(piece: Held, term: str) -> bool:
    """Whether a line holds both parts of a word that was written without its gap ("강릉서울" in "강릉-서울")."""
    cuts = range(_PART_CHARS, len(term) - _PART_CHARS + 1)
    parts = [(term[:cut], term[cut:]) for cut in cuts if term[:cut] in piece and term[cut:] in piece]
    return bool(parts) and any(
        first in line and second in line for line in map(_squeezed, piece.text.splitlines()) for first, second in parts
    )


def _squeezed(line: str) -> str:
    return Held(line).squeezed


def share_held(pieces: Sequence[Held], question: Question, weights: dict[str, float]) -> float:
    """The weight of those subjects that one of the pieces holds."""
    return sum(weight for term, weight in weights.items() if any(holds(piece, question, term) for piece in pieces))
