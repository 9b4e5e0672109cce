"""How each language prints the frames of its stack traces: one reader a language, frames in printed order.

Text may have lost its line breaks: patterns are bound to the beginnings of lines only where the rest of a frame tells
too little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

EXTENSIONS = "py|java|kts?|tsx?|jsx?|mjs|cjs|go|swift|sol|rs|rb|c|cc|cpp|h|hpp|cs|php|scala|groovy"
_SCRIPT_EXTENSIONS = "tsx?|jsx?|mjs|cjs|mts|cts|vue|svelte"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One place in code: the end of a path or a file name, with the line and the name of the function when known."""

    file: str
    line: int | None  # from 1
    symbol: str | None


def plain_path(raw: str) -> str:
    """The path without scheme, host, drive, bundler prefix and leading dots."""
    path = re.sub(r"^[\w+.-]+://[^/]*", "", raw.replace("\\", "/"))
    path = re.sub(r"^/*(?:[A-Za-z]:/+|\([\w-]+\)/)", "", path)
    return re.sub(r"^(?:\./|/)+", "", re.sub(r"/\./|//+", "/", path))


# --- Python ---------------------------------------------------------------------------------------

# File "/app/redash/worker.py", line 71, in __call__
_PYTHON = re.compile(r'File "(?P<file>[^"\n]{1,500})", line (?P<line>\d+)(?:, in (?P<symbol>[\w<>.]+))?')


def python(text: str) -> Iterator[Frame]:
    """Python prints the innermost call last."""
    for match in _PYTHON.finditer(text):
        symbol = match["symbol"]
        known = symbol if symbol and not symbol.startswith("<") else None
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=known)


# --- Java, Kotlin, Scala, Groovy ------------------------------------------------------------------

# at reviewme.review.ReviewService.create(ReviewService.java:45), with module and class loader prefixes
_JVM = re.compile(
    r"\bat\s+(?:[\w.@-]{1,100}/{1,2}){0,4}(?P<symbol>[\w$.<>\-]{1,400})"
    r"\((?P<file>[\w$-]{1,200}\.\w{1,20}|SourceFile|Unknown Source|r8-map-id-[0-9a-f]+)(?::(?P<line>\d+))?\)"
)
_GENERATED = ("invokeSuspend", "lambda", "anonfun", "Companion", "access")
# Classes that no file holds: proxies of containers, accessors.
_PROXY = re.compile(
    r"_ClientProxy\b|_Subclass\b|_Bean\b|\$quarkus|\$Proxy\d|\$HibernateProxy|\$ByteBuddy|\$MockitoMock|\$\$Lambda"
    r"|\$\$(?:Enhancer|FastClass|Spring)|Generated(?:Method|Constructor)Accessor|__Accessor"
)


def jvm(text: str) -> Iterator[Frame]:
    """Where no file is told, the class tells it: "shop/Cart." stands for Cart.java and Cart.kt."""
    for match in _JVM.finditer(text):
        file = match["file"]
        is_obfuscated = "." not in file
        if is_obfuscated and _PROXY.search(match["symbol"]):
            continue
        names = [name for name in re.split(r"[.$]", match["symbol"]) if name]
        classes = [i for i, name in enumerate(names[:-1] or names) if name[:1].isupper()]
        outer = classes[0] if classes else max(0, len(names) - 2)
        if not names or (is_obfuscated and not classes):
            continue
        # A Kotlin lambda is Downloader$queueChapters$1.invokeSuspend: what is written in the file is queueChapters;
        # a Java one is PaymentService.lambda$retry$0, a Scala one PaymentService.$anonfun$retry$1.
        inner = [name for name in names[outer + 1 :] if not name.isdigit() and name not in _GENERATED]
        package = "/".join(names[:outer])
        path = f"{package}/{names[outer]}." if is_obfuscated else f"{package}/{file}"
        line = int(match["line"]) if match["line"] and not is_obfuscated else None
        symbol = ".".join([names[outer], *inner[:1]]) if inner else names[outer]
        yield Frame(file=path.lstrip("/"), line=line, symbol=symbol)


# --- JavaScript, TypeScript -----------------------------------------------------------------------

# at useForm (webpack-internal:///./src/hooks/useForm.ts:41:17), at src/a.js:3:1, at async f (file:///srv/a.mjs:1:2)
_V8 = re.compile(
    r"\bat\s+(?:async\s+)?(?:(?P<symbol>[\w$#.<>\[\]* ]{1,160}?)\s+\()?"
    r"(?P<file>(?:[\w-]+:///?\([\w-]+\))?(?:[A-Za-z]:[\\/])?[^\s():]{0,300}"
    r"(?:(?<=file):///[A-Za-z]:[^\s():]{0,300}|://[^\s():]{0,300}(?::\d+/[^\s():]{0,300})?)?"
    rf"\.(?:{_SCRIPT_EXTENSIONS}))(?:\?[^\s:)]*)?:(?P<line>\d+)(?::\d+)?\)?"
)
# total@https://shop/src/total.js:12:9, global code@https://...
_GECKO = re.compile(
    r"(?P<symbol>(?<![\w$.])(?:(?:global|module|eval) code|[\w$.<>/\[\]*]{0,160}))@"
    r"(?P<file>(?:https?|file|webpack|webpack-internal|app|capacitor|[\w-]+-extension)://[^\s()@]{0,400}?"
    rf"\.(?:{_SCRIPT_EXTENSIONS}))(?:\?[^\s:)]*)?:(?P<line>\d+)(?::\d+)?"
)


