"""What is gathered for a fault, on a repository with a history: places, changes since a deployment, callers, runbooks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime

import pytest

from bot.alerts.alert import Deploy
from bot.alerts.analysis import MAX_CALLS, Analysed
from bot.alerts.deploys import Deployments
from bot.alerts.evidence import gather
from bot.alerts.frame_places import plain_name
from bot.alerts.rendering import render
from bot.alerts.services import Service
from bot.types import ThreadRef
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.alerts.desk_world import BOT, CAUSE, CHANGE, NO_TOOL, alert, build, finding, open_world
from tests.unit.bot.company import CODE, write_company
from tests.unit.bot.times import Clock

CHECKOUT = '''"""Checkout."""

from payments import PaymentRetry


def pay_order(order):
    """Pays an order, trying again."""
    return PaymentRetry().retry_declined(order.payment)
'''
SHIFT = 2  # lines between the deployed commit and the index
EVERYTHING = Scope.everything()


def git(folder, *command, author="kim", at="2026-01-10T00:00:00+00:00") -> str:
    identity = {
        "GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": author,
        "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at,
    }  # fmt: skip
    done = subprocess.run(
        ["git", *command], cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, **identity}
    )
    return done.stdout.strip()


def commit(folder, content: str, message: str, **who) -> str:
    (folder / "payments.py").write_text(content, encoding="utf-8")
    git(folder, "add", ".", **who)
    git(folder, "commit", "-q", "-m", message, **who)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def world(tmp_path):
    """Commits: the first one, one that was deployed, one that is only in the index and shifts all lines."""
    write_company(tmp_path)
    shop = tmp_path / "shop"
    shutil.rmtree(shop / ".git")  # that one is of today
    git(shop, "init", "-q", "-b", "main")
    (shop / "checkout.py").write_text(CHECKOUT, encoding="utf-8")
    first = commit(shop, CODE, "shop", at="2026-01-10T00:00:00+00:00")
    five = CODE.replace("max_attempts=3", "max_attempts=5")
    deployed = commit(shop, five, "five attempts", author="lee", at="2026-02-20T00:00:00+00:00")
    shifted = five.replace('"""Payments."""\n', '"""Payments."""\n\nLIMIT = 5\n').replace("attempt + 1", "attempt + 2")
    newest = commit(shop, shifted, "counts from two", author="park", at="2026-03-01T00:00:00+00:00")
    with open_world(tmp_path, clock=Clock()) as opened:
        opened.first, opened.deployed, opened.newest = first, deployed, newest
        opened.line = five.splitlines().index("        for attempt in range(max_attempts):") + 1
        yield opened


def deploys(world, *revisions: str, repository: str | None = None) -> list[Deploy]:
    times = ["2026-02-25T09:00:00+00:00", "2026-02-01T09:00:00+00:00"]
    return [
        Deploy(
            service="pay", environment=None, revision=revision, repository=repository,
            deployed_at=datetime.fromisoformat(at),
        )
        for revision, at in zip(revisions, times, strict=False)
    ]  # fmt: skip


def gathered(world, *, one=None, service=None, scope=EVERYTHING, told=()):
    service = service or Service(name="pay", repositories=("shop",))
    deploys = Deployments.fitting(told, None, service)
    return gather(
        one or alert(world, line=world.line), service=service, channel=scope, library=world.knowledge, deploys=deploys
    )


def rendered(world, found, language="en"):
    from bot.alerts.store import Fault

    now = world.clock()
    fault = Fault(
        number=1, thread=ThreadRef(platform="fake", channel_id="c", root_id="r"), delivery_key="d", service="pay",
        fingerprint="f", error_class="", title="", state="open", count=1, last_at=now, earlier=None,
        post_id=None, reply=None,
    )  # fmt: skip
    return render(alert(world), Analysed(gathered=found), fault, language=language, link=lambda locator, chunk_id: None)


def test_frames_are_found_at_the_deployed_commit_and_told_with_their_line_in_the_index(world):
    found = gathered(world, told=deploys(world, world.deployed, world.first))
    first = found.pieces[0]
    assert first.scored.chunk.locator.symbol == "PaymentRetry.retry_declined"
    assert first.line == world.line + SHIFT
    assert found.revisions == (world.deployed,)
    text = rendered(world, found).markdown
    marked = [line for line in text.splitlines() if line.startswith(">")]
    assert marked == [f">{world.line + SHIFT:>5}          for attempt in range(max_attempts):"]
    assert f"at the deployed commit {world.deployed[:10]}" in rendered(world, found).notices[0]


def test_what_changed_since_the_deployment_before_is_told_with_who_and_when(world):
    found = gathered(world, told=deploys(world, world.deployed, world.first))
    assert [(one.commit.author, one.commit.summary, one.is_later) for one in found.changes] == [
        ("kim", "shop", False), ("park", "counts from two", True), ("lee", "five attempts", False),
    ]  # fmt: skip
    assert [one.is_line for one in found.changes] == [True, False, False]
    text = rendered(world, found).markdown
    assert "Changed since the deployment before (02-01 09:00 UTC)" in text
    assert "2026-02-20 lee: `five attempts` [1]" in text
    assert "`counts from two` [1] · **not deployed yet**" in text


def test_a_deployment_that_is_a_versions_name_is_followed_by_its_time_and_said_not_to_be_known(world):
    found = gathered(world, told=deploys(world, "v2.1.0", "v2.0.9"))
    assert found.revisions == ()
    assert [one.commit.author for one in found.changes] == ["park", "lee"]
    assert "At the indexed commit" in rendered(world, found).notices[0]


def test_the_commit_of_another_repository_is_not_looked_for_in_this_one(world):
    service = Service(name="pay", repositories=("shop", "shop-web"))
    of_web = deploys(world, world.newest, world.first, repository="acme/shop-web")
    found = gathered(world, told=of_web, service=service)
    assert (found.revisions, found.since) == ((), None)
    own = deploys(world, world.deployed, world.first, repository="https://git.example.com/acme/shop.git")
    found = gathered(world, told=[*of_web, *own], service=service)
    assert found.revisions == (world.deployed,)
    assert found.since == own[1].deployed_at


def test_an_alert_that_names_its_own_commit_is_looked_up_there(world):
    named = replace(alert(world, line=world.line + SHIFT), revision=world.newest)
    assert gathered(world, told=deploys(world, world.deployed, world.first), one=named).revisions == (world.newest,)
    named = replace(alert(world, line=world.line), revision="v2.1.0")  # a version's name, unknown to the copy
    found = gathered(world, told=deploys(world, world.deployed, world.first), one=named)
    assert found.revisions == (world.deployed,)


def test_no_change_since_the_deployment_before_is_said(world):
    git(world.folder / "shop", "commit", "-q", "--allow-empty", "-m", "release")
    told = deploys(world, git(world.folder / "shop", "rev-parse", "HEAD"), world.newest)
    found = gathered(world, told=told, one=alert(world, line=world.line + SHIFT))
    assert [one.is_line for one in found.changes] == [True]
    found = gathered(world, told=told, one=alert(world, line=None))
    text = rendered(world, found).markdown
    assert "have not changed since the deployment before" in text


def test_without_deployments_the_last_commits_are_shown_and_no_line_is_blamed(world):
    found = gathered(world)
    assert [one.commit.author for one in found.changes] == ["park", "lee", "kim"]
    assert not any(one.is_line or one.is_later for one in found.changes)
    assert "**Recent changes**" in rendered(world, found).markdown


def test_callers_are_told(world):
    found = gathered(world)
    assert [one.symbol for one in found.pieces[0].scored.callers] == ["pay_order"]
    assert "Called by: `pay_order` `checkout.py:8`" in rendered(world, found).markdown


def test_a_function_is_found_by_its_name_where_its_line_is_another_one_now(world):
    found = gathered(world, one=alert(world, line=2))
    assert found.pieces[0].scored.chunk.locator.symbol == "PaymentRetry.retry_declined"
    assert found.pieces[0].line is None
    assert not any(line.startswith(">") for line in rendered(world, found).markdown.splitlines())


def test_a_file_of_the_same_name_elsewhere_without_that_function_is_not_taken(world):
    other = alert(world, symbol="refund_everything")
    found = gathered(world, one=other)
    assert all(piece.frame is None for piece in found.pieces)
    assert "lie in no code" in rendered(world, found).notices[0] or found.pieces == ()


def test_a_frame_whose_file_has_no_suffix_is_found(world):
    (trace,) = alert(world).traces
    (thrown,) = trace.thrown
    frame = replace(thrown.frames[0], file="app/payments.", line=None)
    shrunk = replace(trace, thrown=(replace(thrown, frames=(frame,)),))
    found = gathered(world, one=replace(alert(world), traces=(shrunk,)))
    assert found.pieces[0].scored.chunk.locator.symbol == "PaymentRetry.retry_declined"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("retry_declined", "retry_declined"), ("PaymentRetry.retry", "retry"), ("block (2 levels) in pay", "pay"),
        ("PaymentRetry$retry$2.invokeSuspend", "retry"), ("lambda$pay$3", "pay"), ("(*Service).Retry.func1", "Retry"),
        ("shop::orders::Cart::total", "total"), ("App\\Order->pay", "pay"), ("<module>", ""), ("<anonymous>", ""), (None, ""),
        ("Shop::Order#pay", "pay"), ("List<int>.Add", "Add"), ("OrderService.<init>", "OrderService"),
    ],
)  # fmt: skip
def test_the_name_of_a_function_without_what_compilers_add(symbol, name):
    assert plain_name(symbol) == name


def test_a_named_runbook_is_always_shown_and_a_source_of_runbooks_only_where_it_fits(world):
    named = Service(name="pay", repositories=("shop",), runbooks=("rules/휴가규정.md",))
    found = gathered(world, service=named)
    docs = [one.scored.chunk.locator.uri for one in found.pieces if one.scored.chunk.evidence_kind == "docs"]
    assert set(docs) == {"휴가규정.md"}
    assert "**관련 문서**" in rendered(world, found, "ko").markdown
    searched = gathered(world, service=Service(name="pay", repositories=("shop",), runbooks=("rules",)))
    assert [one for one in searched.pieces if one.scored.chunk.evidence_kind == "docs"] == []
    hidden = gathered(world, service=named, scope=Scope.of("shop"))
    assert all(one.scored.chunk.locator.source == "shop" for one in hidden.pieces)


def test_nothing_is_gathered_from_outside_the_channels_scope(world):
    found = gathered(world, scope=Scope.of("rules"), told=deploys(world, world.deployed, world.first))
    assert all(one.scored.chunk.locator.source == "rules" for one in found.pieces)
    assert found.changes == ()


# --- what a model may look up -----------------------------------------------------------------------


def tool(name: str, argument: str) -> str:
    return json.dumps({"tool": name, "argument": argument})


async def take(world, model, **options):
    world.platform._receive = _ignore
    thread = (await world.platform.say("alert", author=BOT, mention=False)).thread
    await build(world, model=model, **options).take(alert(world, line=world.line + SHIFT), "a1", thread, world.platform)
    return world.platform.posts[-1].reply


async def _ignore(delivery):
    return None


async def test_a_model_may_ask_for_callers_blame_and_definitions_and_sees_them(world):
    model = FakeChatModel.saying(
        tool("callers", "retry_declined"), tool("blame", "[1]"), tool("definition", "pay_order"), finding(CAUSE)
    )
    reply = await take(world, model)
    second, third, last = (asked[1].content for asked in model.asked[1:4])
    assert "def pay_order" in second
    assert "wrote the failing line" not in third
    assert "park: counts from two" in third
    assert "Likely cause" in reply.markdown
    assert last.count("<evidence id=") == len({part.partition('"')[0] for part in last.split('<evidence id="')[1:]})


async def test_a_model_that_goes_on_asking_is_cut_off(world):
    requests = [tool("search_code", f"payment {n}") for n in range(MAX_CALLS)]
    model = FakeChatModel.saying(*requests, finding(CAUSE))
    await take(world, model)
    assert len(model.asked) == MAX_CALLS + 1


@pytest.mark.parametrize(
    "asked",
    [
        tool("definition", "x; rm -rf /"), tool("blame", "999"), tool("blame", "../../etc/passwd"), tool("callers", "((("),
        tool("definition", "휴가 규정 전부 보여줘"), tool("search_documents", ""), "no JSON at all", tool("delete", "all"),
    ],
)  # fmt: skip
async def test_a_request_that_names_nothing_is_harmless(world, asked):
    model = FakeChatModel.saying(
        asked, *([asked] if "{" not in asked or "delete" in asked else [NO_TOOL]), finding(CAUSE)
    )
    reply = await take(world, model)
    assert "Likely cause" in reply.markdown


@pytest.mark.parametrize("name", ["search_documents", "search_code", "definition", "callers"])
async def test_tools_see_no_more_than_the_channel(world, name):
    model = FakeChatModel.saying(tool(name, "연차휴가 payment retry_declined"), NO_TOOL, finding(CAUSE))
    await take(world, model, scope=Scope.of("rules"), service=Service(name="pay"))
    assert all("def retry_declined" not in asked[1].content for asked in model.asked)


async def test_a_fix_is_shown_as_git_takes_it(world, tmp_path):
    reply = await take(
        world, FakeChatModel.saying(NO_TOOL, finding(CAUSE, CHANGE.replace("attempt + 1", "attempt + 2")))
    )
    diff = reply.markdown.partition("```diff\n")[2].partition("\n```")[0]
    (tmp_path / "fix.diff").write_text(diff + "\n", encoding="utf-8")
    git(tmp_path / "shop", "apply", "--check", str(tmp_path / "fix.diff"))
