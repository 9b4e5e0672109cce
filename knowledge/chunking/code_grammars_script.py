"""Ruby, PHP, Scala and shell: what a definition is in each of them."""

from __future__ import annotations

from knowledge.chunking.code_grammar import SCOPE_KIND, TYPE_KINDS, Grammar

RUBY = Grammar(
    name="ruby",
    kinds={
        "module": "module",
        "class": "class",
        "singleton_class": SCOPE_KIND,
        "method": "method",
        "singleton_method": "method",
        "assignment": "const",
        "call": "call",
    },
    types=TYPE_KINDS,
    calls="(call method: (identifier) @call) (call method: (constant) @call)"
    ' (call receiver: (constant) @call method: (identifier) @new (#eq? @new "new"))'
    " (body_statement (identifier) @call) (then (identifier) @call)",
    skipped=frozenset(),
    comment="#",
    imports=frozenset(["call"]),
)
PHP = Grammar(
    name="php",
    kinds={
        "namespace_definition": SCOPE_KIND,
        "class_declaration": "class",
        "interface_declaration": "interface",
        "trait_declaration": "trait",
        "enum_declaration": "enum",
        "function_definition": "function",
        "method_declaration": "method",
        "property_declaration": "property",
        "const_declaration": "const",
        "enum_case": "case",
    },
    types=TYPE_KINDS,
    calls="(function_call_expression function: (name) @call)"
    " (function_call_expression function: (qualified_name (name) @call))"
    " (member_call_expression name: (name) @call) (nullsafe_member_call_expression name: (name) @call)"
    " (scoped_call_expression name: (name) @call) (object_creation_expression (name) @call)"
    " (object_creation_expression (qualified_name (name) @call))",
    skipped=frozenset(["php_tag", "namespace_use_declaration", "declare_statement"]),
)
SCALA = Grammar(
    name="scala",
    kinds={
        "class_definition": "class",
        "object_definition": "object",
        "package_object": "object",
        "trait_definition": "trait",
        "enum_definition": "enum",
        "function_definition": "function",
        "function_declaration": "function",
        "val_definition": "property",
        "var_definition": "property",
        "type_definition": "type",
        "given_definition": "given",
        "extension_definition": "extension",
    },
    types=TYPE_KINDS,
    calls="(call_expression function: (identifier) @call)"
    " (call_expression function: (field_expression field: (identifier) @call))"
    " (call_expression function: (generic_function function: (identifier) @call))"
    " (infix_expression operator: (identifier) @call)"
    " (instance_expression (type_identifier) @call)",
    skipped=frozenset(["package_clause", "import_declaration"]),
)
BASH = Grammar(
    name="bash",
    kinds={"function_definition": "function"},
    types=frozenset(),
    calls="(command name: (command_name (word) @call))",
    skipped=frozenset(),
    comment="#",
)
