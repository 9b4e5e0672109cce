"""GitSource reads commits, never the working tree, and says why it leaves a file out. Runs the real git."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import NotFound, SourceMissing, UnreadableFile
from knowledge.sources import git_filters as filters
from knowledge.sources.git import GitSource
from knowledge.sources.git_links import build_permalink, web_address


def git(root: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.defpath,
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def write(root: Path, path: str, content: str | bytes) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, "src/pay.py", "def pay():\n    return 1\n")
    write(root, "README.md", "# Shop\n\nPays.\n")
    commit(root)
    return root


@pytest.fixture
def source(repo: Path) -> Iterator[GitSource]:
    source = GitSource("shop", repo)
    yield source
    source.close()


def uris(source: GitSource) -> set[str]:
    return {item.uri for item in source.discover().items}


def reasons(source: GitSource) -> dict[str, str]:
    return {item.uri: item.reason for item in source.discover().skipped}


def test_the_commit_is_read_and_not_the_working_tree(repo: Path, source: GitSource) -> None:
    write(repo, "src/pay.py", "def pay():\n    return 2\n")
    write(repo, "src/new.py", "x = 1\n")
    found = source.discover()
    assert {item.uri for item in found.items} == {"src/pay.py", "README.md"}
    assert found.revision == git(repo, "rev-parse", "HEAD")
    assert source.fetch("src/pay.py") == b"def pay():\n    return 1\n"


def test_the_hash_is_the_blob_id_and_survives_a_rename(repo: Path, source: GitSource) -> None:
    before = {item.uri: item.content_hash for item in source.discover().items}
    assert before["src/pay.py"] == git(repo, "rev-parse", "HEAD:src/pay.py")
    git(repo, "mv", "src/pay.py", "src/Pay.py")
    commit(repo)
    after = {item.uri: item.content_hash for item in source.discover().items}
    assert after == {"README.md": before["README.md"], "src/Pay.py": before["src/pay.py"]}


def test_another_branch_and_a_tag_can_be_followed(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "v1")
    git(repo, "checkout", "-q", "-b", "feature/next")
    write(repo, "src/next.py", "y = 2\n")
    second = commit(repo)
    git(repo, "checkout", "-q", "main")
    for branch, revision in (("feature/next", second), ("v1", first), (None, first)):
        source = GitSource("shop", repo, branch=branch)
        assert source.discover().revision == revision
        source.close()


def test_a_detached_checkout_a_worktree_and_a_bare_clone_work(repo: Path, tmp_path: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "HEAD")
    git(repo, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"))
    git(repo, "checkout", "-q", "--detach", "HEAD")
    for root in (repo, tmp_path / "tree", tmp_path / "bare.git"):
        source = GitSource("shop", root)
        assert source.discover().revision == head
        assert source.fetch("README.md").startswith(b"# Shop")
        source.close()


def test_a_folder_inside_a_working_tree_is_a_source_of_its_own(repo: Path) -> None:
    source = GitSource("shop", repo / "src")
    found = source.discover()
    assert [item.uri for item in found.items] == ["pay.py"]
    assert source.fetch("pay.py") == source.file_at("pay.py", found.revision)
    source.close()


def test_a_file_of_an_older_commit_can_be_shown(repo: Path, source: GitSource) -> None:
    old = git(repo, "rev-parse", "HEAD")
    write(repo, "src/pay.py", "def pay():\n    return 2\n")
    new = commit(repo)
    source.discover()
    assert source.file_at("src/pay.py", old).endswith(b"return 1\n")
    assert source.file_at("src/pay.py", new).endswith(b"return 2\n")
    for uri, revision in (
        ("src/gone.py", new),
        ("src/pay.py", "0" * 40),
        ("src/pay.py", "HEAD"),
        ("src", new),
        ("a\nb", new),
    ):
        with pytest.raises(NotFound):
            source.file_at(uri, revision)


def test_files_that_help_nobody_are_skipped_with_their_reason(repo: Path, source: GitSource) -> None:
    expected = {
        ".env": filters.SECRET_FILE,
        "deploy/.env.production": filters.SECRET_FILE,
        "keys/server.pem": filters.SECRET_FILE,
        "id_rsa": filters.SECRET_FILE,
        "config/credentials.json": filters.SECRET_FILE,
        "web/node_modules/a/index.js": filters.VENDORED,
        "vendor/lib/a.go": filters.VENDORED,
        "dist/app.js": filters.VENDORED,
        ".venv/lib/a.py": filters.VENDORED,
        "package-lock.json": filters.LOCK_FILE,
        "go.sum": filters.LOCK_FILE,
        "web/app.min.js": filters.MINIFIED,
        "api/user.pb.go": filters.GENERATED,
        "img/logo.png": filters.BINARY,
        "data/list.csv": filters.DATA_FILE,
        "app/src/main/res/values-fr/strings.xml": filters.TRANSLATION,
        "app/src/main/res/drawable/icon.xml": filters.DRAWING,
    }
    for path in expected:
        write(repo, path, "a = 1\n")
    contents: dict[str, tuple[bytes, str]] = {
        "tool": (b"\x7fELF\0\0\1", filters.BINARY),
        "src/bundle.ts": (b"var a=1;" * 2000, filters.MINIFIED),
        "src/big.py": (b"x = 1\n" * 100_000, filters.TOO_LARGE),
        "src/empty.py": (b"\n\n", filters.EMPTY),
        "src/gen.go": (b"// Code generated by protoc. DO NOT EDIT.\npackage a\n", filters.GENERATED),
        "src/model.bin.txt": (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
            filters.LFS_POINTER,
        ),
    }
    for path, (content, reason) in contents.items():
        write(repo, path, content)
        expected[path] = reason
    kept = {
        ".env.example",
        "src/main/vendor/Vendor.java",
        "src/main/build/Build.java",
        "app/src/main/res/values/strings.xml",
    }
    for path in kept:
        write(repo, path, "a = 1\n")
    commit(repo)
    assert reasons(source) == expected
    assert uris(source) == {"src/pay.py", "README.md", *kept}
    assert Counter(expected.values())[filters.SECRET_FILE] == 5


def test_gitattributes_mark_files_as_generated_vendored_or_neither(repo: Path, source: GitSource) -> None:
    write(
        repo,
        ".gitattributes",
        "api/*.py linguist-generated\ncopied/*.py linguist-vendored=true\ndist/** -linguist-vendored\n",
    )
    write(repo, "api/.gitattributes", "hand.py linguist-generated=false\n")
    for path in ("api/a.py", "api/hand.py", "copied/b.py", "dist/own.py"):
        write(repo, path, "a = 1\n")
    commit(repo)
    assert reasons(source) == {"api/a.py": filters.GENERATED, "copied/b.py": filters.VENDORED}
    assert {"api/hand.py", "dist/own.py"} <= uris(source)


def test_links_and_submodules_are_skipped(repo: Path, source: GitSource) -> None:
    (repo / "link.py").symlink_to("/etc/passwd")
    git(repo, "add", "-A")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(repo, 'rev-parse', 'HEAD')},libs/other")
    git(repo, "commit", "-q", "-m", "link")
    assert reasons(source) == {"link.py": filters.SYMLINK, "libs/other": filters.SUBMODULE}


def test_patterns_choose_files_and_never_secrets(repo: Path) -> None:
    for path in ("src/a.ts", "src/a.test.ts", "docs/b.ts", ".env"):
        write(repo, path, "a = 1\n")
    commit(repo)
    source = GitSource("shop", repo, include=("src/", ".env"), exclude=("*.test.ts",))
    assert uris(source) == {"src/pay.py", "src/a.ts"}
    found = reasons(source)
    assert found[".env"] == filters.SECRET_FILE
    assert found["docs/b.ts"] == found["src/a.test.ts"] == filters.PATTERNS
    with pytest.raises(NotFound):
        source.file_at(".env", git(repo, "rev-parse", "HEAD"))
    source.close()


def test_korean_odd_and_undecodable_names(repo: Path, source: GitSource) -> None:
    decomposed = unicodedata.normalize("NFD", "문서/결제 안내.md")
    write(repo, decomposed, "# 결제\n")
    write(repo, 'src/with "quotes" and\ttab.py', "a = 1\n")
    (repo / os.fsdecode(b"src/\xb0\xe1.py")).write_text("a = 1\n")
    commit(repo)
    found = source.discover()
    uri = unicodedata.normalize("NFC", decomposed)
    assert uri in {item.uri for item in found.items}
    assert source.fetch(uri) == source.file_at(uri, found.revision) == "# 결제\n".encode()
    assert 'src/with "quotes" and\ttab.py' in {item.uri for item in found.items}
    assert [item.reason for item in found.skipped] == [filters.BAD_NAME]


def test_a_case_only_rename_is_one_file(repo: Path, source: GitSource) -> None:
    source.discover()
    git(repo, "mv", "README.md", "readme.md")
    commit(repo)
    assert uris(source) == {"readme.md", "src/pay.py"}


@pytest.mark.parametrize("state", ["missing", "plain", "empty", "branch"])
def test_what_is_missing_is_said_with_what_to_do(state: str, tmp_path: Path, repo: Path) -> None:
    root, branch, words = tmp_path / "there", None, "correct `path`"
    if state != "missing":
        root.mkdir()
    if state == "empty":
        git(root, "init", "-q")
        words = "commit something"
    if state == "branch":
        root, branch, words = repo, "release", "correct `branch`"
    source = GitSource("shop", root, branch=branch)
    with pytest.raises(SourceMissing, match=words):
        source.discover()


def test_git_missing_is_said(repo: Path, source: GitSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(SourceMissing, match="install it"):
        source.discover()


def test_settings_of_the_repository_and_of_its_user_run_nothing(
    repo: Path, source: GitSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external"):
        git(repo, "config", key, f"touch {trap}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert uris(source) == {"src/pay.py", "README.md"}
    source.fetch("README.md")
    assert not trap.exists()


def test_a_closed_source_reads_again_and_leaves_no_process(source: GitSource) -> None:
    source.discover()
    source.close()
    source.close()
    assert source.fetch("README.md").startswith(b"# Shop")


def test_permalinks_show_lines_at_the_commit_and_no_credentials(repo: Path, source: GitSource) -> None:
    head = source.discover().revision
    assert source.permalink("src/pay.py", head, 1, 2) is None
    git(repo, "remote", "add", "origin", "https://bot:s3cret@github.com/acme/shop.git")
    assert source.permalink("src/pay.py", head, 1, 2) == f"https://github.com/acme/shop/blob/{head}/src/pay.py#L1-L2"
    inner = GitSource("shop", repo / "src")
    assert inner.permalink("pay.py", head, 2, 2) == f"https://github.com/acme/shop/blob/{head}/src/pay.py#L2"
    inner.close()


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:acme/shop.git", "https://github.com/acme/shop/blob/abc/a%20b.py#L3-L5"),
        (
            "ssh://git@gitlab.example.com:2222/group/sub/shop.git",
            "https://gitlab.example.com/group/sub/shop/-/blob/abc/a%20b.py#L3-5",
        ),
        ("https://x:y@bitbucket.org/acme/shop", "https://bitbucket.org/acme/shop/src/abc/a%20b.py#lines-3:5"),
        (
            "http://gitea.example.com:3000/acme/shop.git",
            "http://gitea.example.com:3000/acme/shop/src/commit/abc/a%20b.py#L3-L5",
        ),
    ],
)
def test_addresses_of_known_hosts(remote: str, address: str) -> None:
    web = web_address(remote)
    assert web is not None
    assert build_permalink(web, "a b.py", "abc", 3, 5) == address


@pytest.mark.parametrize(
    "remote",
    ["/srv/git/shop.git", "../shop", "https://git.example.com/a/b", "file:///github.com/a/b", "", "C:\\github.com\\x"],
)
def test_other_remotes_have_no_address(remote: str) -> None:
    assert web_address(remote) is None


def test_a_name_with_a_line_break_is_skipped_with_a_reason_and_shown_in_one_line(repo: Path, source: GitSource) -> None:
    write(repo, "src/two\nlines.py", "a = 1\n")
    write(repo, "src/esc\x1b[31m.py", "a = 1\n")
    commit(repo)
    assert uris(source) == {"src/pay.py", "README.md"}
    assert reasons(source) == {
        "src/two\\nlines.py": filters.CONTROL_NAME,
        "src/esc\\x1b[31m.py": filters.CONTROL_NAME,
    }


def damage(root: Path, object_id: str, content: bytes | None) -> None:
    """Overwrites a loose object, or removes it."""
    path = root / ".git" / "objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


@pytest.mark.parametrize("content", [b"no zlib", b"", None])
def test_a_damaged_object_fails_its_own_file_and_names_the_source(
    content: bytes | None, repo: Path, source: GitSource
) -> None:
    damage(repo, git(repo, "rev-parse", "HEAD:src/pay.py"), content)
    found = source.discover()
    assert {item.uri for item in found.items} == {"src/pay.py", "README.md"}
    assert source.fetch("README.md").startswith(b"# Shop")
    with pytest.raises(UnreadableFile, match=r"src/pay\.py of source shop .* `git fsck`"):
        source.fetch("src/pay.py")
    assert source.fetch("README.md").startswith(b"# Shop")


def test_a_damaged_gitattributes_fails_alone(repo: Path, source: GitSource) -> None:
    write(repo, ".gitattributes", "src/* linguist-vendored\n")
    commit(repo)
    damage(repo, git(repo, "rev-parse", "HEAD:.gitattributes"), b"no zlib")
    assert "src/pay.py" in uris(source)
    with pytest.raises(UnreadableFile, match="git fsck"):
        source.fetch(".gitattributes")


@pytest.mark.parametrize("name", ["HEAD", "HEAD^{tree}", "HEAD:src"])
def test_a_damaged_commit_or_folder_fails_the_source(name: str, repo: Path, source: GitSource) -> None:
    damage(repo, git(repo, "rev-parse", name), b"no zlib")
    with pytest.raises(SourceMissing, match=r"source shop.*`git fsck`"):
        source.discover()
