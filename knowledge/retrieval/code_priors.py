"""How likely a piece of a repository is what somebody looks for, before its words are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from knowledge.types import Chunk

TEST_PRIOR = 0.5
TRIVIAL_PRIOR = 0.8
DECLARATION_PRIOR = 0.85  # interfaces and plain data stand behind what does the work
PROSE_PRIOR = 0.8  # texts beside the code
CHRONICLE_PRIOR = 0.5  # what was changed when: it has the words of every question, and answers none about code
WORDING_PRIOR = 0.6  # texts of the surface in one language
_TRIVIAL_LINES = 3
_PATHS = 8192  # the same files come up in question after question

_TEST_FOLDERS = frozenset(
    {
        "test",
        "tests",
        "__tests__",
        "testing",
        "spec",
        "specs",
        "e2e",
        "androidtest",
        "testfixtures",
        "__mocks__",
        "mocks",
        "fixtures",
        "testdata",
    }
)
_TEST_PROJECT = re.compile(r"(?:^|[a-z.])(?:Unit|Integration|Functional|Acceptance|Performance|Api)?Tests?$")
_TEST_FILE = re.compile(
    r"^(?:test_.+\.(?:py|rb|c|cc|cpp)|.+_(?:test|spec)\.(?:py|go|rb|rs|c|cc|cpp|dart|exs)|conftest\.py|tests?\.(?:rs|py)"
    r"|.+\.(?:test|spec|stories|cy)\.[cm]?[jt]sx?|.+\.t\.sol"
    r"|.+(?:Tests?|Spec|IT)\.(?:java|kt|swift|cs|php|scala|groovy))$"
)
_TEST_SYMBOL = re.compile(r"(?:^|\.)(?:tests?(?=\.)|test_\w+$)")
_TEST_MARK = re.compile(
    r"#\[(?:\w+::)*test\b|^\s*@(?:Parameterized)?Test\b|^\s*\[(?:Fact|Theory|Test|TestMethod)\b", re.MULTILINE
)
_MARK_CHARS = 400
_HAS_BODIES = re.compile(
    r"\.(?:java|kts?|swift|sol|[mc]?tsx?|cs|rs|scala|php)$"
)  # bodies stand in braces or behind "="
_BODY = re.compile(r"=(?![=>])|=>")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PLAIN_DATA = re.compile(r"(?:Dto|DTO|Request|Response|Exception|Error|Props|Payload)$")
_DECLARATIONS = frozenset({"interface", "type", "protocol", "annotation", "enum", "prototype", "delegate"})
_CHRONICLE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|authors|contributors|copying|licen[cs]e|release[-_]notes)$"
    r"|(?:^|[/_\-. ])(?:change-?log|changes|history|news|releases?|release[-_ ]?notes|upgrad(?:e|ing)"
    r"|migration[-_ ]?guide|whats[-_]?new|audits?|authors|contributors|code[-_]of[-_]conduct|licen[cs]e"
    r"|issue[-_]template|bug[-_]report|pull[-_]request[-_]template|feature[-_]request)(?:[-_.]?[\w.]*)?\.(?:md|rst|txt|adoc|markdown|yml|yaml)$"
    r"|(?:^|/)(?:issue_template|audits?|changelogs?|news)/|-report-github\.md$",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|html?|[1-9])$|(?:^|/)(?:xdocs?|src/site|docbook)/", re.IGNORECASE
)
_WORDING = re.compile(
    r"(?:^|/)(?:locales?|i18n|l10n|lang|langs|languages|translations?|messages)/.*\.(?:json|ya?ml|properties|toml|php|rb|xml)$"
    r"|(?:^|/)(?:strings|messages)(?:_\w+)?\.(?:xml|properties|json)$|\.resx$",
    re.IGNORECASE,
)


@lru_cache(maxsize=_PATHS)
def is_test_path(path: str) -> bool:
    """Whether a file is test code, by whole folder names and the usual file names: PerfTestService.java is not."""
    *folders, name = path.split("/")
    if any(folder.casefold() in _TEST_FOLDERS or _TEST_PROJECT.search(folder) for folder in folders):
        return True
    return _TEST_FILE.match(name) is not None


@lru_cache(maxsize=_PATHS)
def path_prior(path: str) -> float:
    """A factor 0..1 for the rank of a file that is no code: change logs, documents, texts of the surface."""
    if _CHRONICLE.search(path):
        return CHRONICLE_PRIOR
    if _WORDING.search(path):
        return WORDING_PRIOR
    return PROSE_PRIOR if _PROSE.search(path) else 1.0


def code_prior(chunk: Chunk, *, about_tests: bool) -> float:
    """A factor 0..1 for the rank of a chunk: below 1 for tests, bodies of three lines or fewer, and declarations."""
    prior = path_prior(chunk.locator.uri)
    if not about_tests and _is_test(chunk):
        prior *= TEST_PRIOR
    name = (chunk.locator.symbol or "").rsplit(".", 1)[-1]
    if chunk.symbol_kind in _DECLARATIONS or _PLAIN_DATA.search(name) or _is_declared_only(chunk):
        prior *= DECLARATION_PRIOR
    elif _lines(chunk) <= _TRIVIAL_LINES:
        prior *= TRIVIAL_PRIOR
    return prior


def _is_test(chunk: Chunk) -> bool:
    if is_test_path(chunk.locator.uri):
        return True
    symbol = chunk.locator.symbol or ""
    return _TEST_SYMBOL.search(symbol) is not None or _TEST_MARK.search(chunk.text[:_MARK_CHARS]) is not None


def _is_declared_only(chunk: Chunk) -> bool:
    """Whether a function is there without a body, as in interfaces, traits and headers: its text ends with the head."""
    if chunk.symbol_kind not in ("function", "method") or not _HAS_BODIES.search(chunk.locator.uri):
        return False
    last = chunk.text.rstrip().rsplit("\n", 1)[-1]
    return not last.endswith("}") and not _BODY.search(last) and "{" not in _COMMENT.sub("", chunk.text)


def _lines(chunk: Chunk) -> int:
    start, end = chunk.locator.start_line, chunk.locator.end_line
    return end - start + 1 if start is not None and end is not None else chunk.text.count("\n") + 1
