"""A file over 400 lines or a function over 50 is a sign that two things live in one room."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50

# path or path:function -> why it may be longer
EXCEPTIONS: dict[str, str] = {}


def sources() -> list[Path]:
    return [p for package in ("bot", "knowledge", "benchmarks") for p in sorted((ROOT / package).rglob("*.py"))]


def oversized() -> dict[str, int]:
    found: dict[str, int] = {}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > MAX_FILE_LINES:
            found[name] = lines
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    found[f"{name}:{node.name}"] = length
    return found


def test_files_and_functions_are_small_unless_a_reason_is_listed():
    assert {k: v for k, v in oversized().items() if k not in EXCEPTIONS} == {}


def test_the_list_of_exceptions_holds_no_stale_entry():
    assert sorted(set(EXCEPTIONS) - set(oversized())) == []


def test_every_module_and_public_definition_says_what_it_is():
    silent = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if ast.get_docstring(tree) is None:
            silent.append(name)
        for node in tree.body:
            definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if definition and not node.name.startswith("_") and ast.get_docstring(node) is None:
                silent.append(f"{name}:{node.name}")
    assert silent == []
