"""Webhooks: signatures, the right sources, replays, pings, and the route that asks for a sync."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from starlette.testclient import TestClient

from bot.hook_matching import Watched
from bot.http.hooks import HookSecrets, hook_routes
from bot.http.machine import build_machines

SOURCES = (
    Watched(name="shop", url="https://git.example.com/Acme/shop.git"),
    Watched(name="shop-ssh", url="git@git.example.com:acme/shop.git", branch="stable"),
    Watched(name="org", owner="acme", owner_host="git.example.com"),
    Watched(name="other", url="https://git.example.com/acme/other"),
    Watched(name="rules"),
)
GITHUB = {
    "ref": "refs/heads/main",
    "repository": {
        "full_name": "Acme/shop",
        "clone_url": "https://git.example.com/Acme/shop.git",
        "ssh_url": "git@git.example.com:Acme/shop.git",
        "default_branch": "main",
    },
}


class Bench:
    def __init__(self, secrets: HookSecrets) -> None:
        self.asked: list[tuple[str, str, bool]] = []
        self.taken: dict[str, list[int]] = {}
        self.running: dict[str, list[int]] = {}
        self.cancelled: list[tuple[str, str]] = []
        routes = hook_routes(secrets=secrets, sources=SOURCES, ask=self._ask, cancel=self._cancel, deliveries=self)
        self.client = TestClient(build_machines(routes))

    async def _ask(self, source: str, by: str, force: bool) -> int:
        self.asked.append((source, by, force))
        return len(self.asked)

    async def _cancel(self, source: str, by: str) -> list[int]:
        self.cancelled.append((source, by))
        return self.running.get(source, [])

    async def jobs_of(self, delivery: str) -> list[int] | None:
        return self.taken.get(delivery)

    async def keep(self, delivery: str, jobs: Sequence[int]) -> None:
        self.taken[delivery] = list(jobs)

    def github(self, payload: Any, *, event: str = "push", delivery: str = "d1", secret: str = "s3cret") -> Any:
        body = json.dumps(payload).encode()
        signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature}
        return self.client.post("/hooks/github", content=body, headers=headers)

    @property
    def names(self) -> list[str]:
        return [source for source, _, _ in self.asked]


@pytest.fixture
def bench() -> Bench:
    return Bench(HookSecrets(github="s3cret", gitlab="t0ken", gitea="g1tea", reindex="r3index"))


def test_a_push_syncs_the_sources_that_follow_the_branch_organisations_among_them(bench: Bench) -> None:
    answer = bench.github(GITHUB)
    assert (answer.status_code, answer.json()["jobs"]) == (202, [1, 2])
    assert bench.names == ["shop", "org"]
    bench.github({**GITHUB, "ref": "refs/heads/stable"}, delivery="d2")
    assert bench.names == ["shop", "org", "shop-ssh"]
    answer = bench.github({**GITHUB, "ref": "refs/heads/feature"}, delivery="d3")
    assert (answer.status_code, "ignored" in answer.json()) == (200, True)


def test_a_wrong_or_missing_signature_is_refused_and_asks_for_nothing(bench: Bench) -> None:
    assert bench.github(GITHUB, secret="wrong").status_code == 401
    assert bench.client.post("/hooks/github", json=GITHUB).status_code == 401
    assert bench.client.post("/hooks/gitlab", json=GITHUB, headers={"X-Gitlab-Token": "wrong"}).status_code == 401
    assert (
        bench.client.post("/hooks/gitea", json=GITHUB, headers={"X-Gitea-Signature": "é".encode().hex()}).status_code
        == 401
    )
    assert bench.asked == []


def test_a_delivery_that_comes_again_is_ignored(bench: Bench) -> None:
    bench.github(GITHUB)
    again = bench.github(GITHUB)
    assert (again.status_code, again.json()["jobs"]) == (200, [1, 2])
    assert len(bench.asked) == 2


def test_a_ping_is_answered_and_other_events_change_nothing(bench: Bench) -> None:
    assert bench.github({"zen": "x"}, event="ping").json()["ok"] is True
    assert bench.github(GITHUB, event="issues", delivery="d4").status_code == 200
    assert bench.asked == []


def test_gitlab_and_gitea_prove_themselves_in_their_own_ways(bench: Bench) -> None:
    project = {
        "path_with_namespace": "acme/other",
        "git_http_url": "https://git.example.com/acme/other.git",
        "default_branch": "main",
    }
    headers = {"X-Gitlab-Token": "t0ken", "X-Gitlab-Event": "Push Hook", "X-Gitlab-Event-UUID": "u"}
    gitlab = bench.client.post("/hooks/gitlab", json={"ref": "refs/heads/main", "project": project}, headers=headers)
    assert gitlab.status_code == 202
    body = json.dumps(GITHUB).encode()
    signed: Mapping[str, str] = {
        "X-Gitea-Event": "push",
        "X-Gitea-Delivery": "g",
        "X-Gitea-Signature": hmac.new(b"g1tea", body, hashlib.sha256).hexdigest(),
    }
    assert bench.client.post("/hooks/gitea", content=body, headers=dict(signed)).status_code == 202
    assert bench.names == ["org", "other", "shop", "org"]


def test_a_host_without_a_secret_has_no_route() -> None:
    bench = Bench(HookSecrets(github="s3cret"))
    assert bench.client.post("/hooks/gitlab", json={}).status_code == 404
    assert bench.client.post("/reindex", json={}).status_code == 404


def test_what_is_no_json_object_is_refused(bench: Bench) -> None:
    assert bench.github([1]).status_code == 400


def test_reindex_over_http_needs_its_token_and_known_sources(bench: Bench) -> None:
    allowed = {"Authorization": "Bearer r3index"}
    assert bench.client.post("/reindex", json={"sources": ["rules"]}).status_code == 401
    answer = bench.client.post("/reindex", json={"sources": ["rules"], "force": True}, headers=allowed)
    assert (answer.status_code, bench.asked) == (202, [("rules", "http", True)])
    assert bench.client.post("/reindex", json={"sources": ["nothing"]}, headers=allowed).status_code == 404
    assert bench.client.post("/reindex", content=b"[", headers=allowed).status_code == 400
    assert bench.client.post("/reindex", headers=allowed).status_code == 202
    assert len(bench.asked) == 1 + len(SOURCES)


def test_reindex_over_http_is_cancelled_with_the_same_token(bench: Bench) -> None:
    allowed = {"Authorization": "Bearer r3index"}
    bench.running = {"rules": [7, 8], "shop": [9]}
    assert bench.client.delete("/reindex").status_code == 401
    asked = bench.client.request("DELETE", "/reindex", json={"sources": ["rules"]}, headers=allowed)
    assert (asked.status_code, asked.json(), bench.cancelled) == (200, {"jobs": [7, 8]}, [("rules", "http")])
    assert sorted(bench.client.delete("/reindex", headers=allowed).json()["jobs"]) == [7, 8, 9]
    assert bench.client.request("DELETE", "/reindex", json={"sources": ["nothing"]}, headers=allowed).status_code == 404
    assert bench.asked == []
