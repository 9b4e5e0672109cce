"""The services that a company runs, and the names under which alerting systems know them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Labels and fields that name a service, the plainest first.
SERVICE_LABELS = (
    "service",
    "service_name",
    "service.name",
    "app",
    "application",
    "app_name",
    "app.kubernetes.io/name",
    "app_kubernetes_io_name",
    "project",
    "project_name",
    "project_slug",
    "component",
    "functionname",
    "dbinstanceidentifier",
    "container",
    "container_name",
    "deployment",
    "statefulset",
    "job",
    "repository",
    "logger_name",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One `[services.NAME]` of the settings."""

    name: str
    repositories: tuple[str, ...] = ()  # "source", or "source/repository" of a source that holds many
    channel: tuple[str, str] | None = None  # platform and channel id
    runbooks: tuple[str, ...] = ()  # sources of documents, or uris of documents within them ("source/uri")
    aliases: tuple[str, ...] = ()
    environments: Mapping[str, str] | None = None
    urls: Mapping[str, str] = field(default_factory=dict)  # source -> address of its repository


class Services:
    """Finds a service by what an alert calls it."""

    def __init__(self, services: Sequence[Service] = ()) -> None:
        self._services = {service.name: service for service in services}
        self._known: dict[str, Service] = {}
        for service in services:
            for name in (service.name, *service.aliases):
                self._known.setdefault(plain_name(name), service)

    def __iter__(self) -> Iterator[Service]:
        return iter(self._services.values())

    def find(self, name: str | None = None, labels: Mapping[str, str] | None = None) -> Service | None:
        """The service of this name, else of the labels that name one; None when the settings have none such."""
        for told in (name, *((labels or {}).get(label) for label in SERVICE_LABELS)):
            if told and (found := self._known.get(plain_name(told))) is not None:
                return found
        return None

    def named_in(self, text: str) -> Service | None:
        """The one service whose name or alias stands in `text` as a word of its own; None when several do."""
        words = f"-{plain_name(text[:2_000])}-"
        found = {
            service.name: service for name, service in self._known.items() if len(name) > 2 and f"-{name}-" in words
        }
        return next(iter(found.values())) if len(found) == 1 else None


def plain_name(name: str) -> str:
    """`name` without case and without what separates its words: "Payment-API" and "payment_api" are one."""
    return re.sub(r"[^\w]+|_+", "-", name.strip().casefold()).strip("-")
