"""A platform that fails is reported and tried again, and takes no other down."""

from __future__ import annotations

import asyncio

from bot.errors import AuthError, PlatformError, Unreachable
from bot.platform_runner import PlatformRunner, states_of
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import until
from tests.unit.bot.messages import PERSON
from tests.unit.bot.times import Clock, counting_ids


def runner_of(*errors: Exception, first_wait_s: float = 0.01, name: str = "fake") -> PlatformRunner:
    platform = FakePlatform(new_id=counting_ids(), name=name)
    platform.errors = list(errors)
    return PlatformRunner(platform, clock=Clock(), first_wait_s=first_wait_s)


async def nothing(delivery) -> None:
    raise AssertionError(delivery)


async def test_a_platform_that_fails_is_listened_to_again():
    heard = []

    async def receive(delivery):
        heard.append(delivery)

    runner = runner_of(Unreachable("no route"), ZeroDivisionError("a bug of the adapter"))
    running = asyncio.create_task(runner.run(receive))
    await until(lambda: not runner.platform.errors)
    await runner.platform.say("@haechi 안녕", author=PERSON)
    await until(lambda: heard)
    assert (await runner.state()).state == "ok"
    await runner.close()
    await running


async def test_a_token_that_was_revoked_is_shown_with_the_next_attempt():
    runner = runner_of(AuthError("Slack: the token was revoked."), first_wait_s=30)
    running = asyncio.create_task(runner.run(nothing))
    await asyncio.sleep(0)
    state = await runner.state()
    assert state.state == "down"
    assert state.detail == "Slack: the token was revoked; tried again at 09:01:00 UTC"
    await runner.close()
    await running


async def test_one_that_fails_leaves_the_others_alone():
    broken, well = runner_of(*[Unreachable("down")] * 500, name="broken", first_wait_s=30), runner_of(name="well")
    running = [asyncio.create_task(runner.run(nothing)) for runner in (broken, well)]
    await asyncio.sleep(0)
    assert {state.name: state.state for state in await states_of([broken, well])} == {"broken": "down", "well": "ok"}
    for runner in (broken, well):
        await runner.close()
    await asyncio.gather(*running)


async def test_errors_of_many_parts_are_told_in_one_sentence():
    group = ExceptionGroup("many", [ExceptionGroup("inner", [PlatformError("The socket is gone.")])])
    runner = runner_of(group, first_wait_s=30)
    running = asyncio.create_task(runner.run(nothing))
    await asyncio.sleep(0)
    assert (await runner.state()).detail.startswith("The socket is gone; tried again at ")
    await runner.close()
    await running