def javascript(text: str) -> Iterator[Frame]:
    """V8's form, and that of Firefox and Safari; a name "render/<" is a function within render."""
    for pattern in (_V8, _GECKO):
        for match in pattern.finditer(text):
            name = re.sub(r"\s*\[as [^\]]*\]|/?<$|/<.*$|^async\*|^new ", "", (match["symbol"] or "").strip())
            symbol = None if not name or name.endswith((" code", "<anonymous>")) else name.strip()
            yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=symbol)


# --- Go -------------------------------------------------------------------------------------------

# main.(*Service).Retry(...) above /home/me/service/pay.go:88 +0x1a5
_GO = re.compile(
    r"^\s*(?P<file>(?:[A-Za-z]:)?/?[^\s:()]{1,300}\.go):(?P<line>\d+)(?:\s+\+0x[0-9a-f]+)?\s*$", re.MULTILINE
)
_GO_FUNCTION = re.compile(
    r"^\s*(?:goroutine .*|(?P<symbol>[\w./\-@]{1,200}(?:\.\(\*?\w+(?:\[\.\.\.\])?\))?\.[\w.]{1,100})"
    r"(?:\[\.\.\.\])?(?:\(.*\))?"
    r"|(?P<plain>panic)\(.*\))\s*$"
)
# the same on one line
_GO_FLAT = re.compile(
    r"(?<![\w./\-])(?P<symbol>[\w./\-]{1,200}?(?:\.\(\*?\w{1,60}(?:\[\.\.\.\])?\))?\.[\w.]{1,100})"
    r"(?:\[\.\.\.\])?\((?:[^()\n]|\(\*?\w*\)){0,400}\)"
    r"[ \t]+(?P<file>(?:[A-Za-z]:)?/[^\s:()]{1,300}\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?!\S)"
)
# /app/items.go:33 (0x8f2000) above (*Items).List: page := must(c)
_GO_RECOVERED = re.compile(
    r"^(?P<file>\S{1,300}\.go):(?P<line>\d+) \(0x[0-9a-f]+\)[ \t]*\n\s+(?P<symbol>[\w.()*\[\]]+): ", re.MULTILINE
)


def go(text: str) -> Iterator[Frame]:
    """A function stands on the line above its place."""
    found: dict[int, Frame] = {}
    for match in _GO.finditer(text):
        before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1]
        function = _GO_FUNCTION.match(before)
        named = function["symbol"] if function and function["symbol"] else None
        symbol = _go_name(named) if named else (function["plain"] if function else None)
        found[match.start("file")] = Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=symbol)
    for match in _GO_FLAT.finditer(text):
        frame = Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=_go_name(match["symbol"]))
        found.setdefault(match.start("file"), frame)
    for match in _GO_RECOVERED.finditer(text):
        name = re.sub(r"[()*]", "", match["symbol"])
        found[match.start("file")] = Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=name)
    yield from (found[place] for place in sorted(found))


def _go_name(symbol: str) -> str | None:
    """ "github.com/me/shop/pay.(*Service).Retry" as "Service.Retry"."""
    return re.sub(r"[()*]|\[\.\.\.\]", "", symbol.rsplit("/", 1)[-1]).partition(".")[2] or None


# --- Swift ----------------------------------------------------------------------------------------

# 3  App  0x0000 closure #1 in PaymentService.retry(_:) + 84 (PaymentService.swift:57)
# 0 Pool.release(_:) + 84 in App at /build/Sources/App/Pool.swift:73:13
# Fatal error: Unexpectedly found nil: file App/Cart.swift, line 12
_SWIFT = re.compile(
    r"(?:(?P<symbol>[\w.]{1,120})(?:\([\w:]{0,100}\)\s|\s(?=\+ \d))[^\n]{0,200}?|\bat\s|[(\s:]|^)"
    r"(?P<file>[\w/+.\-]{1,300}\.swift)"
    r"(?::|, line )(?P<line>\d+)",
    re.MULTILINE,
)


def swift(text: str) -> Iterator[Frame]:
    """Places of frames, and the one that a runtime error names."""
    for match in _SWIFT.finditer(text):
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=match["symbol"])


# --- .NET -----------------------------------------------------------------------------------------

