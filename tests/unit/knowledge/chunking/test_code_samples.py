"""Each sample of tests/fixtures/code is cut into exactly the chunks that the table beside it lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from knowledge.chunking.code import cut_code
from knowledge.chunking.code_grammars import GRAMMARS
from knowledge.types import ChunkDraft

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "code"
SAMPLES = sorted(path.name.removesuffix(".sample") for path in FOLDER.glob("*.sample"))
LANGUAGES = {"java", "kt", "tsx", "js", "py", "go", "swift", "sol", "cs", "rs", "c", "cpp", "rb", "php", "scala", "sh"}


def row_of(draft: ChunkDraft) -> tuple[str, str, str]:
    return f"{draft.start_line}-{draft.end_line}", draft.symbol_kind or draft.kind, draft.symbol or draft.label or "-"


def expected(name: str) -> list[tuple[str, ...]]:
    lines = (FOLDER / f"{name}.chunks").read_text(encoding="utf-8").splitlines()
    return [tuple(cell.strip() for cell in line.split("|")) for line in lines if line.strip()]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_cut_into_the_chunks_of_its_table(name: str) -> None:
    text = (FOLDER / f"{name}.sample").read_text(encoding="utf-8")
    assert [row_of(draft) for draft in cut_code(f"shop/{name}", text).drafts] == expected(name)


def test_there_is_a_sample_of_every_language() -> None:
    assert {name.rsplit(".", 1)[-1] for name in SAMPLES} >= LANGUAGES
    grammars = {grammar.name for grammar in GRAMMARS.values()}
    assert {GRAMMARS[suffix].name for suffix in LANGUAGES} == grammars - {"typescript"}


def _decoded(line: str) -> str:
    try:
        return str(json.loads(line.strip().rstrip(","))).rstrip("\n")
    except ValueError:
        return line


@pytest.mark.parametrize("name", SAMPLES)
def test_the_lines_of_a_chunk_hold_its_text(name: str) -> None:
    text = (FOLDER / f"{name}.sample").read_text(encoding="utf-8")
    lines = text.split("\n")
    if name.endswith(".ipynb"):  # its lines are strings in JSON
        lines = [_decoded(line) for line in lines]
    for draft in cut_code(f"shop/{name}", text).drafts:
        assert draft.start_line is not None
        assert draft.end_line is not None
        of_place = {line.strip() for line in lines[draft.start_line - 1 : draft.end_line] if line.strip()}
        assert of_place <= {line.strip() for line in draft.text.split("\n")}
