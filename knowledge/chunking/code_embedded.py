"""Code that stands inside files of another form: scripts of Vue, Svelte and Astro components, cells of notebooks.

The code comes with as many rows as the file has, the others blank, so that definitions keep the lines of the file. A
notebook is read from its JSON as it is saved, one string of `source` a line; what cells printed is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge.chunking.code_grammar import Grammar
from knowledge.chunking.code_grammars import GRAMMARS
from knowledge.chunking.code_text import split_lines

_COMPONENTS = frozenset(["vue", "svelte", "astro"])
_SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]{0,400})>(?P<code>.*?)(?:</script\s*>|\Z)", re.I | re.S)
_FRONT_MATTER = re.compile(r"\A---[^\S\n]*\n(?P<code>.*?)^---[^\S\n]*$", re.S | re.M)
_LANGUAGE = re.compile(r"\blang\s*=\s*[\"']?(?P<name>[a-z]+)")
_BLOCK = re.compile(r"<(?:style|template|i18n|docs|route)\b", re.I)
_MAX_BLOCKS = 50  # no component has more; what follows is cut by its size alone
_NOT_BLANK = re.compile(r"[^\n]")
_MAGIC = re.compile(r"\s*(?:[%!]|\?\w|\w+\?\s*$)")
_CELL = re.compile(r'\s*"cell_type"\s*:\s*"(?P<type>\w+)"')
_SOURCE = re.compile(r'\s*"source"\s*:\s*(?P<rest>.*)$')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_LANGUAGES = {"python": "py", "javascript": "js", "typescript": "ts", "scala": "scala", "kotlin": "kt", "rust": "rs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedCode:
    """The parts of a file; `code` and `prose` have its rows, those of other parts blank."""

    grammar: Grammar | None  # of the code; None for a language without one, which is cut into windows
    code: str
    prose: str = ""  # Markdown
    others: tuple[tuple[int, int], ...] = ()  # first and last rows, from 0, of templates, markup and styles


def embedded_code(uri: str, text: str) -> EmbeddedCode | None:
    """The code inside the file; None for a file that is no component and no notebook, or is none that can be read."""
    suffix = uri.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
    if suffix in _COMPONENTS:
        return _component(text)
    return _notebook(text) if suffix == "ipynb" else None


def _component(text: str) -> EmbeddedCode:
    spans: list[tuple[int, int]] = []
    language = "js"
    front = [*_FRONT_MATTER.finditer(text)]
    behind = front[-1].end() if front else 0  # a tag that the code before only speaks of opens nothing
    for match in (*front, *_SCRIPT.finditer(text, behind)):
        spans.append(match.span("code"))
        if match.re is _FRONT_MATTER:
            language = "ts"
        elif (told := _LANGUAGE.search(match["attributes"])) is not None and told["name"] in GRAMMARS:
            language = told["name"]
    code, position = [], 0
    for start, end in spans:
        code += [_NOT_BLANK.sub(" ", text[position:start]), text[start:end]]
        position = max(position, end)
    code.append(_NOT_BLANK.sub(" ", text[position:]))
    blanked = "".join(code)
    return EmbeddedCode(grammar=GRAMMARS[language], code=blanked, others=tuple(_other_runs(text, blanked)))


def _other_runs(text: str, code: str) -> Iterator[tuple[int, int]]:
    """Rows that hold no code, a run for each block."""
    start: int | None = None
    blocks = 0
    rows = split_lines(text)
    code_rows = split_lines(code)
    for row, line in enumerate(rows):
        is_code = row < len(code_rows) and bool(code_rows[row].strip())
        is_tag = line.lstrip().lower().startswith(("<script", "</script"))
        begins = start is not None and row > start and blocks < _MAX_BLOCKS and _BLOCK.match(line) is not None
        blocks += begins
        if start is not None and (is_code or is_tag or begins):
            yield start, row - 1
            start = None
        if start is None and line.strip() and not is_code and not is_tag:
            start = row
    if start is not None:
        yield start, len(rows) - 1


def _notebook(text: str) -> EmbeddedCode | None:
    lines = split_lines(text)
    try:
        notebook = json.loads(text)
        cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
        metadata = notebook.get("metadata")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    code, prose = [""] * len(lines), [""] * len(lines)
    found = list(_saved_cells(lines))
    if [kind for kind, _ in found] != [cell.get("cell_type") for cell in cells]:
        return None  # not as notebooks are saved: on one line, or with other keys
    for kind, rows in found:
        target = code if kind == "code" else prose if kind == "markdown" else None
        for row, source in rows if target is not None else ():
            plain = source.rstrip("\n").replace("\n", " ")
            assert target is not None
            target[row] = f"# {plain}" if kind == "code" and _MAGIC.match(plain) else plain
    grammar = GRAMMARS.get(_LANGUAGES.get(_language(metadata), ""))
    return EmbeddedCode(grammar=grammar, code="\n".join(code), prose="\n".join(prose))


def _language(metadata: object) -> str:
    """The language of a notebook's code; Python unless it says otherwise."""
    if not isinstance(metadata, dict):
        return "python"
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(key)
        if isinstance(told, dict) and isinstance(told.get(name), str):
            return str(told[name]).lower()
    return "python"


def _saved_cells(lines: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """(type, [(row, line of its source)]) of every cell, read line by line."""
    kind: str | None = None
    inside: list[tuple[int, str]] | None = None
    for row, line in enumerate(lines):
        if inside is not None:
            if line.lstrip().startswith("]"):
                yield kind or "", inside
                kind = inside = None
            else:
                inside += [(row, string) for string in _strings(line)]
            continue
        if (cell := _CELL.match(line)) is not None:
            kind = cell["type"]
        elif kind is not None and (source := _SOURCE.match(line)) is not None:
            rest = source["rest"].strip()
            if rest == "[":
                inside = []
            else:
                yield kind, [(row, part) for string in _strings(rest) for part in string.splitlines() or [""]]
                kind = None


def _strings(line: str) -> Iterator[str]:
    for match in _STRING.finditer(line):
        try:
            yield str(json.loads(match[0], strict=False))
        except ValueError:
            yield match[0][1:-1]
