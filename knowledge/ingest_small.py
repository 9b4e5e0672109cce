"""Small plain texts are prepared at once, in this process; everything else in processes with limits.

A process takes a second to start, which is felt when one note changes. What is done here must not be able to take the
owner with it: no native reader, nothing that unpacks, and too little text for any pattern to run away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from knowledge.catalog_rows import PreparedDocument
from knowledge.errors import UnreadableFile
from knowledge.extract.limits import LimitedPool
from knowledge.ingest_prepare import PrepareTask, prepare
from knowledge.types import Discovered, SourceKind
from knowledge.workers import Inline

MAX_ITEMS = 3
MAX_BYTES = 30_000  # of one file


def may_be_small(items: Sequence[Discovered], kind: SourceKind) -> bool:
    """Whether it is worth a look at the content: few documents, all of them short. Code has native parsers."""
    return kind == "documents" and len(items) <= MAX_ITEMS and all(item.size_bytes <= MAX_BYTES for item in items)


def is_small_text(task: PrepareTask) -> bool:
    """Whether the content is short plain text, whatever its name says."""
    from knowledge.extract.sniff import sniff

    if task.kind != "documents" or len(task.content) > MAX_BYTES:
        return False
    try:
        return sniff(task.content, name=task.uri).format == "text"
    except UnreadableFile:
        return False


class SmallTexts:
    """Runs tasks one after the other; `build_pool` is called when the first one comes that is no small text."""

    def __init__(self, build_pool: Callable[[], LimitedPool[PrepareTask, PreparedDocument]]) -> None:
        self._inline: Inline[PrepareTask, PreparedDocument] = Inline(prepare)
        self._build_pool = build_pool
        self._pool: LimitedPool[PrepareTask, PreparedDocument] | None = None

    def run(
        self, tasks: Iterable[PrepareTask], *, should_stop: Callable[[], bool]
    ) -> Iterator[tuple[PrepareTask, PreparedDocument | Exception]]:
        """(task, result or error) in the order of the tasks; a stop ends it early."""
        for task in tasks:
            if should_stop():
                return
            yield from self._runner_for(task).run([task], should_stop=should_stop)

    def close(self) -> None:
        """Ends the processes, if there are any."""
        if self._pool is not None:
            self._pool.close()

    def _runner_for(
        self, task: PrepareTask
    ) -> Inline[PrepareTask, PreparedDocument] | LimitedPool[PrepareTask, PreparedDocument]:
        if is_small_text(task):
            return self._inline
        if self._pool is None:
            self._pool = self._build_pool()
        return self._pool
