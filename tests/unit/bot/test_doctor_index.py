"""What `haechi doctor` says of the index, the backup and the running bot, from the form that `status` gives."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest

from bot import doctor_index
from bot.doctor_index import check_index
from bot.settings import load_settings
from tests.unit.bot.company import write_company

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def source(**changes):
    fields = {
        "source": "rules", "documents": 12, "chunks": 90, "pending": {"e5": 0}, "failed": [], "building": None,
        "last_sync": "2026-03-02T08:57:00+00:00", "problem": None,
        "schedule": {"when": "every 10m", "next": "2026-03-02T09:07:00+00:00", "events": "on"},
    }  # fmt: skip
    return {**fields, **changes}


def part(name, state="ok", detail="", since="2026-03-02T06:00:00+00:00"):
    return {"name": name, "state": state, "detail": detail, "since": since}


@pytest.fixture
def said(tmp_path, monkeypatch):
    """The checks for a form, by name."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "catalog.sqlite3").touch()
    (tmp_path / "haechi.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n', encoding="utf-8"
    )
    settings = load_settings(tmp_path / "haechi.toml")
    monkeypatch.setattr(doctor_index, "utc_now", lambda: NOW)

    def checks(**form):
        whole = {"running": True, "last_backup": None, "sources": [source()], "tools": [], "platforms": [], **form}

        async def ask(_):
            return whole

        monkeypatch.setattr(doctor_index, "_ask", ask)
        return {check.name: check for check in check_index(settings)}

    return checks


def test_a_source_shows_its_age_what_is_missing_the_new_generation_and_the_next_sync(said):
    building = {"documents": 3, "of_documents": 12}
    failed = [{"document": "a.hwp", "reason": "encrypted"}]
    check = said(sources=[source(pending={"e5": 7}, failed=failed, building=building)])["index rules"]
    assert check.ok
    assert check.detail == (
        "12 documents, 90 chunks, synced 3 min ago, 7 vectors missing still, 1 could not be read,"
        " a new generation at 3/12 documents, next sync at 2026-03-02T09:07:00+00:00"
    )


def test_a_source_whose_sync_failed_is_a_problem_with_its_reason(said):
    check = said(sources=[source(problem="The folder /docs does not exist")])["index rules"]
    assert not check.ok
    assert "The folder /docs does not exist" in check.detail


@pytest.mark.parametrize(
    ("last", "detail", "reminded"),
    [
        (None, "none yet", True),
        ("2026-03-02T03:00:00+00:00", "6 h ago, at 2026-03-02T03:00:00+00:00", False),
        ("2026-02-20T03:00:00+00:00", "10 d ago, at 2026-02-20T03:00:00+00:00", True),
    ],
)
def test_the_age_of_the_last_backup_is_told_and_is_never_a_problem(said, last, detail, reminded):
    check = said(last_backup=last)["backup"]
    assert (check.ok, check.detail, bool(check.remedy)) == (True, detail, reminded)


def test_a_part_of_the_running_bot_that_is_not_well_is_told_with_since_when(said):
    platforms = [part("slack", "down", "the token was revoked")]
    checks = said(tools=[part("catalog"), part("mcp"), part("source:rules", "degraded")], platforms=platforms)
    assert checks["bot"].detail == "running; well: catalog, mcp"
    slack = checks["bot: slack"]
    assert not slack.ok
    assert slack.detail == "down since 2026-03-02T06:00:00+00:00 (3 h ago): the token was revoked"
    assert "bot: source:rules" not in checks  # the index's own line tells it


def test_without_a_running_bot_there_is_no_since(said):
    assert said(running=False, platforms=[])["bot"].detail == "not running"


def test_a_folder_without_an_index_is_no_problem(said, tmp_path):
    shutil.rmtree(tmp_path / "data")
    checks = said()
    assert (checks["index"].ok, list(checks)) == (True, ["index"])


def test_a_damaged_index_is_a_problem_and_says_what_to_do(tmp_path):
    write_company(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "catalog.sqlite3").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    (tmp_path / "haechi.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "rules"\n'
        '[embedding]\ndocuments = ["hash"]\n',
        encoding="utf-8",
    )
    (check,) = check_index(load_settings(tmp_path / "haechi.toml"))
    assert not check.ok
    assert check.remedy
