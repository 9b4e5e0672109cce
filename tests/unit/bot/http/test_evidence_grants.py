"""A link with a grant opens exactly what was cited, for whoever has it and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.evidence_grants import EvidenceGrants
from bot.http.security import Sessions
from bot.http.server import build_http
from knowledge.api import PageImage
from knowledge.types import Block, Locator, Passage, Scope
from tests.unit.bot.http.site import Site
from tests.unit.bot.times import Clock

TOKEN = "page-token-of-the-test"


def passage(source: str = "secret") -> Passage:
    texts = ("앞 조항: 비밀 상여 900만원", "제3조 숙박비는 80,000원이다.", "뒤 조항: 비밀 수당 500만원")
    locator = Locator(source=source, uri="rules.pdf", revision="r", label="제3조", page=2, first_block=1, last_block=1)
    return Passage(
        source=source, uri="rules.pdf", title="규정", revision="r", media_type="application/pdf", evidence_kind="docs",
        blocks=tuple(Block(kind="paragraph", text=text) for text in texts), lines=(), locator=locator, url=None,
    )  # fmt: skip


@pytest.fixture
def grants():
    return EvidenceGrants(key=b"k" * 32, clock=Clock(), days=7)


@pytest.fixture
def site(tmp_path: Path, grants):
    made = Site(tmp_path, passages={"c1": passage(), "c2": passage("public")})
    made.knowledge.images[("c1", 2)] = PageImage(content=b"jpeg", media_type="image/jpeg", etag="e")
    made.app = build_http(
        platform=made.platform, knowledge=made.knowledge, scope=Scope.of("public"), token=TOKEN, allowed_hosts=(),
        health=made._health, granted=grants.allows, clock=made.clock,
    )  # fmt: skip
    yield made
    made.close()


def signed_in(site: Site) -> dict[str, str]:
    return {"haechi_session": Sessions(TOKEN, clock=site.clock).issue()}


async def test_a_grant_opens_the_cited_part_alone_without_token(site, grants):
    async with site.client() as browser:
        page = await browser.get(f"/evidence/c1?grant={grants.grant('c1')}")
    assert page.status_code == 200
    assert "숙박비는 80,000원" in page.text
    for hidden in ("상여", "수당"):
        assert hidden not in page.text


@pytest.mark.parametrize(
    "address", ["/evidence/c1", "/evidence/c1?grant=", "/evidence/c1?grant=99999.x", "/evidence/c1/page/2"]
)
async def test_without_a_grant_the_token_is_asked_for(site, address):
    async with site.client() as browser:
        page = await browser.get(address)
    assert page.status_code == 303
    assert page.headers["location"].startswith("/login")


async def test_a_grant_opens_nothing_else(site, grants):
    grant = grants.grant("c1")
    async with site.client() as browser:
        for address in (
            f"/evidence/c2?grant={grant}", f"/evidence/c1/page/2?grant={grant}", f"/api/evidence/c1?grant={grant}",
            f"/?grant={grant}", f"/c/general?grant={grant}", f"/evidence/../c/general?grant={grant}",
        ):  # fmt: skip
            assert (await browser.get(address)).status_code in (303, 401), address
        assert (await browser.post(f"/evidence/c1?grant={grant}")).status_code != 200


async def test_a_picture_opens_with_its_own_grant(site, grants):
    async with site.client() as browser:
        picture = await browser.get(f"/evidence/c1/page/2?grant={grants.grant('c1/page/2')}")
    assert (picture.status_code, picture.content) == (200, b"jpeg")


async def test_a_reader_who_is_signed_in_sees_what_the_page_shows_and_the_cited_part_of_the_rest(site, grants):
    async with site.client(cookies=signed_in(site)) as browser:
        everything = await browser.get(f"/evidence/c2?grant={grants.grant('c2')}")
        part = await browser.get(f"/evidence/c1?grant={grants.grant('c1')}")
        nothing = await browser.get("/evidence/c1")
        no_picture = await browser.get("/evidence/c1/page/2")
    assert "상여" in everything.text
    assert "상여" not in part.text
    assert "80,000원" in part.text
    assert nothing.status_code == 404
    assert no_picture.status_code == 404
