"""What hostile, careless and unlucky people do to a running bot: it answers whom it should, once, and never by itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from tests.e2e.haechi import Haechi
from tests.e2e.storm import CONFIG, Bot
from tests.e2e.waiting import eventually
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import BOT_USER, SlackEmulator

ASK = "연차휴가는 며칠인가요?"
ANSWERED = (
    f"{{bot}}야 {ASK}",
    f"{{bot}}에게 묻습니다. {ASK}",
    f"「@channel」 {{bot}} @all @here <!channel> <!subteam^S1> {ASK}",
    "{bot} \u202e\u2066\u0000\u0007" + ASK + "\u202e",
    "{bot} ما هي السياسة؟",
    "{bot} " + " ".join(f"https://example.com/{n}" for n in range(400)),
    "{bot}",
    "{bot} 🎉🎉🎉",
    "{bot} " + "가" * 12_000,
    "{bot}" + " \t" * 7_000 + ASK,
    "{bot} " + "`" * 12_000 + ASK,
)
PASSED_OVER = ("haechi 연차는?", "mail@{name}.example.com", "@{name}-test 연차는?")


@pytest.fixture
async def world(tmp_path):
    haechi = Haechi.with_company(tmp_path)
    (tmp_path / "rules" / "@channel [수당](x).md").write_text(HOSTILE_RULES, encoding="utf-8")
    assert (await asyncio.to_thread(haechi.run, "ingest")).returncode == 0
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_user("U8", "otherbot", is_bot=True)
        slack.workspace.add_channel("C1", "general")
        slack.workspace.add_channel("G7", "mpdm", kind="mpim")
        haechi.configure(CONFIG.format(slack=slack.url, mattermost=mattermost.url))
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            yield slack, mattermost, bot
        finally:
            bot.end()


def slack_finals(slack: SlackEmulator) -> dict[str, int]:
    """thread -> how many final replies, each counted once however many parts it has."""
    found: dict[str, set[str]] = {}
    for post in slack.workspace.bot_posts():
        payload = (post.get("metadata") or {}).get("event_payload") or {}
        if payload.get("final"):
            found.setdefault(str(post["thread_ts"]), set()).add(str(payload["delivery_id"]))
    return {thread: len(ids) for thread, ids in found.items()}


def mattermost_finals(mattermost: MattermostEmulator) -> dict[str, int]:
    found: dict[str, set[str]] = {}
    for post in mattermost.state.own_posts():
        if post["props"].get("haechi", {}).get("final"):
            found.setdefault(str(post["root_id"]), set()).add(str(post["props"]["haechi"]["delivery_id"]))
    return {thread: len(ids) for thread, ids in found.items()}


HOSTILE_RULES = """# <!channel> [수당표](https://evil.example/x) @all 해태 수당 규정

제1조(해태 수당) 해태 수당은 월 30,000원이다. <!channel> @here <!subteam^S1> [신청](https://evil.example/y)
<https://evil.example/z|사규> ![그림](https://evil.example/p.png) \u202e뒤집힌 글\u202c
"""


async def until(finals: Callable[[], dict[str, int]], wanted: dict[str, int]) -> None:
    """Returns when the wanted threads are answered, and no other is. What is passed over was said before the last."""
    await eventually(lambda: all(finals().get(thread) for thread in wanted))
    assert finals() == wanted


async def test_what_documents_say_and_are_called_calls_nobody_and_hides_no_address(world):
    slack, mattermost, _ = world
    asked = await slack.say("C1", "U1", f"<@{BOT_USER}> 해태 수당은 월 얼마인가요?")
    state = mattermost.state
    post = state.say(state.alice, state.town, "@helperbot 해태 수당은 월 얼마인가요?")
    await until(lambda: slack_finals(slack), {asked: 1})
    await until(lambda: mattermost_finals(mattermost), {post["id"]: 1})
    for text in (str(slack.workspace.bot_posts()), str([post["message"] for post in state.own_posts()])):
        assert "30,000" in text
        assert "evil.example" in text  # what it says is shown
        for hidden in ("<!", "@channel", "@here", "@all", "](https://evil", "|사규>", "\u202e"):
            assert hidden not in text, hidden


async def test_odd_messages_get_one_reply_each_and_what_nobody_said_to_the_bot_gets_none(world):
    slack, mattermost, bot = world
    await odd_messages_on_slack(slack)
    await odd_messages_on_mattermost(mattermost)
    assert bot.process is not None
    assert bot.process.poll() is None
    log = bot.logs[-1].read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert not re.search(r"failed_untold|event_unreadable", log)


async def odd_messages_on_slack(slack: SlackEmulator) -> None:
    name = f"<@{BOT_USER}>"
    wanted = [await slack.say("C1", "U1", text.format(bot=name)) for text in ANSWERED]
    for text in PASSED_OVER:
        await slack.say("C1", "U1", text.format(name="haechi"))
    for thread in (None, wanted[0]):  # two bots that name each other would never end
        await slack.say("C1", "U8", f"{name} {ASK}", thread_ts=thread, bot_id="B8")
        await slack.say("C1", None, f"{name} {ASK}", thread_ts=thread, subtype="bot_message", bot_id="B9")
    edited = await slack.say("C1", "U1", "연차는?")
    await slack.edit("C1", edited, f"{name} {ASK}")
    await slack.say("G7", "U1", "점심 먹을까요?")
    wanted.append(await slack.say("G7", "U1", f"{name} {ASK}"))
    wanted.append(await slack.say("C1", "U1", f"{name} {ASK}"))
    await until(lambda: slack_finals(slack), dict.fromkeys(wanted, 1))
    texts = str([post.get("text") for post in slack.workspace.bot_posts()])
    assert "<!" not in texts
    assert not re.search(r"@(channel|here|everyone)", texts)


async def odd_messages_on_mattermost(mattermost: MattermostEmulator) -> None:
    state, name = mattermost.state, "@helperbot"
    other = state.add_user("otherbot", token="other-token", is_bot=True)
    state.channels[state.town].members.add(other)
    wanted = [str(state.say(state.alice, state.town, text.format(bot=name))["id"]) for text in ANSWERED]
    for text in PASSED_OVER:
        state.say(state.alice, state.town, text.format(name="helperbot"))
    state.say(state.alice, state.town, f"```\n{name} {ASK}\n```")
    for root in ("", wanted[0]):
        state.say(other, state.town, f"{name} {ASK}", root=root)
    edited = state.say(state.alice, state.town, "연차는?")
    state.patch_post(state.alice, edited["id"], {"message": f"{name} {ASK}"})
    wanted.append(str(state.say(state.alice, state.town, f"{name} {ASK}")["id"]))
    await until(lambda: mattermost_finals(mattermost), dict.fromkeys(wanted, 1))
    texts = str([post["message"] for post in state.own_posts()])
    assert not re.search(r"@(channel|here|all)\b", texts)
