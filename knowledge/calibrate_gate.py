"""`haechi calibrate FILE`: the gate measured on an installation's own labelled questions, one calibration a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.errors import Busy, UnknownSource
from knowledge.ports import ChunkLookup
from knowledge.retrieval.calibrate import LabelledQuestion, calibrate, read_labelled_questions
from knowledge.retrieval.calibration import save_calibration
from knowledge.retrieval.pipeline import KINDS, SearchPipeline
from knowledge.types import EvidenceKind, Scope

MIN_OF_EACH = 3  # fewer cannot be held out in turn; some dozens are what gives trustworthy thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOutcome:
    """What became of one kind of source: a file with its measured figures, or the reason why there is none."""

    kind: EvidenceKind
    path: Path | None
    measured: Mapping[str, Any]
    reason: str = ""


def calibrate_gate(
    file: Path, *, pipeline: SearchPipeline, catalog: ChunkLookup, folder: Path
) -> list[CalibrationOutcome]:
    """One outcome a kind that has sources. A question without a source counts for every kind.

    Raises BadQuestionFile, UnknownSource, and Busy while vectors are pending: features without them would be wrong.
    """
    questions = read_labelled_questions(file)
    kinds = catalog.evidence_kinds()
    for question in questions:
        if question.source is not None and question.source not in kinds:
            raise UnknownSource(f'{file}: there is no source "{question.source}" in the index')
    everything = catalog.active_generations(Scope.everything())
    waiting = sum(pending for pending, _ in catalog.pending_counts(everything).values())
    if waiting:
        raise Busy(f"{waiting} vectors are still pending: run `haechi ingest`, then calibrate")
    return [
        _calibrate_kind(kind, questions, kinds, pipeline, folder)
        for kind in KINDS
        if any(kinds[source] == kind for source in everything)
    ]


def _calibrate_kind(
    kind: EvidenceKind,
    questions: list[LabelledQuestion],
    kinds: Mapping[str, EvidenceKind],
    pipeline: SearchPipeline,
    folder: Path,
) -> CalibrationOutcome:
    own = [q for q in questions if q.source is None or kinds[q.source] == kind]

    def features_of(question: LabelledQuestion) -> Mapping[str, float]:
        scope = Scope.everything() if question.source is None else Scope.of(question.source)
        return pipeline.gate_features(question.question, scope=scope, kind=kind)

    answered = sum(question.answerable for question in own)
    if min(answered, len(own) - answered) < MIN_OF_EACH:
        reason = (
            f"needs at least {MIN_OF_EACH} questions that these sources answer and {MIN_OF_EACH} that they do not;"
            f" the file has {answered} and {len(own) - answered}"
        )
        return CalibrationOutcome(kind=kind, path=None, measured={}, reason=reason)
    try:
        made = calibrate(own, features_of, pipeline.fingerprint(kind, Scope.everything()))
    except ValueError:  # what one sort of question found was nothing at all, so that there is nothing to weigh
        reason = "needs more questions: of one sort none found anything in these sources"
        return CalibrationOutcome(kind=kind, path=None, measured={}, reason=reason)
    path = folder / f"calibration-{kind}.json"
    save_calibration(made, path)
    return CalibrationOutcome(kind=kind, path=path, measured=made.measured)
