"""Signals: every command stops in order, nothing is left running, and whoever reads our output sees its end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from bot.stopping import STOPPED_AT_ONCE
from tests.e2e.haechi import Haechi, wait_for_line
from tests.e2e.test_cli_faults import slow_company

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
LIMIT_S = 120


def descendants(pid: int) -> set[int]:
    from knowledge.extract.process_tree import tree_of

    return tree_of(pid) - {pid}


def running(pids: set[int]) -> set[int]:
    alive = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            alive.add(pid)
    return alive


def all_ended(pids: set[int]) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if not running(pids):
            return True
        select_nothing()
    return False


def select_nothing() -> None:
    import select

    select.select([], [], [], 0.05)


def ingesting(haechi: Haechi):
    """A running ingest with its workers; more documents than it reads in a few seconds."""
    slow_company(haechi, documents=150)
    process = haechi.start("ingest", "--source", "rules")
    wait_for_line(process, "rules: reading", stream="stderr")
    deadline = time.monotonic() + LIMIT_S
    while len(descendants(process.pid)) < 2 and time.monotonic() < deadline:
        select_nothing()
    workers = descendants(process.pid)
    assert workers
    return process, workers


def test_sigterm_stops_an_ingest_in_order_and_leaves_no_process(haechi):
    process, workers = ingesting(haechi)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "stopping: finishing what is in flight; press Ctrl-C again to stop at once" in err
    assert "Stopped. What was finished is kept" in err
    assert "Traceback" not in err
    assert all_ended(workers)


def test_a_killed_ingest_takes_its_workers_with_it_and_closes_its_output(haechi):
    process, workers = ingesting(haechi)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)  # returns only when nobody holds the pipes any more
    assert all_ended(workers)


def test_a_second_ctrl_c_stops_at_once_and_the_next_run_goes_on(haechi):
    process, workers = ingesting(haechi)
    process.send_signal(signal.SIGINT)
    wait_for_line(process, "stopping: finishing", stream="stderr")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert STOPPED_AT_ONCE in err  # not the sentence of an orderly end
    assert process.returncode == 1
    assert "Traceback" not in err
    assert all_ended(workers)
    again = haechi.run("ingest", "--source", "rules")
    assert again.returncode == 0, again.stderr


def test_workers_do_not_hold_the_output_of_the_command(haechi):
    process, workers = ingesting(haechi)
    deadline = time.monotonic() + LIMIT_S
    null = os.stat(os.devnull).st_ino
    while time.monotonic() < deadline:
        outputs = [os.stat(f"/proc/{pid}/fd/1").st_ino for pid in sorted(workers & running(workers))]
        if outputs.count(null) >= 1:
            break
        select_nothing()
    else:
        pytest.fail("every process that was started holds standard output")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
