"""What every alerting system sends and posts, and what must be read out of it."""

from __future__ import annotations

import pytest

from tests.unit.bot.alerts.payloads import Case, cases, reading_of, told_of

SYSTEMS = {
    "alertmanager", "grafana", "sentry", "datadog", "cloudwatch", "pagerduty", "opsgenie", "github", "gitlab", "logs", "others", "unknown",
}  # fmt: skip
TOLD = {"status", "service", "environment", "severity", "error_class", "message"}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_an_alert_is_read_as_its_system_means_it(case: Case) -> None:
    reading = reading_of(case)
    if case.skipped is not None:
        assert (reading.alerts, case.skipped in (reading.skipped or "")) == ((), True)
        return
    wanted = [one | ({"rule": one["rule"].lower()} if "rule" in one else {}) for one in case.alerts]
    assert [told_of(alert, keys) for alert, keys in zip(reading.alerts, wanted, strict=True)] == wanted


def test_all_systems_are_covered_as_bodies_and_as_posts() -> None:
    assert len(cases()) >= 90
    assert {case.name.partition(":")[0] for case in cases()} == SYSTEMS
    posts = {case.name.partition(":")[0] for case in cases() if case.kind in ("slack", "mattermost")}
    assert posts == SYSTEMS - {"unknown"}
    assert all(set(one) >= TOLD for case in cases() for one in case.alerts)


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_every_system_has_a_way_to_say_that_a_fault_is_over(system: str) -> None:
    told = [one["status"] for case in cases() if case.name.startswith(f"{system}:") for one in case.alerts]
    assert {"firing", "resolved"} <= set(told)


@pytest.mark.parametrize("case", [case for case in cases() if case.alerts], ids=lambda case: case.name)
def test_the_end_of_a_fault_has_the_key_or_the_rule_of_its_beginning(case: Case) -> None:
    """What resolves a fault is matched by the system's own id, else by the fingerprint."""
    for alert in reading_of(case).alerts:
        assert alert.fingerprint
        assert alert.dedup_key or alert.sequence
