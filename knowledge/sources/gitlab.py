"""Repositories of a GitLab group with its subgroups, or of a user, on gitlab.com or a server of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from knowledge.errors import SourceMissing
from knowledge.sources.git_links import HostKind
from knowledge.sources.hosting import HostedRepository
from knowledge.sources.hosting_http import HostingClient, Pause, Waiting, Watch


class GitLabHost:
    """See `RepositoryHost`. Any kind of access token does that has read_api and read_repository."""

    kind: HostKind = "gitlab"
    username = "oauth2"

    def __init__(
        self,
        group: str,
        *,
        base_url: str | None = None,
        token: str | None = None,
        clock: Callable[[], datetime],
        pause: Pause,
        memory: Path | None = None,
        ca_file: Path | None = None,
    ) -> None:
        """`group` is the full path, "company/backend"."""
        self.place = f"GitLab {group}" if base_url is None else f"{group} on {base_url}"
        self._group = group.strip("/")
        self._token = token
        root = (base_url or "https://gitlab.com").rstrip("/")
        self._client = HostingClient(
            root if root.endswith("/api/v4") else f"{root}/api/v4",
            place=self.place,
            headers=lambda: {} if token is None else {"PRIVATE-TOKEN": token},
            clock=clock,
            pause=pause,
            memory=memory,
            ca_file=ca_file,
        )

    def repositories(self, *, should_stop: Callable[[], bool], waiting: Waiting) -> Sequence[HostedRepository]:
        watch = Watch(should_stop=should_stop, waiting=waiting)
        found = [self._repository(entry) for entry in self._entries(watch)]
        return sorted({repository.key: repository for repository in found}.values(), key=lambda r: r.path)

    def token(self) -> str | None:
        return self._token

    def close(self) -> None:
        self._client.close()

    def _entries(self, watch: Watch) -> list[Any]:
        name = quote(self._group, safe="")
        in_order = {"order_by": "id", "sort": "asc"}
        if self._client.get(f"/groups/{name}?with_projects=false", watch) is not None:
            wanted = {**in_order, "include_subgroups": "true", "with_shared": "false"}
            return list(self._client.pages(f"/groups/{name}/projects", wanted, watch))
        users = None if "/" in self._group else self._client.get(f"/users?username={name}", watch)
        if not users:
            raise SourceMissing(f"{self.place} is not there, or the token may not see it: correct `gitlab`")
        return list(self._client.pages(f"/users/{users[0]['id']}/projects", in_order, watch))

    def _repository(self, entry: Mapping[str, Any]) -> HostedRepository:
        full, prefix = str(entry["path_with_namespace"]), self._group + "/"
        below = full[len(prefix) :] if full.lower().startswith(prefix.lower()) else full
        return HostedRepository(
            key=str(entry["id"]),
            path=below,
            https_url=str(entry["http_url_to_repo"]),
            ssh_url=str(entry.get("ssh_url_to_repo") or ""),
            web=str(entry["web_url"]),
            is_archived=bool(entry.get("archived")),
            is_fork=entry.get("forked_from_project") is not None,
            is_empty=bool(entry.get("empty_repo")),
            is_switched_off=entry.get("repository_access_level") == "disabled",
        )
