"""How likely a piece of code is what somebody looks for, before its words are compared."""

from __future__ import annotations

import re

from knowledge.types import Chunk

TEST_PRIOR = 0.5
TRIVIAL_PRIOR = 0.8
DECLARATION_PRIOR = 0.85  # interfaces and plain data stand behind what does the work
_TRIVIAL_LINES = 3

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
    }
)
_TEST_FILE = re.compile(
    r"^(?:test_.+\.py|.+_test\.(?:py|go)|conftest\.py|.+\.(?:test|spec|stories)\.[cm]?[jt]sx?|.+\.t\.sol|.+Tests?\.(?:java|kt|swift))$"
)
_PLAIN_DATA = re.compile(r"(?:Dto|DTO|Request|Response|Exception|Error|Props|Payload)$")
_DECLARATIONS = frozenset({"interface", "type", "protocol", "annotation", "enum"})


def is_test_path(path: str) -> bool:
    """Whether a file is test code, by whole folder names and the usual file names: PerfTestService.java is not."""
    *folders, name = path.split("/")
    return any(folder.casefold() in _TEST_FOLDERS for folder in folders) or _TEST_FILE.match(name) is not None


def code_prior(chunk: Chunk, *, about_tests: bool) -> float:
    """A factor 0..1 for the rank of a chunk: below 1 for tests, bodies of three lines or fewer, and declarations."""
    prior = 1.0
    if not about_tests and is_test_path(chunk.locator.uri):
        prior *= TEST_PRIOR
    name = (chunk.locator.symbol or "").rsplit(".", 1)[-1]
    if chunk.symbol_kind in _DECLARATIONS or _PLAIN_DATA.search(name):
        prior *= DECLARATION_PRIOR
    elif _lines(chunk) <= _TRIVIAL_LINES:
        prior *= TRIVIAL_PRIOR
    return prior


def _lines(chunk: Chunk) -> int:
    start, end = chunk.locator.start_line, chunk.locator.end_line
    return end - start + 1 if start is not None and end is not None else chunk.text.count("\n") + 1
