"""How one language is read: node types of its tree-sitter grammar, the names of their kinds, and what is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How to read one language."""

    name: str  # in tree_sitter_language_pack
    kinds: Mapping[str, str]  # node type -> kind of symbol
    types: frozenset[str]  # kinds whose members are definitions of their own
    calls: str  # query; captures the simple names of what is called
    skipped: frozenset[str]  # top-level nodes that are no content: imports, package clauses
    comment: str = "//"  # starts a line comment
    imports: frozenset[str] = frozenset()  # nodes that import something, when not the skipped ones


TYPE_KINDS: Final = frozenset(
    [
        "class", "interface", "enum", "record", "annotation", "object", "struct", "protocol", "extension", "actor",
        "contract", "library", "namespace", "data class", "sealed class", "sealed interface", "value class",
        "trait", "impl", "union", "module", "case class", "case object", "sealed trait", "abstract class", "given",
        "record struct",
    ]
)  # fmt: skip
SCOPE_KIND: Final = "scope"  # a namespace or module that gives its members a name and is no chunk itself
