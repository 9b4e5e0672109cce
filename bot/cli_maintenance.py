"""Commands that keep the data folder: verify, backup, restore, export, erase."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli_cases import add_case_commands

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Call = Callable[[str, dict[str, Any]], Any]  # carries out a command, reporting errors


def add_commands(app: typer.Typer, call: Call) -> None:
    """Adds the commands to `app`; `call` carries them out, here or in the process that owns the data folder."""
    _add_keeping(app, call)
    _add_records(app, call)
    add_case_commands(app, call)


def _add_keeping(app: typer.Typer, call: Call) -> None:
    @app.command()
    def verify(
        repair: Annotated[bool, typer.Option("--repair/--check-only", help="Mend what differs, or only look.")] = True,
        as_json: AsJson = False,
    ) -> None:
        """Compare the parts of the index and mend them.

        Catalog, keywords, vector cache and vectors are compared. Nothing is embedded again."""
        result = call("verify", {"repair": repair})
        if as_json:
            _print_json(result)
        else:
            print(f"{result['documents']} documents, {result['chunks']} chunks, {result['vectors']} vectors compared")
            for finding in result["findings"]:
                print(f"  {finding['part']}: {finding['what']}: {finding['found']}, repaired {finding['repaired']}")
            print("all agree" if result["ok"] else "something differs still")
        if not result["ok"]:
            raise typer.Exit(1)

    @app.command()
    def backup(
        file: Annotated[Path, typer.Argument(help="The file to write; an older one there is replaced.")],
        as_json: AsJson = False,
    ) -> None:
        """Write a backup into one file.

        Also while the bot runs. It holds everything that cannot be computed again."""
        result = call("backup", {"file": str(file.absolute())})
        if as_json:
            _print_json(result)
        else:
            print(f"{result['file']}: {result['files']} files, {result['bytes'] / 1e6:.1f} MB")

    @app.command()
    def restore(
        file: Annotated[Path, typer.Argument(help="A file that `haechi backup` wrote.")], as_json: AsJson = False
    ) -> None:
        """Put a backup in the place of what is there.

        Also while the bot runs. It is checked first; when anything fails, all stays as it was."""
        result = call("restore", {"file": str(file.absolute())})
        if as_json:
            _print_json(result)
        else:
            print(f"restored the backup of {result['taken_at']}: {result['documents']} documents,"
                  f" {result['chunks']} chunks, {result['vectors']} vectors")  # fmt: skip
        if not result["ok"]:
            print("haechi: some vectors are missing still; `haechi ingest` computes them", file=sys.stderr)


def _add_records(app: typer.Typer, call: Call) -> None:
    @app.command()
    def export(
        kind: Annotated[str, typer.Argument(help="answers, questions, feedback, audit or alerts.")],
        since: Annotated[
            str | None, typer.Option("--since", help="A day (2026-01-31) or an age (30d).", metavar="TIME")
        ] = None,
    ) -> None:
        """Print records as JSON lines, secrets masked."""
        moment = None if since is None else _moment(since, datetime.now(UTC))
        after: int | None = 0
        while after is not None:
            page = call("export", {"kind": kind, "since": moment, "after": after})
            for row in page["rows"]:
                _print_json(row)
            after = page["after"]

    @app.command()
    def erase(
        person: Annotated[str, typer.Argument(help="PLATFORM:USER_ID, such as slack:U0123456.")],
        as_json: AsJson = False,
    ) -> None:
        """Erase what one person asked, said and voted.

        Backups that were taken before still hold them."""
        result = call("erase", {"person": person})
        if as_json:
            _print_json(result)
        else:
            print(", ".join(f"{name}: {count}" for name, count in result["erased"].items()))


def _print_json(form: object) -> None:
    from bot.cli_output import print_json

    print_json(form)


def _moment(text: str, now: datetime) -> str:
    """The time of a day or an age, as it is stored."""
    from bot.store import timestamp

    if text.endswith("d") and text[:-1].isdigit():
        return timestamp(now - timedelta(days=min(int(text[:-1]), 36_500)))
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            "must be a day such as 2026-01-31, or an age such as 30d", param_hint="--since"
        ) from None
    return timestamp(found if found.tzinfo else found.astimezone())
