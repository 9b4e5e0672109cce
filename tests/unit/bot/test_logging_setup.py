"""One id from delivery to reply, secrets masked, tracebacks in the file and not on the screen."""

from __future__ import annotations

import json
import logging

import pytest
import structlog

from bot.logging_setup import LOG_NAME, add_log_file, configure_console, remove_log_file

SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def logged(tmp_path, capsys):
    """Configures, runs what it is given, and returns (lines of the file, text of standard error)."""
    before = (logging.getLogger().level, list(logging.getLogger().handlers))

    def run(level, write):
        configure_console(level)
        handler = add_log_file(tmp_path)
        write(structlog.get_logger("bot.test"))
        remove_log_file(handler)
        file = tmp_path / LOG_NAME
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines], capsys.readouterr().err

    yield run
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in before[1]:
        root.addHandler(handler)
    root.setLevel(before[0])
    structlog.reset_defaults()


def test_every_line_carries_what_is_bound_to_the_delivery(logged):
    def write(log):
        with structlog.contextvars.bound_contextvars(delivery="web:1"):
            log.info("delivery.answered", outcome="answered")

    lines, screen = logged("info", write)
    assert (lines[0]["event"], lines[0]["delivery"], lines[0]["level"]) == ("delivery.answered", "web:1", "info")
    assert "delivery=web:1" in screen


def test_secrets_are_masked_on_the_screen_and_in_the_file(logged):
    lines, screen = logged("info", lambda log: log.info("asked", question=f"왜 안 되나요 {SECRET}"))
    assert SECRET not in screen + json.dumps(lines)
    assert "[masked:" in screen


def test_a_traceback_goes_to_the_file_alone(logged):
    def write(log):
        try:
            raise ZeroDivisionError("a bug")
        except ZeroDivisionError as error:
            log.error("delivery.failed", error_id="e1", exc_info=error)

    lines, screen = logged("error", write)
    assert "Traceback" in lines[0]["exception"]
    assert "Traceback" not in screen
    assert "ZeroDivisionError: a bug" in screen
    assert "e1" in screen


def test_the_file_keeps_what_the_screen_is_spared(logged):
    lines, screen = logged("error", lambda log: log.info("reading rules 12/40"))
    assert screen == ""
    assert [line["event"] for line in lines] == ["reading rules 12/40"]


def test_lines_of_libraries_have_the_same_form(logged):
    lines, _ = logged("info", lambda log: logging.getLogger("some.library").warning("disk %s", "slow"))
    assert (lines[0]["event"], lines[0]["logger"]) == ("disk slow", "some.library")
