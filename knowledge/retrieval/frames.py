"""Stack frames and places ("src/app.py:42") that a question holds, nearest to the failure first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EXTENSIONS = "py|java|kts?|tsx?|jsx?|mjs|cjs|go|swift|sol|rs|rb|c|cc|cpp|h|hpp|cs|php|scala|groovy"
# at reviewme.review.ReviewService.create(ReviewService.java:45), with module and class loader prefixes
_JVM = re.compile(
    r"\bat\s+(?:[\w.@-]+/{1,2})*(?P<symbol>[\w$.<>\-]+)"
    r"\((?P<file>[\w$]+\.\w+|SourceFile|Unknown Source|r8-map-id-[0-9a-f]+)(?::(?P<line>\d+))?\)"
)
_GENERATED = ("invokeSuspend", "lambda", "anonfun", "Companion", "access")
# File "/app/redash/worker.py", line 71, in __call__
_PYTHON = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<symbol>[\w<>.]+))?')
# at useForm (webpack-internal:///./src/hooks/useForm.ts:41:17), at src/a.js:3:1, foo@http://host/static/a.js:1:2
_SCRIPT = re.compile(
    rf"(?:\bat\s+(?:async\s+)?|(?P<gecko>[\w$.<>/\[\]]*)@)(?:(?P<symbol>[\w$.<>\[\] ]+?)\s+\()?"
    rf"(?P<file>[^\s()@]*?\.(?:{_EXTENSIONS}))(?:\?[^\s:)]*)?:(?P<line>\d+)(?::\d+)?\)?"
)
# /home/me/service/pay.go:88 +0x1a5 under a line main.(*Service).Retry(...)
_GO = re.compile(r"^\s*(?P<file>/?[^\s:()]+\.go):(?P<line>\d+)(?:\s+\+0x[0-9a-f]+)?\s*$", re.MULTILINE)
_GO_FUNCTION = re.compile(
    r"^(?:goroutine .*|(?P<symbol>[\w./\-]+(?:\.\(\*?\w+(?:\[\.\.\.\])?\))?\.[\w.]+)(?:\[\.\.\.\])?(?:\(.*\))?)\s*$"
)
# 3  App  0x0000 closure #1 in PaymentService.retry(_:) + 84 (PaymentService.swift:57)
# Fatal error: Unexpectedly found nil: file App/Cart.swift, line 12
_SWIFT = re.compile(
    r"(?:(?P<symbol>[\w.]+)\([\w:]*\)\s.*?|\bat\s|[(\s:]|^)(?P<file>[\w/+.\-]+\.swift)(?::|, line )(?P<line>\d+)",
    re.MULTILINE,
)
# at Shop.Orders.OrderService.Cancel(Int64 id) in /src/Orders/OrderService.cs:line 42; the place is often missing
_CSHARP = re.compile(
    r"^\s*(?:at|에서)\s+(?P<symbol>[\w.<>`+|\[\],$]+)"
    r"\((?!SourceFile|Unknown Source|Native Method|[\w$]+\.(?:java|kt|scala|groovy|clj)\b)[^()\n]*\)"
    r"(?:\s+(?:in|위치:|파일)\s+(?P<file>[^\n]+?\.(?:cs|vb|fs)):(?:line|줄)?\s*(?P<line>\d+))?\s*$",
    re.MULTILINE,
)
#    2: shop::orders::Cart::total::h0123456789abcdef
#              at ./src/orders/cart.rs:88:14
_RUST = re.compile(
    r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<symbol>[^\n]+)\n\s+at (?P<file>[^\s:]+\.rs):(?P<line>\d+)", re.MULTILINE
)
# panicked at src/orders/cart.rs:88:14
_RUST_PANIC = re.compile(r"\bpanicked at (?:'[^'\n]*', )?(?P<file>[^\s:]+\.rs):(?P<line>\d+)")
# /app/lib/shop/order.rb:12:in `block in pay', from app/models/order.rb:7:in 'Shop::Order#pay'
_RUBY = re.compile(
    r"(?P<file>[^\s:'\"`()\[\]]+\.(?:rb|rake|ru|erb|haml|slim)):(?P<line>\d+)(?::in [`'](?P<symbol>[^'`\n]+)')?"
)
# PHP Fatal error: ... in /app/src/Order.php:12, and #0 /app/src/Shop.php(44): App\\Order->pay()
_PHP = re.compile(
    r"(?:\bin\s+|#\d+\s+)(?P<file>[^\s:()]+\.(?:php|phtml|inc))"
    r"(?:\((?P<call>\d+)\)|:(?P<line>\d+)| on line (?P<told>\d+))"
)
# #1 0x55d0 in cart_total /src/cart.c:31:5 (sanitizers), #1  0x55d0 in cart_total (c=0x0) at src/cart.c:31 (gdb)
_NATIVE = re.compile(
    r"^\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<symbol>[\w:~<>]+)[^\n]*?[ (]"
    r"(?P<file>[^\s:()]+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm)):(?P<line>\d+)",
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
        _csharp_frames(text),
        _rust_frames(text),
        _ruby_frames(text),
        _php_frames(text),
        _matches(_NATIVE, text),
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
        # A Kotlin lambda is Downloader$queueChapters$1.invokeSuspend: what is written in the file is queueChapters;
        # a Java one is PaymentService.lambda$retry$0, a Scala one PaymentService.$anonfun$retry$1.
        inner = [name for name in names[outer + 1 :] if not name.isdigit() and name not in _GENERATED]
        package = "/".join(names[:outer])
        path = f"{package}/{names[outer]}." if is_obfuscated else f"{package}/{file}"
        line = int(match["line"]) if match["line"] and not is_obfuscated else None
        symbol = ".".join([names[outer], *inner[:1]]) if inner else names[outer]
        yield Frame(file=path.lstrip("/"), line=line, symbol=symbol)


def _script_frames(text: str) -> Iterator[Frame]:
    for match in _SCRIPT.finditer(text):
        symbol = (match["symbol"] or match["gecko"] or "").strip().removeprefix("new ") or None
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=symbol)


def _csharp_frames(text: str) -> Iterator[Frame]:
    """Frames of .NET; without a place, the class tells the file. Async and local functions go by their written name."""
    for match in _CSHARP.finditer(text):
        names = [re.sub(r"`\d+|\[.*?\]|\|.*", "", name) for name in re.split(r"[.+]", match["symbol"])]
        written = [found[1] for name in names if (found := re.match(r"<(\w+)>", name))]
        plain = [name for name in names if re.fullmatch(r"\w+", name) and name not in ("MoveNext", "ctor", "cctor")]
        if not plain or (match["file"] is None and len(names) < 2):
            continue
        if written:
            owner = [name for name in plain if not name.startswith("DisplayClass")][-1:]
            symbol = ".".join([*owner, written[-1]])
        else:
            symbol = ".".join(plain[-2:])
            owner = plain[-2:-1]
        if match["file"] is not None:
            yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=symbol)
        elif owner and owner[0][:1].isupper() and names[0] != "System":
            yield Frame(file=f"{owner[0]}.cs", line=None, symbol=symbol)


def _rust_frames(text: str) -> Iterator[Frame]:
    for match in _RUST_PANIC.finditer(text):
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=None)
    for match in _RUST.finditer(text):
        symbol = re.sub(r"::h[0-9a-f]{16}$|::\{\{.*?\}\}|<|>|\s+as\s+[\w:]+", "", match["symbol"].strip())
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=".".join(symbol.split("::")[-2:]))


def _ruby_frames(text: str) -> Iterator[Frame]:
    for match in _RUBY.finditer(text):
        name = re.sub(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+", "", match["symbol"] or "")
        symbol = None if not name or name.startswith("<") else re.sub(r"::|#", ".", name)
        yield Frame(file=_path(match["file"]), line=int(match["line"]), symbol=symbol)


def _php_frames(text: str) -> Iterator[Frame]:
    """Places only: what stands behind one in a trace is what was called there, not where it stands."""
    for match in _PHP.finditer(text):
        line = match["line"] or match["call"] or match["told"]
        yield Frame(file=_path(match["file"]), line=int(line), symbol=None)


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
