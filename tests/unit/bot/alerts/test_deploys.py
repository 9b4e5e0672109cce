"""Which deployment runs of a file's repository, which one was before it, and how many are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.alerts import deploy_store
from bot.alerts.alert import Deploy
from bot.alerts.deploy_store import DeployStore
from bot.alerts.deploys import Deployments
from bot.alerts.services import Service
from bot.store import Store
from tests.unit.bot.times import Clock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def deploys(*told: str) -> list[Deploy]:
    """Of "environment/revision" or "environment/revision@repository", the latest first, an hour apart."""
    found = []
    for number, one in enumerate(told):
        environment, _, rest = one.partition("/")
        revision, _, repository = rest.partition("@")
        found.append(
            Deploy(
                service="pay", environment=environment or None, revision=revision, repository=repository or None,
                deployed_at=NOON - timedelta(hours=number),
            )
        )  # fmt: skip
    return found


def of_file(told, environment, place="web/src/pay.py", service=None):
    source, _, uri = place.partition("/")
    return [one.revision for one in Deployments.fitting(deploys(*told), environment, service).of(source, uri)]


@pytest.mark.parametrize(
    ("told", "environment", "expected"),
    [
        ((), "production", []),
        (("production/b", "production/a"), "production", ["b", "a"]),
        (("staging/c", "production/b", "production/a"), "production", ["b", "a"]),
        (("staging/c", "production/b", "staging/a"), "staging", ["c", "a"]),
        (("/b", "/a"), "production", ["b", "a"]),
        (("staging/c", "production/b", "production/a"), None, ["b", "a"]),
        (("staging/c", "staging/a"), None, ["c", "a"]),
        (("blue/c", "green/a"), None, []),
        (("production/b", "production/b", "production/b", "production/a"), "production", ["b", "a"]),
        (("production/a", "production/b", "production/a"), "production", ["a", "b"]),
        (("production/b", "production/a", "production/a", "production/z"), "production", ["b", "a"]),
        (("production/b@web", "production/x@api", "production/a@web"), "production", ["b", "a"]),
        (("production/x@api", "production/b@web", "production/a"), "production", ["b", "a"]),
        (("staging/c",), "production", []),
    ],
)
def test_the_running_deployment_and_the_one_before(told, environment, expected):
    assert of_file(told, environment) == expected


@pytest.mark.parametrize("name", ["api", "acme/api", "https://git.example.com/acme/api.git", "git@host:acme/API.git"])
@pytest.mark.parametrize("place", ["api/src/pay.py", "acme/api/src/pay.py", "everything/acme/api/src/pay.py"])
def test_each_repository_of_a_service_has_its_own_deployments(name, place):
    told = ("p/w2@web", f"p/a2@{name}", "p/w1@web", "p/a1@api")
    assert of_file(told, "p", place) == ["a2", "a1"]
    assert of_file(told, "p", "web/index.ts") == ["w2", "w1"]


def test_a_source_is_known_by_the_address_of_its_repository_too():
    service = Service(
        name="pay", repositories=("payments", "web"), urls={"payments": "ssh://git@git.example.com/acme/pay-api.git"}
    )
    told = ("p/w@web", "p/a@acme/pay-api")
    assert of_file(told, "p", "payments/src/pay.py", service) == ["a"]
    assert of_file(told, "p", "web/src/pay.ts", service) == ["w"]


def test_repositories_of_one_name_in_two_groups_are_told_apart():
    told = ("p/one@team-a/api", "p/two@team-b/api")
    assert of_file(told, "p", "code/team-a/api/main.go") == ["one"]
    assert of_file(told, "p", "code/team-b/api/main.go") == ["two"]


def test_the_commit_of_one_repository_says_nothing_about_another():
    service = Service(name="pay", repositories=("api", "web"))
    assert of_file(("p/a2@api", "p/a1@api"), "p", "web/index.ts", service) == []


@pytest.mark.parametrize("service", [None, Service(name="pay", repositories=("payments",))])
def test_a_name_that_fits_nothing_is_that_of_the_only_repository(service):
    assert of_file(("p/b@acme/pay-core", "p/a@acme/pay-core"), "p", "payments/pay.py", service) == ["b", "a"]
    assert of_file(("p/b@acme/pay-core", "p/a@acme/pay-web"), "p", "payments/pay.py", service) == []


def test_a_commit_that_was_deployed_again_runs_since_the_first_time():
    running, _ = Deployments.fitting(deploys("p/b", "p/b", "p/a"), "p", None).of("web", "pay.py")
    assert running.deployed_at == NOON - timedelta(hours=1)


# --- what is kept ---------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
    yield DeployStore(store, clock=Clock())
    store.close()


def told_of(kept, *, environment="production", revision, days_ago, repository=None):
    at = NOON - timedelta(days=days_ago)
    kept.note(
        Deploy(service="pay", environment=environment, revision=revision, repository=repository, deployed_at=at)
    )  # fmt: skip


def revisions(kept, environment="production"):
    return [one.revision for one in kept.of_service("pay", NOON) if one.environment == environment]


def test_deployments_are_kept_over_a_restart_and_those_of_later_do_not_count(tmp_path):
    for deploy in (None, *deploys("production/c", "production/b", "production/a")):
        store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
        kept = DeployStore(store, clock=Clock())
        if deploy is not None:
            kept.note(deploy)
            kept.note(deploy)
        found = kept.of_service("pay", NOON - timedelta(minutes=30))
        store.close()
    assert [deploy.revision for deploy in found] == ["b", "a"]


def test_two_repositories_that_are_deployed_at_one_moment_under_one_tag_are_two_deployments(kept):
    for repository in ("api", "web", "api"):
        told_of(kept, revision="v2", days_ago=0, repository=repository)
    assert sorted(one.repository for one in kept.of_service("pay", NOON)) == ["api", "web"]


def test_a_pipeline_that_tells_of_every_deployment_fills_nothing(kept):
    for number in range(2 * deploy_store.KEEP_EACH):
        told_of(kept, revision=f"r{number}", days_ago=200 - number)
    assert revisions(kept) == [f"r{number}" for number in range(99, 99 - deploy_store.KEEP_EACH, -1)]


def test_the_same_commit_again_takes_no_room_from_the_one_before(kept):
    told_of(kept, revision="before", days_ago=300)
    for number in range(2 * deploy_store.KEEP_EACH):
        told_of(kept, revision="nightly", days_ago=200 - number)
    assert revisions(kept) == ["nightly", "before"]
    assert kept.of_service("pay", NOON)[0].deployed_at == NOON - timedelta(days=200)


def test_old_ones_go_but_never_the_one_that_runs_and_the_one_before(kept):
    for number, days in enumerate((900, 800, 700, 600)):
        told_of(kept, revision=f"r{number}", days_ago=days)
    assert revisions(kept) == ["r3", "r2"]
    told_of(kept, revision="r4", days_ago=1)
    assert revisions(kept) == ["r4", "r3"]


def test_environments_that_come_and_go_push_out_neither_production_nor_each_other_at_once(kept, monkeypatch):
    monkeypatch.setattr(deploy_store, "KEEP_OF_SERVICE", 20)
    told_of(kept, revision="live", days_ago=300)
    told_of(kept, revision="live-before", days_ago=301)
    for number in range(100):
        told_of(kept, environment=f"review-{number}", revision="r", days_ago=200 - number)
    assert revisions(kept) == ["live", "live-before"]
    assert len(kept.of_service("pay", NOON)) == 20
    assert revisions(kept, "review-99") == ["r"]


def test_the_bound_of_one_service_is_not_that_of_another(kept):
    kept.note(Deploy(service="shop", environment=None, revision="s", repository=None, deployed_at=NOON))
    for number in range(60):
        told_of(kept, revision=f"r{number}", days_ago=100 - number)
    assert [one.revision for one in kept.of_service("shop", NOON)] == ["s"]
