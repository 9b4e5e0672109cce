"""Every accepted mention has exactly one final reply in its thread, whatever drops, repeats, fails or is killed."""

from __future__ import annotations

import pytest

from tests.e2e.haechi import Haechi
from tests.e2e.storm import CONFIG, Bot, Storm, complaints, inbox_of
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import SlackEmulator


@pytest.mark.parametrize(
    ("mentions", "kill_after", "limit_s"),
    [
        pytest.param(80, (30, 60), 120, id="80"),
        pytest.param(1000, (150, 400, 600, 850), 1500, id="1000", marks=pytest.mark.long),
    ],
)
async def test_every_mention_of_a_storm_has_exactly_one_final_reply_in_its_thread(
    tmp_path, mentions, kill_after, limit_s
):
    haechi = Haechi.with_company(tmp_path)
    assert haechi.run("ingest").returncode == 0
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        haechi.configure(CONFIG.format(slack=slack.url, mattermost=mattermost.url))
        bot = Bot(haechi=haechi)
        storm = Storm(slack, mattermost, bot, mentions=mentions, seed=mentions)
        try:
            await bot.start()
            await storm.ask_all(kill_after)
            await storm.calm(limit_s)
            assert complaints(storm) == []
        finally:
            bot.end()
    assert storm.kills == len(kill_after)
    assert len(storm.asked) == mentions
    assert inbox_of(haechi).get("failed", 0) == 0
