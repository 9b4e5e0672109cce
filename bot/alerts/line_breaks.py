"""Line breaks of traces as they were printed: taken out where a width put them in, put in where they were lost."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEAST_WIDTH = 60
# Of terminals, mails, syslog, posts. Any other may be that of the longest line by chance, and a short one too.
_USUAL_WIDTHS = (80, 100, 120, 132, 160, 200, 255, 256, 500, 512, 1000, 1023, 1024, 2000, 2048, 3000, 4000,
                 4096, 8000, 8192, 16_000, 16_383, 16_384)  # fmt: skip
_LEAST_STARTS = 2  # of frames in one line, from which on its line breaks were lost
MAX_FLAT_CHARS = 120_000

_FRAME_START = re.compile(
    r"^\s*(?:at\s|File \"|#\d+\s|\.\.\. \d+|Caused by|Suppressed|from\s+\S+:\d+|Traceback \(|--- |---> |goroutine "
    r"|created by |\d+:\s|During handling|The above|\(Coroutine boundary|Wrapped by|Next |thrown in "
    r"|(?:[\w$]+\.){2,8}[A-Z]\w*|\S+@\S+:\d+)"
)
# Where the next printed line of a trace begins within a line.
_LOST = re.compile(
    r"(?<!panicked)(?<!from)[ \t]+(?="
    r"(?:at|위치:)\s+(?:[\w.@-]+/{1,2})*(?:[\w$<>`|+-]+\.)+[\w$<>`\[\],|-]+\("  # a dotted function
    r"|at\s+(?:async\s+|new\s+)?[\w$.<>\[\] *#]{1,100}\((?:file:|https?:|webpack|/|\./|node:|<anonymous>\)|[A-Za-z]:\\)"
    r"|at\s+(?:async\s+)?[^\s()]{1,300}\.(?:tsx?|jsx?|mjs|cjs|rs):\d+"
    r"|Caused by: |\[cause\]: |Suppressed: |Wrapped by: |\.\.\. \d+ (?:more|common frames)"
    r"|File \"[^\"\n]{1,300}\", line \d|Traceback \(most recent|During handling of the above|The above exception was"
    r"|from \S{1,300}:\d+:in|/\S{1,300}\.rb:\d+:in [`']"
    r"|#\d+ (?:\S{1,300}\(\d+\)|\[internal function\]|\{main\})|thrown in /|Stack trace: |Next \\?[A-Z][\w\\]{1,100}: "
    r"|---> |--- End of |goroutine \d+ \[|created by \S+|stack backtrace:|note: "
    r"|\d+:\s+[\w<][\w:<>{}, ]{0,200} at \S+\.rs:\d+"
    r"|(?:global |module |eval )?[\w$./<>*]{0,80}@(?:https?://\S+:\d+:\d+|\[native code\])"
    r")"
)
_PYTHON_PLACE = re.compile(r"(File \"[^\"\n]+\", line \d+(?:, in [\w<>.]+)?)[ \t]+(?=\S)")
_PYTHON_END = re.compile(
    r"[ \t]+(?=(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*(?:Error|Exception|Warning|Timeout|Interrupt|Exit|DoesNotExist|NotFound"
    r"|Failure)(?:: |\s*$))"
)
_GO_PLACE = re.compile(
    r"(?:(?:^|[ \t]+)([\w.\-/]{1,200}?(?:\.\(\*?\w+(?:\[\.\.\.\])?\))?\.[\w.]{1,100}"
    r"(?:\[\.\.\.\])?(?:\([^()\n]{0,300}\))?))?"
    r"[ \t]+(/\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?)(?:[ \t]+(?=\S)|$)"
)
_CAUSE_BEHIND_FRAME = re.compile(r"(?<=\))[ \t]+(?=(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b)")
_UNFINISHED = re.compile(
    r"^\s*at$|^\s*(?:Caused by|Suppressed|Wrapped by|\[cause\]):$"
    r"|^\s*at [\w.$<>/@`\[\]|+-]+(?:\([^()]*)?$"  # no closing bracket yet
    r"|^\s*at (?:async )?[\w.$<>\[\] ]+ \([^()]*$"
    r"|^\s*at [\w.$<>`\[\]|,+]+\([^()]*\) (?:in(?: \S*)?)?$"
    r"|^\s*File \"[^\"\n]*$|^\s*File \"[^\"\n]+\", ?(?:line(?: \d+,?(?: in)?)?)?$"
)


_AT_WORD = ("at", "in", ",", "line", " ", "by:", "Suppressed:", "[cause]:")


def without_hard_wraps(lines: Sequence[str], prefix: re.Pattern[str] | None = None) -> list[str]:
    """Lines joined that a fixed width cut: they are exactly as long as the longest one. A line that is indented, that
    begins a frame or carries the prefix of all lines was printed as it is."""
    width = max((len(line) for line in lines), default=0)
    full = sum(len(line) == width for line in lines[:-1])
    if width < _LEAST_WIDTH or full < (3 if width not in _USUAL_WIDTHS else 1 if width >= 200 else 2):
        return list(lines)
    joined: list[str] = []
    goes_on = False
    for line in lines:
        begins = _FRAME_START.match(line) or line[:1] == "\t" or line[:2] == "  " or not line.strip()
        if goes_on and not begins and not (prefix is not None and prefix.match(line)):
            joined[-1] += line
        else:
            joined.append(line)
        goes_on = len(line) == width
    return joined


def without_word_wraps(lines: Sequence[str]) -> list[str]:
    """Lines with the ends of frames joined that were cut off at a blank, or within a word by a width."""
    joined: list[str] = []
    for line in lines:
        if joined and line.startswith("~["):  # where the class of a frame came from
            joined[-1] = f"{joined[-1].rstrip()} {line}"
        elif joined and line.strip() and _goes_on(joined[-1], line):
            at_word = joined[-1].endswith(_AT_WORD) or line.lstrip().startswith("(")
            joined[-1] = joined[-1].rstrip() + (" " if at_word else "") + line.strip()
        else:
            joined.append(line)
    return joined


def _goes_on(before: str, line: str) -> bool:
    """Whether a frame or a head that is not finished goes on in the next line."""
    if not _UNFINISHED.match(before):
        return False
    return not _FRAME_START.match(line) or before.strip() == "at" or before.endswith("by:")


def with_line_breaks(line: str) -> list[str]:
    """The printed lines of a line that holds several frames; any other line as it is."""
    if len(line) < _LEAST_WIDTH or len(line) > MAX_FLAT_CHARS:
        return [line]
    starts = len(_LOST.findall(line)) + len(_GO_PLACE.findall(line))
    if starts < _LEAST_STARTS:
        return [line]
    line = _LOST.sub("\n", line)
    line = _CAUSE_BEHIND_FRAME.sub("\n", line)
    if 'File "' in line:
        line = _python_lines(line)
    if ".go:" in line:
        line = _GO_PLACE.sub(r"\n\1\n\t\2\n", line)
    return [piece.rstrip() for piece in line.split("\n") if piece.strip()]


def _python_lines(text: str) -> str:
    """Source lines below their frames, and the exception below the last source line."""
    lines = []
    for line in text.split("\n"):
        place, separator, rest = _PYTHON_PLACE.sub(r"\1\n    ", line, count=1).partition("\n")
        lines.append(f"  {place}" if place.startswith("File ") else place)
        if separator:
            source = _PYTHON_END.sub("\n", f" {rest}", count=1)
            lines += [source.lstrip("\n") if source.startswith("\n") else source]
    return "\n".join(lines)
