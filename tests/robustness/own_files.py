"""Sound files of the project's own for mutants: richer than the samples of the contract, still small."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path

from tests.contract.test_extractor import docx_sample
from tests.unit.knowledge.extract.scan_pages import ScanPage, condolence_page
from tests.unit.knowledge.extract.test_any_office_bytes import original


def rich_files() -> dict[str, bytes]:
    """Files with tables, notes, nested content and merged cells, by format."""
    return {f"rich.{kind}": original(kind) for kind in ("hwp", "hwp3", "hwpx", "hwpml", "xlsx", "xls", "html", "rtf")}


def word_files() -> dict[str, bytes]:
    """A Word 97 file, made by LibreOffice, which writes no older ones any more."""
    return {"made.doc": converted(docx_sample(), ".docx", "doc:MS Word 97")}


def converted(content: bytes, suffix: str, to: str) -> bytes:
    """The file as LibreOffice saves it; `to` is an ending, with the name of a filter where there are several."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / f"in{suffix}").write_bytes(content)
        profile = f"-env:UserInstallation={(home / 'profile').as_uri()}"
        command = ["soffice", profile, "--headless", "--convert-to", to, "--outdir", folder, str(home / f"in{suffix}")]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return (home / f"in.{to.partition(':')[0]}").read_bytes()


def pages_of_scans() -> dict[str, bytes]:
    """Pages as a scanner gives them, as pictures."""
    plain = ScanPage(1200, 700).text(60, 80, "제1조(목적) 이 규정은 여비를 정한다.").text(60, 200, "숙박비 100,000원")
    buffer = io.BytesIO()
    condolence_page().image.reduce(2).save(buffer, "PNG")
    return {"plain.png": plain.encoded(), "table.png": buffer.getvalue()}
