"""Mattermost's REST API: mattermostdriver's endpoints, each call in a thread of its own pool and with a time limit.

The driver's transport opens a connection for every call, has no time limit, throws away what a refusal says, and gives
a raw answer for `application/json; charset=utf-8`; `_Transport` takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import stamina
from mattermostdriver import Driver
from mattermostdriver.client import Client

from bot.errors import PlatformError, RateLimited, Unreachable
from bot.platforms.attached_text import HeadAndTail
from bot.platforms.mattermost_failures import translated

THREADS = 8
CONNECT_TIMEOUT_S = 5.0
ATTEMPTS = 6
LONGEST_WAIT_S = 5.0  # that a call itself waits for after 429; what takes longer is postponed by whoever called
PIECE_BYTES = 64 * 1024
PATIENCE_S = 90.0  # all attempts of one call together

Json = dict[str, Any]


class _Transport(Client):  # type: ignore[misc]
    """The driver's transport on one pool of connections. Raises what requests raises; answers of 400 and above too."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._pool = requests.Session()
        self._pool.trust_env = False  # ~/.netrc would replace the token
        self._pool.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._pool.verify = options["verify"]
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=THREADS)
        self._pool.mount("https://", adapter)
        self._pool.mount("http://", adapter)

    def make_request(
        self,
        method: str,
        endpoint: str,
        options: Any = None,
        params: Any = None,
        data: Any = None,
        files: Any = None,
        basepath: str | None = None,
    ) -> requests.Response:
        base = self.url if basepath is None else self.url.removesuffix(self._basepath) + basepath
        response = self._pool.request(
            method.upper(), base + endpoint, headers=self.auth_header(), json=options, params=params, data=data,
            files=files, timeout=self.request_timeout, allow_redirects=False,
        )  # fmt: skip
        response.raise_for_status()
        if response.is_redirect:
            raise requests.TooManyRedirects("redirected", response=response)
        return response

    def get(self, endpoint: str, options: Any = None, params: Any = None) -> Any:
        """The JSON of an answer, whatever its charset; the answer itself when it holds something else."""
        response = self.make_request("get", endpoint, options=options, params=params)
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return response.json() if kind == "application/json" else response

    def opened(self, endpoint: str) -> requests.Response:
        """An answer whose body is still to be read. Raises what requests raises."""
        response = self._pool.get(
            self.url + endpoint, headers=self.auth_header(), timeout=self.request_timeout, allow_redirects=False,
            stream=True,
        )  # fmt: skip
        response.raise_for_status()
        return response

    def close(self) -> None:
        self._pool.close()


