"""What pages and posts show, and that nothing anybody wrote becomes markup."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from bot.http.html import Html, el
from bot.http.markdown import allowed_link, render_markdown
from bot.http.texts import LANGUAGES, TEXTS, choose_language, say
from knowledge.types import Block, Caller, Locator, Passage, Progress, Scope
from tests.unit.bot.http.site import Site, citation, reply

OpenSite = Callable[..., Site]
XSS = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>"


class Tags(HTMLParser):
    """Every element and attribute of a page, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def assert_harmless(html: str) -> None:
    tags = Tags(html)
    assert not {"img", "svg", "iframe", "object", "style", "base"} & set(tags.names)
    assert tags.names.count("script") <= 1
    for tag, name, value in tags.attributes:
        assert not name.startswith("on"), (tag, name)
        assert not value.lower().strip().startswith(("javascript:", "data:", "vbscript:")), (tag, name, value)


def document(**fields: object) -> Passage:
    blocks = (
        Block(kind="heading", text="여비규정", level=1, page=1),
        Block(kind="paragraph", text="제1조(목적) 출장 여비를 정한다.", page=1),
        Block(kind="heading", text="[별표 1] 여비 지급 기준", level=2, page=2),
        Block(kind="table", text="", rows=(("구분", "숙박비"), ("팀원", "80,000원")), page=2),
        Block(kind="note", text="비고", page=3),
    )
    defaults: dict[str, object] = {
        "source": "rules",
        "uri": "rules/여비규정.docx",
        "title": "여비규정",
        "revision": "0123456789abcdef",
        "evidence_kind": "docs",
        "media_type": "text/plain",
        "blocks": blocks,
        "lines": (),
        "locator": Locator(
            source="rules",
            uri="rules/여비규정.docx",
            revision="0",
            page=2,
            label="여비규정 [별표 1]",
            first_block=2,
            last_block=3,
        ),
        "url": None,
    }
    return Passage(**(defaults | fields))  # type: ignore[arg-type]


def code(total: int = 40, **fields: object) -> Passage:
    locator = Locator(
        source="shop", uri="billing/retry.py", revision="abc", start_line=10, end_line=12, symbol="PaymentService.retry"
    )
    lines = tuple(f"value_{number} = {number}" for number in range(1, total + 1))
    return document(
        source="shop", uri="billing/retry.py", title="retry.py", evidence_kind="code", blocks=(), lines=lines,
        locator=locator, revision="fedcba9876543210",
    ) if not fields else replace(code(total), **fields)  # type: ignore[arg-type]  # fmt: skip


async def page(site: Site, path: str, **headers: str) -> str:
    async with site.client() as client:
        answer = await client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


# --- escaping -------------------------------------------------------------------------------------


async def test_what_people_write_stays_text_everywhere(site: Site) -> None:
    async with site.client() as client:
        await client.get("/c/general")
        assert (await client.put("/api/me", json={"name": "<b>x</b>\"'"})).status_code == 200
        channel = (await client.post("/api/channels", json={"name": "<i>채널</i>"})).json()
        sent = await client.post(f"/api/channels/{channel['id']}/posts", json={"text": f"@haechi {XSS}"})
        pages = [(await client.get(path)).text for path in (sent.json()["url"], channel["url"], "/c/general")]
    for html in pages:
        assert_harmless(html)
        assert "<i>채널" not in html
    assert "&lt;script&gt;alert(1)" in pages[0]
    assert "&lt;b&gt;x&lt;/b&gt;" in pages[0]


async def test_what_the_bot_writes_stays_text_too(site: Site) -> None:
    message = await site.ask("@haechi x")
    evil = citation(label=f"제3조{XSS}", title=XSS, uri=f"a/{XSS}.md", source=XSS, chunk_id="a/../b?x=1#\"'<>")
    text = f"{XSS} [1]\n\n# {XSS}\n\n```{XSS}\n{XSS}\n```\n\n| {XSS} |\n|---|\n| {XSS} |\n\n[a](javascript:alert(1)) ![b](http://evil.example/x.png)"
    await site.platform.post(reply(message, text, citations=(evil,), nearest=(replace(evil, index=2),), notices=(XSS,)))
    await site.platform.post(reply(message, XSS, kind="error", error_id=XSS))
    html = await page(site, f"/c/general/t/{message.id}")
    assert_harmless(html)
    assert 'href="/evidence/a%2F..%2Fb%3Fx%3D1%23%22%27%3C%3E#cited"' in html
    assert "evil.example/x.png" in html  # as a link, which loads nothing by itself


