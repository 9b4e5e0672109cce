"""Value objects that every part of `bot` shares: frozen, slotted, keyword-only; datetimes are aware UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from knowledge.types import Locator, ScoredChunk, Verdict

Route = Literal["docs", "code", "both"]
Language = Literal["ko", "en"]
RefusalReason = Literal["no_evidence", "weak_evidence", "tool_down", "uncited", "not_allowed"]
Vote = Literal["up", "down", "wrong"]
ReplyKind = Literal["answer", "refusal", "error", "notice"]  # a notice is not voted on
MessageEvent = Literal["posted", "edited", "deleted", "system"]
AnswerLength = Literal["short", "normal", "long"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRef:
    """A thread on a platform; `root_id` is the id of its first post."""

    platform: str
    channel_id: str
    root_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote a post."""

    id: str
    display_name: str
    is_bot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a post."""

    name: str
    media_type: str
    text: str | None  # None: the file was not read


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One post as the bot hears it. `thread.root_id` is always the root: a reply to a reply goes to the root."""

    id: str
    thread: ThreadRef
    author: Author
    text: str
    mentions_bot: bool
    is_direct: bool
    attachments: tuple[Attachment, ...]
    posted_at: datetime
    delivery_id: str  # the same for every delivery of the same post
    event: MessageEvent = "posted"  # "system": joins, leaves, topic changes and other posts that nobody wrote
    mentions_others: bool = False  # somebody else is spoken to by name
    is_shared: bool = False  # people of other organisations read the channel too


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One source under an answer. `index` is the number in [n], from 1; `url` opens the evidence for the reader."""

    index: int
    locator: Locator
    chunk_id: str
    title: str
    url: str | None
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why there is no answer: a value, not an error."""

    reason: RefusalReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reader gets. Exactly one of two: text with citations, or text of a refusal with `refusal` set."""

    text: str  # Markdown
    citations: tuple[Citation, ...]
    refusal: Refusal | None
    verdict: Verdict
    route: Route
    degraded: tuple[str, ...] = ()
    model: str | None = None
    nearest: tuple[Citation, ...] = ()  # shown with a refusal: the nearest sources, not evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A post of the bot in a thread; `delivery_id` is that of the message it answers.

    `markdown` holds the text alone: every platform shows `citations`, `nearest` and `notices` in its own way. `kind`
    is there because a refusal and a failure must never look the same.
    """

    thread: ThreadRef
    markdown: str
    citations: tuple[Citation, ...]
    delivery_id: str
    final: bool
    kind: ReplyKind = "answer"
    nearest: tuple[Citation, ...] = ()  # under a refusal: the nearest sources, not evidence
    notices: tuple[str, ...] = ()  # plain sentences: low relevance, vectors pending, from a scan
    error_id: str | None = None  # of the log line, when kind is "error"
    language: Language | None = None  # of titles around the text; None: that of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command: `name` without its slash, `args` as they were typed.

    `thread.root_id` is empty when the platform does not tell a thread: the command was given in the channel itself.
    """

    name: str
    args: str
    author: Author
    thread: ThreadRef
    delivery_id: str
    is_direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackGiven:
    """A vote on one of the bot's replies, which is named by its post, or by the delivery that it answers when the
    adapter knows that (a button's context, the properties of a post).

    `taken_back`: a reaction was removed; it counts only when the person's last vote is still this one.
    """

    reply_id: str
    author: Author
    vote: Vote
    comment: str
    platform: str = ""
    channel_id: str = ""  # where post ids are unique within a channel only
    delivery_id: str = ""  # that the post answers; empty when only the post is known
    taken_back: bool = False


Delivery = Message | Command | FeedbackGiven


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One line of `haechi doctor` about a platform or another part. `remedy` is empty when all is well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What becomes of a message, and why (a sentence for the log).

    `told` names what is said instead of an answer; a message that is neither admitted nor told anything is passed over.
    """

    admitted: bool
    reason: str
    kind: Literal["message", "alert"] = "message"
    told: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvidence:
    """Evidence that stands above a question already: what the analysis of an alert was made from."""

    topic: str  # what it is about, in words
    chunks: tuple[ScoredChunk, ...]


JobState = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One sync of one source, asked for, running or over."""

    number: int
    source: str
    force: bool
    state: JobState
    requested_by: tuple[str, ...]
    requested_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    duration_s: float | None = None
    counts: Mapping[str, int] | None = None
    reason: str | None = None


PartKind = Literal["tool", "platform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The state of one part of a running bot, and since when it has it."""

    name: str
    kind: PartKind
    state: str
    detail: str
    since: datetime
