"""Messages that a question quotes: code that holds them word for word is what wrote or shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.question import Question

QUOTED = "quoted"  # name of the feature, 0..1
_MIN_CHARS = 6
_MAX_CHARS = 120
_MAX_QUOTES = 8
_QUOTES = re.compile(
    rf'"([^"\n]{{{_MIN_CHARS},{_MAX_CHARS}}})"|“([^”\n]{{{_MIN_CHARS},{_MAX_CHARS}}})”'
    rf"|(?<!\w)'([^'\n]{{{_MIN_CHARS},{_MAX_CHARS}}})'(?!\w)|‘([^’\n]{{{_MIN_CHARS},{_MAX_CHARS}}})’"
    rf"|`([^`\n]{{{_MIN_CHARS},{_MAX_CHARS}}})`|「([^」\n]{{{_MIN_CHARS},{_MAX_CHARS}}})」"
)


def quoted_in(text: str) -> tuple[str, ...]:
    """What stands in quotation marks or backticks, of two words and more, lower case, without blanks and full stops at
    the ends; bounded. A single word is a name, which the question is read for anyway."""
    found = ("".join(filter(None, match.groups())).strip(" .").casefold() for match in _QUOTES.finditer(text))
    return tuple(dict.fromkeys(quote for quote in found if len(quote) >= _MIN_CHARS and " " in quote))[:_MAX_QUOTES]


def note_quotes(found: Sequence[Candidate], question: Question) -> None:
    """Writes into the candidates how surely they are where a quote of the question stands: less where many hold it."""
    for quote in quoted_in(question.text):
        holding = [candidate for candidate in found if quote in candidate.chunk.text.casefold()]
        for candidate in holding:
            share = 1 / math.sqrt(len(holding))
            candidate.features[QUOTED] = max(share, candidate.features.get(QUOTED, 0.0))
