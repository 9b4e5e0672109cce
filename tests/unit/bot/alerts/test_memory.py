"""The error memory through real stores: a wrong case never returns, nothing loses a case, nothing unmasked is in it."""

from __future__ import annotations

import json
import subprocess
from functools import partial

import pytest

from bot.alerts.services import Service
from bot.audit import AuditLog
from bot.case_operations import CaseOperations, note_forgotten
from bot.channels import ChannelPolicy, Channels
from bot.maintenance import Maintenance
from bot.settings_operations import RetentionSettings
from bot.types import ThreadRef
from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.embed.hashed import HashEmbedder
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel
from tests.fakes.vector_index import MemoryVectorIndex
from tests.unit.bot.alerts.desk_world import BOT, CAUSE, NO_TOOL, alert, build, finding, open_world
from tests.unit.bot.company import company_sources

EVERYTHING = Scope.everything()
REWORDED = "After all attempts fail, no attempt having succeeded, `retry_declined` throws PaymentDeclined [1]."
OTHER = "`retry_declined` reads `charge` of a payment, max_attempts being exhausted by range [1]."
SECRET = "AKIAQX7ZJ2N4RTW8MPL5"


async def _ignore(delivery):
    return None


def git(folder, *command: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *command], cwd=folder, check=True)


async def post(world, channel="general") -> ThreadRef:
    world.platform._receive = _ignore
    return (await world.platform.say("alert", author=BOT, mention=False, channel=channel)).thread


async def take(world, key, one=None, *, model=None, channel="general", **options):
    thread = await post(world, channel)
    desk = build(world, model=model, **options)
    outcome = await desk.take(one or alert(world), key, thread, world.platform)
    return outcome, thread, desk


def concluding(cause: str) -> FakeChatModel:
    return FakeChatModel.saying(NO_TOOL, finding(cause))


def cases(world, scope=EVERYTHING):
    return world.knowledge.memory.list_cases(scope=scope)


def recalled(world, *, service="pay", fingerprint="?", error_class="PaymentDeclined", scope=EVERYTHING):
    return world.knowledge.memory.recall(
        service=service, error_class=error_class, fingerprint=fingerprint, text="card declined", scope=scope
    )


def maintenance_of(world) -> Maintenance:
    return Maintenance(
        store=world.store, knowledge=world.knowledge, data_dir=world.folder / "data",
        retention=RetentionSettings(), clock=world.clock,
    )  # fmt: skip


@pytest.fixture
def world(tmp_path):
    with open_world(tmp_path) as opened:
        yield opened


async def learn_a_case(world, *, cause=CAUSE, key="a1", **options):
    await take(world, key, model=concluding(cause), **options)
    (case,) = cases(world)
    return case


async def call_wrong(world, key="a1"):
    assert world.knowledge.memory.take_out(f"fake:{key}")


@pytest.mark.parametrize(
    ("how", "again"),
    [
        ("wrong", CAUSE),
        ("wrong", REWORDED),
        ("wrong", CAUSE.replace("[1]", "").strip(" .") + " [1]!"),
        ("forgotten", CAUSE),  # no word of it is left that other words could be compared with
        ("corrected", CAUSE),
        ("corrected", REWORDED),
    ],
)
async def test_a_cause_that_people_rejected_is_neither_remembered_nor_shown_again(world, how, again):
    case = await learn_a_case(world)
    left = []
    if how == "wrong":
        await call_wrong(world)
    elif how == "forgotten":
        world.knowledge.memory.forget(case.number, scope=EVERYTHING)
    else:
        desk = build(world)
        (fault,) = desk._faults.in_thread(world.platform.posts[0].reply.thread)
        desk._keeper._verdicts.save(fault, "correction", author_id="fake:kim", key="k1", cause="an expired certificate")
        await desk.learn({"fake": world.platform})
        left = ["an expired certificate"]
    world.clock.advance(25 * 3600)
    await take(world, "a2", model=concluding(again))
    assert [one.cause for one in cases(world)] == left
    reply = world.platform.posts[-1].reply
    assert "Likely cause" not in reply.markdown
    assert any("called wrong before" in line for line in reply.notices)


async def test_a_rejected_cause_stays_rejected_for_a_similar_alert_of_the_class_after_restart_and_embedder_swap(
    tmp_path,
):
    with open_world(tmp_path) as world:
        await learn_a_case(world)
        await call_wrong(world)
        clock = world.clock
    clock.advance(25 * 3600)
    with open_world(tmp_path, clock=clock) as again:
        similar = alert(again, symbol="charge_again", message="other card declined", line=11)
        await take(again, "b1", similar, model=concluding(REWORDED))
        assert cases(again) == []
    with swapped(tmp_path, clock) as knowledge:
        assert knowledge.memory.list_cases(scope=EVERYTHING) == []
        assert knowledge.memory.wrong_causes(
            service="pay", error_class="PaymentDeclined", fingerprint="?", scope=Scope.of("shop")
        ) == [CAUSE]
        assert (
            knowledge.memory.wrong_causes(
                service="pay", error_class="PaymentDeclined", fingerprint="?", scope=Scope.of("rules")
            )
            == []
        )


