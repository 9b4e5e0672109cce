"""What a definition is in each language: node types of the tree-sitter grammars, and the names of their kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from knowledge.chunking.code_grammar import TYPE_KINDS, Grammar
from knowledge.chunking.code_grammars_native import CPP, CSHARP, RUST, C
from knowledge.chunking.code_grammars_script import BASH, PHP, RUBY, SCALA

if TYPE_CHECKING:
    from tree_sitter import Language, Query


_JS_KINDS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "function_signature": "function",
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "class": "class",
    "method_definition": "method",
    "abstract_method_signature": "method",
    "public_field_definition": "property",
    "field_definition": "property",
    "variable_declarator": "const",
    "assignment_expression": "const",
    "pair": "property",
    "export_statement": "export",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "namespace",
    "module": "namespace",
}
_TS_TYPES = (
    "function_signature", "abstract_class_declaration", "abstract_method_signature", "public_field_definition",
    "interface_declaration", "type_alias_declaration", "enum_declaration", "internal_module", "module",
)  # fmt: skip
_JS_CALLS = """
(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
"""
_JSX_CALLS = """
(jsx_opening_element name: (identifier) @call (#match? @call "^[A-Z]"))
(jsx_self_closing_element name: (identifier) @call (#match? @call "^[A-Z]"))
"""
_JS_SKIPPED = frozenset(["import_statement"])

PYTHON = Grammar(
    name="python",
    kinds={"function_definition": "function", "class_definition": "class"},
    types=TYPE_KINDS,
    calls="(call function: (identifier) @call) (call function: (attribute attribute: (identifier) @call))",
    skipped=frozenset(["import_statement", "import_from_statement", "future_import_statement"]),
    comment="#",
)
JAVA = Grammar(
    name="java",
    kinds={
        "class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "record",
        "annotation_type_declaration": "annotation",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "compact_constructor_declaration": "constructor",
        "annotation_type_element_declaration": "method",
        "static_initializer": "initializer",
    },
    types=TYPE_KINDS,
    calls="(method_invocation name: (identifier) @call) (object_creation_expression type: (type_identifier) @call)"
    " (object_creation_expression type: (generic_type (type_identifier) @call))"
    " (method_reference (identifier) @call .)",
    skipped=frozenset(["package_declaration", "import_declaration"]),
)
KOTLIN = Grammar(
    name="kotlin",
    kinds={
        "class_declaration": "class",
        "object_declaration": "object",
        "companion_object": "companion",
        "function_declaration": "function",
        "secondary_constructor": "constructor",
        "property_declaration": "property",
        "anonymous_initializer": "initializer",
        "type_alias": "type",
    },
    types=TYPE_KINDS,
    calls="(call_expression (simple_identifier) @call)"
    " (call_expression (navigation_expression (navigation_suffix (simple_identifier) @call)))",
    skipped=frozenset(["package_header", "import_list", "import_header"]),
)
SWIFT = Grammar(
    name="swift",
    kinds={
        "class_declaration": "class",
        "protocol_declaration": "protocol",
        "function_declaration": "function",
        "protocol_function_declaration": "function",
        "init_declaration": "constructor",
        "deinit_declaration": "destructor",
        "subscript_declaration": "subscript",
        "property_declaration": "property",
        "typealias_declaration": "type",
    },
    types=TYPE_KINDS,
    calls="(call_expression (simple_identifier) @call)"
    " (call_expression (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))",
    skipped=frozenset(["import_declaration"]),
)
GO = Grammar(
    name="go",
    kinds={
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
        "const_spec": "const",
        "var_spec": "var",
    },
    types=frozenset(),
    calls="(call_expression function: (identifier) @call)"
    " (call_expression function: (selector_expression field: (field_identifier) @call))",
    skipped=frozenset(["package_clause", "import_declaration"]),
)
SOLIDITY = Grammar(
    name="solidity",
    kinds={
        "contract_declaration": "contract",
        "interface_declaration": "interface",
        "library_declaration": "library",
        "function_definition": "function",
        "constructor_definition": "constructor",
        "fallback_receive_definition": "function",
        "modifier_definition": "modifier",
        "event_definition": "event",
        "error_declaration": "error",
        "struct_declaration": "struct",
        "enum_declaration": "enum",
        "user_defined_type_definition": "type",
    },
    types=TYPE_KINDS,
    calls="(call_expression function: (expression (identifier) @call))"
    " (call_expression function: (expression (member_expression property: (identifier) @call)))"
    " (modifier_invocation (identifier) @call) (emit_statement name: (expression (identifier) @call))"
    " (revert_statement error: (expression (identifier) @call))",
    skipped=frozenset(["pragma_directive", "import_directive"]),
)
_TS_KINDS = {node_type: kind for node_type, kind in _JS_KINDS.items() if node_type != "field_definition"}
TSX = Grammar(name="tsx", kinds=_TS_KINDS, types=TYPE_KINDS, calls=_JS_CALLS + _JSX_CALLS, skipped=_JS_SKIPPED)
TYPESCRIPT = Grammar(name="typescript", kinds=_TS_KINDS, types=TYPE_KINDS, calls=_JS_CALLS, skipped=_JS_SKIPPED)
JAVASCRIPT = Grammar(
    name="javascript",
    kinds={node_type: kind for node_type, kind in _JS_KINDS.items() if node_type not in _TS_TYPES},
    types=TYPE_KINDS,
    calls=_JS_CALLS + _JSX_CALLS,
    skipped=_JS_SKIPPED,
)

GRAMMARS: Mapping[str, Grammar] = {
    "py": PYTHON, "pyi": PYTHON, "pyw": PYTHON,
    "java": JAVA,
    "kt": KOTLIN, "kts": KOTLIN,
    "swift": SWIFT,
    "go": GO,
    "sol": SOLIDITY,
    "ts": TYPESCRIPT, "mts": TYPESCRIPT, "cts": TYPESCRIPT, "tsx": TSX,
    "js": JAVASCRIPT, "jsx": JAVASCRIPT, "mjs": JAVASCRIPT, "cjs": JAVASCRIPT,
    "cs": CSHARP, "csx": CSHARP,
    "rs": RUST,
    "c": C, "h": CPP,
    "cpp": CPP, "cc": CPP, "cxx": CPP, "hpp": CPP, "hh": CPP, "hxx": CPP, "ipp": CPP, "tpp": CPP, "inl": CPP,
    "rb": RUBY, "rake": RUBY, "gemspec": RUBY,
    "php": PHP, "phtml": PHP,
    "scala": SCALA, "sc": SCALA,
    "sh": BASH, "bash": BASH, "zsh": BASH, "ksh": BASH,
}  # fmt: skip


_BY_NAME = {"Rakefile": RUBY, "Gemfile": RUBY, "Podfile": RUBY, "Fastfile": RUBY, "Vagrantfile": RUBY}
_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+(?:-S\s+)?)?(bash|sh|zsh|ksh|dash|python|ruby|node|php)[\d.]*\b")
_SHEBANGS = {"python": PYTHON, "ruby": RUBY, "node": JAVASCRIPT, "php": PHP}
_CPP_HEADER = re.compile(r"^\s*(?:class|namespace|template|using|public:|private:|constexpr)\b|\bstd::", re.MULTILINE)
_HEADER_CHARS = 200_000


def grammar_of(uri: str, text: str) -> Grammar | None:
    """How to read this file, by its name, its first line, and for a C header by what is in it; None for plain text."""
    name = uri.rsplit("/", 1)[-1]
    suffix = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.endswith(".gradle.kts"):
        return None  # a build script is cut at its blocks
    if suffix == "h":
        return CPP if _CPP_HEADER.search(text[:_HEADER_CHARS]) else C
    if not suffix and (shebang := _SHEBANG.match(text[:200])):
        return _SHEBANGS.get(shebang[1], BASH)
    return GRAMMARS.get(suffix)


@lru_cache(maxsize=32)
def language(name: str) -> Language:
    """The compiled grammar."""
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type,no-any-return,unused-ignore]


@lru_cache(maxsize=32)
def definition_query(name: str) -> Query:
    """Captures every node that may be a definition."""
    from tree_sitter import Query

    grammar = next(g for g in GRAMMARS.values() if g.name == name)
    return Query(language(name), "[" + " ".join(f"({node_type})" for node_type in grammar.kinds) + "] @definition")


@lru_cache(maxsize=32)
def call_query(name: str) -> Query:
    """Captures the names of what is called."""
    from tree_sitter import Query

    grammar = next(g for g in GRAMMARS.values() if g.name == name)
    return Query(language(name), grammar.calls)
