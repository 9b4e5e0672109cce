"""Damaged files end in a result or in an error that names them, within limits; how many is set by the environment.

HAECHI_MUTANTS_NATIVE, HAECHI_MUTANTS_OFFICE, HAECHI_MUTANTS_OCR: how many of each kind (2,000, 20 and 10 if not set).
HAECHI_MUTANTS_DOCUMENTS: a folder of real documents to be damaged beside the project's own.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.robustness.mutants import Mutant, damage, meet
from tests.robustness.run import originals, run

DEFAULTS = {"native": 2_000, "office": 20, "ocr": 10}
NEEDS = {"native": None, "office": "soffice", "ocr": "tesseract"}


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(DEFAULTS))
def test_damaged_files_hurt_nobody(kind: str) -> None:
    tool = NEEDS[kind]
    if tool is not None and shutil.which(tool) is None:
        pytest.skip("scripts/install-readers was not run")
    count = int(os.environ.get(f"HAECHI_MUTANTS_{kind.upper()}", DEFAULTS[kind]))
    folder = os.environ.get("HAECHI_MUTANTS_DOCUMENTS")
    counts, findings = run(kind, count, first_seed=1, folder=Path(folder) if folder else None)
    assert counts.total() == count
    assert [finding for finding in findings if ": broken" in finding or "crash" in finding] == []


def test_a_seed_gives_the_same_damage_every_time_and_two_seeds_do_not() -> None:
    original = originals("native", None)["docx"]
    one, again, other = (Mutant(name="a", seed=seed, original=original) for seed in (1, 1, 2))
    assert damage(one) == damage(again) != damage(other)
    assert damage(one) != original


def test_what_is_wrong_with_an_outcome_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.robustness import mutants

    def broken(content: bytes, *, name: str) -> None:
        raise ZeroDivisionError("a defect of a reader")

    monkeypatch.setattr(mutants, "extract", broken)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    fate = meet(Mutant(name="a", seed=1, original=b"# a", tools=True))
    assert fate.outcome == "broken"
    assert "ZeroDivisionError" in fate.detail
