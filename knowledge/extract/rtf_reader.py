"""The state of an RTF reader: groups, destinations, code pages, and the flows of text that they fill."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from knowledge.extract.hwp_text import notes_behind_words, readable
from knowledge.extract.merged_cells import flat_text
from knowledge.extract.rtf_table import CellDefinition, Row, rows_to_blocks
from knowledge.types import Block

MAX_GROUPS = 5_000
_MAX_CELLS_A_ROW = 2_000
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_SKIPPED = frozenset({
    "colortbl", "pict", "object", "objdata", "themedata", "colorschememapping", "latentstyles", "datastore",
    "xmlnstbl", "listtable", "listoverridetable", "rsidtbl", "generator", "annotation", "atnid", "atnauthor",
    "atrfstart", "atrfend", "atntime", "atnicn", "atnref", "fldinst", "bkmkstart", "bkmkend", "nonshppict", "shprslt",
    "sp", "pn", "nonesttables", "revtbl", "filetbl", "pntxtb", "pntxta", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc",
    "tc", "xe", "private", "template", "operator", "company", "author", "subject", "keywords", "doccomm", "comment",
    "panose", "falt", "userprops", "do", "mmathPr", "wgrffmtfilter",
})  # fmt: skip
_KEPT_STARRED = frozenset({"shpinst", "shptxt", "nesttableprops", "footnote", "shppict", "listtext", "revised"})
_MARGINS = frozenset({"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"})
_CHARACTERS = {
    "tab": "\t", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emdash": "—",
    "endash": "–", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "nestcell": " | ", "nestrow": "\n",
}  # fmt: skip
_SYMBOLS = {b"~": " ", b"_": "-", b"-": "", b"{": "{", b"}": "}", b"\\": "\\", b"|": "", b":": "", b"*": ""}


class BrokenRtf(ValueError):
    """The text does not follow the format; the message says how."""


@dataclass(frozen=True, slots=True)
class _Group:
    """What a group's end restores."""

    destination: str = "body"
    skip: bool = False
    opens_flow: bool = False
    starred: bool = False
    code_page: str = "cp1252"
    unicode_skip: int = 1
    hidden: bool = False
    in_table: bool = False
    outline: int | None = None


