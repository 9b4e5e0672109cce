"""The same small regulation in every office format: a title, an article, an appendix and its table."""

from __future__ import annotations

import io

import openpyxl
import pptx
from pptx.util import Cm

from tests.unit.knowledge.extract import hwp3_files, hwp_files, hwpx_files
from tests.unit.knowledge.extract.xls_files import xls

LINES = ("여비규정", "제1조(목적) 여비를 정한다.", "[별표 1] 기준표")
ROWS = (("직급", "숙박비"), ("임원", "100,000"))


def _hwp() -> bytes:
    h = hwp_files
    grid = h.table(*(h.cell(row, column, text) for row, line in enumerate(ROWS) for column, text in enumerate(line)))
    return h.hwp([*(h.paragraph(line) for line in LINES), h.paragraph(11, controls=[grid])])


def _hwp3() -> bytes:
    h = hwp3_files
    grid = h.table([
        (100 * column, 50 * row, 100, 50, h.paragraphs(h.paragraph(text)))
        for row, line in enumerate(ROWS) for column, text in enumerate(line)
    ])  # fmt: skip
    return h.hwp3(h.paragraphs(*(h.paragraph(line) for line in LINES), h.paragraph(grid)))


def _hwpx() -> bytes:
    h = hwpx_files
    grid = h.table(*([h.cell(row, column, text) for column, text in enumerate(line)] for row, line in enumerate(ROWS)))
    return h.hwpx([*(h.paragraph(line) for line in LINES), h.paragraph(grid)])


def _hwpml() -> bytes:
    def line(text: str) -> str:
        return f"<P><TEXT><CHAR>{text}</CHAR></TEXT></P>"

    rows = "".join(
        "<ROW>"
        + "".join(
            f'<CELL RowAddr="{row}" ColAddr="{column}"><PARALIST>{line(text)}</PARALIST></CELL>'
            for column, text in enumerate(cells)
        )
        + "</ROW>"
        for row, cells in enumerate(ROWS)
    )
    return hwpx_files.hwpml("".join(map(line, LINES)) + f"<P><TEXT><TABLE>{rows}</TABLE></TEXT></P>")


def _xlsx() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = LINES[0]
    for values in ([LINES[1]], [LINES[2]], ROWS[0], (ROWS[1][0], 100000)):
        sheet.append(values)
    sheet["B4"].number_format = "#,##0"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _xls() -> bytes:
    cells: dict[tuple[int, int], str | tuple[float, int]] = {
        (0, 0): LINES[1], (1, 0): LINES[2], (2, 0): ROWS[0][0], (2, 1): ROWS[0][1], (3, 0): ROWS[1][0],
        (3, 1): (100000.0, 0),
    }  # fmt: skip
    return xls(cells, formats=["#,##0"], title=LINES[0])


def _pptx() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = LINES[0]
    slide.shapes.add_textbox(Cm(1), Cm(5), Cm(10), Cm(2)).text_frame.text = "\n".join(LINES[1:])
    grid = slide.shapes.add_table(2, 2, Cm(1), Cm(9), Cm(10), Cm(4)).table
    for row, line in enumerate(ROWS):
        for column, text in enumerate(line):
            grid.cell(row, column).text = text
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def _html() -> bytes:
    rows = "".join(f"<tr><td>{left}</td><td>{right}</td></tr>" for left, right in ROWS)
    body = f"<h1>{LINES[0]}</h1><p>{LINES[1]}</p><p>{LINES[2]}</p><table>{rows}</table>"
    return f'<html><head><meta charset="euc-kr"></head><body>{body}</body></html>'.encode("cp949")


def _rtf() -> bytes:
    def escaped(text: str) -> str:
        return "".join(
            char if char.isascii() else "".join(f"\\'{b:02x}" for b in char.encode("cp949")) for char in text
        )

    rows = "".join(
        r"\trowd\cellx2000\cellx4000 " + "".join(rf"\pard\intbl {escaped(text)}\cell " for text in line) + r"\row "
        for line in ROWS
    )
    lines = "".join(rf"\pard {escaped(line)}\par " for line in LINES)
    return (r"{\rtf1\ansi\ansicpg949{\fonttbl{\f0\fcharset129 A;}}\f0 " + lines + rows + "}").encode("ascii")


def office_samples() -> dict[str, bytes]:
    """Format -> a file of it."""
    makers = {
        "hwp": _hwp, "hwp3": _hwp3, "hwpx": _hwpx, "hwpml": _hwpml, "xlsx": _xlsx, "xls": _xls, "pptx": _pptx,
        "html": _html, "rtf": _rtf,
    }  # fmt: skip
    return {name: make() for name, make in makers.items()}
