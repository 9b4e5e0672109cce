"""What commands print for people."""

from __future__ import annotations

import time

import pytest

from bot.cli_output import local_time, print_reports


@pytest.fixture
def seoul(monkeypatch):
    monkeypatch.setenv("TZ", "KST-9")  # as POSIX writes it: no file of zones is needed
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_moments_are_told_by_the_clock_of_this_machine(seoul):
    assert local_time("2026-11-30T09:34:31+00:00") == "2026-11-30 18:34 KST"
    assert local_time("2026-11-30T23:59:59.5+00:00") == "2026-12-01 08:59 KST"


def test_a_dry_run_tells_blocks_of_documents_and_none_of_code(capsys):
    def document(name, **read):
        return {"change": "added", "document": name, "warnings": (), "extractor": "code", **read}

    print_reports(
        [
            {
                "source": "shop", "dry_run": True, "added": 2, "updated": 0, "deleted": 0, "unchanged": 0, "failed": [],
                "chunks": 5, "duration_s": 0.1, "pending": 0, "problem": None,
                "documents": [
                    document("pay.py", format="py", blocks=0, chunks=3),
                    document("rules.md", format="md", blocks=4, chunks=2),
                ],
            }
        ]
    )  # fmt: skip
    shown = capsys.readouterr().out
    assert "pay.py  py by code, 3 chunks" in shown
    assert "rules.md  md by code, 4 blocks, 2 chunks" in shown
