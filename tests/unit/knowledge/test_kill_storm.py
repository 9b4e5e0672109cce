"""A process that is killed at random moments of ingest, re-ingest, deletion and generation swap: no document is ever
missing, doubled, stale or half, search is right in between, and the undisturbed end is reached."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.types import SourceConfig
from tests.unit.knowledge.shelf import EVERYTHING, CountingEmbedder

ROOT = Path(__file__).parents[3]
DOCUMENTS = 12
STAGES = ("first", "changed", "deleted", "swapped")


def text_of(number: int, version: int) -> str:
    lines = [
        f"## 제{n}조(조항{n})\n문서{number} 판{version} 조항{n}의 금액은 {number * 1000 + n}원이다."
        for n in range(1, 5)
    ]
    return f"# 규정 {number}\n\n" + "\n\n".join(lines) + "\n"


def state_of(stage: int) -> dict[int, int]:
    """Document -> version that the folder holds at a stage, computed beforehand."""
    versions = dict.fromkeys(range(DOCUMENTS), 1)
    if stage >= 1:
        versions |= dict.fromkeys(range(0, DOCUMENTS, 2), 2)
    if stage >= 2:
        for number in range(0, DOCUMENTS, 3):
            del versions[number]
    return versions


def write_folder(folder: Path, stage: int) -> None:
    wanted = state_of(stage)
    for number in range(DOCUMENTS):
        path = folder / f"doc{number}.md"
        if number in wanted:
            path.write_text(text_of(number, wanted[number]), encoding="utf-8")
        else:
            path.unlink(missing_ok=True)


def opened(place: Path, stage: int, on_step=lambda step: None) -> Knowledge:
    config = KnowledgeConfig(
        data_dir=place / "data",
        sources=(SourceConfig(name="rules", kind="documents", path=place / "docs"),),
        embedders={"docs": ("other" if stage == 3 else "counting",)},
        workers=1,
    )
    built = {"counting": CountingEmbedder(), "other": CountingEmbedder("2")}
    return Knowledge.open(config, adapters=Adapters(embedder=built.__getitem__, on_step=on_step))


def shown(knowledge: Knowledge) -> dict[int, list[int]]:
    """Document -> the version of each of its shown chunks, as the keyword index, the catalog and search see them."""
    catalog = knowledge._catalog
    seen: dict[int, list[int]] = {}
    for chunk in catalog.chunks_where("1", (), catalog.active_generations(EVERYTHING)):
        number, version = chunk.text.split("문서")[1].split(" 판")[0], chunk.text.split(" 판")[1].split(" ")[0]
        seen.setdefault(int(number), []).append(int(version))
    return seen


def check_between(knowledge: Knowledge, before: dict[int, int], after: dict[int, int]) -> None:
    for number, versions in shown(knowledge).items():
        allowed = {before.get(number), after.get(number)} - {None}
        assert len(set(versions)) == 1, f"document {number} is half: {versions}"
        assert len(versions) == 4, f"document {number} is not whole: {versions}"
        assert versions[0] in allowed, f"document {number} shows {versions[0]}, not one of {allowed}"
    kept = {number for number in before if number in after}
    assert kept <= shown(knowledge).keys(), "a document that was visible is missing"
    for number in sorted(kept)[:3]:
        found = knowledge.search(f"문서{number} 조항2 금액", scope=EVERYTHING).chunks
        texts = [scored.chunk.text for scored in found if f"문서{number} 판" in scored.chunk.text]
        assert texts
        assert len(texts) == len(set(texts)), "a chunk is shown twice"


def check_end(knowledge: Knowledge, stage: int) -> None:
    wanted = state_of(min(stage, 2))
    assert shown(knowledge) == {number: [version] * 4 for number, version in wanted.items()}
    (status,) = knowledge.status(scope=EVERYTHING)
    assert (set(status.pending.values()), status.building, status.problem) == ({0}, None, None)
    vectors = knowledge._vectors
    ids = {
        chunk.id
        for chunk in knowledge._catalog.chunks_where("1", (), knowledge._catalog.active_generations(EVERYTHING))
    }
    assert [vectors.ids(name) for name in vectors.collections()] == [ids]
    assert knowledge.maintenance.verify(repair=False).ok


def run_child(place: Path, stage: int, *, kill_at_step: int | None = None, kill_after_s: float | None = None) -> bool:
    """Whether the child was killed, by itself at a numbered commit point, or from outside."""
    child = subprocess.Popen(
        [sys.executable, __file__, str(place), str(stage), str(kill_at_step or 0)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()  # the sync begins
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        child.kill()
    _, errors = child.communicate()
    assert child.returncode in (0, -signal.SIGKILL), errors.decode()
    return child.returncode != 0


def storm(place: Path, kills: int, seed: int) -> int:
    chance = random.Random(seed)
    killed = round_ = 0
    while killed < kills:
        round_ += 1
        home = place / f"round{round_}"
        (home / "docs").mkdir(parents=True)
        before: dict[int, int] = {}
        for stage in range(len(STAGES)):
            write_folder(home / "docs", min(stage, 2))
            after = state_of(min(stage, 2))
            for _ in range(3):
                at_step = chance.randint(1, 30) if chance.random() < 0.5 else None
                after_s = None if at_step else chance.uniform(0.0, 0.5)
                killed += run_child(home, stage, kill_at_step=at_step, kill_after_s=after_s)
                knowledge = opened(home, stage)
                try:
                    check_between(knowledge, before, after)
                finally:
                    knowledge.close()
            knowledge = opened(home, stage)
            try:
                knowledge.sync(force=False)
                check_end(knowledge, stage)
            finally:
                knowledge.close()
            before = after
        shutil.rmtree(home)
    return killed


def test_killed_at_some_random_moments_nothing_is_missing_doubled_stale_or_half(tmp_path: Path) -> None:
    assert storm(tmp_path, kills=4, seed=8) >= 4


@pytest.mark.long
def test_killed_at_a_hundred_random_moments_nothing_is_missing_doubled_stale_or_half(tmp_path: Path) -> None:
    assert storm(tmp_path, kills=100, seed=100) >= 100


def _sync_and_die(place: Path, stage: int, at_step: int) -> None:
    steps = 0

    def on_step(step: str) -> None:
        nonlocal steps
        steps += 1
        if steps == at_step:
            os.kill(os.getpid(), signal.SIGKILL)

    knowledge = opened(place, stage, on_step)
    print("begins", flush=True)
    knowledge.sync()
    knowledge.close()


if __name__ == "__main__":
    _sync_and_die(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
