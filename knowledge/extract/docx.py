"""DOCX to blocks: body order kept, automatic numbers resolved, tracked changes accepted, boxes and notes included."""

from __future__ import annotations

import io
from typing import Any

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.decoding import clean_text
from knowledge.extract.docx_body import BodyReader, header_texts
from knowledge.extract.docx_package import check_package
from knowledge.extract.library_errors import LIBRARY_ERRORS
from knowledge.types import Block, Extraction


def extract_docx(content: bytes, *, name: str) -> Extraction:
    """Blocks in reading order. Raises UnreadableFile for damaged, protected, dangerous or empty documents."""
    check_package(content, name=name)
    document = _open(content, name=name)
    reader = BodyReader(document.part)
    headers = header_texts(document.part, "header")
    footers = header_texts(document.part, "footer")
    blocks = [
        *(Block(kind="note", text=clean_text(text)) for text in headers),
        *reader.read(),
        *(Block(kind="note", text=clean_text(text)) for text in footers if text not in headers),
    ]
    if not any(block.text.strip() for block in blocks):
        raise NoText(f"{name} is a Word document without text (blank, or only drawings); fill it or remove it.")
    return Extraction(
        format="docx",
        extractor="python-docx",
        status="partial" if reader.warnings else "ok",
        title=_title(document, blocks),
        blocks=tuple(blocks),
        warnings=tuple(reader.warnings),
    )


def _open(content: bytes, *, name: str) -> Any:
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from lxml.etree import LxmlError

    try:
        document = docx.Document(io.BytesIO(content))
        if document.element.body is None:
            raise UnreadableFile(f"{name} has no document body; save it again from Word.")
        return document
    except (*LIBRARY_ERRORS, PackageNotFoundError, LxmlError) as error:
        # a part that is missing or is not what its relationship says ends in one of these inside python-docx
        raise UnreadableFile(
            f"{name} is damaged or not a usual Word document ({type(error).__name__}); "
            "open it in Word and save it again as DOCX."
        ) from error


def _title(document: Any, blocks: list[Block]) -> str | None:
    """The first title or level-one heading of the document; its properties are too often those of the template."""
    for block in blocks[:10]:
        if block.kind == "heading" and block.level == 1:
            return " ".join(block.text.split())
    return None
