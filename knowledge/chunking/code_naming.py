"""Name, kind, extent and body of a definition node, language by language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knowledge.chunking import code_naming_native, code_naming_script
from knowledge.chunking.code_grammar import SCOPE_KIND
from knowledge.chunking.code_nodes import Described, body_of, child_of, name_of, plain_type, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

# What an error-ridden tree takes for a name.
_NOT_NAMES = frozenset(["if", "for", "while", "switch", "return", "catch", "else", "try", "when", "do", "with", "new"])
_NAMES_ELSEWHERE = {  # words that name functions in some languages and are reserved in others
    "rust": frozenset(["new", "do", "when", "with", "catch", "switch"]),
    "ruby": frozenset(["new", "try", "with", "switch", "catch"]),
    "python": frozenset(["new", "do", "when", "switch", "catch"]),
    "go": frozenset(["new", "do", "when", "with", "try", "catch", "while"]),
    "php": frozenset(["with", "when"]),
    "kotlin": frozenset(["with", "switch", "catch", "new"]),
    "c": frozenset(["new", "try", "catch", "with", "when"]),
}
_JS_FUNCTIONS = frozenset(["arrow_function", "function_expression", "generator_function"])
_JS_WRAPPERS = frozenset(["as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"])
_TEST_CALLS = frozenset(["describe", "it", "test", "context", "suite", "before", "after", "beforeEach", "afterEach"])
_MAX_PARENTS = 30  # each step up costs as much as the tree is deep
_JSX = re.compile(rb"<(?:[A-Za-z][\w.]*[\s/>]|>)")
_HOOK = re.compile(r"use[A-Z0-9]\w*")


def describe(language: str, node: Node, *, stem: str, container: Node | None) -> Described | None:
    """What `node` defines, or None when it is no definition where it stands.

    `stem` names a default export; `container` is the body of the type or object around the node.
    """
    described = _READERS[language](node, stem, container)
    if described is None or described.kind == SCOPE_KIND:
        return described
    reserved = described.name in _NOT_NAMES and described.name not in _NAMES_ELSEWHERE.get(language, ())
    return None if not described.name or reserved else described


def _python(node: Node, stem: str, container: Node | None) -> Described:
    outer = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    kind = "class" if node.type == "class_definition" else "method" if container is not None else "function"
    return Described(name_of(node), kind, outer, body_of(node))


def _java(node: Node, stem: str, container: Node | None) -> Described:
    from knowledge.chunking.code_grammars import JAVA

    kind = JAVA.kinds[node.type]
    name = "static" if kind == "initializer" else name_of(node)
    return Described(name, kind, node, body_of(node))


def _kotlin(node: Node, stem: str, container: Node | None) -> Described | None:
    from knowledge.chunking.code_grammars import KOTLIN

    if node.type == "companion_object":
        return None  # its members are found under the name of the class around it
    kind = KOTLIN.kinds[node.type]
    name, owner = name_of(node), None
    if node.type == "class_declaration":
        kind = _kotlin_class_kind(node)
    elif node.type == "secondary_constructor":
        name = "constructor"
    elif node.type == "anonymous_initializer":
        name = "init"
    elif node.type == "property_declaration":
        name = name_of(child_of(node, "variable_declaration") or node)
    elif node.type == "function_declaration":
        kind = "component" if _is_composable(node) else "method" if container is not None else kind
    # A member's receiver is left out: its class is what stack frames and readers call it by.
    if container is None and node.type in ("function_declaration", "property_declaration"):
        receiver = node.child_by_field_name("receiver") or child_of(node, "receiver_type")
        owner = plain_type(text_of(receiver)) if receiver is not None else None
    return Described(name, kind, node, body_of(node), owner)


def _is_composable(node: Node) -> bool:
    """A function that draws a part of a screen, in Jetpack Compose."""
    modifiers = child_of(node, "modifiers")
    return modifiers is not None and "@Composable" in text_of(modifiers).split()


def _kotlin_class_kind(node: Node) -> str:
    tokens = {c.type for c in node.children}
    modifiers = {text_of(m) for c in node.children if c.type == "modifiers" for m in c.children}
    kind = "interface" if "interface" in tokens else "enum" if "enum" in tokens or "enum" in modifiers else "class"
    for word in ("data", "sealed", "value", "annotation"):
        if word in modifiers:
            return "annotation" if word == "annotation" else f"{word} {kind}"
    return kind


def _swift(node: Node, stem: str, container: Node | None) -> Described:
    from knowledge.chunking.code_grammars import SWIFT

    kind, name = SWIFT.kinds[node.type], name_of(node)
    if node.type == "class_declaration":
        kind = next((c.type for c in node.children if c.type in ("struct", "enum", "extension", "actor")), "class")
        name = plain_type(name)
    elif node.type in ("init_declaration", "deinit_declaration", "subscript_declaration"):
        name = node.type.removesuffix("_declaration")
    elif node.type == "property_declaration":
        name = re.sub(r"\W.*", "", name, flags=re.DOTALL)
    elif kind == "function" and container is not None:
        kind = "method"
    return Described(name, kind, node, body_of(node))


def _go(node: Node, stem: str, container: Node | None) -> Described:
    from knowledge.chunking.code_grammars import GO

    kind, owner, outer = GO.kinds[node.type], None, node
    if node.type == "method_declaration":
        receiver = text_of(node.child_by_field_name("receiver")).strip("()")
        owner = plain_type(receiver)
    elif node.type in ("type_spec", "type_alias", "const_spec", "var_spec"):
        shape = node.child_by_field_name("type")
        if shape is not None and kind == "type":
            kind = {"struct_type": "struct", "interface_type": "interface"}.get(shape.type, "type")
        parent = node.parent
        if parent is not None and parent.type == "var_spec_list":
            parent = parent.parent
        if parent is not None and parent.child_count == 2:  # the keyword and one spec, no parentheses
            outer = parent
    return Described(name_of(node), kind, outer, body_of(node), owner)


def _solidity(node: Node, stem: str, container: Node | None) -> Described:
    from knowledge.chunking.code_grammars import SOLIDITY

    kind, name = SOLIDITY.kinds[node.type], name_of(node)
    if node.type == "constructor_definition":
        name = "constructor"
    elif node.type == "fallback_receive_definition":
        name = "receive" if text_of(node).lstrip().startswith("receive") else "fallback"
    return Described(name, kind, node, body_of(node))


# --- JavaScript and TypeScript --------------------------------------------------------------------


def _javascript(node: Node, stem: str, container: Node | None) -> Described | None:
    reader = _JS_READERS.get(node.type)
    if reader is not None:
        return reader(node, stem, container)
    from knowledge.chunking.code_grammars import TYPESCRIPT

    if not _js_is_top_level(node):
        return None
    name, kind = name_of(node).strip("\"'"), TYPESCRIPT.kinds[node.type]
    if node.type == "class" and not name:
        return None
    return Described(name, _js_kind(name, kind, node), _js_outer(node), body_of(node))


def _js_variable(node: Node, stem: str, container: Node | None) -> Described | None:
    declaration = node.parent
    if declaration is None or not _js_is_top_level(declaration) or node.child_by_field_name("value") is None:
        return None
    outer = _js_outer(declaration) if declaration.named_child_count == 1 else node
    return _js_value(name_of(node), node.child_by_field_name("value"), outer)


def _js_assignment(node: Node, stem: str, container: Node | None) -> Described | None:
    """`exports.f = ...`, `module.exports = {...}`, `A.prototype.m = ...` at the top of a file."""
    statement, left = node.parent, node.child_by_field_name("left")
    if statement is None or statement.type != "expression_statement" or not _js_is_top_level(statement):
        return None
    path = text_of(left).split(".")
    if len(path) < 2 or not all(part.isidentifier() for part in path):
        return None
    owner = path[0] if len(path) == 3 and path[1] == "prototype" else None
    name = stem if path == ["module", "exports"] else path[-1]
    described = _js_value(name, node.child_by_field_name("right"), statement)
    if described is None or described.kind == "const":
        return None
    return Described(described.name, described.kind, statement, described.body, owner)


def _js_export(node: Node, stem: str, container: Node | None) -> Described | None:
    """A default export of a value without a name, which goes by the name of its file."""
    value = node.child_by_field_name("value")
    if value is None or not _js_is_top_level(node):
        return None
    if value.type == "class" and name_of(value):
        return Described(name_of(value), "class", node, body_of(value))
    wrapped = _js_wrapped_function(value)
    described = _js_value(name_of(wrapped) if wrapped is not None and name_of(wrapped) else stem, value, node)
    return None if described is None or described.kind == "const" else described


def _js_value(name: str, value: Node | None, outer: Node) -> Described | None:
    while value is not None and value.type in _JS_WRAPPERS:
        value = value.named_children[0] if value.named_children else None
    if value is None:
        return None
    if value.type == "class":
        return Described(name, "class", outer, body_of(value))
    if value.type == "object":
        return Described(name, "object", outer, value)
    function = value if value.type in _JS_FUNCTIONS else _js_wrapped_function(value)
    if function is not None:
        return Described(name, _js_kind(name, "function", outer), outer, body_of(function))
    if value.type == "call_expression" and text_of(value.child_by_field_name("function")).startswith("styled"):
        return Described(name, "component", outer, value)
    return Described(name, "const", outer, None)


def _js_wrapped_function(value: Node) -> Node | None:
    """The function in `memo(() => ...)`, `forwardRef(function ...)`, `connect(...)(function ...)`."""
    for _ in range(4):
        if value.type != "call_expression":
            return None
        arguments = value.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments is not None else ():
            if argument.type in _JS_FUNCTIONS:
                return argument
        inner = next(
            (c for c in (arguments.named_children if arguments is not None else ()) if c.type == "call_expression"),
            None,
        )
        if inner is None:
            return None
        value = inner
    return None


def _js_member(node: Node, stem: str, container: Node | None) -> Described | None:
    """A method, a field or an object's function; only in the body of the type or object that is around it."""
    parent = node.parent
    if parent is None or container is None or parent.start_byte != container.start_byte:
        return None
    if node.type == "pair":
        value = node.child_by_field_name("value")
        name = text_of(node.child_by_field_name("key")).strip("\"'`")
        if value is not None and value.type == "object" and _js_holds_functions(value):
            return Described(name, "object", node, value)
        if value is None or value.type not in _JS_FUNCTIONS:
            return None
        return Described(name, "method", node, body_of(value))
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    name = text_of(named).strip("\"'`")
    value = node.child_by_field_name("value")
    if value is not None and (value.type in _JS_FUNCTIONS or _js_wrapped_function(value) is not None):
        function = value if value.type in _JS_FUNCTIONS else _js_wrapped_function(value)
        return Described(name, "method", node, body_of(function) if function is not None else None)
    kind = "property" if "field" in node.type else "constructor" if name == "constructor" else "method"
    return Described(name, kind, node, body_of(node))


