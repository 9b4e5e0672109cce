"""Which deployments an alert is judged by: of each repository the one that runs, and the one before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.alerts.alert import Deploy
from bot.alerts.services import Service

PRODUCTION = "production"
_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*://[^/]*/|[\w.-]+@[\w.-]+:)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployments:
    """The deployments of one service that fit an alert, the latest first.

    A commit is one of a repository: a deployment that names one says nothing about files of others. One that names none
    is of all of them; so is a name that fits no file, where it is the only one that is told of a service with one
    repository at most.
    """

    told: Sequence[Deploy] = ()
    repositories: Sequence[str] = ()  # of the service, as the settings name them
    urls: Mapping[str, str] = field(default_factory=dict)  # source -> address of its repository

    @classmethod
    def fitting(cls, deploys: Sequence[Deploy], environment: str | None, service: Service | None) -> Deployments:
        """Those of an environment, of `deploys` of one service; without an environment those of production, or of the
        only one that is told of."""
        told = {deploy.environment for deploy in deploys} - {None}
        if environment is None and told:
            environment = PRODUCTION if PRODUCTION in told else next(iter(told)) if len(told) == 1 else None
        return cls(
            told=[deploy for deploy in deploys if deploy.environment in (None, environment)],
            repositories=service.repositories if service else (),
            urls=service.urls if service else {},
        )

    def of(self, source: str, uri: str) -> list[Deploy]:
        """The deployment of a file's repository that runs, and the one before it. One commit that was deployed several
        times in a row is one deployment, since the first of them."""
        chosen = self._names_of(source, uri)
        found: list[Deploy] = []
        for deploy in self.told:
            if deploy.repository is not None and _parts(deploy.repository) not in chosen:
                continue
            if found and found[-1].revision == deploy.revision:
                found[-1] = deploy
            elif len(found) == 2:
                break
            else:
                found.append(deploy)
        return found

    def _names_of(self, source: str, uri: str) -> set[tuple[str, ...]]:
        """The names in deployments that mean the repository of a file: "shop", "acme/shop", "https://host/acme/shop"."""
        told = {_parts(deploy.repository) for deploy in self.told if deploy.repository is not None}
        url = "/".join(_parts(self.urls[source])) if source in self.urls else ""
        fits = {parts: _fit(parts, source.casefold(), uri.casefold(), url) for parts in told}
        best = max(told, key=lambda parts: (fits[parts], len(parts)), default=())
        if best and not fits[best]:
            return told if len(self.repositories) <= 1 and all(_are_one(best, parts) for parts in told) else set()
        return {parts for parts in told if fits[parts] and _are_one(best, parts)}


def _parts(repository: str) -> tuple[str, ...]:
    """ "https://host/acme/shop.git" -> ("acme", "shop")."""
    path = _HOST.sub("", repository.strip()).casefold().strip("/").removesuffix(".git")
    return tuple(part for part in path.split("/") if part)


def _fit(parts: tuple[str, ...], source: str, uri: str, url: str) -> int:
    """How many parts of a name, from its end, are the end of what a source is or the beginning of a path in it."""
    for count in range(len(parts), 0, -1):
        end = "/" + "/".join(parts[-count:])
        if any(f"/{name}".endswith(end) for name in (source, url)) or f"/{source}/{uri}".find(f"{end}/") >= 0:
            return count
    return 0


def _are_one(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of two names is the end of the other: "shop" and "acme/shop"."""
    shared = min(len(one), len(other))
    return one[-shared:] == other[-shared:]
