"""Configuration is cut by key path, SQL by statement; odd, templated and broken files lose nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking.code import chunk_code, cut_code
from knowledge.chunking.code_outline import PART_CHARS
from knowledge.types import ChunkDraft
from tests.unit.knowledge.chunking.test_code_samples import FOLDER, SAMPLES

CONFIGURATION = [name for name in SAMPLES if name.rsplit(".", 1)[-1] in
                 ("yml", "yaml", "toml", "properties", "example", "gradle", "tf", "json", "sql", "Dockerfile", "Makefile")]  # fmt: skip


def symbols(uri: str, text: str) -> list[str | None]:
    return [draft.symbol for draft in chunk_code(uri, text)]


def lines_of(drafts: list[ChunkDraft]) -> str:
    return "\n".join(draft.text for draft in drafts)


def test_a_long_job_is_cut_into_its_parts_and_steps_go_by_their_names() -> None:
    steps = "".join(
        f"      - name: Step {n}\n        run: |\n          make part-{n}\n          make check-{n}\n"
        for n in range(40)
    )
    text = f"name: CI\njobs:\n  build:\n    runs-on: ubuntu\n    steps:\n{steps}"
    found = symbols(".github/workflows/ci.yml", text)
    assert "jobs.build.steps.Step 0" in found
    assert "jobs.build.steps.Step 39" in found


def test_several_documents_of_one_file_go_by_kind_and_name() -> None:
    text = "kind: Service\nmetadata:\n  name: web\nspec:\n  port: 80\n---\nkind: Ingress\nmetadata:\n  name: edge\n"
    assert symbols("k8s/all.yaml", text) == ["Service/web", "Ingress/edge"]


def test_a_block_of_text_is_no_key() -> None:
    text = "run:\n  script: |\n    key: value\n    other: value\n  shell: bash\nnext:\n  a: 1\n  b: 2\n"
    assert symbols("a.yml", text) == ["run", "next"]


@pytest.mark.parametrize("name", CONFIGURATION)
def test_every_telling_line_of_a_file_stands_in_a_chunk(name: str) -> None:
    text = (FOLDER / f"{name}.sample").read_text(encoding="utf-8")
    shown = {line.strip() for draft in chunk_code(f"shop/{name}", text) for line in draft.text.split("\n")}
    plain = ("services:", "jobs:", "DELIMITER", "GO", "---")
    missing = [
        line
        for line in text.split("\n")
        if any(c.isalnum() for c in line) and line.strip() not in shown and not line.strip().startswith(plain)
    ]
    assert missing == []


def test_a_long_section_is_cut_at_its_keys_and_names_itself_again() -> None:
    keys = "".join(f"  key_{n}: value of the key number {n}\n" for n in range(200))
    drafts = chunk_code("config.yml", f"settings:\n{keys}")
    assert len(drafts) > 1
    assert {draft.symbol for draft in drafts} == {"settings"}
    assert len({draft.group for draft in drafts}) == 1
    assert all(draft.text.startswith("settings") for draft in drafts)
    assert all(len(draft.text) <= PART_CHARS + 200 for draft in drafts)


def test_statements_end_outside_of_quotes_bodies_and_comments_only() -> None:
    text = (
        "CREATE TABLE a (x TEXT DEFAULT 'p;q'); -- ; not here\n"
        "CREATE FUNCTION f() RETURNS void AS $body$ BEGIN PERFORM 1; PERFORM 2; END; $body$ LANGUAGE plpgsql;\n"
        "/* ; */ CREATE VIEW b AS SELECT CASE WHEN x THEN 1 ELSE 2 END FROM a;\n"
    )
    assert symbols("db.sql", text) == ["a", "f", "b"]
    assert chunk_code("db.sql", text)[2].calls == ("a",)


def test_declarations_before_the_body_belong_to_it() -> None:
    text = (
        "CREATE OR REPLACE PROCEDURE pay(p_id IN NUMBER) IS\n  v NUMBER;\nBEGIN\n  IF v > 1 THEN\n    ROLLBACK;\n  END IF;\n"
        "END;\n/\nCREATE PACKAGE BODY money IS\n  PROCEDURE a IS\n  BEGIN\n    NULL;\n  END;\n  x NUMBER;\nEND money;\n/\n"
        "CREATE TABLE t (a INT);\nCREATE FUNCTION g() RETURNS int AS 'select 1' LANGUAGE sql;\nCREATE TABLE u (a INT);\n"
    )
    drafts = chunk_code("db/oracle.sql", text)
    assert [(d.symbol, d.start_line, d.end_line) for d in drafts] == [
        ("pay", 1, 7), ("money", 9, 15), ("t", 17, 17), ("g", 18, 18), ("u", 19, 19),
    ]  # fmt: skip


def test_queries_with_names_are_definitions() -> None:
    text = "-- name: GetOrder :one\nSELECT * FROM orders WHERE id = $1;\n\n-- name: ListOrders :many\nSELECT * FROM orders;\n"
    assert symbols("queries.sql", text) == ["GetOrder", "ListOrders"]


@settings(deadline=None, max_examples=80)
@given(st.sampled_from(CONFIGURATION), st.data())
def test_damaged_files_give_chunks_within_their_lines(name: str, data: st.DataObject) -> None:
    text = (FOLDER / f"{name}.sample").read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 80)))
    damaged = text[:start] + data.draw(st.text(alphabet="{}()[]\"'`;:-\n\t 가", max_size=12)) + text[end:]
    for draft in chunk_code(f"shop/{name}", damaged):
        assert 1 <= (draft.start_line or 0) <= (draft.end_line or 0) <= damaged.count("\n") + 1
        assert draft.text.strip()


def _switch(cases: int) -> str:
    return (
        "int f(int x) {\n  switch (x) {\n"
        + "".join(f"    case {n}: return g{n}(x);\n" for n in range(cases))
        + "  }\n}\n"
    )


def _parser_tables(rows: int) -> str:
    return (
        "static const short yytable[] = {\n"
        + "".join("  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n" for _ in range(rows))
        + "};\n"
    )


HARD = {
    "switch.c": _switch(12_000),
    "tables.c": _parser_tables(14_000),
    "deep.cpp": "void f() { " + "if (x) { " * 3_000 + "}" * 3_000 + " }\n",
    "deep.rs": "fn f() { " + "(" * 5_000 + ")" * 5_000 + " }\n",
    "deep.rb": "module A\n" * 2_000 + "end\n" * 2_000,
    "deep.yml": "".join("  " * n + f"k{n}:\n" for n in range(300)),
    "deep.json": "[" * 20_000 + "]" * 20_000,
    "wide.json": '{"a": [' + "1," * 200_000 + "1]}",
    "long.php": "<?php\n" + "".join(f"function f{n}($a) {{\n    return g($a, {n});\n}}\n" for n in range(6_000)),
    "quote.sql": "INSERT INTO a VALUES ('" + "x" * 300_000,
    "begin.sql": "BEGIN " * 20_000,
    "braces.tf": "a {\n" * 20_000,
    "minified.ts": "function a(b){return b+1};" * 40_000,
    "bytes.py": "def f():\n    return '\udcff\udcfe'\n" * 50,
    "bin.sh": "f() {\n" * 3_000,
}


@pytest.mark.parametrize("name", sorted(HARD))
def test_hard_input_is_cut_in_bounded_time(name: str) -> None:
    text = HARD[name]
    started = time.process_time()
    cut = cut_code(f"src/{name}", text)
    assert time.process_time() - started < 8.0
    last = text.count("\n") + 1
    for draft in cut.drafts:
        assert 1 <= (draft.start_line or 0) <= (draft.end_line or 0) <= last
        assert len(draft.index_text) < 4 * PART_CHARS


def test_a_huge_switch_is_one_definition_in_parts_that_cover_it() -> None:
    drafts = chunk_code("src/switch.c", HARD["switch.c"])
    assert {draft.symbol for draft in drafts} == {"f"}
    covered = [row for draft in drafts for row in range(draft.start_line or 0, (draft.end_line or 0) + 1)]
    assert covered == list(range(1, HARD["switch.c"].count("\n") + 1))
    assert all(draft.text.startswith("int f(int x)") for draft in drafts)
