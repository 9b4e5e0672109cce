"""Pages of documents as pictures: drawn in a limited process, kept for a while, and only of indexed content."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from knowledge.errors import ContentChanged, NotFound, UnreadableFile
from knowledge.extract.limits import ExtractionLimits, LimitedProcess
from knowledge.extract.page_picture import MEDIA_TYPE, PictureTask, picture_of_page
from knowledge.ports import Source
from knowledge.types import Block, Locator
from knowledge.workers import InWorker

MAX_CACHED_BYTES = 32 * 1024 * 1024
PICTURE_LIMITS = ExtractionLimits(wall_s=60.0, memory_bytes=1_500_000_000)
_MASK = re.compile(r"\[masked:[a-z-]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """A page as a picture; `etag` changes with its content."""

    content: bytes
    media_type: str
    etag: str


class PageImages:
    """Thread-safe; one page is drawn at a time."""

    def __init__(self, *, limits: ExtractionLimits = PICTURE_LIMITS, max_cached_bytes: int = MAX_CACHED_BYTES) -> None:
        self._limits = limits
        self._max_cached_bytes = max_cached_bytes
        self._cached: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()
        self._drawing = threading.Lock()

    def get(self, locator: Locator, page: int, blocks: Sequence[Block], *, source: Callable[[], Source]) -> PageImage:
        """Page `page` of the document at `locator`, whose masked text is `blocks`.

        Raises NotFound where the document has no such page or something on it is masked, which a picture would show;
        ContentChanged when the file is not the indexed one any more; UnreadableFile and what the source raises.
        """
        on_page = [block for block in blocks if block.page == page]
        if not on_page:
            raise NotFound(f"{locator.uri} has no page {page} with text.")
        if any(_MASK.search(f"{block.text} {block.rows}") for block in on_page):
            raise NotFound(
                f"Page {page} of {locator.uri} holds secrets or personal numbers, which are masked in the text and "
                "would stand in its picture; open the file itself."
            )
        content = self._known(locator.revision, page)
        if content is None:
            with self._drawing:
                content = self._known(locator.revision, page) or self._drawn(locator, page, source())
        return PageImage(content=content, media_type=MEDIA_TYPE, etag=f"{locator.revision[:32]}-{page}")

    def _drawn(self, locator: Locator, page: int, source: Source) -> bytes:
        original = source.fetch(locator.uri)
        if hashlib.sha256(original).hexdigest() != locator.revision:
            raise ContentChanged(
                f"{locator.uri} has changed since it was indexed, so its page {page} may say something else; "
                "run `haechi ingest` and ask again."
            )
        process = LimitedProcess(InWorker(picture_of_page), describe=lambda task: task.name, limits=self._limits)
        try:
            content = process.run(PictureTask(name=locator.uri, content=original, page=page))
        except NotFound as error:  # the reader counted a page that the painter does not find
            raise UnreadableFile(str(error)) from error
        finally:
            process.close()
        self._keep(locator.revision, page, content)
        return content

    def _known(self, digest: str, page: int) -> bytes | None:
        with self._lock:
            content = self._cached.get((digest, page))
            if content is not None:
                self._cached.move_to_end((digest, page))
            return content

    def _keep(self, digest: str, page: int, content: bytes) -> None:
        with self._lock:
            self._cached[digest, page] = content
            self._cached_bytes += len(content)
            while self._cached_bytes > self._max_cached_bytes and self._cached:
                _, dropped = self._cached.popitem(last=False)
                self._cached_bytes -= len(dropped)
