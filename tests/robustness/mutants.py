"""Files that are damaged in a way that a seed decides, and what becomes of them in a reader's worker process."""

from __future__ import annotations

import io
import os
import random
import time
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import KnowledgeError, UnreadableFile, UnsupportedFormat
from knowledge.extract import extract

_MARKUP = b"<>/=0123456789-a&; \"'"
_BYTES = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
_COUNTS = (1, 2, 5, 20, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One damaged file: `original` as it was, and the seed of its damage. `tools` names whether Tesseract and
    LibreOffice may be called on it."""

    name: str
    seed: int
    original: bytes
    tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a mutant: "read", "unreadable", "unsupported", or "broken" with what was wrong."""

    outcome: str
    detail: str = ""
    seconds: float = 0.0


def damage(mutant: Mutant) -> bytes:
    """The bytes of the mutant, the same at every call."""
    rng = random.Random(mutant.seed)
    content = mutant.original
    ways = [_cut_off, _bytes_changed, _bytes_changed, _bytes_gone, _bytes_inserted, _piece_repeated]
    if content[:2] == b"PK":
        ways += [_member_changed] * 6
    if content[:4] == b"\xd0\xcf\x11\xe0":
        ways += [_stream_changed] * 6
    if content[:4] == b"%PDF":
        ways += [_pdf_object_changed] * 4
    if content[:4] == b"\x89PNG":
        ways = [_picture_changed] * 4 + [_bytes_changed, _cut_off]
    return rng.choice(ways)(rng, content)


def meet(mutant: Mutant) -> Fate:
    """Extracts the mutant and judges the outcome; runs in a worker process."""
    if not mutant.tools:
        os.environ["PATH"] = ""  # neither LibreOffice nor Tesseract: only what runs in this process is tried
    content = damage(mutant)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            extraction = extract(content, name="mutant.bin")
    except (UnreadableFile, UnsupportedFormat) as error:
        seconds = time.perf_counter() - start
        if "mutant.bin" not in str(error):
            return Fate(outcome="broken", detail=f"an error that names no file: {error}", seconds=seconds)
        kind = "unreadable" if isinstance(error, UnreadableFile) else "unsupported"
        return Fate(outcome=kind, detail=str(error), seconds=seconds)
    except KnowledgeError as error:
        return Fate(outcome="broken", detail=f"{type(error).__name__}: {error}")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  what is looked for here
        import traceback

        places = [
            f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
        ]
        return Fate(outcome="broken", detail=f"{type(error).__name__}: {error} at {' < '.join(places[:-7:-1])}")
    seconds = time.perf_counter() - start
    blocks = extraction.blocks
    if not any(block.text.strip() for block in blocks):
        return Fate(outcome="broken", detail="an extraction without text", seconds=seconds)
    if any("\x00" in block.text for block in blocks):
        return Fate(outcome="broken", detail="a NUL in the text", seconds=seconds)
    if any(block.rows and len({len(row) for row in block.rows}) != 1 for block in blocks):
        return Fate(outcome="broken", detail="rows of different lengths", seconds=seconds)
    return Fate(outcome="read", detail=extraction.status, seconds=seconds)


def _cut_off(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def _bytes_changed(rng: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(rng.choice(_COUNTS)):
        made[rng.randrange(len(made))] = rng.choice((*_BYTES, rng.randrange(256)))
    return bytes(made)


def _bytes_gone(rng: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(rng.choice(_COUNTS[:3])):
        if len(made) > 1:
            at = rng.randrange(len(made))
            del made[at : at + rng.randrange(1, 64)]
    return bytes(made)


def _bytes_inserted(rng: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(rng.choice(_COUNTS[:3])):
        at = rng.randrange(len(made) + 1)
        made[at:at] = rng.randbytes(rng.randrange(1, 16))
    return bytes(made)


def _piece_repeated(rng: random.Random, content: bytes) -> bytes:
    at, length = rng.randrange(len(content)), rng.randrange(1, 2_000)
    return content[:at] + content[at : at + length] * rng.randrange(2, 40) + content[at:]


def _markup_changed(rng: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(made) + 1)
        made[at : at + rng.randrange(0, 30)] = bytes(rng.choice(_MARKUP) for _ in range(rng.randrange(0, 14)))
    return bytes(made)


def _member_changed(rng: random.Random, content: bytes) -> bytes:
    """A sound archive in which one member is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError):
        return _bytes_changed(rng, content)
    texts = [name for name, data in members.items() if data and name.endswith((".xml", ".rels", ".hpf", ".bin"))]
    chosen = rng.choice(texts or [name for name in members if members[name]] or [""])
    if not chosen:
        return _bytes_changed(rng, content)
    change = _markup_changed if chosen.endswith((".xml", ".rels", ".hpf")) else _bytes_changed
    if rng.random() < 0.05:
        del members[chosen]
    else:
        members[chosen] = rng.choice((change, change, _piece_repeated, _cut_off))(rng, members[chosen])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _stream_changed(rng: random.Random, content: bytes) -> bytes:
    """A sound compound file in which one stream is damaged, inflated and deflated again where it is HWP."""
    import olefile

    from tests.unit.knowledge.extract.ole_files import compound_file

    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            streams = {"/".join(parts): ole.openstream(parts).read() for parts in ole.listdir() if len(parts) <= 2}
    except Exception:  # noqa: BLE001  a container that cannot be taken apart is damaged as it is
        return _bytes_changed(rng, content)
    header = streams.get("FileHeader", b"")
    packed = len(header) > 36 and bool(header[36] & 1)
    wanted = ("DocInfo", "BodyText", "ViewText", "WordDocument", "1Table", "0Table", "Workbook", "Book", "Data")
    names = [name for name in streams if name.split("/")[0] in wanted and streams[name]]
    if not names:
        return _bytes_changed(rng, content)
    chosen = rng.choice(names)
    data = streams[chosen]
    deflated = packed and chosen.startswith(("DocInfo", "BodyText"))
    if deflated:
        try:
            data = zlib.decompressobj(-15).decompress(data, 8_000_000)
        except zlib.error:
            deflated = False
    if not data:
        return _bytes_changed(rng, content)
    data = rng.choice((_bytes_changed, _bytes_changed, _bytes_gone, _bytes_inserted, _piece_repeated))(rng, data)
    if deflated:
        engine = zlib.compressobj(wbits=-15)
        data = engine.compress(data) + engine.flush()
    streams[chosen] = data
    try:
        return compound_file(streams)
    except Exception:  # noqa: BLE001  a container that cannot be taken apart is damaged as it is
        return _bytes_changed(rng, content)


def _pdf_object_changed(rng: random.Random, content: bytes) -> bytes:
    """Damage near one of the words that a PDF is made of: lengths, boxes, fonts, references."""
    words = (
        b"/Length",
        b"/Kids",
        b"/MediaBox",
        b"/Font",
        b"/Count",
        b"/Filter",
        b"/W",
        b"/Encoding",
        b"/Rotate",
        b"obj",
    )
    places = [at for word in words if (at := content.find(word, rng.randrange(len(content)))) >= 0]
    if not places:
        return _bytes_changed(rng, content)
    made = bytearray(content)
    at = rng.choice(places) + rng.randrange(0, 24)
    made[at : at + rng.randrange(0, 6)] = bytes(rng.choice(b"0123456789-/ []<>R") for _ in range(rng.randrange(0, 8)))
    return bytes(made)


def _picture_changed(rng: random.Random, content: bytes) -> bytes:
    """A sound picture of a page that a scanner spoiled: turned, cut, stained, blurred, too small."""
    from PIL import Image, ImageDraw, ImageFilter

    image = Image.open(io.BytesIO(content)).convert("L")
    for _ in range(rng.randrange(1, 4)):
        way = rng.randrange(6)
        if way == 0:
            image = image.rotate(rng.uniform(-180, 180), fillcolor=rng.randrange(256), expand=rng.random() < 0.5)
        elif way == 1:
            left, top = rng.randrange(image.width), rng.randrange(image.height)
            box = (
                left,
                top,
                min(image.width, left + rng.randrange(1, 2_000)),
                min(image.height, top + rng.randrange(1, 2_000)),
            )
            image = image.crop(box)
        elif way == 2:
            draw = ImageDraw.Draw(image)
            for _ in range(rng.randrange(1, 400)):
                x, y = rng.randrange(image.width), rng.randrange(image.height)
                draw.rectangle((x, y, x + rng.randrange(60), y + rng.randrange(60)), fill=rng.randrange(256))
        elif way == 3:
            image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0, 8)))
        elif way == 4:
            size = max(1, image.width // rng.randrange(1, 30)), max(1, image.height // rng.randrange(1, 30))
            image = image.resize(size)
        else:
            image = image.point(
                [rng.randrange(256) for _ in range(256)] if rng.random() < 0.3 else list(range(255, -1, -1))
            )
    out = io.BytesIO()
    image.save(out, rng.choice(("PNG", "JPEG", "BMP", "TIFF")))
    return out.getvalue()


def documents_in(folder: Path | None, endings: tuple[str, ...], *, largest_bytes: int) -> dict[str, bytes]:
    """Files below `folder` by name, for those who have real documents at hand; none without a folder."""
    if folder is None:
        return {}
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name.endswith(endings) and 0 < path.stat().st_size <= largest_bytes
    }
