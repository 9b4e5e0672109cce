"""C, C++, C# and Rust: what a definition is in each of them."""

from __future__ import annotations

from knowledge.chunking.code_grammar import SCOPE_KIND, TYPE_KINDS, Grammar

CSHARP = Grammar(
    name="csharp",
    kinds={
        "namespace_declaration": SCOPE_KIND,
        "class_declaration": "class",
        "struct_declaration": "struct",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "record",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "destructor_declaration": "destructor",
        "operator_declaration": "operator",
        "conversion_operator_declaration": "operator",
        "indexer_declaration": "indexer",
        "property_declaration": "property",
        "event_declaration": "event",
        "event_field_declaration": "event",
        "delegate_declaration": "delegate",
        "local_function_statement": "function",
    },
    types=TYPE_KINDS,
    calls="(invocation_expression function: (identifier) @call)"
    " (invocation_expression function: (generic_name (identifier) @call))"
    " (invocation_expression function: (member_access_expression name: (identifier) @call))"
    " (invocation_expression function: (member_access_expression name: (generic_name (identifier) @call)))"
    " (invocation_expression function: (conditional_access_expression"
    " (member_binding_expression name: (identifier) @call)))"
    " (object_creation_expression type: (identifier) @call)"
    " (object_creation_expression type: (generic_name (identifier) @call))",
    skipped=frozenset(["using_directive", "extern_alias_directive", "file_scoped_namespace_declaration"]),
)
RUST = Grammar(
    name="rust",
    kinds={
        "mod_item": SCOPE_KIND,
        "foreign_mod_item": SCOPE_KIND,
        "struct_item": "struct",
        "enum_item": "enum",
        "union_item": "union",
        "trait_item": "trait",
        "impl_item": "impl",
        "function_item": "function",
        "function_signature_item": "function",
        "macro_definition": "macro",
        "const_item": "const",
        "static_item": "var",
        "type_item": "type",
        "associated_type": "type",
    },
    types=TYPE_KINDS - {"enum", "struct", "union"},
    calls="(call_expression function: (identifier) @call)"
    " (call_expression function: (field_expression field: (field_identifier) @call))"
    " (call_expression function: (scoped_identifier name: (identifier) @call))"
    " (call_expression function: (generic_function function: (identifier) @call))"
    " (call_expression function: (generic_function function: (scoped_identifier name: (identifier) @call)))"
    " (call_expression function: (generic_function function: (field_expression field: (field_identifier) @call)))"
    " (macro_invocation macro: (identifier) @call) (struct_expression name: (type_identifier) @call)",
    skipped=frozenset(["use_declaration", "extern_crate_declaration"]),
)
_C_CALLS = """
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(initializer_pair value: (identifier) @call)
"""
_C_KINDS = {
    "function_definition": "function",
    "declaration": "prototype",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
    "preproc_function_def": "macro",
}
_C_SKIPPED = frozenset(["preproc_include"])
C = Grammar(name="c", kinds=_C_KINDS, types=frozenset(), calls=_C_CALLS, skipped=_C_SKIPPED)
CPP = Grammar(
    name="cpp",
    kinds=_C_KINDS
    | {
        "namespace_definition": SCOPE_KIND,
        "class_specifier": "class",
        "field_declaration": "prototype",
        "alias_declaration": "type",
        "concept_definition": "concept",
    },
    types=frozenset(["class", "struct", "union"]),
    calls=_C_CALLS
    + """
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @call)))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @call)))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
""",
    skipped=_C_SKIPPED | {"using_declaration"},
)