async def test_another_cause_of_the_fault_is_remembered_after_one_was_called_wrong(world):
    await learn_a_case(world)
    await call_wrong(world)
    world.clock.advance(25 * 3600)
    model = concluding(OTHER)
    await take(world, "a2", model=model)
    assert [case.cause for case in cases(world)] == [OTHER]
    assert f"WRONG for this fault, do not conclude it again: {CAUSE}" in model.asked[0][-1].content


def swapped(folder, clock):
    """The knowledge with another embedder, which builds a generation of its own."""
    from contextlib import contextmanager

    @contextmanager
    def opened():
        config = KnowledgeConfig(
            data_dir=folder / "data", sources=company_sources(folder), embedders={"docs": ("hash",), "code": ("hash",)},
            workers=1,
        )  # fmt: skip
        index = MemoryVectorIndex()
        adapters = Adapters(embedder=lambda name: HashEmbedder(dim=64), vectors=lambda: index)
        knowledge = Knowledge.open(config, clock=clock, adapters=adapters)
        try:
            knowledge.sync()
            yield knowledge
        finally:
            knowledge.close()

    return opened()


async def test_restarts_new_indexes_and_another_embedder_lose_no_case(tmp_path):
    with open_world(tmp_path) as world:
        case = await learn_a_case(world)
        world.knowledge.sync(force=True)
        assert [one.match for one in recalled(world)] == ["class"]
        clock = world.clock
    with open_world(tmp_path, clock=clock) as again:
        assert cases(again) == [case]
    with swapped(tmp_path, clock) as knowledge:
        assert knowledge.memory.list_cases(scope=EVERYTHING) == [case]
        found = knowledge.memory.recall(
            service="pay", error_class="Other", fingerprint="?", text=f"PaymentDeclined card declined {CAUSE}",
            scope=EVERYTHING,
        )  # fmt: skip
        assert [one.match for one in found] == ["similar"]


async def test_backup_and_restore_keep_cases_and_what_was_called_wrong(world):
    maintenance = maintenance_of(world)
    await learn_a_case(world)
    await take(world, "b1", alert(world, symbol="refund"), model=concluding(OTHER))
    await call_wrong(world, "b1")
    file = world.folder / "backup.tar"
    await maintenance.methods["backup"]({"file": str(file)}, lambda step: None)
    world.knowledge.memory.forget(cases(world)[0].number, scope=EVERYTHING)
    await maintenance.methods["restore"]({"file": str(file)}, lambda step: None)
    assert [case.cause for case in cases(world)] == [CAUSE]
    world.clock.advance(25 * 3600)
    await take(world, "b2", alert(world, symbol="refund"), model=concluding(OTHER))
    assert [case.cause for case in cases(world)] == [CAUSE]


@pytest.mark.parametrize("how", ["wrong", "corrected", "forgotten"])
async def test_a_backup_from_before_brings_no_rejected_case_back(world, how):
    maintenance = maintenance_of(world)
    case = await learn_a_case(world)
    file = world.folder / "backup.tar"
    await maintenance.methods["backup"]({"file": str(file)}, lambda step: None)
    desk = build(world)
    (fault,) = desk._faults.in_thread(world.platform.posts[0].reply.thread)
    if how == "forgotten":
        memory, audit = world.knowledge.memory, AuditLog(world.store, clock=world.clock)
        operations = CaseOperations(memory, audit, partial(note_forgotten, world.store, world.clock))
        await operations.methods["forget_case"]({"number": case.number}, lambda step: None)
    else:
        kind = "wrong" if how == "wrong" else "correction"
        desk._keeper._verdicts.save(fault, kind, author_id="fake:kim", key="k1", cause="an expired certificate")
    await desk.learn({"fake": world.platform})
    posts = len(world.platform.posts)
    await maintenance.methods["restore"]({"file": str(file)}, lambda step: None)
    assert [one.cause for one in cases(world)] == [CAUSE]
    await build(world).learn({"fake": world.platform})
    assert [one.cause for one in cases(world)] == (["an expired certificate"] if how == "corrected" else [])
    assert len(world.platform.posts) == posts  # nobody is told twice


async def test_a_case_of_an_analysis_that_a_kill_cut_off_is_remembered_and_no_model_is_asked_again(world):
    desk, thread = build(world, model=concluding(CAUSE)), await post(world)
    world.platform.failing = True
    with pytest.raises(Exception, match="does not answer"):
        await desk.take(alert(world), "a1", thread, world.platform)
    assert cases(world) == []
    world.platform.failing = False
    assert await build(world).take(alert(world), "a1", thread, world.platform) == "analysed"
    assert "Likely cause" in world.platform.posts[0].reply.markdown
    assert [case.cause for case in cases(world)] == [CAUSE]
    assert cases(world)[0].url == f"fake://general/{thread.root_id}/{world.platform.posts[0].id}"


