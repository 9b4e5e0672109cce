"""Outlines of XML configuration: Maven, Ant, MSBuild, Spring beans, web.xml, logging, Android manifests.

Only files whose root says so are read like that: layouts, drawings and data are no configuration and stay windows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.chunking.code_outline import Section

_ROOTS = frozenset(
    [
        "project", "beans", "web-app", "configuration", "persistence", "settings", "manifest", "hibernate-mapping",
        "plugin", "idea-plugin", "ruleset", "server", "context", "module", "assembly", "entity-mappings",
        "faces-config", "databasechangelog",
    ]
)  # fmt: skip
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^>]{0,4000}>"
    r"|<(?P<close>/)?(?P<tag>[A-Za-z_][\w:.-]{0,80})(?P<attributes>[^<>]{0,4000})>",
    re.S,
)
_NAME = re.compile(r"(?:^|\s)(?:android:)?(?:id|name|key|Include|class)\s*=\s*[\"'](?P<name>[^\"']{1,100})[\"']")
_CHILD_NAME = re.compile(r"\s*<(?:artifactId|id|name|servlet-name|filter-name)>(?P<name>[^<>]{1,100})<")
_MAX_DEPTH = 12
_MAX_ELEMENTS = 20_000
_HEAD_CHARS = 8000


@dataclass(slots=True)
class _Open:
    tag: str
    section: Section | None  # None below the depth that is read


def xml_outline(lines: Sequence[str]) -> Section | None:
    """The elements of a configuration file; None when its root element is not known as one."""
    text = "\n".join(lines)
    root = Section(name="", first_row=0, last_row=max(0, len(lines) - 1))
    open_elements: list[_Open] = []
    row = counted = 0
    for number, token in enumerate(_TOKEN.finditer(text)):
        if token["tag"] is None:
            continue
        if not open_elements and not root.parts and not _is_root(token):
            return None
        if number > _MAX_ELEMENTS:
            break
        row += text.count("\n", counted, token.start())
        counted = token.start()
        if token["close"]:
            _close(open_elements, token["tag"], row)
            continue
        section = _opened(token, lines, row, root, open_elements)
        if not token["attributes"].rstrip().endswith("/"):
            open_elements.append(_Open(token["tag"], section))
        elif section is not None:
            section.last_row = row + token[0].count("\n")
    for element in open_elements:
        if element.section is not None:
            element.section.last_row = root.last_row
    return _without_root(root)


def _is_root(token: re.Match[str]) -> bool:
    return token.start() <= _HEAD_CHARS and token["tag"].rpartition(":")[2].lower() in _ROOTS


def _opened(
    token: re.Match[str], lines: Sequence[str], row: int, root: Section, open_elements: Sequence[_Open]
) -> Section | None:
    if len(open_elements) >= _MAX_DEPTH:
        return None
    parent = open_elements[-1].section if open_elements else root
    if parent is None:
        return None
    told = _NAME.search(token["attributes"]) or _child_name(lines, row)
    name = f"{token['tag']}.{told['name'].strip()}" if told is not None else token["tag"]
    section = Section(name=name, first_row=row, last_row=row, kind="element")
    if parent is root or row > parent.first_row:
        parent.parts.append(section)
    return section


def _child_name(lines: Sequence[str], row: int) -> re.Match[str] | None:
    """The first child that names the element, on the rows directly below."""
    for line in lines[row + 1 : row + 4]:
        if (found := _CHILD_NAME.match(line[:300])) is not None:
            return found
    return None


def _close(open_elements: list[_Open], tag: str, row: int) -> None:
    """Ends the nearest element of that name, and those inside it that nobody closed."""
    if not any(element.tag == tag for element in open_elements[-_MAX_DEPTH * 2 :]):
        return
    while open_elements:
        element = open_elements.pop()
        if element.section is not None:
            element.section.last_row = row
        if element.tag == tag:
            return


def _without_root(root: Section) -> Section:
    """The outline below the root element, which is on every path and tells nothing."""
    if len(root.parts) == 1 and root.parts[0].parts:
        root.parts = root.parts[0].parts
    return _in_order(root)


def _in_order(root: Section) -> Section:
    """The outline with parts that follow each other: of elements that share a row the first one counts."""
    waiting = [root]
    while waiting:
        section = waiting.pop()
        kept: list[Section] = []
        for part in section.parts:
            if not kept or part.first_row > kept[-1].last_row:
                kept.append(part)
        section.parts = kept
        waiting += kept
    return root
