"""Slash commands: what `/haechi` does, within the scope of the channel in which it is given; one audit row each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from bot.audit import AuditLog
from bot.case_operations import CaseMemory, note_forgotten
from bot.channels import ChannelPolicy, Channels
from bot.commands_cases import carry_out_cases
from bot.commands_parsing import Parsed, parse_cancel, parse_command, parse_reindex, parse_vote
from bot.commands_reindex import Ingest, reindex
from bot.commands_texts import text
from bot.evidence_grants import EvidenceLinks
from bot.feedback import Feedback
from bot.inbox import Answered, Inbox
from bot.persona import language_of
from bot.ports import AlertTalk, ChatPlatform
from bot.questions import Asked, Questions
from bot.reply_text import full_markdown, safe_markdown, source_line
from bot.routing import route, search_text
from bot.sources import Link, cite
from bot.store import Store
from bot.types import Command, FeedbackGiven, Language, Reply
from bot.wording import ago, tool_name
from knowledge.errors import KnowledgeError
from knowledge.masking import mask
from knowledge.types import Evidence, EvidenceKind, Scope, SourceStatus, ToolStatus

HITS = 5
HIT_CHARS = 200


class Library(Protocol):
    """What commands need of knowledge.api.Knowledge; called in threads."""

    def search(self, query: str, *, scope: Scope, top_k: int, kind: EvidenceKind | None) -> Evidence: ...

    def status(self, *, scope: Scope) -> list[SourceStatus]: ...

    def check(self) -> list[ToolStatus]: ...

    @property
    def memory(self) -> CaseMemory: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A command with what holds where it was given."""

    command: Command
    parsed: Parsed
    policy: ChannelPolicy
    language: Language
    platform: ChatPlatform

    def say(self, name: str, /, **values: object) -> str:
        return text(name, self.language, **values)


