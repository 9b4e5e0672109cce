"""How fast a repository is indexed for the first time, by stage, and beside the embedder alone: one JSON line a figure.

    python benchmarks/first_index.py REPOSITORY [--embedder use] [--workers 2] [--sample 512]

The stages list, read, mask, parse and analyse are timed in this process, one after the other; vector upsert on a fresh
store. `raw_embedder` is what the same worker processes make of a sample of the same texts with nothing else to do, and
`share_of_raw_embedder` what the whole first sync reaches of that.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from knowledge.analysis import analyze, warm_up
from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.chunking.code import chunk_code
from knowledge.embed.hashed import HashEmbedder
from knowledge.extract.decoding import decode
from knowledge.index.vectors_chroma import ChromaIndex
from knowledge.ingest_embed import TEXTS_PER_TASK
from knowledge.masking import mask
from knowledge.sources.git import GitSource
from knowledge.types import ChunkDraft, Progress, SourceConfig
from knowledge.workers import WorkerPool, embed, start_embedding

Say = Callable[[str, float, str], None]


def main() -> None:
    """Prints the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("repository", type=Path)
    arguments.add_argument("--embedder", default="use")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--sample", type=int, default=512)
    given = arguments.parse_args()

    def say(figure: str, value: float, unit: str) -> None:
        line = {"benchmark": "first_index", "repository": given.repository.name, "embedder": given.embedder}
        print(json.dumps({**line, "figure": figure, "value": round(value, 3), "unit": unit}), flush=True)

    drafts = _time_stages(given.repository, say)
    texts = [draft.index_text for draft in drafts]
    _time_upsert(texts, say)
    sample = random.Random(1).sample(texts, min(given.sample, len(texts)))
    before = _raw_speed(sample, given.embedder, given.workers)
    reached = _time_sync(given.repository, given.embedder, given.workers, say)
    raw = (before + _raw_speed(sample, given.embedder, given.workers)) / 2  # the machine may have changed meanwhile
    say("raw_embedder", raw, "texts/s")
    say("share_of_raw_embedder", reached / raw, "")


def _time_stages(repository: Path, say: Say) -> list[ChunkDraft]:
    source = GitSource("code", repository)
    try:
        started = time.monotonic()
        items = source.discover().items
        times = {"list": time.monotonic() - started}
        started = time.monotonic()
        texts = [(item.uri, decode(source.fetch(item.uri), name=item.uri).text) for item in items]
        times["read"] = time.monotonic() - started
    finally:
        source.close()
    started = time.monotonic()
    masked = [(uri, mask(text)) for uri, text in texts]
    times["mask"] = time.monotonic() - started
    started = time.monotonic()
    drafts = [draft for uri, text in masked for draft in chunk_code(uri, text)]
    times["parse"] = time.monotonic() - started
    warm_up()  # every process loads its dictionary once
    started = time.monotonic()
    for draft in drafts:
        analyze(draft.index_text)
    times["analyse"] = time.monotonic() - started
    say("files", len(items), "files")
    say("chunks", len(drafts), "chunks")
    for stage, took_s in times.items():
        say(f"stage_{stage}", len(drafts) / took_s, "chunks/s")
    return drafts


def _time_upsert(texts: Sequence[str], say: Say) -> None:
    vectors = HashEmbedder().embed_passages(texts[:2000])
    with tempfile.TemporaryDirectory() as folder:
        index = ChromaIndex.embedded(Path(folder))
        started = time.monotonic()
        for start in range(0, len(vectors), 128):
            batch = np.asarray(vectors[start : start + 128])
            index.upsert("bench", [str(start + place) for place in range(len(batch))], batch)
        say("stage_vector_upsert", len(vectors) / (time.monotonic() - started), "chunks/s")
        index.close()


def _raw_speed(texts: Sequence[str], embedder: str, workers: int) -> float:
    """Texts a second, without the time in which the processes start and load the model."""
    pool = WorkerPool(embed, workers=workers, initializer=start_embedding, initargs=(embedder, ""))
    try:
        list(pool.run([tuple(texts[:2])] * workers * 2, should_stop=lambda: False))
        tasks = [tuple(texts[start : start + TEXTS_PER_TASK]) for start in range(0, len(texts), TEXTS_PER_TASK)]
        started = time.monotonic()
        list(pool.run(tasks, should_stop=lambda: False))
        return len(texts) / (time.monotonic() - started)
    finally:
        pool.close()


def _time_sync(repository: Path, embedder: str, workers: int, say: Say) -> float:
    """Embedded texts a second of a whole first sync; says how long each of its parts took."""
    with tempfile.TemporaryDirectory() as folder:
        config = KnowledgeConfig(
            data_dir=Path(folder),
            sources=(SourceConfig(name="code", kind="repository", path=repository),),
            embedders={"docs": (embedder,), "code": (embedder,)},
            workers=workers,
        )
        began: dict[str, float] = {}

        def note(step: Progress) -> None:
            began.setdefault(step.stage, time.monotonic())

        knowledge = Knowledge.open(config)
        started = time.monotonic()
        try:
            (report,) = knowledge.sync(progress=note)
        finally:
            knowledge.close()
        ended = time.monotonic()
    order = [stage for stage in ("discover", "read", "embed", "done") if stage in began]
    for stage, following in zip(order, [*order[1:], None], strict=True):
        if stage != "done":
            say(f"sync_{stage}", (began[following] if following else ended) - began[stage], "s")
    say("sync", ended - started, "s")
    say("sync_embedded", report.embedded, "texts")
    return report.embedded / (ended - started)


if __name__ == "__main__":
    main()
