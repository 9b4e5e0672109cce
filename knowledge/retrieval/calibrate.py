"""Makes a calibration from labelled questions: `haechi calibrate FILE`.

FILE has tab-separated columns with a header line: question, answerable (yes, no, or off-topic), source (empty: all).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import PermanentError
from knowledge.retrieval.calibration import (
    Calibration,
    Fingerprint,
    LabelledFeatures,
    cross_validated,
    fit_logistic,
)
from knowledge.retrieval.gate import GATE_SIGNS, is_barred
from knowledge.types import EvidenceKind

# Share of answerable questions that may fall below the "weak" band. Of code people also ask with a commit message or a
# line of a log, which may hold no word of the code.
MAX_FALSE_REFUSALS: Mapping[EvidenceKind, float] = {"docs": 0.058, "code": 0.08}
# Share of unanswerable questions in the "ok" band.
MAX_FALSE_ANSWERS: Mapping[EvidenceKind, float] = {"docs": 0.08, "code": 0.25}
_FOLDS = 5  # for questions that name no source
_ANSWERABLE = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}
_OFF_TOPIC = ("off-topic", "offtopic")


class BadQuestionFile(PermanentError):
    """A file of labelled questions cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """One line of a file of labelled questions; a question that is off-topic is not answerable."""

    question: str
    answerable: bool
    off_topic: bool = False
    source: str | None = None


def read_labelled_questions(path: Path) -> list[LabelledQuestion]:
    """The questions of a file. Raises BadQuestionFile, which names the line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestionFile(f"{path}: cannot be read ({error})") from error
    if not rows or not {"question", "answerable"} <= set(rows[0]):
        raise BadQuestionFile(f"{path}: the first line must name the columns question, answerable and source")
    questions = []
    for number, row in enumerate(rows, 2):
        label = (row["answerable"] or "").strip().casefold()
        if label not in _ANSWERABLE and label not in _OFF_TOPIC:
            raise BadQuestionFile(f'{path}:{number}: answerable must be yes, no or off-topic, not "{label}"')
        questions.append(
            LabelledQuestion(
                question=(row["question"] or "").strip(),
                answerable=_ANSWERABLE.get(label, False),
                off_topic=label in _OFF_TOPIC,
                source=(row.get("source") or "").strip() or None,
            )
        )
    return questions


def calibrate(
    questions: Sequence[LabelledQuestion],
    features_of: Callable[[LabelledQuestion], Mapping[str, float]],
    fingerprint: Fingerprint,
) -> Calibration:
    """A calibration with its cross-validated figures. Raises ValueError without questions of both kinds.

    `features_of` asks a question within its source (`SearchPipeline.gate_features`).
    """
    return calibrate_examples(
        [
            LabelledFeatures(
                features=features_of(question),
                answerable=question.answerable,
                group=question.source or f"fold {i % _FOLDS}",
                off_topic=question.off_topic,
            )
            for i, question in enumerate(questions)
        ],
        fingerprint,
    )


def calibrate_examples(examples: Sequence[LabelledFeatures], fingerprint: Fingerprint) -> Calibration:
    """The same from measured features. Thresholds are set on probabilities of models that did not see the question."""
    measured = [example for example in examples if example.features]
    model = fit_logistic(measured, GATE_SIGNS)
    held_out = cross_validated(measured, GATE_SIGNS)
    answerable = sorted(p for p, e in zip(held_out, measured, strict=True) if e.answerable)
    unanswerable = sorted(p for p, e in zip(held_out, measured, strict=True) if not e.answerable and not e.off_topic)
    off_topic = sorted(p for p, e in zip(held_out, measured, strict=True) if e.off_topic)
    weak_from = _weak_threshold(answerable, off_topic or unanswerable, MAX_FALSE_REFUSALS[fingerprint.kind])
    passing = [_passing(p, e) for p, e in zip(held_out, measured, strict=True)]
    answered = sorted(p for p, e in zip(passing, measured, strict=True) if e.answerable)
    wrongly = sorted(p for p, e in zip(passing, measured, strict=True) if not e.answerable and not e.off_topic)
    ok_from = max(weak_from, 0.5, _quantile(wrongly or off_topic, 1.0 - MAX_FALSE_ANSWERS[fingerprint.kind]) + 1e-4)
    return Calibration(
        fingerprint=fingerprint,
        intercept=model.intercept,
        weights=model.weights,
        means=model.means,
        scales=model.scales,
        weak_from=weak_from,
        ok_from=min(ok_from, 0.99),
        measured={
            "questions": {
                "answerable": len(answerable), "unanswerable": len(unanswerable), "off-topic": len(off_topic)
            },
            "cross-validated": {
                "false refusals": _share(answerable, below=weak_from),
                "judged ok": round(1.0 - _share(answered, below=ok_from), 4),
                "unanswerable judged ok": round(1.0 - _share(wrongly, below=ok_from), 4) if wrongly else None,
                "off-topic not refused": round(1.0 - _share(off_topic, below=weak_from), 4) if off_topic else None,
            },
            "trade-off": [_trade_off(share, answerable, unanswerable, off_topic) for share in (0.0, 0.02, 0.05, 0.08)],
        },
    )  # fmt: skip


def _passing(probability: float, example: LabelledFeatures) -> float:
    """The probability with which a question may be judged "ok": 0 where a telling word is lacking."""
    return 0.0 if is_barred(example.features) else probability


def _weak_threshold(answerable: Sequence[float], hopeless: Sequence[float], allowed: float) -> float:
    """Between what off-topic and answerable questions reach, but never so high that too many answerable ones fall."""
    highest_allowed = _quantile(answerable, allowed)
    reached = _quantile(hopeless, 0.99) if hopeless else 0.0
    return (reached + highest_allowed) / 2 if reached < highest_allowed else highest_allowed


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which about `share` of the sorted values lie, interpolated; 0 without values."""
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _share(values: Sequence[float], *, below: float) -> float:
    return round(sum(value < below for value in values) / len(values), 4) if values else 0.0


def _trade_off(
    share: float, answerable: Sequence[float], unanswerable: Sequence[float], off_topic: Sequence[float]
) -> dict[str, float]:
    """What passes when this share of answerable questions is refused."""
    threshold = _quantile(answerable, share)
    return {
        "false refusals": _share(answerable, below=threshold),
        "threshold": round(threshold, 4),
        "unanswerable passed": round(1.0 - _share(unanswerable, below=threshold), 4) if unanswerable else 0.0,
        "off-topic passed": round(1.0 - _share(off_topic, below=threshold), 4) if off_topic else 0.0,
    }