async def test_the_title_of_a_thread_that_the_bot_began_shows_no_marks_of_style(site: Site) -> None:
    text = "🔴 **`TimeoutError`** · `payment-api`\n\n[Open the alert](https://mon.example.com/a?b=1)"
    posts, bot = site.platform.posts, site.platform.bot
    root = posts.open_root("general", bot, text, delivery_id="alert:1")
    html = await page(site, f"/c/general/t/{root.id}")
    assert "<h1>🔴 TimeoutError · payment-api Open the alert</h1>" in html
    assert "<title>🔴 TimeoutError · payment-api Open the alert · " in html
    assert "🔴 TimeoutError · payment-api Open the alert</span>" in await page(site, "/c/general")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_documents_and_code_hold_stays_text(open_site: OpenSite, language: str) -> None:
    blocks = (
        Block(kind="heading", text=XSS, level=1),
        Block(kind="table", text="", rows=((XSS, XSS), (XSS, XSS))),
        Block(kind="paragraph", text=XSS),
    )
    locator = Locator(
        source=XSS, uri=XSS, revision=XSS, label=XSS, symbol=XSS, first_block=0, last_block=2, start_line=1
    )
    evil = document(
        source=XSS, uri=XSS, title=XSS, revision=XSS, blocks=blocks, locator=locator, url="javascript:alert(1)"
    )
    lines = (f"x = '{XSS}'", "</td></tr></table><script>alert(1)</script>")
    passages = {
        "doc": evil,
        "code": replace(evil, evidence_kind="code", uri=f"{XSS}.py", lines=lines),
        "text": replace(evil, evidence_kind="code", uri=XSS, lines=lines),
    }
    site = open_site(passages=passages)
    async with site.client(cookies={"haechi_lang": language}) as client:
        for name in passages:
            full = await client.get(f"/evidence/{name}")
            panel = await client.get(f"/api/evidence/{name}")
            assert full.status_code == panel.status_code == 200
            assert_harmless(full.text)
            assert_harmless(panel.json()["html"])
            assert "javascript:" not in full.text


def test_links_lead_to_web_pages_or_our_own_evidence_only() -> None:
    assert allowed_link("https://git.example.com/a#L3")
    assert allowed_link("/evidence/abc")
    for address in (
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "http:///x", "ftp://x/y",
        "/api/logout", "mailto:a@b", "java\nscript:alert(1)", "https:\\evil", "http://[",
    ):  # fmt: skip
        assert not allowed_link(address), address


def test_outside_links_open_apart_and_tell_nothing() -> None:
    html = render_markdown("[a](https://x.example)", {}, table_label="Table")
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html


def test_markers_become_links_only_where_a_citation_stands_behind_them() -> None:
    links = {1: Html("<a>one</a>")}
    html = render_markdown(
        "가 [1] 나 [2] `[1]` [x [1]](https://x.example)\n\n    [1]\n\n[1]: https://evil.example", links, table_label=""
    )
    assert html.count("<a>one</a>") == 2
    assert "<code>[1]</code>" in html
    assert "[2]" in html
    assert 'href="https://evil.example"' not in html


def test_elements_escape_what_is_not_markup() -> None:
    assert el("p", "<", Html("<b>"), None, ["&"], title='"', hidden=True, lang=None) == (
        '<p title="&quot;" hidden>&lt;<b>&amp;</p>'
    )


# --- pages ----------------------------------------------------------------------------------------


async def test_an_empty_channel_says_what_to_ask_and_has_the_mention_ready(open_site: OpenSite) -> None:
    site = open_site(examples=["숙박비는 얼마까지 나오나요?", "Where is <retry>?"])
    html = await page(site, "/c/general")
    assert 'data-example="숙박비는 얼마까지 나오나요?"' in html
    assert "Where is &lt;retry&gt;?" in html
    assert re.search(r"<textarea[^>]*>@haechi </textarea>", html)


async def test_a_thread_shows_question_answer_sources_and_buttons(site: Site) -> None:
    message = await site.ask("@haechi 숙박비는?")
    shop = citation(
        2,
        "c2",
        label=None,
        uri="billing/retry.py",
        start_line=3,
        end_line=9,
        symbol="retry",
        source="shop",
        title="retry.py",
    )
    await site.platform.post(reply(message, "**80,000원** [1] [2]", citations=(citation(), shop)))
    html = await page(site, f"/c/general/t/{message.id}")
    assert "<strong>80,000원</strong>" in html
    assert html.count('data-evidence="chunk-1"') == 2, "in the text and in the list"
    assert "여비규정 제3조(숙박비) · 2쪽" in html
    assert "billing/retry.py:3–9" in html
    assert [vote in html for vote in ('data-vote="up"', 'data-vote="down"', 'data-vote="wrong"')] == [True] * 3


