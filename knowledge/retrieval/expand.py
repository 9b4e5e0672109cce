"""What belongs together in the evidence: the parts of one section or definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knowledge.retrieval.candidates import Candidate
from knowledge.types import Chunk

MAX_EVIDENCE_CHARS = 2400  # of one piece: a whole article or table, and eight of them fit a small model


def one_per_group(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without later parts of the same section or definition, and without copies of the same text.

    The best part represents its group, and keeps the features of the group's best.
    """
    kept: dict[tuple[str, str], Candidate] = {}
    texts: set[str] = set()
    for candidate in candidates:
        key = candidate.group
        if key in kept:
            _take_best_features(kept[key], candidate)
            continue
        if candidate.held.squeezed in texts:
            continue
        texts.add(candidate.held.squeezed)
        kept[key] = candidate
    return list(kept.values())


def _take_best_features(kept: Candidate, other: Candidate) -> None:
    for name, value in other.features.items():
        kept.features[name] = max(value, kept.features.get(name, 0.0))
    for space, cosine in other.dense_scores.items():
        kept.dense_scores[space] = max(cosine, kept.dense_scores.get(space, -1.0))


def merge_parts(
    chunk: Chunk, parts: Sequence[Chunk], *, max_chars: int = MAX_EVIDENCE_CHARS
) -> tuple[Chunk, list[Chunk]]:
    """The chunk with as many neighbouring parts of its group as fit `max_chars`, the nearest first; and those parts.

    The id stays that of the chunk that was found. Lines that a part repeats from the one before it, such as the header
    of a table or a signature, are given once.
    """
    index = next((i for i, part in enumerate(parts) if part.id == chunk.id), None)
    if index is None or len(parts) < 2:
        return chunk, [chunk]
    first = last = index
    size = len(chunk.text)
    while True:
        after = parts[last + 1] if last + 1 < len(parts) else None
        before = parts[first - 1] if first > 0 else None
        if after is not None and size + len(after.text) <= max_chars:
            last += 1
            size += len(after.text)
        elif before is not None and size + len(before.text) <= max_chars:
            first -= 1
            size += len(before.text)
        else:
            break
    shown = list(parts[first : last + 1])
    return (_joined(chunk, shown) if len(shown) > 1 else chunk), shown


def _joined(chunk: Chunk, parts: Sequence[Chunk]) -> Chunk:
    text = parts[0].text
    for part in parts[1:]:
        text = f"{text}\n{_without_repeated_head(text, part.text)}"
    starts = [part.locator.start_line for part in parts if part.locator.start_line is not None]
    ends = [part.locator.end_line for part in parts if part.locator.end_line is not None]
    locator = replace(
        chunk.locator,
        start_line=min(starts, default=None),
        end_line=max(ends, default=None),
        page=parts[0].locator.page,
        first_block=parts[0].locator.first_block,
        last_block=parts[-1].locator.last_block,
    )
    return replace(chunk, text=text, locator=locator)


def _without_repeated_head(before: str, part: str) -> str:
    """The part without its leading lines that stand at the head of the text before it."""
    head = before.split("\n")
    lines = part.split("\n")
    same = 0
    while same < min(len(head), len(lines) - 1) and lines[same] == head[same]:
        same += 1
    return "\n".join(lines[same:])
