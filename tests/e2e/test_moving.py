"""Moving to another machine: the backup, the configuration and the same sources are all that is needed."""

from __future__ import annotations

import json

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi

QUESTION = "연차휴가는 며칠인가요?"


def found(haechi: Haechi) -> list[tuple[str, str]]:
    (line,) = haechi.run("search", "--json", QUESTION).stdout.splitlines()
    return [(result["document"], result["text"]) for result in json.loads(line)["results"]]


def test_a_backup_restored_on_another_machine_answers_the_same_and_embeds_nothing_again(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old = Haechi.with_company(tmp_path / "old", FOLLOWS_NOTHING)
    assert old.run("ingest").returncode == 0
    assert old.run("ask", QUESTION).returncode == 0
    assert old.run("backup", str(tmp_path / "moved.haechi")).returncode == 0

    new = Haechi.with_company(tmp_path / "new", FOLLOWS_NOTHING)  # the same files, elsewhere
    restored = new.run("restore", str(tmp_path / "moved.haechi"))
    assert restored.returncode == 0, restored.stderr
    assert found(new) == found(old)
    assert new.json("verify", "--json")["ok"]
    again = new.json("ingest", "--json", "--source", "rules")["sources"][0]
    assert (again["added"], again["updated"], again["embedded"]) == (0, 0, 0)
    asked = [json.loads(line)["question"] for line in new.run("export", "questions").stdout.splitlines()]
    assert asked == [QUESTION]
