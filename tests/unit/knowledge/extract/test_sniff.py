"""Formats by content: the name says nothing."""

import io
import zipfile

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract.sniff import sniff


def archive(*members: str, mimetype: bytes | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        if mimetype is not None:
            out.writestr("mimetype", mimetype)
        for member in members:
            out.writestr(member, b"<x/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"%PDF-1.7\n...", "pdf"),
        (b"\n%PDF-1.4\n...", "pdf"),
        (archive("word/document.xml"), "docx"),
        (archive("xl/workbook.xml"), "xlsx"),
        (archive("ppt/presentation.xml"), "pptx"),
        (archive("Contents/section0.xml", mimetype=b"application/hwp+zip"), "hwpx"),
        (archive("content.xml", mimetype=b"application/vnd.oasis.opendocument.text"), "odf"),
        (archive("a.txt"), "archive"),
        (b"{\\rtf1\\ansi\\ansicpg949 ...}", "rtf"),
        (b"HWP Document File V3.00 \x1a\x01", "hwp3"),
        (b"<!DOCTYPE html><html></html>", "html"),
        (b'<?xml version="1.0" encoding="UTF-8"?><HWPML Version="2.8"></HWPML>', "hwpml"),
        (b'<?xml version="1.0"?><w:wordDocument xmlns:w="x"/>', "wordml"),
        (b'<?xml version="1.0"?><a/>', "xml"),
        (b"\x89PNG\r\n\x1a\n....", "image"),
        (b"\xff\xd8\xff\xe0....", "image"),
        ("제1조(목적) %PDF-1.7 이라는 말".encode(), "text"),
        ("<개정 2020. 1. 1.> 제1조".encode(), "text"),
    ],
)
def test_content_decides(content: bytes, expected: str) -> None:
    assert sniff(content, name="report.doc").format == expected


def test_an_ole_file_that_is_cut_off_is_still_called_what_it_is() -> None:
    found = sniff(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 100, name="a.hwp")
    assert found.format == "ole"
    assert "damaged" in found.description


def test_an_archive_that_is_cut_off_is_unreadable() -> None:
    content = archive("word/document.xml")
    with pytest.raises(UnreadableFile, match=r"a\.docx starts like a ZIP-based document .* damaged or cut off"):
        sniff(content[: len(content) // 2], name="a.docx")
