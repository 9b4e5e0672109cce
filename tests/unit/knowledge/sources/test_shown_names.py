"""Names of files that hold secrets or personal numbers: shown masked, read all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from knowledge.ports import Source
from knowledge.sources.files import FolderSource
from knowledge.sources.git import GitSource
from knowledge.sources.shown_names import shown_name
from tests.emulators.git_repositories import commit, make_bare

TOKEN = "gh" + "p_" + "aB3" * 13
OTHER = "gh" + "p_" + "cD4" * 13
NUMBERS = ("900101-1234568", "910202-2345675")


def in_git(folder: Path, files: dict[str, str]) -> Source:
    root = make_bare(folder / "origin.git")
    commit(root, files)
    return GitSource("shop", root)


def in_folder(folder: Path, files: dict[str, str]) -> Source:
    for name, text in files.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return FolderSource("shop", folder / "docs")


@pytest.mark.parametrize("make", [in_git, in_folder])
def test_a_secret_in_a_name_is_masked_and_the_file_is_read(
    tmp_path: Path, make: Callable[[Path, dict[str, str]], Source]
) -> None:
    files = {f"keys/{TOKEN}.txt": "first", f"keys/{OTHER}.txt": "second", f"{TOKEN}/{NUMBERS[0]}.md": "third"}
    source = make(tmp_path, files)
    found = source.discover()
    shown = {item.uri: source.fetch(item.uri).decode() for item in found.items}
    assert sorted(shown.values()) == ["first", "second", "third"]
    assert set(shown) == {
        "keys/[masked:github-token].txt",
        "keys/[masked:github-token] (2).txt",
        "[masked:github-token]/[masked:resident-number].md",
    }
    assert not any(secret in repr(found) for secret in (TOKEN, OTHER, *NUMBERS))


@pytest.mark.parametrize("make", [in_git, in_folder])
def test_a_masked_name_is_found_again_without_a_discovery(
    tmp_path: Path, make: Callable[[Path, dict[str, str]], Source]
) -> None:
    make(tmp_path, {f"keys/{TOKEN}.txt": "first", f"keys/{OTHER}.txt": "second"})
    again = FolderSource("shop", tmp_path / "docs") if make is in_folder else GitSource("shop", tmp_path / "origin.git")
    assert again.fetch("keys/[masked:github-token].txt") != again.fetch("keys/[masked:github-token] (2).txt")


def test_an_older_commit_of_a_masked_name_is_shown_and_has_no_link(tmp_path: Path) -> None:
    root = make_bare(tmp_path / "origin.git")
    old = commit(root, {f"{TOKEN}.py": "x = 1\n"})
    commit(root, {f"{TOKEN}.py": "x = 2\n"})
    (root / "config").write_text((root / "config").read_text() + '[remote "origin"]\n\turl = https://github.com/a/b\n')
    source = GitSource("shop", root)
    assert source.file_at("[masked:github-token].py", old) == b"x = 1\n"
    assert source.permalink("[masked:github-token].py", old, 1, 1) is None
    assert source.permalink("other.py", old, 1, 1) is not None
    source.close()


def test_skipped_files_are_named_without_their_secret(tmp_path: Path) -> None:
    source = in_git(tmp_path, {f"{TOKEN}.env": "A=1\n", f"{TOKEN}.png": "x", "\u202egnp.py": "x = 1\n"})
    found = source.discover()
    assert found.items == ()
    assert len(found.skipped) == 3
    assert TOKEN not in repr(found)


def test_names_without_secrets_stay_and_equal_ones_are_numbered() -> None:
    assert shown_name("src/a b.py", ()) == "src/a b.py"
    taken = {"[masked:github-token]", "[masked:github-token] (2)"}
    assert shown_name(TOKEN, taken) == "[masked:github-token] (3)"
