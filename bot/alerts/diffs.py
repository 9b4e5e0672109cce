"""A unified diff tried on the file that it is for: strictly, without fuzz, in memory, before anybody is shown it."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_DIFF_LINES = 200
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class DoesNotApply(ValueError):
    """Why a diff cannot be applied to a file."""


def apply_diff(lines: Sequence[str], diff: str, *, path: str) -> list[str]:
    """The lines of the file after the diff. Raises DoesNotApply when one line of it does not fit, when it is for
    another file, or changes nothing. Line numbers may be wrong where the old lines stand in the file exactly once."""
    written = [line for line in diff.strip("\n").split("\n") if not line.startswith(("```", "\\ No newline"))]
    if len(written) > MAX_DIFF_LINES:
        raise DoesNotApply(f"it has more than {MAX_DIFF_LINES} lines")
    result: list[str] = []
    place = 0
    for start, old, new in _hunks(written, path):
        at = _find(lines, old, start, place)
        result += [*lines[place:at], *new]
        place = at + len(old)
    result += lines[place:]
    if result == list(lines):
        raise DoesNotApply("it changes nothing")
    return result


def _hunks(written: Sequence[str], path: str) -> list[tuple[int, list[str], list[str]]]:
    """(line of the old file from 0, old lines, new lines) of each hunk."""
    hunks: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(written):
        if line.startswith(("--- ", "+++ ")) and not (hunks and _inside(written, number)):
            named = line[4:].split("\t")[0].strip()
            if named != "/dev/null" and re.sub(r"^[ab]/", "", named) != path:
                raise DoesNotApply(f"it is for {named[:200]}, not for {path}")
            continue
        if match := _HUNK.match(line):
            hunks.append((int(match[1]) - 1, [], []))
        elif not hunks:
            if line.startswith(("diff ", "index ")) or not line.strip():
                continue
            raise DoesNotApply("it does not begin with a hunk")
        elif line.startswith("-"):
            hunks[-1][1].append(line[1:])
        elif line.startswith("+"):
            hunks[-1][2].append(line[1:])
        elif line.startswith(" ") or line == "":
            hunks[-1][1].append(line[1:])
            hunks[-1][2].append(line[1:])
        else:
            raise DoesNotApply("it holds a line that is neither old nor new")
    if not hunks:
        raise DoesNotApply("it holds no hunk")
    return hunks


def _inside(written: Sequence[str], number: int) -> bool:
    """Whether a line that looks like a file's head is a removed or added line: heads come in pairs before a hunk."""
    following = written[number : number + 3]
    return not any(_HUNK.match(line) for line in following)


def _find(lines: Sequence[str], old: Sequence[str], start: int, earliest: int) -> int:
    if not old:
        raise DoesNotApply("a hunk holds no line of the file")
    if start >= earliest and list(lines[start : start + len(old)]) == list(old):
        return start
    places = [n for n in range(earliest, len(lines) - len(old) + 1) if list(lines[n : n + len(old)]) == list(old)]
    if len(places) != 1:
        raise DoesNotApply(
            "its old lines do not stand in the file" if not places else "its old lines stand there twice"
        )
    return places[0]
