"""Limits on one file: time, memory, crashes; the other files are not affected."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract.limits import ExtractionLimits, LimitedPool, LimitedProcess, Stopped
from knowledge.extract.process_tree import kill_tree, resident_bytes, tree_of

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory is read from /proc")


def work(task: str) -> str:
    """What the child does: the task says."""
    kind, _, argument = task.partition(":")
    if kind == "sleep":
        time.sleep(float(argument))
    elif kind == "hog":
        held = bytearray(int(argument))
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(30)
    elif kind == "crash":
        os.abort()
    elif kind == "meet":  # ends when the other one has begun too
        mine, _, other = argument.partition(":")
        Path(mine).touch()
        deadline = time.monotonic() + 20
        while not Path(other).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        if not Path(other).exists():
            raise UnreadableFile("the other one did not begin")
    elif kind == "leave":
        os._exit(3)
    elif kind == "raise":
        raise UnreadableFile(argument)
    elif kind == "start":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        Path(argument).write_text(str(child.pid))
        time.sleep(30)
    return f"{os.getpid()}"


def name(task: str) -> str:
    return f"file {task.partition(':')[0]}"


@pytest.fixture
def process() -> Iterator[LimitedProcess[str, str]]:
    limits = ExtractionLimits(wall_s=1.5, memory_bytes=250_000_000)
    made = LimitedProcess(work, describe=name, limits=limits)
    yield made
    made.close()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_one_child_serves_many_tasks(process: LimitedProcess[str, str]) -> None:
    assert process.run("echo") == process.run("echo") != str(os.getpid())


def test_what_the_function_raises_comes_back(process: LimitedProcess[str, str]) -> None:
    with pytest.raises(UnreadableFile, match="is encrypted"):
        process.run("raise:a.doc is encrypted")
    assert process.run("echo")


def test_a_file_that_takes_too_long_is_given_up_and_says_which_setting(process: LimitedProcess[str, str]) -> None:
    with pytest.raises(UnreadableFile, match=r"file sleep took longer than 2 s .* raise extraction\.time_limit_s"):
        process.run("sleep:60")
    assert process.run("echo")


@needs_proc
def test_a_file_that_takes_too_much_memory_is_given_up() -> None:
    limits = ExtractionLimits(wall_s=60, memory_bytes=250_000_000)
    process: LimitedProcess[str, str] = LimitedProcess(work, describe=name, limits=limits)
    with pytest.raises(UnreadableFile, match=r"file hog took more than 250 MB .* raise extraction\.memory_limit_mb"):
        process.run("hog:600000000")
    assert process.run("echo")
    process.close()


@pytest.mark.parametrize(("task", "how"), [("crash", "signal SIGABRT"), ("leave", "status 3")])
def test_a_crash_in_native_code_is_the_error_of_its_file(
    process: LimitedProcess[str, str], task: str, how: str
) -> None:
    with pytest.raises(UnreadableFile, match=rf"file {task} made its reader crash \({how}\)"):
        process.run(task)
    assert process.run("echo")


@needs_proc
def test_what_a_file_started_ends_with_it(process: LimitedProcess[str, str], tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with pytest.raises(UnreadableFile, match="took longer"):
        process.run(f"start:{note}")
    assert not is_alive(int(note.read_text()))


def test_a_stop_ends_the_work(process: LimitedProcess[str, str]) -> None:
    with pytest.raises(Stopped):
        process.run("sleep:60", should_stop=lambda: True)


def test_a_pool_hands_every_task_back_with_its_result_or_error() -> None:
    pool = LimitedPool(work, describe=name, workers=2, limits=ExtractionLimits(wall_s=20))
    tasks = ["echo:1", "crash", "raise:no", "echo:2", "echo:3"]
    done = dict(pool.run(tasks, should_stop=lambda: False))
    pool.close()
    assert set(done) == set(tasks)
    assert {task for task, outcome in done.items() if isinstance(outcome, UnreadableFile)} == {"crash", "raise:no"}
    assert len({done["echo:1"], done["echo:2"], done["echo:3"]}) >= 1


def test_a_pool_that_is_told_to_stop_ends_soon() -> None:
    pool = LimitedPool(work, describe=name, workers=1)
    started = time.monotonic()
    stop = threading.Event()
    seen = []
    for task, _ in pool.run(["echo", "sleep:60"], should_stop=stop.is_set):
        seen.append(task)
        stop.set()
    pool.close()
    assert seen == ["echo"]
    assert time.monotonic() - started < 30


def test_an_error_while_listing_tasks_is_raised() -> None:
    def tasks() -> Iterator[str]:
        yield "echo"
        raise OSError("folder is gone")

    pool = LimitedPool(work, describe=name, workers=1)
    with pytest.raises(OSError, match="folder is gone"):
        list(pool.run(tasks(), should_stop=lambda: False))
    pool.close()


def test_two_files_are_read_at_the_same_time(tmp_path: Path) -> None:
    pool = LimitedPool(work, describe=name, workers=2, limits=ExtractionLimits(wall_s=30))
    tasks = [f"meet:{tmp_path / mine}:{tmp_path / other}" for mine, other in (("a", "b"), ("b", "a"))]
    done = dict(pool.run(iter(tasks), should_stop=lambda: False))
    pool.close()
    assert len({pid for pid in done.values() if isinstance(pid, str)}) == 2


@needs_proc
def test_a_tree_of_processes_is_measured_and_ended_whole() -> None:
    code = "import subprocess, sys; subprocess.run(['sleep', '60'])"
    root = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    deadline = time.monotonic() + 10
    while len(tree_of(root.pid)) < 2 and time.monotonic() < deadline:
        pass
    members = tree_of(root.pid)
    assert len(members) == 2
    assert resident_bytes(root.pid) > 1_000_000
    kill_tree(root.pid)
    root.wait()
    while any(is_alive(pid) for pid in members) and time.monotonic() < deadline:
        pass  # whoever adopts the orphan may take a moment to see its end
    assert not any(is_alive(pid) for pid in members)
