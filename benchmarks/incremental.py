"""How long a change in a repository of 3,000 files takes until it is found: one JSON line a figure.

    python benchmarks/incremental.py [--files 3000] [--embedder hash] [--folder DIR]

The repository is generated, committed and indexed once, and then changed: one file edited, one renamed, one deleted,
and nothing at all. Each sync runs in a new `Knowledge`, as `haechi ingest` does it, and in one that stays open, as the
running bot does it. The hash embedder shows what the machinery costs; `--embedder use` adds the model.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.types import Scope, SourceConfig, SyncReport

EVERYTHING = Scope.everything()
_GIT = {"PATH": os.defpath, "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def main() -> None:
    """Prints the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--files", type=int, default=3000)
    arguments.add_argument("--embedder", default="hash")
    arguments.add_argument("--folder", type=Path, default=None)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        _measure(Path(folder), given.files, given.embedder)


def _measure(folder: Path, files: int, embedder: str) -> None:
    repository = folder / "shop"
    repository.mkdir()
    _git(repository, "init", "-q", "-b", "main")
    for number in range(files):
        _write(repository, number, "")
    _commit(repository)
    config = KnowledgeConfig(
        data_dir=folder / "data",
        sources=(SourceConfig(name="shop", kind="repository", path=repository),),
        embedders={"docs": (embedder,), "code": (embedder,)},
    )

    def say(figure: str, value: float, unit: str) -> None:
        line = {"benchmark": "incremental", "files": files, "embedder": embedder, "figure": figure}
        print(json.dumps({**line, "value": round(value, 3), "unit": unit}), flush=True)

    report, took_s = _sync(config)
    say("first_index", took_s, "s")
    say("first_index_chunks", report.chunks, "chunks")
    report, took_s = _sync(config)
    say("nothing_changed", took_s, "s")
    _write(repository, 7, "    surcharge = 5\n")
    _commit(repository)
    report, took_s = _sync(config)
    assert (report.updated, report.added, report.deleted) == (1, 0, 0), report
    say("one_file_changed", took_s, "s")
    say("one_file_changed_embedded", report.embedded, "texts")
    _measure_open(config, repository, say)


def _measure_open(config: KnowledgeConfig, repository: Path, say: Callable[[str, float, str], None]) -> None:
    knowledge = Knowledge.open(config)
    try:
        knowledge.search("order total", scope=EVERYTHING)  # as a bot that has answered before
        _write(repository, 11, "    rebate = 2\n")
        _commit(repository)
        started = time.monotonic()
        (report,) = knowledge.sync()
        found = knowledge.search("rebate", scope=EVERYTHING, kind="code")
        took_s = time.monotonic() - started
        assert any("rebate = 2" in scored.chunk.text for scored in found.chunks)
        say("open_one_file_changed_and_found", took_s, "s")
        say("open_one_file_changed_embedded", report.embedded, "texts")
        (repository / _path(12)).rename(repository / "moved.py")
        _commit(repository)
        steps = time.monotonic()
        knowledge.sync()
        say("open_one_file_renamed", time.monotonic() - steps, "s")
        (repository / _path(13)).unlink()
        _commit(repository)
        steps = time.monotonic()
        (report,) = knowledge.sync()
        assert report.deleted == 1, report
        found = knowledge.search("orders_13_total", scope=EVERYTHING, kind="code")
        assert all(scored.chunk.locator.uri != _path(13) for scored in found.chunks)
        say("open_one_file_deleted", time.monotonic() - steps, "s")
    finally:
        knowledge.close()


def _sync(config: KnowledgeConfig) -> tuple[SyncReport, float]:
    started = time.monotonic()
    knowledge = Knowledge.open(config)
    try:
        (report,) = knowledge.sync()
    finally:
        knowledge.close()
    return report, time.monotonic() - started


def _path(number: int) -> str:
    return f"src/package{number % 60}/orders_{number}.py"


def _write(repository: Path, number: int, extra: str) -> None:
    path = repository / _path(number)
    path.parent.mkdir(parents=True, exist_ok=True)
    deeper = extra.replace("    ", "        ")  # in a method
    path.write_text(
        f'"""Orders of region {number}."""\n\nfrom shop import db\n\n\n'
        f"class Orders{number}:\n    def load(self, key):\n        return db.get({number}, key)\n\n"
        f"    def total(self, order):\n{deeper}        return sum(line.price for line in order.lines) + {number}\n\n\n"
        f"def orders_{number}_total(key):\n{extra}    return Orders{number}().total(key)\n",
        encoding="utf-8",
    )


def _commit(repository: Path) -> None:
    _git(repository, "add", "-A")
    _git(repository, "-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-q", "-m", "change")


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(repository), *arguments], env=_GIT, check=True, capture_output=True)


if __name__ == "__main__":
    main()
