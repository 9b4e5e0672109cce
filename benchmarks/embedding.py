"""How fast the bundled embedders are on 500 real chunks, by number of processes; one JSON line a figure.

The chunks are the project's own: the sample rulebook and service, and the source code, through the extractors and
chunkers of an ingest. Every process loads its model before the clock starts. On a machine that does other work
meanwhile the rate is lower, as `load` shows; the figure for CPU time is hardly touched by that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from knowledge.chunking import chunk_document
from knowledge.chunking.code import chunk_code
from knowledge.embed.registry import build_embedder
from knowledge.errors import KnowledgeError
from knowledge.extract import extract
from knowledge.types import Document

ROOT = Path(__file__).resolve().parents[1]
BATCH = 25
QUERIES = (
    "연차휴가는 며칠인가요?",
    "출장비 정산은 언제까지 해야 하나요",
    "where is a failed payment retried",
    "급여일",
)


def real_chunks(limit: int) -> list[str]:
    """Index texts of `limit` chunks, taken in turn from documents and code, evenly over all files."""
    documents, code = list(document_chunks()), list(code_chunks())
    wanted_documents = min(len(documents), limit // 2)
    return evenly(documents, wanted_documents) + evenly(code, limit - wanted_documents)


def evenly(texts: list[str], count: int) -> list[str]:
    """`count` of the texts at equal distances; all of them when there are fewer."""
    return [texts[n * len(texts) // count] for n in range(count)] if count < len(texts) else texts


def document_chunks() -> Iterator[str]:
    """Index texts of the sample documents and of the project's own pages."""
    for path in sorted([*(ROOT / "samples").rglob("*.*"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]):
        if path.suffix not in {".md", ".txt", ".docx", ".pdf"}:
            continue
        try:
            extraction = extract(path.read_bytes(), name=path.name)
        except KnowledgeError:
            continue  # a benchmark measures what can be read
        document = Document(
            id=path.name,
            source="benchmark",
            uri=path.name,
            revision="",
            content_hash="",
            title=extraction.title or path.stem,
            media_type="text/plain",
            blocks=extraction.blocks,
        )
        yield from (draft.index_text for draft in chunk_document(document))


def code_chunks() -> Iterator[str]:
    """Index texts of the project's own source and of the sample service."""
    for folder in ("knowledge", "bot", "tests", "samples"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in {".py", ".ts", ".tsx", ".js", ".kt", ".java", ".go"}:
                uri = path.relative_to(ROOT).as_posix()
                yield from (draft.index_text for draft in chunk_code(uri, path.read_text(encoding="utf-8")))


def embed_in_worker(name: str, texts: list[str]) -> tuple[int, float]:
    """The process that embedded `texts`, and the CPU time it took; the model stays loaded for its next call."""
    started_s = time.process_time()
    build_embedder(name).embed_passages(texts)
    return os.getpid(), time.process_time() - started_s


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB, NaN where /proc does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return float("nan")
    return next(
        (int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmRSS:")), float("nan")
    )


def measure_rate(name: str, texts: list[str], processes: int) -> None:
    """Prints chunks a second and the memory of the largest process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        # long enough that no process can take the load of two
        list(pool.map(embed_in_worker, [name] * processes, [texts[:10]] * processes))
        started = time.perf_counter()
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        done = list(pool.map(embed_in_worker, [name] * len(batches), batches))
        took_s = time.perf_counter() - started
        memory_mb = max(resident_mb(pid) for pid, _ in done)
    cpu_s = sum(spent_s for _, spent_s in done)
    report(f"embed.{name}.rate", len(texts) / took_s, "chunks/s", processes=processes, chunks=len(texts))
    report(f"embed.{name}.cpu", len(texts) / cpu_s, "chunks a CPU second", processes=processes)
    report(f"embed.{name}.memory", memory_mb, "MB a process", processes=processes)


def measure_queries(name: str) -> None:
    """Prints the time to load a model and the median time of one query in this process."""
    embedder = build_embedder(name)
    started = time.perf_counter()
    embedder.embed_queries(QUERIES[:1])
    report(f"embed.{name}.load", (time.perf_counter() - started) * 1000, "ms")
    took_ms = []
    for _ in range(10):
        for query in QUERIES:
            started = time.perf_counter()
            embedder.embed_queries([query])
            took_ms.append((time.perf_counter() - started) * 1000)
    report(f"embed.{name}.query", statistics.median(took_ms), "ms")


def report(name: str, value: float, unit: str, **more: object) -> None:
    """Prints one figure as a JSON line."""
    load = round(os.getloadavg()[0], 2)
    print(json.dumps({"name": name, "value": round(value, 2), "unit": unit, **more, "load": load}), flush=True)


def main() -> None:
    """Measures every embedder that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=500)
    parser.add_argument("--embedders", nargs="*", default=["use", "e5", "hash"])
    parser.add_argument("--processes", nargs="*", type=int, default=[1, 2])
    asked = parser.parse_args()
    texts = real_chunks(asked.chunks)
    report("embed.corpus.length", statistics.mean(len(text) for text in texts), "chars a chunk", chunks=len(texts))
    for name in asked.embedders:
        measure_queries(name)
        for processes in asked.processes:
            measure_rate(name, texts, processes)


if __name__ == "__main__":
    main()
