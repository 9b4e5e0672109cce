"""What checking a sentence of a model costs: JSON lines, one a figure."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.citing import EvidenceIndex
from bot.sentences import split_sentences
from tests.unit.bot.model_outputs import read_evidence, read_outputs


def main() -> None:
    """Prints what preparing the evidence and checking a sentence take of the processor."""
    evidence = read_evidence()
    started = time.process_time()
    index = EvidenceIndex(evidence, "팀장의 서울 숙박비는?", language="ko", instructions="x" * 3000)
    prepared_ms = (time.process_time() - started) * 1000
    sentences = [s for o in read_outputs("model_outputs.tsv") for s in split_sentences(o.output) if s.strip()]
    took_ms = []
    for sentence in sentences:
        started = time.process_time()
        index.check(sentence)
        took_ms.append((time.process_time() - started) * 1000)
    figures = {
        "prepare_ms": prepared_ms,
        "check_mean_ms": statistics.mean(took_ms),
        "check_p95_ms": sorted(took_ms)[int(0.95 * len(took_ms))],
        "check_max_ms": max(took_ms),
    }
    for name, value in figures.items():
        print(json.dumps({"benchmark": "checking", "figure": name, "value": round(value, 3), "n": len(sentences)}))


if __name__ == "__main__":
    main()
