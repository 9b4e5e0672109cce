"""Channels, posts and votes of the web platform, as rows of bot.sqlite3."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from bot.store import Store, moment, timestamp
from bot.stored_forms import decode_citation, encode_citation
from bot.types import Author, Citation, Reply, ThreadRef, Vote

PostKind = Literal["message", "answer", "refusal", "error", "private"]

GENERAL = "general"  # id of the channel that is always there; pages show its name in the reader's language


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place for threads on one subject."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One post; `seq` grows with every post, so that it orders a thread."""

    seq: int
    id: str
    thread: ThreadRef
    author: Author
    kind: PostKind
    text: str
    citations: tuple[Citation, ...]
    nearest: tuple[Citation, ...]
    notices: tuple[str, ...]
    error_id: str | None
    final: bool
    delivery_id: str | None
    private_to: str | None
    delivered: bool
    reaction: str | None
    posted_at: datetime
    edited_at: datetime | None

    @property
    def is_root(self) -> bool:
        return self.id == self.thread.root_id

    def visible_to(self, author_id: str) -> bool:
        return self.private_to is None or self.private_to == author_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSummary:
    """A thread as a channel lists it; `state` says how its last answer ended."""

    root: Post
    replies: int
    last_at: datetime
    state: Literal["quiet", "working", "answer", "refusal", "error"]


class ChannelExists(Exception):
    """A channel of this name is already there."""


