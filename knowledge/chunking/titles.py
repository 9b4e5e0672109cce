"""Title lines of regulations: short lines in front of 제1장 or 제1조, with nothing but dates between."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.chunking.markers import close_up, is_sentence, read_marker, strip_revisions
from knowledge.chunking.pieces import Piece

_MAX_TITLE_CHARS = 50
_MAX_UNKNOWN_CHARS = 30
_MAX_HISTORY_LINES = 120
_FIRST_LINES = 12
# letters that such names end in; contracts and applications are forms, not regulations
_KNOWN = re.compile(
    r"(?:규정|규칙|세칙|정관|학칙|지침|내규|요령|규약|요강|강령|약관|협약|협약서|준칙|헌장|조례|법|시행령|절차서?|"
    r"방침|회칙|수칙|편람|기준|규정집|운영안|매뉴얼|정책|"
    r"\b(?:[Pp]olic(?:y|ies)|[Rr]ules?|[Rr]egulations?|[Bb]y-?laws?|[Cc]harter|[Gg]uidelines?|[Cc]ode of [Cc]onduct)"
    r"|POLICY|RULES?|REGULATIONS?|BY-?LAWS?)(?:\s*\([^)]*\))?$"
)
_HISTORY = re.compile(
    r"^\s*[<\[(【〈]?.{0,30}(?:제정|개정|시행|공포|폐지|전문|일부|신설|발령|규정\s*제?\s*\d|예규|훈령|고시).{0,80}$|"
    r"^[\s\d년월일.,~\-()<>\[\]제정개시행전문부차호]+$|^\s*[(\[<【〈].{0,80}[)\]>】〉]\s*$|"
    r"^\s*(?:소관|관리|주관|담당|부서|문서\s*번호|관리\s*번호)"
)
_TAG = re.compile(r"\s*[【\[<〈(]\s*(?:폐\s*지|제\s*정|개\s*정|안|전부|일부|시행)[^】\]>〉)]*[】\]>〉)]\s*$")
_CLAUSE = re.compile(r"(?:하여|되어|에 따라|에 해당|하는|으로|에서|[은는을를이가에의와과로])\s|^[◈☞※*\d]")
_DATE = re.compile(r"\d{4}\s*[.년]|(?:제정|개정|시행)\s*$")
_TRANSITIONAL = re.compile(r"시행|경과|적용례|특례|준비|다른\s*(?:규정|법)|개정|폐지")


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """`known`: the name ends the way names of regulations do."""

    name: str
    known: bool


def find_titles(pieces: Sequence[Piece]) -> dict[int, Title]:
    """Titles by index of their piece."""
    titles: dict[int, Title] = {}
    history = _history_runs(pieces)
    for index, piece in enumerate(pieces):
        title = read_title(piece)
        if title is None:
            continue
        cursor = index + 1
        if title.known:
            cursor = min(history[cursor] if cursor < len(pieces) else cursor, cursor + _MAX_HISTORY_LINES)
        if cursor < len(pieces) and _is_beginning(pieces[cursor]):
            titles[index] = title
    return titles


def name_of(pieces: Sequence[Piece], titles: Mapping[int, Title]) -> str | None:
    """Name of the first regulation: its title line, else a line among the first that ends like one; None if neither."""
    first = min(titles, default=None)
    opening = next((i for i, piece in enumerate(pieces) if _is_beginning(piece)), len(pieces))
    if first is not None and first <= opening and titles[first].known:
        return titles[first].name
    for piece in pieces[: min(_FIRST_LINES, opening)]:
        title = read_title(piece)
        if title is not None and title.known:
            return title.name
    return titles[first].name if first is not None and first <= opening else None


def read_title(piece: Piece) -> Title | None:
    """The name that a line may be, or None: sentences, list items, rows and markers are none."""
    if piece.kind in ("row", "note"):
        return None
    text = piece.text.strip().strip("#* ")
    if not text or len(text) > _MAX_TITLE_CHARS + 40:
        return None
    name = close_up(_TAG.sub("", strip_revisions(text)))
    if not 2 <= len(name) <= _MAX_TITLE_CHARS or is_sentence(name) or "|" in name or "\t" in name.strip():
        return None
    if read_marker(text) is not None or not re.match(r"[가-힣A-Za-z「｢『]|\d{4}|\(", name):
        return None
    if not re.search(r"[가-힣A-Za-z]{2}", name) or _DATE.search(name):
        return None
    known = bool(_KNOWN.search(name))
    if not known and (len(name) > _MAX_UNKNOWN_CHARS or _CLAUSE.search(name)):
        return None
    return Title(name=name, known=known)


def _history_runs(pieces: Sequence[Piece]) -> list[int]:
    """For every index the next one whose piece is no line of dates, departments or brackets."""
    following = [len(pieces)] * (len(pieces) + 1)
    for index in range(len(pieces) - 1, -1, -1):
        following[index] = following[index + 1] if is_history(pieces[index].text) else index
    return following


def is_history(text: str) -> bool:
    """Whether a line between title and first article only tells dates, departments or remarks in brackets."""
    return len(text) <= 120 and bool(_HISTORY.match(text)) and read_marker(text) is None


def _is_beginning(piece: Piece) -> bool:
    marker = read_marker(piece.text) if piece.kind != "row" else None
    if marker is None or marker.main_number != 1 or "의" in marker.number:
        return False
    if marker.kind == "division":
        return marker.unit in ("편", "장", "Part", "Chapter") or (marker.unit == "절" and "총칙" in marker.title)
    return marker.kind == "article" and not _TRANSITIONAL.search(marker.title)