async def test_a_refusal_and_an_error_look_different(site: Site) -> None:
    message = await site.ask("@haechi 날씨는?")
    await site.platform.post(reply(message, "근거가 없습니다.", kind="refusal", nearest=(citation(),)))
    await site.platform.post(reply(message, "모델이 답하지 않습니다.", kind="error", error_id="7f3a"))
    await site.platform.post(reply(message, "지금은 찾을 수 없습니다.", kind="error"))
    html = await page(site, f"/c/general/t/{message.id}")
    refusal, error, unavailable = re.findall(r'<article id="[^"]+" class="post bot .*?</article>', html, re.DOTALL)
    assert 'class="post bot refusal"' in refusal
    assert "근거는 아닙니다" in refusal
    assert 'class="post bot error"' in error
    assert "오류 번호 7f3a" in error
    assert "지금은 다 찾아보지 못했습니다" in unavailable


async def test_private_posts_are_shown_to_one_person_only(site: Site) -> None:
    async with site.client() as kim, site.client() as lee:
        await kim.get("/c/general")
        await lee.get("/c/general")
        sent = (await kim.post("/api/channels/general/posts", json={"text": "@haechi 내 연차는?"})).json()
        (thread,) = site.platform.posts.threads("general", limit=9)
        await site.platform.respond_private(thread.root.thread, thread.root.author.id, "혼자만 보세요")
        assert "혼자만 보세요" in (await kim.get(sent["url"])).text
        assert "혼자만 보세요" not in (await lee.get(sent["url"])).text
        api = f"/api/channels/general/threads/{sent['thread']}/posts"
        assert len((await kim.get(api)).json()["posts"]) == 2
        assert len((await lee.get(api)).json()["posts"]) == 1


async def test_the_cookie_that_tells_people_apart_never_shows(site: Site) -> None:
    async with site.client() as client:
        await client.get("/c/general")
        person = client.cookies["haechi_person"]
        sent = (await client.post("/api/channels/general/posts", json={"text": "안녕"})).json()
        html = (await client.get(sent["url"])).text
        assert person not in html
        assert site.platform.posts.threads("general", limit=1)[0].root.author.id.removeprefix("web:") not in person


async def test_language_follows_the_browser_and_the_toggle(site: Site) -> None:
    async with site.client() as client:
        english = await client.get("/c/general", headers={"accept-language": "en-US,en;q=0.9,ko;q=0.5"})
        assert '<html lang="en">' in english.text
        assert "# general" in english.text
        toggled = await client.get("/c/general?lang=ko&before=9", headers={"accept-language": "en"})
        assert toggled.headers["location"] == "/c/general?before=9"
        korean = await client.get("/c/general", headers={"accept-language": "en"})
        assert '<html lang="ko">' in korean.text
        assert "# 일반" in korean.text
        at_root = await client.get("/?lang=en")
        assert "=en" in at_root.headers["set-cookie"]
        nonsense = await client.get("/c/general?lang=xx")
        assert "set-cookie" not in nonsense.headers


@pytest.mark.parametrize(
    ("cookie", "header", "language"),
    [
        (None, None, "ko"), (None, "fr,de", "ko"), (None, "fr, en;q=0.3", "en"), (None, "en;q=0.2,ko;q=0.9", "ko"),
        ("en", "ko", "en"), ("xx", "en", "en"), (None, "en;q=x,ko", "ko"), (None, "", "ko"),
    ],
)  # fmt: skip
def test_languages_are_chosen_by_weight(cookie: str | None, header: str | None, language: str) -> None:
    assert choose_language(cookie, header) == language


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_of_a_text_have_the_same_places(key: str) -> None:
    korean, english = (set(re.findall(r"\{(\w+)\}", text)) for text in TEXTS[key])
    assert korean == english
    assert all(text.strip() for text in TEXTS[key])


def test_texts_that_code_asks_for_are_there() -> None:
    from pathlib import Path

    import bot.http

    folder = Path(bot.http.__file__).parent
    asked = set()
    for file in folder.glob("*.py"):
        asked |= set(re.findall(r'(?:say\((?:language, )?|error_response\(request, \d+, )"(\w+)"', file.read_text()))
    scripts = {key for file in folder.glob("static/*.js") for key in re.findall(r'\bsay\("(\w+)"', file.read_text())}
    from bot.http.pages import SCRIPT_TEXTS

    assert asked <= set(TEXTS)
    assert scripts <= set(SCRIPT_TEXTS)
    assert say("en", "replies", n=3) == "3 replies"


