"""Stack frames and places ("src/app.py:42") that a question holds, nearest to the failure first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from knowledge.retrieval.frame_formats import EXTENSIONS, READERS, plain_path
from knowledge.retrieval.frame_formats import Frame as Frame

# src/app.py:42, in prose
_PLACE = re.compile(
    rf"(?<![\w/.])(?P<file>(?:[\w.\-@]{{1,100}}/){{0,30}}[\w.\-]{{1,150}}\.(?:{EXTENSIONS}))"
    r"(?::|#L|, line |\s+line\s+)(?P<line>\d+)"
)
_FILE = re.compile(
    rf"(?<![\w/.])(?P<file>(?:[\w.\-@]{{1,100}}/){{0,30}}[\w\-]{{1,150}}"
    rf"\.(?:{EXTENSIONS}|md|toml|ya?ml|json|txt|docx|pdf|sql))(?![\w.])"
)
# These print a function of the runtime at the line that called it, and the caller below: the caller is what is written
# in that file.
_CALLER_LAST = ("ruby", "php")


def find_frames(text: str, language: str | None = None) -> list[Frame]:
    """Distinct frames of the stack traces in `text`, innermost first; empty when there is no trace.

    With a `language` (a key of `frame_formats.READERS`) only its way of printing is looked for. Python prints the
    innermost call last, everything else first.
    """
    if language is not None:
        printed = list(READERS[language](text))
        return _distinct(reversed(printed) if language == "python" else printed, last=language in _CALLER_LAST)
    frames: list[Frame] = []
    for name in READERS:
        frames += find_frames(text, name)
    return _distinct([*frames, *_places(text)], last=False)


def find_files(text: str) -> list[str]:
    """Distinct file names and paths that `text` mentions, in order."""
    return list(dict.fromkeys(match["file"] for match in _FILE.finditer(text)))


def _places(text: str) -> Iterator[Frame]:
    for match in _PLACE.finditer(text):
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=None)


def _distinct(frames: Iterable[Frame], *, last: bool) -> list[Frame]:
    """Each place once, with the first name that is told of it, or with the last one."""
    known: dict[tuple[str, int | None, str | None], Frame] = {}
    for frame in frames:
        key = (frame.file.rsplit("/", 1)[-1], frame.line, frame.symbol if frame.line is None else None)
        before = known.setdefault(key, frame)
        if frame.symbol and (last or before.symbol is None):
            known[key] = replace(before, symbol=frame.symbol)
    return list(known.values())
