"""What the commands print: JSON for programs, rich text on a terminal, plain text everywhere else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console
from rich.text import Text as RichText

from bot.terminal_text import one_line, printable
from bot.types import Language
from bot.wording import ago

if TYPE_CHECKING:
    from bot.readiness import Check

Form = Mapping[str, Any]

EXCERPT_LINES = 8


class Text(RichText):
    """Text of rich without control characters of others; `style` is ours."""

    def __init__(self, text: str = "", style: str = "") -> None:
        super().__init__(printable(text), style=style)


def print_json(form: object) -> None:
    """One line of JSON, flushed so that a program that asks line by line is not kept waiting."""
    text = json.dumps(form, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # half a character, or a terminal that is not UTF-8
        text = json.dumps(form)
    print(text, flush=True)


@cache
def console() -> Console:
    """Standard output; without colours, and without wrapping, where it is no terminal."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, no_color=True, width=10_000, soft_wrap=True, legacy_windows=False)


def print_answer(result: Form) -> None:
    """An answer or a refusal with its sources and notices."""
    form, language = result["form"], cast(Language, result["language"])
    out = console()
    if out.is_terminal:
        from rich.markdown import Markdown

        out.print(Markdown(printable(form["answer"])))
    else:
        out.print(Text(_unescaped(form["answer"])))
    from bot.wording import word

    for title, citations in (("sources", form["citations"]), ("nearest", result["nearest"])):
        if citations:
            out.print()
            out.print(Text(word(title, language), style="bold"))
            for citation in citations:
                link = f"  {citation['url']}" if citation["url"] else ""
                out.print(Text(f"  [{citation['index']}] {place(citation)}{link}"))
    if result["notices"]:
        out.print()
        for notice in result["notices"]:
            out.print(Text(notice, style="dim"))


def print_results(form: Form) -> None:
    """The results of one query."""
    out = console()
    chance = "" if form["probability"] is None else f", probability {form['probability']:.2f}"
    out.print(Text(f"{form['query']}", style="bold"))
    out.print(Text(f"{form['verdict']}{chance}: {form['reason']}", style=_VERDICT_STYLE.get(form["verdict"], "")))
    for line in form["degraded"]:
        out.print(Text(f"! {line}", style="yellow"))
    for result in form["results"]:
        via = " (linked)" if result["via"] else ""
        out.print()
        out.print(Text(f"{result['rank']}. {result['source']} · {place(result)}{via}", style="bold"))
        lines = result["text"].splitlines()
        for line in lines[:EXCERPT_LINES]:
            out.print(Text(f"   {line}"))
        if len(lines) > EXCERPT_LINES:
            out.print(Text(f"   … {len(lines) - EXCERPT_LINES} more lines", style="dim"))
    if not form["results"]:
        out.print(Text("No results."))
    out.print()


def print_documents(documents: Sequence[Form]) -> None:
    """One line a document; what could not be read says why."""
    for item in documents:
        state = "" if item["status"] == "indexed" else f"  [{item['status']}: {item['reason']}]"
        line = Text(f"{item['source']}  {one_line(item['document'])}")
        facts = f"  {item['title']}, {item['chunks']} chunks{state}"
        line.append(one_line(facts), style="red" if state else "dim")
        console().print(line)
    if not documents:
        console().print(Text("Nothing is indexed yet; run `haechi ingest`."))


def print_parts(parts: Sequence[Form]) -> None:
    """A whole section: its place once, then the text of its parts."""
    out = console()
    shown = None
    for part in parts:
        heading = place(part)
        if heading != shown:
            out.print(Text(heading, style="bold"))
            shown = heading
        out.print(Text(part["text"]))


def print_extraction(form: Form) -> None:
    """The text of a file; warnings go to standard error."""
    out = console()
    for warning in form["warnings"]:
        print(f"haechi: {printable(warning)}", file=sys.stderr)
    for block in form["blocks"]:
        if block["rows"]:
            for row in block["rows"]:
                out.print(Text(" | ".join(row)))
        elif block["kind"] == "heading":
            out.print(Text(f"{'#' * (block['level'] or 1)} {block['text']}", style="bold"))
        else:
            out.print(Text(block["text"]))


