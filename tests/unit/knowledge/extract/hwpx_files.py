"""Small HWPX and HWPML files for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_NS = (
    'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section" '
    'xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"'
)


def paragraph(*runs: str, shape: int = 0) -> str:
    """A paragraph; what does not start with "<" is text."""
    inner = "".join(run if run.startswith("<") else f"<hp:t>{run}</hp:t>" for run in runs)
    return f'<hp:p paraPrIDRef="{shape}"><hp:run charPrIDRef="0">{inner}</hp:run><hp:linesegarray/></hp:p>'


def listed(*paragraphs: str) -> str:
    inner = "".join(item if item.startswith("<") else paragraph(item) for item in paragraphs)
    return f"<hp:subList>{inner}</hp:subList>"


def cell(row: int, column: int, *paragraphs: str, rows: int = 1, columns: int = 1) -> str:
    return (
        f'<hp:tc>{listed(*paragraphs)}<hp:cellAddr colAddr="{column}" rowAddr="{row}"/>'
        f'<hp:cellSpan colSpan="{columns}" rowSpan="{rows}"/></hp:tc>'
    )


def table(*rows: Sequence[str], caption: str = "", inline: bool = True) -> str:
    position = f'<hp:pos treatAsChar="{int(inline)}" vertRelTo="PARA" vertOffset="0"/>'
    head = f"<hp:caption>{listed(caption)}</hp:caption>" if caption else ""
    body = "".join(f"<hp:tr>{''.join(row)}</hp:tr>" for row in rows)
    return f'<hp:tbl textWrap="TOP_AND_BOTTOM">{position}{head}{body}</hp:tbl>'


def hwpx(
    *sections: Sequence[str],
    header: str = "",
    manifest: str | None = "<manifest/>",
    title: str = "",
    damage: str = "",
    stored: bool = False,
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/hwp+zip")
        if manifest is not None:
            archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("Contents/header.xml", f"<hh:head {_NS}>{header}</hh:head>")
        archive.writestr("Contents/content.hpf", f"<package><title>{title}</title></package>")
        for number, section in enumerate(sections):
            xml = f'<?xml version="1.0" encoding="UTF-8"?>{damage}<hs:sec {_NS}>{"".join(section)}</hs:sec>'
            archive.writestr(f"Contents/section{number}.xml", xml)
        for name, data in (more or {}).items():
            archive.writestr(name, data)
    return out.getvalue()


def hwpml(body: str, *, shapes: str = "", prolog: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{prolog}<HWPML Version="2.91"><HEAD><MAPPINGTABLE>'
        f"<PARASHAPELIST>{shapes}</PARASHAPELIST></MAPPINGTABLE></HEAD>"
        f'<BODY><SECTION Id="0">{body}</SECTION></BODY></HWPML>'
    ).encode()
