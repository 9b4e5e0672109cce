"""Links that the reader in a channel can open, and that open nothing else."""

from __future__ import annotations

import pytest

from bot.compose_platforms import build_links
from bot.evidence_grants import EvidenceGrants, EvidenceLinks
from bot.settings import load_settings
from bot.types import Citation, Reply
from knowledge.types import Locator, Scope
from tests.unit.bot.messages import thread
from tests.unit.bot.times import Clock

PAGE = "https://haechi.example.com"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def grants(clock):
    return EvidenceGrants(key=b"k" * 32, clock=clock, days=7)


def citation(chunk_id="c1", url=f"{PAGE}/evidence/c1#cited", source="rules") -> Citation:
    locator = Locator(source=source, uri="travel.pdf", revision="r", label="제3조", page=12)
    return Citation(index=1, locator=locator, chunk_id=chunk_id, title="여비규정", url=url, quote="")


def reply(platform="slack", notices=(), **changes) -> Reply:
    return Reply(
        thread=thread(platform=platform), markdown="답", citations=(citation(**changes),), delivery_id="d",
        final=True, nearest=(citation(**changes),), notices=notices,
    )  # fmt: skip


def links(grants, **changes) -> EvidenceLinks:
    return EvidenceLinks(**{"page_url": PAGE, "public": True, "grants": grants, **changes})


def test_a_grant_is_for_one_chunk_until_its_day(grants, clock):
    grant = grants.grant("c1")
    assert grants.allows("c1", grant)
    assert not grants.allows("c2", grant)
    assert not grants.allows("c1/page/3", grant)
    clock.advance(7 * 24 * 3600)
    assert grants.allows("c1", grant)
    clock.advance(24 * 3600)
    assert not grants.allows("c1", grant)


@pytest.mark.parametrize("wrong", ["", ".", "1.x", "²0000.x", "99999999999.x", "20515", "a.b", "20515.\ud800", "-1.x"])
def test_what_is_no_grant_is_none(grants, wrong):
    assert not grants.allows("c1", wrong)


def test_a_grant_cannot_be_made_longer(grants):
    day, _, signature = grants.grant("c1").partition(".")
    assert not grants.allows("c1", f"{int(day) + 1}.{signature}")


def test_another_key_signs_nothing_for_this_one(grants, clock):
    assert not grants.allows("c1", EvidenceGrants(key=b"x" * 32, clock=clock, days=7).grant("c1"))


def test_cited_and_nearest_evidence_gets_links_with_grants(grants):
    made = links(grants).readable(reply(), Scope.of("rules"))
    for cited in (*made.citations, *made.nearest):
        grant = cited.url.removeprefix(f"{PAGE}/evidence/c1?grant=").removesuffix("#cited")
        assert grants.allows("c1", grant)


def test_links_to_other_servers_stay(grants):
    made = links(grants).readable(reply(url="https://git.example.com/x#L1"), Scope.of("rules"))
    assert made.citations[0].url == "https://git.example.com/x#L1"


def test_a_page_that_only_this_machine_reaches_is_not_linked(grants):
    assert links(grants, public=False).readable(reply(), Scope.of("rules")).citations[0].url is None


def test_on_the_page_itself_links_stay_as_they_are(grants):
    assert links(grants).readable(reply("web"), Scope.of("rules")) == reply("web")


def test_nothing_outside_the_scope_is_granted(grants):
    assert links(grants).readable(reply(source="secret"), Scope.of("rules")).citations[0].url is None


def test_a_picture_of_a_page_has_a_grant_of_its_own(grants):
    notice = f"스캔 문서입니다. 12쪽 확인: {PAGE}/evidence/c1/page/12"
    (made,) = links(grants).readable(reply(notices=(notice,)), Scope.of("rules")).notices
    assert made.startswith(notice + "?grant=")
    grant = made.rpartition("=")[2]
    assert grants.allows("c1/page/12", grant)
    assert not grants.allows("c1/page/13", grant)
    (hidden,) = links(grants, public=False).readable(reply(notices=(notice,)), Scope.of("rules")).notices
    assert hidden == "스캔 문서입니다. 12쪽 확인."


def test_without_days_links_need_the_token_of_the_page(grants):
    assert links(None).readable(reply(), Scope.of("rules")).citations[0].url == f"{PAGE}/evidence/c1#cited"


@pytest.mark.parametrize(("enabled", "linked"), [("true", True), ("false", False)])
def test_no_link_leads_to_a_page_that_is_switched_off(grants, tmp_path, monkeypatch, enabled, linked):
    monkeypatch.setenv("PAGE_TOKEN", "p" * 40)
    config = tmp_path / "haechi.toml"
    config.write_text(
        f'data_dir = "data"\npublic_url = "{PAGE}"\n[web]\nenabled = {enabled}\ntoken_env = "PAGE_TOKEN"\n'
        f'[[sources]]\nname = "rules"\nkind = "documents"\npath = "{tmp_path}"\n',
        encoding="utf-8",
    )
    made = build_links(load_settings(config), grants).readable(reply(), Scope.of("rules"))
    assert [bool(cited.url) for cited in made.citations] == [linked]
