"""Links to lines at a commit: every host, every form of remote, odd names."""

from __future__ import annotations

import pytest

from knowledge.sources.git_links import HostKind, build_permalink, web_address

COMMIT = "c" * 40


@pytest.mark.parametrize(("remote", "kind", "link"), [
    ("https://github.com/acme/shop.git", None, f"https://github.com/acme/shop/blob/{COMMIT}/src/a.py#L3-L9"),
    ("git@github.com:acme/shop.git", None, f"https://github.com/acme/shop/blob/{COMMIT}/src/a.py#L3-L9"),
    ("ssh://git@ssh.github.com:443/acme/shop.git", None, f"https://github.com/acme/shop/blob/{COMMIT}/src/a.py#L3-L9"),
    ("https://x:y@ghe.acme.com/acme/shop", None, f"https://ghe.acme.com/acme/shop/blob/{COMMIT}/src/a.py#L3-L9"),
    ("git@gitlab.com:a/b/c/shop.git", None, f"https://gitlab.com/a/b/c/shop/-/blob/{COMMIT}/src/a.py#L3-9"),
    ("ssh://git@git.acme.com:2222/a/shop.git", "gitlab", f"https://git.acme.com/a/shop/-/blob/{COMMIT}/src/a.py#L3-9"),
    ("https://git.acme.com:8443/a/shop", "gitea", f"https://git.acme.com:8443/a/shop/src/commit/{COMMIT}/src/a.py#L3-L9"),
    ("https://codeberg.org/a/shop", None, f"https://codeberg.org/a/shop/src/commit/{COMMIT}/src/a.py#L3-L9"),
    ("git@bitbucket.org:a/shop.git", None, f"https://bitbucket.org/a/shop/src/{COMMIT}/src/a.py#lines-3:9"),
    ("https://bitbucket.acme.com/scm/pay/shop.git", None,
     f"https://bitbucket.acme.com/projects/PAY/repos/shop/browse/src/a.py?at={COMMIT}#3-9"),
    ("ssh://git@stash.acme.com:7999/~mina/shop.git", None,
     f"https://stash.acme.com/users/mina/repos/shop/browse/src/a.py?at={COMMIT}#3-9"),
])  # fmt: skip
def test_lines_at_a_commit(remote: str, kind: HostKind | None, link: str) -> None:
    web = web_address(remote, kind=kind)
    assert web is not None
    assert build_permalink(web, "src/a.py", COMMIT, 3, 9, kind=kind) == link


@pytest.mark.parametrize(("path", "quoted"), [
    ("src/한글 파일.py", "src/%ED%95%9C%EA%B8%80%20%ED%8C%8C%EC%9D%BC.py"),
    ("a#b?c%d.py", "a%23b%3Fc%25d.py"),
    ("app/[id]/(group)/page.tsx", "app/%5Bid%5D/%28group%29/page.tsx"),
])  # fmt: skip
def test_special_characters_of_a_path_are_escaped(path: str, quoted: str) -> None:
    assert (
        build_permalink("https://github.com/a/b", path, COMMIT, 1, 1)
        == f"https://github.com/a/b/blob/{COMMIT}/{quoted}#L1"
    )


def test_rendered_files_are_linked_as_text_so_that_lines_can_be_reached() -> None:
    link = build_permalink("https://github.com/a/b", "README.md", COMMIT, 4, 8)
    assert link == f"https://github.com/a/b/blob/{COMMIT}/README.md?plain=1#L4-L8"
    assert build_permalink("https://github.com/a/b", "README.md", COMMIT, None, None).endswith("/README.md")


def test_a_host_without_pages_has_no_link() -> None:
    for remote in ("/srv/git/a.git", "file:///srv/a.git", "git@git.acme.com:a/b.git", "https://[x", "host:a b"):
        assert web_address(remote) is None
