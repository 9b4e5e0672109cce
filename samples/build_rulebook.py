"""Builds the Word documents of the sample rulebook from the texts in `rulebook_text/`.

    python samples/build_rulebook.py

A text file holds one regulation. Lines starting with `# ` are the title, `## ` chapters, `@표` opens a table whose rows
follow as `a | b | c` until a blank line; a cell `^` continues the cell above, a cell `<` the cell to its left.
"""

from __future__ import annotations

from pathlib import Path

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Pt

HERE = Path(__file__).resolve().parent


def add_table(document, rows: list[list[str]]) -> None:
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    table.style = "Table Grid"
    origin: dict[tuple[int, int], tuple[int, int]] = {}
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            if text == "^":
                origin[r, c] = origin[r - 1, c]
            elif text == "<":
                origin[r, c] = origin[r, c - 1]
            else:
                origin[r, c] = (r, c)
                table.cell(r, c).text = text
    for (r, c), (first_r, first_c) in origin.items():
        if (r, c) != (first_r, first_c):
            table.cell(first_r, first_c).merge(table.cell(r, c))


def build(text: str, path: Path) -> None:
    document = Document()
    document.styles["Normal"].font.size = Pt(11)
    rows: list[list[str]] = []
    in_table = False
    for line in [*text.splitlines(), ""]:
        if in_table and line.strip():
            rows.append([cell.strip() for cell in line.split("|")])
            continue
        if in_table:
            add_table(document, rows)
            rows, in_table = [], False
        elif line.startswith("# "):
            document.core_properties.title = line[2:]
            document.add_heading(line[2:], level=0)
        elif line.startswith("## "):
            document.add_paragraph(line[3:]).alignment = WD_ALIGN_PARAGRAPH.CENTER
        elif line == "@표":
            in_table = True
        elif line.strip():
            document.add_paragraph(line)
    document.save(str(path))


if __name__ == "__main__":
    for source in sorted((HERE / "rulebook_text").glob("*.txt")):
        target = HERE / "rules" / f"{source.stem}.docx"
        build(source.read_text(encoding="utf-8"), target)
        print(target.name)
