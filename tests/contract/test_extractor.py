"""What every format's extractor promises, tried on a small document of each. A new format adds its sample."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import docx
import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import EXTRACT_VERSION, extract
from tests.fixtures.documents.docx_writer import save
from tests.fixtures.documents.pdf_writer import PdfPage, write_pdf
from tests.unit.knowledge.extract.office_samples import office_samples

MARKDOWN = """# 여비규정

제1조(목적) 여비를 정한다.

[별표 1] 기준표

| 직급 | 숙박비 |
|---|---|
| 임원 | 100,000 |
"""


def docx_sample() -> bytes:
    document = docx.Document()
    document.add_heading("여비규정", level=1)
    document.add_paragraph("제1조(목적) 여비를 정한다.")
    document.add_paragraph("[별표 1] 기준표")
    grid = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in grid.rows for c in row.cells], ["직급", "숙박비", "임원", "100,000"], strict=True
    ):
        cell.text = text
    return save(document)


def pdf_sample() -> bytes:
    page = PdfPage().text(220, 800, "여비규정", size=20)
    page.lines(60, 760, ["제1조(목적) 여비를 정한다.", "[별표 1] 기준표"], leading=24)
    page.grid([60, 160, 260], [700, 670, 640])
    for x, y, text in [(70, 680, "직급"), (170, 680, "숙박비"), (70, 650, "임원"), (170, 650, "100,000")]:
        page.text(x, y, text)
    return write_pdf([page])


SAMPLES: dict[str, bytes] = {
    "md": MARKDOWN.encode(),
    "txt": MARKDOWN.replace("# ", "", 1).replace("|---|---|\n", "").encode("cp949"),
    "docx": docx_sample(),
    "pdf": pdf_sample(),
    **office_samples(),
}


@pytest.fixture(params=sorted(SAMPLES))
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_the_format_is_told_by_the_content(kind: str) -> None:
    extraction = extract(SAMPLES[kind], name="renamed.bin")
    assert extraction.format == kind
    assert extraction.status == "ok"
    assert extraction.warnings == ()
    assert extraction.extractor


def test_text_comes_in_reading_order(kind: str) -> None:
    text = "\n".join(block.text for block in extract(SAMPLES[kind], name="a").blocks)
    places = [
        text.index(part) for part in ("여비규정", "제1조(목적) 여비를 정한다.", "[별표 1] 기준표", "직급", "100,000")
    ]
    assert places == sorted(places)


def test_a_number_stands_in_the_row_of_its_name(kind: str) -> None:
    rows = [row for block in extract(SAMPLES[kind], name="a").blocks for row in block.rows]
    assert rows == [("직급", "숙박비"), ("임원", "100,000")]


def test_the_same_bytes_give_the_same_blocks(kind: str) -> None:
    assert extract(SAMPLES[kind], name="a") == extract(SAMPLES[kind], name="a")


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_file_that_is_cut_off_never_gives_garbage(kind: str, share: float) -> None:
    whole = "".join("\n".join(block.text for block in extract(SAMPLES[kind], name="a").blocks).split())
    content = SAMPLES[kind]
    content = content[: int(len(content) * share)]
    with contextlib.suppress(UnreadableFile):  # PDF readers can rebuild what is whole, and text just ends earlier
        for block in extract(content, name="cut.bin").blocks:
            assert all("".join(word.split()) in whole for word in block.text.split() if word != "|")


def test_importing_the_package_loads_no_format() -> None:
    code = (
        "import sys, knowledge.extract, knowledge.chunking;"
        "print([m for m in ('docx', 'lxml', 'pypdfium2', 'markdown_it', 'olefile', 'knowledge.extract.pdf') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_the_version_is_part_of_the_interface() -> None:
    assert EXTRACT_VERSION
