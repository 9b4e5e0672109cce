"""What belongs together in the evidence: parts of one section, an article and the appendix that it refers to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.types import Chunk

MAX_EVIDENCE_CHARS = 2400  # of one piece: a whole article or table, and eight of them fit a small model
_LINKING_RANKS = 3  # articles below this rank bring no appendix along
_LINKS_PER_ARTICLE = 1


def one_per_group(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without later parts of the same section or definition, and without copies of the same text.

    The best part represents its group, and keeps the features of the group's best.
    """
    kept: dict[tuple[str, str], Candidate] = {}
    texts: set[str] = set()
    for candidate in candidates:
        key = (candidate.chunk.document_id, candidate.chunk.group)
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


def with_linked_appendices(
    ranked: Sequence[Candidate],
    lookup: ChunkLookup,
    generations: Mapping[str, int],
    *,
    rank: Callable[[Sequence[Chunk]], list[Candidate]],
) -> list[Candidate]:
    """The candidates with the appendix that a leading article refers to directly behind it, marked `via`.

    Of several linked appendices (and parts of one) the one that fits the question best is taken: `rank` orders chunks
    that no ranking has found. An appendix that stands above its article already stays there.
    """
    leading = [candidate.chunk.id for candidate in ranked[:_LINKING_RANKS]]
    links = lookup.linked_chunk_ids(leading, generations)
    if not links:
        return list(ranked)
    by_id = {candidate.chunk.id: candidate for candidate in ranked}
    unknown = [target for targets in links.values() for target in targets if target not in by_id]
    by_id |= {found.chunk.id: found for found in rank(list(lookup.visible_chunks(unknown, generations).values()))}
    result: list[Candidate] = []
    placed: set[tuple[str, str]] = set()
    for candidate in ranked:
        group = (candidate.chunk.document_id, candidate.chunk.group)
        if group in placed:
            continue
        placed.add(group)
        result.append(candidate)
        targets = [by_id[target] for target in links.get(candidate.chunk.id, ()) if target in by_id]
        for target in sorted(targets, key=lambda target: -target.score)[:_LINKS_PER_ARTICLE]:
            target_group = (target.chunk.document_id, target.chunk.group)
            if target_group not in placed:
                placed.add(target_group)
                target.via = candidate.chunk.id
                result.append(target)
    return result


def merge_parts(chunk: Chunk, parts: Sequence[Chunk], *, max_chars: int = MAX_EVIDENCE_CHARS) -> Chunk:
    """The chunk with as many neighbouring parts of its group as fit `max_chars`, the nearest first.

    The id stays that of the chunk that was found. Lines that a part repeats from the one before it, such as the header
    of a table or a signature, are given once.
    """
    index = next((i for i, part in enumerate(parts) if part.id == chunk.id), None)
    if index is None or len(parts) < 2:
        return chunk
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
    if first == last:
        return chunk
    return _joined(chunk, parts[first : last + 1])


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
