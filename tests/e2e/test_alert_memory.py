"""The error memory of a running bot: a correction and a vote on the page, `haechi cases`, restarts and a restore."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import httpx
import pytest

from tests.e2e.haechi import TIMEOUT_S
from tests.e2e.test_alerts import Running, alert, company
from tests.e2e.waiting import eventually_blocking


@pytest.fixture
def bot(tmp_path):
    haechi = company(tmp_path)
    assert haechi.run("ingest").returncode == 0
    running = Running(haechi)
    running.start()
    yield running
    running.client.close()
    haechi.end()


def page_of(bot: Running) -> httpx.Client:
    page = httpx.Client(base_url=bot.address, headers={"origin": bot.address}, timeout=TIMEOUT_S)
    page.get("/c/general")
    return page


def cases(bot: Running) -> list[dict[str, Any]]:
    return bot.haechi.json("cases", "list", "--json")


def answers(bot: Running, root: str) -> list[str]:
    rows = bot.query("SELECT root_id, text FROM web_posts WHERE is_bot = 1 AND state = 'final' AND id != root_id")
    return [row["text"] for row in rows if row["root_id"] == root]


def test_a_correction_on_the_page_is_remembered_until_it_is_forgotten_whatever_is_killed_or_restored(bot, tmp_path):
    bot.post(alert(1))
    (analysis,) = eventually_blocking(lambda: bot.analyses)
    root = analysis["root_id"]
    with closing(page_of(bot)) as page:
        said = page.post(
            f"/api/channels/general/threads/{root}/posts", json={"text": "원인은 게이트웨이 인증서 만료였어"}
        )
        assert said.status_code == 201
        told = eventually_blocking(lambda: answers(bot, root)[1:])
        assert "게이트웨이 인증서 만료" in told[0]
        voted = page.post(f"/api/posts/{analysis['id']}/feedback", json={"vote": "wrong"})
        assert voted.status_code == 200
    (case,) = cases(bot)
    assert (case["cause"], case["told_by_a_person"]) == ("게이트웨이 인증서 만료", True)
    assert case["service"] == "payment-api"
    backup = tmp_path / "backup.tar"
    assert bot.haechi.run("backup", str(backup)).returncode == 0
    bot.kill()
    bot.start()
    assert cases(bot) == [case]
    eventually_blocking(lambda: bot.query("SELECT 1 WHERE (SELECT count(applied_at) FROM alert_verdicts) = 2"))
    assert bot.haechi.run("cases", "forget", str(case["case"])).returncode == 0
    assert cases(bot) == []
    assert bot.haechi.run("restore", str(backup)).returncode == 0
    eventually_blocking(lambda: cases(bot) == [])
    assert bot.haechi.run("cases", "show", str(case["case"])).returncode == 1