def print_reports(reports: Sequence[Form]) -> None:
    """A summary of an ingest: counts, and every failed document by name."""
    out = console()
    for report in reports:
        if report["dry_run"]:
            _print_dry_run(report)
        counts = ", ".join(f"{report[name]} {name}" for name in ("added", "updated", "deleted", "unchanged"))
        failed = f", {len(report['failed'])} failed" if report["failed"] else ""
        would = "would be: " if report["dry_run"] else ""
        out.print(
            Text(
                f"{report['source']}: {would}{counts}{failed}; {report['chunks']} chunks, {report['duration_s']:.1f} s"
            )
        )
        if report["pending"]:
            out.print(Text(f"  {report['pending']} vectors are missing still; keyword search works", style="yellow"))
        if report["problem"]:
            out.print(Text(f"  problem: {one_line(report['problem'])}", style="red"))
        for item in report["failed"]:
            out.print(Text(f"  failed: {one_line(item['document'])}: {one_line(item['reason'])}", style="red"))


def print_status(form: Form) -> None:
    """The sources, what is wrong with them, and the tools."""
    out = console()
    now = datetime.now(UTC)
    for item in form["sources"]:
        last = ago(datetime.fromisoformat(item["last_sync"]), now, "en") if item["last_sync"] else "never"
        revision = f", revision {item['revision'][:10]}" if item["revision"] else ""
        out.print(Text(f"{item['source']}  {item['title']}", style="bold"))
        out.print(Text(f"  {item['documents']} documents, {item['chunks']} chunks, synced {last}{revision}"))
        calibrated = "" if item["calibrated"] else " (uncalibrated)"
        out.print(Text(f"  embedder: {', '.join(item['embedder']) or 'none'}{calibrated}"))
        for space, missing in item["pending"].items():
            if missing:
                out.print(Text(f"  {space}: {missing} vectors are missing still", style="yellow"))
        if item["problem"]:
            out.print(Text(f"  problem: {one_line(item['problem'])}", style="red"))
        _print_upkeep(item)
        for reason, count in item["skipped"].items():
            out.print(Text(f"  skipped {count}: {reason}", style="dim"))
        for reason, count in item["warned"].items():
            out.print(Text(f"  in {count} files: {reason}", style="dim"))
        for failed in item["failed"]:
            out.print(Text(f"  failed: {one_line(failed['document'])}: {one_line(failed['reason'])}", style="red"))
    for tool in (*form["tools"], *form["platforms"]):
        if tool["name"].startswith("source:") and tool["state"] == "ok":
            continue  # told above
        style = {"ok": "green", "degraded": "yellow"}.get(tool["state"], "red")
        out.print(Text(f"{tool['name']}: {tool['state']}{_since(tool, now)}  {one_line(tool['detail'])}", style=style))
    for name, nightly in form["nightly"].items():
        out.print(Text(f"{name}: {nightly['when']}, next at {local_time(nightly['next'])}", style="dim"))
    print_backup(form["last_backup"], now)
    if not form["running"]:
        out.print(Text("No bot runs on this data folder now; `haechi run` starts it.", style="dim"))


def _since(tool: Form, now: datetime) -> str:
    """Since when a part is not well; when all is well nobody asks."""
    if tool["state"] == "ok" or not tool["since"]:
        return ""
    return f" since {local_time(tool['since'])} ({ago(datetime.fromisoformat(tool['since']), now, 'en')})"


