"""What a parsed file calls and what it imports."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from knowledge.chunking.code_grammar import Grammar
from knowledge.chunking.code_grammars import call_query
from knowledge.chunking.code_nodes import text_of
from knowledge.types import CallSite

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_CALLS = 200  # of one chunk
_MAX_IMPORTS = 400  # of one file
_BEFORE_BYTES = 120
_NAME = re.compile(r"[A-Za-z_$][\w$]*[?!]?")
_MARKS = (b"!!.", b"?.", b".", b"->", b"::")  # between a receiver and the called name
_NEW = re.compile(rb"\bnew\s+(?:[\w.\\]+[.\\])?$")
_TYPE_ARGUMENTS = re.compile(rb"<[\w, ]*>$")
_OPENING = {b")": b"(", b"]": b"["}
_IDENTIFIER = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$@")
_RUBY_REQUIRE = re.compile(r"\s*(?:require|require_relative|include|extend|prepend|autoload)\b")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_NO_IMPORTS = frozenset(  # top-level nodes that are no content, and import nothing
    [
        "php_tag", "package_clause", "package_header", "package_declaration", "file_scoped_namespace_declaration",
        "pragma_directive", "declare_statement",
    ]
)  # fmt: skip
_NOT_NAMES = frozenset(
    ["import", "from", "use", "using", "static", "as", "pub", "crate", "package", "require", "require_relative",
     "include", "type", "global", "function", "const", "default", "self", "super", "mod", "java", "com", "org", "net"]
)  # fmt: skip


class Calls:
    """Names that a file calls, by row."""

    def __init__(self, grammar: Grammar, root: Node) -> None:
        from tree_sitter import QueryCursor

        nodes = QueryCursor(call_query(grammar.name)).captures(root).get("call", [])
        self._data = root.text or b""
        self._offset = root.start_byte
        self._calls = sorted((n.start_point.row, n.start_byte, text_of(n)) for n in nodes)

    def between(self, first_row: int, last_row: int) -> tuple[CallSite, ...]:
        """One site a distinct name called on these rows, in order of appearance, at most 200."""
        start = bisect_left(self._calls, (first_row, 0, ""))
        end = bisect_left(self._calls, (last_row + 1, 0, ""))
        lines: dict[str, int] = {}
        receivers: dict[str, dict[str, None]] = {}
        for row, byte, name in self._calls[start:end]:
            if not _NAME.fullmatch(name) or len(name) < 2:
                continue
            if name not in lines:
                if len(lines) == _MAX_CALLS:
                    break
                lines[name] = row + 1
            receivers.setdefault(name, {})[self._receiver(byte)] = None
        return tuple(
            CallSite(name=name, line=line, receivers=tuple(list(receivers[name])[:8])) for name, line in lines.items()
        )

    def _receiver(self, byte: int) -> str:
        """The name before the dot in front of a called name: gate in `order.gate.send()` and `gate(1).send()`."""
        start = byte - self._offset
        before = self._data[max(0, start - _BEFORE_BYTES) : start].rstrip()
        mark = next((mark for mark in _MARKS if before.endswith(mark)), None)
        if mark is None or b"new " in before[-60:]:
            if b"new" in before[-60:] and _NEW.search(self._data[max(0, start - _BEFORE_BYTES) : start]):
                return "new"
            if mark is None:
                return ""
        before = before[: -len(mark)].rstrip()
        while (opening := _OPENING.get(before[-1:])) is not None:
            place = before.rfind(opening)
            if place < 0:
                return ""
            before = before[:place].rstrip()
        if before.endswith(b">"):
            before = _TYPE_ARGUMENTS.sub(b"", before)
        end = place = len(before)
        while place > 0 and before[place - 1] in _IDENTIFIER:
            place -= 1
        return before[place:end].decode("ascii").lstrip("@")


def merge_sites(sites: list[CallSite]) -> tuple[CallSite, ...]:
    """The sites with one entry a name: its first line and all its receivers."""
    merged: dict[str, CallSite] = {}
    for site in sites:
        known = merged.get(site.name)
        if known is None:
            merged[site.name] = site
        else:
            receivers = tuple(dict.fromkeys((*known.receivers, *site.receivers)))
            merged[site.name] = CallSite(name=site.name, line=known.line, receivers=receivers)
    return tuple(merged.values())


def imports_of(grammar: Grammar, root: Node) -> tuple[str, ...]:
    """Distinct names in the import statements of a file: modules, paths without folders, imported symbols."""
    wanted = grammar.imports or grammar.skipped
    names: dict[str, None] = {}
    waiting = list(root.children)
    for node in waiting:
        if node.type in ("import_list", "namespace_declaration", "namespace_definition", "declaration_list"):
            waiting.extend(node.children)
        if node.type not in wanted or node.type in _NO_IMPORTS:
            continue
        text = text_of(node)
        if grammar.name == "ruby" and not _RUBY_REQUIRE.match(text):
            continue
        names.update(dict.fromkeys(w for w in _WORD.findall(text[:2000]) if len(w) > 1 and w not in _NOT_NAMES))
        if len(names) >= _MAX_IMPORTS:
            break
    return tuple(names)[:_MAX_IMPORTS]
