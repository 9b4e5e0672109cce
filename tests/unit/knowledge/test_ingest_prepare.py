"""What is prepared for the catalog holds no secrets, in whatever blocks and cells a document tells them."""

from __future__ import annotations

import stat
from pathlib import Path

import docx
import pytest
from structlog.testing import capture_logs

from knowledge.catalog_generations import Generation
from knowledge.catalog_rows import KnownDocument, PreparedDocument
from knowledge.errors import ReaderMissing, UnreadableFile
from knowledge.ingest_prepare import PrepareTask, prepare
from knowledge.types import Discovered, Discovery
from tests.contract.test_extractor import SAMPLES
from tests.fixtures.documents.docx_writer import save
from tests.unit.knowledge.extract.scan_pages import condolence_page, needs_tesseract
from tests.unit.knowledge.extract.test_scan import pdf_of
from tests.unit.knowledge.shelf import Shelf

PASSWORD = "hunter2Secret!"
BODY = "MIIEowIBAAKCAQEA" + "aB3dE5fG7hJ9kL1mN3pQ5rS7"


def prepared(name: str, text: str) -> PreparedDocument:
    return prepare(
        PrepareTask(source="docs", kind="documents", uri=name, content_hash="h", revision="h", content=text.encode())
    )


def everything(document: PreparedDocument) -> str:
    return f"{document.title}\n{document.blocks}\n{document.drafts}"


@pytest.mark.parametrize(
    ("name", "text", "secret"),
    [
        ("a.md", f"# 서버\n\n| 항목 | 값 |\n|---|---|\n| 비밀번호 | {PASSWORD} |\n", PASSWORD),
        ("a.md", f"# 서버\n\n| 아이디 | 비밀번호 |\n|---|---|\n| admin | {PASSWORD} |\n", PASSWORD),
        ("a.md", "# 명부\n\n| 성명 | 앞자리 | 뒷자리 |\n|---|---|---|\n| 홍길동 | 900101 | 1234567 |\n", "1234567"),
        ("a.csv", f"서버,아이디,비밀번호\nweb,admin,{PASSWORD}\n", PASSWORD),
        ("a.html", f"<h1>서버</h1><table><tr><th>PW</th><td>{PASSWORD}</td></tr></table>", PASSWORD),
        ("a.html", f"<h1>서버</h1><p>비밀번호:</p><p>{PASSWORD}</p>", PASSWORD),
        ("a.html", f"<html><body><h1>서버</h1><p>비밀번호:</p><p>{PASSWORD}</p></body></html>", PASSWORD),
        ("a.md", f"# 서버\n\n비밀번호는 다음과 같다.\n\n{PASSWORD}\n", PASSWORD),
        (
            "a.html",
            f"<html><body><p>-----BEGIN RSA PRIVATE KEY-----</p><p>{BODY}</p><p>-----END RSA PRIVATE KEY-----</p></body></html>",
            BODY,
        ),
    ],
)
def test_a_secret_is_masked_in_blocks_rows_and_chunks(name: str, text: str, secret: str) -> None:
    document = prepared(name, text)
    assert document.status == "indexed"
    assert document.blocks
    assert secret not in everything(document)
    assert "[masked:" in everything(document)


def test_the_text_of_a_table_says_what_its_cells_say() -> None:
    document = prepared("a.md", f"# 서버\n\n| 아이디 | 비밀번호 |\n|---|---|\n| admin | {PASSWORD} |\n")
    table = next(block for block in document.blocks if block.rows)
    assert table.rows[-1] == ("admin", "[masked:password]")
    assert table.text.endswith("admin | [masked:password]")


def test_a_regulation_about_passwords_stays_as_it_is() -> None:
    text = "제1조(비밀번호) 비밀번호는 12자 이상으로 하고 180일마다 바꾼다.\n\n| 비밀번호 | 9자리 이상 |\n|---|---|\n"
    assert "[masked:" not in everything(prepared("a.md", text))


@needs_tesseract
def test_a_scan_is_read_once_and_its_raw_text_stays_private(tmp_path: Path) -> None:
    task = PrepareTask(
        source="docs", kind="documents", uri="scan.pdf", content_hash="h", revision="h",
        content=pdf_of(condolence_page()), ocr_folder=tmp_path / "ocr",
    )  # fmt: skip
    first = prepare(task)
    assert first.status == "indexed", first.reason
    (record,) = (tmp_path / "ocr").iterdir()
    assert stat.S_IMODE((tmp_path / "ocr").stat().st_mode) == 0o700
    written = record.stat().st_mtime_ns
    assert prepare(task).blocks == first.blocks
    assert record.stat().st_mtime_ns == written


def test_a_file_whose_reader_was_not_installed_is_tried_again_without_force(tmp_path: Path) -> None:
    from knowledge import ingest_prepare
    from knowledge.ingest_plan import make_plan

    assert issubclass(ReaderMissing, UnreadableFile)
    task = PrepareTask(source="docs", kind="documents", uri="a.ppt", content_hash="h", revision="h", content=b"x")

    def without_reader(task: PrepareTask) -> PreparedDocument:
        raise ReaderMissing("a.ppt needs a program: install it")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest_prepare, "_prepare_document", without_reader)
        document = prepare(task)
    assert document.status == "failed"
    generation = Generation(id=1, source="docs", state="active", fingerprint="", complete=True, spaces=())
    known = {"a.ppt": KnownDocument(
        number=1, uri="a.ppt", content_hash=document.content_hash, revision="h", status="failed"
    )}  # fmt: skip
    found = Discovery(revision="r", items=(Discovered(uri="a.ppt", content_hash="h", size_bytes=1),))
    assert [item.uri for item in make_plan(found, {1: known}, [generation], force=False).to_read] == ["a.ppt"]


def test_a_document_that_fails_leaves_its_reason_in_the_log_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    (shelf.folder / "broken.docx").write_bytes(b"PK\x03\x04 this is no archive")
    with capture_logs() as lines:
        shelf.sync()
        shelf.sync()
    shelf.close()
    (line,) = [line for line in lines if line["event"] == "document.failed"]
    assert (line["log_level"], line["source"], line["document"]) == ("warning", "rules", "broken.docx")
    assert "copy the file again" in line["reason"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.hwp", b"", "is empty"),
        ("cut.xlsx", SAMPLES["xlsx"][:900], "copy the file again"),
        ("program.doc", b"\x7fELF" + bytes(200), "exclude it"),
        ("blank.docx", save(docx.Document()), "fill it or remove it"),
        ("packed.hwp", b"\x1f\x8b" + bytes(99), "unpack it"),
    ],
)
def test_what_cannot_be_read_is_failed_with_what_to_do(name: str, content: bytes, reason: str) -> None:
    document = prepare(
        PrepareTask(source="docs", kind="documents", uri=name, content_hash="h", revision="h", content=content)
    )
    assert document.status == "failed"
    assert document.reason is not None
    assert name in document.reason
    assert reason in document.reason
