"""What several tests of the bot share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.store import Store
from knowledge.api import Knowledge
from tests.unit.bot.company import open_company, write_company
from tests.unit.bot.times import Clock


@dataclass(frozen=True)
class Company:
    folder: Path
    knowledge: Knowledge
    clock: Clock


@pytest.fixture(scope="session")
def company(tmp_path_factory):
    """The indexed company; tests only read it."""
    folder = tmp_path_factory.mktemp("company")
    write_company(folder)
    clock = Clock()
    with open_company(folder, clock=clock) as knowledge:
        reports = knowledge.sync()
        assert all(not report.failed and report.problem is None for report in reports)
        yield Company(folder, knowledge, clock)


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
    yield store
    store.close()
