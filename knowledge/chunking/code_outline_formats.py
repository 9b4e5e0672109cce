"""Outlines of configuration formats, read line by line: templates (Helm, Jinja) and broken files give one too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from knowledge.chunking.code_outline import Section
from knowledge.chunking.code_outline_xml import xml_outline

_MAX_DEPTH = 12
_MAX_COMMENT_ROWS = 30

_YAML_KEY = re.compile(
    r"(?P<indent>\s*)(?P<dash>(?:- +)*)"
    r"(?P<key>\"[^\"]+\"|'[^']+'|[^\s#\[\]{},&*!|>%@`\"'-][^#:\n]*?|-?[\w.$/*-]+)\s*:(?=\s|$)(?P<value>.*)"
)
_YAML_ITEM = re.compile(r"(?P<indent>\s*)-(?:\s+(?P<value>.*))?$")
_YAML_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_ITEM_NAMES = ("name", "id", "key", "uses", "job", "job_name", "alert", "path", "host", "image", "kind")
_TOML_TABLE = re.compile(r"\s*\[\[?\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(?:[#;].*)?$")
_PROPERTY = re.compile(r"\s*(?:export\s+)?(?P<key>[A-Za-z_][\w.\-\[\]/]*)\s*[=:]")
_STAGE = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)(?:\s+AS\s+(?P<name>\S+))?", re.IGNORECASE)
_RULE = re.compile(r"(?P<targets>[A-Za-z0-9_./%$(){}\- ]+?)\s*::?(?![=:])")
_DEFINE = re.compile(r"define\s+(?P<name>\S+)")
_BLOCK = re.compile(
    r"""\s*(?P<head>[A-Za-z_@][\w.\-]*(?:<[\w.]{1,60}>)?(?:\s*\([^()]*\)|\s+(?:"[^"]*"|'[^']*'|[\w.\-:<>*/~^$&@]+))*)\s*(?:=\s*)?\{\s*(?:[\w,\s]*->)?\s*(?:(?:\#|//).*)?$"""
)
_WORDS = re.compile(r"[\w.\-/$]+")
_JSON_KEY = re.compile(r'(?P<indent>\s*)"(?P<key>(?:[^"\\]|\\.)+)"\s*:\s*(?P<value>[\[{])?')


def outline_of(uri: str, lines: Sequence[str]) -> Section | None:
    """The outline of a configuration file by its name; None for what is no configuration."""
    name = uri.rsplit("/", 1)[-1].lower()
    suffix = name.rsplit(".", 1)[-1] if "." in name else name
    reader = _by_name(name) or _READERS.get(suffix)
    return reader(lines) if reader is not None else None


def _by_name(name: str) -> Callable[[Sequence[str]], Section | None] | None:
    if name in ("dockerfile", "containerfile") or name.startswith(("dockerfile.", "containerfile.")):
        return _dockerfile
    if name in ("makefile", "gnumakefile") or name.startswith("makefile."):
        return _makefile
    if name == "jenkinsfile" or name.startswith("jenkinsfile.") or name.endswith((".gradle", ".gradle.kts")):
        return _braces
    if re.fullmatch(r"\.env[\w.-]*|[\w.-]*\.env(?:\.\w+)?|\.editorconfig|\.gitconfig|setup\.cfg|\.flake8", name):
        return _toml if name in (".editorconfig", ".gitconfig", "setup.cfg", ".flake8") else _properties
    return None


def _root(lines: Sequence[str]) -> Section:
    return Section(name="", first_row=0, last_row=max(0, len(lines) - 1))


def _with_comment(lines: Sequence[str], row: int, marks: tuple[str, ...] = ("#", "//", ";", "*", "/*")) -> int:
    """The first row of the comment directly above."""
    start = row
    while start > 0 and row - start < _MAX_COMMENT_ROWS and lines[start - 1].lstrip().startswith(marks):
        start -= 1
    return start


def _with_description(lines: Sequence[str], row: int) -> int:
    """The first row of the comment, or of the block of text between triple quotes (GraphQL), directly above."""
    marks = '"""'
    if row == 0 or not lines[row - 1].rstrip().endswith(marks):
        return _with_comment(lines, row)
    for start in range(row - 1, max(-1, row - 1 - _MAX_COMMENT_ROWS), -1):
        line = lines[start].strip()
        if line.startswith(marks) and (start < row - 1 or len(line) > len(marks)):
            return start
    return row


def _close_open(open_sections: list[tuple[int, Section]], indent: int, last_row: int) -> None:
    while open_sections and open_sections[-1][0] >= indent:
        open_sections.pop()[1].last_row = last_row


# --- YAML -----------------------------------------------------------------------------------------


def _yaml(lines: Sequence[str]) -> Section:
    root = _root(lines)
    starts = [0, *(row + 1 for row, line in enumerate(lines) if line.rstrip() == "---" and row > 0)]
    ends = [*(start - 1 for start in starts[1:]), len(lines) - 1]
    documents = [(a, b) for a, b in zip(starts, ends, strict=True) if b >= a]
    if len(documents) < 2:
        _yaml_document(lines, root)
        return root
    for number, (first, last) in enumerate(documents, 1):
        section = Section(name="", first_row=first, last_row=last, kind="document")
        _yaml_document(lines, section)
        section.name = _manifest_name(lines[first : last + 1]) or f"document {number}"
        root.parts.append(section)
    return root


def _manifest_name(lines: Sequence[str]) -> str:
    """ "Deployment/web" of a Kubernetes manifest."""
    kind = next((line[5:].strip() for line in lines if line.startswith("kind:")), "")
    name = ""
    for row, line in enumerate(lines):
        if line.startswith("metadata:"):
            following = (other.strip() for other in lines[row + 1 : row + 12])
            name = next((other[5:].strip() for other in following if other.startswith("name:")), "")
            break
    return "/".join(part for part in (kind, name) if part)


def _yaml_document(lines: Sequence[str], root: Section) -> None:
    open_sections: list[tuple[int, Section]] = []
    block_indent: int | None = None
    for row in range(root.first_row, root.last_row + 1):
        line = lines[row][:2000]
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if block_indent is not None and indent > block_indent:
            continue
        block_indent = None
        if line.lstrip().startswith(("#", "{{", "{%", "---", "%")):
            continue
        found = _YAML_KEY.match(line)
        item = _YAML_ITEM.match(line)
        if found is not None and _YAML_BLOCK.search(found["value"]):
            block_indent = indent + len(found["dash"])
        name, place = None, indent
        if item is not None:
            name = _item_name(lines, row, root.last_row, indent)
        elif found is not None:
            name = found["key"].strip("\"' ")
        if name is None:
            continue
        _open_section(
            lines, root, open_sections, Section(name=name, first_row=row, last_row=row), place, item is not None
        )
    _close_open(open_sections, 0, root.last_row)
    _trim(lines, root)


def _open_section(
    lines: Sequence[str],
    root: Section,
    open_sections: list[tuple[int, Section]],
    section: Section,
    indent: int,
    is_item: bool,
) -> None:
    """Puts a section below the one that it is indented under; list items may stand at the margin of their key."""
    first = max(_with_comment(lines, section.first_row), root.first_row)
    key_indent = indent * 2 + (1 if is_item else 0)
    _close_open(open_sections, key_indent, first - 1)
    if len(open_sections) >= _MAX_DEPTH:
        return
    parent = open_sections[-1][1] if open_sections else root
    section.first_row = max(first, parent.first_row + (1 if parent is not root and first <= parent.first_row else 0))
    parent.parts.append(section)
    open_sections.append((key_indent, section))


def _item_name(lines: Sequence[str], row: int, last_row: int, indent: int) -> str | None:
    """What a list item is called by its name, id or similar key; None for a plain value."""
    if ":" not in lines[row] and lines[row].strip() != "-":
        return None
    found: dict[str, str] = {}
    for other in range(row, min(row + 12, last_row + 1)):
        line = lines[other][:500]
        if other > row and line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        text = line.strip().removeprefix("-").strip()
        key, colon, value = text.partition(":")
        if colon and value.strip():
            found.setdefault(key.strip(), value.strip().strip("\"'"))
    name = next((found[key] for key in _ITEM_NAMES if key in found), None)
    return name[:60] if name else next(iter(found), None)


def _trim(lines: Sequence[str], section: Section) -> None:
    """Ends every section at its last row that holds something."""
    waiting = list(section.parts)
    while waiting:
        part = waiting.pop()
        while part.last_row > part.first_row and not lines[part.last_row].strip():
            part.last_row -= 1
        waiting += part.parts


# --- sections by headings and by braces -----------------------------------------------------------


def _by_headings(
    lines: Sequence[str], headings: Sequence[tuple[int, str, str]], marks: tuple[str, ...] = ("#", ";", "//")
) -> Section:
    """Sections from each heading (row, name, kind), its comment included, to the next one."""
    root = _root(lines)
    starts = [_with_comment(lines, row, marks) for row, _, _ in headings]
    for place, (_, name, kind) in enumerate(headings):
        last = starts[place + 1] - 1 if place + 1 < len(headings) else root.last_row
        root.parts.append(Section(name=name, first_row=starts[place], last_row=last, kind=kind))
    _trim(lines, root)
    return root


def _toml(lines: Sequence[str]) -> Section:
    found = ((row, _TOML_TABLE.match(line[:500])) for row, line in enumerate(lines))
    return _by_headings(lines, [(row, match["name"].strip("\"' "), "table") for row, match in found if match])


def _dockerfile(lines: Sequence[str]) -> Section:
    headings = []
    for row, line in enumerate(lines):
        if match := _STAGE.match(line[:500]):
            headings.append((row, match["name"] or match["image"], "stage"))
    return _by_headings(lines, headings)


def _makefile(lines: Sequence[str]) -> Section:
    headings = []
    for row, line in enumerate(lines):
        if line[:1] in ("\t", " ", "#", ".") or not line.strip():
            continue
        match = _RULE.match(line[:500]) or _DEFINE.match(line[:500])
        if match:
            headings.append((row, match[1].strip(), "target"))
    return _by_headings(lines, headings)


def _properties(lines: Sequence[str]) -> Section:
    """Keys that begin alike stand together: spring.datasource, MAIL_."""
    headings: list[tuple[int, str, str]] = []
    last = ""
    for row, line in enumerate(lines):
        match = _PROPERTY.match(line[:500])
        if match is None or line.lstrip().startswith(("#", "!")):
            continue
        parts = re.split(r"[._]", match["key"])
        name = ".".join(parts[:2]) if "." in match["key"] and len(parts) > 2 else parts[0]
        after_gap = row > 0 and not lines[row - 1].strip()
        if name != last or (after_gap and not headings):
            headings.append((row, name, "keys"))
        last = name
    return _by_headings(lines, headings)


def _braces(lines: Sequence[str]) -> Section:
    """Blocks that open a brace at the end of their line: Gradle, Terraform, Jenkins, nginx, protobuf."""
    root = _root(lines)
    open_sections: list[tuple[int, Section]] = []
    depth = 0
    for row, line in enumerate(lines):
        plain = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", '""', line[:2000]).split("//")[0]
        opened = _BLOCK.match(line[:500])
        before = depth
        depth += plain.count("{") - plain.count("}")
        if opened is not None and depth > before and len(open_sections) < _MAX_DEPTH:
            parent = open_sections[-1][1] if open_sections else root
            first = max(_with_description(lines, row), parent.first_row + (1 if open_sections else 0))
            section = Section(name=_block_name(opened["head"]), first_row=first, last_row=row, kind="block")
            parent.parts.append(section)
            open_sections.append((before, section))
        while open_sections and depth <= open_sections[-1][0]:
            open_sections.pop()[1].last_row = row
    for _, section in open_sections:
        section.last_row = root.last_row
    return root


def _block_name(head: str) -> str:
    """`resource "aws_s3_bucket" "logs"` gives resource.aws_s3_bucket.logs; `stage('Build')` gives stage.Build."""
    return ".".join(_WORDS.findall(re.split(r"\s(?:implements|extends|@\w)", head)[0])[:4])


def _json(lines: Sequence[str]) -> Section:
    """Keys by their indentation: a JSON file that people read is printed with one key a line."""
    root = _root(lines)
    open_sections: list[tuple[int, Section]] = []
    for row, line in enumerate(lines):
        found = _JSON_KEY.match(line[:2000])
        if found is None:
            continue
        indent = len(found["indent"])
        _close_open(open_sections, indent, row - 1)
        if len(open_sections) >= _MAX_DEPTH:
            continue
        section = Section(name=found["key"][:60], first_row=row, last_row=row)
        (open_sections[-1][1] if open_sections else root).parts.append(section)
        open_sections.append((indent, section))
    _close_open(open_sections, 0, root.last_row)
    return root


_READERS: dict[str, Callable[[Sequence[str]], Section | None]] = {
    "yml": _yaml, "yaml": _yaml,
    "toml": _toml, "ini": _toml, "cfg": _toml, "conf": _braces, "service": _toml, "editorconfig": _toml,
    "properties": _properties, "env": _properties,
    "dockerfile": _dockerfile, "mk": _makefile,
    "gradle": _braces, "tf": _braces, "hcl": _braces, "proto": _braces, "groovy": _braces, "prisma": _braces,
    "graphql": _braces, "graphqls": _braces,
    "xml": xml_outline, "pom": xml_outline, "csproj": xml_outline, "vbproj": xml_outline, "config": xml_outline,
    "props": xml_outline, "targets": xml_outline,
    "json": _json, "json5": _json, "jsonc": _json,
}  # fmt: skip
