"""Contents pages and indexes: lines that only say where something stands, which must yield no chunk."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from knowledge.chunking.markers import is_sentence, read_marker
from knowledge.chunking.pieces import Piece

_LEADERS = re.compile(r"(?:[·.…‥․ㆍ⋯∙•・｡。_\-–—─‧]\s?){4,}\s*[-(]?\s*(\d{0,4})\s*[-)]?\s*$")
_PAGE_AT_END = re.compile(r"(?:\t|\s{2,})\s*\(?(\d{1,4}|\d{1,3}(?:-\d{1,3}){1,3})\)?\s*$")
_HEADING = re.compile(
    r"^\s*[<\[【〈(]?\s*(?:목\s*차|차\s*례|(?:조\s*문|규\s*정)\s*(?:순\s*서|목\s*차|차\s*례)|"
    r"(?:table of )?contents|"
    r"[가-힣\s]{0,14}(?:찾\s*아\s*보\s*기|색\s*인))\s*[>\]】〉)]?\s*$",
    re.I,
)
_MAX_GAP_LINES = 6
_MAX_ENTRY_CHARS = 300
_MIN_RUN = 3


def contents_pieces(pieces: Sequence[Piece]) -> set[int]:
    """Indexes of the pieces that belong to a contents page or an index."""
    dropped: set[int] = set()
    _mark_leader_runs(pieces, dropped)
    _mark_after_headings(pieces, dropped)
    _mark_repeated_headings(pieces, dropped)
    return dropped


def _mark_leader_runs(pieces: Sequence[Piece], dropped: set[int]) -> None:
    """Runs of lines with dot leaders whose page numbers do not fall."""
    run: list[int] = []
    pages: list[int] = []

    def close() -> None:
        enough = len(run) >= _MIN_RUN or (len(run) == 2 and run[0] > 0 and _search(_HEADING, pieces[run[0] - 1].text))
        rising = sum(a <= b for a, b in itertools.pairwise(pages)) >= 0.8 * (len(pages) - 1)
        told = sum(1 for index in run if read_marker(pieces[index].text)) + len(pages)
        if enough and rising and told >= 0.6 * len(run):
            dropped.update(range(run[0], run[-1] + 1))
            if run[0] > 0 and _search(_HEADING, pieces[run[0] - 1].text):
                dropped.add(run[0] - 1)
        run.clear()
        pages.clear()

    for index, piece in enumerate(pieces):
        leaders = _search(_LEADERS, piece.text) if piece.kind in ("line", "heading") else None
        if leaders and leaders.start() > 0:
            run.append(index)
            if leaders[1]:
                pages.append(int(leaders[1]))
        elif run and (index - run[-1] > _MAX_GAP_LINES or len(piece.text) > 60 or is_sentence(piece.text)):
            close()
    close()


def _search(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """A match in a line that is short enough to be an entry; the patterns take quadratic time on endless dots."""
    return pattern.search(text) if len(text) <= _MAX_ENTRY_CHARS else None


def _mark_after_headings(pieces: Sequence[Piece], dropped: set[int]) -> None:
    """What follows a line such as 목차 or 찾아보기 while lines end in page numbers."""
    index = 0
    while index < len(pieces):
        if not _search(_HEADING, pieces[index].text):
            index += 1
            continue
        last = index
        entries = 0
        cursor = index + 1
        while cursor < len(pieces) and cursor - last <= _MAX_GAP_LINES:
            text = pieces[cursor].text
            if _search(_PAGE_AT_END, text) or _search(_LEADERS, text) or cursor in dropped:
                entries += 1
                last = cursor
            elif len(text) > 60 or is_sentence(text):
                break
            cursor += 1
        if entries >= _MIN_RUN:
            dropped.update(range(index, last + 1))
        index = max(last, index) + 1


def _mark_repeated_headings(pieces: Sequence[Piece], dropped: set[int]) -> None:
    """Runs of bare headings, one after the other, each of which comes again later: a contents page without numbers."""
    keys = [_heading_key(piece) for piece in pieces]
    last_seen = {key: index for index, key in enumerate(keys) if key is not None}
    run: list[int] = []
    for index in range(len(pieces) + 1):
        key = keys[index] if index < len(pieces) else None
        if key is not None and last_seen[key] > index:
            run.append(index)
            continue
        # each must return beyond the run itself: forms that repeat inside one list are no contents page
        if len(run) >= _MIN_RUN and all(last_seen[keys[i] or ""] > run[-1] for i in run):
            dropped.update(run)
            if run[0] > 0 and _search(_HEADING, pieces[run[0] - 1].text):
                dropped.add(run[0] - 1)
        run = []


def _heading_key(piece: Piece) -> str | None:
    if piece.kind == "row" or len(piece.text) > 60:
        return None
    marker = read_marker(piece.text)
    if marker is None or marker.rest.strip() or not marker.title or marker.title == "삭제":
        return None
    return f"{marker.anchor} {''.join(marker.title.split())}"