class WebPosts:
    """Reads and writes; every method is one transaction or one query, and may be called from any thread."""

    def __init__(
        self, store: Store, *, platform: str, clock: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self._store = store
        self._platform = platform
        self._clock = clock
        self._new_id = new_id
        with store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO web_channels VALUES (?, ?, ?)", (GENERAL, GENERAL, timestamp(clock()))
            )

    # --- channels -----------------------------------------------------------------------------

    def channels(self) -> list[Channel]:
        """All channels, oldest first."""
        rows = self._store.query("SELECT id, name FROM web_channels ORDER BY id != ?, created_at, id", (GENERAL,))
        return [Channel(id=row["id"], name=row["name"]) for row in rows]

    def channel(self, channel_id: str) -> Channel | None:
        rows = self._store.query("SELECT id, name FROM web_channels WHERE id = ?", (channel_id,))
        return Channel(id=rows[0]["id"], name=rows[0]["name"]) if rows else None

    def add_channel(self, name: str) -> Channel:
        """The new channel. Raises ChannelExists."""
        channel = Channel(id=self._new_id(), name=name)
        try:
            with self._store.transaction() as connection:
                connection.execute(
                    "INSERT INTO web_channels VALUES (?, ?, ?)", (channel.id, name, timestamp(self._clock()))
                )
        except sqlite3.IntegrityError as error:
            raise ChannelExists(name) from error
        return channel

    # --- posts of people ----------------------------------------------------------------------

    def add_message(
        self,
        *,
        channel_id: str,
        root_id: str | None,
        author: Author,
        text: str,
        client_key: str | None,
        private: bool = False,
    ) -> Post:
        """The stored post, not yet delivered; the same one when `client_key` was used before by this author. A private
        one is shown to its author alone."""
        if client_key is not None:
            earlier = self._posts("author_id = ? AND client_key = ?", (author.id, client_key))
            if earlier:
                return earlier[0]
        post_id = self._new_id()
        self._insert(
            post_id,
            thread=ThreadRef(platform=self._platform, channel_id=channel_id, root_id=root_id or post_id),
            author=author,
            kind="message",
            text=text,
            delivery_id=f"{self._platform}:{post_id}",
            private_to=author.id if private else None,
            client_key=client_key,
            delivered=False,
        )
        return self.must_find(post_id)

    def undelivered(self) -> list[Post]:
        """Messages that were stored and not yet handed over, oldest first."""
        return self._posts("delivered = 0")

    def mark_delivered(self, post_id: str) -> None:
        self._update(post_id, "delivered = 1")

    def set_reaction(self, post_id: str, reaction: str) -> None:
        self._update(post_id, "reaction = ?", reaction)

    # --- posts of the bot ---------------------------------------------------------------------

    def open_root(
        self, channel_id: str, author: Author, text: str, *, delivery_id: str, private_to: str | None = None
    ) -> Post:
        """The first post of a thread for this delivery, which is made once."""
        known = self._posts(
            "delivery_id = ? AND is_bot = 1 AND id = root_id AND channel_id = ? AND private_to IS ?",
            (delivery_id, channel_id, private_to),
        )
        if known:
            return known[0]
        post_id = self._new_id()
        thread = ThreadRef(platform=self._platform, channel_id=channel_id, root_id=post_id)
        kind: PostKind = "message" if private_to is None else "private"
        self._insert(
            post_id, thread=thread, author=author, kind=kind, text=text, delivery_id=delivery_id, private_to=private_to
        )
        return self.must_find(post_id)

    def add_reply(self, reply: Reply, author: Author) -> str:
        """Id of the post. A post of the same delivery that was left open by a broken run is taken over."""
        open_post = self.find_reply(reply.thread, reply.delivery_id, final=False)
        if open_post is not None:
            self.change_reply(open_post.id, reply, edited=False)
            return open_post.id
        post_id = self._new_id()
        self._insert(
            post_id,
            thread=reply.thread,
            author=author,
            kind=_kind(reply),
            text=reply.markdown,
            extras=_extras(reply),
            final=reply.final,
            delivery_id=reply.delivery_id,
        )
        return post_id

    def change_reply(self, post_id: str, reply: Reply, *, edited: bool) -> bool:
        """Whether there is such a post of the bot; its text, sources and state are then those of `reply`."""
        with self._store.transaction() as connection:
            changed = connection.execute(
                "UPDATE web_posts SET text = ?, kind = ?, extras = ?, state = ?, edited_at = COALESCE(?, edited_at)"
                " WHERE id = ? AND is_bot = 1",
                (
                    reply.markdown,
                    _kind(reply),
                    _extras(reply),
                    "final" if reply.final else "open",
                    timestamp(self._clock()) if edited else None,
                    post_id,
                ),
            )
            return changed.rowcount == 1

    def add_private(self, thread: ThreadRef, author: Author, reader_id: str, text: str) -> str:
        post_id = self._new_id()
        self._insert(post_id, thread=thread, author=author, kind="private", text=text, private_to=reader_id)
        return post_id

    def change_private(self, post_id: str, text: str) -> bool:
        """Whether there is such a private post of the bot; it then says `text`."""
        with self._store.transaction() as connection:
            changed = connection.execute(
                "UPDATE web_posts SET text = ? WHERE id = ? AND kind = 'private' AND is_bot = 1", (text, post_id)
            )
            return changed.rowcount == 1

    def find_reply(self, thread: ThreadRef, delivery_id: str, *, final: bool) -> Post | None:
        """The bot's newest post that answers `delivery_id` and is final, or still open."""
        found = self._posts(
            "channel_id = ? AND root_id = ? AND delivery_id = ? AND is_bot = 1 AND state = ?",
            (thread.channel_id, thread.root_id, delivery_id, "final" if final else "open"),
        )
        return found[-1] if found else None

    # --- reading ------------------------------------------------------------------------------

    def find(self, post_id: str) -> Post | None:
        found = self._posts("id = ?", (post_id,))
        return found[0] if found else None

    def must_find(self, post_id: str) -> Post:
        post = self.find(post_id)
        if post is None:
            raise LookupError(f"The post {post_id} was just stored and is not there.")
        return post

    def find_all(self, post_ids: Sequence[str]) -> list[Post]:
        """Those of `post_ids` that are there, oldest first."""
        marks = ", ".join("?" * len(post_ids))
        return self._posts(f"id IN ({marks})", post_ids) if post_ids else []

    def thread(self, channel_id: str, root_id: str, *, limit: int) -> list[Post]:
        """The last `limit` posts of a thread, oldest first; empty when there is no such thread."""
        rows = self._store.query(
            "SELECT * FROM web_posts WHERE channel_id = ? AND root_id = ? ORDER BY seq DESC LIMIT ?",
            (channel_id, root_id, limit),
        )
        return [self._post(row) for row in reversed(rows)]

    def threads(
        self, channel_id: str, *, limit: int, reader_id: str = "", before_seq: int | None = None
    ) -> list[ThreadSummary]:
        """The `limit` newest threads of a channel that this reader may see and that started before `before_seq`,
        oldest first."""
        rows = self._store.query(
            "SELECT * FROM web_posts WHERE channel_id = ? AND id = root_id AND seq < ?"
            " AND (private_to IS NULL OR private_to = ?) ORDER BY seq DESC LIMIT ?",
            (channel_id, before_seq if before_seq is not None else 2**62, reader_id, limit),
        )
        return [self._summary(self._post(row)) for row in reversed(rows)]

    def summary(self, channel_id: str, root_id: str) -> ThreadSummary | None:
        root = self.find(root_id)
        return self._summary(root) if root and root.is_root and root.thread.channel_id == channel_id else None

    # --- votes --------------------------------------------------------------------------------

    def vote(self, post_id: str, author_id: str, vote: Vote) -> None:
        """Keeps the last vote of each author."""
        with self._store.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO web_votes VALUES (?, ?, ?)", (post_id, author_id, vote))

    def votes_of(self, author_id: str, channel_id: str, root_id: str) -> dict[str, Vote]:
        """post id -> vote of this author within one thread."""
        rows = self._store.query(
            "SELECT v.post_id, v.vote FROM web_votes v JOIN web_posts p ON p.id = v.post_id"
            " WHERE v.author_id = ? AND p.channel_id = ? AND p.root_id = ?",
            (author_id, channel_id, root_id),
        )
        return {row["post_id"]: row["vote"] for row in rows}

    # --- rows ---------------------------------------------------------------------------------

    def _insert(
        self,
        post_id: str,
        *,
        thread: ThreadRef,
        author: Author,
        kind: PostKind,
        text: str,
        extras: str = "{}",
        final: bool = True,
        delivery_id: str | None = None,
        private_to: str | None = None,
        client_key: str | None = None,
        delivered: bool = True,
    ) -> None:
        row: dict[str, object] = {
            "id": post_id,
            "channel_id": thread.channel_id,
            "root_id": thread.root_id,
            "author_id": author.id,
            "author_name": author.display_name,
            "is_bot": int(author.is_bot),
            "kind": kind,
            "text": text,
            "extras": extras,
            "state": "final" if final else "open",
            "delivery_id": delivery_id,
            "private_to": private_to,
            "client_key": client_key,
            "delivered": int(delivered),
            "posted_at": timestamp(self._clock()),
        }
        with self._store.transaction() as connection:
            connection.execute(
                f"INSERT INTO web_posts ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
            )

    def _update(self, post_id: str, assignment: str, *values: object) -> None:
        with self._store.transaction() as connection:
            connection.execute(f"UPDATE web_posts SET {assignment} WHERE id = ?", (*values, post_id))

    def _posts(self, where: str, params: Sequence[object] = ()) -> list[Post]:
        rows = self._store.query(f"SELECT * FROM web_posts WHERE {where} ORDER BY seq", params)
        return [self._post(row) for row in rows]

    def _summary(self, root: Post) -> ThreadSummary:
        (row,) = self._store.query(
            "SELECT COUNT(*) AS n, MAX(posted_at) AS last_at FROM web_posts"
            " WHERE channel_id = ? AND root_id = ? AND id != root_id AND private_to IS ?",
            (root.thread.channel_id, root.id, root.private_to),
        )
        last = self._store.query(
            "SELECT kind, state, reaction FROM web_posts WHERE channel_id = ? AND root_id = ? AND private_to IS ?"
            " AND (is_bot = 1 OR reaction IS NOT NULL) ORDER BY seq DESC LIMIT 1",
            (root.thread.channel_id, root.id, root.private_to),
        )
        state: Literal["quiet", "working", "answer", "refusal", "error"] = "quiet"
        if last and (last[0]["state"] == "open" or last[0]["reaction"] == "eyes"):
            state = "working"
        elif last and last[0]["kind"] in ("answer", "refusal", "error"):
            state = last[0]["kind"]
        elif last and last[0]["reaction"] == "x":
            state = "error"
        return ThreadSummary(
            root=root,
            replies=row["n"],
            last_at=moment(row["last_at"]) if row["last_at"] else root.posted_at,
            state=state,
        )

    def _post(self, row: sqlite3.Row) -> Post:
        extras = json.loads(row["extras"])
        return Post(
            seq=row["seq"],
            id=row["id"],
            thread=ThreadRef(platform=self._platform, channel_id=row["channel_id"], root_id=row["root_id"]),
            author=Author(id=row["author_id"], display_name=row["author_name"], is_bot=bool(row["is_bot"])),
            kind=cast(PostKind, row["kind"]),
            text=row["text"],
            citations=tuple(decode_citation(item) for item in extras.get("citations", ())),
            nearest=tuple(decode_citation(item) for item in extras.get("nearest", ())),
            notices=tuple(extras.get("notices", ())),
            error_id=extras.get("error_id"),
            final=row["state"] == "final",
            delivery_id=row["delivery_id"],
            private_to=row["private_to"],
            delivered=bool(row["delivered"]),
            reaction=row["reaction"],
            posted_at=moment(row["posted_at"]),
            edited_at=moment(row["edited_at"]) if row["edited_at"] else None,
        )


def _kind(reply: Reply) -> PostKind:
    return "message" if reply.kind == "notice" else reply.kind


def _extras(reply: Reply) -> str:
    return json.dumps(
        {
            "citations": [encode_citation(citation) for citation in reply.citations],
            "nearest": [encode_citation(citation) for citation in reply.nearest],
            "notices": list(reply.notices),
            "error_id": reply.error_id,
        },
        ensure_ascii=False,
    )
