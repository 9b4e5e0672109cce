"""What admins are told by direct message: each thing once, later where they cannot be reached, again while it lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bot.admin_notices import AdminNotices, NoticeStore, grace_of
from bot.compose_admins import build_admin_notices
from bot.errors import AuthError, Unreachable
from bot.platform_runner import PlatformRunner
from bot.readiness import Readiness
from bot.settings import load_settings
from bot.store import Store
from bot.types import Part
from knowledge.types import ToolStatus
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.times import Clock, counting_ids

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)  # long ago by the clock of the running bot
EMPTY = "The folder /srv/rules is empty, although 120 documents were in it; nothing was deleted."


@pytest.fixture
def world(tmp_path):
    clock = Clock()
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    ids = counting_ids()
    yield SimpleNamespace(
        clock=clock,
        store=store,
        parts={},
        slack=FakePlatform(new_id=ids, name="slack"),
        mattermost=FakePlatform(new_id=ids, name="mattermost"),
    )
    store.close()


def start(world, *admins: str, language="en") -> AdminNotices:
    """A new process over the same store."""

    async def parts() -> list[Part]:
        return [
            Part(
                name=name, kind="platform" if name in ("slack", "mattermost") else "tool", state=state, detail=detail,
                since=since,
            )
            for name, (state, detail, since) in world.parts.items()
        ]  # fmt: skip

    return AdminNotices(
        NoticeStore(world.store, clock=world.clock), world.store, parts=parts,
        platforms={"slack": world.slack, "mattermost": world.mattermost}, admins=admins or ("slack:U1",),
        language=language, clock=world.clock,
    )  # fmt: skip


def set_part(world, name: str, state: str, detail: str = EMPTY) -> None:
    world.parts[name] = (state, detail, world.clock())


def told(platform: FakePlatform) -> list[str]:
    return [post.reply.markdown for post in platform.roots]


async def step(world, notices: AdminNotices, minutes: float) -> None:
    world.clock.advance(minutes * 60)
    await notices.look()
    await notices.tell()


async def test_an_admin_is_told_that_a_source_looks_empty_and_when_it_is_well_again(world):
    notices = start(world)
    set_part(world, "source:rules", "degraded")
    await step(world, notices, 1)
    assert told(world.slack) == []
    await step(world, notices, 1)
    (message,) = told(world.slack)
    assert EMPTY in message
    assert "`source:rules`" in message
    assert "Since 2026-03-02 09:00 UTC" in message
    await step(world, notices, 60)
    assert len(told(world.slack)) == 1
    set_part(world, "source:rules", "ok")
    await step(world, notices, 1)
    assert told(world.slack)[1] == "✅ `source:rules` is well again (2026-03-02 09:00 to 2026-03-02 10:03 UTC)."
    await step(world, notices, 600)
    assert len(told(world.slack)) == 2


async def test_a_token_revoked_on_one_platform_is_told_on_the_other_at_once_and_on_its_own_when_it_is_back(world):
    notices = start(world, "slack:U1", "mattermost:m1")
    set_part(world, "slack", "down", "The token was revoked: reinstall the app and set the new token.")
    world.slack.errors += [AuthError("token_revoked")]
    await step(world, notices, 6)
    assert told(world.slack) == []
    assert "token was revoked" in told(world.mattermost)[0]
    await step(world, notices, 1)
    assert "token was revoked" in told(world.slack)[0]
    assert len(told(world.mattermost)) == 1


async def test_who_could_not_be_told_while_it_lasted_is_not_told_afterwards(world):
    notices = start(world)
    set_part(world, "source:rules", "degraded")
    world.slack.failing = True
    await step(world, notices, 3)
    set_part(world, "source:rules", "ok")
    world.slack.failing = False
    await step(world, notices, 30)
    assert told(world.slack) == []


async def test_what_passes_by_itself_is_not_told(world):
    notices = start(world)
    set_part(world, "ollama", "down")
    await step(world, notices, 9)
    set_part(world, "ollama", "ok")
    await step(world, notices, 30)
    assert told(world.slack) == []


@pytest.mark.parametrize(
    ("name", "state", "is_told"),
    [
        ("source:rules", "degraded", True),
        ("alerts", "degraded", True),
        ("alerts", "down", True),
        ("catalog", "down", True),
        ("dense:e5", "down", True),
        ("dense:e5", "degraded", False),
        ("mattermost", "degraded", False),
        ("mcp", "down", True),
        ("catalog", "ok", False),
    ],
)
async def test_only_states_in_which_something_is_missing_are_told(world, name, state, is_told):
    notices = start(world)
    set_part(world, name, state)
    await step(world, notices, 11)
    assert bool(told(world.slack)) == is_told


async def test_what_lasts_is_told_again_once_a_day(world):
    notices = start(world)
    set_part(world, "source:rules", "degraded")
    await step(world, notices, 3)
    for _ in range(4):
        await step(world, notices, 12 * 60)
    assert [text.split("`")[0] for text in told(world.slack)] == [
        "⚠️ **For admins** · ",
        "⚠️ **Still the case** · ",
        "⚠️ **Still the case** · ",
    ]


async def test_what_comes_and_goes_is_told_at_most_once_an_hour(world):
    notices = start(world)
    for _ in range(12):
        set_part(world, "source:rules", "degraded")
        await step(world, notices, 3)
        set_part(world, "source:rules", "ok")
        await step(world, notices, 2)
    assert len([text for text in told(world.slack) if "For admins" in text]) == 1


async def test_a_restart_tells_nothing_twice_and_forgets_nothing(world):
    set_part(world, "source:rules", "degraded")
    await step(world, start(world), 3)
    set_part(world, "source:rules", "degraded")  # a new process sees it for the first time
    await step(world, start(world), 3)
    assert len(told(world.slack)) == 1
    set_part(world, "source:rules", "ok")
    await step(world, start(world), 1)
    assert "well again" in told(world.slack)[1]


async def test_a_kill_between_telling_and_recording_tells_nothing_twice(world, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*arguments):
        raise Killed

    set_part(world, "source:rules", "degraded")
    with monkeypatch.context() as patch:
        patch.setattr(NoticeStore, "done", killed)
        with pytest.raises(Killed):
            await step(world, start(world), 3)
    await step(world, start(world), 1)
    assert len(told(world.slack)) == 1


async def test_telling_is_tried_again_less_and_less_often(world):
    notices = start(world)
    set_part(world, "source:rules", "degraded")
    world.slack.errors += [Unreachable("away"), Unreachable("away")]
    await step(world, notices, 3)
    await step(world, notices, 0.4)
    assert len(world.slack.errors) == 1
    await step(world, notices, 0.2)
    assert world.slack.errors == []
    await step(world, notices, 0.9)
    assert told(world.slack) == []
    await step(world, notices, 0.2)
    assert len(told(world.slack)) == 1


async def test_an_admin_of_a_platform_that_is_not_configured_keeps_nobody_from_being_told(world):
    notices = start(world, "web:nobody", "mattermost:m1")
    set_part(world, "source:rules", "degraded")
    await step(world, notices, 3)
    assert len(told(world.mattermost)) == 1


async def test_something_that_happened_is_told_once_without_an_end(world):
    notices = start(world)
    store = NoticeStore(world.store, clock=world.clock)
    assert store.raise_notice("sns:alarms", "Open this once.", since=world.clock(), lasts=False)
    assert not store.raise_notice("sns:alarms", "Open this once.", since=world.clock(), lasts=False)
    for _ in range(3):
        await step(world, notices, 24 * 60)
    assert told(world.slack) == ["ℹ️ **For admins** · `sns:alarms`\n\nOpen this once."]
    world.clock.advance(timedelta(days=3).total_seconds())
    store.forget_old()
    assert world.store.query("SELECT * FROM admin_notices") == []
    assert world.store.query("SELECT * FROM admin_messages") == []


async def test_a_source_that_is_configured_no_more_is_over(world):
    notices = start(world)
    set_part(world, "source:rules", "degraded")
    await step(world, notices, 3)
    world.parts.clear()
    await step(world, notices, 1)
    assert NoticeStore(world.store, clock=world.clock).open_keys() == set()


async def test_secrets_in_a_reason_are_masked(world):
    notices = start(world)
    set_part(world, "source:shop", "degraded", "git fetch https://bot:Kq8vv21Zx9@git.example.com/a.git failed.")
    await step(world, notices, 3)
    assert "Kq8vv21Zx9" not in told(world.slack)[0]


async def test_korean_admins_are_told_in_korean(world):
    notices = start(world, language="ko")
    set_part(world, "source:rules", "degraded")
    await step(world, notices, 3)
    assert told(world.slack)[0].startswith("⚠️ **관리자 알림** · `source:rules`")


def test_sources_are_told_of_sooner_than_parts_that_mend_themselves():
    assert grace_of("source:rules") < grace_of("slack") < grace_of("ollama")


class DownTools:
    def check(self) -> list[ToolStatus]:
        return [ToolStatus(name="catalog", state="down", detail="The catalog is damaged.", checked_at=NOW)]


class NoModels:
    async def check(self) -> list[ToolStatus]:
        return []


async def test_the_running_bot_tells_the_admins_of_its_settings_what_its_health_says(world, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "haechi.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n'
        '[commands]\nadmins = ["slack:U1"]\n[chat]\nlanguage = "ko"\n',
        encoding="utf-8",
    )
    readiness = Readiness(knowledge=DownTools(), models=NoModels(), clock=lambda: NOW)
    services = SimpleNamespace(settings=load_settings(tmp_path / "haechi.toml"), store=world.store, readiness=readiness)
    chat = SimpleNamespace(runners=[PlatformRunner(world.slack, clock=world.clock)])
    notices = build_admin_notices(services, chat)
    await notices.look()
    await notices.tell()
    (message,) = told(world.slack)
    assert message.startswith("⚠️ **관리자 알림** · `catalog`")
    assert "The catalog is damaged." in message
