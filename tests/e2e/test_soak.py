"""Under mentions, alerts and syncs at once for half an hour nothing grows: memory, threads, file handles, WAL."""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict

import pytest

from tests.e2e.haechi import Haechi
from tests.e2e.soak import Soak, growth
from tests.e2e.storm import CONFIG, SECRETS, Bot, Storm, complaints, inbox_of
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import SlackEmulator

SECONDS = float(os.environ.get("SOAK_SECONDS", "1800"))
TOKEN = "soak-alerts-token"
MORE_CONFIG = """
[alerts]
token_env = "STORM_ALERTS"
channel = "slack:C2"
calls_per_minute = 100000
analyses_per_channel_per_hour = 10000
analyses_per_hour = 10000

[[channels]]
platform = "slack"
id = "C2"
alerts = true

[services.shop]
repositories = ["shop"]

[schedule]
documents = "30s"
repositories = "10s"
jitter_s = 1.0
"""
# what may be more at the end of the second half than at its beginning: the noise of a sound run
ALLOWED = {"memory_mb": 12.0, "threads": 2.0, "files": 4.0, "processes": 1.0, "wal_mb": 2.0}
WAL_LIMIT_MB = 60.0


def test_what_leaks_is_told_from_what_only_varies():
    chance = random.Random(4)
    noise = [chance.gauss(300.0, 8.0) for _ in range(400)]
    warming_up = [min(1.0, number / 100) * 50 for number in range(400)]
    assert abs(growth([a + b for a, b in zip(noise, warming_up, strict=True)])) < 5.0
    assert growth([value + number * 0.1 for number, value in enumerate(noise)]) > 12.0
    assert growth([20.0 if number % 50 else 90.0 for number in range(400)]) == 0.0


@pytest.mark.long
async def test_nothing_grows_under_mentions_alerts_and_syncs_at_once(tmp_path, record_property):
    haechi = Haechi.with_company(tmp_path)
    assert haechi.run("ingest").returncode == 0
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        haechi.configure(CONFIG.format(slack=slack.url, mattermost=mattermost.url) + MORE_CONFIG)
        haechi.secrets |= {**SECRETS, "STORM_ALERTS": TOKEN}
        bot = Bot(haechi=haechi)
        storm = Storm(slack, mattermost, bot, mentions=0, seed=5)
        slack.workspace.add_channel("C2", "alerts")
        try:
            await bot.start()
            assert bot.process is not None
            soak = Soak(haechi=haechi, storm=storm, page=bot.page(), token=TOKEN, pid=bot.process.pid, seconds=SECONDS)
            await soak.run()
            await storm.calm(limit_s=300)
            grown = soak.growths()
            record_property("soak", json.dumps(grown))
            (tmp_path / "soak.json").write_text(json.dumps([asdict(look) for look in soak.looks]))
            print({"mentions": len(storm.asked), "alerts": soak.alerts, "syncs": soak.syncs, "backups": soak.backups})
            print(grown)
            assert {name: change for name, (_, change) in grown.items() if change > ALLOWED[name]} == {}
            assert max(look.wal_mb for look in soak.looks) < WAL_LIMIT_MB
            asked = {one.delivery_id for one in storm.asked}
            assert complaints(storm, among=asked) == []
            verified = haechi.json("verify", "--check-only", "--json")
            assert verified["ok"], verified
        finally:
            bot.end()
    assert inbox_of(haechi).get("failed", 0) == 0
    assert len(storm.asked) > SECONDS / 2
    assert soak.alerts > SECONDS / 10
    assert soak.syncs > SECONDS / 20