@dataclass(slots=True)
class _Flow:
    """Text under way: the body, a note, a header or a text box."""

    text: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    notes: list[Block] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    cells: list[tuple[Block, ...]] = field(default_factory=list)
    cell: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class RtfReader:
    """Takes tokens one by one; `close` gives the blocks."""

    margins: list[str] = field(default_factory=list)  # headers and footers, each once
    title: str | None = None
    finished: bool = False
    _groups: list[_Group] = field(default_factory=list)
    _now: _Group = field(default_factory=_Group)
    _flows: list[_Flow] = field(default_factory=lambda: [_Flow()])
    _bytes: bytearray = field(default_factory=bytearray)
    _skip_chars: int = 0
    _ansi: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _styles: dict[int, int] = field(default_factory=dict)
    _style: int = 0
    _row: Row = field(default_factory=Row)
    _pending: CellDefinition = field(default_factory=CellDefinition)
    _note_count: int = 0

    def feed(self, kind: str, text: bytes, number: int | None) -> None:
        """One token. Raises BrokenRtf."""
        if kind == "bytes":
            self._raw(text)
        elif kind == "word":
            self._flush()
            self._word(text.decode("ascii"), number)
        elif kind == "open":
            self._flush()
            if len(self._groups) >= MAX_GROUPS:
                raise BrokenRtf(f"groups nested more than {MAX_GROUPS} deep")
            self._groups.append(self._now)
            self._now = replace(self._now, opens_flow=False, starred=False)
        elif kind == "close":
            self._flush()
            self._close_group()
        elif text == b"*":
            self._now = replace(self._now, starred=True)
        elif not self._now.skip:
            self._flush()
            self._put("\n" if text in (b"\r", b"\n") else _SYMBOLS.get(text, ""))

    def close(self) -> list[Block]:
        """Blocks of the body. Raises BrokenRtf when groups are still open."""
        self._flush()
        if self._groups or not self.finished:
            raise BrokenRtf(f"{len(self._groups)} groups are not closed")
        flow = self._flows[0]
        self._end_paragraph(flow)
        self._end_table(flow)
        return flow.blocks

    def _raw(self, text: bytes) -> None:
        if self._skip_chars:
            skipped = min(self._skip_chars, len(text))
            self._skip_chars -= skipped
            text = text[skipped:]
        if not self._now.skip:
            self._bytes += text

    def _flush(self) -> None:
        """Decodes what has gathered: a two-byte character may stand in several tokens, so not before it must."""
        if self._bytes:
            raw = bytes(self._bytes)
            self._bytes.clear()
            self._put(_decoded(raw, self._now.code_page, self._ansi))

    def _put(self, text: str) -> None:
        now = self._now
        if now.skip or now.hidden or not text:
            return
        if now.destination == "title":
            self.title = (self.title or "") + text
        elif now.destination == "fonttbl" or now.destination == "stylesheet" or now.destination == "info":
            return
        else:
            self._flows[-1].text.append(text)

    def _close_group(self) -> None:
        if not self._groups:
            raise BrokenRtf("a group is closed that was never opened")
        ended = self._now
        self._now = self._groups.pop()
        if ended.opens_flow:
            self._end_flow(ended.destination)
        self._skip_chars = 0
        self.finished = not self._groups

    def _end_flow(self, destination: str) -> None:
        flow = self._flows.pop()
        self._end_paragraph(flow)
        self._end_table(flow)
        if not flow.blocks:
            return
        if destination == "footnote":
            self._note_count += 1
            text = flat_text(flow.blocks).strip()
            self._flows[-1].text.append(f"(주{self._note_count})")
            self._flows[-1].notes.append(Block(kind="note", text=f"주{self._note_count}) {text}"))
        elif destination in _MARGINS:
            text = flat_text(flow.blocks).strip()
            if text not in self.margins:
                self.margins.append(text)
        else:
            self._flows[-1].notes.extend(flow.blocks)  # a text box: behind the paragraph that it is anchored in

    def _word(self, word: str, number: int | None) -> None:
        if self._skip_chars:
            self._skip_chars = 0
        if word in _SKIPPED or (self._now.starred and word not in _KEPT_STARRED):
            self._now = replace(self._now, skip=True)
            return
        if self._now.skip:
            return
        if word in ("footnote", "shptxt") or word in _MARGINS:
            self._flows.append(_Flow())
            self._now = replace(self._now, destination=word, opens_flow=True, in_table=False)
        elif word in ("fonttbl", "stylesheet", "info", "title"):
            self._now = replace(self._now, destination=word)
        elif word in _CHARACTERS:
            self._put(_CHARACTERS[word])
        elif word in ("par", "sect", "page"):
            self._paragraph_mark()
        elif word in ("cell", "row", "trowd", "cellx", "clmrg", "clvmrg", "trleft"):
            self._table_word(word, number)
        else:
            self._property(word, number)

    def _property(self, word: str, number: int | None) -> None:
        now = self._now
        if word == "u" and number is not None:
            self._unicode(number)
        elif word == "uc":
            self._now = replace(now, unicode_skip=max(0, min(number or 0, 100)))
        elif word == "ansicpg" and number is not None:
            self._ansi = _known_codec(f"cp{number}") or "cp1252"
            self._now = replace(now, code_page=self._ansi)
        elif word in ("f", "deff"):
            self._font = number or 0
            self._now = replace(now, code_page=self._fonts.get(self._font, self._ansi))
        elif word == "fcharset" and now.destination == "fonttbl":
            self._fonts[self._font] = _CHARSETS.get(number or 0, self._ansi)
        elif word in ("v", "deleted"):
            self._now = replace(now, hidden=number != 0)
        elif word == "plain":
            self._now = replace(now, hidden=False, code_page=self._fonts.get(0, self._ansi))
        elif word == "pard":
            self._now = replace(now, in_table=False, outline=None)
        elif word == "intbl":
            self._now = replace(now, in_table=True)
        elif word == "s":
            self._style = number or 0
            self._now = replace(now, outline=self._styles.get(self._style))
        elif word == "outlinelevel" and number is not None:
            if now.destination == "stylesheet":
                self._styles[self._style] = number
            else:
                self._now = replace(now, outline=number if 0 <= number <= 8 else None)

    def _unicode(self, number: int) -> None:
        code = number % 65_536
        text = self._flows[-1].text
        if 0xDC00 <= code < 0xE000 and text and "\ud800" <= text[-1][-1:] < "\udc00":
            high = ord(text[-1][-1])
            text[-1] = text[-1][:-1]
            self._put(chr(0x10000 + (high - 0xD800) * 0x400 + code - 0xDC00))
        else:
            self._put(chr(code))
        self._skip_chars = self._now.unicode_skip

    def _paragraph_mark(self) -> None:
        flow = self._flows[-1]
        if not self._now.in_table:
            self._end_table(flow)
        self._end_paragraph(flow, self._now.outline, into_cell=self._now.in_table)

    def _end_paragraph(self, flow: _Flow, outline: int | None = None, *, into_cell: bool = False) -> None:
        text = notes_behind_words(readable("".join(flow.text)))
        flow.text.clear()
        found: list[Block] = []
        if text:
            heading = outline is not None and "\n" not in text
            level = outline + 1 if outline is not None and heading else None
            found.append(Block(kind="heading" if heading else "paragraph", text=text, level=level))
        found.extend(flow.notes)
        flow.notes = []
        if into_cell:
            flow.cell.extend(found)
        else:
            if found:
                self._end_table(flow)
            flow.blocks.extend(found)

    def _table_word(self, word: str, number: int | None) -> None:
        flow = self._flows[-1]
        if word == "trowd":
            self._row, self._pending = Row(), CellDefinition()
        elif word == "trleft":
            self._row.left = number or 0
        elif word == "clmrg":
            self._pending.continues_left = True
        elif word == "clvmrg":
            self._pending.continues_above = True
        elif word == "cellx":
            self._pending.right = number or 0
            if len(self._row.definitions) < _MAX_CELLS_A_ROW:
                self._row.definitions.append(self._pending)
            self._pending = CellDefinition()
        elif word == "cell":
            self._end_paragraph(flow, into_cell=True)
            if len(flow.cells) < _MAX_CELLS_A_ROW:
                flow.cells.append(tuple(flow.cell))
            flow.cell = []
        elif flow.cells:
            flow.rows.append(Row(left=self._row.left, definitions=list(self._row.definitions), cells=flow.cells))
            flow.cells = []

    def _end_table(self, flow: _Flow) -> None:
        if flow.cells:
            flow.rows.append(Row(cells=flow.cells))
            flow.cells = []
        if flow.rows:
            flow.blocks.extend(rows_to_blocks(flow.rows))
            flow.rows = []
        if flow.cell:
            flow.blocks.extend(flow.cell)
            flow.cell = []


def _known_codec(name: str) -> str | None:
    import codecs

    try:
        return codecs.lookup({"cp10000": "mac_roman", "cp65001": "utf-8"}.get(name, name)).name
    except LookupError:
        return None


def _decoded(raw: bytes, code_page: str, ansi: str) -> str:
    """Text of raw bytes. Latin fonts of Korean documents hold both code pages: what is no valid Korean is Latin."""
    if raw.isascii():
        return raw.decode("ascii")
    try:
        return raw.decode(code_page)
    except UnicodeDecodeError:
        pass
    for other in (ansi, "cp1252"):
        try:
            return raw.decode(other)
        except UnicodeDecodeError:
            continue
    return raw.decode(code_page, errors="ignore")
