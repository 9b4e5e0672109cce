"""Backup and restore while the bot runs and syncs: what comes back verifies and answers the same."""

from __future__ import annotations

import json

import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi, interrupt

QUESTION = "연차휴가는 며칠인가요?"


def results(haechi: Haechi) -> list[tuple[str, str]]:
    return [(r["document"], r["text"]) for r in haechi.json("search", "--json", QUESTION)["results"]]


def test_a_backup_taken_under_load_restores_to_the_same_answers(haechi):
    haechi.configure(FOLLOWS_NOTHING)  # new.md still lies there after the restore: a bot that looks would index it
    process, _ = haechi.start_bot()
    assert haechi.run("ingest").returncode == 0
    before = results(haechi)
    load = haechi.start("ingest", "--force")
    backup = haechi.json("backup", "state.backup", "--json")
    load.communicate(timeout=120)
    assert backup["files"] >= 3
    (haechi.folder / "rules" / "new.md").write_text(
        "# 새 규정\n\n## 제1조(연차휴가)\n연차휴가는 99일로 한다.\n", encoding="utf-8"
    )
    assert haechi.run("ingest").returncode == 0
    assert results(haechi) != before
    restored = haechi.json("restore", "state.backup", "--json")
    assert restored["ok"]
    assert results(haechi) == before
    assert haechi.json("verify", "--check-only", "--json")["ok"]
    assert [row["action"] for row in map(json.loads, haechi.run("export", "audit").stdout.splitlines())] == ["restore"]
    interrupt(process)
    assert process.returncode == 0
    assert not (haechi.folder / "data" / "restoring").exists()


@pytest.mark.parametrize("kept", [0, 5000])
def test_a_broken_backup_changes_nothing(indexed, kept):
    before = results(indexed)
    assert indexed.run("backup", "whole.backup").returncode == 0
    (indexed.folder / "cut.backup").write_bytes((indexed.folder / "whole.backup").read_bytes()[:kept])
    run = indexed.run("restore", "cut.backup")
    assert run.returncode == 1
    assert "backup" in run.stderr
    assert results(indexed) == before


def test_a_person_is_erased_and_the_erasure_stays_in_the_audit(indexed):
    assert indexed.run("ask", QUESTION).returncode == 0
    assert indexed.run("export", "questions").stdout.count(QUESTION) >= 1
    assert indexed.json("erase", "cli:cli", "--json")["erased"]["questions"] >= 1
    assert QUESTION not in indexed.run("export", "questions").stdout
    assert "cli:cli" in indexed.run("export", "audit").stdout
    assert indexed.run("erase", "nobody").returncode == 1
