"""Worker processes: order does not matter, errors belong to their task, a death costs only the one that dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from knowledge.workers import Inline, WorkerCrashed, WorkerPool, runs_in_process

DEADLY = 13


def double(number: int) -> int:
    if number == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    if number < 0:
        raise ValueError("negative")
    return number * 2


def priority(_: int) -> int:
    return os.nice(0)


def never() -> bool:
    return False


@pytest.fixture
def pool() -> Iterator[WorkerPool[int, int]]:
    pool = WorkerPool(double, workers=2)
    yield pool
    pool.close()


def test_every_task_comes_back_with_its_result_or_its_error(pool: WorkerPool[int, int]) -> None:
    results = dict(pool.run([1, 2, -3, 4, 5, 6, 7], should_stop=never))
    assert {task: result for task, result in results.items() if task > 0} == {1: 2, 2: 4, 4: 8, 5: 10, 6: 12, 7: 14}
    assert isinstance(results[-3], ValueError)


def test_a_task_that_kills_its_process_is_the_only_one_that_fails(pool: WorkerPool[int, int]) -> None:
    results = dict(pool.run([1, 2, DEADLY, 4, 5, 6, 7, 8], should_stop=never))
    assert isinstance(results.pop(DEADLY), WorkerCrashed)
    assert results == {task: task * 2 for task in (1, 2, 4, 5, 6, 7, 8)}


def test_tasks_are_taken_only_a_few_ahead(pool: WorkerPool[int, int]) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100, 140):
            taken.append(number)
            yield number

    for _ in pool.run(tasks(), should_stop=never):
        assert len(taken) <= 40
        break
    assert len(taken) <= 8


def test_a_stop_ends_the_run_without_taking_new_tasks(pool: WorkerPool[int, int]) -> None:
    done: list[int] = []
    for task, _ in pool.run(range(100, 1_000_000), should_stop=lambda: len(done) >= 3):
        done.append(task)
    assert 3 <= len(done) <= 8


def test_workers_give_way_to_everything_else() -> None:
    pool = WorkerPool(priority, workers=1)
    try:
        assert dict(pool.run([1], should_stop=never)) == {1: min(19, os.nice(0) + 10)}
    finally:
        pool.close()


def test_inline_work_behaves_the_same_and_starts_nothing() -> None:
    results = dict(Inline(double).run([1, -2], should_stop=never))
    assert results[1] == 2
    assert isinstance(results[-2], ValueError)
    assert dict(Inline(double).run([1], should_stop=lambda: True)) == {}


def test_only_embedders_that_compute_here_go_into_processes() -> None:
    assert runs_in_process("e5")
    assert not runs_in_process("ollama:bge-m3")
