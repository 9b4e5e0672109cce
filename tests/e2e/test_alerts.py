"""POST /alerts and POST /deploys of a running bot: from a body to an analysis in the service's channel, and after kills."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, TIMEOUT_S, Haechi
from tests.e2e.waiting import eventually_blocking

TOKEN = "alerts-token-of-the-test"
CONFIG = """
[alerts]
token_file = "alerts.token"
channel = "web:general"

[services.payment-api]
repositories = ["shop"]
aliases = ["pay"]
"""
TRACE = """Traceback (most recent call last):
  File "/srv/app/checkout.py", line 40, in checkout
    retry.retry_declined(payment)
  File "/srv/app/payments.py", line {line}, in retry_declined
    raise PaymentDeclined(payment.id)
shop.errors.PaymentDeclined: payment {number} was declined
"""


def alert(number: int, *, line: int = 12, **more: Any) -> dict[str, Any]:
    return {
        "service": "pay", "environment": "production", "severity": "critical",
        "message": TRACE.format(line=line, number=number), **more,
    }  # fmt: skip


@dataclass
class Running:
    """A bot as a process, and the page's posts as its database has them."""

    haechi: Haechi
    address: str = ""
    process: subprocess.Popen[str] | None = None
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=TIMEOUT_S))

    def start(self) -> None:
        self.process, self.address = self.haechi.start_bot()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT_S)

    def post(self, body: Any, path: str = "/alerts", token: str = TOKEN, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        named = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
        return self.client.post(f"{self.address}{path}", content=content, headers=named)

    def query(self, sql: str) -> list[dict[str, Any]]:
        path = self.haechi.folder / "data" / "bot.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql)]

    @property
    def roots(self) -> list[dict[str, Any]]:
        return self.query("SELECT * FROM web_posts WHERE id = root_id AND is_bot = 1 ORDER BY seq")

    @property
    def analyses(self) -> list[dict[str, Any]]:
        return self.query("SELECT * FROM web_posts WHERE id != root_id AND state = 'final' ORDER BY seq")

    @property
    def is_quiet(self) -> bool:
        """Whether everything that was taken is dealt with."""
        waiting = self.query("SELECT 1 FROM incoming_alerts WHERE state = 'waiting'")
        return not waiting and not self.query("SELECT 1 FROM inbox WHERE state IN ('received', 'working')")


def company(folder: Path, extra: str = CONFIG) -> Haechi:
    haechi = Haechi.with_company(folder, FOLLOWS_NOTHING + extra)
    token = folder / "alerts.token"
    token.write_text(TOKEN, encoding="utf-8")
    token.chmod(0o600)
    return haechi


@pytest.fixture
def indexed(tmp_path: Path) -> None:
    """The company's sources are indexed before the bot starts; without it an analysis finds nothing, sooner."""
    assert company(tmp_path).run("ingest").returncode == 0


@pytest.fixture
def bot(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    haechi = Haechi(tmp_path) if "indexed" in request.fixturenames else company(tmp_path)
    running = Running(haechi)
    running.start()
    try:
        yield running
    finally:
        running.client.close()
        haechi.end()


def test_an_alert_is_posted_in_the_channel_and_answered_in_its_thread_once_whatever_is_repeated_or_killed(indexed, bot):
    taken = bot.post(alert(1))
    assert taken.status_code == 202
    (analysis,) = eventually_blocking(lambda: bot.analyses)
    (root,) = bot.roots
    assert root["channel_id"] == "general"
    assert "PaymentDeclined" in root["text"]
    assert "`payment-api`" in root["text"]
    assert analysis["root_id"] == root["id"]
    assert analysis["delivery_id"] == f"alert:{taken.json()['id']}"
    assert "payments.py" in analysis["text"] + analysis["extras"]
    assert "retry_declined" in analysis["text"]

    assert bot.post(alert(1)).json() == {"id": taken.json()["id"], "alerts": 0, "repeated": True}
    bot.kill()
    bot.start()
    assert bot.post(alert(1)).json()["repeated"]
    assert bot.post(alert(2)).json()["alerts"] == 1
    eventually_blocking(lambda: bot.query("SELECT 1 FROM alert_faults WHERE count = 2"))
    assert bot.post(alert(2, status="resolved")).json()["alerts"] == 1
    eventually_blocking(lambda: bot.query("SELECT 1 FROM alert_faults WHERE state = 'resolved'"))
    eventually_blocking(lambda: bot.is_quiet)
    assert (len(bot.roots), len(bot.analyses)) == (1, 1)


def test_bodies_that_cannot_be_taken_are_refused_and_the_bot_goes_on(bot):
    assert bot.post(alert(1), token="wrong").status_code == 401
    assert bot.post(alert(1), path="/deploys", token="x").status_code == 401
    assert bot.post(b"").status_code == 400
    assert bot.post(b'{"a":' * 100_000 + b"1" + b"}" * 100_000).status_code == 400
    assert bot.post(b"\xff\xfe\x00").status_code == 400
    assert bot.post(b"<alert/>", **{"Content-Type": "text/xml"}).status_code == 415
    assert bot.post(b'{"message": "' + b"x" * (5 * 1024 * 1024) + b'"}').status_code == 413
    assert bot.post(b'{"message": "' + b"\\nat a.b(C.java:1)" * 250_000 + b'"}').status_code == 202
    assert bot.post({"service": "pay", "revision": "--output=x"}, path="/deploys").status_code == 400
    hostile = {
        "message": "@channel <!channel> [click](javascript:alert(1)) ![x](http://evil.example/x.png)",
        "service": "x",
    }
    assert bot.post(hostile).status_code == 202
    eventually_blocking(lambda: bot.is_quiet)
    page = bot.client.get(f"{bot.address}/c/general").text
    assert "javascript:" not in re.sub(r">[^<]*<", "", page)  # it may stand there as text, never as an address
    assert "evil.example" not in re.sub(r">[^<]*<", "", page)
    assert bot.client.get(f"{bot.address}/healthz").status_code == 200


def test_a_storm_with_kills_in_its_middle_loses_no_alert_and_doubles_no_post(bot):
    faults = [f"def f{n}" for n in range(6)]
    taken = 0
    for number in range(36):
        if number in (12, 24):
            bot.kill()
            bot.start()
        place = faults[number % len(faults)].split()[1]
        body = {
            "service": "pay",
            "message": f"order {number} failed",
            "error_class": f"Fault{place.upper()}Error",
            "stacktrace": f'Traceback (most recent call last):\n  File "app/{place}.py", line 3, in {place}\n    go()\n'
            f"Fault{place.upper()}Error: order {number} failed",
        }
        answer = bot.post(body)
        assert answer.status_code == 202
        taken += answer.json()["alerts"]
    eventually_blocking(lambda: bot.is_quiet)
    counts = bot.query("SELECT count FROM alert_faults")
    assert (len(counts), sum(row["count"] for row in counts), taken) == (6, 36, 36)
    assert len(bot.roots) == 6
    assert sorted(post["root_id"] for post in bot.analyses) == sorted(root["id"] for root in bot.roots)


def test_alerts_without_a_channel_wait_and_say_so_until_the_settings_name_one(tmp_path: Path):
    haechi = company(tmp_path, CONFIG.replace('channel = "web:general"\n', ""))
    bot = Running(haechi)
    try:
        bot.start()
        assert bot.post(alert(1)).status_code == 202
        status = haechi.run("status", "--json")
        assert "alerts.channel" in status.stdout, status.stdout
        bot.kill()
        haechi.configure(FOLLOWS_NOTHING + CONFIG)
        bot.start()
        eventually_blocking(lambda: bot.analyses)
        assert len(bot.roots) == 1
    finally:
        bot.client.close()
        haechi.end()


# --- deployments ----------------------------------------------------------------------------------


def commit(shop: Path, author: str, subject: str, at: datetime, *options: str) -> str:
    identity = {"NAME": author, "EMAIL": f"{author.lower()}@example.com", "DATE": at.isoformat()}
    environment = {f"GIT_{who}_{key}": value for key, value in identity.items() for who in ("AUTHOR", "COMMITTER")}
    run = ["git", "-c", "commit.gpgsign=false", "commit", "-q", "-a", "-m", subject, *options]
    subprocess.run(run, cwd=shop, check=True, env={**os.environ, **environment})
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=shop, check=True, capture_output=True, text=True
    ).stdout.strip()


def change(shop: Path, old: str, new: str) -> None:
    file = shop / "payments.py"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_frames_are_looked_up_at_the_deployed_commit_and_what_changed_since_the_one_before_is_told(tmp_path: Path):
    haechi, shop, now = company(tmp_path), tmp_path / "shop", datetime.now(UTC)
    commit(shop, "First", "The shop", now - timedelta(days=30), "--amend", "--reset-author")
    change(shop, "max_attempts=3", "max_attempts=4")
    before = commit(shop, "Older", "One attempt more", now - timedelta(days=9))
    change(shop, "if payment.charge():", "if payment.charge(attempt):")
    deployed = commit(shop, "Mina", "Charge with the number of the attempt", now - timedelta(days=2))
    head = '"""Payments."""\n' + "".join(f"\n\ndef unrelated_{n}():\n    return {n}\n" for n in range(6))
    change(shop, '"""Payments."""\n', head)
    change(shop, "return attempt + 1", "return attempt")
    newest = commit(shop, "Jun", "Not deployed yet", now - timedelta(hours=1))
    assert haechi.run("ingest").returncode == 0
    bot = Running(haechi)
    try:
        bot.start()
        for revision, days in ((before, 7), (deployed, 1)):
            at = (now - timedelta(days=days)).isoformat()
            told = {"service": "pay", "environment": "prod", "revision": revision, "deployed_at": at}
            assert bot.post(told, path="/deploys").status_code == 202
        again = {"service": "pay", "environment": "prod", "revision": deployed}
        assert bot.post(again, path="/deploys").status_code == 202  # the same commit once more is no deploy before
        assert bot.post(alert(1)).status_code == 202
        (analysis,) = eventually_blocking(lambda: bot.analyses)
    finally:
        bot.client.close()
        haechi.end()
    text = analysis["text"]
    assert f"eployed commit {deployed[:10]}" in " ".join(json.loads(analysis["extras"])["notices"])
    assert "retry_declined" in text  # where line 12 was then; now it is that of another function
    assert "unrelated" not in text
    changes = {name: line for line in text.splitlines() for name in ("Older", "Mina", "Jun") if f"{name}:" in line}
    assert set(changes) == {"Mina", "Jun"}
    assert deployed[:10] in changes["Mina"]
    assert "not deployed" not in changes["Mina"]
    assert newest[:10] in changes["Jun"]
    assert "not deployed" in changes["Jun"]
