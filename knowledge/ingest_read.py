"""Fetches the items of a plan and has them prepared: small texts here, everything else in processes with limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from knowledge.catalog_rows import PreparedDocument
from knowledge.errors import KnowledgeError, NotFound, PermanentError
from knowledge.extract.limits import LimitedPool
from knowledge.ingest_plan import SyncPlan
from knowledge.ingest_prepare import PrepareTask, failed, failed_item
from knowledge.ingest_small import SmallTexts, may_be_small
from knowledge.ingest_warm import WarmReaders
from knowledge.ports import Source
from knowledge.types import SourceConfig


class DocumentReader:
    """Reads for one sync. `vanished` are uris that went or changed since the discovery: the next look reads them."""

    def __init__(self, config: SourceConfig, source: Source, *, readers: WarmReaders, ocr_folder: Path) -> None:
        self._config = config
        self._source = source
        self._readers = readers
        self._ocr_folder = ocr_folder
        self.vanished: set[str] = set()

    def prepared(self, plan: SyncPlan, revision: str, *, should_stop: Callable[[], bool]) -> Iterator[PreparedDocument]:
        """Prepared documents as they are done; what has gone meanwhile is left out."""
        unfetched: list[PreparedDocument] = []
        tasks = self._tasks(plan, revision, unfetched)
        lent: list[LimitedPool[PrepareTask, PreparedDocument]] = []

        def lend() -> LimitedPool[PrepareTask, PreparedDocument]:
            lent.append(self._readers.take())
            return lent[-1]

        runner = SmallTexts(lend) if may_be_small(plan.to_read, self._config.kind) else None
        try:
            run = (runner or (lend() if plan.to_read else SmallTexts(lend))).run
            for task, result in run(tasks, should_stop=should_stop):
                yield from _taken_from(unfetched)
                yield result if isinstance(result, PreparedDocument) else failed(task, _reason(task.uri, result))
            yield from _taken_from(unfetched)
        finally:
            for pool in lent:
                self._readers.give_back(pool)

    def _tasks(self, plan: SyncPlan, revision: str, unfetched: list[PreparedDocument]) -> Iterator[PrepareTask]:
        for item in plan.to_read:
            version = (item.revision or revision) if self._config.kind == "repository" else item.content_hash
            try:
                content = self._source.fetch(item.uri)
            except PermanentError as error:
                if isinstance(error, NotFound) and self._config.kind == "documents":
                    self.vanished.add(item.uri)
                    continue  # a commit never changes: what is not in it any more is damaged, not deleted
                unfetched.append(
                    failed_item(
                        source=self._config.name,
                        uri=item.uri,
                        content_hash=item.content_hash,
                        revision=version,
                        reason=str(error),
                    )
                )
                continue
            yield PrepareTask(
                source=self._config.name,
                kind=self._config.kind,
                uri=item.uri,
                content_hash=item.content_hash,
                revision=version,
                content=content,
                ocr_folder=self._ocr_folder,
            )


def _taken_from(waiting: list[PreparedDocument]) -> Iterator[PreparedDocument]:
    """What other threads have put there so far; they may go on putting."""
    while waiting:
        yield waiting.pop(0)


def _reason(uri: str, error: object) -> str:
    if isinstance(error, KnowledgeError):
        return str(error)
    return f"{uri} could not be read ({type(error).__name__}: {error}): report it, or exclude the file from the source"
