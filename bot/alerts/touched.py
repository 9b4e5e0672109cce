"""Which commits touched the functions of a fault since the deployment before, and which wrote the line that failed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from bot.alerts.alert import Deploy
from bot.alerts.deploys import Deployments
from bot.alerts.evidence import Change, Library, Piece
from knowledge.api import LineChange
from knowledge.errors import KnowledgeError, NotFound
from knowledge.types import Locator, Scope

MAX_PLACES = 3  # functions that are looked at
MAX_CHANGES = 5
MAX_OLD_CHANGES = 3  # where nothing says which of them are new


def changes_of(
    pieces: Sequence[Piece],
    scope: Scope,
    library: Library,
    *,
    deploys: Deployments,
    degraded: list[str],
    since: datetime | None = None,
) -> tuple[Change, ...]:
    """Commits that touched the functions of the pieces, each once: that of the failing line first, then the latest.

    Without a deployment before, what was committed `since` then, else the last commits of each function. What cannot be
    looked up is named in `degraded`.
    """
    found: dict[str, Change] = {}
    is_dated = since is not None
    for piece in pieces[:MAX_PLACES]:
        where = piece.scored.chunk.locator
        if where.start_line is None or where.end_line is None:
            continue
        deployed, before = piece.revision, _before(where, deploys)
        is_dated = is_dated or before is not None
        try:
            of_line = _of_line(piece, where, scope, library, deployed)
            later = {one.commit for one in _log(where, scope, library, before=deployed)} if deployed else set()
            log = _log_since(where, scope, library, before, since)
        except KnowledgeError as error:
            if str(error) not in degraded:
                degraded.append(str(error))
            continue
        for commit in (*of_line, *log):
            if not commit.is_limit:
                change = Change(
                    piece=piece.number, commit=commit, is_line=commit in of_line, is_later=commit.commit in later
                )
                found.setdefault(commit.commit, change)
    ordered = sorted(found.values(), key=lambda one: (one.is_line, one.commit.committed_at), reverse=True)
    return tuple(ordered[: MAX_CHANGES if is_dated else MAX_OLD_CHANGES])


def changed_since(pieces: Sequence[Piece], deploys: Deployments) -> datetime | None:
    """The deployment before from which on changes of the first pieces are told; of several repositories the latest."""
    found = [_before(piece.scored.chunk.locator, deploys) for piece in pieces[:MAX_PLACES]]
    return max((deploy.deployed_at for deploy in found if deploy is not None), default=None)


def _before(where: Locator, deploys: Deployments) -> Deploy | None:
    told = deploys.of(where.source, where.uri)
    return told[1] if len(told) > 1 else None


def _of_line(
    piece: Piece, where: Locator, scope: Scope, library: Library, deployed: str | None
) -> tuple[LineChange, ...]:
    """The commit that wrote the line of the frame; empty where the line is not certain."""
    line = piece.frame.line if piece.frame else None
    if line is None or piece.line is None or deployed is None:
        return ()  # of a trace from an unknown commit the line may be any
    with suppress(NotFound):
        return library.blame(where.source, where.uri, line, line, scope=scope, revision=deployed)
    return ()


def _log_since(
    where: Locator, scope: Scope, library: Library, before: Deploy | None, since: datetime | None
) -> tuple[LineChange, ...]:
    """What was committed after the deployment before; by its commit where the copy knows it, else by its time."""
    if before is None:
        return _log(where, scope, library, since=since)
    try:
        return _log(where, scope, library, before=before.revision)
    except NotFound:
        return _log(where, scope, library, since=before.deployed_at)


def _log(
    where: Locator, scope: Scope, library: Library, *, before: str | None = None, since: datetime | None = None
) -> tuple[LineChange, ...]:
    return library.log_of_lines(
        where.source, where.uri, where.start_line or 1, where.end_line or 1, scope=scope, before=before, since=since,
        limit=MAX_CHANGES,
    )  # fmt: skip
