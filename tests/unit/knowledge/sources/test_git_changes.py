"""What commits say and which files they touched: names of today, bounded, masked, on odd copies. Runs the real git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from knowledge.sources.git_changes import MAX_FILES, Change, read_changes
from knowledge.sources.git_process import GitFailed, GitTimeout
from tests.unit.knowledge.sources.test_git import commit, git, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, "src/pay.py", "def pay():\n    return 1\n" * 5)
    write(root, "src/cart.py", "def add():\n    return 2\n" * 5)
    commit(root, "start")
    return root


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")


def said(changes: tuple[Change, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(change.message, change.paths) for change in changes]


def test_commits_come_earliest_first_with_their_files(repo: Path) -> None:
    write(repo, "src/pay.py", "def pay():\n    return 3\n")
    commit(repo, "fix: amounts are rounded")
    assert said(read_changes(repo, "", head(repo), since=None).changes) == [
        ("start", ("src/cart.py", "src/pay.py")),
        ("fix: amounts are rounded", ("src/pay.py",)),
    ]


def test_a_file_goes_by_the_name_that_it_has_at_the_head(repo: Path) -> None:
    git(repo, "mv", "src/pay.py", "src/payment.py")
    commit(repo, "rename")
    git(repo, "mv", "src/payment.py", "src/billing.py")
    commit(repo, "rename again")
    found = read_changes(repo, "", head(repo), since=None)
    assert [change.paths for change in found.changes] == [
        ("src/cart.py", "src/billing.py"),
        ("src/billing.py",),
        ("src/billing.py",),
    ]


def test_a_name_that_is_used_again_means_another_file(repo: Path) -> None:
    git(repo, "mv", "src/pay.py", "src/billing.py")
    commit(repo, "rename")
    write(repo, "src/pay.py", "something = 'else'\n")
    commit(repo, "a new one of the old name")
    found = read_changes(repo, "", head(repo), since=None)
    assert [change.paths for change in found.changes] == [
        ("src/cart.py", "src/billing.py"),
        ("src/billing.py",),
        ("src/pay.py",),
    ]


def test_only_what_is_newer_is_read_again_and_what_it_renamed_is_told(repo: Path) -> None:
    before = head(repo)
    git(repo, "mv", "src/pay.py", "src/billing.py")
    commit(repo, "rename")
    found = read_changes(repo, "", head(repo), since=before)
    assert (said(found.changes), found.goes_on) == ([("rename", ("src/billing.py",))], True)
    assert found.renamed == {"src/pay.py": "src/billing.py"}
    assert read_changes(repo, "", before, since=before).changes == ()


@pytest.mark.parametrize("since", ["force-pushed", "0" * 40])
def test_after_a_force_push_everything_is_read(repo: Path, since: str) -> None:
    write(repo, "src/pay.py", "left = 'behind'\n")
    commit(repo, "on a branch that is given up")
    given_up = head(repo)
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    write(repo, "src/cart.py", "other = 1\n")
    commit(repo, "instead")
    found = read_changes(repo, "", head(repo), since=given_up if since == "force-pushed" else since)
    assert not found.goes_on
    assert [change.message for change in found.changes] == ["start", "instead"]


def test_what_lies_ahead_of_the_indexed_commit_is_not_read(repo: Path) -> None:
    indexed = head(repo)
    write(repo, "src/pay.py", "later = 1\n")
    commit(repo, "later")
    assert [change.message for change in read_changes(repo, "", indexed, since=None).changes] == ["start"]


def test_a_folder_sees_its_own_files_and_commits_alone(repo: Path) -> None:
    write(repo, "docs/a.md", "text\n")
    commit(repo, "only documents")
    write(repo, "docs/b.md", "text\n")
    write(repo, "src/pay.py", "both = 1\n")
    commit(repo, "both")
    assert said(read_changes(repo, "src/", head(repo), since=None).changes) == [
        ("start", ("cart.py", "pay.py")),
        ("both", ("pay.py",)),
    ]


def test_merges_and_commits_of_very_many_files_say_nothing(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    write(repo, "src/side.py", "a = 1\n")
    commit(repo, "side")
    git(repo, "checkout", "-q", "main")
    for number in range(MAX_FILES + 1):
        write(repo, f"many/{number}.py", f"a = {number}\n")
    commit(repo, "everything is formatted")
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    messages = {change.message for change in read_changes(repo, "", head(repo), since=None).changes}
    assert messages == {"start", "side"}


def test_secrets_in_messages_and_names_are_masked(repo: Path) -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    write(repo, f"src/{token}.py", "a = 1\n")
    commit(repo, f"use {token} for now")
    *_, change = read_changes(repo, "", head(repo), since=None).changes
    assert token not in change.message + "".join(change.paths)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("i18n.logOutputEncoding", "EUC-KR"),
        ("log.showRoot", "false"),
        ("log.follow", "true"),
        ("format.pretty", "oneline"),
        ("color.ui", "always"),
    ],
)
def test_how_a_repository_shows_its_log_to_people_changes_nothing(repo: Path, key: str, value: str) -> None:
    git(repo, "mv", "src/pay.py", "src/billing.py")
    commit(repo, "환불이 두 번 기록되는 문제")
    before = read_changes(repo, "src", head(repo), since=None)
    git(repo, "config", key, value)
    assert read_changes(repo, "src", head(repo), since=None) == before
    assert said(before.changes)[-1][0] == "환불이 두 번 기록되는 문제"


def test_a_secret_at_the_place_where_a_long_message_is_cut_leaves_no_half_of_itself(repo: Path) -> None:
    write(repo, "src/pay.py", "x = 1\n")
    commit(repo, f"{'word ' * 56}ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    (message,) = [change.message for change in read_changes(repo, "", head(repo), since=None).changes[1:]]
    assert message.startswith("word word")
    assert "ghp_" not in message
    assert len(message) <= 300


@pytest.mark.parametrize("mark", ["\x1e", "\x1f", "\x1e" + "b" * 40 + "\x1f", "\x1f\x1e" + "b" * 40 + "\x1f"])
def test_a_message_that_looks_like_the_marks_of_the_log_is_one_commit(repo: Path, mark: str) -> None:
    write(repo, "src/pay.py", "x = 1\n")
    commit(repo, f"rounding {mark} of amounts")
    latest = read_changes(repo, "", head(repo), since=None).changes[-1]
    assert (latest.commit, latest.paths) == (head(repo), ("src/pay.py",))
    assert latest.message.startswith("rounding ")
    assert latest.message.endswith(" of amounts")


def test_a_log_that_is_too_long_gives_its_latest_commits(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        write(repo, "src/pay.py", f"x = {number}\n")
        commit(repo, f"change {number} {'long ' * 200}")
    monkeypatch.setattr("knowledge.sources.git_changes.MAX_LOG_BYTES", 3500)
    found = read_changes(repo, "", head(repo), since=None).changes
    assert [change.message[:8] for change in found] == ["change 3", "change 4", "change 5"]
    assert all(change.paths == ("src/pay.py",) for change in found)


def test_a_log_that_takes_too_long_is_ended(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.sources.git_changes.CHANGES_TIMEOUT_S", 0.1)
    latest = head(repo)
    (repo / ".git" / "config").unlink()
    os.mkfifo(repo / ".git" / "config")  # whoever reads it waits for ever
    with pytest.raises(GitTimeout, match=r"git log took longer"):
        read_changes(repo, "", latest, since=None)


def test_control_characters_in_messages_and_korean_names_do_no_harm(repo: Path) -> None:
    write(repo, "src/결제 모듈.py", "a = 1\n")
    commit(repo, "결제 오류 수정 \x1e\x1fx")
    write(repo, "src/pay.py", "b = 2\n")
    commit(repo, "after it")
    changes = read_changes(repo, "", head(repo), since=None).changes
    assert said(changes)[-1] == ("after it", ("src/pay.py",))
    write(repo, "src/결제 모듈.py", "a = 2\n")
    commit(repo, "결제 오류 수정")
    assert said(read_changes(repo, "", head(repo), since=None).changes)[-1] == ("결제 오류 수정", ("src/결제 모듈.py",))


def test_a_copy_that_lacks_the_content_of_old_files_still_tells_its_history(repo: Path) -> None:
    write(repo, "src/pay.py", "def pay():\n    return 1\n" * 5 + "more = 1\n")
    lost = git(repo, "hash-object", "-w", "src/pay.py")
    commit(repo, "grows")
    git(repo, "mv", "src/pay.py", "src/billing.py")
    write(repo, "src/billing.py", "def pay():\n    return 1\n" * 5 + "less = 1\n")
    commit(repo, "renamed and changed")
    blob = repo / ".git" / "objects" / lost[:2] / lost[2:]
    blob.chmod(0o600)
    blob.unlink()
    changes = read_changes(repo, "", head(repo), since=None).changes
    assert [change.message for change in changes] == ["start", "grows", "renamed and changed"]


def test_a_repository_that_cannot_be_read_fails_openly(repo: Path) -> None:
    commit_id = head(repo)
    shutil.rmtree(repo / ".git" / "objects")
    with pytest.raises(GitFailed):
        read_changes(repo, "", commit_id, since=None)
