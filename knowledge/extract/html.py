"""HTML pages to blocks: what a visitor came to read, without navigation, scripts and footers."""

from __future__ import annotations

import re
from typing import Any

from knowledge.errors import UnreadableFile
from knowledge.extract.decoding import decode
from knowledge.extract.html_body import HtmlBodyReader
from knowledge.extract.titles import confirmed_title
from knowledge.types import Block, Extraction

MAX_BYTES = 64 * 1024 * 1024
_META_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,30})", re.I)
_META_WITHIN_BYTES = 8192
_KOREAN_NAMES = frozenset(
    {"euc-kr", "euckr", "ks_c_5601-1987", "ksc5601", "ks_c_5601", "cp949", "ms949", "x-windows-949"}
)
_SERVER_CODE = re.compile(r"<\?(?:php|=|\s).*?(?:\?>|\Z)|<%.*?(?:%>|\Z)|<\?xml[^>]*>", re.S | re.I)
_MAIN_MUST_HOLD = 0.4  # of the page's text, or it is not where the content stands

_TAGS = re.compile(rb"<(?:!--|/?(?:html|head|body|table|tr|td|th|div|p|ul|ol|li|span|h[1-6]|br|meta|title)\b)", re.I)
_LEAD = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:<\?php.*?\?>\s*|<!--.*?-->\s*|<%.*?%>\s*)*", re.S | re.I)


def looks_like_html(head: bytes) -> bool:
    """Whether the beginning of a file is HTML: tags from the first character on, or behind server code."""
    start = _LEAD.match(head)
    rest = head[start.end() if start else 0 :]
    found = {tag.lower().strip(b"</") for tag in _TAGS.findall(rest)}
    return rest[:1] == b"<" and len(_TAGS.findall(rest)) >= 6 and len(found) >= 3 and _TAGS.match(rest) is not None


def extract_html(content: bytes, *, name: str) -> Extraction:
    """Blocks of a page. Raises UnreadableFile when it is too large, cannot be decoded or holds no text."""
    import lxml.etree
    import lxml.html

    if len(content) > MAX_BYTES:
        raise UnreadableFile(f"{name} is larger than {MAX_BYTES // 2**20} MB; split the page or remove it.")
    text, warnings = _decoded(content, name=name)
    text = _SERVER_CODE.sub(" ", text).strip()
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    try:
        root = lxml.html.document_fromstring(text.encode("utf-8", errors="ignore") or b" ", parser=parser)
    except (lxml.etree.LxmlError, ValueError, AssertionError) as error:
        raise _no_text(name) from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):  # the parser gave up half-way
        raise UnreadableFile(
            f"{name} is an HTML page that nests its elements too deeply to be read; print it to PDF, or remove it."
        )
    blocks = HtmlBodyReader().read(_content(root))
    if not any(block.text.strip() or block.rows for block in blocks):
        raise _no_text(name)
    return Extraction(
        format="html",
        extractor="html (lxml)",
        status="ok",
        title=_title(root, blocks),
        blocks=tuple(blocks),
        warnings=warnings,
    )


def _no_text(name: str) -> UnreadableFile:
    return UnreadableFile(
        f"{name} is an HTML page without text of its own (a frame, or filled in by a script); save the page as the "
        "browser shows it, or print it to PDF."
    )


def _decoded(content: bytes, *, name: str) -> tuple[str, tuple[str, ...]]:
    """Text and warnings: UTF-8 where it is valid, else what the page says, else what its bytes look like."""
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        pass
    said = _META_CHARSET.search(content[:_META_WITHIN_BYTES])
    charset = said.group(1).decode("ascii").lower() if said else ""
    if charset in _KOREAN_NAMES:
        text = content.decode("cp949", errors="replace")
        bad = text.count("\ufffd")
        if bad <= 0.02 * len(text):
            warnings = (f"{bad} characters could not be decoded as cp949 and were dropped",) if bad else ()
            return text.replace("\ufffd", ""), warnings
    decoded = decode(content, name=name)
    return decoded.text, decoded.warnings


def _content(root: Any) -> Any:
    """The element that holds the content: <main> where it holds enough of the text, else the body."""
    body = root.find("body")
    body = root if body is None else body
    mains = body.xpath(".//main | .//*[@role='main']")
    if len(mains) == 1:
        whole = sum(len(text.strip()) for text in body.itertext("*"))
        inner = sum(len(text.strip()) for text in mains[0].itertext("*"))
        if inner >= _MAIN_MUST_HOLD * whole:
            return mains[0]
    return body


def _title(root: Any, blocks: list[Block]) -> str | None:
    tops = [block.text for block in blocks if block.kind == "heading" and block.level == 1]
    if len(tops) == 1:
        return tops[0]
    element = root.find(".//title")
    said = " ".join(element.text_content().split()) if element is not None else ""
    return confirmed_title(re.split(r"\s[|>:\-–]\s", said)[0], blocks) or confirmed_title(said, blocks)
