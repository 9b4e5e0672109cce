"""Which deployment runs, and which one was before it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.alerts.alert import Deploy
from bot.alerts.deploys import running_and_before
from bot.alerts.store import FaultStore, Limits
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
        (("production/b@web", "production/a"), "production", ["b", "a"]),
        (("staging/c",), "production", []),
    ],
)
def test_the_running_deployment_and_the_one_before(told, environment, expected):
    found = running_and_before(deploys(*told), environment)
    assert [deploy.revision for deploy in found] == expected


def test_a_commit_that_was_deployed_again_runs_since_the_first_time():
    running, _ = running_and_before(deploys("p/b", "p/b", "p/a"), "p")
    assert running.deployed_at == NOON - timedelta(hours=1)


def test_deployments_are_kept_over_a_restart_and_those_of_later_do_not_count(tmp_path):
    for deploy in (None, *deploys("production/c", "production/b", "production/a")):
        store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
        faults = FaultStore(store, clock=Clock(), limits=Limits())
        if deploy is not None:
            faults.note_deploy(deploy)
            faults.note_deploy(deploy)
        found = faults.deploys_of("pay", "production", NOON - timedelta(minutes=30))
        store.close()
    assert [deploy.revision for deploy in found] == ["b", "a"]
