"""An analysis as a short post for somebody who was woken up by it: what it is, the cause or the most likely place, what
changed there, what to do, and what is known from before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.alerts.alert import Alert
from bot.alerts.analysis import Analysed
from bot.alerts.evidence import Change, Gathered, Piece
from bot.alerts.store import Fault
from bot.alerts.texts import say
from bot.reply_text import link_address
from bot.sources import Link, cite, place_of
from bot.types import Language, Reply
from knowledge.types import Chunk, ScoredChunk
from knowledge.types_cases import Recalled

LINES_BEFORE, LINES_AFTER = 6, 3  # of the line that failed
MAX_LINE_CHARS = 160
MAX_PATH = 4  # calls on the way to the failure
MAX_NEAR = 3
MAX_RUNBOOKS = 3
MAX_CALLERS = 3


def render(
    alert: Alert, analysed: Analysed, fault: Fault, *, language: Language, link: Link, earlier: str | None = None
) -> Reply:
    """The analysis as a reply; what the alert itself says stands in code spans only, where nothing is followed."""
    gathered = analysed.gathered
    parts = [_head(alert)]
    if fault.came != "new":
        where = f"[{say('earlier', language)}]({earlier})" if earlier else say("earlier", language)
        parts.append(say(fault.came, language, link=where))
    if analysed.cause:
        confidence = say(analysed.confidence, language)
        parts.append(f"**{say('cause', language)}** ({confidence})\n{analysed.cause}")
        if analysed.summary and analysed.summary != analysed.cause:
            parts.insert(-1, analysed.summary)
    shown, lines = _evidence(analysed, language)
    parts += lines
    if analysed.fix:
        note = f"\n{say('crlf', language)}" if "\r" in analysed.fix else ""
        parts.append(f"**{say('fix', language)}** [{analysed.fixed}]{note}\n```diff\n{analysed.fix}\n```")
        shown.add(analysed.fixed or 0)
    if analysed.next_steps:
        parts.append(f"**{say('next', language)}**\n" + "\n".join(f"- {step}" for step in analysed.next_steps))
    if gathered.past:
        parts.append(f"**{say('past', language)}**\n" + "\n".join(case_lines(gathered.past, language)))
    cited = shown | set(analysed.cited)
    citations = tuple(
        cite(piece.number, piece.scored, quote_text=" ".join(piece.scored.chunk.text.split())[:200], link=link)
        for piece in gathered.pieces
        if piece.number in cited
    )
    return Reply(
        thread=fault.thread,
        markdown="\n\n".join(parts),
        citations=citations,
        delivery_id=fault.delivery_key,
        final=True,
        notices=_notices(alert, analysed, language),
        language=language,
    )


def with_count(reply: Reply, fault: Fault, language: Language) -> Reply:
    """The reply with what became of its fault and what people said of it in front of its other notices."""
    lines = []
    if fault.judged:
        lines.append(say(fault.judged, language))
    if fault.count > 1:
        lines.append(say("count", language, n=fault.count, at=f"{fault.last_at:%m-%d %H:%M}"))
    if fault.state == "resolved":
        lines.append(say("resolved", language))
    return replace(reply, notices=(*lines, *reply.notices))


def change_lines(changes: Sequence[Change], language: Language) -> list[str]:
    """One line a commit: what, when, who, and what it has to do with the fault."""
    lines = []
    for change in changes:
        commit = change.commit
        address = link_address(commit.permalink)
        name = f"[{commit.commit[:10]}]({address})" if address else f"`{commit.commit[:10]}`"
        marks = [say("wrote_line", language)] if change.is_line else []
        marks += [say("not_deployed", language)] if change.is_later else []
        mark = f" · **{', '.join(marks)}**" if marks else ""
        who = f"{commit.committed_at:%Y-%m-%d} {_plain(commit.author)}: {code_span(commit.summary)}"
        lines.append(f"- {name} {who} [{change.piece}]{mark}")
    return lines


def case_lines(past: Sequence[Recalled], language: Language) -> list[str]:
    """One line a case: how near it is, and its cause."""
    lines = []
    for one in past:
        address = link_address(one.case.url)
        name = f"[#{one.case.number}]({address})" if address else f"#{one.case.number}"
        marks = [say(one.match, language)]
        marks += [say("told", language)] if one.case.is_correction else []
        marks += [say("stale", language)] if one.case.is_stale else []
        lines.append(f"- {name} ({', '.join(marks)}) {code_span(one.case.cause, most=240)}")
    return lines


def excerpt(
    number: int, chunk: Chunk, *, line: int | None, before: int = LINES_BEFORE, after: int = LINES_AFTER
) -> str:
    """A piece of code with the numbers of its lines, around the line that failed where it is known and inside."""
    where = chunk.locator
    lines = chunk.text.replace("```", "'''").split("\n")
    first = where.start_line or 1
    numbered = where.end_line is not None and len(lines) == where.end_line - first + 1
    at = line - first if numbered and line is not None and 0 <= line - first < len(lines) else None
    start = max(0, at - before) if at is not None else 0
    end = at + after + 1 if at is not None else before + after + 1
    kept = [
        f"{'>' if n == at else ' '}{first + n:>5}  {text[:MAX_LINE_CHARS]}" if numbered else text[:MAX_LINE_CHARS]
        for n, text in enumerate(lines[start:end], start=start)
    ]
    place = f"{where.uri}:{line if at is not None else first}"
    name = f" {code_span(where.symbol)}" if where.symbol else ""
    return f"[{number}] {code_span(place)}{name}\n```\n" + "\n".join(kept) + "\n```"


def caller_lines(scored: ScoredChunk, language: Language, *, most: int = MAX_CALLERS) -> list[str]:
    """One line that names what calls a definition; empty when nothing is known to."""
    names = [
        f"{code_span(caller.symbol or caller.signature)} {code_span(f'{where.uri}:{where.start_line}')}"
        for caller in scored.callers[:most]
        for where in [caller.locator]
    ]
    return [f"{say('called_by', language)}: {', '.join(names)}"] if names else []


def code_span(text: str, *, most: int = 200) -> str:
    """Text of others as a code span, in which no client follows links or calls people."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= most else line[: most - 1] + '…'}`"


