"""`haechi cases`: what is remembered of past faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Number = Annotated[int, typer.Argument(help="The number that `haechi cases list` shows.", min=1)]
Call = Callable[[str, dict[str, Any]], Any]  # carries out a command, reporting errors


def add_case_commands(app: typer.Typer, call: Call) -> None:
    """Adds `cases` with its commands to `app`."""
    cases = typer.Typer(help="Show and forget what is remembered of past faults.", no_args_is_help=True)
    app.add_typer(cases, name="cases")

    @cases.command("list")
    def list_cases(
        service: Annotated[str | None, typer.Option("--service", help="Only this service.", metavar="NAME")] = None,
        limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="How many.")] = 50,
        as_json: AsJson = False,
    ) -> None:
        """List past faults with their causes, the latest first."""
        result = call("cases", {"service": service, "limit": limit})
        _print(result["cases"], as_json, _print_list)

    @cases.command()
    def show(number: Number, as_json: AsJson = False) -> None:
        """Show one case: its cause, its fix, and the code that it rests on."""
        _print(call("show_case", {"number": number})["case"], as_json, _print_case)

    @cases.command()
    def forget(number: Number, as_json: AsJson = False) -> None:
        """Forget one case for good: its text goes, and its cause is not learnt again for this fault."""
        _print(call("forget_case", {"number": number})["case"], as_json, _print_forgotten)


def _print(form: Any, as_json: bool, show: Callable[[Any], None]) -> None:
    from bot.cli_output import print_json

    if as_json:
        print_json(form)
    else:
        show(form)


def _print_list(cases: Sequence[Mapping[str, Any]]) -> None:
    for case in cases:
        _line(f"#{case['case']}  {_head(case)}  {case['learnt_at'][:10]}{_marks(case)}")
        _line(f"    {case['cause']}")
    if not cases:
        _line("No case is remembered yet.")


def _print_case(case: Mapping[str, Any]) -> None:
    _line(f"#{case['case']}  {_head(case)}  {case['learnt_at'][:10]}{_marks(case)}")
    for title, key in (("said", "message"), ("summary", "summary"), ("cause", "cause"), ("analysis", "url")):
        if case[key]:
            _line(f"{title}: {case[key]}")
    for one in case["cited"]:
        lines = f":{one['start_line']}-{one['end_line']}" if one["start_line"] else ""
        name = f"  {one['symbol']}" if one["symbol"] else ""
        _line(f"rests on: {one['source']}/{one['uri']}{lines}{name}")
    for text in (case["fix"] or "").splitlines():
        _line(f"    {text}", whole=True)


def _print_forgotten(case: Mapping[str, Any]) -> None:
    _line(f"forgotten: #{case['case']}  {_head(case)}")


def _head(case: Mapping[str, Any]) -> str:
    return f"{case['service'] or '-'}  {case['error_class'] or '-'}"


def _marks(case: Mapping[str, Any]) -> str:
    marks = [name for name, key in (("told by a person", "told_by_a_person"), ("stale", "stale")) if case[key]]
    return f"  ({', '.join(marks)})" if marks else ""


def _line(text: str, *, whole: bool = False) -> None:
    from bot.cli_output import Text, console
    from bot.terminal_text import one_line

    console().print(Text(text if whole else one_line(text)))
