"""How long a sync of 10,000 documents takes of which 1% changed, what it reads and what memory it needs: JSON lines.

    python benchmarks/freshness.py [--documents 10000] [--folder DIR]

The hash embedder shows what the machinery costs without a model.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import knowledge.sources.files as files
from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.types import SourceConfig


def main() -> None:
    """Prints the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--documents", type=int, default=10_000)
    arguments.add_argument("--folder", type=Path, default=None)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        _measure(Path(folder), given.documents)


def _measure(folder: Path, documents: int) -> None:
    for number in range(documents):
        _write(folder, number, "3만원")
    config = KnowledgeConfig(
        data_dir=folder / "data",
        sources=(SourceConfig(name="rules", kind="documents", path=folder / "docs"),),
        embedders={"docs": ("hash",)},
    )
    read = 0
    look_at = files.look_at

    def counted(*arguments: object, **named: object) -> object:
        nonlocal read
        read += 1
        return look_at(*arguments, **named)  # type: ignore[arg-type]

    files.look_at = counted  # type: ignore[assignment]

    def sync(what: str) -> None:
        nonlocal read
        read = 0
        started = time.monotonic()
        (report,) = knowledge.sync()
        for figure, value in (
            ("took_s", time.monotonic() - started),
            ("read", read),
            ("updated", report.updated),
            ("peak_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        ):
            line = {"benchmark": "freshness", "documents": documents, "sync": what, "figure": figure}
            print(json.dumps({**line, "value": round(value, 2)}), flush=True)

    knowledge = Knowledge.open(config)
    try:
        time.sleep(2.1)  # files of this very moment prove nothing
        sync("first")
        sync("nothing_changed")
        for round_ in range(3):
            for number in range(round_, documents, 100):
                _write(folder, number, f"{round_ + 4}만원")
            sync(f"one_percent_{round_ + 1}")
    finally:
        knowledge.close()


def _write(folder: Path, number: int, amount: str) -> None:
    path = folder / "docs" / f"{number % 100}" / f"{number}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# 규정 {number}\n\n## 제1조(일비)\n{number}번 일비는 하루 {amount}으로 한다.\n", encoding="utf-8")


if __name__ == "__main__":
    main()
