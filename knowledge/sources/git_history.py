"""Who changed which lines when: blame and the history of a stretch of lines, at any commit that the repository has.

Both work on bare mirrors, take a bounded time, and give bounded, masked text. Nothing is written, and no working tree
is looked at. A copy with a shallow history says where it ends (`is_limit`) instead of blaming its oldest commit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from knowledge.errors import NotFound, ToolDown
from knowledge.masking import mask
from knowledge.sources.git_process import GitFailed, GitTimeout, run_git

BLAME_TIMEOUT_S = 10.0
LOG_TIMEOUT_S = 15.0
MAX_LINES = 400  # of one blame
MAX_COMMITS = 50
MAX_SUMMARY_CHARS = 200
MAX_NAME_CHARS = 80
_REVISION = re.compile(r"[0-9a-f]{7,64}")
_BLAME_HEAD = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Whatever the repository configures, nothing of it is run.
_SAFE = ("-c", "log.showSignature=false", "-c", "diff.external=", "-c", "core.pager=cat")
_FIELD = "\x1f"
_RECORD = "\x1e"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """A commit that changed lines: who, what, when."""

    commit: str  # full id
    author: str  # name, masked; never an address
    summary: str  # first line of the message, masked
    committed_at: datetime  # aware, UTC
    start_line: int | None = None  # of a blame: the lines of the asked file that stem from it, from 1, inclusive
    end_line: int | None = None
    permalink: str | None = None
    is_limit: bool = (
        False  # the copy's history ends here: the lines may be older, and another commit may have made them
    )


@runtime_checkable
class HasHistory(Protocol):
    """A source whose files have a git history."""

    def history_place(self, uri: str) -> tuple[Path, str]:
        """(repository folder, path within the repository) of a file. Raises NotFound, SourceMissing."""

    def permalink(self, uri: str, revision: str, start_line: int | None, end_line: int | None) -> str | None: ...


def blame_lines(source: HasHistory, uri: str, start_line: int, end_line: int, revision: str) -> tuple[LineChange, ...]:
    """Which commit each of these lines stems from, as seen at `revision`, in the order of the lines.

    Neighbouring lines of one commit are one entry; whitespace alone does not count as a change. At most 400 lines are
    looked at, lines beyond the end of the file are left out. Raises NotFound when the file or the commit is unknown,
    ToolDown when git takes longer than 10 s.
    """
    repository, path = source.history_place(uri)
    _check(uri, revision, start_line, end_line)
    last = min(end_line, start_line + MAX_LINES - 1)
    last = min(last, _count_lines(repository, revision, path, uri))
    if last < start_line:
        return ()
    output = _git(
        repository, BLAME_TIMEOUT_S, uri, revision,
        "blame", "--porcelain", "--encoding=UTF-8", "--no-textconv", "-w", f"-L{start_line},{last}",
        revision, "--", path,
    )  # fmt: skip
    shallow = _shallow_commits(repository)
    return tuple(
        _with_links(source, uri, revision, replace(change, is_limit=change.commit in shallow))
        for change in _read_blame(output)
    )


def log_of_lines(
    source: HasHistory,
    uri: str,
    start_line: int,
    end_line: int,
    revision: str,
    *,
    since: datetime | None = None,
    before: str | None = None,
    limit: int = 10,
) -> tuple[LineChange, ...]:
    """Commits that changed these lines, newest first, at most `limit` (50), followed back from `revision`.

    `since` leaves out what is older, `before` what that commit holds already. The permalink of an entry shows the
    commit's state of the file. Raises NotFound
    when the file or the commit is unknown, ToolDown when git takes longer than 15 s.
    """
    repository, path = source.history_place(uri)
    _check(uri, revision, start_line, end_line)
    if before is not None:
        _check(uri, before, start_line, end_line)
    last = min(end_line, _count_lines(repository, revision, path, uri))
    if last < start_line:
        return ()
    if before is not None and not _git(
        repository, LOG_TIMEOUT_S, uri, before, "rev-list", "--max-count=1", revision, f"^{before}"
    ):
        return ()  # `log -L` fails where it is given no commit at all
    count = max(1, min(limit, MAX_COMMITS))
    arguments = [
        "log",
        "--encoding=UTF-8",
        "--no-patch",
        "--no-textconv",
        "--no-ext-diff",
        f"--max-count={count}",
        f"--format={_RECORD}%H{_FIELD}%an{_FIELD}%ct{_FIELD}%s",
    ]
    if since is not None:
        arguments.append(f"--since={since.astimezone(UTC).isoformat()}")
    arguments += [f"-L{start_line},{last}:{path}", revision, *([f"^{before}"] if before is not None else [])]
    output = _git(repository, LOG_TIMEOUT_S, uri, revision, *arguments)
    shallow = _shallow_commits(repository)
    return tuple(
        _with_links(source, uri, None, replace(change, is_limit=change.commit in shallow))
        for change in _read_log(output)[:count]
    )


def line_at(source: HasHistory, uri: str, line: int, *, from_revision: str, to_revision: str) -> int | None:
    """Where `line` of a file at one commit stands at another one; None when it was changed or removed in between.

    Raises NotFound when the file is unknown at either commit, ToolDown.
    """
    repository, path = source.history_place(uri)
    _check(uri, from_revision, line, line)
    _check(uri, to_revision, line, line)
    for revision in (from_revision, to_revision):
        _count_lines(repository, revision, path, uri)
    output = _git(
        repository, BLAME_TIMEOUT_S, uri, from_revision,
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", from_revision, to_revision, "--", path,
    )  # fmt: skip
    shift = 0
    for match in _HUNK.finditer(output.decode("utf-8", "replace")):
        old_start, old_count = int(match[1]), int(match[2] or 1)
        new_count = int(match[4] or 1)
        first = old_start + (1 if old_count == 0 else 0)
        if line < first:
            break
        if line < first + old_count:
            return None
        shift += new_count - old_count
    return line + shift


def _shallow_commits(repository: Path) -> set[str]:
    """Commits at which a shallow copy ends; empty for a whole one."""
    try:
        folder = run_git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir")
        path = Path(folder.decode("utf-8", "surrogateescape").strip()) / "shallow"
        return set(path.read_text(encoding="ascii").split())
    except (GitFailed, OSError, UnicodeDecodeError):
        return set()


def _check(uri: str, revision: str, start_line: int, end_line: int) -> None:
    if not _REVISION.fullmatch(revision) or start_line < 1 or end_line < start_line:
        raise NotFound(
            f"{uri} has no lines {start_line} to {end_line} at {revision[:12]}: give lines from 1 and a commit"
        )


def _count_lines(repository: Path, revision: str, path: str, uri: str) -> int:
    content = _git(repository, BLAME_TIMEOUT_S, uri, revision, "cat-file", "blob", f"{revision}:{path}")
    return content.count(b"\n") + (0 if content.endswith(b"\n") or not content else 1)


def _git(repository: Path, timeout_s: float, uri: str, revision: str, *arguments: str) -> bytes:
    try:
        return run_git(repository, *_SAFE, *arguments, timeout_s=timeout_s)
    except GitTimeout as error:
        raise ToolDown(
            f"the history of {uri} takes longer than {timeout_s:.0f} s to read: ask for fewer lines"
        ) from error
    except GitFailed as error:
        raise NotFound(f"{uri} has no history at commit {revision[:12]}: {mask(str(error))}") from error


def _read_blame(output: bytes) -> list[LineChange]:
    """Entries of `git blame --porcelain`, neighbouring lines of one commit joined."""
    known: dict[str, dict[str, str]] = {}
    changes: list[LineChange] = []
    commit, line = "", 0
    for raw in output.decode("utf-8", "replace").split("\n"):
        if found := _BLAME_HEAD.fullmatch(raw):
            commit, line = found[1], int(found[3])
            known.setdefault(commit, {})
        elif raw.startswith("\t"):
            last = changes[-1] if changes else None
            start = (
                last.start_line if last is not None and last.commit == commit and last.end_line == line - 1 else line
            )
            if start != line:
                changes.pop()
            told = known[commit]
            changes.append(
                _change(
                    commit,
                    told.get("author", ""),
                    told.get("committer-time", "0"),
                    told.get("summary", ""),
                    start,
                    line,
                )
            )
        elif commit:
            name, _, value = raw.partition(" ")
            known[commit].setdefault(name, value)
    return changes


def _read_log(output: bytes) -> list[LineChange]:
    changes = []
    for record in output.decode("utf-8", "replace").split(_RECORD)[1:]:
        fields = record.strip("\n").split(_FIELD)
        if len(fields) >= 4:
            changes.append(_change(fields[0], fields[1], fields[2], fields[3].split("\n")[0], None, None))
    return changes


def _change(commit: str, author: str, time: str, summary: str, start: int | None, end: int | None) -> LineChange:
    return LineChange(
        commit=commit,
        author=mask(author)[:MAX_NAME_CHARS],
        summary=mask(summary)[:MAX_SUMMARY_CHARS],
        committed_at=datetime.fromtimestamp(int(time) if time.isdigit() else 0, tz=UTC),
        start_line=start,
        end_line=end,
    )


def _with_links(source: HasHistory, uri: str, revision: str | None, change: LineChange) -> LineChange:
    link = source.permalink(uri, revision or change.commit, change.start_line, change.end_line)
    return replace(change, permalink=link)
