"""`haechi extract`: one file read, without configuration or data folder, and its JSON form."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from knowledge.errors import KnowledgeError
from knowledge.extract import extract
from knowledge.types import MAX_FILE_BYTES, Block, Extraction


def extract_file(file: Path) -> dict[str, Any]:
    """The form of `extract --json`; a file that cannot be read gives one with status "failed" and the reason."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return failed_extraction_form(str(file), f"{file} is no regular file; name a document.")
        with file.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            limit = f"{MAX_FILE_BYTES // 1024**2} MiB"
            return failed_extraction_form(str(file), f"{file} is larger than {limit}; split it.")
    except OSError as error:
        return failed_extraction_form(str(file), f"{file} cannot be read: {error.strerror}.")
    try:
        return extraction_form(str(file), extract(content, name=file.name))
    except KnowledgeError as error:
        return failed_extraction_form(str(file), str(error))


def extraction_form(file: str, extraction: Extraction) -> dict[str, Any]:
    """The form of a file that was read, wholly or in part."""
    return {
        "file": file,
        "format": extraction.format,
        "extractor": extraction.extractor,
        "status": extraction.status,
        "warnings": list(extraction.warnings),
        "blocks": [block_form(block) for block in extraction.blocks],
    }


def failed_extraction_form(file: str, reason: str) -> dict[str, Any]:
    """The form of a file that could not be read."""
    return {
        "file": file, "format": None, "extractor": None, "status": "failed", "warnings": [reason], "blocks": [],
    }  # fmt: skip


def block_form(block: Block) -> dict[str, Any]:
    """A block as JSON values."""
    return {
        "kind": block.kind,
        "text": block.text,
        "rows": [list(row) for row in block.rows],
        "page": block.page,
        "level": block.level,
    }
