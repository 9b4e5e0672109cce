"""`[[sources]]`: where documents and code come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import PrivateAttr, model_validator

from bot.settings_check import Problem, require_link_template, require_patterns, require_url
from bot.settings_schedule import require_cron, require_every, require_timezone
from bot.settings_sections import Section
from knowledge.sources.git_access import has_credentials, is_loopback, scheme_of
from knowledge.types import RemoteConfig, SourceConfig

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_GITHUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_GITLAB_PATH = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*")
_PLACES = ("path", "url", "github", "gitlab")
_REMOTE_ONLY = ("token_env", "token_file", "ssh_key_file", "known_hosts_file", "ca_file")
_MANY_ONLY = ("base_url", "archived", "forks", "repositories", "exclude_repositories")
_APP_ONLY = ("app_id", "app_key_env", "app_key_file")


class SourceSettings(Section):
    """One `[[sources]]` entry."""

    name: str
    kind: Literal["documents", "repository"]
    path: Path | None = None
    url: str | None = None
    github: str | None = None
    gitlab: str | None = None
    base_url: str | None = None
    token_env: str | None = None
    token_file: Path | None = None
    app_id: str | None = None
    app_key_env: str | None = None
    app_key_file: Path | None = None
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None
    archived: bool = False
    forks: bool = False
    repositories: tuple[str, ...] = ()
    exclude_repositories: tuple[str, ...] = ()
    title: str | None = None
    branch: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    link_template: str | None = None
    host_kind: Literal["github", "gitlab", "gitea", "bitbucket", "bitbucket-server"] | None = None
    every: str | None = None
    cron: str | None = None
    timezone: str | None = None
    _proxies: Mapping[str, str] = PrivateAttr(default_factory=dict)

    SECRETS: ClassVar[tuple[str, ...]] = ("token", "app_key")
    KEY_SECRETS: ClassVar[frozenset[str]] = frozenset({"app_key"})

    def use_proxies(self, proxies: Mapping[str, str]) -> None:
        """Notes through which proxies of the environment other machines are reached."""
        self._proxies = proxies

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not _SLUG.fullmatch(self.name):
            raise Problem("name", "must be a slug: a-z, 0-9, '.', '_' or '-', at most 64; other names go into title")
        self._require_one_place()
        self._require_fitting_keys()
        if self.url is not None:
            _require_remote(self.url, has_token=self.names_secret("token"))
        if self.base_url is not None:
            require_url("base_url", self.base_url)
            self._require_encryption("base_url", self.base_url)
        self._require_credentials()
        require_patterns("include", self.include)
        require_patterns("exclude", self.exclude)
        if self.link_template is not None:
            require_link_template("link_template", self.link_template)
        self._require_schedule()
        return self

    def config(self) -> SourceConfig:
        """As `knowledge` wants it, secrets included."""
        return SourceConfig(
            name=self.name,
            kind=self.kind,
            path=self.path,
            remote=None if self.path is not None else self._remote(),
            host_kind=self.host_kind,
            title=self.title,
            branch=self.branch,
            include=self.include,
            exclude=self.exclude,
            link_template=self.link_template,
        )

    def _remote(self) -> RemoteConfig:
        token, app_key = self.secret("token"), self.secret("app_key")
        return RemoteConfig(
            url=self.url,
            github=self.github,
            gitlab=self.gitlab,
            base_url=self.base_url,
            token=token.get_secret_value() if token is not None else None,
            app_id=self.app_id,
            app_key=app_key.get_secret_value() if app_key is not None else None,
            ssh_key_file=self.ssh_key_file,
            known_hosts_file=self.known_hosts_file,
            ca_file=self.ca_file,
            proxies=self._proxies,
            archived=self.archived,
            forks=self.forks,
            repositories=self.repositories,
            exclude_repositories=self.exclude_repositories,
        )

    def _require_schedule(self) -> None:
        if self.every is not None and self.cron is not None:
            raise Problem("cron", "and every are both set; keep one of them")
        if self.every is not None:
            require_every("every", self.every)
        if self.cron is not None:
            require_cron("cron", self.cron)
        if self.timezone is not None:
            require_timezone("timezone", self.timezone)

    def _require_one_place(self) -> None:
        given = [key for key in _PLACES if getattr(self, key) is not None]
        if self.kind == "documents":
            if wrong := [key for key in given if key != "path"]:
                raise Problem(wrong[0], 'belongs to kind = "repository"; set path to the folder with the documents')
            if not given:
                raise Problem("path", "is missing: the folder with the documents")
        elif not given:
            raise Problem(
                "path", "is missing: set path (a clone here), url (one repository), github (an organisation) or gitlab"
            )
        elif len(given) > 1:
            raise Problem(given[1], f"and {given[0]} are both set; keep one, and make another source of the other")

    def _require_fitting_keys(self) -> None:
        for key in ("branch", "host_kind") if self.kind == "documents" else ():
            if getattr(self, key) is not None:
                raise Problem(key, 'belongs to kind = "repository"; remove it')
        if self.path is not None:
            self._refuse(_REMOTE_ONLY, "is for repositories that are fetched (url, github, gitlab); remove it")
        if self.github is None and self.gitlab is None:
            self._refuse(_MANY_ONLY, "is for github and gitlab, which list many repositories; remove it")
        if self.github is None:
            self._refuse(_APP_ONLY, "is for github; remove it")
        if self.github is not None and not _GITHUB_NAME.fullmatch(self.github):
            raise Problem("github", 'must be the name of an organisation or user, as in "acme"; a server is base_url')
        if self.gitlab is not None and not _GITLAB_PATH.fullmatch(self.gitlab):
            raise Problem("gitlab", 'must be the path of a group, as in "acme/backend"; a server is base_url')

    def _refuse(self, keys: tuple[str, ...], why: str) -> None:
        for key in keys:
            if getattr(self, key) != type(self).model_fields[key].get_default():
                raise Problem(key, why)

    def _require_credentials(self) -> None:
        has_key = self.names_secret("app_key")
        if self.app_id is not None and not has_key:
            raise Problem("app_id", "needs app_key_file, the private key of the GitHub App, as well")
        if has_key and self.app_id is None:
            raise Problem("app_key_file", "needs app_id, the number of the GitHub App, as well")
        if has_key and self.names_secret("token"):
            raise Problem("token_env", "and app_key_file are both set; keep one way to log in")
        if self.url is not None and scheme_of(self.url) != "ssh" and self.ssh_key_file is not None:
            raise Problem("ssh_key_file", "is for addresses such as git@host:owner/name.git; use a token for https")
        if self.url is not None and scheme_of(self.url) == "ssh" and self.names_secret("token"):
            raise Problem("token_env", "is for https; an ssh address takes ssh_key_file")

    def _require_encryption(self, key: str, url: str) -> None:
        logs_in = self.names_secret("token") or self.names_secret("app_key")
        if logs_in and url.startswith("http://") and not is_loopback(url):
            raise Problem(key, "would send the token unencrypted; use https://")


def _require_remote(url: str, *, has_token: bool) -> None:
    """Raises Problem unless `url` names a repository that git may be given, without credentials."""
    if has_credentials(url):
        raise Problem("url", "holds credentials, which logs would show; remove them and set token_env or token_file")
    scheme = scheme_of(url)
    if scheme is None:
        raise Problem("url", "must be https://host/owner/name.git, git@host:owner/name.git, ssh://... or file:///...")
    if scheme == "http" and has_token and not is_loopback(url):
        raise Problem("url", "would send the token unencrypted; use https://")
