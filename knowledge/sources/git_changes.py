"""What the commits of a repository say and which files they touched, up to the commit that is indexed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.masking import mask, mask_path
from knowledge.sources.git_process import GitFailed, run_git, run_git_bounded

MAX_CHANGES = 3_000  # of one repository, the latest ones
MAX_FILES = 20  # a commit that touches more says little about each of them
CHANGES_TIMEOUT_S = 60.0
MAX_LOG_BYTES = 32_000_000  # whatever messages and commits of very many files add up to
_MAX_MESSAGE_CHARS = 300
_MAX_MASKED_CHARS = 4_000  # masked as a whole before it is cut: half a secret is not known for one
# Whatever the repository configures, nothing of it is run.
_SAFE = ("-c", "log.showSignature=false", "-c", "diff.external=", "-c", "core.pager=cat", "-c", "diff.renameLimit=400",
         "-c", "log.showRoot=true", "-c", "log.follow=false")  # fmt: skip
_RECORD = re.compile("\0\0([0-9a-f]{40,64})\x1f")  # neither a message nor a path holds "\0"
_STATUS = re.compile(r"[ACDMRTUX]\d{0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One commit: the first line of its message, masked, and the files that it touched, by the names of today."""

    commit: str
    message: str
    paths: tuple[str, ...]  # relative to the folder that was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Commits, the earliest first, and what they renamed: former path -> path at the head."""

    changes: tuple[Change, ...]
    renamed: Mapping[str, str]
    goes_on: bool  # whether they follow what was read before; else they are all there is


def read_changes(repository: Path, folder: str, head: str, *, since: str | None) -> Changes:
    """What led to `head` within `folder` ("" for all), the latest `MAX_CHANGES`; only what is newer than `since`.

    Merges are left out, and so are commits of more than `MAX_FILES` files. A `since` that is not part of the history
    any more, after a force push, gives everything. Raises GitFailed, of it GitTimeout.
    """
    goes_on = since is not None and _is_ancestor(repository, since, head)
    commits = f"{since}..{head}" if goes_on else head
    try:
        output = _log(repository, folder, commits, "--find-renames")
    except GitFailed:  # a copy without all its files, or too many of them: what was renamed unchanged is told by name
        output = _log(repository, folder, commits, "--find-renames=100%")
    text = output.decode("utf-8", "replace")
    if len(output) >= MAX_LOG_BYTES:
        text = text[: text.rfind("\0\0")]  # without the commit in which it was cut
    changes, renamed = _parse(text)
    return Changes(changes=changes, renamed=renamed, goes_on=goes_on)


def _log(repository: Path, folder: str, commits: str, renames: str) -> bytes:
    return run_git_bounded(
        repository, *_SAFE,
        "log", "--encoding=UTF-8", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "-z",
        "--name-status", renames, f"--max-count={MAX_CHANGES}", "--format=%x00%x00%H%x1f%s%x00",
        *((f"--relative={folder}",) if folder else ()), commits, "--", *((folder,) if folder else ()),
        timeout_s=CHANGES_TIMEOUT_S, most_bytes=MAX_LOG_BYTES,
    )  # fmt: skip


def _is_ancestor(repository: Path, commit: str, head: str) -> bool:
    try:
        run_git(repository, "merge-base", "--is-ancestor", commit, head)
    except GitFailed:
        return False  # of another line of history, or not there any more
    return True


def _parse(output: str) -> tuple[tuple[Change, ...], dict[str, str]]:
    """The log from its latest commit back, so that every name can be followed to the one it has now."""
    today: dict[str, str] = {}
    changes: list[Change] = []
    pieces = _RECORD.split(output)
    for commit, record in zip(pieces[1::2], pieces[2::2], strict=True):
        message, _, listed = record.partition("\0")
        paths = _paths(listed, today)
        if 0 < len(paths) <= MAX_FILES:
            changes.append(
                Change(commit=commit, message=mask(message[:_MAX_MASKED_CHARS])[:_MAX_MESSAGE_CHARS], paths=paths)
            )
    return tuple(reversed(changes)), {former: now for former, now in today.items() if former != now}


def _paths(listed: str, today: dict[str, str]) -> tuple[str, ...]:
    """The files of one commit by today's names; what it renamed is added to `today`."""
    fields = [field for field in listed.split("\0") if field.strip("\n")]
    found: dict[str, None] = {}
    renamed: dict[str, str] = {}
    place = 0
    while place < len(fields):
        status = fields[place].strip("\n")
        if not _STATUS.fullmatch(status):
            break
        count = 2 if status[:1] in "RC" else 1
        names = [_shown(name) for name in fields[place + 1 : place + 1 + count]]
        place += 1 + count
        if not names:
            break
        now = today.get(names[-1], names[-1])
        found[now] = None
        if status[:1] == "R":
            renamed[names[0]] = now
        elif status[:1] == "A":
            renamed[names[0]] = names[0]  # before this commit the name meant another file, or none
    today |= renamed
    return tuple(found)


def _shown(path: str) -> str:
    return mask_path(unicodedata.normalize("NFC", path))