async def test_errors_are_pages_that_lead_back(site: Site) -> None:
    async with site.client() as client:
        for path in ("/nothing", "/c/nothing", "/c/general/t/nothing"):
            answer = await client.get(path)
            assert answer.status_code == 404
            assert 'href="/"' in answer.text
        assert (await client.get("/api/nothing")).json()["error"]["code"] == "not_found_text"
        assert (await client.delete("/api/status")).status_code == 405


async def test_old_threads_are_reached_by_a_link(site: Site) -> None:
    for number in range(53):
        await site.ask(f"질문 {number:02}")
    newest = await page(site, "/c/general")
    assert "질문 52" in newest
    assert "질문 02" not in newest
    earlier = re.search(r'href="(/c/general\?before=\d+)"', newest)
    assert earlier is not None
    older = await page(site, earlier[1])
    assert re.findall(r"질문 \d\d", older) == ["질문 00", "질문 01", "질문 02"]


# --- sending --------------------------------------------------------------------------------------


async def test_messages_have_a_length_and_the_error_names_it(site: Site) -> None:
    async with site.client() as client:
        long = await client.post("/api/channels/general/posts", json={"text": "가" * 4001})
        assert long.status_code == 422
        assert "4001" in long.json()["error"]["message"]
        assert "4000" in long.json()["error"]["message"]
        assert (await client.post("/api/channels/general/posts", json={"text": "가" * 4000})).status_code == 201


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"[" * 60_000, b"\xff\xfe", b'{"text": 5}', b'{"text": " "}']
)
async def test_broken_bodies_get_a_reason(site: Site, body: bytes) -> None:
    async with site.client() as client:
        answer = await client.post(
            "/api/channels/general/posts", content=body, headers={"content-type": "application/json"}
        )
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


