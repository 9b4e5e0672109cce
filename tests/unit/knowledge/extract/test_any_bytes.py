"""Whatever the bytes are, the outcome is an extraction or one of the two documented errors."""

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.errors import UnreadableFile, UnsupportedFormat
from knowledge.extract import extract
from knowledge.types import Extraction
from tests.fixtures.documents.docx_writer import save
from tests.fixtures.documents.pdf_writer import PdfPage, write_pdf


def attempt(content: bytes) -> None:
    try:
        extraction = extract(content, name="anything.hwp")
    except (UnsupportedFormat, UnreadableFile):
        return
    assert isinstance(extraction, Extraction)
    assert any(block.text.strip() for block in extraction.blocks)
    for block in extraction.blocks:
        assert "\x00" not in block.text
        assert "\ufffd" not in block.text or extraction.format == "pdf"
        assert not block.rows or len({len(row) for row in block.rows}) == 1


MAGIC = [
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"{\\rtf1",
    b"<html>",
    b"\xff\xfe",
    b"# a\n|",
]


@given(
    st.one_of(st.binary(max_size=600), st.builds(lambda a, b: a + b, st.sampled_from(MAGIC), st.binary(max_size=300)))
)
@settings(max_examples=300, deadline=None)
def test_any_bytes(content: bytes) -> None:
    attempt(content)


@given(st.text(max_size=400), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "cp949", "utf-8-sig"]))
@settings(max_examples=200, deadline=None)
def test_any_text_in_any_encoding(text: str, encoding: str) -> None:
    attempt(text.encode(encoding, errors="replace"))


def made_docx() -> bytes:
    document = docx.Document()
    document.add_heading("규정", 1)
    document.add_paragraph("제1조(목적) 목적.")
    document.add_table(rows=2, cols=2).cell(0, 0).text = "셀"
    return save(document)


ORIGINALS = {
    "docx": made_docx(),
    "pdf": write_pdf(
        [PdfPage().text(60, 780, "제1조(목적) 정한다.").grid([60, 160, 260], [700, 650, 600]).text(70, 680, "일비")]
    ),
}


@pytest.mark.parametrize("name", ["docx", "pdf"])
@given(
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=8),
    length=st.none() | st.integers(0, 2**20),
)
@settings(max_examples=120, deadline=None)
def test_mutated_files(name: str, changes: list[tuple[int, int]], length: int | None) -> None:
    content = bytearray(ORIGINALS[name])
    for place, byte in changes:
        content[place % len(content)] = byte
    if length is not None:
        del content[length % len(content) :]
    attempt(bytes(content))