async def test_a_case_is_stale_from_the_moment_its_code_changed_and_not_because_it_moved(world):
    await learn_a_case(world)
    shop = world.folder / "shop"
    (shop / "src").mkdir()
    git(shop, "mv", "payments.py", "src/pay.py")
    git(shop, "commit", "-q", "-am", "moved")
    world.knowledge.sync()
    assert [case.is_stale for case in cases(world)] == [False]
    file = shop / "src" / "pay.py"
    file.write_text(file.read_text(encoding="utf-8").replace("attempt + 1", "attempt + 2"), encoding="utf-8")
    git(shop, "commit", "-q", "-am", "changed")
    world.knowledge.sync()
    assert [case.is_stale for case in cases(world)] == [True]
    await take(world, "b1", alert(world, symbol="refund"))
    assert "the code has changed since" in world.platform.posts[-1].reply.markdown


async def test_a_stale_case_weighs_less_than_a_fresh_one_and_what_a_person_said_most(world):
    from knowledge.types_cases import CitedText, NewCase

    def case(origin, *, text, correction=False, fingerprint="f"):
        cited = CitedText(
            source="shop", uri="payments.py", revision="0" * 40, start_line=1, end_line=2, symbol=None, text=text
        )
        return world.knowledge.memory.remember(
            NewCase(
                service="pay", error_class="E", fingerprint=fingerprint, message="m", summary="", cause=f"{origin}.",
                fix="", cited=(cited,), origin=origin, is_correction=correction,
            )
        )  # fmt: skip

    (chunk, *_) = world.knowledge.code.chunks_of_file("shop", "payments.py", scope=EVERYTHING)
    told = case("told", text=chunk.text, correction=True)
    fresh, stale = case("fresh", text=chunk.text), case("stale", text="it is gone")
    found = world.knowledge.memory.recall(service="pay", error_class="E", fingerprint="f", text="m", scope=EVERYTHING)
    assert [one.case.number for one in found] == [told, fresh, stale]
    assert [one.case.is_stale for one in found] == [False, False, True]


async def test_cases_of_another_service_and_of_sources_that_the_channel_may_not_see_are_not_shown(world):
    await learn_a_case(world)
    other = Service(name="mail", repositories=("shop",))
    await take(world, "b1", alert(world, service="mail"), service=other)
    assert "Past cases" not in world.platform.posts[-1].reply.markdown
    await take(world, "b2", alert(world, symbol="refund"), scope=Scope.of("rules"), channel="hr")
    assert "Past cases" not in world.platform.posts[-1].reply.markdown
    await take(world, "b3", alert(world, symbol="refund"), scope=Scope.of("shop"), channel="dev")
    assert "Past cases" in world.platform.posts[-1].reply.markdown
    assert recalled(world, service="") == []


async def test_a_correction_is_shown_only_where_all_is_seen_that_its_channel_shows(world):
    policy = ChannelPolicy(scope=Scope.of("shop", "rules"), language="en")
    channels = Channels(default=policy, direct=policy)
    _, thread, desk = await take(world, "a1", channels=channels)
    message = (await world.platform.say("cause: see the rules", author=BOT, root=thread.root_id)).thread
    fault = desk._faults.in_thread(message)[0]
    desk._keeper._verdicts.save(fault, "correction", author_id="fake:kim", key="k1", cause="a clause of the rules")
    await desk.learn({"fake": world.platform})
    assert [case.sources for case in cases(world)] == [("rules", "shop")]
    assert cases(world, Scope.of("shop")) == []
    assert len(cases(world, Scope.of("shop", "rules"))) == 1


async def test_secrets_of_alerts_models_and_corrections_are_in_no_file(world):
    leaky = f"`retry_declined` raises PaymentDeclined with {SECRET} [1]."
    told = json.dumps({
        "summary": leaky, "cause": leaky, "fix": None, "confidence": "low",
        "next_steps": [f"log in with {SECRET}"],
    })  # fmt: skip
    one = alert(world, message=f"declined for {SECRET}")
    _, thread, desk = await take(world, "a1", one, model=FakeChatModel.saying(NO_TOOL, told, told))
    fault = desk._faults.in_thread(thread)[0]
    desk._keeper._verdicts.save(fault, "correction", author_id="fake:kim", key="k1", cause=f"{SECRET} was old")
    await desk.learn({"fake": world.platform})
    world.store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in [*world.folder.glob("*.sqlite3*"), *(world.folder / "data").glob("*.sqlite3*")]:
        assert SECRET.encode() not in file.read_bytes(), file.name
    assert len(cases(world)) == 1