@dataclass(slots=True, kw_only=True)
class Commands:
    """Carries out commands that were saved before."""

    store: Store
    inbox: Inbox
    feedback: Feedback
    audit: AuditLog
    channels: Channels
    questions: Questions
    library: Library
    ingest: Ingest
    link: Link
    links: EvidenceLinks
    platform_states: Callable[[], Awaitable[Sequence[ToolStatus]]]
    admins: Collection[str]
    clock: Callable[[], datetime]
    max_question_chars: int
    alerts: AlertTalk | None = None

    async def carry_out(self, command: Command, platform: ChatPlatform) -> tuple[str, Answered | None]:
        """The name of the outcome for the inbox, and what is kept of an answer. Raises PlatformError."""
        policy = self.channels.policy_of(command.thread, is_direct=command.is_direct)
        parsed = parse_command(command.args)
        given = _Given(
            command=command,
            parsed=parsed,
            policy=policy,
            language=policy.language or language_of(command.args),
            platform=platform,
        )
        actions: Mapping[str, Callable[[_Given], Awaitable[tuple[str, Answered | None]]]] = {
            "ask": self._ask,
            "search": self._search,
            "status": self._status,
            "sources": self._sources,
            "reindex": self._reindex,
            "feedback": self._feedback,
            "cases": self._cases,
        }
        action = actions.get(parsed.name, self._help)
        outcome = "failed"
        try:
            outcome, answered = await action(given)
        finally:
            detail = f"{parsed.rest} in {command.thread.channel_id}: {outcome}"
            name = parsed.typed if parsed.name == "unknown" else parsed.name
            await self.store.in_thread(self.audit.record, actor_of(command), f"/{command.name} {name}", detail)
        return outcome, answered

    async def _tell(self, given: _Given, markdown: str) -> None:
        await given.platform.answer_command(given.command, safe_markdown(markdown))

    async def _help(self, given: _Given) -> tuple[str, Answered | None]:
        parsed = given.parsed
        lines = [given.say("help")]
        if parsed.name == "unknown":
            nearest = given.say("nearest", name=f"/haechi {parsed.nearest}") if parsed.nearest else ""
            lines.insert(0, given.say("unknown", typed=parsed.typed.replace("`", "'"), nearest=nearest))
        await self._tell(given, "\n\n".join(lines))
        return parsed.name, None

    # --- looking things up ----------------------------------------------------------------------

    async def _ask(self, given: _Given) -> tuple[str, Answered | None]:
        question = given.parsed.rest
        if not any(character.isalnum() for character in question):
            await self._tell(given, given.say("ask_what"))
            return "empty", None
        if len(question) > self.max_question_chars:
            await self._tell(given, given.say("too_long", n=self.max_question_chars))
            return "too_long", None
        command = given.command
        asked = Asked(
            text=question,
            author=command.author,
            thread=command.thread,
            delivery_id=command.delivery_id,
            is_direct=command.is_direct,
        )
        prepared = await self.questions.answer(asked, given.policy)
        await given.platform.answer_command(command, full_markdown(prepared.reply))
        await self.questions.record(prepared, command.author, given.platform.name, command.delivery_id)
        return prepared.name, prepared.answered("")

    async def _search(self, given: _Given) -> tuple[str, Answered | None]:
        query = given.parsed.rest[: self.max_question_chars]
        if not query.strip():
            await self._tell(given, given.say("search_what"))
            return "empty", None
        routed = route(query)
        question = mask(routed.question)
        evidence = await asyncio.to_thread(
            self.library.search,
            search_text(question),
            scope=given.policy.scope,
            top_k=HITS,
            kind=routed.kind or given.policy.route,
        )
        shown = " ".join(question.split())[:HIT_CHARS]
        if not evidence.chunks:
            await self._tell(given, given.say("found_none", query=shown))
            return "found nothing", None
        hits = [
            cite(number, scored, quote_text=" ".join(scored.chunk.text.split())[:HIT_CHARS], link=self.link)
            for number, scored in enumerate(evidence.chunks[:HITS], start=1)
        ]
        reply = Reply(
            thread=given.command.thread, markdown="", citations=tuple(hits), delivery_id=given.command.delivery_id,
            final=True,
        )  # fmt: skip
        hits = list(self.links.readable(reply, given.policy.scope).citations)
        lines = [f"{source_line(hit, given.language)}\n\n> {hit.quote}" for hit in hits]
        head = [given.say("found", query=shown)]
        if evidence.verdict.decision != "ok":
            head.append(given.say("found_weak"))
        await self._tell(given, "\n\n".join([*head, *lines]))
        return f"found {len(hits)}", None

    async def _sources(self, given: _Given) -> tuple[str, Answered | None]:
        statuses = await asyncio.to_thread(self.library.status, scope=given.policy.scope)
        if not statuses:
            await self._tell(given, given.say("sources_none"))
            return "none", None
        lines = [self._source_line(given, status) for status in statuses]
        await self._tell(given, given.say("sources") + "\n\n" + "\n".join(lines))
        return "shown", None

    async def _status(self, given: _Given) -> tuple[str, Answered | None]:
        """Sources within the scope, and whether tools and platforms work: their names tell nothing about sources."""
        statuses = await asyncio.to_thread(self.library.status, scope=given.policy.scope)
        tools = await asyncio.to_thread(self.library.check)
        platforms = await self.platform_states()
        counts = await self.store.in_thread(self.inbox.counts)
        parts = [given.say("sources"), "\n".join(self._source_line(given, status) for status in statuses)]
        if not statuses:
            parts = [given.say("sources_none")]
        parts += [given.say("tools"), "\n".join(_tool_line(given, tool) for tool in tools)]
        parts += [given.say("platforms"), "\n".join(_tool_line(given, state) for state in platforms)]
        parts.append(given.say("queue", waiting=counts.get("received", 0), working=counts.get("working", 0)))
        await self._tell(given, "\n\n".join(part for part in parts if part))
        return "shown", None

    def _source_line(self, given: _Given, status: SourceStatus) -> str:
        state = given.say("never")
        if status.last_sync is not None:
            state = given.say("indexed", ago=ago(status.last_sync, self.clock(), given.language))
        if status.failed:
            state += given.say("failed", n=len(status.failed))
        if waiting := max(status.pending.values(), default=0):
            state += given.say("pending", n=waiting)
        if status.problem:
            state += given.say("problem", why=" ".join(status.problem.split()))
        name = "source_code" if status.kind == "repository" else "source_docs"
        return given.say(name, title=status.title, name=status.source, documents=status.documents, state=state)

    # --- changing things ------------------------------------------------------------------------

    async def _feedback(self, given: _Given) -> tuple[str, Answered | None]:
        vote, comment = parse_vote(given.parsed.rest)
        if vote is None:
            await self._tell(given, given.say("vote_what"))
            return "empty", None
        command = given.command
        answered = await self.store.in_thread(self.feedback.last_answer_to, command.author, command.thread)
        on_analysis = False
        if answered is None and self.alerts is not None:  # nothing was answered to this person: an alert's analysis
            answered = await self.store.in_thread(self.alerts.last_analysis, command.thread)
            on_analysis = answered is not None
        if answered is None:
            await self._tell(given, given.say("vote_none"))
            return "nothing to rate", None
        feedback = FeedbackGiven(
            reply_id="", author=command.author, vote=vote, comment=comment, platform=command.thread.platform,
            delivery_id=answered,
        )  # fmt: skip
        await self.store.in_thread(self.feedback.save, feedback)
        if self.alerts is not None:
            await self.alerts.voted(feedback)
        await self._tell(given, given.say("vote_kept_analysis" if on_analysis else "vote_kept"))
        return vote, None

    async def _cases(self, given: _Given) -> tuple[str, Answered | None]:
        if actor_of(given.command) not in self.admins:
            await self._tell(given, given.say("admins_only", who=actor_of(given.command)))
            return "not allowed", None
        outcome, said = await carry_out_cases(
            given.parsed.rest,
            self.library.memory,
            scope=given.policy.scope,
            say=given.say,
            forgotten=partial(note_forgotten, self.store, self.clock),
        )
        await self._tell(given, said)
        return outcome, None

    async def _reindex(self, given: _Given) -> tuple[str, Answered | None]:
        if actor_of(given.command) not in self.admins:
            await self._tell(given, given.say("admins_only", who=actor_of(given.command)))
            return "not allowed", None
        if cancelled := parse_cancel(given.parsed.rest):
            return await self._cancel(given, cancelled[1:])
        wanted, force, unknown = parse_reindex(given.parsed.rest)
        if unknown:
            await self._tell(given, given.say("no_option", option=unknown.replace("`", "'")))
            return "unknown option", None
        statuses = await asyncio.to_thread(self.library.status, scope=given.policy.scope)
        known = [status.source for status in statuses]
        for name in wanted:
            if name not in known:
                shown = ", ".join(f"`{one}`" for one in known) or "-"
                await self._tell(given, given.say("no_source", name=name.replace("`", "'"), known=shown))
                return "unknown source", None
        if not known:
            await self._tell(given, given.say("sources_none"))
            return "none", None
        try:
            outcome = await reindex(
                self.ingest,
                given.platform,
                given.command,
                wanted or known,
                force=force,
                language=given.language,
                by=actor_of(given.command),
            )
        except KnowledgeError as error:
            await self._tell(given, given.say("reindex_failed", why=str(error)))
            return "failed", None
        return outcome, None

    async def _cancel(self, given: _Given, wanted: Sequence[str]) -> tuple[str, Answered | None]:
        """Stops the jobs of the named sources, or of all that may be seen here; what was finished stays."""
        statuses = await asyncio.to_thread(self.library.status, scope=given.policy.scope)
        names = [status.source for status in statuses if not wanted or status.source in wanted]
        by = actor_of(given.command)
        stopped = (await self.ingest("cancel_sources", {"sources": names, "by": by}, lambda step: None))["sources"]
        shown = ", ".join(f"`{name}`" for name in stopped)
        await self._tell(given, given.say("cancelled", names=shown) if stopped else given.say("cancelled_none"))
        return f"cancelled {len(stopped)}", None


def actor_of(command: Command) -> str:
    """ "slack:U012ABCDEF": how admins are named in the settings and in the audit log."""
    platform, person = command.thread.platform, command.author.id
    return person if person.startswith(f"{platform}:") else f"{platform}:{person}"


def _tool_line(given: _Given, tool: ToolStatus) -> str:
    detail = "" if tool.state == "ok" or not tool.detail else f" ({' '.join(tool.detail.split())})"
    state: dict[str, Any] = {"state": given.say(f"state_{tool.state}"), "detail": detail}
    return given.say("tool", name=tool_name(tool.name, given.language), **state)