# --- inside -----------------------------------------------------------------------------------------


def _head(alert: Alert) -> str:
    """What failed where, and what it said, in two lines."""
    parts = [
        f"**{code_span(alert.error_class or alert.title)}**",
        code_span(alert.service) if alert.service else "",
        _plain(alert.environment or ""),
        "" if alert.severity == "unknown" else _plain(alert.severity),
    ]
    head = " · ".join(part for part in parts if part)
    message = alert.message or (alert.title if alert.error_class else "")
    if not alert.error_class and message == alert.title:
        message = ""  # it stands in the first line
    return f"{head}\n{code_span(message, most=240)}" if message.strip() else head


def _evidence(analysed: Analysed, language: Language) -> tuple[set[int], list[str]]:
    """(numbers of the pieces that are shown, paragraphs): where it failed, the way there, changes, documents."""
    gathered = analysed.gathered
    framed = [piece for piece in gathered.pieces if piece.frame is not None]
    docs = [piece for piece in gathered.pieces if piece.scored.chunk.evidence_kind == "docs"]
    parts: list[str] = []
    shown: set[int] = set()
    if framed:
        first = framed[0]
        alike = f" ({say('alike', language, n=first.alike)})" if first.alike > 1 else ""
        lines = [f"**{say('place', language)}**{alike}", excerpt(first.number, first.scored.chunk, line=first.line)]
        parts.append("\n".join([*lines, *caller_lines(first.scored, language)]))
        way = framed[1 : 1 + MAX_PATH]
        if way:
            parts.append(f"**{say('path', language)}**: " + " ← ".join(_step(piece) for piece in way))
        shown |= {piece.number for piece in (first, *way)}
    elif not analysed.cause:
        near = [piece for piece in gathered.pieces if piece not in docs][:MAX_NEAR]
        if near:
            parts.append(f"**{say('near', language)}**\n" + "\n".join(f"- {_step(piece)}" for piece in near))
            shown |= {piece.number for piece in near}
    if gathered.changes:
        title = say("changes", language)
        if gathered.since is not None:
            title = say("changes_since", language, at=f"{gathered.since:%m-%d %H:%M} UTC")
        parts.append(f"**{title}**\n" + "\n".join(change_lines(gathered.changes, language)))
        shown |= {change.piece for change in gathered.changes}
    elif framed and gathered.since is not None and not gathered.degraded:
        parts.append(say("unchanged_since", language, at=f"{gathered.since:%m-%d %H:%M} UTC"))
    if docs:
        lines = [f"- {_document(piece, language)}" for piece in docs[:MAX_RUNBOOKS]]
        parts.append(f"**{say('runbooks', language)}**\n" + "\n".join(lines))
        shown |= {piece.number for piece in docs[:MAX_RUNBOOKS]}
    if not parts and not analysed.cause:
        parts.append(say("nothing", language))
    return shown, parts


def _step(piece: Piece) -> str:
    where = piece.scored.chunk.locator
    place = f"{where.uri}:{piece.line or where.start_line or 1}"
    name = f" {code_span(where.symbol)}" if where.symbol else ""
    return f"[{piece.number}]{name} {code_span(place)}"


def _document(piece: Piece, language: Language) -> str:
    chunk = piece.scored.chunk
    return f"[{piece.number}] {code_span(place_of(chunk.locator, chunk.title, language))}"


def _notices(alert: Alert, analysed: Analysed, language: Language) -> tuple[str, ...]:
    gathered: Gathered = analysed.gathered
    lines = []
    if any(piece.frame for piece in gathered.pieces):
        lines.append(
            say("deployed", language, r=", ".join(revision[:10] for revision in gathered.revisions))
            if gathered.revisions
            else say("indexed", language)
        )
    elif any(frame.in_app for frame in alert.frames):
        lines.append(say("no_frames", language))
    if analysed.why_without_model:
        lines.append(say(analysed.why_without_model, language))
    return (*lines, *gathered.degraded)


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in " .-_")[:80]
