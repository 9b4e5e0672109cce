"""Names and kinds of Ruby, PHP, Scala and shell definitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knowledge.chunking.code_grammar import SCOPE_KIND
from knowledge.chunking.code_grammars_script import PHP, RUBY, SCALA
from knowledge.chunking.code_nodes import Described, body_of, child_of, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

# Calls that define something: method -> kind. The first argument is its name.
_RUBY_DEFINING = {
    "define_method": "method",
    "define_singleton_method": "method",
    "scope": "scope method",
    "task": "task",
    "factory": "factory",
    "shared_examples": "function",
    "shared_context": "function",
}
_RUBY_TYPE_MAKERS = frozenset(["new", "define"])  # Struct.new, Class.new, Data.define


def _ruby(node: Node, stem: str, container: Node | None) -> Described | None:
    kind = RUBY.kinds[node.type]
    if node.type == "call":
        return _ruby_call(node)
    if node.type == "assignment":
        return _ruby_constant(node)
    body = body_of(node)
    if node.type == "singleton_class":
        return Described("", SCOPE_KIND, node, body) if body is not None else None
    name = text_of(node.child_by_field_name("name")).replace("::", ".")
    if node.type == "module" and _only_types(body):
        kind = SCOPE_KIND
    if node.type in ("method", "singleton_method"):
        kind = "constructor" if name == "initialize" else "method" if container is not None else "function"
        receiver = node.child_by_field_name("object")
        owner = (
            text_of(receiver) if receiver is not None and receiver.type == "constant" and container is None else None
        )
        return Described(name, kind, _ruby_outer(node), body, owner)
    return Described(name, kind, node, body)


def _only_types(body: Node | None) -> bool:
    """Whether a module holds nothing but classes and modules: then it is only a part of their names."""
    return body is not None and all(c.type in ("class", "module", "comment") for c in body.named_children)


def _ruby_outer(node: Node) -> Node:
    """`private def f`: the call around the method belongs to it."""
    arguments = node.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    return call if call is not None and call.type == "call" else node


def _ruby_call(node: Node) -> Described | None:
    method = text_of(node.child_by_field_name("method"))
    kind = _RUBY_DEFINING.get(method)
    arguments = node.child_by_field_name("arguments")
    if kind is None or arguments is None or not arguments.named_children:
        return None
    block = node.child_by_field_name("block") or child_of(arguments, "lambda")
    named = arguments.named_children[0]
    if named.type in ("hash", "pair"):
        named = named.named_children[0] if named.named_children else named
    found = re.search(r"[\w?!.:/ -]+", text_of(named).lstrip(":\"'"))
    if block is None or found is None or named.type not in ("simple_symbol", "string", "hash_key_symbol"):
        return None
    return Described(found[0].strip(" :"), "method" if kind == "scope method" else kind, node, block)


def _ruby_constant(node: Node) -> Described | None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "constant" or node.parent is None:
        return None
    if node.parent.type not in ("program", "body_statement"):
        return None
    if right.type == "call" and text_of(right.child_by_field_name("method")) in _RUBY_TYPE_MAKERS:
        block = right.child_by_field_name("block")
        body = child_of(block, "body_statement") if block is not None else None
        if body is not None:
            return Described(text_of(left), "class", node, body)
    return Described(text_of(left), "const", node, None)


def _php(node: Node, stem: str, container: Node | None) -> Described | None:
    kind, name, body = PHP.kinds[node.type], name_of(node), body_of(node)
    if kind == SCOPE_KIND:
        return Described("", kind, node, body) if body is not None else None
    if node.type == "method_declaration" and name == "__construct":
        kind = "constructor"
    elif node.type == "property_declaration":
        element = child_of(node, "property_element")
        name = text_of(element).split("=")[0].strip().lstrip("$") if element is not None else ""
    elif node.type == "const_declaration":
        element = child_of(node, "const_element")
        name = text_of(element).split("=")[0].strip() if element is not None else ""
    elif not name:
        name = text_of(node.child_by_field_name("name"))
    return Described(name, kind, node, body)


def _scala(node: Node, stem: str, container: Node | None) -> Described | None:
    kind = SCALA.kinds[node.type]
    name = text_of(node.child_by_field_name("name")) or text_of(node.child_by_field_name("pattern"))
    body = node.child_by_field_name("body")
    if node.type == "class_definition":
        kind = "case class" if child_of(node, "case") else "abstract class" if _is_marked(node, "abstract") else kind
    elif node.type == "object_definition" and child_of(node, "case"):
        kind = "case object"
    elif node.type == "trait_definition" and _is_marked(node, "sealed"):
        kind = "sealed trait"
    elif node.type in ("function_definition", "function_declaration"):
        kind = "method" if container is not None else "function"
    elif node.type == "given_definition":
        name = name or "given"
    elif node.type == "extension_definition":
        words = re.findall(r"\w+", text_of(node.child_by_field_name("parameters")))
        name = words[-1] if words else "extension"
    elif node.type in ("val_definition", "var_definition"):
        name = name if re.fullmatch(r"[\w$]+", name) else ""
        body = None
    return Described(name, kind, node, body)


def _is_marked(node: Node, word: str) -> bool:
    modifiers = child_of(node, "modifiers")
    return modifiers is not None and word in text_of(modifiers).split()


def _bash(node: Node, stem: str, container: Node | None) -> Described:
    return Described(text_of(node.child_by_field_name("name")), "function", node, body_of(node))


READERS = {"ruby": _ruby, "php": _php, "scala": _scala, "bash": _bash}
