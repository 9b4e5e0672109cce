"""What broke when 20,000 damaged files were read: each is an error that names the file, or a result."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.extract.pdf_chars import Char
from knowledge.extract.pdf_lines import Segment
from tests.contract.test_extractor import SAMPLES
from tests.unit.knowledge.extract.xls_files import xls


def with_bad_checksum(content: bytes, member: str) -> bytes:
    """The archive with one more member, whose data are not what its checksum says."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(member, b"thumbnail" * 40, zipfile.ZIP_STORED)
    made = bytearray(buffer.getvalue())
    made[made.rindex(b"thumbnailthumbnail")] ^= 0xFF
    return bytes(made)


@pytest.mark.parametrize(("kind", "member"), [("docx", "docProps/thumbnail.jpeg"), ("pptx", "ppt/media/image9.bin")])
def test_a_part_that_nobody_reads_with_a_wrong_checksum(kind: str, member: str) -> None:
    content = SAMPLES[kind]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        root = "_rels/.rels"
        members = {name: archive.read(name) for name in archive.namelist()}
    target = f'<Relationship Id="rIdX" Type="http://a/thumbnail" Target="{member}"/></Relationships>'.encode()
    members[root] = members[root].replace(b"</Relationships>", target)
    types = "[Content_Types].xml"
    extra = b'<Default Extension="bin" ContentType="a/b"/><Default Extension="jpeg" ContentType="image/jpeg"/></Types>'
    known = [part for part in (b'Extension="bin"', b'Extension="jpeg"') if part in members[types]]
    if not known:
        members[types] = members[types].replace(b"</Types>", extra)
    members.pop(member, None)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(UnreadableFile, match=rf"a\.{kind}"):
        extract(with_bad_checksum(buffer.getvalue(), member), name=f"a.{kind}")


def test_a_workbook_that_names_an_encoding_which_is_none() -> None:
    content = xls({(0, 0): "a"}, formats=[])
    code_page = struct.pack("<HHH", 0x42, 2, 1200)
    assert code_page in content
    with pytest.raises(UnreadableFile, match=r"a\.xls.*unknown encoding"):
        extract(content.replace(code_page, struct.pack("<HHH", 0x42, 2, 1153)), name="a.xls")


def test_glyphs_without_any_width_have_the_size_of_their_line() -> None:
    chars = [Char(letter, 100.0, 100.0, 100.0, 112.0, 12.0, order) for order, letter in enumerate("가나다")]
    assert Segment(tuple(chars)).em > 0
