"""The first post of an alert that came by HTTP: what a person on call sees first, and nothing that does harm."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.alerts.alert import Alert
from bot.alerts.announcing import MAX_EXCERPT_CHARS, MAX_LINES, announcement, digest_text
from bot.alerts.digests import Digest, Gathered
from bot.alerts.reading import read_payload
from bot.alerts.services import Service, Services
from bot.types import ThreadRef

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TRACE = """java.lang.IllegalStateException: 결제 상태 오류
\tat com.acme.pay.PayService.confirm(PayService.java:88)
Caused by: java.lang.NullPointerException: order
\tat com.acme.pay.Order.total(Order.java:12)"""


def read(body: object) -> Alert:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, str) else "application/json"
    services = Services([Service(name="payment-api", aliases=("pay",))])
    return read_payload(content, content_type=kind, services=services, posted_at=NOON).alerts[0]


def post(body: object, *, later: timedelta = timedelta(0), **changes: object) -> str:
    return announcement(replace(read(body), **changes), "en", received_at=NOON, now=NOON + later)


def test_what_where_and_how_bad_stand_in_the_first_line():
    text = post({"service": "pay", "environment": "prd", "severity": "critical", "message": "disk is full"})
    assert text == "🔴 **`disk is full`** · `payment-api` · `production` · `critical`"


def test_a_bare_trace_is_headed_by_its_error_and_shown():
    head, _, rest = post(TRACE).partition("\n\n")
    assert head.startswith("🔴 **`java.lang.IllegalStateException: 결제 상태 오류`**")
    assert rest == f"```\n{TRACE}\n```"


def test_a_text_that_only_repeats_the_title_is_not_shown_twice():
    text = post({"AlarmName": "pay-5xx", "NewStateValue": "ALARM", "NewStateReason": "Threshold Crossed"})
    assert text.count("pay-5xx") == 1
    assert "Threshold Crossed" in text


def test_a_long_text_is_cut_at_its_beginning():
    text = post("ERROR it broke\n" + "\n".join(f"line {n} " + "x" * 50 for n in range(500)))
    code = text.split("```")[1]
    assert len(code) <= MAX_EXCERPT_CHARS + 10
    assert len(code.strip().splitlines()) <= MAX_LINES + 1
    assert code.rstrip().endswith("…")


def test_the_alert_in_its_own_system_is_linked_and_no_other_kind_of_address():
    assert "[Open the alert](https://monitor.example.com/1)" in post("x broke", url="https://monitor.example.com/1")
    for address in ("javascript:alert(1)", "file:///etc/passwd", "https://", None):
        assert "Open the alert" not in post("x broke", url=address)
    assert "](https://m.example.com/a%29%5Bx%5D" not in post(
        "x broke", url="https://m.example.com/a)[x](http://evil.example"
    )
    assert "](http://evil.example" not in post("x broke", url="https://m.example.com/a)[x](http://evil.example")


def test_what_an_alert_says_stands_in_code_only():
    hostile = "**bold** [click](http://evil.example) <!channel> @here ``` ~~~ ` <script>\n# heading\n> quote"
    text = post({"service": hostile, "message": hostile, "severity": hostile, "environment": hostile})
    outside = re.sub(r"```\n.*?\n```|`[^`\n]+`", "", text, flags=re.DOTALL)
    assert set(outside) <= set("⚪🔴🟠🔵 *·\n")


def test_what_could_be_posted_only_later_says_when_it_came():
    assert "came at" not in post("x broke", later=timedelta(minutes=10))
    assert "came at 2026-03-02 12:00 UTC" in post("x broke", later=timedelta(minutes=11))


def test_a_digest_lists_faults_in_code_with_their_counts():
    listed = (Gathered(service="", title="`x` [y](http://evil.example)", count=7, last_at=NOON),)
    thread = ThreadRef(platform="web", channel_id="general", root_id="1")
    digest = Digest(thread=thread, hour=NOON.isoformat(), listed=listed, faults=3, alerts=12)
    lines = digest_text(digest, "ko").splitlines()
    assert lines[0] == "**분석 한도를 넘은 장애** · 03-02 12:00 UTC부터 한 시간"
    assert lines[1].startswith("장애 3종, 알림 12건")
    assert lines[3] == "- `'x' [y](http://evil.example)` · `-`: 7번, 마지막 12:00"
    assert lines[4] == "- 그 밖에 2종"
