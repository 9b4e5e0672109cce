"""POST /alerts and POST /deploys: who may come in, what is taken, what is refused and why."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from bot.alerts.alert import Alert, Deploy
from bot.alerts.intake import AlertIntake, Taken
from bot.alerts.services import Service, Services
from bot.errors import StoreError
from bot.http.alerts import alert_routes
from bot.http.machine import MAX_BODY_BYTES, build_machines
from bot.store import Store
from tests.unit.bot.times import Clock

TOKEN = "s3cret-토큰"
BEARER = {"Authorization": b"Bearer " + TOKEN.encode()}
SIMPLE = {"message": "disk is full", "service": "pay"}
SNS = {
    "Type": "SubscriptionConfirmation",
    "MessageId": "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
    "TopicArn": "arn:aws:sns:ap-northeast-2:123456789012:alarms",
    "Message": "You have chosen to subscribe to the topic.",
    "SubscribeURL": "https://sns.ap-northeast-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn:aws:x&Token=2336412f",
    "Timestamp": "2026-03-02T09:00:00.000Z",
}


class Bench:
    """The routes over a real intake; `broken` makes the database fail."""

    def __init__(self, store: Store, clock: Clock, *, per_minute: int = 1000, max_waiting: int = 10_000) -> None:
        self.store = store
        self.intake = AlertIntake(
            store, clock=clock, place_of=lambda alert: ("fake", "ops"), repeat_window=timedelta(minutes=10),
            max_waiting=max_waiting,
        )  # fmt: skip
        self.broken = False
        self.deploys: list[Deploy] = []
        self.confirmations: list[tuple[str, str]] = []
        services = Services([Service(name="pay", aliases=("payment-api",), environments={"prd": "production"})])
        routes = alert_routes(
            token=TOKEN, intake=self, note_deploy=self._note, confirm=self._confirm, services=services, clock=clock,
            per_minute=per_minute,
        )  # fmt: skip
        self.client = TestClient(build_machines(routes))

    async def taken_before(self, identity: str) -> Taken | None:
        return await self.store.in_thread(self.intake.taken_before, identity)

    async def take(self, alerts: tuple[Alert, ...], identity: str) -> Taken:
        self._require()
        return await self.store.in_thread(self.intake.take, alerts, identity)

    async def _note(self, deploy: Deploy) -> None:
        self._require()
        self.deploys.append(deploy)

    async def _confirm(self, topic: str, address: str) -> None:
        self.confirmations.append((topic, address))

    def _require(self) -> None:
        if self.broken:
            raise StoreError("The disk is full.")

    def post(self, body: Any, path: str = "/alerts", **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, content=content, headers={**BEARER, "Content-Type": "application/json", **named})

    @property
    def kept(self) -> list[str]:
        return [row["alert"] for row in self.store.query("SELECT alert FROM incoming_alerts ORDER BY number")]


@pytest.fixture
def world(tmp_path: Path):
    clock = Clock()
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    yield SimpleNamespace(store=store, clock=clock)
    store.close()


@pytest.fixture
def bench(world) -> Bench:
    return Bench(world.store, world.clock)


# --- what is taken --------------------------------------------------------------------------------


def test_an_alert_is_on_the_disk_before_202_is_said(bench):
    answer = bench.post(SIMPLE)
    assert answer.status_code == 202
    assert answer.json() == {"id": answer.json()["id"], "alerts": 1}
    (row,) = bench.store.query("SELECT delivery_key, state FROM incoming_alerts")
    assert (row["delivery_key"], row["state"]) == (f"alert:{answer.json()['id']}", "waiting")


def test_what_an_alert_says_is_masked_before_it_is_kept(bench):
    bench.post({"message": "login failed, password=Kq8vv21Zx9", "service": "pay"})
    assert "Kq8vv21Zx9" not in bench.kept[0]
    assert "masked" in bench.kept[0]


def test_the_same_body_again_makes_nothing_new_and_gets_the_same_id(bench):
    first = bench.post(SIMPLE)
    again = bench.post(SIMPLE)
    assert again.status_code == 202
    assert again.json() == {"id": first.json()["id"], "alerts": 0, "repeated": True}
    assert len(bench.kept) == 1


def test_a_repeat_is_known_after_a_restart_and_forgotten_after_the_window(world, bench):
    first = bench.post(SIMPLE)
    world.clock.advance(9 * 60)
    assert Bench(world.store, world.clock).post(SIMPLE).json()["id"] == first.json()["id"]
    world.clock.advance(2 * 60)
    later = Bench(world.store, world.clock).post(SIMPLE)
    assert later.json()["alerts"] == 1
    assert later.json()["id"] != first.json()["id"]


def test_a_request_id_that_a_proxy_changes_makes_no_new_alert(bench):
    bench.post(SIMPLE, Request_Id="a", X_Request_Id="a")
    assert bench.post(SIMPLE, Request_Id="b", X_Request_Id="b").json()["repeated"]


def test_equal_bodies_that_their_sender_names_differently_are_two_alerts(bench):
    bench.post(SIMPLE, Idempotency_Key="1")
    assert bench.post(SIMPLE, Idempotency_Key="1").json()["repeated"]
    assert bench.post(SIMPLE, Idempotency_Key="2").json()["alerts"] == 1


def test_an_id_that_comes_with_another_body_hides_no_alert(bench):
    bench.post(SIMPLE, Idempotency_Key="1")
    assert bench.post({"message": "another fault"}, Idempotency_Key="1").json()["alerts"] == 1


def test_a_body_in_which_nothing_is_to_be_done_is_taken_with_the_reason(bench):
    answer = bench.post(SNS)
    assert answer.status_code == 202
    assert answer.json()["alerts"] == 0
    assert "SubscriptionConfirmation" in answer.json()["skipped"]
    assert bench.kept == []


@pytest.mark.parametrize(
    ("header", "event", "alerts"),
    [
        ("X-GitHub-Event", "ping", 0),
        ("X-GitHub-Event", "push", 0),
        ("X-GitHub-Event", "issue_comment", 0),
        ("X-GitHub-Event", "workflow_run", 1),
        ("X-Gitlab-Event", "Push Hook", 0),
        ("X-Gitlab-Event", "Pipeline Hook", 1),
        ("Sentry-Hook-Resource", "installation", 0),
        ("Sentry-Hook-Resource", "event_alert", 1),
    ],
)
def test_events_that_tell_of_no_fault_are_taken_and_make_no_alert(bench, header, event, alerts):
    answer = bench.post({"message": "it broke"}, **{header: event})
    assert (answer.status_code, answer.json()["alerts"]) == (202, alerts)
    assert ("skipped" in answer.json()) == (alerts == 0)
    assert len(bench.kept) == alerts


def test_plain_text_and_forms_are_read_too(bench):
    trace = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x'
    assert bench.post(trace, Content_Type="text/plain; charset=utf-8").json()["alerts"] == 1
    form = b"payload=%7B%22message%22%3A%22broken%22%7D"
    assert bench.post(form, Content_Type="application/x-www-form-urlencoded").json()["alerts"] == 1


def test_many_alerts_of_one_body_are_kept_in_their_order(bench):
    alerts = [{"status": "firing", "labels": {"alertname": f"Rule{n}", "service": "pay"}} for n in range(5)]
    body = {"version": "4", "groupKey": "g", "status": "firing", "alerts": alerts}
    assert bench.post(body).json()["alerts"] == 5
    assert [json.loads(text)["title"] for text in bench.kept] == [f"Rule{n}" for n in range(5)]


# --- who may --------------------------------------------------------------------------------------


def signed(body: bytes, token: str = TOKEN) -> str:
    return "sha256=" + hmac.new(token.encode(), body, hashlib.sha256).hexdigest()


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"sns:{password}".encode()).decode()


BODY = json.dumps(SIMPLE).encode()


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": b"bearer  " + TOKEN.encode()},
        {"Authorization": basic(TOKEN)},
        {"X-Hub-Signature-256": signed(BODY)},
        {"X-Gitlab-Token": TOKEN.encode()},
    ],
    ids=["bearer", "basic", "signature", "gitlab"],
)
def test_the_token_may_come_by_any_way_that_alerting_systems_have(bench, headers):
    assert bench.client.post("/alerts", content=BODY, headers=headers).status_code == 202


def test_the_token_may_come_in_the_address(bench):
    assert bench.client.post("/alerts", params={"token": TOKEN}, content=BODY).status_code == 202


@pytest.mark.parametrize("path", ["/alerts", "/deploys"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"Authorization": "Basic !!!"},
        {"Authorization": basic("wrong")},
        {"Authorization": basic("")},
        {"X-Hub-Signature-256": signed(BODY, "wrong")},
        {"X-Hub-Signature-256": "sha256="},
        {"X-Hub-Signature-256": b"sha256=\xff"},
        {"X-Hub-Signature-256": signed(b"another body"), "Authorization": b"Digest " + TOKEN.encode()},
        {"X-Gitlab-Token": "wrong"},
        {"Cookie": f"token={'x' * 10}"},
    ],
)
def test_whoever_does_not_know_the_token_is_refused_and_nothing_is_kept(bench, path, headers):
    answer = bench.client.post(path, content=BODY, headers=headers)
    assert answer.status_code == 401
    assert "[alerts]" in answer.json()["error"]
    assert answer.headers["WWW-Authenticate"].startswith("Basic ")  # SNS sends its password only after this
    assert bench.kept == []
    assert bench.deploys == []


def test_only_post_is_answered(bench):
    for path in ("/alerts", "/deploys"):
        assert bench.client.get(path, headers=BEARER).status_code == 405


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "status", "says"),
    [
        (b"", "application/json", 400, "empty"),
        (b"{", "application/json", 400, "not valid JSON"),
        (b"[" * 200_000, "application/json", 400, "nested too deeply"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "application/json", 400, "nested too deeply"),
        (b"\xff\xfe", "application/json", 400, "UTF-8"),
        (b"<a/>", "text/xml", 415, "application/json"),
        (b"x", "multipart/form-data; boundary=x", 415, "application/json"),
        (b"a=1&" * 30, "application/x-www-form-urlencoded", 400, "20 fields"),
        (b"[]", "application/json", 400, "message"),
        (b'"x"', "application/json", 202, ""),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_what_to_do(bench, body, kind, status, says):
    answer = bench.post(body, Content_Type=kind)
    assert answer.status_code == status
    if status != 202:
        assert says in answer.json()["error"]
        assert bench.kept == []


def test_a_body_beyond_the_limit_is_refused_and_one_of_five_megabytes_is_read(bench):
    assert bench.post(b'{"message": "' + b"x" * MAX_BODY_BYTES + b'"}').status_code == 413
    room = MAX_BODY_BYTES - len(b'{"message": ""}')
    assert bench.post(b'{"message": "' + b"a b\n".replace(b"\n", b"\\n") * (room // 5) + b'"}').status_code == 202
    assert len(bench.kept[0]) < 500_000  # what is kept of it is bounded


def test_a_compressed_body_is_refused_by_its_name(bench):
    answer = bench.post(b"\x1f\x8b\x08", Content_Encoding="gzip")
    assert (answer.status_code, "Content-Encoding" in answer.json()["error"]) == (415, True)


def test_a_signed_body_beyond_the_limit_is_refused_too(bench):
    answer = bench.client.post(
        "/alerts", content=b"x" * (MAX_BODY_BYTES + 1), headers={"X-Hub-Signature-256": "sha256=0"}
    )
    assert answer.status_code == 413


def test_more_calls_than_allowed_are_told_when_to_come_again(world):
    bench = Bench(world.store, world.clock, per_minute=3)
    for number in range(3):
        world.clock.advance(1)
        assert bench.post({"message": f"fault {number}"}).status_code == 202
    refused = bench.post({"message": "one more"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "58")
    assert bench.post({"service": "pay", "revision": "abc"}, "/deploys").status_code == 429
    world.clock.advance(58)
    assert bench.post({"message": "one more"}).status_code == 202


def test_calls_without_the_token_use_up_nothing(world):
    bench = Bench(world.store, world.clock, per_minute=1)
    for _ in range(5):
        assert bench.client.post("/alerts", content=BODY).status_code == 401
    assert bench.post(SIMPLE).status_code == 202


def test_what_could_not_be_saved_is_to_be_sent_again_and_then_taken(bench):
    bench.broken = True
    refused = bench.post(SIMPLE)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert "disk" not in refused.text  # what is wrong here is for the log
    bench.broken = False
    assert bench.post(SIMPLE).json()["alerts"] == 1


def test_more_alerts_than_can_wait_are_to_be_sent_again(world):
    bench = Bench(world.store, world.clock, max_waiting=2)
    for number in range(2):
        assert bench.post({"message": f"fault {number}"}).status_code == 202
    refused = bench.post({"message": "one more"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")


# --- SNS ------------------------------------------------------------------------------------------


def test_a_subscription_of_sns_is_passed_on_to_people_and_never_opened(bench):
    kind = "SubscriptionConfirmation"
    assert bench.post(SNS, X_Amz_Sns_Message_Type=kind, Content_Type="text/plain").status_code == 202
    assert bench.confirmations == [(SNS["TopicArn"], SNS["SubscribeURL"])]


@pytest.mark.parametrize(
    "address",
    [
        "https://sns.ap-northeast-2.amazonaws.com.evil.example/?Token=1",
        "https://evil.example/sns.ap-northeast-2.amazonaws.com",
        "http://sns.ap-northeast-2.amazonaws.com/?Token=1",
        "https://user@sns.ap-northeast-2.amazonaws.com/",
        "https://sns.ap-northeast-2.amazonaws.com/\nhttps://evil.example",
        "https://sns.ap-northeast-2.amazonaws.com/?a=` <https://evil.example>",
        "https://[::1",
        7,
        None,
    ],
)
def test_an_address_that_does_not_lead_to_sns_is_not_passed_on(bench, address):
    body = {**SNS, "SubscribeURL": address}
    assert bench.post(body, X_Amz_Sns_Message_Type="SubscriptionConfirmation").status_code == 202
    assert bench.confirmations == []


# --- deployments ----------------------------------------------------------------------------------


def test_a_deployment_is_noted_under_the_names_of_the_settings(bench):
    body = {
        "service": "Payment API", "environment": "prd", "revision": "3f2a9c1", "repository": "shop",
        "deployed_at": "2026-03-02T17:59:00+09:00",
    }  # fmt: skip
    answer = bench.post(body, "/deploys")
    assert answer.status_code == 202
    assert answer.json() == {
        "id": answer.json()["id"], "service": "pay", "environment": "production", "repository": "shop",
        "revision": "3f2a9c1",
    }  # fmt: skip
    assert bench.deploys == [
        Deploy(
            service="pay", environment="production", revision="3f2a9c1", repository="shop",
            deployed_at=datetime(2026, 3, 2, 8, 59, tzinfo=UTC),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not valid JSON"),
        (b"[" * 20_000, "not valid JSON"),
        ([], "not a JSON object"),
        ({"revision": "abc"}, '"service" is missing'),
        ({"service": 7, "revision": "abc"}, '"service" is missing'),
        ({"service": "pay"}, '"revision" is missing'),
        ({"service": "pay", "revision": "--upload-pack=x"}, "no commit"),
        ({"service": "pay", "revision": "a b"}, "no commit"),
        ({"service": "pay", "revision": "abc", "deployed_at": "yesterday"}, "no time with a zone"),
        ({"service": "pay", "revision": "abc", "deployed_at": "2026-03-02T09:00:00"}, "no time with a zone"),
        ({"service": "pay", "revision": "abc", "deployed_at": 12}, "no time with a zone"),
        ({"service": "pay", "revision": "abc", "deployed_at": "0001-01-01T00:00:00+23:59"}, "no time with a zone"),
        ({"service": "pay", "revision": "abc", "deployed_at": "9999-12-31T23:59:59-23:59"}, "no time with a zone"),
    ],
)
def test_a_deployment_that_cannot_be_read_is_refused_with_what_to_do(bench, body, says):
    answer = bench.post(body, "/deploys")
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert bench.deploys == []


def test_tokens_in_a_deployment_are_masked_and_commits_are_not(bench):
    token, commit = "ghp_" + "a1B2c3D4e5F6" * 3, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
    body = {"service": "pay", "revision": commit, "repository": f"https://x:{token}@github.com/acme/shop"}
    assert bench.post(body, "/deploys").json()["revision"] == commit
    assert token not in str(bench.deploys)
    assert "github.com/acme/shop" in str(bench.deploys[0].repository)


def test_a_deployment_from_a_clock_that_is_ahead_runs_now(world, bench):
    bench.post({"service": "pay", "revision": "abc", "deployed_at": "2026-03-02T09:05:00Z"}, "/deploys")
    assert bench.deploys[0].deployed_at == world.clock()


def test_a_deployment_that_could_not_be_saved_is_to_be_sent_again(bench):
    bench.broken = True
    assert bench.post({"service": "pay", "revision": "abc"}, "/deploys").status_code == 503


def test_a_huge_deployment_is_refused(bench):
    assert bench.post({"service": "pay", "revision": "abc", "note": "x" * 100_000}, "/deploys").status_code == 413
