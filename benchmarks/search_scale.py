"""Search latency and resident memory at 20,000 and 200,000 chunks, at rest and while an ingest runs.

    python benchmarks/search_scale.py [--chunks 20000 200000] [--embedder NAME] [--keep FOLDER]

Texts are generated words and vectors are random, in the product's own data folder; questions go the whole way:
analysis, embedding, Chroma, keyword index, fusion, ranking, gate. The default embedder
embeds them; `--embedder generated` leaves the model out. Prints one JSON line a figure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.generated_corpus import GENERATED, GeneratedEmbedder, build_catalog, incoming_documents, questions
from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.embed.registry import BUNDLED_NAMES, DEFAULT_EMBEDDERS
from knowledge.types import Scope, SourceConfig

WARM_UP = 20
QUESTIONS = 150
INCOMING_DOCUMENTS = 60


def main() -> None:
    """Builds and measures each size in processes of its own, so that memory is that of a search alone."""
    options = _options()
    if options.stage is not None:
        _run_stage(options)
        return
    for chunks in options.chunks:
        with tempfile.TemporaryDirectory(dir=options.keep) as folder:
            for stage in ("build", "measure"):
                command = [sys.executable, __file__, "--stage", stage, "--chunks", str(chunks)]
                command += ["--embedder", options.embedder, "--folder", folder]
                subprocess.run(command, check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--embedder", choices=[*BUNDLED_NAMES, GENERATED], default=DEFAULT_EMBEDDERS["docs"][0])
    parser.add_argument("--keep", help="folder for the generated data instead of the system's temporary one")
    parser.add_argument("--stage", choices=["build", "measure"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_stage(options: argparse.Namespace) -> None:
    folder, (chunks,) = Path(options.folder), options.chunks
    if options.stage == "build":
        started = time.perf_counter()
        build_catalog(folder, chunks=chunks, embedder=options.embedder)
        _print(chunks, "build", round(time.perf_counter() - started, 1), "s")
        return
    incoming = folder / "incoming"
    incoming_documents(incoming, INCOMING_DOCUMENTS)
    config = KnowledgeConfig(
        data_dir=folder / "data",
        sources=(
            SourceConfig(name="rules", kind="documents", path=folder),
            SourceConfig(name="incoming", kind="documents", path=incoming),
        ),
        embedders={"docs": (options.embedder,)},
    )
    generated = options.embedder == GENERATED
    knowledge = Knowledge.open(config, adapters=Adapters(embedder=GeneratedEmbedder) if generated else None)
    try:
        _measure(knowledge, chunks)
    finally:
        knowledge.close()


def _measure(knowledge: Knowledge, chunks: int) -> None:
    asked = iter(questions(WARM_UP + 20 * QUESTIONS))
    _time_searches(knowledge, asked.__next__, count=WARM_UP)
    at_rest, stages = _time_searches(knowledge, asked.__next__, count=QUESTIONS)
    _report(chunks, "at_rest", at_rest)
    for stage, values in stages.items():
        _print(chunks, f"at_rest_{stage}_p50", round(float(np.percentile(values, 50)), 1), "ms")
    _print(chunks, "resident", round(_resident_mib()), "MiB")
    during = _time_during_ingest(knowledge, asked.__next__)
    _report(chunks, "during_ingest", during)
    _print(chunks, "during_ingest_searches", len(during), "searches")
    _print(chunks, "resident_after_ingest", round(_resident_mib()), "MiB")


def _time_searches(
    knowledge: Knowledge, next_question: Callable[[], str], *, count: int
) -> tuple[list[float], dict[str, list[float]]]:
    totals: list[float] = []
    stages: dict[str, list[float]] = {}
    for _ in range(count):
        started = time.perf_counter()
        evidence = knowledge.search(next_question(), scope=Scope.everything())
        totals.append((time.perf_counter() - started) * 1000)
        for stage, took_ms in evidence.took_ms.items():
            stages.setdefault(stage, []).append(took_ms)
    return totals, stages


def _time_during_ingest(knowledge: Knowledge, next_question: Callable[[], str]) -> list[float]:
    """Milliseconds of every search while new documents are read and embedded."""
    finished = threading.Event()

    def ingest() -> None:
        try:
            (report,) = knowledge.sync(sources=["incoming"])
            assert report.added == INCOMING_DOCUMENTS, report
            assert report.pending == 0, report
        finally:
            finished.set()

    worker = threading.Thread(target=ingest)
    worker.start()
    times: list[float] = []
    while not finished.is_set():
        times.extend(_time_searches(knowledge, next_question, count=1)[0])
        finished.wait(0.05)  # people do not ask without a pause
    worker.join()
    return times


def _report(chunks: int, name: str, times: Sequence[float]) -> None:
    for percentile in (50, 95):
        _print(chunks, f"{name}_p{percentile}", round(float(np.percentile(times, percentile)), 1), "ms")


def _print(chunks: int, figure: str, value: float, unit: str) -> None:
    line = {"benchmark": "search_scale", "chunks": chunks, "figure": figure, "value": value, "unit": unit}
    print(json.dumps(line), flush=True)


def _resident_mib() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status names no VmRSS: resident memory is measured on Linux only")


if __name__ == "__main__":
    main()