async def test_odd_characters_are_kept_or_dropped_but_never_break_anything(site: Site) -> None:
    async with site.client() as client:
        content = rb'{"text": "a\u0000b\ud800c \u202e \ud83d\ude00"}'
        answer = await client.post(
            "/api/channels/general/posts", content=content, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 201
        assert (await client.get(answer.json()["url"])).status_code == 200
    assert site.platform.posts.threads("general", limit=1)[0].root.text == "abc \u202e 😀"


async def test_channels_have_names_that_are_free_and_short(site: Site) -> None:
    async with site.client() as client:
        made = await client.post("/api/channels", json={"name": "  총무   질문 "})
        assert made.json()["name"] == "총무 질문"
        assert (await client.post("/api/channels", json={"name": "총무 질문"})).status_code == 409
        for name in ("", "  ", "가" * 41, "\n", "\u3164", "\u2800\u115f \u1160", "\uffa0", "\u0301", "\u200b\ufe0f"):
            assert (await client.post("/api/channels", json={"name": name})).status_code == 422
        assert "# 총무 질문" in (await client.get(made.json()["url"])).text


async def test_a_vote_is_kept_for_this_reader(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    post_id = await site.platform.post(reply(message, "답"))
    async with site.client() as kim, site.client() as lee:
        for client in (kim, lee):
            await client.get("/c/general")
        path = f"/api/posts/{post_id}/feedback"
        assert (await kim.post(path, json={"vote": "up"})).status_code == 503, "nobody listens yet"
        listening = asyncio.create_task(site.platform.listen(site.receive))
        await asyncio.sleep(0)
        assert (await kim.post(path, json={"vote": "up"})).json() == {"vote": "up"}
        assert (await kim.post(path, json={"vote": "sideways"})).status_code == 422
        assert (await kim.post("/api/posts/nothing/feedback", json={"vote": "up"})).status_code == 404
        thread = f"/c/general/t/{message.id}"
        assert 'data-vote="up" data-post="' + post_id + '" aria-pressed="true"' in (await kim.get(thread)).text
        assert 'aria-pressed="true"' not in (await lee.get(thread)).text
    await site.platform.close()
    await listening


# --- evidence -------------------------------------------------------------------------------------


async def test_a_document_marks_the_cited_section_and_nothing_else(open_site: OpenSite) -> None:
    passage = document(url="https://wiki.example/여비")
    html = await page(open_site(passages={"c": passage}), "/evidence/c")
    cited = re.search(r'<section id="cited".*?</section>', html)
    assert cited is not None
    assert "[별표 1] 여비 지급 기준" in cited[0]
    assert '<th scope="col">숙박비</th>' in cited[0]
    assert "<td>80,000원</td>" in cited[0]
    assert "제1조" not in cited[0]
    assert "비고" not in cited[0]
    for fact in (
        "여비규정 [별표 1]",
        "rules/여비규정.docx",
        "2쪽",
        "판 0123456789",
        'href="https://wiki.example/여비"',
    ):
        assert fact in html


async def test_a_file_shows_its_lines_with_numbers_and_marks_the_cited_ones(open_site: OpenSite) -> None:
    site = open_site(passages={"c": code()})
    html = await page(site, "/evidence/c")
    cited = re.findall(r'<tr class="cited"[^>]*><td class="line-number">(\d+)</td>', html)
    assert cited == ["10", "11", "12"]
    assert html.count('id="cited"') == 1
    assert 'class="hl-n">value_10' in html
    for fact in ("billing/retry.py", "PaymentService.retry", "10–12행", "커밋 fedcba9876"):
        assert fact in html


async def test_a_file_tells_what_calls_the_cited_definition(open_site: OpenSite) -> None:
    place = Locator(source="shop", uri="billing/jobs.py", revision="a", start_line=7, end_line=7)
    callers = (Caller(signature="def nightly(<b>)", symbol="nightly", locator=place),)
    html = await page(open_site(passages={"c": replace(code(), callers=callers)}), "/evidence/c")
    assert "<code>def nightly(&lt;b&gt;)</code>" in html
    assert "billing/jobs.py:7" in html
    assert "호출하는 곳" in html
    assert "호출하는 곳" not in await page(open_site(passages={"c": code()}), "/evidence/c")


async def test_a_panel_shows_a_window_of_a_long_file_and_links_to_the_rest(open_site: OpenSite) -> None:
    locator = Locator(source="shop", uri="a.py", revision="a", start_line=1000, end_line=1001)
    site = open_site(passages={"c": replace(code(3000), locator=locator)})
    async with site.client() as client:
        panel = (await client.get("/api/evidence/c")).json()["html"]
    numbers = [int(n) for n in re.findall(r'line-number">(\d+)<', panel)]
    assert (numbers[0], numbers[-1]) == (880, 1121)
    assert "879행이 더 있습니다" in panel
    assert 'href="/evidence/c#cited"' in panel


async def test_lines_that_the_file_does_not_have_break_nothing(open_site: OpenSite) -> None:
    odd = {
        "past": replace(code(5), locator=Locator(source="shop", uri="a.py", revision="a", start_line=90, end_line=95)),
        "empty": replace(code(5), lines=()),
        "none": replace(code(5), locator=None),
        "turned": replace(code(5), locator=Locator(source="shop", uri="a.py", revision="a", start_line=4, end_line=2)),
        "blocks": document(locator=Locator(source="rules", uri="a", revision="a", first_block=99)),
        "bare": document(blocks=(), locator=None),
    }
    site = open_site(passages=odd)
    for name in odd:
        await page(site, f"/evidence/{name}")


async def test_evidence_that_is_gone_or_out_of_scope_says_to_ask_again(open_site: OpenSite) -> None:
    site = open_site(passages={"secret": document(source="hr")}, scope=Scope.of("rules"))
    async with site.client() as client:
        for name in ("gone", "secret"):
            full = await client.get(f"/evidence/{name}")
            panel = await client.get(f"/api/evidence/{name}")
            assert full.status_code == panel.status_code == 404
            assert "다시 물어보면" in full.text
            assert panel.json()["error"]["code"] == "evidence_gone"


async def test_the_status_says_how_far_the_index_is_within_the_scope(open_site: OpenSite) -> None:
    site = open_site(scope=Scope.of("rules"))
    async with site.client() as client:
        assert (await client.get("/api/status")).json() == {"listening": False, "indexing": None}
        site.progress = Progress(source="rules", stage="read", done=12, total=40)
        assert (await client.get("/api/status")).json()["indexing"] == {"stage": "read", "done": 12, "total": 40}
        site.progress = Progress(source="hr", stage="read", done=12, total=40)
        assert (await client.get("/api/status")).json()["indexing"] is None


async def test_an_address_that_cannot_be_parsed_is_left_out_of_the_evidence_page(open_site: OpenSite) -> None:
    site = open_site(passages={"c": document(url="https://[wiki/page")})
    assert "wiki" not in await page(site, "/evidence/c")
