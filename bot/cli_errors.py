"""Errors on the command line: one sentence on standard error and an exit status, never a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import BinaryIO

import typer

from bot.errors import BotError, ConfigError
from bot.terminal_text import one_line, printable
from knowledge.errors import KnowledgeError, UnknownSource

FAILED = 1
WRONG_USE = 2
STDIN, STDOUT, STDERR = 0, 1, 2


def require_standard_streams() -> None:
    """Ends the program when standard output is closed; gives closed ones to the null device, so that no file of ours
    gets their numbers."""
    lost_output = sys.stdout is None
    for number in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
    if sys.stderr is None:
        sys.stderr = open(STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  open as long as the program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal in CP949 cannot show every character
    if lost_output:
        print("haechi: standard output is closed, so nothing can be shown; run it without >&-.", file=sys.stderr)
        raise SystemExit(FAILED)


def standard_input() -> BinaryIO:
    """What is piped in, as bytes. Raises BotError when it is closed."""
    if sys.stdin is None:
        raise BotError("Standard input is closed; pipe the text in, or write it in place of the -")
    return sys.stdin.buffer


@contextmanager
def reporting_errors(*, debug: bool) -> Iterator[None]:
    """Ends the program with the right status: 1 for what failed, 2 for wrong use or configuration."""
    try:
        yield
    except (typer.Exit, typer.BadParameter, SystemExit):
        raise
    except (ConfigError, UnknownSource) as error:
        _tell(error)
        raise typer.Exit(WRONG_USE) from None
    except (BotError, KnowledgeError) as error:
        _tell(error)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        print("Stopped. What was finished is kept; the same command goes on from there.", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    except BrokenPipeError:  # the reader of our output has gone, e.g. `haechi list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        raise typer.Exit(FAILED) from None
    except OSError as error:
        print(f"haechi: {printable(_os_sentence(error))}", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    except Exception as error:
        if debug:
            raise
        _log_unexpected(error)
        print(
            f"haechi: something unexpected happened ({type(error).__name__}: {one_line(str(error))});"
            " run it again with --debug in front of the command to see where.",
            file=sys.stderr,
        )
        raise typer.Exit(FAILED) from None


def _tell(error: Exception) -> None:
    text = printable(str(error).strip())
    end = "" if text.endswith((".", "?", "!", '"', "'")) else "."
    print(f"haechi: {text}{end}", file=sys.stderr)


def _os_sentence(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"the disk is full{where}; free some space and run it again, nothing was lost."
    return f"{error.strerror or error}{where}."


def _log_unexpected(error: Exception) -> None:
    """To the log file. Without a configured log, structlog would print all local variables on standard output."""
    import structlog

    if structlog.is_configured():
        structlog.get_logger(__name__).error("command.failed", exc_info=error)