def _js_holds_functions(value: Node) -> bool:
    """True for `methods` of a Vue component, `Query` of GraphQL resolvers, `actions` of a store."""
    for child in value.named_children:
        held = child.child_by_field_name("value") if child.type == "pair" else None
        if child.type == "method_definition" or (held is not None and held.type in _JS_FUNCTIONS):
            return True
    return False


def _js_kind(name: str, kind: str, node: Node) -> str:
    if kind == "function" and _HOOK.fullmatch(name):
        return "hook"
    if kind in ("function", "const") and name[:1].isupper() and _JSX.search(node.text or b""):
        return "component"
    return kind


def _js_outer(node: Node) -> Node:
    parent = node.parent
    while parent is not None and parent.type in ("export_statement", "ambient_declaration", "expression_statement"):
        node, parent = parent, parent.parent
    return node


def _js_is_top_level(node: Node) -> bool:
    """True at the top of a file, in a namespace, or in the one function around a module (AMD, IIFE)."""
    wrapped = False
    parent = node.parent
    for _ in range(_MAX_PARENTS):
        if parent is None or parent.type == "program":
            return True
        if parent.type in _JS_FUNCTIONS:
            call = parent.parent
            while call is not None and call.type in ("arguments", "parenthesized_expression"):
                call = call.parent
            if wrapped or call is None or call.type != "call_expression":
                return False
            if re.match(r"\w*", text_of(call.child_by_field_name("function")))[0] in _TEST_CALLS:  # type: ignore[index]
                return False
            wrapped = True
            parent = call
        elif parent.type not in _JS_TRANSPARENT:
            return False
        parent = parent.parent
    return False


_JS_TRANSPARENT = frozenset(
    [
        "export_statement", "ambient_declaration", "expression_statement", "internal_module", "module",
        "statement_block", "lexical_declaration", "variable_declaration", "unary_expression", "ERROR",
        "parenthesized_expression",
    ]
)  # fmt: skip
_JS_READERS = {
    "variable_declarator": _js_variable,
    "assignment_expression": _js_assignment,
    "export_statement": _js_export,
    "method_definition": _js_member,
    "abstract_method_signature": _js_member,
    "public_field_definition": _js_member,
    "field_definition": _js_member,
    "pair": _js_member,
}
_READERS = {
    "python": _python,
    "java": _java,
    "kotlin": _kotlin,
    "swift": _swift,
    "go": _go,
    "solidity": _solidity,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    **code_naming_native.READERS,
    **code_naming_script.READERS,
}