def local_time(moment: str) -> str:
    """A moment in ISO 8601 as the clock of this machine shows it: "2026-11-30 18:34 KST"."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def print_backup(last: str | None, now: datetime) -> None:
    """When the last backup was made, and how to make one."""
    if last is None:
        console().print(Text("last backup: none yet; `haechi backup FILE` writes one", style="yellow"))
    else:
        console().print(Text(f"last backup: {ago(datetime.fromisoformat(last), now, 'en')}, at {local_time(last)}"))


def _print_upkeep(item: Form) -> None:
    """The generation that is being built, and how the source is kept up to date."""
    out = console()
    if building := item.get("building"):
        missing = max(building["pending"].values(), default=0)
        done = f"{building['documents']}/{building['of_documents']} documents, {missing} vectors missing"
        out.print(Text(f"  a new generation is being built beside this one: {done}", style="yellow"))
    if schedule := item.get("schedule"):
        events = f"; file events: {schedule['events']}" if schedule["events"] != "not watched" else ""
        soon = f", next at {local_time(schedule['next'])}" if schedule["next"] else ""
        out.print(Text(f"  kept up to date: {schedule['when']}{soon}{events}", style="dim"))


def print_scores(groups: Mapping[str, Form]) -> None:
    """One line for each type of question."""
    for name, score in groups.items():
        unanswerable = name.startswith(("unanswerable", "off-topic"))  # then there is no evidence to find
        told = {key: score[key] for key in ("refused", "judged_ok")} if unanswerable else score
        figures = ", ".join(f"{key} {value}" for key, value in told.items() if key != "n" and value is not None)
        console().print(Text(f"{name} ({score['n']}): {figures}"))


def print_calibrations(kinds: Sequence[Form]) -> None:
    """What was measured for each kind of source, held out by group, and where it is kept."""
    for item in kinds:
        if item["file"] is None:
            console().print(Text(f"{item['kind']}: not calibrated; it {item['reason']}"))
            continue
        asked = ", ".join(f"{n} {label}" for label, n in item["measured"]["questions"].items())
        console().print(Text(f"{item['kind']}: calibrated on {asked} questions, kept in {item['file']}"))
        for name, share in item["measured"]["cross-validated"].items():
            console().print(Text(f"  {name}: {'not measured' if share is None else f'{share:.0%}'}"))


def print_check(check: Check) -> None:
    """One line of `haechi doctor`."""
    mark = Text("ok      ", style="green") if check.ok else Text("problem ", style="red")
    line = mark.append(one_line(f"{check.name}: {check.detail}"), style="default")
    if check.remedy:
        line.append(f" -> {check.remedy}", style="yellow")
    console().print(line)


@contextmanager
def ingest_progress() -> Iterator[Callable[[Form], None]]:
    """A bar on a terminal's standard error; elsewhere a line for each stage, so that logs stay readable."""
    if not sys.stderr.isatty():
        yield _stage_lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(step: Form) -> None:
            name = f"{step['source']} {_STAGES.get(step['stage'], step['stage'])}".strip()
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=step["total"])
            bar.update(tasks[name], completed=step["done"], total=step["total"])

        yield report


def place(form: Form) -> str:
    """ "src/pay.py:12-30 PayService.retry", or "travel.docx · [별표 1] 여비 지급 기준 · p. 12"."""
    if form["path"] is not None and form["start_line"] is not None:
        lines = f"{form['start_line']}-{form['end_line']}"
        return one_line(f"{form['path']}:{lines}" + (f" {form['symbol']}" if form["symbol"] else ""))
    page = None if form["page"] is None else f"p. {form['page']}"
    return one_line(" · ".join(part for part in (form["document"], form["label"], page) if part))


_VERDICT_STYLE = {"ok": "green", "weak": "yellow", "none": "red"}
_STAGES = {"discover": "looking", "read": "reading", "embed": "embedding", "waiting": "waiting for another sync"}


def _stage_lines() -> Callable[[Form], None]:
    seen: set[tuple[str, str]] = set()

    def report(step: Form) -> None:
        stage = _STAGES.get(step["stage"])
        if stage is None or (step["source"], stage) in seen:
            return
        seen.add((step["source"], stage))
        of = f" {step['total']}" if step["total"] else ""
        print(f"{step['source']}: {stage}{of}".strip(": "), file=sys.stderr, flush=True)

    return report


def _print_dry_run(report: Form) -> None:
    for item in report.get("documents", ()):
        if item["change"] == "unchanged":
            continue
        read = ""
        if item["format"]:
            reader = f" by {item['extractor']}" if item.get("extractor") else ""
            blocks = f", {item['blocks']} blocks" if item["blocks"] else ""  # code has none
            read = f"{item['format']}{reader}{blocks}, {item['chunks']} chunks"
        warnings = "".join(f"; {warning}" for warning in item["warnings"])
        console().print(Text(f"  {item['change']:9} {one_line(item['document'])}  {read}{one_line(warnings)}"))


def _unescaped(markdown: str) -> str:
    """Markdown as plain text for programs and pipes: without escapes and invisible joiners, code and tables as they
    are."""
    import re

    text = markdown.replace("\u2060", "")
    return re.sub(r"\\([\\`*_\[\]<>~|#+\-=.)])", r"\1", re.sub(r" +$", "", text, flags=re.MULTILINE))
