"""One fault is one group whatever differs from day to day, and faults that differ stay apart, in any order."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from bot.alerts.alert import Alert
from bot.alerts.fingerprint import group_of, same_fault
from bot.alerts.store import FaultStore, Limits
from bot.store import Store
from bot.types import ThreadRef
from tests.unit.bot.alerts.faults import faults_of, other_variants, variants
from tests.unit.bot.alerts.payloads import cases, reading_of
from tests.unit.bot.alerts.samples import trace_samples
from tests.unit.bot.alerts.test_traces import alert_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CHANNEL = ThreadRef(platform="slack", channel_id="C1", root_id="1")
KNOWN, UNSEEN = faults_of("known"), faults_of("unseen")


@dataclass(frozen=True, slots=True)
class Occurrence:
    fault: str
    kind: str
    alert: Alert


@pytest.fixture
def faults(tmp_path: Path) -> Iterator[FaultStore]:
    store = Store.open(tmp_path / "bot.sqlite3", clock=lambda: NOON)
    yield FaultStore(store, clock=lambda: NOON, limits=Limits())
    store.close()


@cache
def occurrences(of: str, *, other: bool) -> tuple[Occurrence, ...]:
    """Ten of each fault of KNOWN or UNSEEN."""
    make = other_variants if other else variants
    kinds = KNOWN if of == "known" else UNSEEN
    return tuple(Occurrence(kind.name, name, alert_of(text)) for kind in kinds for name, text in make(kind).items())


def groups_of(told: list[Occurrence], faults: FaultStore) -> dict[int, set[str]]:
    """Number of a fault in the store -> the faults that were counted to it."""
    found: dict[int, set[str]] = {}
    for number, one in enumerate(told):
        _, fault = faults.note(one.alert, f"d{number}", CHANNEL)
        found.setdefault(fault.number, set()).add(one.fault)
    return found


def test_two_hundred_variants_of_twenty_faults_are_twenty_groups(faults: FaultStore) -> None:
    told = list(occurrences("known", other=False))
    assert len(told) == 200
    assert sorted(groups_of(told, faults).values(), key=sorted) == sorted(({one.name} for one in KNOWN), key=sorted)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_variants_come_changes_nothing(faults: FaultStore, seed: int) -> None:
    told = [one for of in ("known", "unseen") for other in (False, True) for one in occurrences(of, other=other)]
    random.Random(seed).shuffle(told)
    found = groups_of(told, faults)
    assert (len(told), len(found), [names for names in found.values() if len(names) > 1]) == (600, 30, [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("spring-null-total", "spring-null-in-checkout"),  # one class, two places
        ("spring-null-in-checkout", "spring-state-in-checkout"),  # one place, two classes
        ("django-refund", "django-cancel"),  # one place, reached from two views
        ("node-sku", "node-sku-in-report"),
        ("go-index", "go-nil"),  # one file and class, two functions
        ("log-refused", "log-refused-elsewhere"),  # one message, two loggers
    ],
)
def test_near_faults_stay_apart(one: str, other: str) -> None:
    by_name = {kind.name: kind for kind in KNOWN}
    first, second = (alert_of(variants(by_name[name])["first"]) for name in (one, other))
    assert first.fingerprint != second.fingerprint
    assert not same_fault(
        first.sequence,
        is_truncated=first.is_truncated,
        other=second.sequence,
        other_is_truncated=second.is_truncated,
    )


@pytest.mark.parametrize("percent", [40, 50, 60, 70, 80, 90, 95])
def test_a_trace_cut_off_anywhere_is_never_counted_to_another_fault(percent: int) -> None:
    kinds = [kind for kind in (*KNOWN, *UNSEEN) if kind.text.count("\n") > 2]
    whole = [alert_of(variants(kind)["first"]) for kind in kinds]
    own = 0
    for number, kind in enumerate(kinds):
        text = variants(kind)["lines shifted by an edit"]
        cut = alert_of(text[: len(text) * percent // 100] + "…")
        groups = [(one.sequence, one.is_truncated) for one in whole]
        found = group_of(cut.sequence, is_truncated=cut.is_truncated, groups=groups)
        assert found in (number, None), kind.name
        own += found == number
    assert own == len(kinds) or percent < 70


def test_every_sample_of_a_trace_is_a_fault_of_its_own_and_survives_an_edit() -> None:
    samples = [sample for sample in trace_samples() if alert_of(sample.text).frames]
    keys = [alert_of(sample.text).fingerprint for sample in samples]
    assert len(set(keys)) == len(samples) > 70
    assert [alert_of(_edited(sample.text)).fingerprint for sample in samples] == keys


def _edited(text: str) -> str:
    """The text with all lines of code shifted."""
    place = r"(?<=[a-z])([:(]|:line |, line |:줄 )(\d{1,4})(?=[:)\s,]|$)"
    return re.sub(place, lambda match: match[1] + str(int(match[2]) + 13), text, flags=re.MULTILINE)


def test_what_is_left_of_a_trace_counts_to_no_fault_when_it_fits_two(faults: FaultStore) -> None:
    by_name = {kind.name: kind for kind in KNOWN}
    whole = variants(by_name["celery-missing-plan"])["first"]
    elsewhere = whole.replace("plan_of", "price_of").replace("plans.py", "prices.py").replace("PlanMissing", "Unpriced")
    numbers = [faults.note(alert_of(text), text[:900], CHANNEL)[1].number for text in (whole, elsewhere)]
    cut = whole[: whole.index('  File "/code/billing/plans.py"')] + "…"
    _, fault = faults.note(alert_of(cut), "cut", CHANNEL)
    assert len({fault.number, *numbers}) == 3


@pytest.mark.parametrize("names", [("High latency p95", "High latency p99"), ("checkout-4xx", "checkout-5xx")])
def test_rules_whose_names_differ_in_a_number_are_two(names: tuple[str, str]) -> None:
    said = [f"[FIRING:1] {name.replace(' ', '')} (checkout prod)\nLabels:\n - alertname = {name}" for name in names]
    one, other = (alert_of(text) for text in said)
    assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "system", ["alertmanager", "grafana", "datadog", "cloudwatch", "pagerduty", "opsgenie", "sentry"]
)
def test_a_resolved_notice_closes_the_fault_that_its_system_opened(faults: FaultStore, system: str) -> None:
    """Every resolved body names an id or a rule by which the fault it ends is found."""
    told = [alert for case in cases() if case.name.startswith(f"{system}:") for alert in reading_of(case).alerts]
    firing = [alert for alert in told if alert.status == "firing"]
    for number, alert in enumerate(firing):
        faults.note(alert, f"{system}{number}", CHANNEL)
    ended = [alert for alert in told if alert.status == "resolved"]
    assert ended
    assert any(faults.resolve(alert, CHANNEL) is not None for alert in ended)
