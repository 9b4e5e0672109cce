"""Small HWP 5 files for tests, written record by record as Hancom's specification describes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence

from tests.unit.knowledge.extract.ole_files import compound_file

PARA_HEADER, PARA_TEXT, CTRL_HEADER, LIST_HEADER, TABLE, SHAPE_COMPONENT, EQEDIT = 66, 67, 71, 72, 77, 76, 88
NUMBERING, BULLET, PARA_SHAPE, DOCUMENT_PROPERTIES = 23, 24, 25, 16
Tree = tuple[int, bytes, list["Tree"]]  # tag, payload, records one level below


def record(tag: int, payload: bytes = b"", children: Sequence[Tree] = ()) -> Tree:
    return tag, payload, list(children)


def stream(trees: Sequence[Tree], level: int = 0) -> bytes:
    raw = b""
    for tag, payload, children in trees:
        size = min(len(payload), 0xFFF)
        raw += struct.pack("<I", tag | level << 10 | size << 20)
        raw += struct.pack("<I", len(payload)) if size == 0xFFF else b""
        raw += payload + stream(children, level + 1)
    return raw


def text_units(*parts: str | int) -> bytes:
    """Text with controls in it: a number is the code of an extended control, which takes eight places."""
    raw = b""
    for part in parts:
        if isinstance(part, int):
            raw += struct.pack("<H12xH", part, part)
        else:
            raw += part.encode("utf-16-le")
    return raw + struct.pack("<H", 13)


def paragraph(*parts: str | int, controls: Sequence[Tree] = (), shape: int = 0) -> Tree:
    text = text_units(*parts)
    header = struct.pack("<IIHBBHHHI", len(text) // 2, 0, shape, 0, 0, 1, 0, 0, 0)
    return record(PARA_HEADER, header, [record(PARA_TEXT, text), *controls])


def control(letters: bytes, payload: bytes = b"", children: Sequence[Tree] = ()) -> Tree:
    return record(CTRL_HEADER, letters[::-1] + payload, children)


def paragraph_list(paragraphs: Sequence[Tree], extra: bytes = b"") -> list[Tree]:
    return [record(LIST_HEADER, struct.pack("<HHI", len(paragraphs), 0, 0) + extra), *paragraphs]


def cell(row: int, column: int, *paragraphs: Tree | str, rows: int = 1, columns: int = 1) -> list[Tree]:
    content = [paragraph(item) if isinstance(item, str) else item for item in paragraphs]
    return paragraph_list(content, struct.pack("<HHHHII4HH", column, row, columns, rows, 100, 100, 0, 0, 0, 0, 0))


def table(*cells: list[Tree], caption: str = "", inline: bool = True, offset: int = 0) -> Tree:
    properties = 1 if inline else 2 << 3 | 3 << 21
    children = paragraph_list([paragraph(caption)]) if caption else []
    children.append(record(TABLE, struct.pack("<IHHH8x", 0, 9, 9, 0)))
    for item in cells:
        children += item
    return control(b"tbl ", struct.pack("<Ii", properties, offset) + bytes(32), children)


def text_box(*paragraphs: Tree) -> Tree:
    component = record(SHAPE_COMPONENT, bytes(8), paragraph_list(paragraphs))
    return control(b"gso ", bytes(40), [component])


def note(kind: bytes, *paragraphs: Tree) -> Tree:
    return control(kind, bytes(16), paragraph_list(paragraphs))


def automatic_number(number: int, kind: int = 0) -> Tree:
    return control(b"atno", struct.pack("<IHHHH", kind, number, 0, 0, ord(")")))


def equation(script: str) -> Tree:
    units = script.encode("utf-16-le")
    return control(b"eqed", bytes(40), [record(EQEDIT, struct.pack("<IH", 0, len(units) // 2) + units)])


def para_shape(kind: int = 0, level: int = 1, reference: int = 0) -> Tree:
    return record(PARA_SHAPE, struct.pack("<I24xHH", kind << 23 | (level - 1) << 25, 0, reference))


def numbering(*levels: tuple[str, int]) -> Tree:
    """Seven levels of (text, number style); missing ones are empty."""
    raw = b""
    for text, style in [*levels, *[("", 0)] * (7 - len(levels))]:
        units = text.encode("utf-16-le")
        raw += struct.pack("<IHHIH", style << 5, 0, 0, 0, len(units) // 2) + units
    return record(NUMBERING, raw + struct.pack("<H7I", 1, *[1] * 7))


def section_definition(outline: int = 0) -> Tree:
    return control(b"secd", struct.pack("<IHHHIH", 0, 0, 0, 0, 0, outline) + bytes(20))


def deflated(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def hwp(
    *sections: Sequence[Tree],
    doc_info: Sequence[Tree] = (),
    flags: int = 1,
    folder: str = "BodyText",
    decoy: Sequence[Tree] | None = None,
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """A whole file. `flags`: 1 compressed, 2 password, 4 distribution. Sections of distribution files come as bytes."""
    pack = deflated if flags & 1 else bytes
    info = [record(DOCUMENT_PROPERTIES, struct.pack("<H24x", len(sections))), *doc_info]
    streams = {
        "FileHeader": b"HWP Document File".ljust(32, b"\0")
        + bytes((0, 1, 0, 5))
        + struct.pack("<I", flags)
        + bytes(216),
        "DocInfo": pack(stream(info)),
    }
    for number, section in enumerate(sections):
        streams[f"{folder}/Section{number}"] = pack(stream(section))
    if decoy is not None:
        streams["BodyText/Section0"] = pack(stream(decoy))
    return compound_file({**streams, **(more or {})})
