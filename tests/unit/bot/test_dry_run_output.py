"""The text of `ingest --dry-run`: what each document would become."""

from __future__ import annotations

import pytest

from bot.cli_output import _print_dry_run


def test_each_document_shows_format_reader_blocks_chunks_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    read = {"change": "added", "document": "여비.pdf", "format": "pdf", "extractor": "pypdfium2 + tesseract",
            "blocks": 12, "chunks": 5, "warnings": ["page 2 is a scan"]}  # fmt: skip
    failed = {"change": "failed", "document": "x.doc", "format": None, "extractor": None, "blocks": 0, "chunks": 0,
              "warnings": ["x.doc is protected"]}  # fmt: skip
    same = {**read, "change": "unchanged", "document": "same.pdf"}
    _print_dry_run({"documents": [read, failed, same]})
    printed = " ".join(capsys.readouterr().out.split())
    assert "added 여비.pdf pdf by pypdfium2 + tesseract, 12 blocks, 5 chunks; page 2 is a scan" in printed
    assert "failed x.doc ; x.doc is protected" in printed
    assert "same.pdf" not in printed
