"""Whatever a body or a post holds: a clear refusal, or a reading; never a crash."""

from __future__ import annotations

import contextlib
import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.alerts.reading import BadPayload, Reading, read_payload, read_post
from bot.alerts.services import Services
from bot.types import Author, Message, ThreadRef

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEYS = [
    "alerts", "labels", "annotations", "status", "data", "event", "exception", "values", "stacktrace", "frames", "Type",
    "TopicArn", "Message", "AlarmName", "NewStateValue", "Trigger", "Dimensions", "alert", "action", "message", "payload",
    "event_action", "workflow_run", "repository", "object_kind", "builds", "tags", "alert_id", "alert_type", "platform",
]  # fmt: skip


def read(body: bytes, content_type: str = "application/json") -> Reading:
    return read_payload(body, content_type=content_type, services=Services(), posted_at=NOON)


def post(text: str) -> Message:
    return Message(
        id="1", thread=ThreadRef(platform="slack", channel_id="C1", root_id="1"), text=text, mentions_bot=False,
        author=Author(id="B1", display_name="alerts", is_bot=True), is_direct=False, attachments=(), posted_at=NOON,
        delivery_id="C1:1",
    )  # fmt: skip


WORDS = st.one_of(
    st.text(max_size=30), st.sampled_from([*KEYS, "python", "incident.resolved", "Notification", "failed"])
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)),
    max_leaves=25,
)


@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=8))
def test_values_of_the_wrong_type_are_read_or_refused(payload: dict[str, object]) -> None:
    try:
        reading = read(json.dumps(payload).encode())
    except BadPayload as error:
        refusal = (error.status in (400, 413, 415), error.sentence[-1:])
        assert refusal == (True, ".")
    else:
        assert reading.alerts or reading.skipped


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.text(max_size=400))
def test_any_text_of_a_post_is_read_or_skipped_with_a_reason(text: str) -> None:
    reading = read_post(post(text), services=Services())
    assert reading.alerts or (reading.skipped or "").endswith(".")


@pytest.mark.parametrize(
    ("body", "kind", "status", "says"),
    [
        (b"", "application/json", 400, "empty"),
        (b"{", "application/json", 400, "JSON"),
        (b"\xff\xfe\x00", "text/plain", 400, "UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, "application/json", 400, "deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "application/json", 400, "deeply"),
        (b"1" * 10_000, "application/json", 400, "JSON"),
        (b"<alert/>", "application/xml", 415, "application/json"),
        (b"{}", "application/json", 400, "message"),
        (b"[1, null]", "application/json", 400, "message"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_what_to_do(body: bytes, kind: str, status: int, says: str) -> None:
    with pytest.raises(BadPayload) as refused:
        read(body, kind)
    assert refused.value.status == status
    assert says in refused.value.sentence


PIECES = [
    "a", "a.", "a.b", "at ", "(", "1:", "@", "`", "#1 ", "File \"", "\\n", "-1", "A_", "a/", "Caused by: ", "{\"", "[", "=", "x=y ",
    "Traceback (most recent call last):\n", "\tat a.b.C.d(C.java:1)\n", "0 1 2 ", "<b>", "Fatal error: ", "---> (", "\\u0041",
    "panicked at '", "Fatal error: a.php ", "위치: a.b(", "at a.b(", "at a (", "x@https://a/b.js:1:2 ", " /a.go:1", "Error: ",
    "\\\\n\\\\tat ", "[pod/a-12345] ", "a_1 | ", "2026-03-02T10:00:00Z ", "1: a at b.rs:1 ", "#0 a.php(1): ", "in a.php on ",
    "Triggered ", "[OK] ", "env: `x` ", "a: b  ", ":a:", "Exception: ", "from a.rb:1:in `", "0x1 a.swift:1", "\n\n", "goroutine 1 [",
    "A.B.", "a$b$", "<a>", "&lt;", "**", "](https://a", "_a", "``` ", "\n> ", "\x1b[", "{\"a\": \"", "| ", "+ ", "[masked:", "é", "가",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_of_one_piece_over_and_over_costs_bounded_work(piece: str) -> None:
    """A pattern that tries every way would take hours for this; the time of the processor is what is bounded."""
    began = time.process_time()
    with contextlib.suppress(BadPayload):
        read((piece * (200_000 // len(piece.encode()))).encode(), "text/plain")
    assert time.process_time() - began < 30


@pytest.mark.parametrize("piece", ["a", "\tat a.b.C.d(C.java:1)\n", "\\n", '{"', "1: a at b.rs:1 "])
def test_five_megabytes_are_read_in_bounded_work_whatever_they_come_as(piece: str) -> None:
    text = piece * (5_000_000 // len(piece.encode()))
    began = time.process_time()
    with contextlib.suppress(BadPayload):
        read(text.encode(), "text/plain")
    read(json.dumps({"message": "x", "stack": text}).encode())
    read_post(post(text), services=Services())
    assert time.process_time() - began < 30


def test_signs_that_nobody_sees_are_taken_out() -> None:
    alert = read(json.dumps({"message": "no\u0000 sto\u202eck\ud800", "service": "shop"}).encode()).alerts[0]
    assert alert.message == "no stock"


def test_secrets_are_masked_wherever_they_stand() -> None:
    body = {
        "message": "login failed",
        "password": "hunter2-Kx91pq",
        "stack": "Error: key AKIAIOSFODNN7EXAMPQX\n at f (/a.js:1:2)",
    }
    assert "hunter2" not in str(read(json.dumps(body).encode()))
    assert "AKIAIOSFODNN7EXAMPQX" not in str(read(json.dumps(body).encode()))
