"""From the words that OCR read with doubt in a document's blocks to those of each chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from knowledge.catalog_rows import DoubtfulWord, IndexedDraft
from knowledge.types import Block, ChunkDraft

MAX_WORDS = 50  # of one chunk; a page on which more are doubtful is not read but guessed


def with_doubtful_words(drafts: Iterable[IndexedDraft], blocks: Sequence[Block]) -> tuple[IndexedDraft, ...]:
    """The drafts with the doubtful words of their own blocks that stand in their own text, those with digits first."""
    if not any(block.doubtful for block in blocks):
        return tuple(drafts)
    return tuple(replace(indexed, doubtful=_words_of(indexed.draft, blocks)) for indexed in drafts)


def _words_of(draft: ChunkDraft, blocks: Sequence[Block]) -> tuple[DoubtfulWord, ...]:
    from knowledge.extract.doubt import stands_in

    if draft.first_block is None:
        return ()
    last = draft.last_block if draft.last_block is not None else draft.first_block
    found: dict[str, DoubtfulWord] = {}
    for block in blocks[draft.first_block : last + 1]:
        for word in block.doubtful:
            if word not in found and stands_in(word, draft.text):
                found[word] = DoubtfulWord(text=word, page=block.page)
    ordered = sorted(found.values(), key=lambda word: not any(char.isdigit() for char in word.text))
    return tuple(ordered[:MAX_WORDS])
