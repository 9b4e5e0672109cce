"""Finds the definitions of a parsed file: what they are called, which rows they cover, what they call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knowledge.chunking.code_grammar import SCOPE_KIND, Grammar
from knowledge.chunking.code_grammars import definition_query
from knowledge.chunking.code_naming import describe
from knowledge.chunking.code_nodes import Described, text_of
from knowledge.chunking.code_text import signature_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ANNOTATIONS = frozenset(["annotation", "marker_annotation", "attribute", "decorator", "attribute_list"])
_BESIDE = frozenset(["decorator", "attribute_item"])  # decorators that a grammar keeps beside what they decorate
_FUNCTIONS = frozenset(
    [
        "function",
        "method",
        "constructor",
        "destructor",
        "component",
        "hook",
        "modifier",
        "subscript",
        "initializer",
        "operator",
        "indexer",
        "task",
        "factory",
    ]
)
_MAX_ON_ROW = 5  # more of them on one line were not written by hand, and would all show that line
_MAX_NESTING = 10  # nobody nests types deeper by hand
_MAX_COMMENT_ROWS = 300


@dataclass(slots=True, eq=False)
class Definition:
    """One definition; rows count from 0 and include decorators and the doc comment above."""

    node: Node  # with decorators
    name: str
    qualified: str
    kind: str
    signature: str
    first_row: int
    code_row: int  # where decorators or the signature begin, below the doc comment
    last_row: int
    body_row: int  # where the body begins; last_row when there is none
    has_body: bool
    is_type: bool
    container: Node | None  # the body in which members stand
    parent: Definition | None
    annotations: str = ""  # the decorators, as written
    uses: tuple[str, ...] = ()  # modifiers of a Solidity function
    members: list[Definition] = field(default_factory=list)

    @property
    def is_scope(self) -> bool:
        """True for a namespace, which gives its members a name and is no chunk."""
        return self.kind == SCOPE_KIND

    @property
    def is_merged(self) -> bool:
        """True for what is shown within its class, or within the module's own code, and is no chunk of its own."""
        rows = self.last_row - self.code_row + 1
        documented = self.first_row < self.code_row
        if self.is_type and self.kind != "object":
            return False
        if self.kind in _FUNCTIONS:
            if self.kind == "initializer":
                return rows < 8
            if documented or self.kind == "modifier" or (self.parent is None and self.has_body):
                return False
            return rows <= (1 if self.has_body else 2)
        if self.kind in ("const", "var", "object"):
            return rows < 4
        if self.kind == "property":
            return rows < 6
        return rows < 2 and not documented


def find_definitions(grammar: Grammar, root: Node, lines: Sequence[str], *, stem: str) -> list[Definition]:
    """Definitions in reading order, members of types included, functions within functions not."""
    from tree_sitter import QueryCursor

    nodes = QueryCursor(definition_query(grammar.name)).captures(root).get("definition", [])
    nodes.sort(key=lambda n: (n.start_byte, -n.end_byte))
    found: list[Definition] = []
    around: list[Definition] = []
    on_row: dict[int, int] = {}
    for node in nodes:
        while around and around[-1].node.end_byte <= node.start_byte:
            around.pop()
        outer = around[-1] if around else None
        if outer is not None and (not (outer.is_type or outer.is_scope) or len(around) >= _MAX_NESTING):
            continue
        parent = next((definition for definition in reversed(around) if definition.is_type), None)
        described = describe(grammar.name, node, stem=stem, container=parent.container if parent else None)
        if described is None:
            continue
        row = described.outer.start_point.row
        on_row[row] = on_row.get(row, 0) + 1
        if on_row[row] > _MAX_ON_ROW:
            continue
        definition = _build(grammar, described, node, parent, outer, lines)
        around.append(definition)
        if definition.is_scope:
            continue
        if parent is not None:
            parent.members.append(definition)
        found.append(definition)
    return found


