"""`python -m tests.robustness.run native|office|ocr COUNT [FIRST SEED] [FOLDER]`: mutants in numbers, findings as lines.

Each mutant goes through the worker processes that ingest uses, which serve many files, and ends in a result or in a
documented error within the limits; whatever else happens is a finding.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from knowledge.extract.limits import ExtractionLimits, LimitedPool
from tests.robustness.mutants import Fate, Mutant, documents_in, meet

LIMITS = {
    "native": ExtractionLimits(wall_s=60, memory_bytes=1_000_000_000),
    "office": ExtractionLimits(wall_s=180, memory_bytes=2_000_000_000),
    "ocr": ExtractionLimits(wall_s=300, memory_bytes=2_000_000_000),
}
_NATIVE_ENDINGS = (
    ".hwp", ".hwpx", ".hml", ".xls", ".xlsx", ".xlsb", ".pptx", ".html", ".docx", ".pdf", ".txt", ".md", ".rtf",
    ".odt", ".ods", ".odp", ".csv", ".doc",
)  # fmt: skip
_SLOW_S = {"native": 20.0, "office": 120.0, "ocr": 120.0}


def originals(kind: str, folder: Path | None) -> dict[str, bytes]:
    """Sound files by name: the project's own, and those of `folder`."""
    from tests.contract.test_extractor import SAMPLES
    from tests.robustness.own_files import pages_of_scans, rich_files, word_files

    if kind == "office":
        return {**word_files(), **documents_in(folder, (".doc",), largest_bytes=400_000)}
    if kind == "ocr":
        scans = documents_in(folder, (".pdf",), largest_bytes=3_100_000)
        return {**pages_of_scans(), **{name: data for name, data in scans.items() if name.startswith("scan_")}}
    return {**SAMPLES, **rich_files(), **documents_in(folder, _NATIVE_ENDINGS, largest_bytes=600_000)}


def mutants(kind: str, count: int, first_seed: int, folder: Path | None) -> Iterator[Mutant]:
    """`count` mutants, the originals in turn; small ones more often than those that take seconds each."""
    known = originals(kind, folder)
    turns = [name for name, data in known.items() for _ in range(1 if len(data) > 100_000 else 8)]
    for seed in range(first_seed, first_seed + count):
        name = turns[seed * 7919 % len(turns)]
        yield Mutant(name=f"{name}#{seed}", seed=seed, original=known[name], tools=kind != "native")


def run(
    kind: str, count: int, *, first_seed: int, folder: Path | None, workers: int = 2
) -> tuple[Counter[str], list[str]]:
    """How many mutants met which end, and a line for each that met a wrong one."""
    counts: Counter[str] = Counter()
    findings: list[str] = []
    pool: LimitedPool[Mutant, Fate] = LimitedPool(
        meet, describe=lambda mutant: mutant.name, workers=workers, limits=LIMITS[kind]
    )
    try:
        for mutant, fate in pool.run(mutants(kind, count, first_seed, folder), should_stop=lambda: False):
            if isinstance(fate, Exception):  # beyond a limit, or the process died
                fate = Fate(outcome="ended", detail=str(fate))
            counts[fate.outcome] += 1
            if fate.outcome in ("broken", "ended") or fate.seconds > _SLOW_S[kind]:
                findings.append(f"{mutant.name}: {fate.outcome} {fate.detail} ({fate.seconds:.1f} s)")
                print(findings[-1], flush=True)
            if counts.total() % 500 == 0:
                print(counts.total(), dict(counts), flush=True)
    finally:
        pool.close()
    return counts, findings


def main(arguments: Sequence[str]) -> int:
    """Exit status: 1 when there was a finding."""
    kind, count = arguments[0], int(arguments[1])
    first_seed = int(arguments[2]) if len(arguments) > 2 else 1
    folder = Path(arguments[3]) if len(arguments) > 3 else None
    counts, findings = run(kind, count, first_seed=first_seed, folder=folder)
    print(f"{kind}: {counts.total()} mutants, {dict(counts)}, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
