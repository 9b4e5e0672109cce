"""From the stack frames and file names of a question to the chunks of code that they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowledge.ports import ChunkLookup
from knowledge.retrieval.frames import Frame
from knowledge.types import Chunk

_MAX_FRAMES = 40
_OBFUSCATED_SUFFIXES = ("kt", "java", "scala", "groovy")


def locate_frames(frames: Sequence[Frame], lookup: ChunkLookup, generations: Mapping[str, int]) -> list[Chunk]:
    """The chunk of each frame that lies in the sources, innermost first, each once; library frames give nothing.

    A frame's path must end like the file's path: with the folder where the frame gives one, so that "flask/app.py" is
    not taken for "redash/app.py". Within the file the function's name decides before the line, since a trace may come
    from another revision.
    """
    frames = frames[:_MAX_FRAMES]
    names = {name for frame in frames for name in _file_names(frame)}
    if not names:
        return []
    files = lookup.chunks_in_files(names, generations)
    found: dict[str, Chunk] = {}
    for frame in frames:
        chunks = [chunk for name in _file_names(frame) for chunk in files.get(name, ())]
        chunk = _chunk_of(frame, _best_file(frame, chunks))
        if chunk is not None:
            found.setdefault(chunk.id, chunk)
    return list(found.values())


def locate_files(paths: Sequence[str], lookup: ChunkLookup, generations: Mapping[str, int]) -> list[Chunk]:
    """All chunks of the files that a question mentions by name or by the end of the path, in order."""
    found = lookup.chunks_in_files(set(paths), generations) if paths else {}
    return [chunk for path in paths for chunk in found.get(path, ())]


def _file_names(frame: Frame) -> list[str]:
    name = frame.file.rsplit("/", 1)[-1]
    return [name + suffix for suffix in _OBFUSCATED_SUFFIXES] if name.endswith(".") else [name]


def _best_file(frame: Frame, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of the file whose path agrees longest with the frame's; empty when too little agrees."""
    by_uri: dict[tuple[str, str], list[Chunk]] = {}
    for chunk in chunks:
        by_uri.setdefault((chunk.locator.source, chunk.locator.uri), []).append(chunk)
    has_folder = "/" in frame.file
    best: list[Chunk] = []
    best_depth = 1 if has_folder else 0
    for (_, uri), of_file in by_uri.items():
        depth = _common_depth(frame.file, uri)
        if depth > best_depth or (depth == 1 and has_folder and "/" not in uri and not best):
            best, best_depth = of_file, max(depth, best_depth)
    return best


def _common_depth(left: str, right: str) -> int:
    """How many components at the end of two paths are equal; an obfuscated frame ends in a dot instead of a suffix."""
    parts_left, parts_right = left.split("/")[::-1], right.split("/")[::-1]
    depth = 0
    for a, b in zip(parts_left, parts_right, strict=False):
        if a != b and not (depth == 0 and a.endswith(".") and b.startswith(a)):
            break
        depth += 1
    return depth


def _chunk_of(frame: Frame, chunks: Sequence[Chunk]) -> Chunk | None:
    if not chunks:
        return None
    name = (frame.symbol or "").rsplit(".", 1)[-1].strip("<>")
    named = [chunk for chunk in chunks if name and (chunk.locator.symbol or "").rsplit(".", 1)[-1] == name]
    if frame.line is None:
        return (named or list(chunks))[0]
    line = frame.line
    return min(named or chunks, key=lambda chunk: (_distance(chunk, line), _length(chunk)))


def _distance(chunk: Chunk, line: int) -> int:
    start, end = chunk.locator.start_line or 1, chunk.locator.end_line or 1
    return max(start - line, line - end, 0)


def _length(chunk: Chunk) -> int:
    return (chunk.locator.end_line or 1) - (chunk.locator.start_line or 1)
