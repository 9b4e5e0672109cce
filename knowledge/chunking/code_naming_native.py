"""Names and kinds of C, C++, C# and Rust definitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knowledge.chunking.code_grammar import SCOPE_KIND
from knowledge.chunking.code_grammars_native import CPP, CSHARP, RUST
from knowledge.chunking.code_nodes import Described, body_of, child_of, name_of, plain_type, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DECLARATORS = 20
_TEST_MACROS = frozenset(["TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"])
_QUALIFIER = re.compile(r"[\w~]+(?=\s*::)|operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w:&*\s]+)|~?\w+")
_CONDITION = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # of an #if that the grammar took for a name


def _csharp(node: Node, stem: str, container: Node | None) -> Described | None:
    kind, name, body = CSHARP.kinds[node.type], name_of(node), body_of(node)
    if node.has_error and _CONDITION.fullmatch(name):
        return None
    if kind == SCOPE_KIND:
        return Described("", kind, node, body)  # as with packages: files say where, names say what
    if node.type == "local_function_statement":
        return Described(name, kind, node, body) if _is_top_level_statement(node) else None
    body = body or node.child_by_field_name("accessors") or node.child_by_field_name("value")
    body = body or child_of(node, "arrow_expression_clause")
    if node.type == "record_declaration" and child_of(node, "struct"):
        kind = "record struct"
    elif node.type == "destructor_declaration":
        name = f"~{name}"
    elif node.type == "indexer_declaration":
        name = "this"
    elif node.type == "operator_declaration":
        name = f"operator {text_of(node.child_by_field_name('operator'))}".strip()
    elif node.type == "conversion_operator_declaration":
        name = f"operator {text_of(node.child_by_field_name('type'))}"
    elif node.type == "event_field_declaration":
        declaration = child_of(node, "variable_declaration")
        declarator = child_of(declaration, "variable_declarator") if declaration is not None else None
        name = name_of(declarator) if declarator is not None else ""
    return Described(name, kind, node, body)


def _is_top_level_statement(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (parent.type in ("compilation_unit", "global_statement"))


def _rust(node: Node, stem: str, container: Node | None) -> Described | None:
    kind, name, body = RUST.kinds[node.type], name_of(node), body_of(node)
    if node.type == "foreign_mod_item":
        return Described("", kind, node, body) if body is not None else None
    if kind == SCOPE_KIND:
        return Described(name, kind, node, body) if body is not None else None
    if node.type == "impl_item":
        name = plain_type(text_of(node.child_by_field_name("type"))).rsplit(":", 1)[-1]
    elif node.type in ("const_item", "type_item", "associated_type") and container is not None:
        return None  # shown within the block around it
    elif node.type in ("function_item", "function_signature_item"):
        kind = "method" if _is_in_type(node) else "function"
    return Described(name, kind, node, body)


def _is_in_type(node: Node) -> bool:
    around = node.parent.parent if node.parent is not None else None
    return around is not None and around.type in ("impl_item", "trait_item")


# --- C and C++ ------------------------------------------------------------------------------------


def _c(node: Node, stem: str, container: Node | None) -> Described | None:
    kind, outer = CPP.kinds[node.type], _c_outer(node)
    body = body_of(node)
    if node.type == "namespace_definition":
        return Described(".".join(re.findall(r"\w+", name_of(node))), kind, node, body) if body is not None else None
    if node.type in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier"):
        if body is None or (node.parent is not None and node.parent.type == "type_definition"):
            return None
        return _owned(name_of(node), kind, outer, body, container)
    if node.type in ("preproc_function_def", "alias_declaration", "concept_definition"):
        return Described(name_of(node), kind, outer, body)
    if node.type == "type_definition":
        return _c_typedef(node)
    if node.type in ("declaration", "field_declaration"):
        return _c_declaration(node, outer, container)
    declared = node.child_by_field_name("declarator")
    if declared is not None and declared.type == "operator_cast":
        name = f"operator {text_of(declared.child_by_field_name('type'))}"
        return Described(name, "operator", outer, body)
    declarator = _function_declarator(declared)
    if declarator is None:
        return None
    name = _declared_name(declarator)
    if name in _TEST_MACROS:
        arguments = re.findall(r"\w+", text_of(declarator.child_by_field_name("parameters")))
        return Described(".".join(arguments[:2]), "function", outer, body)
    return _owned(name, kind, outer, body, container)


def _owned(name: str, kind: str, outer: Node, body: Node | None, container: Node | None) -> Described:
    """`A<T>::f` belongs to A; a function in the body of a class is a method."""
    parts = _qualified_parts(name)
    owner = ".".join(parts[:-1]) or None
    own = parts[-1] if parts else ""
    if kind == "function":
        if owner is not None and own.lstrip("~") == parts[-2]:
            kind = "destructor" if own.startswith("~") else "constructor"
        elif container is not None:
            around = name_of(container.parent) if container.parent is not None else ""
            plain = plain_type(around)
            kind = "method" if own.lstrip("~") != plain else "destructor" if own.startswith("~") else "constructor"
        elif owner is not None and parts[-2][:1].isupper():
            kind = "method"
    return Described(own, kind, outer, body, owner)


def _qualified_parts(name: str) -> list[str]:
    plain, previous = name, ""
    if "operator" not in name:
        while plain != previous:
            previous, plain = plain, re.sub(r"<[^<>]*>", "", plain)
    else:
        head, _, operator = name.rpartition("operator")
        while head != previous:
            previous, head = head, re.sub(r"<[^<>]*>", "", head)
        plain = head + "operator" + operator
    parts = [" ".join(part.split()) for part in _QUALIFIER.findall(plain)]
    return [part for part in parts if part]


def _c_typedef(node: Node) -> Described | None:
    declarator = node.child_by_field_name("declarator")
    shape = node.child_by_field_name("type")
    kind = "type"
    body = None
    if shape is not None and shape.type in ("struct_specifier", "union_specifier", "enum_specifier"):
        kind, body = shape.type.removesuffix("_specifier"), body_of(shape)
    function = _function_declarator(declarator)
    name = _declared_name(function if function is not None else declarator)
    return Described(name, kind, node, body) if name else None


def _c_declaration(node: Node, outer: Node, container: Node | None) -> Described | None:
    """A prototype, or a table of functions; what merely declares a variable belongs to the code around it."""
    declarator = node.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    if value is not None and declarator is not None:
        if value.type != "initializer_list" or container is not None:
            return None
        return Described(_declared_name(declarator.child_by_field_name("declarator")), "var", outer, None)
    function = _function_declarator(declarator)
    if function is None or (node.type == "declaration" and not _is_c_top_level(node)):
        return None
    return _owned(_declared_name(function), "prototype", outer, None, container)


def _is_c_top_level(node: Node) -> bool:
    parent = node.parent
    for _ in range(_MAX_DECLARATORS):
        if parent is None or parent.type == "translation_unit":
            return True
        if parent.type in ("compound_statement", "function_definition"):
            return False
        parent = parent.parent
    return False


def _function_declarator(node: Node | None) -> Node | None:
    """The function declarator within pointers, references and parentheses."""
    for _ in range(_MAX_DECLARATORS):
        if node is None or node.type == "function_declarator":
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator", "attributed_declarator"):
            inner = node.named_children[0] if node.named_children else None
        node = inner
    return None


def _declared_name(node: Node | None) -> str:
    """The name at the heart of a declarator: `(*handler)` gives handler."""
    for _ in range(_MAX_DECLARATORS):
        if node is None:
            return ""
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator", "attributed_declarator"):
            named = [child for child in node.named_children if not child.type.startswith("ms_")]
            inner = named[0] if named else None
        if inner is None:
            return text_of(node)
        node = inner
    return ""


def _c_outer(node: Node) -> Node:
    parent = node.parent
    while parent is not None and parent.type in ("template_declaration", "declaration", "field_declaration"):
        if parent.type != "template_declaration" and node.type not in (
            "struct_specifier", "union_specifier", "enum_specifier", "class_specifier",
        ):  # fmt: skip
            break
        node, parent = parent, parent.parent
    return node


READERS = {"csharp": _csharp, "rust": _rust, "c": _c, "cpp": _c}