def _build(
    grammar: Grammar,
    described: Described,
    node: Node,
    parent: Definition | None,
    scope: Definition | None,
    lines: Sequence[str],
) -> Definition:
    outer = _first_decorator(described.outer)
    code_row, last_row = outer.start_point.row, last_row_of(described.outer)
    names = [scope.qualified if scope else None, described.owner, described.name]
    qualified = ".".join(name for name in names if name)
    first_row = comment_start(lines, code_row, grammar.comment)
    body = described.body
    is_type = described.kind in grammar.types
    return Definition(
        node=described.outer,
        name=described.name,
        qualified=qualified,
        kind=described.kind,
        signature=_signature(described, node),
        first_row=max(first_row, parent.code_row + 1) if parent and code_row > parent.code_row else first_row,
        code_row=code_row,
        last_row=last_row,
        body_row=body.start_point.row if body is not None else last_row,
        has_body=body is not None,
        is_type=is_type,
        container=body if is_type else None,
        parent=parent,
        annotations=_annotations_of(outer, described.outer, node),
        uses=tuple(dict.fromkeys(_modifiers(node))) if grammar.name == "solidity" else (),
    )


def last_row_of(node: Node) -> int:
    """The last row that the node has text on."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def _first_decorator(node: Node) -> Node:
    """The first of the decorators that the grammar keeps beside the node (TypeScript members, Rust); else the node."""
    previous = node.prev_named_sibling
    while previous is not None and previous.type in _BESIDE:
        node, previous = previous, previous.prev_named_sibling
    return node


def _annotations_of(first: Node, outer: Node, node: Node) -> str:
    """All decorators of a definition, one a line."""
    beside: list[str] = []
    while first.id != outer.id and len(beside) < _MAX_COMMENT_ROWS:
        beside.append(text_of(first))
        following = first.next_named_sibling
        if following is None:
            break
        first = following
    data = outer.text or b""
    within = [data[start:stop].decode("utf-8", "replace") for start, stop in _annotation_spans(outer, node)]
    return "\n".join((*beside, *within))


def comment_start(lines: Sequence[str], row: int, line_comment: str) -> int:
    """The first row of the comment that ends directly above `row`, or `row` when there is none."""
    start = row
    for _ in range(_MAX_COMMENT_ROWS):
        above = lines[start - 1].strip() if start > 0 else ""
        if above.startswith(line_comment):
            start -= 1
        elif above.endswith("*/") and line_comment == "//":
            opening = start - 1
            while opening > 0 and "/*" not in lines[opening] and start - opening < _MAX_COMMENT_ROWS:
                opening -= 1
            if not lines[opening].lstrip().startswith("/*"):
                return start
            start = opening
        else:
            return start
    return start


def _signature(described: Described, node: Node) -> str:
    """From the first word after decorators to the body, on one line."""
    outer, body = described.outer, described.body
    data = outer.text or b""
    end = body.start_byte - outer.start_byte if body is not None and body.start_byte > outer.start_byte else len(data)
    if body is None and b"=" in data and described.kind in ("const", "var", "property"):
        end = data.index(b"\n") if b"\n" in data else end
    pieces: list[bytes] = []
    position = 0
    for start, stop in _annotation_spans(outer, node):
        if start >= position and stop <= end:
            pieces.append(data[position:start])
            position = stop
    pieces.append(data[position:end])
    return signature_of(b" ".join(pieces).decode("utf-8", "replace"))


def _annotation_spans(outer: Node, node: Node) -> Iterator[tuple[int, int]]:
    holders = [outer] if outer.id == node.id else [outer, node]
    spans = []
    for holder in holders:
        for child in holder.children:
            if child.type in _ANNOTATIONS:
                spans.append((child.start_byte - outer.start_byte, child.end_byte - outer.start_byte))
            elif child.type == "modifiers":
                spans += [
                    (c.start_byte - outer.start_byte, c.end_byte - outer.start_byte)
                    for c in child.children
                    if c.type in _ANNOTATIONS
                ]
    yield from sorted(spans)


def _modifiers(node: Node) -> Iterator[str]:
    for child in node.named_children:
        if child.type == "modifier_invocation" and child.named_children:
            yield text_of(child.named_children[0])


def statement_borders(node: Node, largest_bytes: int) -> Mapping[int, int]:
    """Rows where a statement begins -> how deep it is; goes into statements larger than `largest_bytes` only."""
    borders: dict[int, int] = {}
    waiting = [(node, 0)]
    while waiting:
        current, depth = waiting.pop()
        for child in current.named_children:
            row = child.start_point.row
            if row > node.start_point.row:
                borders[row] = min(depth, borders.get(row, depth))
            if child.end_byte - child.start_byte > largest_bytes:
                waiting.append((child, depth + 1))
    return borders
