"""Revisions in the catalog: columns that existing data gets, dates by regulation, the chunks of one revision."""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

from knowledge.catalog import Catalog
from knowledge.catalog_db import MIGRATIONS
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

RULE = "# {name}\n\n## 제1조(목적)\n이 규정은 여비를 정함을 목적으로 한다.\n\n## 제2조(숙박비)\n숙박비는 {won}원이다.\n\n## 부칙\n이 규정은 {day}부터 시행한다.\n"


def test_data_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite3"
    first = sqlite3.connect(path)
    first.executescript((MIGRATIONS / "001_catalog.sql").read_text(encoding="utf-8") + "PRAGMA user_version = 1;")
    first.execute("INSERT INTO sources (name, kind, active_generation) VALUES ('rules', 'documents', 1)")
    first.execute(
        "INSERT INTO documents (number, generation, id, uri, file_name, content_hash, revision, title, media_type, "
        "status, updated_at) VALUES (1, 1, 'd', 'a.md', 'a.md', 'h', 'r', 'a', 'text/markdown', 'indexed', '2026-01-01')"
    )
    first.execute(
        "INSERT INTO chunks (number, generation, id, document, ordinal, kind, part_of, tokens, text, index_text) "
        "VALUES (4294967296, 1, 'c', 1, 0, 'article', 'g', 1, 'text', 'text')"
    )
    first.commit()
    first.close()
    catalog = Catalog.open(path)
    chunk = catalog.visible_chunks(["c"], {"rules": 1})["c"]
    assert (chunk.family, chunk.locator.valid_from, chunk.locator.valid_until) == (None, None, None)
    assert catalog.revision_dates([("rules", "여비규정")], {"rules": 1}) == {}
    catalog.close()


def test_dates_come_by_regulation_and_chunks_by_revision(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("new.md", RULE.format(name="여비 규정", won="90,000", day="2024년 3월 1일"))
    shelf.write("old.md", RULE.format(name="여비규정(구)", won="70,000", day="2020년 1월 1일"))
    shelf.write("other.md", RULE.format(name="당직규정", won="50,000", day="2022년 5월 1일"))
    shelf.sync()
    catalog = shelf.knowledge._catalog
    generations = catalog.active_generations(EVERYTHING)
    days = catalog.revision_dates([("rules", "여비규정"), ("rules", "당직규정"), ("rules", "없는규정")], generations)
    assert days == {
        ("rules", "여비규정"): [date(2020, 1, 1), date(2024, 3, 1)],
        ("rules", "당직규정"): [date(2022, 5, 1)],
    }
    chunks = catalog.revision_chunks("rules", "여비규정", date(2020, 1, 1), generations)
    assert {chunk.locator.uri for chunk in chunks} == {"old.md"}
    assert any("70,000" in chunk.text for chunk in chunks)
    shelf.close()
