"""Korean regulations: one section an article, appendix or supplementary provision, labelled and linked.

A file may hold several regulations: a title line in front of 제1장 or 제1조 opens the next one. Articles inside
supplementary provisions (which restart at 제1조) and inside forms belong to those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.chunking.drafts import GroupNames, build_drafts
from knowledge.chunking.effective import Revision, Told, folder_of, names_of, revision_of
from knowledge.chunking.markers import Marker, close_up, is_sentence, read_marker, strip_revisions
from knowledge.chunking.pieces import Piece
from knowledge.chunking.references import find_references
from knowledge.chunking.splitting import split_section
from knowledge.chunking.titles import Title, find_titles, is_history, name_of, read_title
from knowledge.types import ChunkDraft, ChunkKind

_MIN_BODY_CHARS = 25
_MAX_NAMES_CHARS = 200
_HEADER_LINES = 60
_DIVISION_ORDER = {"편": 0, "Part": 0, "장": 1, "Chapter": 1, "절": 2, "관": 3}
_TELLING = re.compile(r"삭\s*제|폐\s*지|생\s*략|준용|해당\s*없음")
_FIRST_ARTICLE = re.compile(
    r"목\s*적|目\s*的|명\s*칭|설\s*치|총\s*칙|근\s*거|취\s*지|정\s*의|적용\s*범위|^(?:purpose|name|general|definition|scope|object)",
    re.I,
)
_APPENDIX_TITLE_LINES = 3
_ITEM = re.compile(r"\s*(?:[①-⑳\d○◦ㅇ※\-*·]|[가-하]\.|비\s*고|주\s*[:)]|참\s*고)")  # headings that divide an appendix
_RELATED = re.compile(r"^\s*[(（\[<]?\s*제\s*\d+\s*조.{0,40}관련.{0,20}[)）\]>]?\s*$")


@dataclass(slots=True)
class _Section:
    """`marker` is None for text in front of the first article or between regulations."""

    regulation: str
    chapter: tuple[str, ...]
    marker: Marker | None
    place: int = 0  # which regulation of the document, from 0: two may have the same name
    is_named: bool = True  # whether a line of the document names the regulation
    pieces: list[Piece] = field(default_factory=list)
    extra_anchors: list[str] = field(default_factory=list)
    inner_heading: str = ""  # of a heading inside a regulation that is no marker

    @property
    def kind(self) -> ChunkKind:
        if self.marker is None:
            return "section"
        return "article" if self.marker.kind == "article" else "appendix"

    @property
    def heading(self) -> str:
        return self.marker.heading if self.marker else self.inner_heading

    @property
    def is_stub(self) -> bool:
        """Hardly any text below the heading."""
        if self.marker is None:
            total = sum(len(piece.text.strip()) for piece in self.pieces)
            telling = sum(len(piece.text.strip()) for piece in self.pieces if not _only_names(piece))
            return telling < _MIN_BODY_CHARS and total < _MAX_NAMES_CHARS
        body = len(self.marker.rest.strip()) + sum(len(piece.text.strip()) for piece in self.pieces[1:])
        return body < _MIN_BODY_CHARS


def is_regulation(pieces: Sequence[Piece]) -> bool:
    """Whether articles or bracketed appendices stand at line starts, more than by accident."""
    articles: set[str] = set()
    others = 0
    for piece in pieces:
        marker = read_marker(piece.text) if piece.kind != "row" else None
        if marker is None or (marker.kind == "appendix" and marker.is_attachment):
            continue
        if marker.kind == "article" and not marker.weak:
            articles.add(marker.number)
        elif marker.kind == "article":
            articles.add(f"weak {marker.number}") if marker.main_number <= len(articles) + 1 else None
        elif marker.kind == "appendix" and piece.text.lstrip(" #*")[:1] in "[<〈【《〔":
            others += 2
        elif marker.kind in ("appendix", "supplement"):
            others += 1
    return len(articles) >= 2 or (len(articles) == 1 and others >= 1) or others >= 2


def chunk_regulation(pieces: Sequence[Piece], *, title: str, uri: str = "") -> list[ChunkDraft]:
    """Drafts in reading order. `title` names the document, and the regulation where no title line does.

    `uri` may tell since when it holds, as `title` may.
    """
    read = _Reader(pieces, title=title).read()
    revisions = _revisions(read, names=names_of(title, uri), folder=folder_of(uri))
    sections = _merge_stubs(read)
    appendices: dict[int, list[str]] = {}
    for section in sections:
        if section.marker is not None and section.marker.kind == "appendix":
            appendices.setdefault(section.place, []).extend(_anchors(section))
    groups = GroupNames()
    drafts: list[ChunkDraft] = []
    for section in sections:
        own = appendices.get(section.place, [])
        drafts.extend(_drafts(section, title=title, groups=groups, appendices=own, revision=revisions[section.place]))
    return drafts


def _revisions(sections: Sequence[_Section], *, names: Sequence[str], folder: str) -> dict[int, Revision]:
    """Place of a regulation within the document -> what it is a revision of, and since when it holds."""
    told: dict[int, Told] = {}
    begun: set[int] = set()  # places of the regulations of which an article has been seen
    for section in sections:
        of_one = told.setdefault(
            section.place, Told(name=section.regulation if section.is_named else "", folder=folder)
        )
        texts = [piece.text for piece in section.pieces]
        is_front = section.place not in begun  # what stands under a later chapter's heading tells of its articles
        if section.marker is None and is_front and len(of_one.header) < _HEADER_LINES:
            of_one.header.extend(texts[:_HEADER_LINES])
        elif section.marker is not None and section.marker.kind == "supplement" and texts:
            of_one.supplements.append((texts[0], "\n".join(texts)))
        if section.marker is not None:
            begun.add(section.place)
        of_one.notes.extend(texts)
    if len(told) == 1:  # the names of a document tell nothing of one regulation among many
        next(iter(told.values())).names = list(names)
    return {place: revision_of(of_one) for place, of_one in told.items()}


def _drafts(
    section: _Section, *, title: str, groups: GroupNames, appendices: Sequence[str], revision: Revision
) -> list[ChunkDraft]:
    heading = section.heading
    label = f"{section.regulation} {heading}".strip() if section.regulation else heading
    parts = split_section(section.pieces, title=heading)
    anchors = _anchors(section)
    return build_drafts(
        parts,
        kind=section.kind,
        group=groups.next(label or title),
        label=label or None,
        context=(title, section.regulation, " ".join(section.chapter)),
        regulation=section.regulation or None,
        anchors=anchors,
        refers_to=[find_references(part.text, own=anchors, appendices=appendices) for part in parts],
        revision=revision,
    )


def _anchors(section: _Section) -> tuple[str, ...]:
    own = (section.marker.anchor,) if section.marker else ()
    return tuple(dict.fromkeys((*own, *section.extra_anchors)))


class _Reader:
    """Walks over the pieces once and decides at every marker whether it opens a section here."""

    def __init__(self, pieces: Sequence[Piece], *, title: str) -> None:
        self._pieces = pieces
        self._title = title
        self._titles: dict[int, Title] = find_titles(pieces)
        name = name_of(pieces, self._titles)
        self._regulation = name or title
        self._place = 0
        self._is_named = name is not None
        # once a line among the first named the regulation, only a name that looks like one opens another
        self._regulation_is_known = name is not None and name not in {
            t.name for t in self._titles.values() if not t.known
        }
        self._divisions: dict[str, Marker] = {}
        self._last_article = (0, 0)
        self._inner_article = 0
        self._appendix_level: int | None = None  # of the heading that the appendix is, or stands right under
        self._sections: list[_Section] = []
        self._pending: list[Piece] = []  # divisions that no section follows yet
        self._open(None)

    def read(self) -> list[_Section]:
        for index, piece in enumerate(self._pieces):
            title = self._titles.get(index)
            if title is not None and self._accepts_title(title):
                self._start_regulation(title.name)
                self._current.pieces.append(piece)
                continue
            marker = read_marker(piece.text) if piece.kind != "row" else None
            if marker is not None and self._opens(marker, index):
                self._enter(marker, index)
            elif marker is None and piece.kind == "heading" and not self._stays_in_appendix(piece):
                self._open(None)
                self._current.inner_heading = piece.text.strip()
                self._current.pieces.append(piece)
            else:
                self._current.pieces.append(piece)
        self._sections[-1].pieces.extend(self._pending)
        return [section for section in self._sections if section.pieces]

    @property
    def _current(self) -> _Section:
        return self._sections[-1]

    def _inside(self, kind: str) -> bool:
        return self._current.marker is not None and self._current.marker.kind == kind

    def _inside_appendix(self) -> bool:
        return self._inside("appendix")

    def _stays_in_appendix(self, heading: Piece) -> bool:
        """Whether a heading that is no marker belongs to the appendix before it, and is not the next sheet or part."""
        if not self._inside_appendix():
            return False
        has_body = any(piece.kind != "heading" for piece in self._current.pieces[1:])
        if not has_body or _ITEM.match(heading.text) or self._appendix_level is None or heading.level is None:
            return True
        return heading.level > self._appendix_level

    def _open(self, marker: Marker | None) -> None:
        in_main = marker is None or marker.kind == "article"
        chapter = tuple(division.heading for division in self._divisions.values()) if in_main else ()
        self._sections.append(_Section(self._regulation, chapter, marker, place=self._place, is_named=self._is_named))
        self._inner_article = 0

    def _start_regulation(self, name: str | None) -> None:
        """Opens the next regulation; without a name the document's title stands for it."""
        self._current.pieces.extend(self._pending)
        self._pending = []
        if self._last_article != (0, 0) or (self._is_named and self._regulation != name):
            self._place += 1
        self._regulation = name or self._title
        self._is_named = name is not None
        self._divisions = {}
        self._last_article = (0, 0)
        self._open(None)

    def _accepts_title(self, title: Title) -> bool:
        """A contract inside a form is no regulation of its own, nor is a heading inside the first lines."""
        if self._inside_appendix() or self._regulation_is_known:
            return title.known
        return True

    def _opens(self, marker: Marker, index: int) -> bool:
        if marker.kind in ("appendix", "supplement"):
            return not self._is_wrapped_reference(marker, index)
        if marker.kind == "division":
            return self._opens_division(marker)
        return self._opens_article(marker)

    def _is_wrapped_reference(self, marker: Marker, index: int) -> bool:
        """Whether a bare "별표 1 ..." only continues the sentence of the line before it."""
        if marker.kind == "supplement" or index == 0 or self._pieces[index].text.lstrip(" #*")[:1] in "[<〈【(《〔":
            return False
        before = self._pieces[index - 1]
        same_block = before.block == self._pieces[index].block and before.kind == "line"
        return same_block and len(before.text) > 30 and not re.search(r"[.。>〉)\]】:：다함음]\s*$", before.text)

    def _opens_division(self, marker: Marker) -> bool:
        if not (self._inside_appendix() or self._inside("supplement")):
            return True
        last = self._divisions.get(marker.unit)
        return last is not None and marker.main_number == last.main_number + 1

    def _opens_article(self, marker: Marker) -> bool:
        main, branch = _numbers(marker)
        follows = (main, branch) in (
            (self._last_article[0] + 1, 0),
            (self._last_article[0], self._last_article[1] + 1 if self._last_article[1] else 2),
        )
        if self._inside("supplement") or self._inside_appendix():
            if main == self._inner_article + 1 or (main == self._inner_article and branch):
                restarts = main == 1 and self._inner_article == 0
                if not (follows and not marker.weak and not restarts and self._inner_article == 0):
                    self._inner_article = main
                    return False
            if main == 1 and self._inside("supplement") and _opens_regulation(marker):
                self._start_regulation(None)
                return True
            return follows and not marker.weak and self._last_article[0] > 0
        if main == 1 and branch == 0 and self._last_article[0] >= 2 and _opens_regulation(marker):
            self._start_regulation(None)
            return True
        return follows or not marker.weak or (main == 1 and self._last_article == (0, 0))

    def _enter(self, marker: Marker, index: int) -> None:
        piece = self._pieces[index]
        if marker.kind == "division":
            order = _DIVISION_ORDER[marker.unit]
            self._divisions = {
                unit: division for unit, division in self._divisions.items() if _DIVISION_ORDER[unit] < order
            }
            self._divisions[marker.unit] = marker
            if self._inside_appendix() or self._inside("supplement") or self._current.marker is not None:
                self._open(None)
            self._current.chapter = tuple(division.heading for division in self._divisions.values())
            self._current.pieces.append(piece)
            return
        if marker.kind == "article":
            self._last_article = _numbers(marker)
        if marker.kind == "appendix":
            marker = marker if marker.title else self._with_title_below(marker, index)
            if self._repeats_heading(marker, index):
                self._current.marker = marker
                self._current.pieces.append(piece)
                return
            above = self._pieces[index - 1] if index and piece.kind != "heading" else piece
            self._appendix_level = above.level if above.kind == "heading" else None
        self._open(marker)
        self._current.pieces.append(piece)

    def _repeats_heading(self, marker: Marker, index: int) -> bool:
        """Whether the heading right above is this appendix already: a sheet "별표 1" whose first row names it too."""
        own = self._current.marker
        above = self._pieces[index - 1] if index else None
        names_it = own is not None and own.anchor == marker.anchor and not own.title
        return names_it and above is not None and above.kind == "heading" and self._current.pieces[-1:] == [above]

    def _with_title_below(self, marker: Marker, index: int) -> Marker:
        """The title of an appendix often stands on the next line, behind revision marks and (제N조 관련)."""
        for other in self._pieces[index + 1 : index + 1 + _APPENDIX_TITLE_LINES]:
            text = other.text.strip()[:_MAX_NAMES_CHARS]
            title = close_up(strip_revisions(text))
            if not title or _RELATED.match(title):
                continue
            if other.kind == "row" or read_marker(text) or len(title) > 40 or is_sentence(text):
                break
            if re.match(r"[①-⑳\d○◦ㅇ※\-*·]|[가-하]\.", title):
                break
            return Marker(kind=marker.kind, unit=marker.unit, number=marker.number, title=title, rest=marker.rest)
        return marker


