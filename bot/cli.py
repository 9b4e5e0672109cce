"""The command line. Thin: arguments in, operations called, output left to bot.cli_output.

Everything heavy is imported inside the commands, so that `haechi --help` and `haechi extract` start at once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli_errors import reporting_errors, require_standard_streams, standard_input
from bot.cli_maintenance import add_commands
from bot.cli_measuring import add_measuring_commands
from bot.errors import BotError
from bot.stopping import STOPPING, interrupt_on_sigterm, run_until_stopped, tell

if TYPE_CHECKING:
    from bot.logging_setup import LogFormat
    from bot.services import Services
    from bot.session import Session
    from bot.settings import Settings

app = typer.Typer(
    name="haechi",
    help="Answers company questions from documents and code, with evidence, or says plainly that it cannot.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(slots=True)
class Options:
    """What stands in front of the command."""

    config: Path | None = None
    debug: bool = False


_options = Options()

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SourceOption = Annotated[str | None, typer.Option("--source", help="Only this source.", metavar="NAME")]
SourcesOption = Annotated[
    list[str] | None, typer.Option("--source", help="Only this source; may be given several times.", metavar="NAME")
]
KindOption = Annotated[str | None, typer.Option("--kind", help="Only docs or code.", metavar="docs|code")]


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", help="Configuration file; haechi.toml in this folder if left out.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Log everything, tracebacks too.")] = False,
) -> None:
    """Keeps what stands in front of the command."""
    _options.config = config
    _options.debug = debug
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run() -> None:
    """Start the bot with its web page, until Ctrl-C."""
    with reporting_errors(debug=_options.debug):
        settings = _settings(console_level=None)
        from bot.app import run_bot
        from bot.logging_setup import announcer

        asyncio.run(run_bot(settings, announce=announcer(settings.log.format)))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, or - to read it from standard input.")],
    as_json: AsJson = False,
    source: SourceOption = None,
    kind: KindOption = None,
) -> None:
    """Answer one question, as in a thread."""
    with reporting_errors(debug=_options.debug):
        text = _nonempty(_piped_text() if question == "-" else question, "question")
        _check_kind(kind)
        result = _call("ask", {"question": text, "source": source, "kind": kind})
        from bot.cli_output import print_answer, print_json

        if as_json:
            print_json(result["form"])
        else:
            print_answer(result)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for, or - to read queries from standard input.")],
    as_json: AsJson = False,
    top_k: Annotated[int | None, typer.Option("--top-k", min=1, max=1000, help="How many results.")] = None,
    source: SourceOption = None,
    kind: KindOption = None,
) -> None:
    """Show ranked evidence for a query.

    With - one query a line is read from standard input: plain text, or {"query": "...", "source": "..."}."""
    with reporting_errors(debug=_options.debug):
        _check_kind(kind)
        common = {"top_k": top_k, "source": source, "kind": kind}
        lines = standard_input() if query == "-" else None
        if lines is None:
            _nonempty(query, "query")
        failed = run_until_stopped(_search_all(query, lines, common, as_json=as_json))
        if failed:
            raise typer.Exit(1)


@app.command(name="list")
def list_documents(as_json: AsJson = False, source: SourceOption = None) -> None:
    """List every known document, the failed ones too."""
    with reporting_errors(debug=_options.debug):
        result = _call("list", {"source": source})
        from bot.cli_output import print_documents, print_json

        if as_json:
            print_json(result["documents"])
        else:
            print_documents(result["documents"])


@app.command()
def read(
    document: Annotated[str, typer.Argument(help="File name or path of the document, as `haechi list` shows it.")],
    label: Annotated[
        str, typer.Argument(help='Article, appendix or definition: "제12조", "별표 1", "PayService.retry".')
    ],
    source: SourceOption = None,
) -> None:
    """Print one whole article, appendix or definition."""
    with reporting_errors(debug=_options.debug):
        result = _call("read", {"document": document, "label": label, "source": source})
        from bot.cli_output import print_parts

        print_parts(result["parts"])


@app.command()
def extract(
    file: Annotated[Path, typer.Argument(help="The file to read.")],
    as_json: AsJson = False,
    time_limit_s: Annotated[float, typer.Option(help="Give the file up after so many seconds.", min=1)] = 600,
    memory_limit_mb: Annotated[int, typer.Option(help="Give the file up above so much memory.", min=100)] = 2000,
) -> None:
    """Show what is read from one file.

    Needs no configuration."""
    with reporting_errors(debug=_options.debug):
        from bot.cli_output import print_extraction, print_json
        from bot.extraction import extract_file

        form = extract_file(file, time_limit_s=time_limit_s, memory_limit_mb=memory_limit_mb)
        if as_json:
            print_json(form)
        else:
            print_extraction(form)
        if form["status"] == "failed":
            raise typer.Exit(1)


@app.command()
def ingest(
    source: SourcesOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Read everything again, also what has not changed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date with the sources."""
    with reporting_errors(debug=_options.debug):
        from bot.cli_output import ingest_progress, print_json, print_reports

        with ingest_progress() as report:
            result = _call("ingest", {"sources": source, "dry_run": dry_run, "force": force}, report)
        if as_json:
            print_json(result)
        else:
            print_reports(result["sources"])
        if any(item["problem"] for item in result["sources"]):
            raise typer.Exit(1)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show what is indexed and what is not."""
    with reporting_errors(debug=_options.debug):
        result = _call("status", {})
        from bot.cli_output import print_json, print_status

        if as_json:
            print_json(result)
        else:
            print_status(result)


@app.command()
def jobs(
    action: Annotated[str | None, typer.Argument(help="cancel, with the number of a job.")] = None,
    number: Annotated[int | None, typer.Argument(help="The number that `haechi jobs` shows.")] = None,
    as_json: AsJson = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many.")] = 20,
) -> None:
    """Show syncs that wait, run or ended.

    `haechi jobs cancel 12` stops one; what it has finished stays."""
    with reporting_errors(debug=_options.debug):
        if action not in (None, "cancel") or (action is None) != (number is None):
            raise typer.BadParameter("use `haechi jobs` or `haechi jobs cancel NUMBER`")
        if action == "cancel":
            result = {"jobs": [_call("cancel_job", {"number": number})["job"]]}
        else:
            result = _call("jobs", {"limit": limit})
        from bot.cli_jobs import print_jobs
        from bot.cli_output import print_json

        if as_json:
            print_json(result["jobs"])
        else:
            print_jobs(result["jobs"])


@app.command()
def doctor(
    model: Annotated[bool, typer.Option("--model", help="Put about 20 questions to the model; takes minutes.")] = False,
) -> None:
    """Check what Haechi needs.

    Every line says how to mend what is missing."""
    with reporting_errors(debug=_options.debug):
        from bot.cli_output import print_check
        from bot.doctor import examine, examine_model

        _configure_logging("error")
        problems = 0
        for check in examine_model(_options.config) if model else examine(_options.config):
            print_check(check)
            problems += not check.ok
        if problems:
            raise typer.Exit(1)


def _call_reporting(method: str, params: dict[str, Any]) -> Any:
    with reporting_errors(debug=_options.debug):
        return _call(method, params)


add_measuring_commands(app, _call_reporting)
add_commands(app, _call_reporting)


def main() -> None:
    """The entry point of the `haechi` command."""
    require_standard_streams()
    interrupt_on_sigterm()
    app(prog_name="haechi")


# --- inside ---------------------------------------------------------------------------------------


def _settings(*, console_level: str | None) -> Settings:
    """The settings, with logging configured: at `console_level`, or at the level of the configuration."""
    from bot.logging_setup import hide
    from bot.settings import load_settings
    from bot.settings_secrets import secret_values

    settings = load_settings(_options.config)
    form = settings.log.format if console_level is None else "text"
    _configure_logging(console_level or settings.log.level, form)
    hide(secret_values(settings))
    return settings


def _configure_logging(level: str, form: LogFormat = "text") -> None:
    from bot.logging_setup import configure_console

    configure_console("debug" if _options.debug else level, tracebacks=_options.debug, form=form)


@asynccontextmanager
async def _session() -> AsyncIterator[Session]:
    settings = _settings(console_level="error")
    from bot.session import Session

    command = " ".join(["haechi", *(word for word in sys.argv[1:2] if not word.startswith("-"))])
    async with Session(
        settings,
        command,
        _open_services,
        clock=lambda: datetime.now(UTC),
        note=lambda text: print(text, file=sys.stderr),
    ) as session:
        yield session


def _open_services(settings: Settings) -> AbstractAsyncContextManager[Services]:
    """The services, for when this process becomes the owner; what another one carries out needs none of the imports."""
    from bot.services import open_services

    return open_services(settings)


def _call(method: str, params: Mapping[str, Any], report: Callable[[dict[str, Any]], None] | None = None) -> Any:
    async def call() -> dict[str, Any]:
        async with _session() as session:
            return await session.call(method, params, report or (lambda step: None))

    return run_until_stopped(call(), announce=(lambda: tell(STOPPING)) if method == "ingest" else (lambda: None))


async def _search_all(query: str, lines: Iterable[bytes] | None, common: Mapping[str, Any], *, as_json: bool) -> bool:
    """Prints one result a query, in order. Returns whether any of them failed."""
    from bot.cli_output import print_json, print_results
    from bot.query_lines import read_query_lines

    show = print_json if as_json else print_results
    failed = False
    async with _session() as session:
        if lines is None:
            show(await session.call("search", {"query": query, **common}, lambda step: None))
            return False
        for asked in read_query_lines(lines):
            form = await asked.answer(session, common)
            failed = failed or "error" in form
            show(form)
    return failed


def _piped_text() -> str:
    from bot.query_lines import CONVERT

    try:
        return standard_input().read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BotError(f"Standard input is not UTF-8 text; {CONVERT}") from None


def _nonempty(text: str, what: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise typer.BadParameter(f"the {what} is not UTF-8 text")
    if not text.strip():
        raise typer.BadParameter(f"the {what} is empty")
    return text.strip()


def _check_kind(kind: str | None) -> None:
    if kind not in (None, "docs", "code"):
        raise typer.BadParameter("must be docs or code", param_hint="--kind")
