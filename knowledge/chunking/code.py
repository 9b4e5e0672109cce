"""Chunks of source code: whole definitions, found by tree-sitter.

- A function, method, component, modifier ... is one chunk with its decorators and the comment above it. What is longer
  than `PART_CHARS` is cut where statements begin; later parts repeat the signature and share the `group`.
- A class, interface, contract ... is one chunk that holds its head: signature, comment, fields, small members, and one
  line for each member that is a chunk of its own. Its lines are those from the beginning to the first such member.
- Code outside of definitions, without imports, makes windows; so does a file that no grammar here reads, or that is
  minified. Text of a broken region lies outside of definitions and comes as a window as well.

`calls` holds the simple names that a chunk calls. A Solidity function refers to the modifiers that it uses, and a
modifier is found under its simple name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.chunking.code_calls import Calls, imports_of, merge_sites
from knowledge.chunking.code_definitions import (
    Definition,
    comment_start,
    find_definitions,
    last_row_of,
    statement_borders,
)
from knowledge.chunking.code_embedded import EmbeddedCode, embedded_code
from knowledge.chunking.code_grammar import Grammar
from knowledge.chunking.code_grammars import grammar_of, language
from knowledge.chunking.code_roles import roles_of
from knowledge.chunking.code_text import PART_CHARS, index_text, join_lines, split_lines, split_rows, words_of
from knowledge.chunking.code_windows import blocks, chunk_plain, sections, windows
from knowledge.types import CallSite, ChunkDraft

CODE_CHUNKING_VERSION = "3"

_LONG_LINE_CHARS = 1000
_NO_CONTENT = re.compile(
    r"""\s*(?:
        export\s+(?:default\s+\w+|\*.*|(?:type\s+)?\{[^}]*\}.*) ;?
      | (?:module\.)?exports(?:\.\w+)?\s*=\s*(?:\{[\w\s,]*\}|\w+) ;?
      | (?:const|let|var)\s+[\w{}\s,:]+=\s*require\(.*\)(?:\.\w+)* ;?
      | ['"]use\s\w+['"] ;?
      | __all__\s*=.* | pass | end | <\?php | [\W_]*
      | (?:require|require_relative|use|using)\b.* | declare\(.*\);?
      | (?:namespace|module|mod|package)\s+[\w.:\\]+\s*[;{]? | extern\s+"C"\s*\{ | \#!.*
    )\s*""",
    re.VERBOSE,
)


BROKEN_SYNTAX = "syntax that cannot be read in part of the file: that part is cut into windows of lines"
MINIFIED = "most of the text stands in very long lines: cut into windows of lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCode:
    """One file of a repository, cut: chunks in reading order, the names that it imports, what could not be read."""

    drafts: tuple[ChunkDraft, ...]
    imports: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # constant sentences, so that files can be counted by them


def chunk_code(uri: str, text: str) -> list[ChunkDraft]:
    """Chunks of one file in reading order; `text` is masked already, lines count from 1. Never raises for odd text."""
    return list(cut_code(uri, text).drafts)


def cut_code(uri: str, text: str) -> CutCode:
    """The chunks of one file with its imports; `text` is masked already. Never raises for odd text."""
    grammar = grammar_of(uri, text)
    if not text.strip():
        return CutCode(drafts=())
    if grammar is None:
        inside = embedded_code(uri, text)
        return CutCode(drafts=tuple(chunk_plain(uri, text))) if inside is None else _cut_embedded(uri, text, inside)
    if _is_minified(text):
        return CutCode(drafts=tuple(chunk_plain(uri, text)), warnings=(MINIFIED,))
    chunker = _FileChunker(uri, text, grammar)
    warnings = (BROKEN_SYNTAX,) if chunker.is_broken else ()
    return CutCode(drafts=tuple(chunker.chunks()), imports=chunker.imports(), warnings=warnings)


def _cut_embedded(uri: str, text: str, inside: EmbeddedCode) -> CutCode:
    """Definitions of the code inside a file, sections of its prose, windows of the rest."""
    lines = split_lines(text)
    if _is_minified(text):
        return CutCode(drafts=tuple(chunk_plain(uri, text)), warnings=(MINIFIED,))
    drafts: list[ChunkDraft] = []
    cut = CutCode(drafts=())
    if inside.code.strip() and inside.grammar is not None:
        chunker = _FileChunker(uri, inside.code, inside.grammar)
        warnings = (BROKEN_SYNTAX,) if chunker.is_broken else ()
        cut = CutCode(drafts=tuple(chunker.chunks()), imports=chunker.imports(), warnings=warnings)
    elif inside.code.strip():
        drafts += blocks(uri, split_lines(inside.code))
    if inside.prose.strip():
        drafts += sections(uri, split_lines(inside.prose))
    for first, last in inside.others:
        drafts += windows(uri, lines, first, last)
    ordered = sorted((*cut.drafts, *drafts), key=lambda draft: draft.start_line or 0)
    return CutCode(drafts=tuple(ordered), imports=cut.imports, warnings=cut.warnings)


def _is_minified(text: str) -> bool:
    """True when most of the text stands in lines that nobody wrote by hand: definitions would share their lines."""
    long = sum(len(line) for line in text.split("\n") if len(line) > _LONG_LINE_CHARS)
    return long * 2 > len(text)


class _FileChunker:
    """Cuts one parsed file."""

    def __init__(self, uri: str, text: str, grammar: Grammar) -> None:
        from tree_sitter import Parser

        self._uri = uri
        self._lines = split_lines(text)
        self._grammar = grammar
        tree = Parser(language(grammar.name)).parse(text.encode("utf-8", "replace"))
        self._root = tree.root_node
        self._calls = Calls(grammar, self._root)
        self._groups: dict[str, int] = {}

    @property
    def is_broken(self) -> bool:
        """Whether the grammar could not read a part of the file."""
        return bool(self._root.has_error)

    def imports(self) -> tuple[str, ...]:
        return imports_of(self._grammar, self._root)

    def chunks(self) -> list[ChunkDraft]:
        stem = self._uri.rsplit("/", 1)[-1].split(".")[0]
        if stem == "index" and "/" in self._uri:
            stem = self._uri.rsplit("/", 2)[-2]
        definitions = find_definitions(self._grammar, self._root, self._lines, stem=stem)
        own = [d for d in definitions if not d.is_merged]
        merged = [d for d in definitions if d.is_merged and d.parent is None]
        drafts = [draft for d in own for draft in (self._type_chunks(d) if d.is_type else self._function_chunks(d))]
        drafts += self._module_chunks([d for d in own if d.parent is None], merged)
        return sorted(drafts, key=lambda draft: draft.start_line or 0)

    # --- definitions ---

    def _function_chunks(self, definition: Definition) -> list[ChunkDraft]:
        first, last = definition.first_row, definition.last_row
        ranges = [(first, last)]
        if self._chars(first, last) > PART_CHARS:
            borders = statement_borders(definition.node, PART_CHARS // 3)
            borders = {row: depth for row, depth in borders.items() if row > definition.body_row}
            ranges = split_rows(self._lines, first, last, borders)
        group = self._group(definition.qualified)
        drafts = []
        for start, end in ranges:
            text = join_lines(self._lines[start : end + 1])
            if start > first:
                text = f"{definition.signature} …\n{text}"
            drafts.append(self._draft(definition, text, start, end, group, self._calls.between(start, end)))
        return drafts

    def _type_chunks(self, definition: Definition) -> list[ChunkDraft]:
        """The head of a type: its own lines, with a one-line signature for each member that is a chunk of its own."""
        own = [m for m in definition.members if not m.is_merged]
        merged = [m.qualified for m in definition.members if m.is_merged]
        shown: list[tuple[int, str]] = []
        row = definition.first_row
        for member in own:
            if member.first_row < row:
                continue  # on a line that is shown already
            shown += [(r, self._lines[r]) for r in range(row, member.first_row) if self._lines[r].strip()]
            margin = self._lines[member.code_row]
            shown.append((-1, margin[: len(margin) - len(margin.lstrip())] + member.signature))
            row = member.last_row + 1
        if own:
            shown += [(r, self._lines[r]) for r in range(row, definition.last_row + 1) if self._lines[r].strip()]
        else:
            shown = [(r, self._lines[r]) for r in range(row, definition.last_row + 1)]
        first_member = min((m.first_row for m in own), default=definition.last_row + 1)
        group = self._group(definition.qualified)
        drafts = []
        for start, end in split_rows([line for _, line in shown], 0, len(shown) - 1, {}):
            rows = [r for r, _ in shown[start : end + 1] if r >= 0]
            in_head = [r for r in rows if r < first_member]
            rows = in_head or _longest_run(rows) or [definition.code_row]
            text = join_lines(line for _, line in shown[start : end + 1])
            if start:
                text = f"{definition.signature} …\n{text}"
            calls = self._calls_of_rows(r for r, _ in shown[start : end + 1] if r >= 0)
            drafts.append(self._draft(definition, text, rows[0], rows[-1], group, calls, () if start else merged))
        return drafts

    def _draft(
        self,
        definition: Definition,
        text: str,
        start: int,
        end: int,
        group: str,
        calls: tuple[CallSite, ...],
        merged: Sequence[str] = (),
    ) -> ChunkDraft:
        anchors = [definition.name] if definition.kind == "modifier" else []
        return ChunkDraft(
            kind="definition",
            text=text,
            index_text=index_text(
                self._uri, definition.qualified, text, kind=definition.kind, roles=_roles_of(definition)
            ),
            group=group,
            symbol=definition.qualified,
            symbol_kind=definition.kind,
            signature=definition.signature,
            start_line=start + 1,
            end_line=end + 1,
            anchors=(*anchors, *merged),
            refers_to=definition.uses,
            call_sites=_with_modifiers(definition, calls),
        )

    def _group(self, qualified: str) -> str:
        """Equal for the parts of one definition, different for another one of the same name."""
        count = self._groups[qualified] = self._groups.get(qualified, 0) + 1
        return qualified if count == 1 else f"{qualified}#{count}"

    # --- code outside of definitions ---

    def _module_chunks(self, own: Sequence[Definition], merged: Sequence[Definition]) -> list[ChunkDraft]:
        """Windows over what no definition covers, as few as fit; each one's lines are those of its largest run."""
        taken = {row for d in own for row in range(d.first_row, d.last_row + 1)}
        runs = self._runs(taken)
        pieces: list[tuple[int, int]] = []
        for first, last in runs:
            borders = statement_borders(self._root, PART_CHARS // 3) if self._chars(first, last) > PART_CHARS else {}
            pieces += split_rows(self._lines, first, last, borders)
        drafts: list[ChunkDraft] = []
        together: list[tuple[int, int]] = []
        size = 0
        for piece in pieces:
            chars = self._chars(*piece)
            if together and size + chars > PART_CHARS:
                drafts.append(self._module_draft(together, merged))
                together, size = [], 0
            together.append(piece)
            size += chars
        if together:
            drafts.append(self._module_draft(together, merged))
        return drafts

    def _runs(self, taken: set[int]) -> list[tuple[int, int]]:
        """Runs of rows that hold code of the module itself: no definition, no import, no export of a name alone."""
        rows: set[int] = set()
        for node in self._root.children:
            if node.type in self._grammar.skipped or node.type.endswith("comment") or not node.is_named:
                continue
            first, last = node.start_point.row, last_row_of(node)
            first = comment_start(self._lines, first, self._grammar.comment)
            rows.update(r for r in range(first, last + 1) if r not in taken and r < len(self._lines))
        runs: list[tuple[int, int]] = []
        for row in sorted(rows):
            if runs and row <= runs[-1][1] + 2 and row - 1 not in taken:
                runs[-1] = (runs[-1][0], row)
            else:
                runs.append((row, row))
        return [run for run in runs if not all(map(self._says_nothing, range(run[0], run[1] + 1)))]

    def _says_nothing(self, row: int) -> bool:
        line = self._lines[row]
        is_comment = line.lstrip().startswith(self._grammar.comment)
        return not line.strip() or is_comment or _NO_CONTENT.fullmatch(line[:500]) is not None

    def _module_draft(self, runs: Sequence[tuple[int, int]], merged: Sequence[Definition]) -> ChunkDraft:
        text = "\n\n".join(join_lines(self._lines[first : last + 1]) for first, last in runs)
        first, last = max(runs, key=lambda run: (self._chars(*run), -run[0]))
        return ChunkDraft(
            kind="window",
            text=text,
            index_text=index_text(self._uri, words_of(self._uri), text),
            group=f"module@{first + 1}",
            start_line=first + 1,
            end_line=last + 1,
            anchors=tuple(d.qualified for d in merged if any(a <= d.code_row <= b for a, b in runs)),
            call_sites=merge_sites([site for run in runs for site in self._calls.between(*run)]),
        )

    def _calls_of_rows(self, rows: Iterable[int]) -> tuple[CallSite, ...]:
        return merge_sites([site for row in rows for site in self._calls.between(row, row)])

    def _chars(self, first: int, last: int) -> int:
        return sum(len(line) + 1 for line in self._lines[first : last + 1])


def _roles_of(definition: Definition) -> str:
    return roles_of(definition.annotations, definition.parent.annotations if definition.parent else "")


def _with_modifiers(definition: Definition, calls: tuple[CallSite, ...]) -> tuple[CallSite, ...]:
    """The calls, led by the modifiers that a Solidity function uses."""
    uses = [CallSite(name=name, line=definition.code_row + 1) for name in definition.uses]
    return merge_sites([*uses, *calls])


def _longest_run(rows: Sequence[int]) -> list[int]:
    """The longest stretch of rows with gaps of at most one row between them."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row - runs[-1][-1] <= 2:
            runs[-1].append(row)
        else:
            runs.append([row])
    return max(runs, key=len, default=[])
