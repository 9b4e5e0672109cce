"""What commits say is kept up to the indexed commit, found by its words, and gone with its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge import ingest_changes
from knowledge.analysis import analyze_query
from knowledge.index import changes_fts
from knowledge.index.changes_fts import FtsChangeIndex
from knowledge.types import RemoteConfig, SourceConfig
from tests.emulators.git_hosting import git_hosting
from tests.emulators.git_repositories import commit as commit_bare
from tests.unit.knowledge.shelf import EVERYTHING, Shelf
from tests.unit.knowledge.sources.test_git import commit, git, write

PAY = "def pay(amount):\n    '''Takes the amount.'''\n    return amount\n"


class Company:
    """A repository with some history, and the knowledge over it."""

    def __init__(self, place: Path) -> None:
        self.root = place / "shop"
        self.root.mkdir(parents=True)
        git(self.root, "init", "-q", "-b", "main")
        for name in ("pay", "cart", "login"):
            write(self.root, f"src/{name}.py", PAY.replace("pay", name))
        commit(self.root, "start")
        self.change("src/pay.py", "fix: refunds are booked twice when the gateway answers late")
        self.change("src/cart.py", "coupons are lost after signing in")
        self.shelf = Shelf(place / "company")
        self.shelf.sources = (SourceConfig(name="shop", kind="repository", path=self.root),)

    def change(self, path: str, message: str) -> None:
        old = (self.root / path).read_text(encoding="utf-8")
        write(self.root, path, old + f"# {len(old)}\n")
        commit(self.root, message)

    def found(self, question: str, *sources: str) -> list[str]:
        """Files by what commits say of the question, best first."""
        index = FtsChangeIndex(self.shelf.knowledge._catalog)
        scores = index.changed_files(analyze_query(question), sources=sources or ("shop",))
        assert not scores or max(scores.values()) == 1.0
        return [uri for (_, uri), _ in sorted(scores.items(), key=lambda pair: -pair[1])]

    def rows(self, table: str) -> int:
        with self.shelf.knowledge._catalog.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.fixture
def company(tmp_path: Path) -> Iterator[Company]:
    company = Company(tmp_path)
    yield company
    company.shelf.close()


def test_files_are_found_by_what_their_commits_say(company: Company) -> None:
    company.shelf.sync()
    assert company.found("refund was booked twice") == ["src/pay.py"]
    assert company.found("my coupon is lost") == ["src/cart.py"]
    assert company.found("nothing of the kind") == []
    assert company.found("refund", "another") == []


def test_a_sync_without_new_commits_writes_nothing_and_a_new_commit_is_added(company: Company) -> None:
    company.shelf.sync()
    before = company.rows("change_words")
    company.shelf.sync()
    assert company.rows("change_words") == before
    company.change("src/login.py", "sessions end after a minute")
    assert company.found("session ends") == []
    company.shelf.sync()
    assert company.found("session ends") == ["src/login.py"]
    assert company.rows("change_words") == before + 1


def test_a_renamed_file_keeps_its_history(company: Company) -> None:
    company.shelf.sync()
    git(company.root, "mv", "src/pay.py", "src/billing.py")
    commit(company.root, "a better name")
    company.shelf.sync()
    assert company.found("refund was booked twice") == ["src/billing.py"]


def test_after_a_force_push_what_was_given_up_is_gone(company: Company) -> None:
    company.shelf.sync()
    git(company.root, "reset", "-q", "--hard", "HEAD~1")
    company.change("src/login.py", "passwords are checked")
    company.shelf.sync()
    assert company.found("coupon lost") == []
    assert company.found("password check") == ["src/login.py"]
    assert company.found("refund booked twice") == ["src/pay.py"]


def test_the_history_of_a_source_that_is_not_configured_any_more_is_removed(company: Company, tmp_path: Path) -> None:
    company.shelf.sync()
    company.shelf.close()
    company.shelf.sources = (SourceConfig(name="rules", kind="documents", path=company.shelf.folder),)
    company.shelf.write("a.md", "# A\n\nText.\n")
    company.shelf.knowledge.sync()
    assert [company.rows(table) for table in ("change_logs", "change_words", "change_files")] == [0, 0, 0]


def test_a_history_that_cannot_be_read_stops_nothing(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ingest_changes.read_changes

    def fails(*arguments: object, **named: object) -> object:
        raise ingest_changes.GitFailed("fatal: bad object")

    monkeypatch.setattr(ingest_changes, "read_changes", fails)
    report = company.shelf.sync()
    assert (report.added, report.failed, report.problem) == (3, (), None)
    assert company.found("refund booked twice") == []
    monkeypatch.setattr(ingest_changes, "read_changes", real)
    company.shelf.sync()
    assert company.found("refund booked twice") == ["src/pay.py"]


def test_only_the_latest_commits_are_kept(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    company.shelf.sync()
    monkeypatch.setattr(ingest_changes, "MAX_CHANGES", 3)
    company.change("src/login.py", "sessions end after a minute")
    company.shelf.sync()
    assert company.rows("change_words") == 3
    assert company.found("refund booked twice") == ["src/pay.py"]
    company.change("src/login.py", "tokens are renewed")
    company.shelf.sync()
    assert company.found("refund booked twice") == []
    assert company.rows("change_files") == 3


def test_other_words_for_the_index_read_everything_again(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    company.shelf.sync()
    before = company.rows("change_words")
    monkeypatch.setattr(ingest_changes, "CHANGES_VERSION", "another")
    company.shelf.sync()
    assert (company.rows("change_words"), company.rows("change_logs")) == (before, 1)


def test_each_repository_of_an_organisation_has_its_own_history(tmp_path: Path) -> None:
    with git_hosting(tmp_path / "host") as host:
        for name in ("shop", "pay"):
            host.add(f"acme/{name}", {"src/total.py": PAY})
        commit_bare(host.repositories["acme/pay"].root, {"src/total.py": PAY + "# rounding\n"})
        company = Company(tmp_path / "company")
        remote = RemoteConfig(github="acme", base_url=host.url, token=host.allow("t" * 30))
        company.shelf.sources = (SourceConfig(name="acme", kind="repository", remote=remote),)
        company.shelf.sync()
        assert company.rows("change_logs") == 2
        with company.shelf.knowledge._catalog.reading() as connection:
            uris = {row[0] for row in connection.execute("SELECT uri FROM change_files")}
        assert uris == {"shop/src/total.py", "pay/src/total.py"}
        company.shelf.close()


def test_search_prefers_the_file_whose_commits_speak_of_the_fault(company: Company) -> None:
    company.shelf.sync()
    evidence = company.shelf.knowledge.search("amount is booked twice", scope=EVERYTHING, kind="code")
    assert evidence.chunks[0].chunk.locator.uri == "src/pay.py"
    assert evidence.chunks[0].features["changed"] == 1.0


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE change_words_data SET block = x'0102030405' WHERE id > 10",
        "DELETE FROM change_files",
        "DELETE FROM change_words WHERE rowid IN (SELECT max(rowid) FROM change_words)",
        "DELETE FROM change_logs",
    ],
)
def test_what_is_damaged_of_commits_is_found_mended_and_read_again(company: Company, damage: str) -> None:
    company.shelf.sync()
    maintenance = company.shelf.knowledge.maintenance
    assert maintenance.verify(repair=False).findings == []
    with company.shelf.knowledge._catalog.transaction() as connection:
        connection.execute(damage)
    assert [finding.part for finding in maintenance.verify(repair=False).findings] == ["commits"]
    assert maintenance.verify(repair=True).ok
    assert maintenance.verify(repair=False).findings == []
    company.shelf.sync()
    assert company.found("refund was booked twice") == ["src/pay.py"]
    assert company.found("my coupon is lost") == ["src/cart.py"]


def test_of_common_and_rare_words_the_rare_ones_choose_within_the_budget(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        company.change("src/login.py", f"release {number} of the shop")
    company.change("src/cart.py", "release notes of the shop mention vouchers")
    company.shelf.sync()
    monkeypatch.setattr(changes_fts, "MATCH_BUDGET", 3)
    assert company.found("release of the shop with vouchers") == ["src/cart.py"]
    monkeypatch.setattr(changes_fts, "RAREST_BUDGET", 3)
    assert company.found("shop release") == []


def test_of_a_file_that_is_part_of_every_change_only_the_most_similar_ones_count(company: Company) -> None:
    for number in range(8):
        company.change("src/login.py", f"vouchers, step {number}")
    company.change("src/cart.py", "vouchers are refused when expired")
    company.shelf.sync()
    assert company.found("an expired voucher is refused")[0] == "src/cart.py"
