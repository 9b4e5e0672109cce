"""OpenDocument files for tests, written as XML: sheets and slides as LibreOffice writes them."""

from __future__ import annotations

import io
import zipfile

_SPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in [
        ("office", "office"), ("table", "table"), ("text", "text"), ("draw", "drawing"), ("style", "style"),
        ("presentation", "presentation"),
    ]
)  # fmt: skip
_TYPES = {"ods": "spreadsheet", "odp": "presentation", "odt": "text", "odg": "graphics"}


def odf(
    kind: str, body: str, *, styles: str = "", manifest: str = "", pictures: dict[str, bytes] | None = None
) -> bytes:
    """A file of that kind; `body` stands inside its <office:spreadsheet> or <office:presentation>."""
    buffer = io.BytesIO()
    root = {"ods": "spreadsheet", "odp": "presentation", "odt": "text", "odg": "drawing"}[kind]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{_TYPES[kind]}", zipfile.ZIP_STORED)
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES}>'
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:{root}>{body}</office:{root}></office:body></office:document-content>",
        )
        archive.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
        for name, data in (pictures or {}).items():
            archive.writestr(f"Pictures/{name}", data)
    return buffer.getvalue()


def cell(text: str = "", **attributes: object) -> str:
    """A cell; `rows`, `columns` are what it spans, `again` how often it is repeated."""
    names = {"rows": "number-rows-spanned", "columns": "number-columns-spanned", "again": "number-columns-repeated"}
    extra = "".join(f' table:{names[key]}="{value}"' for key, value in attributes.items())
    inner = "".join(f"<text:p>{line}</text:p>" for line in text.split("\n")) if text else ""
    return f"<table:table-cell{extra}>{inner}</table:table-cell>"


COVERED = "<table:covered-table-cell/>"


def table(name: str, *rows: str, style: str = "") -> str:
    return (
        f'<table:table table:name="{name}" table:style-name="{style}">'
        + "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        + "</table:table>"
    )
