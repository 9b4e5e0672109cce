"""The adapter of every kind of `[[sources]]` entry."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from knowledge.errors import SourceMissing
from knowledge.ports import Source
from knowledge.sources.hosting import RepositoryHost
from knowledge.sources.hosting_http import Pause
from knowledge.types import RemoteConfig, SourceConfig

if TYPE_CHECKING:
    from knowledge.sources.git_access import GitAccess

_POLL_S = 0.5


def mirrors_folder(data_dir: Path, source: str) -> Path:
    """Where the copies of a source's remote repositories lie, unmasked, for their owner alone."""
    return data_dir / "mirrors" / source


def build_source(
    config: SourceConfig,
    *,
    data_dir: Path | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    pause: Pause | None = None,
    settle_s: float = 0.0,
) -> Source:
    """The adapter of `config`. Raises SourceMissing when it names no place."""
    if config.remote is not None:
        if data_dir is None:
            raise SourceMissing(f"Source {config.name} is fetched from elsewhere, and needs data_dir for its copy")
        return _remote_source(config, config.remote, mirrors_folder(data_dir, config.name), clock, pause or _wait)
    if config.path is None:
        raise SourceMissing(f"Source {config.name} names no place: set `path`")
    if config.kind == "repository":
        from knowledge.sources.git import GitSource

        return GitSource(
            config.name, config.path, config.branch, config.include, config.exclude, host_kind=config.host_kind
        )
    from knowledge.sources.files import FolderSource

    return FolderSource(
        config.name, config.path, config.include, config.exclude, data_dir=data_dir, clock=clock, settle_s=settle_s
    )


def check_source(config: SourceConfig) -> str:
    """What is found at the place of a repository source, in a few words; nothing is fetched. Raises SourceMissing,
    ToolDown."""
    from knowledge.sources.git import GitSource
    from knowledge.sources.git_remote import RemoteGitSource
    from knowledge.sources.hosted import HostedSource

    with tempfile.TemporaryDirectory() as folder:
        source = build_source(config, data_dir=Path(folder))
        if not isinstance(source, GitSource | RemoteGitSource | HostedSource):
            raise SourceMissing(f"Source {config.name} is no repository")
        try:
            return f"{config.place}: {source.describe()}"
        finally:
            source.close()


def _remote_source(
    config: SourceConfig, remote: RemoteConfig, folder: Path, clock: Callable[[], datetime], pause: Pause
) -> Source:
    from knowledge.sources.git_access import GitAccess
    from knowledge.sources.git_mirror import make_private

    make_private(folder)
    trust = GitAccess(
        ssh_key_file=remote.ssh_key_file,
        known_hosts_file=remote.known_hosts_file,
        ca_file=remote.ca_file,
        proxies=remote.proxies,
    )
    if remote.url is None:
        return _hosted_source(config, remote, folder, trust, clock, pause)
    from knowledge.sources.git_remote import RemoteGitSource

    return RemoteGitSource(
        config.name,
        remote.url,
        folder / "repository.git",
        replace(trust, token=lambda: remote.token, username=_user_for(remote.url)),
        config.branch,
        config.include,
        config.exclude,
        host_kind=config.host_kind,
    )


def _hosted_source(
    config: SourceConfig,
    remote: RemoteConfig,
    folder: Path,
    trust: GitAccess,
    clock: Callable[[], datetime],
    pause: Pause,
) -> Source:
    from knowledge.sources.hosted import HostedSource
    from knowledge.sources.hosting import Choice

    host = _host(remote, folder / "listing.json", clock, pause)
    own_host = urlsplit(remote.base_url or f"https://{host.kind}.com").hostname
    choice = Choice(
        archived=remote.archived,
        forks=remote.forks,
        include=remote.repositories,
        exclude=remote.exclude_repositories,
    )
    return HostedSource(
        config.name,
        host,
        folder,
        replace(trust, token=host.token, username=host.username, server_only=own_host),
        choice,
        branch=config.branch,
        include=config.include,
        exclude=config.exclude,
    )


def _host(remote: RemoteConfig, memory: Path, clock: Callable[[], datetime], pause: Pause) -> RepositoryHost:
    if remote.github is not None:
        from knowledge.sources.github import GitHubHost

        return GitHubHost(
            remote.github,
            base_url=remote.base_url,
            token=remote.token,
            app=(remote.app_id, remote.app_key) if remote.app_id and remote.app_key else None,
            clock=clock,
            pause=pause,
            memory=memory,
            ca_file=remote.ca_file,
        )
    from knowledge.sources.gitlab import GitLabHost

    return GitLabHost(
        remote.gitlab or "",
        base_url=remote.base_url,
        token=remote.token,
        clock=clock,
        pause=pause,
        memory=memory,
        ca_file=remote.ca_file,
    )


def _user_for(url: str) -> str:
    """The user name that goes with a token; every host takes its own, and most take any."""
    host = "" if "://" not in url else urlsplit(url).hostname or ""
    if "gitlab" in host:
        return "oauth2"
    return "x-token-auth" if host == "bitbucket.org" else "x-access-token"


def _wait(seconds: float, should_stop: Callable[[], bool]) -> None:
    """Waits in small steps, so that a stop is heeded."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not should_stop():
        time.sleep(min(_POLL_S, left))
