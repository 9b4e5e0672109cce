"""One repository behind an address: what is followed, what survives, what is never shown. Runs the real git."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import KnowledgeError, SourceMissing, ToolDown
from knowledge.sources.git_access import GitAccess, has_credentials, scheme_of
from knowledge.sources.git_mirror import EmptyRepository, Mirror
from knowledge.sources.git_remote import RemoteGitSource
from tests.emulators.git_hosting import GitHosting, git_hosting
from tests.emulators.git_repositories import commit, git, make_bare

CODE = "def pay():\n    return 1\n"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    root = make_bare(tmp_path / "origin.git")
    commit(root, {"src/pay.py": CODE, "README.md": "# Shop\n"})
    return root


@pytest.fixture
def hosting(tmp_path: Path) -> Iterator[GitHosting]:
    with git_hosting(tmp_path / "host") as host:
        yield host


def remote(tmp_path: Path, url: str, access: GitAccess | None = None, branch: str | None = None) -> RemoteGitSource:
    return RemoteGitSource("shop", url, tmp_path / "mirrors" / "shop" / "repository.git", access or GitAccess(), branch)


def uris(source: RemoteGitSource) -> list[str]:
    return [item.uri for item in source.discover().items]


def test_only_the_followed_branch_is_fetched_into_a_private_folder(tmp_path: Path, origin: Path) -> None:
    old = git(origin, "rev-parse", "main")
    other = commit(origin, {"other.py": "x = 1\n"}, branch="other")
    git(origin, "tag", "v1", "main")
    new = commit(origin, {"src/pay.py": CODE * 2})
    source = remote(tmp_path, origin.as_uri())
    found = source.discover()
    assert found.revision == new
    assert [item.uri for item in found.items] == ["README.md", "src/pay.py"]
    assert source.fetch("src/pay.py") == (CODE * 2).encode()
    copy = tmp_path / "mirrors" / "shop" / "repository.git"
    assert git(copy, "for-each-ref", "--format=%(refname)") == "refs/haechi/followed"
    assert git(copy, "rev-list", "--all").split() == [new, old]  # the history tells who changed what
    assert other not in git(copy, "cat-file", "--batch-all-objects", "--batch-check")
    assert stat.S_IMODE((tmp_path / "mirrors").stat().st_mode) == 0o700
    assert not list(copy.glob("hooks/*"))
    source.close()


def test_nothing_is_fetched_while_the_remote_has_not_moved(tmp_path: Path, hosting: GitHosting) -> None:
    hosting.add("acme/shop", {"a.py": CODE}, private=False)
    source = remote(tmp_path, f"{hosting.url}/acme/shop.git")
    first = source.discover()
    hosting.asked.clear()
    assert source.discover() == first
    assert [asked.path.partition("?")[0] for asked in hosting.asked] == [
        "/acme/shop.git/info/refs",
        "/acme/shop.git/git-upload-pack",
    ]


def test_the_default_branch_is_followed_when_it_is_renamed(tmp_path: Path, origin: Path) -> None:
    source = remote(tmp_path, origin.as_uri())
    source.discover()
    git(origin, "branch", "-m", "main", "trunk")
    git(origin, "symbolic-ref", "HEAD", "refs/heads/trunk")
    new = commit(origin, {"new.py": CODE}, branch="trunk")
    assert source.discover().revision == new
    assert "new.py" in uris(source)


def test_force_pushes_and_rewritten_histories_are_followed(tmp_path: Path, origin: Path) -> None:
    source = remote(tmp_path, origin.as_uri())
    first = source.discover().revision
    commit(origin, {"later.py": CODE})
    source.discover()
    rewritten = commit(origin, {"only.py": CODE}, onto="")
    found = source.discover()
    assert found.revision == rewritten
    assert [item.uri for item in found.items] == ["only.py"]
    git(origin, "update-ref", "refs/heads/main", first)
    assert source.discover().revision == first


def test_a_deleted_branch_is_named_and_what_was_fetched_stays(tmp_path: Path, origin: Path) -> None:
    commit(origin, {"r.py": CODE}, branch="release")
    source = remote(tmp_path, origin.as_uri(), branch="release")
    assert uris(source) == ["r.py"]
    git(origin, "update-ref", "-d", "refs/heads/release")
    with pytest.raises(SourceMissing, match=r"no branch release any more.*correct `branch`"):
        source.discover()
    assert source.fetch("r.py") == CODE.encode()


def test_a_tag_can_be_followed(tmp_path: Path, origin: Path) -> None:
    git(origin, "-c", "user.name=t", "-c", "user.email=t@example.com", "tag", "-a", "v1", "-m", "one", "main")
    tagged = git(origin, "rev-parse", "v1^{commit}")
    commit(origin, {"later.py": CODE})
    source = remote(tmp_path, origin.as_uri(), branch="v1")
    assert source.discover().revision == tagged
    assert source.discover().revision == tagged


def test_an_empty_repository_is_named(tmp_path: Path) -> None:
    empty = make_bare(tmp_path / "empty.git")
    with pytest.raises(EmptyRepository, match="no commits yet"):
        remote(tmp_path, empty.as_uri()).discover()


def test_a_shallow_remote_a_worktree_and_one_of_another_owner_can_be_fetched(tmp_path: Path, origin: Path) -> None:
    new = commit(origin, {"b.py": CODE})
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(shallow))
    if os.getuid() == 0:
        for path in (shallow, *shallow.rglob("*")):
            os.lchown(path, 12345, 12345)
    source = remote(tmp_path, shallow.as_uri())
    assert source.discover().revision == new
    git(origin, "update-ref", "refs/heads/main", commit(origin, {"c.py": CODE}))
    git(shallow, "-c", "safe.directory=*", "fetch", "--quiet", "--depth=1", "origin")
    git(shallow, "reset", "--quiet", "--hard", "origin/main")
    assert "c.py" in uris(source)


def test_a_copy_that_is_damaged_or_locked_is_made_anew(tmp_path: Path, origin: Path) -> None:
    source = remote(tmp_path, origin.as_uri())
    source.discover()
    copy = tmp_path / "mirrors" / "shop" / "repository.git"
    (copy / "shallow.lock").touch()
    new = commit(origin, {"b.py": CODE})
    assert source.discover().revision == new
    shutil.rmtree(copy / "objects")
    source.close()
    assert uris(source) == ["README.md", "b.py", "src/pay.py"]


def test_the_repository_around_the_data_folder_is_left_alone(tmp_path: Path, origin: Path) -> None:
    outer = tmp_path / "work"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "config", "url.file:///nowhere/.insteadOf", origin.as_uri())
    source = RemoteGitSource("shop", origin.as_uri(), outer / "data" / "mirrors" / "shop" / "r.git", GitAccess())
    assert uris(source) == ["README.md", "src/pay.py"]
    assert git(outer, "for-each-ref") == ""


# --- credentials ----------------------------------------------------------------------------------


def test_a_token_logs_in_and_stands_in_no_argument_file_or_error(tmp_path: Path, hosting: GitHosting) -> None:
    token = hosting.allow("tok" + os.urandom(12).hex())
    hosting.add("acme/shop", {"a.py": CODE})
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(process.read_bytes().decode("utf-8", "replace").replace("\0", " "))
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    source = remote(tmp_path, f"{hosting.url}/acme/shop.git", GitAccess(token=lambda: token))
    try:
        assert uris(source) == ["a.py"]
    finally:
        done.set()
        watcher.join()
    assert any("ls-remote" in line or "fetch" in line for line in seen)
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert not [line for line in seen if token in line or encoded in line]
    for path in (tmp_path / "mirrors").rglob("*"):
        if path.is_file():
            assert token.encode() not in path.read_bytes(), path
    hosting.tokens.clear()
    with pytest.raises(SourceMissing, match="valid token: check token_env or token_file") as raised:
        source.discover()
    assert token not in str(raised.value)
    assert token not in repr(GitAccess(token=lambda: token))


def test_a_token_is_not_carried_to_another_server(tmp_path: Path, hosting: GitHosting) -> None:
    token = hosting.allow("tok" + os.urandom(12).hex())
    with git_hosting(tmp_path / "other") as other:
        other.allow(token)
        other.add("acme/shop", {"a.py": CODE})
        hosting.moved["acme/shop"] = "acme/shop"
        elsewhere, hosting.url = hosting.url, other.url
        with pytest.raises(SourceMissing):
            remote(tmp_path, f"{elsewhere}/acme/shop.git", GitAccess(token=lambda: token)).discover()
        assert [asked for asked in other.asked if "Authorization" in asked.headers] == []


def test_a_renamed_repository_is_followed_on_its_server(tmp_path: Path, hosting: GitHosting) -> None:
    token = hosting.allow("t" * 30)
    hosting.add("acme/shop", {"a.py": CODE})
    source = remote(tmp_path, f"{hosting.url}/acme/shop.git", GitAccess(token=lambda: token))
    source.discover()
    hosting.rename("acme/shop", "acme/store")
    commit(hosting.repositories["acme/store"].root, {"b.py": CODE})
    assert uris(source) == ["a.py", "b.py"]


@pytest.mark.parametrize(("state", "kind", "words"), [
    ("missing", SourceMissing, "credentials may not see it"),
    ("broken", ToolDown, "cannot be reached now"),
    ("nobody", ToolDown, "cannot be reached now"),
])  # fmt: skip
def test_what_is_wrong_with_a_remote_is_said(
    tmp_path: Path, hosting: GitHosting, state: str, kind: type[KnowledgeError], words: str
) -> None:
    token = hosting.allow("t" * 30)
    if state == "broken":
        hosting.add("acme/shop", {"a.py": CODE}, broken=True)
    url = "http://127.0.0.1:9/acme/shop.git" if state == "nobody" else f"{hosting.url}/acme/shop.git"
    with pytest.raises(kind, match=words):
        remote(tmp_path, url, GitAccess(token=lambda: token)).discover()


def test_a_fetch_ends_when_it_is_asked_to_stop(tmp_path: Path, hosting: GitHosting) -> None:
    hosting.add("acme/shop", {"a.py": CODE}, private=False)
    mirror = Mirror(tmp_path / "m" / "shop.git", f"{hosting.url}/acme/shop.git", GitAccess())
    from knowledge.sources import git_mirror

    original, git_mirror._POLL_S = git_mirror._POLL_S, 0.0
    try:
        with pytest.raises(ToolDown, match="asked to stop"):
            mirror.update(should_stop=lambda: True)
    finally:
        git_mirror._POLL_S = original
    assert not (tmp_path / "m" / "shop.git").exists()


# --- ssh ------------------------------------------------------------------------------------------


def test_ssh_gets_its_key_and_refuses_unknown_servers(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "ssh.log"
    fake = programs / "ssh"
    fake.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {log}\nenv >> {log}\nfor last; do :; done\n"
        f"exec git -c safe.directory=* upload-pack {origin}\n"
    )
    fake.chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere/agent")
    access = GitAccess(ssh_key_file=tmp_path / "my key", known_hosts_file=tmp_path / "known hosts")
    source = remote(tmp_path, "git@git.example.com:acme/shop.git", access)
    assert uris(source) == ["README.md", "src/pay.py"]
    said = log.read_text().splitlines()
    assert said[said.index("-i") + 1] == str(tmp_path / "my key")
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "ForwardAgent=no"):
        assert option in said
    assert f'UserKnownHostsFile="{tmp_path / "known hosts"}"' in said
    assert said[said.index("-F") + 1] == os.devnull
    assert "git@git.example.com" in said
    assert not [line for line in said if "agent" in line and "Forward" not in line]
    assert source.permalink("src/pay.py", "a" * 40, 1, 2) is None


@pytest.mark.parametrize(("words", "remedy"), [
    ("Host key verification failed.", "known_hosts_file"),
    ("git@h: Permission denied (publickey).", "ssh_key_file"),
    ("WARNING: UNPROTECTED PRIVATE KEY FILE!", "chmod 600"),
    ("ssh: Could not resolve hostname h: Name or service not known", "cannot be reached now"),
])  # fmt: skip
def test_what_ssh_says_becomes_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, remedy: str
) -> None:
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 255\n")
    fake.chmod(0o700)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(KnowledgeError, match=remedy):
        remote(tmp_path, "ssh://git@git.example.com:2222/acme/shop.git").discover()


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [
    "ext::sh -c id", "ext::sh%20-c", "--upload-pack=id", "-x@host:path", "git://host/x.git", "ssh://-oProxyCommand=id/x",
    "git@-oProxyCommand=id:x", "https://", "file://host/x", "host", "http://[x/y", "https://h:x/y", "a b@h:x",
    "git@host:-x", "",
])  # fmt: skip
def test_addresses_that_could_run_something_are_refused(url: str, tmp_path: Path) -> None:
    assert scheme_of(url) is None
    with pytest.raises(SourceMissing):
        remote(tmp_path, url).discover()


@pytest.mark.parametrize(("url", "scheme"), [
    ("https://github.com/a/b.git", "https"), ("http://127.0.0.1:80/a/b", "http"), ("git@github.com:a/b.git", "ssh"),
    ("ssh://git@host:22/a/b", "ssh"), ("file:///srv/git/a.git", "file"), ("host:a/b.git", "ssh"),
])  # fmt: skip
def test_addresses_that_are_taken(url: str, scheme: str) -> None:
    assert scheme_of(url) == scheme


def test_credentials_in_an_address_are_seen() -> None:
    for url in ("https://me:pw@host/x", "https://token@host/x", "ssh://git:pw@host/x"):
        assert has_credentials(url)
    for url in ("ssh://git@host/x", "git@host:x", "https://host/x"):
        assert not has_credentials(url)
