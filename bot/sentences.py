"""A stream of text cut into sentences, each with the markers that belong to it."""

from __future__ import annotations

import re

MARKERS = re.compile(
    r"[\[【]\s?(?:출처|source|evidence|근거)?\s?:?\s?(\d{1,3}(?:\s*[,;~–-]\s*\d{1,3})*)\s?[\]】]", re.IGNORECASE
)
_WIDEST_RANGE = 10
_SENTENCE_END = re.compile(
    r"(?<=[가-힣A-Za-z0-9)\]】」』\"'`%*_][.!?])(?<!\b[A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bArt\.)(?<!\bNo\.)(?<!\bvs\.)"
    r"(?<!\d[.])(?:\s*[\[【][\d,;~– -]+[\]】][.]?)*(?=\s|$)"
    r"|(?<=\d[.])(?=\s+[A-Z])(?<!\n\d[.])(?<!^\d[.])"
    r"|\n+",
)
_OPEN_END = re.compile(r"^\s*(?:[\[【][\d,;~– -]*[\]】]?[.]?\s*)*$")
_ENDED = re.compile(r"[\[【][\d,;~– -]+[\]】]\s?[.!?]$")
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:\d{1,2}[.)]|[-*•])\s*$")


def marked_numbers(text: str) -> list[int]:
    """The numbers of all markers, in order: "[1, 3] ... [2]" gives 1, 3, 2."""
    return [number for match in MARKERS.finditer(text) for number in split_numbers(match[1])]


def split_numbers(text: str) -> list[int]:
    """ "1, 3" -> [1, 3]; "1-3" -> [1, 2, 3], but not over more than ten."""
    found: list[int] = []
    for part in re.split(r"\s*[,;]\s*", text.strip()):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        wide = len(ends) == 2 and 0 < ends[1] - ends[0] < _WIDEST_RANGE
        found += range(ends[0], ends[1] + 1) if wide else ends
    return found


def split_sentences(text: str) -> list[str]:
    """Sentences with their markers and the white space that follows; joined again they give `text`."""
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        while end < len(text) and text[end] in " \t":
            end += 1
        only_mark = "\n" not in match[0] and _LIST_MARK.search(text[start : match.end()])
        if end <= start or only_mark:
            continue
        pieces.append(text[start:end])
        start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


class SentenceReader:
    """Cuts a stream into whole sentences, each as soon as it is certain where it ends: a marker may follow its stop."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that ended with this piece."""
        self._pending += piece
        sentences = split_sentences(self._pending)
        if not sentences:
            return []
        last = sentences.pop()
        if _ENDED.search(last):
            sentences.append(last)
            last = ""
        elif sentences and _OPEN_END.match(last) and "\n" not in sentences[-1]:
            last = sentences.pop() + last
        self._pending = last
        return sentences

    def finish(self) -> list[str]:
        """What is left when the stream has ended; blanks alone are nothing."""
        last, self._pending = self._pending, ""
        return split_sentences(last) if last.strip() else []
