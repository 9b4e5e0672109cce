"""Pictures inside documents that hold no other text: their OCR, and the choice between them and the text."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from knowledge.errors import NoText, UnreadableFile
from knowledge.types import Block, Extraction

FEW_CHARS = 40  # a document with pictures and hardly any text is its pictures
MAX_PICTURES = 300
_MIN_SIDE_PX, _MIN_PIXELS = 60, 60_000  # smaller ones are logos, stamps and bullets
_MAX_PICTURE_BYTES = 64 * 1024 * 1024
_FOLDERS = ("word/media/", "xl/media/", "bindata/", "pictures/")
_HWP_FOLDER = "BinData"
_DIGITS = re.compile(r"(\d+)")
_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM", b"RIFF")


@dataclass(frozen=True, slots=True)
class PicturesRead:
    """Blocks of the pictures that hold text, the number of each as its page; `warnings` name doubtful numbers."""

    blocks: tuple[Block, ...]
    warnings: tuple[str, ...]


def text_or_pictures(read: Callable[[], Extraction], read_pictures: Callable[[], Extraction]) -> Extraction:
    """What `read` gives; what `read_pictures` gives where that is hardly any text and the pictures hold more.

    Both raise NoText where there is none, the second also where there are no pictures; other errors of the second
    become a warning.
    """
    try:
        extraction = read()
    except NoText as error:
        try:
            return read_pictures()
        except NoText:
            raise error from None
    if letters(extraction.blocks) >= FEW_CHARS:
        return extraction
    try:
        pictures = read_pictures()
    except NoText:
        return extraction
    except UnreadableFile as error:
        warning = f"its pictures could not be read: {error}"
        return replace(extraction, status="partial", warnings=(*extraction.warnings, warning))
    return pictures if letters(pictures.blocks) > letters(extraction.blocks) else extraction


def letters(blocks: Iterable[Block]) -> int:
    """Letters and digits of the blocks together."""
    return sum(char.isalnum() for block in blocks for char in block.text)


def extract_pictures(content: bytes, *, name: str, kind: str, ocr_folder: Path | None) -> Extraction:
    """Blocks of the pictures in a document. Raises NoText where there are none, or OCR finds no text in them."""
    read = read_pictures(pictures_of(content), name=name, ocr_folder=ocr_folder)
    if not read.blocks:
        raise NoText(f"{name} holds no text, and its pictures hold none either; put a version with text in its place.")
    return Extraction(
        format=kind,
        extractor="tesseract (pictures inside)",
        status="ok",
        title=next((block.text for block in read.blocks if block.kind == "heading" and block.level == 1), None),
        blocks=read.blocks,
        warnings=read.warnings,
    )


def read_pictures(
    pictures: Sequence[bytes], *, name: str, ocr_folder: Path | None, page: int | None = None
) -> PicturesRead:
    """OCR of the pictures; `page` is the page of all of them, else each is a page of its own.

    Raises UnreadableFile where Tesseract is missing.
    """
    from knowledge.extract.images import extract_image
    from knowledge.extract.ocr_tesseract import require_tesseract

    if pictures:
        require_tesseract(name=name)
    blocks: list[Block] = []
    warnings: list[str] = []
    for number, picture in enumerate(pictures, start=1):
        at = page or number
        try:
            found = extract_image(picture, name=f"{name}, picture {number}", ocr_folder=ocr_folder)
        except NoText:
            continue
        except UnreadableFile as error:  # a damaged picture; the others may be whole
            warnings.append(str(error))
            continue
        blocks.extend(replace(block, page=at) for block in found.blocks)
        warnings.extend(warning.replace("page 1 ", f"page {at} ", 1) for warning in found.warnings)
    return PicturesRead(tuple(blocks), tuple(warnings))


def pictures_of(content: bytes) -> list[bytes]:
    """The pictures of a ZIP-based document or a Hangul file that may hold text, by the number in their names, each
    once."""
    found: list[bytes] = []
    seen: set[bytes] = set()
    for picture in _in_zip(content) if content[:2] == b"PK" else _in_hwp(content):
        digest = hashlib.sha256(picture).digest()
        if digest not in seen and may_hold_text(picture):
            found.append(picture)
        seen.add(digest)
        if len(found) == MAX_PICTURES:
            break
    return found


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in _DIGITS.split(name.lower())]


def _in_zip(content: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in sorted(archive.infolist(), key=lambda member: _natural(member.filename)):
                if member.filename.lower().startswith(_FOLDERS) and 0 < member.file_size <= _MAX_PICTURE_BYTES:
                    try:
                        yield archive.read(member)
                    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError):
                        continue  # a damaged picture; the others may be whole
    except (zipfile.BadZipFile, OSError, ValueError):
        return


def _in_hwp(content: bytes) -> Iterator[bytes]:
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            paths = [path for path in ole.listdir(streams=True, storages=False) if path[0] == _HWP_FOLDER]
            for path in sorted(paths, key=lambda path: _natural("/".join(path))):
                data = bytes(ole.openstream(path).read(_MAX_PICTURE_BYTES))
                yield data if data.startswith(_STARTS) else _inflated(data)
    except (OSError, ValueError, IndexError, TypeError, AttributeError, KeyError, RecursionError, MemoryError):
        return  # olefile meets damaged sector tables with whatever Python raises on them


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(-15).decompress(data, _MAX_PICTURE_BYTES)
    except zlib.error:
        return b""


def may_hold_text(picture: bytes) -> bool:
    """Whether this is a picture that OCR can open and that is larger than a logo."""
    import PIL.Image

    if not picture.startswith(_STARTS):
        return False
    try:
        with PIL.Image.open(io.BytesIO(picture)) as image:
            width, height = image.size
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        return False
    return min(width, height) >= _MIN_SIDE_PX and width * height >= _MIN_PIXELS
