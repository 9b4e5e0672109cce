"""Small XLS workbooks (BIFF8) for tests, record by record as MS-XLS describes them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from tests.unit.knowledge.extract.ole_files import compound_file


def _record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _text(text: str, length: str) -> bytes:
    return struct.pack(f"<{length}B", len(text), 1) + text.encode("utf-16-le")


def xls(
    cells: Mapping[tuple[int, int], str | tuple[float, int]],
    *,
    formats: Sequence[str] = (),
    merged: Sequence[tuple[int, int, int, int]] = (),
    title: str = "시트",
    hidden: bool = False,
    encrypted: bool = False,
) -> bytes:
    """A workbook of one sheet. A cell is text, or (number, place in `formats` from 0)."""
    start = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    if encrypted:
        start += _record(0x2F, struct.pack("<HHH", 1, 1, 1) + bytes(48))
    globals_ = start + _record(0x42, struct.pack("<H", 1200))
    globals_ += b"".join(
        _record(0x31, struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0) + _text("A", "B")) for _ in range(5)
    )
    for number, code in enumerate(formats):
        globals_ += _record(0x41E, struct.pack("<H", 164 + number) + _text(code, "H"))
    for number in range(-1, len(formats)):
        code = 0 if number < 0 else 164 + number
        globals_ += _record(0xE0, struct.pack("<HHHBBBBIIH", 0, code, 1, 0x20, 0, 0, 0, 0, 0, 0))
    sheet_place = len(globals_) + len(_record(0x85, struct.pack("<IBB", 0, 0, 0) + _text(title, "B"))) + 4
    globals_ += _record(0x85, struct.pack("<IBB", sheet_place, int(hidden), 0) + _text(title, "B")) + _record(0x0A)
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    last_row, last_column = max(row for row, _ in cells), max(column for _, column in cells)
    sheet += _record(0x200, struct.pack("<IIHHH", 0, last_row + 1, 0, last_column + 1, 0))
    for (row, column), value in sorted(cells.items()):
        if isinstance(value, str):
            sheet += _record(0x204, struct.pack("<HHH", row, column, 0) + _text(value, "H"))
        else:
            sheet += _record(0x203, struct.pack("<HHHd", row, column, value[1] + 1, value[0]))
    if merged:
        sheet += _record(
            0xE5, struct.pack("<H", len(merged)) + b"".join(struct.pack("<HHHH", *area) for area in merged)
        )
    return compound_file({"Workbook": globals_ + sheet + _record(0x0A)})
