"""Errors on the command line: one sentence on standard error and an exit status, never a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from bot.errors import BotError, ConfigError
from knowledge.errors import KnowledgeError, UnknownSource

FAILED = 1
WRONG_USE = 2


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except OSError as error:
        print(f"haechi: {_os_sentence(error)}", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    except Exception as error:
        if debug:
            raise
        _log_unexpected(error)
        print(
            f"haechi: something unexpected happened ({type(error).__name__}: {error});"
            " run it again with --debug in front of the command to see where.",
            file=sys.stderr,
        )
        raise typer.Exit(FAILED) from None


def _tell(error: Exception) -> None:
    text = str(error).strip()
    end = "" if text.endswith((".", "?", "!", '"', "'")) else "."
    print(f"haechi: {text}{end}", file=sys.stderr)


def _os_sentence(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"the disk is full{where}; free some space and run it again, nothing was lost."
    return f"{error.strerror or error}{where}."


def _log_unexpected(error: Exception) -> None:
    import structlog

    structlog.get_logger(__name__).error("command.failed", exc_info=error)
