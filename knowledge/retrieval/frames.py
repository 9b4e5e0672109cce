"""Stack frames and places ("src/app.py:42") that a question holds, nearest to the failure first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EXTENSIONS = "py|java|kts?|tsx?|jsx?|mjs|cjs|go|swift|sol|rs|rb|c|cc|cpp|h|hpp|cs|php|scala|groovy"
# at reviewme.review.ReviewService.create(ReviewService.java:45), with module and class loader prefixes
_JVM = re.compile(
    r"\bat\s+(?:[\w.@-]+/{1,2})*(?P<symbol>[\w$.<>\-]+)"
    r"\((?P<file>[\w$]+\.\w+|SourceFile|Unknown Source)(?::(?P<line>\d+))?\)"
)
# File "/app/redash/worker.py", line 71, in __call__
_PYTHON = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<symbol>[\w<>.]+))?')
# at useForm (webpack-internal:///./src/hooks/useForm.ts:41:17), at src/a.js:3:1, foo@http://host/static/a.js:1:2
_SCRIPT = re.compile(
    rf"(?:\bat\s+(?:async\s+)?|(?P<gecko>[\w$.<>/\[\]]*)@)(?:(?P<symbol>[\w$.<>\[\] ]+?)\s+\()?"
    rf"(?P<file>[^\s()@]*?\.(?:{_EXTENSIONS}))(?:\?[^\s:)]*)?:(?P<line>\d+)(?::\d+)?\)?"
)
# /home/me/service/pay.go:88 +0x1a5 under a line main.(*Service).Retry(...)
_GO = re.compile(r"^\s*(?P<file>/?[^\s:()]+\.go):(?P<line>\d+)(?:\s+\+0x[0-9a-f]+)?\s*$", re.MULTILINE)
_GO_FUNCTION = re.compile(r"^(?:goroutine .*|(?P<symbol>[\w./\-]+(?:\.\(\*?\w+\))?\.[\w.]+)\(.*\))\s*$")
# 3  App  0x0000 closure #1 in PaymentService.retry(_:) + 84 (PaymentService.swift:57)
# Fatal error: Unexpectedly found nil: file App/Cart.swift, line 12
_SWIFT = re.compile(
    r"(?:(?P<symbol>[\w.]+)\([\w:]*\)\s.*?|\bat\s|[(\s:]|^)(?P<file>[\w/+.\-]+\.swift)(?::|, line )(?P<line>\d+)",
    re.MULTILINE,
)
# src/app.py:42, in prose
_PLACE = re.compile(
    rf"(?<![\w/.])(?P<file>(?:[\w.\-@]+/)*[\w.\-]+\.(?:{_EXTENSIONS}))(?::|#L|, line |\s+line\s+)(?P<line>\d+)"
)
_FILE = re.compile(
    rf"(?<![\w/.])(?P<file>(?:[\w.\-@]+/)*[\w\-]+\.(?:{_EXTENSIONS}|md|toml|ya?ml|json|txt|docx|pdf|sql))(?![\w.])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One place in code: the end of a path or a file name, with the line and the name of the function when known."""

    file: str
    line: int | None  # from 1
    symbol: str | None


def find_frames(text: str) -> list[Frame]:
    """Distinct frames of the stack traces in `text`, innermost first; empty when there is no trace.

    Python prints the innermost call last, everything else first.
    """
    frames = list(reversed([*_python_frames(text)]))
    for found in (
        _jvm_frames(text),
        _script_frames(text),
        _go_frames(text),
        _matches(_SWIFT, text),
        _matches(_PLACE, text),
    ):
        frames += found
    known: dict[tuple[str, int | None], Frame] = {}
    for frame in frames:
        known.setdefault((frame.file.rsplit("/", 1)[-1], frame.line), frame)
    return list(known.values())


def find_files(text: str) -> list[str]:
    """Distinct file names and paths that `text` mentions, in order."""
    return list(dict.fromkeys(match["file"] for match in _FILE.finditer(text)))


def _python_frames(text: str) -> Iterator[Frame]:
    for match in _PYTHON.finditer(text):
        symbol = match["symbol"]
        known = symbol if symbol and not symbol.startswith("<") else None
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=known)


def _jvm_frames(text: str) -> Iterator[Frame]:
    for match in _JVM.finditer(text):
        names = [name for name in re.split(r"[.$]", match["symbol"]) if name]
        classes = [i for i, name in enumerate(names[:-1] or names) if name[:1].isupper()]
        outer = classes[0] if classes else max(0, len(names) - 2)
        file = match["file"]
        is_obfuscated = "." not in file
        if is_obfuscated and not classes:
            continue
        # A Kotlin lambda is Downloader$queueChapters$1.invokeSuspend: what is written in the file is queueChapters.
        inner = [name for name in names[outer + 1 :] if not name.isdigit() and name != "invokeSuspend"]
        package = "/".join(names[:outer])
        path = f"{package}/{names[outer]}." if is_obfuscated else f"{package}/{file}"
        line = int(match["line"]) if match["line"] and not is_obfuscated else None
        symbol = ".".join([names[outer], *inner[:1]]) if inner else names[outer]
        yield Frame(file=path.lstrip("/"), line=line, symbol=symbol)


def _script_frames(text: str) -> Iterator[Frame]:
    for match in _SCRIPT.finditer(text):
        symbol = (match["symbol"] or match["gecko"] or "").strip().removeprefix("new ") or None
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=symbol)


def _go_frames(text: str) -> Iterator[Frame]:
    for match in _GO.finditer(text):
        before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1]
        function = _GO_FUNCTION.match(before)
        symbol = (
            re.sub(r"[()*]", "", function["symbol"].rsplit("/", 1)[-1]) if function and function["symbol"] else None
        )
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=symbol and symbol.partition(".")[2])


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Frame]:
    for match in pattern.finditer(text):
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=match.groupdict().get("symbol"))


def _path(raw: str) -> str:
    """The path without scheme, host, bundler prefix and leading dots."""
    path = re.sub(r"^[\w+.-]+://[^/]*", "", raw.replace("\\", "/"))
    return re.sub(r"^(?:\./|/)+", "", re.sub(r"/\./", "/", path))
