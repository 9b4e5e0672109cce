"""`haechi extract`: one file read, without configuration or data folder, and its JSON form."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from knowledge.errors import KnowledgeError
from knowledge.extract import extract
from knowledge.extract.limits import ExtractionLimits, LimitedProcess
from knowledge.extract.sniff import sniff
from knowledge.types import MAX_FILE_BYTES, Block, Extraction

TIME_LIMIT_S = 600.0
MEMORY_LIMIT_MB = 2_000
SMALL_BYTES = 30_000


def extract_file(
    file: Path, *, time_limit_s: float = TIME_LIMIT_S, memory_limit_mb: int = MEMORY_LIMIT_MB
) -> dict[str, Any]:
    """The form of `extract --json`; a file that cannot be read gives one with status "failed" and the reason.

    It is read in a process of its own within the limits, as by `ingest`.
    """
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
    limits = ExtractionLimits(
        wall_s=time_limit_s,
        memory_bytes=memory_limit_mb * 1_000_000,
        wall_setting="--time-limit-s",
        memory_setting="--memory-limit-mb",
    )
    if len(content) <= SMALL_BYTES and _is_text(content, file.name):
        # too little plain text to run away, and a process would take longer to start than to read it
        try:
            return extraction_form(str(file), extract(content, name=file.name))
        except KnowledgeError as error:
            return failed_extraction_form(str(file), str(error))
    process = LimitedProcess(_extract, describe=lambda task: task[0], limits=limits)
    try:
        return extraction_form(str(file), process.run((file.name, content)))
    except KnowledgeError as error:
        return failed_extraction_form(str(file), str(error))
    finally:
        process.close()


def _is_text(content: bytes, name: str) -> bool:
    try:
        return sniff(content, name=name).format == "text"
    except KnowledgeError:
        return False


def _extract(task: tuple[str, bytes]) -> Extraction:
    """What the child does: name and content to blocks. Its output is the command's alone."""
    from knowledge.workers import live_with_parent

    live_with_parent()
    name, content = task
    return extract(content, name=name)


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
