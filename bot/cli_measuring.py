"""Commands that measure search and the gate on a company's own questions: eval, calibrate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Call = Callable[[str, dict[str, Any]], Any]  # carries out a command, reporting errors


def add_measuring_commands(app: typer.Typer, call: Call) -> None:
    """Adds the commands to `app`."""

    @app.command(name="eval")
    def evaluate(
        file: Annotated[Path, typer.Argument(help="Questions: a TSV file or JSON lines; docs/configuration.md.")],
        as_json: AsJson = False,
        top_k: Annotated[int | None, typer.Option("--top-k", min=1, max=1000, help="How many results.")] = None,
    ) -> None:
        """Score search on a file of questions.

        A TSV file begins with the line: id, type, question, answer_doc, and where you like source, label,
        must_contain. The types off-topic and unanswerable have no answer_doc."""
        result = call("eval", {"file": str(file.absolute()), "top_k": top_k})
        from bot.cli_output import print_json, print_scores

        if as_json:
            print_json(result)
        else:
            print_scores(result["groups"])

    @app.command()
    def calibrate(
        file: Annotated[Path, typer.Argument(help="A TSV file: question, answerable (yes, no, off-topic), source.")],
        as_json: AsJson = False,
    ) -> None:
        """Measure the gate on your own labelled questions.

        The result is kept in the data folder and decides from then on what is answered and what is refused."""
        result = call("calibrate", {"file": str(file.absolute())})
        from bot.cli_output import print_calibrations, print_json

        if as_json:
            print_json(result)
        else:
            print_calibrations(result["kinds"])
