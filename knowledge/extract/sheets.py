"""Workbooks (XLSX, XLS): every visible sheet, values as they are shown, not as they are stored."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
from typing import Any

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.docx_package import check_package
from knowledge.extract.library_errors import LIBRARY_ERRORS
from knowledge.extract.sheet_blocks import MAX_CELLS, MergedRange, Sheet, sheet_blocks
from knowledge.extract.sheet_numbers import is_date_code, shown
from knowledge.types import Block, Extraction

MAX_SHEETS = 500
NO_VALUE = "no computed value"
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>(.*?)</(?:\w+:)?c>", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v>[^<]")
_MAX_BYTES_WITH_STYLES = 48 * 1024 * 1024  # of XML; a larger workbook is read row by row, without merged cells


def extract_xlsx(content: bytes, *, name: str) -> Extraction:
    """Blocks of an XLSX workbook. Raises UnreadableFile when it is damaged, too large or empty."""
    import openpyxl

    check_package(content, name=name)
    notes: list[Block] = []
    remarks: list[str] = []
    try:
        streamed = _sheet_bytes(content) > _MAX_BYTES_WITH_STYLES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of features that it drops; none of them holds text
            book = openpyxl.load_workbook(io.BytesIO(content), data_only=True, read_only=streamed, keep_links=False)
            if streamed:
                remarks.append("the workbook is so large that merged cells are not repeated")
            sheets = [_xlsx_sheet(sheet, notes) for sheet in _visible(book.worksheets, remarks)]
            book.close()
        empty = uncomputed_formulas(content)
        if empty:
            remarks.append(
                f"{empty} formulas have {NO_VALUE}, so their cells are empty here; "
                "open the workbook in Excel and save it"
            )
    except UnreadableFile:
        raise
    except LIBRARY_ERRORS as error:
        raise _damaged(name, error) from error
    return _extraction("xlsx", "openpyxl", sheets, notes, remarks, name=name)


def _sheet_bytes(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        return sum(member.file_size for member in members if member.filename.startswith("xl/worksheets/"))


def uncomputed_formulas(content: bytes) -> int:
    """How many cells hold a formula and not what it gave, as programs leave them that write workbooks."""
    found = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if member.filename.startswith("xl/worksheets/") and member.file_size <= _MAX_BYTES_WITH_STYLES:
                for head, body in _CELL.findall(archive.read(member)):
                    is_empty_text = b't="str"' in head  # a formula may give an empty text
                    found += (b"<f" in body or b":f" in body) and not is_empty_text and _VALUE.search(body) is None
    return found


def _visible(sheets: list[Any], remarks: list[str]) -> list[Any]:
    kept = []
    for sheet in sheets[:MAX_SHEETS]:
        if getattr(sheet, "sheet_state", "visible") == "visible":
            kept.append(sheet)
        else:
            remarks.append(f"the sheet {sheet.title!r} is hidden and was left out; unhide it if it counts")
    if len(sheets) > MAX_SHEETS:
        remarks.append(f"only the first {MAX_SHEETS} of {len(sheets)} sheets were read")
    return kept


def _xlsx_sheet(sheet: Any, notes: list[Block]) -> Sheet:
    texts: dict[tuple[int, int], str] = {}
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is None:
                continue
            place = (cell.row - 1, cell.column - 1)
            texts[place] = shown(cell.value, cell.number_format or "General")
            if len(texts) > MAX_CELLS:
                raise UnreadableFile(
                    f"a sheet of this workbook ({sheet.title!r}) holds more than {MAX_CELLS} cells; that is a data "
                    "dump, not a document: exclude it or split it."
                )
            comment = getattr(cell, "comment", None)
            if comment is not None and comment.text:
                notes.append(Block(kind="note", text=f"{sheet.title} {cell.coordinate}: {comment.text.strip()}"))
    merged = tuple(
        (area.min_row - 1, area.max_row - 1, area.min_col - 1, area.max_col - 1)
        for area in getattr(getattr(sheet, "merged_cells", None), "ranges", ())
    )
    return Sheet(title=sheet.title, texts=texts, merged=merged)


def extract_xls(content: bytes, *, name: str) -> Extraction:
    """Blocks of an XLS workbook (Excel 2.0 to 2003). Raises UnreadableFile when it is encrypted, damaged or empty."""
    import xlrd
    import xlrd.compdoc

    remarks: list[str] = []
    try:
        try:
            book = xlrd.open_workbook(file_contents=content, formatting_info=True, logfile=io.StringIO())
        except (NotImplementedError, AssertionError, KeyError, IndexError, struct.error):
            book = xlrd.open_workbook(file_contents=content, logfile=io.StringIO())
            remarks.append("number formats could not be read; numbers are shown as stored")
        sheets = _xls_sheets(book, remarks)
    except (xlrd.XLRDError, xlrd.compdoc.CompDocError) as error:
        if "encrypted" in str(error).lower():
            raise UnreadableFile(
                f"{name} is an Excel workbook that is protected by a password; save a copy without the password."
            ) from error
        raise _damaged(name, error) from error
    except UnreadableFile:
        raise
    except LIBRARY_ERRORS as error:
        raise _damaged(name, error) from error
    except MemoryError as error:
        raise _damaged(name, error) from error
    return _extraction("xls", "xlrd", sheets, [], remarks, name=name)


def _xls_sheets(book: Any, remarks: list[str]) -> list[Sheet]:
    found: list[Sheet] = []
    for sheet in book.sheets()[:MAX_SHEETS]:
        if sheet.visibility:
            remarks.append(f"the sheet {sheet.name!r} is hidden and was left out; unhide it if it counts")
            continue
        texts: dict[tuple[int, int], str] = {}
        for row in range(sheet.nrows):
            for column, cell in enumerate(sheet.row(row)):
                text = _xls_text(book, cell)
                if text:
                    texts[row, column] = text
        merged: tuple[MergedRange, ...] = tuple(
            (first, end - 1, left, right - 1) for first, end, left, right in sheet.merged_cells
        )
        found.append(Sheet(title=sheet.name, texts=texts, merged=merged))
    return found


def _xls_text(book: Any, cell: Any) -> str:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_TEXT:
        return str(cell.value)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, ""))
    if cell.ctype not in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return ""
    code = _xls_code(book, cell)
    if cell.ctype == xlrd.XL_CELL_DATE or is_date_code(code):
        try:
            moment = xlrd.xldate_as_datetime(cell.value, book.datemode)
        except (xlrd.xldate.XLDateError, OverflowError, ValueError):
            return shown(cell.value, "General")
        return shown(moment.time() if 0 <= cell.value < 1 else moment, code)
    return shown(cell.value, code)


def _xls_code(book: Any, cell: Any) -> str:
    if cell.xf_index is None or cell.xf_index >= len(book.xf_list):
        return "General"
    form = book.format_map.get(book.xf_list[cell.xf_index].format_key)
    return form.format_str if form is not None else "General"


def _damaged(name: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(
        f"{name} is an Excel workbook that is damaged or cut off ({str(error) or type(error).__name__}); "
        "open it in Excel and save it anew, or copy it again from where it came."
    )


def _extraction(
    kind: str, extractor: str, sheets: list[Sheet], notes: list[Block], remarks: list[str], *, name: str
) -> Extraction:
    blocks = [block for sheet in sheets for block in sheet_blocks(sheet)]
    blocks.extend(notes)
    if not blocks:
        raise NoText(f"{name} is an Excel workbook without values in its visible sheets; fill it or remove it.")
    lost = any(part in remark for remark in remarks for part in ("only the first", NO_VALUE))
    return Extraction(
        format=kind,
        extractor=extractor,
        status="partial" if lost else "ok",
        title=None,
        blocks=tuple(blocks),
        warnings=tuple(remarks),
    )
