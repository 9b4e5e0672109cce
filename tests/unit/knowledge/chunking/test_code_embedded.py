"""Code inside components and notebooks, statements of mappers: what is found, what is left out, what is odd."""

from __future__ import annotations

import json
from typing import Any

import pytest

from knowledge.chunking.code import BROKEN_SYNTAX, MINIFIED, cut_code


def notebook(*cells: dict[str, Any], language: str | None = "python", indent: int | None = 1) -> str:
    metadata = {"kernelspec": {"language": language}} if language else {}
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


def cell(*source: str, kind: str = "code", printed: str = "") -> dict[str, Any]:
    lines = [line + "\n" for line in source[:-1]] + list(source[-1:])
    outputs = [{"output_type": "stream", "name": "stdout", "text": [printed]}] if printed else []
    return {"cell_type": kind, "metadata": {}, "outputs": outputs, "source": lines}


def symbols(uri: str, text: str) -> list[str | None]:
    return [draft.symbol or draft.label for draft in cut_code(uri, text).drafts]


def test_what_a_cell_printed_is_left_out_and_its_lines_are_those_of_the_file() -> None:
    text = notebook(
        cell("# Orders", "All of them.", kind="markdown"),
        cell("def load(path):", '    """Orders of a file."""', "    return open(path)", printed="loaded 31 orders"),
    )
    cut = cut_code("nb/a.ipynb", text)
    assert [draft.label or draft.symbol for draft in cut.drafts] == ["Orders", "load"]
    assert not any("31 orders" in draft.index_text for draft in cut.drafts)
    load = cut.drafts[1]
    assert load.start_line is not None
    assert json.loads(text.split("\n")[load.start_line - 1].strip().rstrip(",")) == "def load(path):\n"
    assert load.text.endswith("    return open(path)")


def test_commands_of_a_notebook_do_not_break_its_code() -> None:
    cut = cut_code("a.ipynb", notebook(cell("%pip install x", "!ls -la", "def f(a):", "    b = a + 1", "    return b")))
    assert [draft.symbol for draft in cut.drafts if draft.symbol] == ["f"]
    assert cut.warnings == ()


@pytest.mark.parametrize(("language", "kind"), [(None, "definition"), ("r", "window"), ("scala", "definition")])
def test_the_language_of_a_notebook_decides_how_it_is_read(language: str | None, kind: str) -> None:
    source = ("object A {", "  def f(a: Int): Int = {", "    a + 1", "  }", "}") if language == "scala" else (
        "def f(a):", "    b = a + 1", "    return b")  # fmt: skip
    drafts = cut_code("a.ipynb", notebook(cell(*source), language=language)).drafts
    assert kind in {draft.kind for draft in drafts}


@pytest.mark.parametrize("text", [
    '{"cells": [', "[]", '{"cells": {"a": 1}}', '{"cells": [1, null, "x"]}', "not a notebook at all\n",
    notebook(cell("def f():", "    return 1"), indent=None), '{"cells": [{"cell_type": "code"}]}',
    '{"metadata": 3, "cells": []}', "[" * 5000,
])  # fmt: skip
def test_what_is_no_notebook_as_they_are_saved_is_cut_all_the_same(text: str) -> None:
    for draft in cut_code("a.ipynb", text).drafts:
        assert draft.start_line is not None
        assert draft.text


def test_both_scripts_of_a_component_are_read_and_broken_ones_are_said() -> None:
    text = (
        "<script>\nexport const a = 1\n</script>\n<script setup lang='ts'>\nfunction pay(n: number) {\n  return n\n}\n"
    )
    assert "pay" in symbols("A.vue", text)
    assert cut_code("A.vue", "<script>\nfunction ( {{{\n</script>\n").warnings == (BROKEN_SYNTAX,)
    assert symbols("A.vue", "<template>\n  <p>Only markup</p>\n</template>\n") == [None]
    assert cut_code("A.vue", "").drafts == ()


def test_the_front_matter_of_an_astro_page_is_code() -> None:
    text = "---\nimport A from './A'\nfunction title(n: string) {\n  return n\n}\n---\n<h1>{title('x')}</h1>\n"
    assert "title" in symbols("page.astro", text)


def test_tags_that_a_front_matter_speaks_of_move_no_lines() -> None:
    page = "---\n// <script>\nfunction go() {\n  return 2\n}\n---\n<script>\nfunction other() {\n  return 3\n}\n</script>\n"
    found = {draft.symbol: draft.start_line for draft in cut_code("a.astro", page).drafts if draft.symbol}
    assert found == {"go": 2, "other": 8}  # with the comment above


def test_a_mapper_in_one_line_is_no_thousands_of_chunks_that_each_hold_it() -> None:
    text = '<mapper namespace="a.B">' + '<select id="x">SELECT 1</select>' * 500 + "</mapper>"
    assert len(cut_code("m.xml", text).drafts) == 1
    assert symbols("m.xml", '<mapper namespace="a.B">\n<sql id="a">x</sql><sql id="b">y</sql>\n</mapper>') == [
        "B.a",
        "B.b",
    ]


def test_a_component_of_thousands_of_blocks_gives_no_thousands_of_chunks() -> None:
    assert len(cut_code("A.vue", "<style>\n" * 20_000).drafts) < 200


def test_a_component_in_one_long_line_is_cut_into_windows() -> None:
    assert cut_code("A.vue", "<script>" + "var a=1;" * 2000 + "</script>").warnings == (MINIFIED,)


MAPPER = """<mapper namespace="com.acme.OrderMapper">
  <sql id="columns">ID</sql>
  <select id="find">
    SELECT <include refid="columns"/> FROM ORDERS
  </select>
  <select id="find" databaseId="oracle">SELECT 1 FROM DUAL</select>
  <insert id="cut">
    INSERT INTO ORDERS
"""


def test_statements_of_a_mapper_call_their_fragments_and_equal_ones_stay_apart() -> None:
    drafts = cut_code("OrderMapper.xml", MAPPER).drafts
    assert [draft.symbol for draft in drafts] == [
        "OrderMapper.columns", "OrderMapper.find", "OrderMapper.find", "OrderMapper.cut",
    ]  # fmt: skip
    assert [site.name for site in drafts[1].call_sites] == ["columns"]
    assert len({draft.group for draft in drafts}) == 4
    assert drafts[3].end_line == 8  # nobody closed it


def test_other_xml_is_no_mapper_and_no_configuration() -> None:
    for text in (
        "<LinearLayout>\n  <TextView/>\n</LinearLayout>\n",
        "<mapper>\n  <select id='a'>x</select>\n</mapper>\n",
    ):
        assert {draft.kind for draft in cut_code("a.xml", text).drafts} == {"window"}


def test_resolvers_and_methods_in_objects_are_definitions() -> None:
    text = "export const resolvers = {\n  Query: {\n    order(_, { id }) {\n      const o = find(id)\n      return o\n    },\n  },\n  name: 'x',\n}\n"
    assert "resolvers.Query.order" in symbols("src/resolvers.js", text)