# at Shop.Orders.OrderService.Cancel(Int64 id) in /src/Orders/OrderService.cs:line 42; the place is often missing
_DOTNET = re.compile(
    r"(?:^|\s)(?:at|에서|위치:)\s+(?P<symbol>[A-Za-z_<][\w.<>`+|\[\],$]*)"
    r"\((?!SourceFile|Unknown Source|Native Method|r8-map-id|[\w$-]+\.(?:java|kts?|scala|groovy|clj)\b)"
    r"[^()\n]*(?:\(\)[^()\n]*)*\)"
    r"(?:\s+(?:in|위치:|파일)\s+(?P<file>[^\n]{1,400}?\.(?:cs|vb|fs|razor|cshtml)):(?:line|줄)?\s*(?P<line>\d+)"
    r"|(?=\s*(?:$|\s(?:at|에서|위치:|---)\s)))",
    re.MULTILINE,
)


def dotnet(text: str) -> Iterator[Frame]:
    """Without a place, the class tells the file. Async and local functions go by their written name."""
    for match in _DOTNET.finditer(text):
        names = [re.sub(r"`\d+|\[.*?\]|\|.*", "", name) for name in re.split(r"[.+]", match["symbol"])]
        written = [found[1] for name in names if (found := re.match(r"<+(\w+)>", name))]
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
            yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=symbol)
        elif owner and owner[0][:1].isupper() and names[0] != "System":
            yield Frame(file=f"{owner[0]}.cs", line=None, symbol=symbol)


# --- Rust -----------------------------------------------------------------------------------------

#    2: shop::orders::Cart::total::h0123456789abcdef
#              at ./src/orders/cart.rs:88:14
_RUST = re.compile(
    r"(?:^|\s)\d+:\s+(?:0x[0-9a-f]+ - )?(?P<symbol>[^\n]{1,300}?)\s+at (?P<file>[^\s:]{1,300}\.rs):(?P<line>\d+)",
    re.MULTILINE,
)
# panicked at src/orders/cart.rs:88:14
_RUST_PANIC = re.compile(r"\bpanicked at (?:'[^'\n]*', )?(?P<file>[^\s:]{1,300}\.rs):(?P<line>\d+)")


def rust(text: str) -> Iterator[Frame]:
    """The place of a panic, then the frames of its backtrace."""
    for match in _RUST_PANIC.finditer(text):
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=None)
    for match in _RUST.finditer(text):
        symbol = re.sub(r"::h[0-9a-f]{16}$|::\{\{.*?\}\}|<|>|\s+as\s+[\w:]+", "", match["symbol"].strip())
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=".".join(symbol.split("::")[-2:]))


# --- Ruby -----------------------------------------------------------------------------------------

# /app/lib/shop/order.rb:12:in `block in pay', from app/models/order.rb:7:in 'Shop::Order#pay'
_RUBY = re.compile(
    r"(?P<file>[^\s:'\"`()\[\]]{1,300}\.(?:rb|rake|ru|erb|haml|slim)):(?P<line>\d+)"
    r"(?::in [`'](?P<symbol>[^'`\n]{1,300})')?"
)


def ruby(text: str) -> Iterator[Frame]:
    """Blocks go by the method around them."""
    for match in _RUBY.finditer(text):
        name = re.sub(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+", "", match["symbol"] or "")
        symbol = None if not name or name.startswith("<") else re.sub(r"::|#", ".", name)
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=symbol)


# --- PHP ------------------------------------------------------------------------------------------

# PHP Fatal error: ... in /app/src/Order.php:12, and #0 /app/src/Shop.php(44): App\\Order->pay()
_PHP = re.compile(
    r"(?:\bin\s+|\bat\s+|#\d+\s+)(?P<file>(?:[A-Za-z]:)?[^\s:()]{1,300}\.(?:php|phtml|inc))"
    r"(?:\((?P<call>\d+)\)|:(?P<line>\d+)| on line (?P<told>\d+))"
)


def php(text: str) -> Iterator[Frame]:
    """Places only: what stands behind one in a trace is what was called there, not where it stands."""
    for match in _PHP.finditer(text):
        line = match["line"] or match["call"] or match["told"]
        yield Frame(file=plain_path(match["file"]), line=int(line), symbol=None)


# --- C and C++ ------------------------------------------------------------------------------------

# #1 0x55d0 in cart_total /src/cart.c:31:5 (sanitizers), #1  0x55d0 in cart_total (c=0x0) at src/cart.c:31 (gdb)
_NATIVE = re.compile(
    r"^\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<symbol>[\w:~<>]{1,300})[^\n]{0,400}?[ (]"
    r"(?P<file>[^\s:()]{1,300}\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm)):(?P<line>\d+)",
    re.MULTILINE,
)


def native(text: str) -> Iterator[Frame]:
    """Frames as sanitizers and debuggers print them."""
    for match in _NATIVE.finditer(text):
        yield Frame(file=plain_path(match["file"]), line=int(match["line"]), symbol=match["symbol"])


# In the order in which frames of several languages in one text are given.
READERS: Mapping[str, Callable[[str], Iterator[Frame]]] = {
    "python": python,
    "dotnet": dotnet,
    "rust": rust,
    "ruby": ruby,
    "php": php,
    "native": native,
    "jvm": jvm,
    "javascript": javascript,
    "go": go,
    "swift": swift,
}
