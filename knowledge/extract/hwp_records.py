"""The record stream of HWP 5 as a tree: every record holds the deeper ones that follow it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

PARA_HEADER, PARA_TEXT, CTRL_HEADER, LIST_HEADER, TABLE = 66, 67, 71, 72, 77
SHAPE_COMPONENT, EQEDIT, TEXTART = 76, 88, 90
DOCUMENT_PROPERTIES, NUMBERING, BULLET, PARA_SHAPE = 16, 23, 24, 25

MAX_RECORDS = 5_000_000
MAX_DEPTH = 120  # a table in a table takes four levels
# layout only; left out of the tree because nothing of a text reader needs them
_SKIPPED = frozenset({68, 69, 70, 73, 74, 75})
_LONG = 0xFFF


class BrokenRecords(ValueError):
    """The record stream does not follow the format; the message says where."""


@dataclass(slots=True)
class Record:
    """One record with its payload; `children` are the records one level or more below, in file order."""

    tag: int
    level: int
    data: bytes
    children: list[Record] = field(default_factory=list)

    def u16(self, offset: int, default: int = 0) -> int:
        """The little-endian unsigned 16-bit number at `offset`, `default` where the payload is too short."""
        if len(self.data) < offset + 2:
            return default
        return int.from_bytes(self.data[offset : offset + 2], "little")

    def u32(self, offset: int, default: int = 0) -> int:
        """The little-endian unsigned 32-bit number at `offset`, `default` where the payload is too short."""
        if len(self.data) < offset + 4:
            return default
        return int.from_bytes(self.data[offset : offset + 4], "little")

    def i32(self, offset: int, default: int = 0) -> int:
        """The signed form of `u32`."""
        value = self.u32(offset, default)
        return value - 2**32 if value >= 2**31 else value

    def string(self, offset: int) -> tuple[str, int]:
        """A string with its length in front, and the offset behind it; empty where it does not fit."""
        size = self.u16(offset) * 2
        raw = self.data[offset + 2 : offset + 2 + size]
        if len(raw) < size:
            return "", len(self.data)
        return raw.decode("utf-16-le", errors="replace"), offset + 2 + size

    @property
    def control(self) -> bytes:
        """The four letters of a control ("tbl ", "gso ", "fn  "), stored as a little-endian number."""
        return self.data[3::-1] if len(self.data) >= 4 else b""


def read_records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(tag, level, payload) of each record. Raises BrokenRecords where a record goes beyond the end."""
    at = number = 0
    end = len(data)
    unpack = struct.Struct("<I").unpack_from
    while at + 4 <= end:
        (head,) = unpack(data, at)
        at += 4
        size = head >> 20
        if size == _LONG:
            if at + 4 > end:
                raise BrokenRecords("the last record has no length")
            (size,) = unpack(data, at)
            at += 4
        if at + size > end:
            raise BrokenRecords(f"record {number} is cut off")
        number += 1
        if number > MAX_RECORDS:
            raise BrokenRecords(f"more than {MAX_RECORDS} records")
        yield head & 0x3FF, head >> 10 & 0x3FF, data[at : at + size]
        at += size
    if any(data[at:]):
        raise BrokenRecords("bytes behind the last record")


def read_tree(data: bytes) -> list[Record]:
    """The top records of a stream with everything below them. Raises BrokenRecords, also when nested too deeply."""
    roots: list[Record] = []
    path: list[Record] = []
    for tag, level, payload in read_records(data):
        if tag in _SKIPPED:
            continue
        record = Record(tag, level, payload)
        while path and path[-1].level >= level:
            path.pop()
        if len(path) >= MAX_DEPTH:
            raise BrokenRecords(f"records nested more than {MAX_DEPTH} deep")
        (path[-1].children if path else roots).append(record)
        path.append(record)
    return roots
