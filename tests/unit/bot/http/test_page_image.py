"""The picture of a page beside its text: who may see it, what it says when it cannot be shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from knowledge.api import PageImage
from knowledge.errors import ContentChanged, NotFound, ToolDown, UnreadableFile
from knowledge.types import Block, Locator, Passage, Scope
from tests.unit.bot.http.site import Site

OpenSite = Callable[..., Site]
CHUNK = "0123456789abcdef" * 2
IMAGE = PageImage(content=b"\xff\xd8jpeg", media_type="image/jpeg", etag="e-2")
SCAN = Passage(
    source="rules",
    uri="경조금.pdf",
    title="경조금",
    revision="r" * 64,
    evidence_kind="docs",
    media_type="application/pdf",
    blocks=(
        Block(kind="paragraph", text="제1조 경조금", page=1),
        Block(kind="table", text="", rows=(("구분", "금액"), ("결혼", "500,000")), page=2),
    ),
    lines=(),
    locator=Locator(
        source="rules", uri="경조금.pdf", revision="r" * 64, page=2, label="[별표 1]", first_block=1, last_block=1,
        doubtful=("500,000", "결혼"), doubtful_pages=(2, 2),
    ),
)  # fmt: skip


async def get(site: Site, path: str, **headers: str):  # type: ignore[no-untyped-def]
    async with site.client() as client:
        return await client.get(path, headers=headers)


async def test_a_page_is_served_as_a_picture_that_only_this_browser_keeps(open_site: OpenSite) -> None:
    site = open_site(passages={CHUNK: SCAN})
    site.knowledge.images = {(CHUNK, 2): IMAGE}
    answer = await get(site, f"/evidence/{CHUNK}/page/2")
    assert answer.status_code == 200
    assert answer.content == IMAGE.content
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == 'inline; filename="page-2.jpg"'
    again = await get(site, f"/evidence/{CHUNK}/page/2", **{"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ContentChanged("changed"), 409, "파일이 바뀌어서"),
        (NotFound("masked"), 404, "원본을 여세요"),
        (UnreadableFile("slow"), 503, "이미지로 만들 수 없습니다"),
        (ToolDown("down"), 503, "이미지로 만들 수 없습니다"),
    ],
)
async def test_a_page_that_cannot_be_shown_says_why(
    open_site: OpenSite, error: Exception, status: int, words: str
) -> None:
    site = open_site(passages={CHUNK: SCAN})
    site.knowledge.images = {(CHUNK, 2): error}
    answer = await get(site, f"/evidence/{CHUNK}/page/2")
    assert answer.status_code == status
    assert words in answer.text


@pytest.mark.parametrize("page", ["0", "-1", "x", "2.5", "9" * 40])
async def test_what_is_no_page_number_is_not_found(open_site: OpenSite, page: str) -> None:
    site = open_site(passages={CHUNK: SCAN})
    assert (await get(site, f"/evidence/{CHUNK}/page/{page}")).status_code == 404


async def test_the_picture_is_behind_the_token_and_within_the_scope(open_site: OpenSite) -> None:
    locked = open_site(passages={CHUNK: SCAN}, token="secret-token-of-the-page")
    locked.knowledge.images = {(CHUNK, 2): IMAGE}
    assert (await get(locked, f"/evidence/{CHUNK}/page/2")).status_code == 303
    elsewhere = open_site(passages={CHUNK: SCAN}, scope=Scope.of("other"))
    elsewhere.knowledge.images = {(CHUNK, 2): IMAGE}
    assert (await get(elsewhere, f"/evidence/{CHUNK}/page/2")).status_code == 404


async def test_evidence_from_a_scan_shows_the_page_beside_the_text_and_marks_the_words(open_site: OpenSite) -> None:
    site = open_site(passages={CHUNK: SCAN})
    full = (await get(site, f"/evidence/{CHUNK}")).text
    panel = (await get(site, f"/api/evidence/{CHUNK}")).json()["html"]
    for html in (full, panel):
        assert f'<img src="/evidence/{CHUNK}/page/2"' in html
        assert '<td><mark class="doubtful">500,000</mark></td>' in html
        assert "이미지와 비교하세요: 500,000, 결혼" in html
        assert "2쪽 이미지 보기" in html


async def test_a_document_that_was_read_without_doubt_has_a_link_but_no_picture(open_site: OpenSite) -> None:
    assert SCAN.locator is not None
    sure = replace(SCAN, locator=replace(SCAN.locator, doubtful=(), doubtful_pages=()))
    site = open_site(passages={CHUNK: sure, "word": replace(sure, media_type="text/markdown")})
    html = (await get(site, f"/evidence/{CHUNK}")).text
    assert f'href="/evidence/{CHUNK}/page/2"' in html
    assert "<img" not in html
    assert "/page/" not in (await get(site, "/evidence/word")).text


async def test_a_notice_links_to_the_picture_and_to_nothing_else(open_site: OpenSite) -> None:
    from bot.http.posts_html import _notice

    made = _notice(f"3쪽: https://bot.example/haechi/evidence/{CHUNK}/page/3 https://evil.example/x <b>")
    assert f'href="/evidence/{CHUNK}/page/3"' in made
    assert made.count("<a ") == 1
    assert "&lt;b&gt;" in made
