"""Real-shaped payloads with parts that are missing, doubled, of another type or hostile: read, skipped or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.alerts.alert import Alert
from bot.alerts.reading import BadPayload, Reading, read_payload, read_post
from tests.unit.bot.alerts.payloads import NOON, SERVICES, Case, cases, post_of, text_of
from tests.unit.bot.alerts.samples import trace_samples

BODIES = [case for case in cases() if case.kind == "body"]
POSTS = [case for case in cases() if case.kind in ("slack", "mattermost")]
STRANGE: list[Any] = [
    None, True, -1, 10**400, 1.5, "", " ", [], {}, [[]], [{}], {"a": {}}, "a\x00b", "\ud800", "‮evil", "<!channel> <@U1>",
    "@channel @here @all", "</code><script>alert(1)</script>", "[x](javascript:alert(1))", "\\n" * 50, "`" * 50, "🔥" * 50,
    "at a.B.c(B.java:1)\n" * 30, "Caused by: " * 50, {"labels": {"alertname": ["x"]}}, ["resolved"], "x" * 5_000,
]  # fmt: skip
SHORT = settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything within a payload."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A payload of the fixtures with one to three of its parts taken out, replaced or put elsewhere."""
    payload = json.loads(json.dumps(draw(st.sampled_from(BODIES)).payload))
    for _ in range(draw(st.integers(1, 3))):
        paths = list(places(payload))
        if not paths:
            break
        *way, key = draw(st.sampled_from(paths))
        holder = payload
        for step in way:
            holder = holder[step]
        deed = draw(st.sampled_from(["drop", "replace", "move", "double"]))
        if deed == "drop":
            del holder[key]
        elif deed == "replace":
            holder[key] = draw(st.sampled_from(STRANGE))
        elif deed == "move" and isinstance(payload, dict):
            payload[draw(st.sampled_from(sorted(payload) or ["x"]))] = holder[key]
        else:
            holder[key] = [holder[key], holder[key]]
    return payload


def checked(reading: Reading) -> None:
    """Holds a reading to what everything behind it relies on."""
    assert reading.alerts or (reading.skipped or "").endswith(".")
    for alert in reading.alerts:
        check_alert(alert)


def check_alert(alert: Alert) -> None:
    assert alert.sequence
    assert len(alert.fingerprint) == 20
    assert len(alert.title) <= 300
    assert len(alert.message) <= 2_000
    shown = f"{alert.title}{alert.message}{alert.service}{alert.error_class}{alert.raw}"
    assert not set(shown) & {"\x00", "\u202e", "\ud800"}
    shown.encode()


def read(body: bytes, content_type: str = "application/json") -> None:
    try:
        checked(read_payload(body, content_type=content_type, services=SERVICES, posted_at=NOON))
    except BadPayload as refused:
        answer = (refused.status in (400, 413, 415), refused.sentence[-1:])
    else:
        answer = (True, ".")
    assert answer == (True, ".")


@SHORT
@given(mutated())
def test_a_payload_with_strange_parts_is_read_or_refused(payload: Any) -> None:
    read(json.dumps(payload).encode("utf-8", "surrogatepass"))


@SHORT
@given(st.sampled_from(BODIES), st.floats(0, 1), st.binary(max_size=4))
def test_a_body_that_was_cut_or_damaged_is_read_or_refused(case: Case, part: float, noise: bytes) -> None:
    body = json.dumps(case.payload).encode()
    at = int(len(body) * part)
    read(body[:at] + noise)
    read(body[:at] + noise, "text/plain")
    read(body[:at] + noise + body[at:])


@SHORT
@given(st.sampled_from(POSTS), st.data())
def test_a_post_that_was_cut_or_mixed_with_another_is_read_or_skipped(case: Case, data: st.DataObject) -> None:
    text, other = text_of(case), text_of(data.draw(st.sampled_from(POSTS)))
    at = data.draw(st.integers(0, len(text)))
    strange = data.draw(st.sampled_from([one for one in STRANGE if isinstance(one, str)]))
    for mixed in (text[:at], text[:at] + strange + text[at:], f"{text}\n{other}"):
        checked(read_post(post_of(mixed, case.author), services=SERVICES))


@SHORT
@given(st.lists(st.sampled_from(trace_samples()), min_size=2, max_size=3), st.data())
def test_traces_that_were_cut_and_shuffled_into_one_another_are_read(samples: list[Any], data: st.DataObject) -> None:
    lines = [line for sample in samples for line in sample.text.split("\n")]
    kept = data.draw(st.lists(st.sampled_from(range(len(lines))), min_size=1, max_size=60))
    checked(read_post(post_of("\n".join(lines[number] for number in kept)), services=SERVICES))


@pytest.mark.parametrize("count", [199, 5_000])
def test_a_group_of_very_many_alerts_is_read_up_to_a_limit(count: int) -> None:
    alert = {"status": "firing", "labels": {"alertname": "A", "service": "ledger"}, "annotations": {"summary": "x"}}
    body = json.dumps({"status": "firing", "version": "4", "alerts": [alert] * count}).encode()
    reading = read_payload(body, content_type="application/json", services=SERVICES, posted_at=NOON)
    assert len(reading.alerts) == min(count, 200)


def test_numbers_beyond_measure_are_words_like_others() -> None:
    body = b'{"message": "count", "count": ' + b"9" * 4_000 + b', "level": 1e999, "service": "ledger"}'
    reading = read_payload(body, content_type="application/json", services=SERVICES, posted_at=NOON)
    assert [alert.message for alert in reading.alerts] == ["count"]
    with pytest.raises(BadPayload):
        read_payload(
            b'{"message": ' + b"9" * 100_000 + b"}", content_type="application/json", services=SERVICES, posted_at=NOON
        )
