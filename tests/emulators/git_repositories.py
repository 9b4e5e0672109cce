"""Repositories for tests, made quickly: hundreds of them in seconds, through the real git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}


def git(root: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """Standard output of a git command in `root`."""
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], env=ENVIRONMENT, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def make_bare(root: Path, *, branch: str = "main") -> Path:
    """An empty bare repository, written by hand: `git init` for hundreds of them takes too long."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (root / folder).mkdir(parents=True)
    (root / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (root / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    return root


def commit(
    root: Path,
    files: Mapping[str, str | bytes | None],
    *,
    branch: str = "main",
    onto: str | None = None,
    modes: Mapping[str, str] | None = None,
) -> str:
    """A commit on `branch` that writes `files` (None removes one); `onto` is its parent, "" none, None the branch's tip.

    Returns the commit.
    """
    reference = f"refs/heads/{branch}"
    lines = [b"reset " + reference.encode() + b"\n"] if onto == "" else []
    lines.append(b"commit " + reference.encode() + b"\ncommitter t <t@example.com> 1700000000 +0000\ndata 1\nc\n")
    if onto is None:
        if (root / reference).is_file() or _is_packed(root, reference):
            lines.append(b"from " + reference.encode() + b"^0\n")
    elif onto:
        lines.append(b"from " + onto.encode() + b"\n")
    for path, content in files.items():
        quoted = b'"' + path.encode("utf-8", "surrogateescape").replace(b'"', b'\\"') + b'"'
        if content is None:
            lines.append(b"D " + quoted + b"\n")
            continue
        body = content if isinstance(content, bytes) else content.encode()
        mode = (modes or {}).get(path, "100644")
        if mode == "160000":
            lines.append(b"M 160000 " + body + b" " + quoted + b"\n")
        else:
            lines.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted, len(body), body))
    git(root, "fast-import", "--quiet", "--force", stdin=b"".join(lines))
    return git(root, "rev-parse", reference)


def _is_packed(root: Path, reference: str) -> bool:
    packed = root / "packed-refs"
    return packed.is_file() and reference in packed.read_text()