def _only_names(piece: Piece) -> bool:
    """Whether a line is the title of a division or regulation, or a remark about the title."""
    marker = read_marker(piece.text)
    if marker is not None:
        return marker.kind == "division"
    title = read_title(piece)
    return (title is not None and title.known) or is_history(piece.text)


def _numbers(marker: Marker) -> tuple[int, int]:
    main, _, branch = marker.number.replace("-", "의").replace(".", "의").partition("의")
    return int(main), int(branch or 0)


def _opens_regulation(marker: Marker) -> bool:
    return bool(_FIRST_ARTICLE.search(marker.title))


def _merge_stubs(sections: Sequence[_Section]) -> list[_Section]:
    """Sections that say something of their own.

    Headings alone (a chapter in front of its first article, a title line) go to the section that follows; runs of
    empty appendices become one; an article without text stays when it says that it was deleted.
    """
    merged: list[_Section] = []
    carried: list[Piece] = []
    run: _Section | None = None  # the section that collects empty appendices
    for section in sections:
        if section.marker is None and section.is_stub:
            carried.extend(section.pieces)
            continue
        empty = section.marker is not None and section.marker.kind == "appendix" and section.is_stub and not carried
        same = bool(merged) and merged[-1].place == section.place
        if empty and run is not None and run is merged[-1] and same:
            _absorb(run, section)
        elif empty and same and not _tells_something(section):
            _absorb(merged[-1], section)
        else:
            section.pieces[:0] = carried
            carried = []
            merged.append(section)
            run = section if empty else None
    if carried and merged:
        merged[-1].pieces.extend(carried)
    elif carried:
        last = sections[-1]
        merged.append(_Section(last.regulation, (), None, place=last.place, is_named=last.is_named, pieces=carried))
    return merged


def _absorb(target: _Section, section: _Section) -> None:
    target.pieces.extend(section.pieces)
    if section.marker is not None and target.marker is not None and target.marker.kind == "appendix":
        target.extra_anchors.append(section.marker.anchor)


def _tells_something(section: _Section) -> bool:
    return any(_TELLING.search(piece.text) for piece in section.pieces) or bool(section.marker and section.marker.title)
