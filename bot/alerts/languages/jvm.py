"""Java, Kotlin, Scala and Groovy: a head, frames innermost first, then causes, each with its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.alert import Thrown
from bot.alerts.languages.printed import FindFrames, Printed, first_frame, thrown

# What stands in the brackets of a frame: Pay.java:45, Unknown Source, Native Method, <generated>, r8-map-id-1a2b:9
FRAME = re.compile(
    r"^\s*at\s+[\w.$<>/@-]+"
    r"\((?:[\w$-]+\.(?:java|kt|kts|scala|groovy|clj)(?::-?\d+)?|SourceFile(?::\d+)?"
    r"|Unknown Source(?::\d+)?|Native Method"
    r"|<generated>|D8\$\$\w+|r8-map-id[^)\s]*|<[\w ]+>|NULL|Redefined)\)"
)
_HEAD = re.compile(
    r"^(?P<gap>\s*)(?:Exception in thread \"(?P<thread>[^\"]*)\"\s+)?(?P<link>Caused by: |Suppressed: |Wrapped by: )?"
    r"(?P<class>(?:[a-zA-Z_][\w$]*+\.)*+[A-Z][\w$]*+)(?::(?:\s(?P<message>.*))?)?$"
)
# ... Payment failed for 12 java.lang.IllegalStateException: no total: frames follow on the next lines
_INLINE_HEAD = re.compile(
    r"(?<![\w.$])(?P<class>(?:[a-z_][\w$]*+\.)++[A-Z][\w$]*(?:Exception|Error|Throwable|Failure))(?::\s(?P<message>.*))?$"
)
# The same for a class that is named in another way: its package and the colon behind it tell.
_INLINE_NAME = re.compile(r"(?<![\w.$])(?P<class>(?:[a-z_][\w$]*+\.){2,12}[A-Z][\w$]*+): (?P<message>.*)$")
_MORE = re.compile(r"^\s*\.\.\. \d+ (?:common frames omitted|more|frames)")
_BOUNDARY = re.compile(r"^\s*(?:\(Coroutine boundary\)|Caused by:|Suppressed:|Wrapped by:)")
_ASIDE = re.compile(r"^\s*(?:\(Coroutine boundary\)|\[CIRCULAR REFERENCE|Locked ownable|- locked )")


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line; frames without a head are read too."""
    chain: list[Thrown] = []
    thread = None
    here = at
    in_suppressed = reversed_order = False
    while here < len(lines):
        head = _HEAD.match(lines[here].rstrip())
        if head is None or (head["link"] is None and (bool(chain) or not is_throwable(head["class"]))):
            break
        first = first_frame(lines, here + 1, FRAME, boundary=_BOUNDARY)
        if first is None and not (head["link"] and chain) and not _cause_follows(lines, here + 1):
            break
        message = [head["message"] or "", *lines[here + 1 : first if first is not None else here + 1]]
        end = here + 1 if first is None else frames_end(lines, first)
        link = (head["link"] or "").strip(": ")
        in_suppressed = link == "Suppressed" or (in_suppressed and bool(head["gap"]))
        reversed_order = reversed_order or link == "Wrapped by"
        if link == "Suppressed" and chain and head["class"].endswith("OnAssemblyException"):
            # Reactor puts the frames of the exception itself below its notes on where the chain was assembled.
            chain[-1] = thrown(chain[-1].error_class, chain[-1].message, find_frames("\n".join(lines[at:end])))
        elif not in_suppressed:
            chain.append(thrown(head["class"], "\n".join(message), find_frames("\n".join(lines[here + 1 : end]))))
        thread = thread or head["thread"]
        here = end
    if not chain:
        return _headless(lines, at, find_frames)
    return Printed(tuple(reversed(chain)) if reversed_order else tuple(chain), here, thread)


def _cause_follows(lines: Sequence[str], at: int) -> bool:
    return at < len(lines) and lines[at].startswith("Caused by: ")


def _headless(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """Frames whose head stands at the end of the line before, or was cut off."""
    if not FRAME.match(lines[at]):
        return None
    end = frames_end(lines, at)
    frames = find_frames("\n".join(lines[at:end]))
    head = _inline_head(lines[at - 1].rstrip()) if at else None
    if not frames or (head is None and end - at < 2):
        return None
    first = thrown(head["class"], head["message"], frames) if head else thrown("", "", frames)
    following = read(lines, end, find_frames) if end < len(lines) and lines[end].startswith("Caused by: ") else None
    causes = following.thrown if following is not None else ()
    return Printed((first, *causes), following.end if following else end, complete=head is not None)


def _inline_head(line: str) -> re.Match[str] | None:
    return _INLINE_HEAD.search(line) or _INLINE_NAME.search(line)


def frames_end(lines: Sequence[str], at: int) -> int:
    """Behind the frames that begin at `at`."""
    end = at
    while end < len(lines) and (FRAME.match(lines[end]) or _MORE.match(lines[end]) or _ASIDE.match(lines[end])):
        end += 1
    return end


def is_throwable(name: str) -> bool:
    """Whether a name at the start of a line can be a class that was thrown."""
    last = name.rpartition(".")[2]
    return "." in name or last.endswith(("Exception", "Error", "Throwable", "Failure"))