class MattermostRest:
    """The calls that the adapter makes. Every one raises PlatformError and nothing else."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float,
        ca_file: Path | None,
        now_s: Callable[[], float],
        retry_wait_s: float = 0.5,
    ) -> None:
        parts = urlsplit(url)
        self._now_s = now_s
        self._retry_wait_s = retry_wait_s
        self._timeout_s = timeout_s
        self._base_path = parts.path.rstrip("/")
        self._driver = Driver(
            {
                "scheme": parts.scheme,
                "url": f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname,
                "port": parts.port or (443 if parts.scheme == "https" else 80),
                "basepath": f"{self._base_path}/api/v4",
                "verify": str(ca_file) if ca_file is not None else True,
                "request_timeout": (CONNECT_TIMEOUT_S, timeout_s),
                "token": token,
            },
            client_cls=_Transport,
        )
        self._driver.client.token = token
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mattermost")

    def use_token(self, token: str) -> bool:
        """Calls with another token from now on; whether it is another one."""
        is_new = bool(self._driver.client.token != token)
        self._driver.client.token = token
        return is_new

    async def once(self, what: str, call: Callable[[Driver], Any]) -> Any:
        """What `call` gives, tried once. Raises PlatformError."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, call, self._driver)
        except requests.RequestException as error:
            raise translated(error, what=what, now_s=self._now_s()) from error
        except OSError as error:  # a file of certificates that cannot be read
            raise PlatformError(f"Mattermost: {what} failed: {error}; check mattermost.ca_file.") from error
        except (ValueError, UnicodeError) as error:  # an answer that is no JSON, an address that no host can have
            raise Unreachable(f"Mattermost: {what} failed: the answer cannot be read ({error}).") from error
        except RuntimeError as error:  # the pool was closed
            raise PlatformError(f"Mattermost: {what} was not done because the bot stops.") from error

    async def safely(self, what: str, call: Callable[[Driver], Any]) -> Any:
        """What `call` gives; tried again after 429, 5xx and lost connections, so `call` must bear repeating."""
        async for attempt in self.attempts():
            with attempt:
                return await self.once(what, call)
        raise AssertionError("stamina ends with a result or an error")

    def attempts(self) -> Any:
        """stamina's attempts: waits as long as a 429 says unless that is long, longer and longer otherwise."""

        def worth_waiting(error: Exception) -> bool | float:
            if isinstance(error, RateLimited):
                return error.retry_after_s + 0.05 if error.retry_after_s <= LONGEST_WAIT_S else False
            return isinstance(error, Unreachable)

        return stamina.retry_context(
            on=worth_waiting, attempts=ATTEMPTS, timeout=PATIENCE_S, wait_initial=self._retry_wait_s,
            wait_max=10.0, wait_jitter=self._retry_wait_s,
        )  # fmt: skip

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._driver.client.close()

    # --- people, teams, channels ----------------------------------------------------------------

    async def me(self) -> Json:
        return _object(await self.once("who am I", lambda d: d.users.get_user("me")))

    async def user(self, user_id: str) -> Json:
        return _object(await self.once("look up a person", lambda d: d.users.get_user(user_id)))

    async def client_config(self) -> Json:
        """What the server tells its clients: SiteURL, MaxPostSize, PostEditTimeLimit ... as texts."""
        call: Callable[[Driver], Any] = lambda d: d.client.get("/config/client", params={"format": "old"})  # noqa: E731
        return _object(await self.safely("read the server's settings", call))

    async def my_teams(self) -> list[Json]:
        return _objects(await self.safely("list my teams", lambda d: d.client.get("/users/me/teams")))

    async def my_channels(self, team_id: str) -> list[Json]:
        """Channels of a team with the bot in them, direct and group messages of all teams among them."""
        call: Callable[[Driver], Any] = lambda d: d.channels.get_channels_for_user("me", team_id)  # noqa: E731
        return _objects(await self.safely("list my channels", call))

    async def channel(self, channel_id: str) -> Json:
        return _object(await self.safely("look up a channel", lambda d: d.channels.get_channel(channel_id)))

    async def channel_member(self, channel_id: str, user_id: str) -> Json:
        call: Callable[[Driver], Any] = lambda d: d.channels.get_channel_member(channel_id, user_id)  # noqa: E731
        return _object(await self.safely("look up a member", call))

    async def direct_channel(self, own_id: str, user_id: str) -> Json:
        call: Callable[[Driver], Any] = lambda d: d.channels.create_direct_message_channel([own_id, user_id])  # noqa: E731
        return _object(await self.safely("open a direct message", call))

    # --- posts ----------------------------------------------------------------------------------

    async def post(self, post_id: str) -> Json:
        return _object(await self.safely("read a post", lambda d: d.posts.get_post(post_id)))

    async def thread(self, root_id: str) -> Json:
        return _object(await self.safely("read a thread", lambda d: d.posts.get_thread(root_id)))

    async def channel_posts(self, channel_id: str, **params: str | int) -> Json:
        """`since` (milliseconds), or `before`/`after` (post ids) with `page` and `per_page` (at most 200)."""
        call: Callable[[Driver], Any] = lambda d: d.posts.get_posts_for_channel(channel_id, params=params)  # noqa: E731
        return _object(await self.safely("read a channel", call))

    async def create_post_once(self, fields: Json) -> Json:
        return _object(await self.once("post", lambda d: d.posts.create_post(fields)))

    async def patch_post_once(self, post_id: str, fields: Json) -> Json:
        return _object(await self.once("edit a post", lambda d: d.posts.patch_post(post_id, fields)))

    async def patch_post(self, post_id: str, fields: Json) -> Json:
        return _object(await self.safely("edit a post", lambda d: d.posts.patch_post(post_id, fields)))

    async def delete_post(self, post_id: str) -> None:
        await self.safely("delete a post", lambda d: d.posts.delete_post(post_id))

    async def react(self, user_id: str, post_id: str, emoji: str) -> None:
        fields = {"user_id": user_id, "post_id": post_id, "emoji_name": emoji}
        await self.safely("react", lambda d: d.reactions.create_reaction(fields))

    async def reactions_of(self, post_ids: Sequence[str]) -> dict[str, list[Json]]:
        """post id -> its reactions, of posts that have some; refused when one of them may not be read."""
        call: Callable[[Driver], Any] = lambda d: d.client.post("/posts/ids/reactions", options=list(post_ids))  # noqa: E731
        found = _object(await self.safely("read reactions", call))
        return {post_id: _objects(value or []) for post_id, value in found.items()}

    async def reactions(self, post_id: str) -> list[Json]:
        call: Callable[[Driver], Any] = lambda d: d.client.get(f"/posts/{post_id}/reactions")  # noqa: E731
        return _objects(await self.safely("read reactions", call) or [])

    async def file(self, file_id: str) -> HeadAndTail:
        """A file's beginning and end. Raises PlatformError, also when it is too long to be read."""

        def read(d: Driver) -> HeadAndTail:
            content = HeadAndTail()
            with d.client.opened(f"/files/{file_id}") as response:
                for piece in response.iter_content(PIECE_BYTES):
                    content.take(piece)
            return content

        content: HeadAndTail = await self.safely("read a file", read)
        return content

    async def file_infos(self, post_id: str) -> list[Json]:
        return _objects(await self.safely("list files", lambda d: d.posts.get_file_info_for_post(post_id)))

    async def execute_command(self, channel_id: str, text: str) -> Json:
        """What a slash command answers at once. The server carries it out, so this is done once only."""
        fields = {"channel_id": channel_id, "command": text}
        return _object(await self.once("run a command", lambda d: d.client.post("/commands/execute", options=fields)))

    async def respond_to_command(self, hook_id: str, fields: Json) -> None:
        """Says something more to whoever gave a command; the server takes it without a token."""
        base = self._base_path
        await self.once(
            "answer a command",
            lambda d: d.client.make_request("post", f"/hooks/commands/{hook_id}", options=fields, basepath=base),
        )


def _object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise Unreachable("Mattermost answered with something else than an object; check mattermost.url.")
    return value


def _objects(value: Any) -> list[Json]:
    if not isinstance(value, list):
        raise Unreachable("Mattermost answered with something else than a list; check mattermost.url.")
    return [item for item in value if isinstance(item, dict)]


async def reach(address: str, *, timeout_s: float) -> None:
    """Returns when the bot's own route answers there, to a body that it must refuse. Raises PlatformError."""

    def ask() -> requests.Response:
        return requests.post(address, data=b"null", timeout=(CONNECT_TIMEOUT_S, timeout_s), allow_redirects=False)

    try:
        answer = await asyncio.to_thread(ask)
    except requests.RequestException as error:
        raise Unreachable(f"Nothing answers at {address} ({type(error).__name__}).") from error
    if answer.status_code != 400 or "not an object" not in answer.text:
        raise Unreachable(f"Something else than the bot answers at {address} (status {answer.status_code}).")
