"""Reading nodes of a syntax tree: their text, their name, their body."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_IDENTIFIERS = ("identifier", "simple_identifier", "type_identifier", "property_identifier", "field_identifier")
_BODIES = (
    "block", "class_body", "enum_class_body", "function_body", "statement_block", "constructor_body", "interface_body",
    "contract_body", "protocol_body", "enum_body", "computed_property", "declaration_list", "field_declaration_list",
    "template_body", "with_template_body", "body_statement", "compound_statement", "accessor_list",
    "enum_member_declaration_list", "enum_variant_list", "enum_declaration_list", "enumerator_list", "do_block",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Described:
    """A node that is a definition."""

    name: str
    kind: str
    outer: Node  # with decorators and `export`
    body: Node | None
    owner: str | None = None  # of a method that stands outside its type: receiver, prototype


def text_of(node: Node | None) -> str:
    """The source text of a node; empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def child_of(node: Node, *types: str) -> Node | None:
    """The first direct child of one of these types."""
    return next((c for c in node.children if c.type in types), None)


def body_of(node: Node) -> Node | None:
    """The body of a definition: its `body` field, else the first child that looks like one."""
    return node.child_by_field_name("body") or child_of(node, *_BODIES)


def name_of(node: Node) -> str:
    """The name of a definition: its `name` field, else its first identifier; empty for none."""
    named = node.child_by_field_name("name")
    return text_of(named if named is not None else child_of(node, *_IDENTIFIERS))


def plain_type(text: str) -> str:
    """A type without type arguments, nullability and blanks: "List<Foo>?" gives "List"."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"<[^<>]*>|\[[^\[\]]*\]", "", text)
    return re.sub(r"[^\w.]", "", text.rsplit(" ", 1)[-1])
