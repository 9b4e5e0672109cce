"""One id from delivery to reply, secrets masked, tracebacks in the file and not on the screen, JSON where it is set."""

from __future__ import annotations

import json
import logging

import pytest
import structlog

from bot import logging_setup
from bot.logging_setup import LOG_NAME, add_log_file, announcer, configure_console, hide, remove_log_file
from bot.tracing import following, trace_of

SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def logged(tmp_path, capsys, monkeypatch):
    """Configures, runs what it is given, and returns (lines of the file, text of standard error)."""
    before = (logging.getLogger().level, list(logging.getLogger().handlers))
    monkeypatch.setattr(logging_setup, "_hidden", [])

    def run(level, write, **how):
        configure_console(level, **how)
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


def test_lines_in_a_container_are_json_with_the_traceback_in_them(logged):
    def write(log):
        with following("slack:C1:1700000000.000100"):
            try:
                raise ZeroDivisionError("a bug")
            except ZeroDivisionError as error:
                log.error("delivery.failed", exc_info=error)

    _, screen = logged("info", write, form="json")
    (line,) = [json.loads(one) for one in screen.splitlines()]
    assert (line["event"], line["level"], line["logger"]) == ("delivery.failed", "error", "bot.test")
    assert (line["delivery"], line["trace"]) == (
        "slack:C1:1700000000.000100",
        trace_of("slack:C1:1700000000.000100"),
    )
    assert "ZeroDivisionError: a bug" in line["exception"]


def test_announcements_are_log_lines_where_lines_are_json(logged, capsys):
    _, screen = logged("info", lambda log: announcer("json")("Haechi answers at http://127.0.0.1:8765/"), form="json")
    assert json.loads(screen)["event"] == "Haechi answers at http://127.0.0.1:8765/"
    announcer("text")("Stop with Ctrl-C.")
    assert capsys.readouterr().out == "Stop with Ctrl-C.\n"


def test_a_short_id_is_the_same_after_a_restart_and_another_one_for_another_delivery():
    assert trace_of("web:1") == "8724d338"
    assert trace_of("web:2") != trace_of("web:1")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("tracebacks", [False, True])
def test_no_line_holds_a_configured_secret_whatever_its_form(logged, form, tracebacks):
    page_token = "plain words that no pattern knows"

    def write(log):
        hide([page_token, "short"])
        log.info(
            "nested", faults=[{"header": f"Bearer {page_token}"}, (page_token, {SECRET})], path=RuntimeError(SECRET)
        )
        logging.getLogger("some.library").debug("sent %s", {"authorization": page_token})
        with structlog.contextvars.bound_contextvars(delivery=page_token):
            log.warning("bound", count=3, ok=True, nothing=None)
        try:
            raise ValueError(f"could not log in with {page_token} and {SECRET}")
        except ValueError as error:
            log.error("failed", exc_info=error)
            log.exception("failed again")

    lines, screen = logged("debug", write, form=form, tracebacks=tracebacks)
    everything = screen + json.dumps(lines, ensure_ascii=False)
    assert page_token not in everything
    assert SECRET not in everything
    assert "could not log in with [masked:secret]" in screen
    bound = next(line for line in lines if line["event"] == "bound")
    assert (bound["count"], bound["ok"], bound["nothing"]) == (3, True, None)
    assert all("short" not in line for line in logging_setup._hidden)  # too short to be told from a word
