"""Posts of alerting systems and of a company's own bots: what they are about, and whether it is over."""

from __future__ import annotations

import pytest

from bot.alerts.alert import Alert
from bot.alerts.reading import read_post
from tests.unit.bot.alerts.payloads import SERVICES, post_of


def alert_in(text: str, author: str = "alerts") -> Alert:
    return read_post(post_of(text, author), services=SERVICES).alerts[0]


PAIRS = [
    ("AlertManager", "[FIRING:1] CheckoutDown checkout prod (critical)", "[RESOLVED] CheckoutDown checkout prod (critical)"),
    ("Grafana", "[FIRING:1] High latency p99 (checkout prod)", "[RESOLVED] High latency p99 (checkout prod)"),
    ("Grafana", "[Alerting] Ledger errors", "[OK] Ledger errors"),
    ("Datadog", "Triggered: CPU of ledger", "Recovered: CPU of ledger"),
    ("Datadog", "[P2] [Triggered] CPU of ledger", "[P2] [Recovered] CPU of ledger"),
    ("PagerDuty", ":rotating_light: *Triggered* #27: Ledger down", ":white_check_mark: *Resolved* #27: Ledger down"),
    ("Opsgenie", "New alert: #23: Checkout is down", "Closed alert #23: Checkout is down"),
    ("AWS", 'ALARM: "checkout-5xx" in Asia Pacific (Seoul)', 'OK: "checkout-5xx" in Asia Pacific (Seoul)'),
    ("GitHub", "ledger workflow **deploy** failed on `main` (run)", "ledger workflow **deploy** passed on `main` (run)"),
    ("GitLab", "fin/ledger: Pipeline #31 of branch main by Kim failed in 01:03",
     "fin/ledger: Pipeline #34 of branch main by Lee passed in 01:41"),
    ("bot", "🔴 [장애] 원장 응답 지연 발생", "🟢 [복구] 원장 응답 지연 복구"),
    ("bot", "[PROBLEM] ledger disk full", "[RECOVERY] ledger disk full"),
    ("bot", "DOWN: checkout health check", "UP: checkout health check"),
]  # fmt: skip


@pytest.mark.parametrize(("author", "fires", "ends"), PAIRS)
def test_the_end_of_a_fault_is_told_of_the_fault_that_fired(author: str, fires: str, ends: str) -> None:
    firing, ended = alert_in(fires, author), alert_in(ends, author)
    assert (firing.status, ended.status) == ("firing", "resolved")
    assert (firing.service, firing.fingerprint) == (ended.service, ended.fingerprint)


@pytest.mark.parametrize(
    "text",
    [
        "복구 불가능한 오류가 발생했습니다",
        "정상 응답이 아닙니다: 503",
        "Resolved path /srv/a.yml does not exist",
        "Closed connection by peer, error in ledger",
        "OK button crashed with TypeError",
        "Recovered 3 of 9 shards, cluster is red",
        "payment failed\n해결 방법: 재시작",
        "ledger error\nOK\nstatus 500",
        "[운영] 서버 오류 발생\n복구 예정 시각: 12:00",
        "normal exit was expected but got 137",
    ],
)
def test_words_of_a_fault_are_not_taken_for_its_end(text: str) -> None:
    assert alert_in(text).status == "firing"


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("[FIRING:1] QueueLag ledger prod (warning)", "production"),
        ("[개발] 오류", "development"),
        ("error in prod and staging", None),
        ("product page fails", None),
        ("ledger (stg) fails", "staging"),
    ],
)
def test_an_environment_that_a_title_names(text: str, environment: str | None) -> None:
    assert alert_in(text).environment == environment


@pytest.mark.parametrize(
    "text", ["checkout deployed", "배포 완료: checkout v1.2", "Build #12 succeeded", "🚀 Release started"]
)
def test_good_news_is_skipped_with_its_reason(text: str) -> None:
    reading = read_post(post_of(text), services=SERVICES)
    assert (reading.alerts, reading.skipped) == ((), "The post tells of something that went well.")


def test_a_name_that_is_told_and_not_known_is_not_taken_for_a_service_that_the_text_names() -> None:
    assert alert_in("Error\nservice: billing\nledger refused the entry").service == "billing"
    assert alert_in("Error\nledger refused the entry").service == "ledger"


def test_decoration_of_a_title_is_no_part_of_it() -> None:
    text = "🔥 :rotating_light: **[Ledger](https://x.example.com/a) down** (https://x.example.com/b)"
    assert alert_in(text).title == "Ledger down"


def test_an_address_that_an_error_speaks_of_is_not_where_the_alert_stands():
    assert alert_in("ValueError: redirect to http://evil.example/login refused").url is None
    assert alert_in("ledger is down\nLink: https://grafana.acme.example/d/1").url == "https://grafana.acme.example/d/1"
    assert alert_in("ledger is down\n<https://grafana.acme.example/d/1>").url == "https://grafana.acme.example/d/1"
