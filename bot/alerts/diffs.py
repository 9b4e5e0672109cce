"""A unified diff tried on the file that it is for: strictly, without fuzz, in memory, before anybody is shown it.

What is shown is written anew from the file before and after, so that `git apply` takes it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from knowledge.masking import mask

MAX_DIFF_LINES = 200
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MASKED = "[masked:"
_NO_NEWLINE = "\\ No newline at end of file"


class DoesNotApply(ValueError):
    """Why a diff cannot be applied to a file."""


def proved_diff(lines: Sequence[str], diff: str, *, path: str, ends_with_newline: bool = True) -> str:
    """The change as a diff that applies to the file. Raises DoesNotApply as `apply_diff` does, and for a change whose
    surroundings are masked here: nobody could apply it to the real file."""
    result = apply_diff(lines, diff, path=path)
    before, after = (_ended(some, ends_with_newline) for some in (lines, result))
    for context in (3, 2, 1):
        written = list(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", n=context))
        if not any(_MASKED in line for line in written):
            return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in written).rstrip("\n")
    raise DoesNotApply("it touches a line that is masked here")


def apply_diff(lines: Sequence[str], diff: str, *, path: str) -> list[str]:
    """The lines of the file after the diff. Raises DoesNotApply when one line of it does not fit, when it is for
    another file or more than one, renames, creates or deletes, touches masked lines, holds a secret, or changes
    nothing. Line numbers may be wrong where the old lines stand in the file exactly once; in a file with CRLF the new
    lines get CRLF too."""
    written = [line.removesuffix("\r") for line in _without_fences(diff) if not line.startswith("\\ No newline")]
    if len(written) > MAX_DIFF_LINES:
        raise DoesNotApply(f"it has more than {MAX_DIFF_LINES} lines")
    plain = [line.removesuffix("\r") for line in lines]
    ending = "\r" if sum(line.endswith("\r") for line in lines) * 2 > len(lines) else ""
    result: list[str] = []
    place = 0
    for start, old, new in _hunks(written, path):
        if any(_MASKED in line for line in (*old, *new)):
            raise DoesNotApply("it touches a line that is masked here")
        if any(mask(line) != line for line in set(new) - set(old)):
            raise DoesNotApply("it writes something secret into the file")
        at = _find(plain, old, start, place)
        result += [*lines[place:at], *_new_lines(lines[at : at + len(old)], old, new, ending)]
        place = at + len(old)
    result += lines[place:]
    if result == list(lines):
        raise DoesNotApply("it changes nothing")
    return result


def _without_fences(diff: str) -> list[str]:
    lines = diff.strip("\n").split("\n")
    while lines and lines[0].startswith("```"):
        lines = lines[1:]
    while lines and lines[-1].startswith("```"):
        lines = lines[:-1]
    if any(line.lstrip(" +-").startswith("```") for line in lines):
        raise DoesNotApply("it holds a fence, and would not stay within its own")
    return lines


def _hunks(written: Sequence[str], path: str) -> list[tuple[int, list[str], list[str]]]:
    """(line of the old file from 0, old lines, new lines) of each hunk."""
    hunks: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(written):
        if line.startswith(("--- ", "+++ ")) and not (hunks and _inside(written, number)):
            named = line[4:].split("\t")[0].strip().strip('"')
            if re.sub(r"^[ab]/", "", named, count=1) != path and named != path:
                raise DoesNotApply(f"it is for {named[:200]}, not for {path}")
            continue
        if match := _HUNK.match(line):
            hunks.append((int(match[1]) - 1, [], []))
        elif line.startswith("diff ") or not hunks:
            _require_plain_head(line, path)
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


def _require_plain_head(line: str, path: str) -> None:
    """Raises DoesNotApply for what is no head of a change of this one file."""
    if line.startswith("diff ") and not line.endswith((f" b/{path}", f" {path}")):
        raise DoesNotApply(f"it is for another file than {path}")
    if line.startswith(("rename ", "copy ", "similarity ", "new file", "deleted file", "old mode", "Binary")):
        raise DoesNotApply("it does more than change lines of one file")
    if line.strip() and not line.startswith(("diff ", "index ")):
        raise DoesNotApply("it does not begin with a hunk")


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


def _new_lines(there: Sequence[str], old: Sequence[str], new: Sequence[str], ending: str) -> list[str]:
    """The new lines, where they stay with the endings that they have in the file, else with those of the file."""
    written: list[str] = []
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        written += there[first:last] if tag == "equal" else [line + ending for line in new[new_first:new_last]]
    return written


def _ended(lines: Sequence[str], ends_with_newline: bool) -> list[str]:
    """The lines with their line breaks."""
    ended = [f"{line}\n" for line in lines]
    if ended and not ends_with_newline:
        ended[-1] = ended[-1][:-1]
    return ended
