"""Compound files (MS-CFB) for tests: every stream in whole sectors of its own, a flat or one-level directory."""

from __future__ import annotations

import struct

SECTOR = 512
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SMALLEST = 4096  # shorter streams would belong into the mini stream; they are padded with zeros instead


def compound_file(streams: dict[str, bytes]) -> bytes:
    """A file with `streams`; a name may have one storage in front: "BodyText/Section0"."""
    storages = sorted({name.split("/")[0] for name in streams if "/" in name})
    entries: list[tuple[str, int, str, bytes]] = [("Root Entry", 5, "", b"")]
    entries += [(name, 1, "", b"") for name in storages]
    for name, data in streams.items():
        storage, _, leaf = name.rpartition("/")
        entries.append((leaf, 2, storage, data.ljust(_SMALLEST, b"\0")))
    directory_sectors = -(-len(entries) * 128 // SECTOR)
    bodies = [entry[3].ljust(-(-len(entry[3]) // SECTOR) * SECTOR, b"\0") for entry in entries]
    fat_sectors = 1
    while True:
        used = fat_sectors + directory_sectors + sum(len(body) // SECTOR for body in bodies)
        if used <= fat_sectors * SECTOR // 4:
            break
        fat_sectors += 1
    fat = [_FAT] * fat_sectors + [*range(fat_sectors + 1, fat_sectors + directory_sectors), _END]
    starts = []
    for body in bodies:
        count = len(body) // SECTOR
        starts.append(len(fat) if count else _END)
        if count:
            fat += [*range(len(fat) + 1, len(fat) + count), _END]
    fat += [_FREE] * (fat_sectors * SECTOR // 4 - len(fat))
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_sectors, fat_sectors, 0, _SMALLEST,
        _END, 0, _END, 0,
    )  # fmt: skip
    header += b"".join(struct.pack("<I", n if n < fat_sectors else _FREE) for n in range(109))
    directory = _directory(entries, starts)
    return (
        header.ljust(SECTOR, b"\0")
        + struct.pack(f"<{len(fat)}I", *fat)
        + directory.ljust(directory_sectors * SECTOR, b"\0")
        + b"".join(bodies)
    )


def _directory(entries: list[tuple[str, int, str, bytes]], starts: list[int]) -> bytes:
    """Siblings hang to the right of one another, which readers accept as a (badly balanced) tree."""
    places = {(entry[2], entry[0]): number for number, entry in enumerate(entries)}
    ordered: dict[str, list[int]] = {}
    for (parent, _name), number in places.items():
        if number:
            ordered.setdefault(parent, []).append(number)
            ordered[parent].sort(key=lambda n: (len(entries[n][0]), entries[n][0].upper()))
    raw = b""
    for number, (name, kind, parent, data) in enumerate(entries):
        siblings = ordered.get(parent, [])
        right = _FREE
        if number in siblings and siblings.index(number) + 1 < len(siblings):
            right = siblings[siblings.index(number) + 1]
        children = ordered.get("" if kind == 5 else name, []) if kind in (1, 5) else []
        encoded = (name + "\0").encode("utf-16-le")
        raw += struct.pack(
            "<64sHBBIII16sIQQIQ",
            encoded, len(encoded), kind, 1, _FREE, right, children[0] if children else _FREE, b"", 0, 0, 0,
            starts[number] if data else (_END if kind == 5 else 0), len(data),
        )  # fmt: skip
    return raw
