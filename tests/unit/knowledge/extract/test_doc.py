"""Old Word documents through LibreOffice: its limits, its isolation, and what is told of files it cannot read."""

from __future__ import annotations

import io
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docx
import olefile
import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract, office
from knowledge.extract.office import OfficeLimits, convert
from tests.unit.knowledge.extract.scan_pages import ScanPage, needs_office, needs_tesseract


def docx_bytes(*paragraphs: str, picture: bytes | None = None) -> bytes:
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    if picture is not None:
        document.add_picture(io.BytesIO(picture), width=docx.shared.Inches(6))
    elif paragraphs:
        table = document.add_table(rows=2, cols=2)
        for cell, text in zip(
            (c for row in table.rows for c in row.cells), ["구분", "금액", "숙박비", "70,000"], strict=True
        ):
            cell.text = text
        document.add_paragraph("비고")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def doc_of(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    def make(content: bytes, kind: str = "doc:MS Word 97") -> bytes:
        folder = tmp_path_factory.mktemp("doc")
        (folder / "in.docx").write_bytes(content)
        profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
        command = [
            "soffice",
            profile,
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            str(folder),
            str(folder / "in.docx"),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return (folder / "in.doc").read_bytes()

    return make


@pytest.fixture(scope="module")
def rules(doc_of) -> bytes:  # type: ignore[no-untyped-def]
    return doc_of(docx_bytes("제1조(목적) 이 규정은 여비를 정한다.", "[별표 1] 여비 기준"))


def with_flags(content: bytes, flags: int, tmp_path: Path) -> bytes:
    """The document with bits of its FIB header set."""
    path = tmp_path / "changed.doc"
    path.write_bytes(content)
    with olefile.OleFileIO(str(path), write_mode=True) as ole:
        stream = bytearray(ole.openstream("WordDocument").read())
        stream[0x0A:0x0C] = (int.from_bytes(stream[0x0A:0x0C], "little") | flags).to_bytes(2, "little")
        ole.write_stream("WordDocument", bytes(stream))
    return path.read_bytes()


@needs_office
def test_paragraphs_and_tables_of_word_97_are_read(rules: bytes) -> None:
    extraction = extract(rules, name="여비규정.doc")
    assert extraction.format == "doc"
    assert extraction.extractor.startswith("libreoffice")
    assert [block.text for block in extraction.blocks if block.kind != "table"] == [
        "제1조(목적) 이 규정은 여비를 정한다.",
        "[별표 1] 여비 기준",
        "비고",
    ]
    (table,) = [block for block in extraction.blocks if block.kind == "table"]
    assert table.rows == (("구분", "금액"), ("숙박비", "70,000"))


@needs_office
def test_a_protected_document_is_named_before_libreoffice_starts(
    rules: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.extract.doc.convert", lambda *_, **__: pytest.fail("LibreOffice was started"))
    with pytest.raises(UnreadableFile, match=r"a\.doc is protected by a password"):
        extract(with_flags(rules, 0x0100, tmp_path), name="a.doc")


@needs_office
def test_a_cut_off_document_is_reported(rules: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.doc"):
        extract(rules[: len(rules) // 3], name="a.doc")


@needs_office
@needs_tesseract
def test_a_document_of_pictures_is_read_by_ocr(doc_of) -> None:  # type: ignore[no-untyped-def]
    page = ScanPage(1800, 500).text(100, 100, "제1조(목적) 이 규정은 여비를 정한다.")
    extraction = extract(doc_of(docx_bytes(picture=page.encoded())), name="a.doc")
    assert "이 규정은 여비를 정한다" in extraction.blocks[0].text
    assert extraction.blocks[0].page == 1


def test_a_missing_libreoffice_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office.shutil, "which", lambda _: None)
    with pytest.raises(UnreadableFile, match=r"a\.doc is a document that LibreOffice reads.*libreoffice-writer"):
        convert(b"x", name="a.doc", suffix=".doc", to="docx")


@needs_office
def test_a_conversion_that_takes_too_long_is_ended_with_all_its_processes(rules: bytes) -> None:
    before = _running()
    with pytest.raises(UnreadableFile, match=r"a\.doc kept LibreOffice busy for more than 0 s"):
        convert(rules, name="a.doc", suffix=".doc", to="docx", limits=OfficeLimits(wall_s=0.3))
    assert _running() <= before


@needs_office
def test_a_conversion_that_takes_too_much_memory_is_ended(rules: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.doc made LibreOffice take more than 30 MB of memory"):
        convert(rules, name="a.doc", suffix=".doc", to="docx", limits=OfficeLimits(memory_bytes=30_000_000))


@needs_office
def test_an_output_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UnreadableFile, match="could not be converted"):
        convert(b"\x00\x01\x02" * 200, name="a.doc", suffix=".doc", to="docx", limits=OfficeLimits(output_bytes=0))


def _running() -> set[str]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes()
        except OSError:
            continue
        if b"haechi-office-" in command:
            found.add(entry.parent.name)
    return found


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port on the loopback interface, and what was asked of it."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(1)
                    asked.append(connection.recv(200))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1], asked
        finally:
            done.set()
            thread.join()


def calling_page(port: int) -> bytes:
    """A page that wants a picture, a style sheet and an included page from the listener."""
    address = f"http://127.0.0.1:{port}"
    return (
        f'<html><head><link rel="stylesheet" href="{address}/a.css"></head><body><p>본문</p>'
        f'<img src="{address}/a.png" width="50" height="50"><iframe src="{address}/b.html"></iframe></body></html>'
    ).encode()


@needs_office
@pytest.mark.parametrize("isolated", [True, False])
def test_a_document_that_points_elsewhere_gets_no_connection(isolated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if isolated and not office.network_isolation():
        pytest.skip("this kernel allows no network namespaces to this user")
    if not isolated:  # then the profile alone must hold
        monkeypatch.setattr(office, "network_isolation", lambda: ())
    with listener() as (port, asked):
        converted = convert(calling_page(port), name="a.doc", suffix=".html", to="pdf")
    assert converted.startswith(b"%PDF")
    assert asked == []


def test_the_listener_of_these_tests_hears_connections() -> None:
    with listener() as (port, asked), socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        client.recv(1)
    assert asked == [b"GET / HTTP/1.0\r\n\r\n"]
