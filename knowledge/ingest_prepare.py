"""From the bytes of one item to a document that can be written: extract, mask, cut, analyse. Runs in workers."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from knowledge.catalog_rows import PreparedDocument, document_id, with_ids
from knowledge.errors import PermanentError, ReaderMissing
from knowledge.types import Block, ChunkDraft, Document, SourceKind

MAX_REASON_CHARS = 500
UNREAD = "unread:"  # before the hash of content that was not even tried, so that it differs from every hash
_MEDIA_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "text": "text/plain",
    "html": "text/html",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareTask:
    """One item with its content, as it is handed to a worker."""

    source: str
    kind: SourceKind
    uri: str
    content_hash: str
    revision: str
    content: bytes
    ocr_folder: Path | None = None


def content_fingerprint(kind: SourceKind) -> str:
    """Versions of everything that decides which chunks and tokens a document of this kind gives."""
    from knowledge.analysis import ANALYZER_VERSION
    from knowledge.masking import MASKING_VERSION

    shared = f"analyzer={ANALYZER_VERSION};masking={MASKING_VERSION}"
    if kind == "repository":
        from knowledge.chunking.code import CODE_CHUNKING_VERSION

        return f"kind=repository;code={CODE_CHUNKING_VERSION};{shared}"
    from knowledge.chunking import CHUNKING_VERSION
    from knowledge.extract import EXTRACT_VERSION

    return f"kind=documents;extract={EXTRACT_VERSION};chunking={CHUNKING_VERSION};{shared}"


def prepare(task: PrepareTask) -> PreparedDocument:
    """The document of `task`; content that cannot be read gives a failed one with the reason, not an exception."""
    try:
        return _prepare_code(task) if task.kind == "repository" else _prepare_document(task)
    except ReaderMissing as error:  # the content is not at fault: whatever it is, it is read again
        return failed(replace(task, content_hash=f"{UNREAD}{task.content_hash}"), str(error))
    except PermanentError as error:
        return failed(task, str(error))


def failed(task: PrepareTask, reason: str) -> PreparedDocument:
    """A document that is recorded with the reason why it could not be read."""
    return failed_item(
        source=task.source,
        uri=task.uri,
        content_hash=task.content_hash,
        revision=task.revision,
        reason=reason,
    )


def log_failure(prepared: PreparedDocument) -> None:
    """Leaves a line in the log: which document, why, and what to do."""
    import structlog

    structlog.get_logger(__name__).warning(
        "document.failed", source=prepared.source, document=prepared.uri, reason=prepared.reason
    )


def failed_item(*, source: str, uri: str, content_hash: str, revision: str, reason: str) -> PreparedDocument:
    """The same for an item whose content could not even be fetched."""
    from knowledge.masking import mask

    return PreparedDocument(
        source=source,
        uri=uri,
        content_hash=content_hash,
        revision=revision,
        title=PurePosixPath(uri).name,
        media_type=_media_type(uri, None),
        status="failed",
        reason=mask(reason)[:MAX_REASON_CHARS],
    )


def _prepare_document(task: PrepareTask) -> PreparedDocument:
    from knowledge.chunking import chunk_document
    from knowledge.extract import extract
    from knowledge.ingest_doubt import with_doubtful_words
    from knowledge.masking import mask

    extraction = extract(task.content, name=task.uri, ocr_folder=task.ocr_folder)
    blocks = _masked(extraction.blocks)
    document = Document(
        id=document_id(task.source, task.uri),
        source=task.source,
        uri=task.uri,
        revision=task.revision,
        content_hash=task.content_hash,
        title=mask(extraction.title or PurePosixPath(task.uri).stem),
        media_type=_media_type(task.uri, extraction.format),
        blocks=blocks,
    )
    drafts = chunk_document(document)
    warnings = extraction.warnings
    if not drafts:
        warnings = (*warnings, "no text was found that could be searched")
    return PreparedDocument(
        source=task.source,
        uri=task.uri,
        content_hash=task.content_hash,
        revision=task.revision,
        title=document.title,
        media_type=document.media_type,
        status="indexed",
        format=extraction.format,
        extractor=extraction.extractor,
        warnings=tuple(mask(warning) for warning in warnings),
        blocks=blocks,
        drafts=with_doubtful_words(with_ids(task.source, task.uri, drafts, _tokens(drafts)), blocks),
    )


def _prepare_code(task: PrepareTask) -> PreparedDocument:
    from knowledge.chunking.code import cut_code
    from knowledge.extract.decoding import decode
    from knowledge.masking import mask

    text = mask(decode(task.content, name=task.uri).text)
    cut = cut_code(task.uri, text)
    return PreparedDocument(
        source=task.source,
        uri=task.uri,
        content_hash=task.content_hash,
        revision=task.revision,
        title=PurePosixPath(task.uri).name,
        media_type=_media_type(task.uri, None),
        status="indexed",
        format=PurePosixPath(task.uri).suffix.removeprefix(".") or "text",
        extractor="code",
        warnings=cut.warnings,
        drafts=tuple(with_ids(task.source, task.uri, cut.drafts, _tokens(cut.drafts))),
        imports=cut.imports,
    )


def _masked(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """`blocks` with secrets masked: cells by their labels too, and texts also as the one text that they are."""
    from knowledge.extract.text import table_block
    from knowledge.masking import mask_blocks, mask_rows

    rows = [mask_rows(block.rows) if block.rows else () for block in blocks]
    texts = [
        # the text of a table says what its cells say, so it is written anew from the masked ones
        table_block(list(cells)).text if cells and block.text == table_block(list(block.rows)).text else block.text
        for block, cells in zip(blocks, rows, strict=True)
    ]
    return tuple(
        # a word that the masks have covered must not survive in the list of words that were hard to read
        replace(block, text=text, rows=cells, doubtful=tuple(w for w in block.doubtful if w in f"{text}\n{cells}"))
        for block, text, cells in zip(blocks, mask_blocks(texts), rows, strict=True)
    )


def _tokens(drafts: Sequence[ChunkDraft]) -> list[list[str]]:
    from knowledge.analysis import analyze

    return [analyze(draft.index_text) for draft in drafts]


def _media_type(uri: str, found: str | None) -> str:
    known = _MEDIA_TYPES.get(found or "")
    return known or mimetypes.guess_type(uri)[0] or "text/plain"
