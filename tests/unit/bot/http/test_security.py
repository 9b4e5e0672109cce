"""Who is let in, and what every response carries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from starlette.requests import Request

from bot.http.security import Sessions, TokenThrottle, host_name, local_target
from tests.unit.bot.http.site import ORIGIN, Site, SteppingClock

OpenSite = Callable[..., Site]
MESSAGE = {"text": "@haechi 연차는 며칠인가요?"}
POST = "/api/channels/general/posts"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "localhost.evil"])
async def test_another_host_name_is_refused_because_it_may_have_been_rebound(site: Site, host: str) -> None:
    async with site.client() as client:
        answer = await client.get("/c/general", headers={"host": host})
    assert answer.status_code == 421
    assert "allowed_hosts" in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765"])
async def test_loopback_names_are_answered(site: Site, host: str) -> None:
    async with site.client() as client:
        assert (await client.get("/c/general", headers={"host": host})).status_code == 200


async def test_configured_hosts_and_the_public_address_are_answered(open_site: OpenSite) -> None:
    site = open_site(allowed_hosts=["haechi.corp"], public_url="https://ask.corp:8443/")
    async with site.client() as client:
        for host in ("haechi.corp:8765", "ask.corp"):
            assert (await client.get("/c/general", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1.evil.example:8765", "http://["],
)
async def test_a_request_of_another_site_changes_nothing(site: Site, origin: str) -> None:
    async with site.client(origin=origin) as client:
        answer = await client.post(POST, json=MESSAGE)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "bad_origin"
    assert site.platform.posts.threads("general", limit=10) == []


async def test_a_change_without_an_origin_needs_a_bearer_token(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client(origin=None) as client:
        assert (await client.post(POST, json=MESSAGE)).status_code == 403
        bearer = {"authorization": "Bearer s3cret"}
        assert (await client.post(POST, json=MESSAGE, headers=bearer)).status_code == 201


async def test_sec_fetch_site_decides_even_when_the_origin_looks_right(site: Site) -> None:
    async with site.client() as client:
        for value, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 201)):
            answer = await client.post(POST, json=MESSAGE, headers={"sec-fetch-site": value})
            assert answer.status_code == status, value


async def test_the_public_address_counts_as_own_origin_behind_a_proxy(open_site: OpenSite) -> None:
    site = open_site(public_url="https://ask.corp")
    async with site.client(origin="https://ask.corp") as client:
        assert (await client.post(POST, json=MESSAGE)).status_code == 201


async def test_only_json_is_accepted_so_that_no_plain_form_can_post(site: Site) -> None:
    async with site.client() as client:
        answer = await client.post(POST, content='{"text": "hi"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 415


async def test_a_body_over_64_kb_is_refused_whether_announced_or_not(site: Site) -> None:
    async def unannounced():  # type: ignore[no-untyped-def]
        for _ in range(70):
            yield b" " * 1024

    async with site.client() as client:
        announced = await client.post(POST, content=b" " * 70_000, headers={"content-type": "application/json"})
        streamed = await client.post(POST, content=unannounced(), headers={"content-type": "application/json"})
    assert announced.status_code == streamed.status_code == 413
    assert "64 KB" in announced.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/c/general", "/login", "/static/page.js", "/nothing", "/api/status", "/evidence/x"])
async def test_every_response_forbids_inline_script_framing_and_sniffing(open_site: OpenSite, path: str) -> None:
    for site in (open_site(), open_site(token="s3cret", run="b")):
        async with site.client() as client:
            headers = (await client.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == (
            "same-origin" if path == "/login" and "b" in site.platform.changes.last_id else "no-referrer"
        )


async def test_pages_hold_no_inline_script_or_style(open_site: OpenSite) -> None:
    site = open_site(examples=["x"])
    message = await site.ask("@haechi 안녕")
    async with site.client() as client:
        for path in ("/c/general", f"/c/general/t/{message.thread.root_id}", "/login", "/nothing"):
            html = (await client.get(path, follow_redirects=True)).text
            assert "<style" not in html
            assert " style=" not in html
            assert "onclick" not in html
            assert html.count("<script") == html.count('<script type="module" src="/static/page.js"></script>')


async def test_with_a_token_strangers_see_only_the_login_form(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        page = await client.get("/c/general?before=7")
        assert page.status_code == 303
        assert page.headers["location"] == "/login?next=/c/general%3Fbefore%3D7"
        for path in ("/api/status", "/events?channel=general", "/api/evidence/chunk-1"):
            answer = await client.get(path)
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "need_token"
        assert (await client.post(POST, json=MESSAGE)).status_code == 401
        assert (await client.get("/evidence/chunk-1")).status_code == 303


async def test_signing_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        form = await client.get("/login?next=/c/general")
        assert form.headers["referrer-policy"] == "same-origin"  # else the browser would send "Origin: null"
        wrong = await client.post("/login?next=/c/general", data={"token": "guess"})
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers
        right = await client.post("/login?next=/c/general", data={"token": " s3cret "})
        assert right.status_code == 303
        assert right.headers["location"] == "/c/general"
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "s3cret" not in cookie
        assert (await client.get("/c/general")).status_code == 200
        signed_out = await client.post("/api/logout", json={})
        assert "Max-Age=0" in signed_out.headers["set-cookie"]
        assert (await client.get("/c/general")).status_code == 303


async def test_over_https_cookies_are_marked_secure(open_site: OpenSite) -> None:
    site = open_site(token="s3cret", allowed_hosts=["ask.corp"])
    async with site.client(base_url="https://ask.corp", origin="https://ask.corp") as client:
        right = await client.post("/login", data={"token": "s3cret"})
    assert "Secure" in right.headers["set-cookie"]


async def test_a_login_form_of_another_site_is_refused(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client(origin="http://evil.example") as client:
        assert (await client.post("/login", data={"token": "s3cret"})).status_code == 403


async def test_a_link_from_a_chat_message_loads_once_more_before_asking_for_the_token(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        first = await client.get("/evidence/a%22b", headers={"sec-fetch-site": "cross-site"})
        assert first.status_code == 200
        assert 'http-equiv="refresh"' in first.text
        assert 'a"b' not in first.text
        again = await client.get("/evidence/a", headers={"sec-fetch-site": "same-origin"})
        assert again.status_code == 303


async def test_guessing_tokens_is_slowed_down_even_for_the_right_one(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        statuses = [(await client.post("/login", data={"token": f"guess {n}"})).status_code for n in range(12)]
        assert statuses[0] == 401
        assert statuses[-1] == 429
        assert (await client.post("/login", data={"token": "s3cret"})).status_code == 429
        site.clock.now += timedelta(seconds=61)
        assert (await client.post("/login", data={"token": "s3cret"})).status_code == 303


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\nb", ""]
)
def test_a_login_forwards_to_this_site_only(target: str) -> None:
    assert local_target(target) == "/"


def test_a_login_forwards_to_the_wanted_page() -> None:
    assert local_target("/c/general/t/a?evidence=x") == "/c/general/t/a?evidence=x"


def test_a_session_ends_with_its_time_with_the_token_and_with_any_change() -> None:
    clock = SteppingClock()
    sessions = Sessions("s3cret", clock=clock, new_nonce=lambda: "n0nce")
    cookie = sessions.issue()
    assert sessions.valid(cookie)
    assert Sessions("s3cret", clock=clock).valid(cookie), "a restart keeps people signed in"
    assert not Sessions("other", clock=clock).valid(cookie)
    expires, rest = cookie.split(".", 1)
    assert not sessions.valid(f"{int(expires) + 1}.{rest}")
    for broken in ("", ".", "..", "x", cookie[:-1], cookie + "ü"):
        assert not sessions.valid(broken)
    clock.now += timedelta(days=31)
    assert not sessions.valid(cookie)


def test_the_throttle_forgets_after_its_window() -> None:
    clock = SteppingClock()
    throttle = TokenThrottle(clock=clock, attempts=2, window_s=60)
    guesser, other = (Request({"type": "http", "client": (host, 1)}) for host in ("192.0.2.1", "192.0.2.2"))
    throttle.failed(guesser)
    assert not throttle.blocked(guesser)
    throttle.failed(guesser)
    assert throttle.blocked(guesser)
    assert not throttle.blocked(other)
    clock.now += timedelta(seconds=60)
    assert not throttle.blocked(guesser)


async def test_guessing_by_header_is_slowed_down_like_guessing_by_form(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        for number in range(10):
            guess = {"authorization": f"Bearer guess-{number}"}
            assert (await client.get("/api/status", headers=guess)).status_code == 401
        assert (await client.get("/api/status", headers={"authorization": "Bearer s3cret"})).status_code == 429


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("::1", "::1"), (" x ", "x"), ("", "")],
)
def test_host_names_lose_port_brackets_and_case(host: str, name: str) -> None:
    assert host_name(host) == name


async def test_health_shows_no_details_to_strangers(open_site: OpenSite) -> None:
    site = open_site(token="s3cret")
    async with site.client() as client:
        stranger = await client.get("/healthz")
        assert stranger.json() == {"status": "ok"}
        owner = await client.get("/healthz", headers={"authorization": "Bearer s3cret"})
        assert owner.json()["data_dir"] == "/srv/haechi"
        site.health = {"status": "down"}
        assert (await client.get("/healthz")).status_code == 503


async def test_a_crash_shows_a_number_and_nothing_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/srv/secret/path")

    monkeypatch.setattr(site.platform.posts, "threads", broken)
    monkeypatch.setattr(site.platform.posts, "thread", broken)
    async with site.client() as client:
        page = await client.get("/c/general")
        api = await client.get("/api/channels/general/threads/x/posts")
    for answer in (page, api):
        assert answer.status_code == 500
        assert "error-1" in answer.text
        assert "secret" not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_static_files_do_not_lead_out_of_their_folder(site: Site) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=site.app), base_url=ORIGIN) as client:
        for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py"):
            assert (await client.get(path)).status_code == 404
