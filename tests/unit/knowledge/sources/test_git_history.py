"""Blame and the history of lines: at any commit, on bare and shallow copies, bounded and masked. Runs the real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.errors import NotFound
from knowledge.sources.git import GitSource
from knowledge.sources.git_history import blame_lines, line_at, log_of_lines
from tests.unit.knowledge.sources.test_git import commit, git, write

NINE = [f"line {n}\n" for n in range(1, 10)]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", "https://github.com/acme/shop.git")
    write(root, "src/pay.py", "".join(NINE))
    write(root, ".env", "TOKEN=abc\n")
    commit(root, "first")
    write(root, "src/pay.py", "".join(["new 1\n", "new 2\n", *NINE[:4], "changed 5\n", *NINE[5:]]))
    commit(root, "second: mail bob@example.com the token ghp_0123456789abcdefghijABCDEFGHIJ012345")
    return root


def test_neighbouring_lines_of_one_commit_are_one_entry_with_a_link(repo: Path) -> None:
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    source = GitSource("shop", repo)
    changes = blame_lines(source, "src/pay.py", 1, 99, head)
    assert [(c.start_line, c.end_line, c.commit) for c in changes] == [
        (1, 2, head), (3, 6, first), (7, 7, head), (8, 11, first),
    ]  # fmt: skip
    assert changes[1].permalink == f"https://github.com/acme/shop/blob/{head}/src/pay.py#L3-L6"
    assert changes[0].author == "a"
    assert "ghp_" not in changes[0].summary
    assert changes[0].committed_at.tzinfo is not None


def test_messages_are_read_whatever_encoding_the_repository_shows_them_in(repo: Path) -> None:
    write(repo, "src/pay.py", "환불 = 1\n")
    commit(repo, "환불 오류")
    git(repo, "config", "i18n.logOutputEncoding", "EUC-KR")
    source, head = GitSource("shop", repo), git(repo, "rev-parse", "HEAD")
    assert [change.summary for change in blame_lines(source, "src/pay.py", 1, 1, head)] == ["환불 오류"]
    assert log_of_lines(source, "src/pay.py", 1, 1, head)[0].summary == "환불 오류"


def test_an_older_commit_is_seen_as_it_was(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD~1")
    (change,) = blame_lines(GitSource("shop", repo), "src/pay.py", 5, 5, first)
    assert change.commit == first
    assert blame_lines(GitSource("shop", repo), "src/pay.py", 50, 60, first) == ()


def test_the_history_of_lines_is_newest_first_and_bounded(repo: Path) -> None:
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    source = GitSource("shop", repo)
    assert [c.commit for c in log_of_lines(source, "src/pay.py", 7, 7, head)] == [head, first]
    assert [c.commit for c in log_of_lines(source, "src/pay.py", 3, 6, head)] == [first]
    assert len(log_of_lines(source, "src/pay.py", 7, 7, head, limit=1)) == 1


def test_a_bare_copy_and_a_folder_within_the_repository_do(repo: Path, tmp_path: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    bare = tmp_path / "shop.git"
    git(repo, "clone", "-q", "--bare", str(repo), str(bare))
    assert len(blame_lines(GitSource("shop", bare), "src/pay.py", 1, 11, head)) == 4
    assert len(blame_lines(GitSource("shop", repo / "src"), "pay.py", 1, 11, head)) == 4


def test_a_shallow_copy_says_where_its_history_ends(repo: Path, tmp_path: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    copy = tmp_path / "copy.git"
    git(repo, "clone", "-q", "--bare", "--depth=1", f"file://{repo}", str(copy))
    (change,) = blame_lines(GitSource("shop", copy), "src/pay.py", 3, 6, head)
    assert change.is_limit
    assert not any(c.is_limit for c in blame_lines(GitSource("shop", repo), "src/pay.py", 1, 11, head))


def test_a_line_is_followed_from_one_commit_to_another(repo: Path) -> None:
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    source = GitSource("shop", repo)

    def follow(line: int) -> int | None:
        return line_at(source, "src/pay.py", line, from_revision=first, to_revision=head)

    assert [follow(line) for line in (1, 4, 5, 6, 9)] == [3, 6, None, 8, 11]
    assert line_at(source, "src/pay.py", 7, from_revision=head, to_revision=first) is None
    assert line_at(source, "src/pay.py", 8, from_revision=head, to_revision=first) == 6


@pytest.mark.parametrize(
    ("uri", "first", "last", "revision"),
    [
        ("src/none.py", 1, 2, "HEAD~0"),
        (".env", 1, 1, "HEAD~0"),
        ("../secret", 1, 1, "HEAD~0"),
        ("src/pay.py", 0, 2, "HEAD~0"),
        ("src/pay.py", 3, 2, "HEAD~0"),
        ("src/pay.py", 1, 2, "--output=x"),
        ("src/pay.py", 1, 2, "f" * 40),
    ],
)
def test_what_is_not_there_or_never_shown_is_not_found(
    repo: Path, uri: str, first: int, last: int, revision: str
) -> None:
    at = git(repo, "rev-parse", "HEAD") if revision == "HEAD~0" else revision
    with pytest.raises(NotFound):
        blame_lines(GitSource("shop", repo), uri, first, last, at)
    with pytest.raises(NotFound):
        log_of_lines(GitSource("shop", repo), uri, first, last, at)


def test_what_a_repository_configures_is_not_run(repo: Path, tmp_path: Path) -> None:
    write(repo, ".gitattributes", "*.py diff=py\n")
    head = commit(repo, "attributes")
    mark = tmp_path / "ran"
    for key in ("diff.external", "diff.py.textconv", "core.fsmonitor", "gpg.program", "core.pager"):
        git(repo, "config", key, f"touch {mark};:")
    git(repo, "config", "log.showSignature", "true")
    source = GitSource("shop", repo)
    assert blame_lines(source, "src/pay.py", 1, 3, head)
    assert log_of_lines(source, "src/pay.py", 1, 3, head)
    assert line_at(source, "src/pay.py", 1, from_revision=head, to_revision=head) == 1
    assert not mark.exists()
