"""What every source promises. A new kind of source adds its place to PLACES."""

from __future__ import annotations

import hashlib
import os
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from knowledge.errors import NotFound, SourceMissing
from knowledge.ports import Source
from knowledge.sources.files import FolderSource
from knowledge.sources.git import GitSource
from knowledge.sources.git_access import GitAccess
from knowledge.sources.git_remote import RemoteGitSource


class Place(Protocol):
    """A source whose content a test may change; `write` and `remove` take effect for the next `discover`."""

    def source(self, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Source: ...

    def missing(self) -> Source:
        """A source of the same kind whose place is not there."""

    def write(self, uri: str, content: bytes) -> None: ...

    def remove(self, uri: str) -> None: ...


class FolderPlace:
    def __init__(self, folder: Path) -> None:
        self._root = folder / "docs"
        self._root.mkdir()

    def source(self, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Source:
        return FolderSource("rules", self._root, include, exclude)

    def missing(self) -> Source:
        return FolderSource("rules", self._root / "nowhere")

    def write(self, uri: str, content: bytes) -> None:
        path = self._root / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def remove(self, uri: str) -> None:
        (self._root / uri).unlink()


class GitPlace:
    """A repository in which every change is committed at once."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "repository"
        self._root.mkdir()
        self._git("init", "-q", "-b", "main")

    def source(self, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Source:
        return GitSource("rules", self._root, None, include, exclude)

    def missing(self) -> Source:
        return GitSource("rules", self._root / "nowhere")

    def write(self, uri: str, content: bytes) -> None:
        path = self._root / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._commit()

    def remove(self, uri: str) -> None:
        (self._root / uri).unlink()
        self._commit()

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "change")

    def _git(self, *arguments: str) -> None:
        environment = {"PATH": os.defpath, "HOME": str(self._root), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-C", str(self._root), *arguments], env=environment, check=True, capture_output=True)


class RemotePlace(GitPlace):
    """The same behind an address, fetched before every discovery."""

    def source(self, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Source:
        return RemoteGitSource("rules", self._root.as_uri(), self._copy, GitAccess(), None, include, exclude)

    def missing(self) -> Source:
        return RemoteGitSource("rules", (self._root / "nowhere").as_uri(), self._copy, GitAccess())

    @property
    def _copy(self) -> Path:
        return self._root.parent / "mirrors" / "rules" / "repository.git"


PLACES: dict[str, Callable[[Path], Place]] = {"folder": FolderPlace, "git": GitPlace, "remote": RemotePlace}


@pytest.fixture(params=sorted(PLACES))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return PLACES[request.param](tmp_path)


def test_everything_is_discovered_sorted_by_uri(place: Place) -> None:
    place.write("b.md", b"two")
    place.write("deep/er/c.md", b"three!")
    place.write("a.md", b"one")
    found = place.source().discover()
    assert [item.uri for item in found.items] == ["a.md", "b.md", "deep/er/c.md"]
    assert [item.size_bytes for item in found.items] == [3, 3, 6]
    assert found.revision


def test_fetch_gives_the_bytes(place: Place) -> None:
    place.write("가나/규정.md", "내용".encode())
    source = place.source()
    source.discover()
    assert source.fetch("가나/규정.md") == "내용".encode()


def test_the_hash_changes_exactly_when_the_content_does(place: Place) -> None:
    place.write("a.md", b"one")
    place.write("b.md", b"two")
    source = place.source()
    before = {item.uri: item.content_hash for item in source.discover().items}
    place.write("a.md", b"One")
    after = {item.uri: item.content_hash for item in source.discover().items}
    assert after["a.md"] != before["a.md"]
    assert after["b.md"] == before["b.md"]
    place.write("a.md", b"one")
    assert {item.uri: item.content_hash for item in source.discover().items} == before


def test_the_revision_stays_while_nothing_changes(place: Place) -> None:
    place.write("a.md", b"one")
    source = place.source()
    first = source.discover()
    assert source.discover() == first
    place.write("a.md", b"two")
    assert source.discover().revision != first.revision


def test_what_is_gone_is_not_discovered_and_cannot_be_fetched(place: Place) -> None:
    place.write("a.md", b"one")
    place.write("b.md", b"two")
    source = place.source()
    source.discover()
    place.remove("a.md")
    assert [item.uri for item in source.discover().items] == ["b.md"]
    with pytest.raises(NotFound, match=r"a\.md"):
        source.fetch("a.md")


def test_nothing_outside_of_the_place_can_be_fetched(place: Place) -> None:
    place.write("a.md", b"one")
    source = place.source()
    source.discover()
    for uri in ("../a.md", "/etc/hostname", "x/../../a.md", ""):
        with pytest.raises(NotFound):
            source.fetch(uri)


def test_names_come_composed_whatever_form_they_are_stored_in(place: Place) -> None:
    name = unicodedata.normalize("NFD", "회비규정.md")
    place.write(name, b"one")
    source = place.source()
    assert [item.uri for item in source.discover().items] == ["회비규정.md"]
    assert source.fetch("회비규정.md") == b"one"


def test_include_and_exclude_follow_the_rules_of_gitignore(place: Place) -> None:
    for uri in ("keep/a.md", "keep/b.txt", "keep/old/c.md", "other/d.md"):
        place.write(uri, hashlib.sha256(uri.encode()).digest())
    found = place.source(include=("*.md",), exclude=("old/", "/other")).discover()
    assert [item.uri for item in found.items] == ["keep/a.md"]


def test_a_place_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(SourceMissing, match="nowhere"):
        place.missing().discover()
