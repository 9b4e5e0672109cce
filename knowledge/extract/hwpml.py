"""HWPML: a Hangul document as one XML file (.hml, and .hwp downloads of law portals)."""

from __future__ import annotations

import io

from knowledge.errors import UnreadableFile
from knowledge.extract.hwp_errors import no_text
from knowledge.extract.hwp_xml import XmlBodyReader, child, local, parse_xml, read_numbering_xml
from knowledge.extract.page_margins import telling_margins
from knowledge.extract.titles import confirmed_title
from knowledge.types import Extraction

_MAX_BYTES = 128 * 1024 * 1024


def extract_hwpml(content: bytes, *, name: str) -> Extraction:
    """Blocks of a HWPML file. Raises UnreadableFile for broken XML, declared entities and files without text."""
    if len(content) > _MAX_BYTES:
        raise UnreadableFile(f"{name} is larger than {_MAX_BYTES // 2**20} MB; split the document or remove it.")
    root = parse_xml(io.BytesIO(content), name=name)
    if local(root) != "hwpml":
        raise UnreadableFile(f"{name} is XML but not a Hangul document (HWPML); save it anew in Hangul.")
    reader = XmlBodyReader(numbering=read_numbering_xml(root))
    body = child(root, "body")
    blocks = reader.paragraphs(body) if body is not None else []
    blocks = [*telling_margins(reader.margins, blocks), *blocks]
    if not blocks:
        raise no_text(name)
    title = next(("".join(element.itertext()) for element in root.iter() if local(element) == "title"), None)
    return Extraction(
        format="hwpml", extractor="hwpml", status="ok", title=confirmed_title(title, blocks), blocks=tuple(blocks)
    )
