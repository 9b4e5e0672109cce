"""From measured features to the probability that the evidence answers a question, and the files that hold it.

The probability is a logistic regression with an L2 penalty and fixed signs, fitted on labelled questions: a feature
that speaks for an answer can never count against it, however few questions there are. A calibration is made for exact
vector spaces, chunker, analyser and retrieval version; its fingerprint says which, and another one is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.analysis import ANALYZER_VERSION
from knowledge.errors import PermanentError
from knowledge.types import EvidenceKind

RETRIEVAL_VERSION = "4"  # raise it when the features of the gate or the order of evidence change
_FORMAT = 1
_STEPS = 1500
_RATE = 0.3
_FOLDS = 5


class CalibrationRefused(PermanentError):
    """A calibration file is damaged, or was made for another index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What a calibration depends on; two are equal exactly when probabilities carry over."""

    kind: EvidenceKind
    spaces: tuple[str, ...]  # names of the vector spaces with their keys, sorted
    chunking: str
    analyzer: str = ANALYZER_VERSION
    retrieval: str = RETRIEVAL_VERSION

    def differences(self, other: Fingerprint) -> list[str]:
        """Names of the fields in which the two differ."""
        return [
            name
            for name in ("kind", "spaces", "chunking", "analyzer", "retrieval")
            if getattr(self, name) != getattr(other, name)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A fitted gate: p = 1 / (1 + exp(-(intercept + sum of weight * (feature - mean) / scale)))."""

    fingerprint: Fingerprint
    intercept: float
    weights: Mapping[str, float]  # feature -> weight of the standardised feature
    means: Mapping[str, float]
    scales: Mapping[str, float]
    weak_from: float  # probability from which the verdict is "weak"
    ok_from: float  # probability from which the verdict is "ok"
    measured: Mapping[str, Any] = field(default_factory=dict)  # cross-validated figures, for people

    def probability(self, features: Mapping[str, float]) -> float:
        """That the evidence answers the question, 0..1. A feature that is missing counts as its mean."""
        total = self.intercept
        for name, weight in self.weights.items():
            value = features.get(name, self.means[name])
            total += weight * (value - self.means[name]) / self.scales[name]
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total))))

    def to_json(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "fingerprint": {
                "kind": self.fingerprint.kind,
                "spaces": list(self.fingerprint.spaces),
                "chunking": self.fingerprint.chunking,
                "analyzer": self.fingerprint.analyzer,
                "retrieval": self.fingerprint.retrieval,
            },
            "intercept": round(self.intercept, 6),
            "weights": {name: round(weight, 6) for name, weight in self.weights.items()},
            "means": {name: round(mean, 6) for name, mean in self.means.items()},
            "scales": {name: round(scale, 6) for name, scale in self.scales.items()},
            "weak_from": round(self.weak_from, 4),
            "ok_from": round(self.ok_from, 4),
            "measured": dict(self.measured),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, origin: str) -> Calibration:
        """The calibration of a file; `origin` names it in errors. Raises CalibrationRefused."""
        try:
            if data["format"] != _FORMAT:
                raise CalibrationRefused(
                    f"{origin}: format {data['format']} is not known; run `haechi calibrate` again"
                )
            mark = data["fingerprint"]
            calibration = cls(
                fingerprint=Fingerprint(
                    kind=mark["kind"],
                    spaces=tuple(mark["spaces"]),
                    chunking=mark["chunking"],
                    analyzer=mark["analyzer"],
                    retrieval=mark["retrieval"],
                ),
                intercept=float(data["intercept"]),
                weights={name: float(value) for name, value in data["weights"].items()},
                means={name: float(value) for name, value in data["means"].items()},
                scales={name: float(value) for name, value in data["scales"].items()},
                weak_from=float(data["weak_from"]),
                ok_from=float(data["ok_from"]),
                measured=data.get("measured", {}),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CalibrationRefused(f"{origin}: not a calibration ({error}); run `haechi calibrate` again") from error
        if not set(calibration.weights) <= set(calibration.means) & set(calibration.scales):
            raise CalibrationRefused(f"{origin}: means or scales are missing; run `haechi calibrate` again")
        return calibration


class Calibrations:
    """The calibrations at hand, found by fingerprint; later ones go before earlier ones."""

    def __init__(self, calibrations: Iterable[Calibration] = ()) -> None:
        self._known = list(calibrations)
        self.refused: list[str] = []  # why files were left out, for `status`

    @classmethod
    def load(cls, folder: Path | None = None) -> Calibrations:
        """Those that are shipped, and the `calibration*.json` of `folder` (made by `haechi calibrate`), which go first.

        A file that cannot be used is left out and named in `refused`.
        """
        loaded = cls()
        shipped = files("knowledge.retrieval").joinpath("calibrations")
        sources = [(entry.name, entry) for entry in sorted(shipped.iterdir(), key=lambda entry: entry.name)]
        if folder is not None and folder.is_dir():
            sources += [(str(path), path) for path in sorted(folder.glob("calibration*.json"))]
        for origin, entry in sources:
            if origin.endswith(".json"):
                try:
                    loaded._known.append(Calibration.from_json(json.loads(entry.read_text("utf-8")), origin=origin))
                except (CalibrationRefused, json.JSONDecodeError, OSError) as error:
                    loaded.refused.append(str(error))
        return loaded

    def find(self, fingerprint: Fingerprint) -> Calibration | None:
        """The newest calibration that was made for exactly this, None without one."""
        return next((known for known in reversed(self._known) if known.fingerprint == fingerprint), None)


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Writes the file that `Calibrations.load` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(calibration.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# --- fitting --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFeatures:
    """One question: the gate's features for it, whether the index answers it, and the group it is held out with."""

    features: Mapping[str, float]
    answerable: bool
    group: str
    off_topic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModel:
    """What `fit_logistic` found: weights of features that are standardised by `means` and `scales`."""

    intercept: float
    weights: dict[str, float]
    means: dict[str, float]
    scales: dict[str, float]


def fit_logistic(
    examples: Sequence[LabelledFeatures], signs: Mapping[str, int], *, penalty: float = 0.05
) -> FittedModel:
    """Logistic regression over the features that `signs` names, each weight held to its sign (+1 or -1).

    Both classes weigh the same in total. Projected gradient descent on standardised features, from zero, so that the
    result is the same on every machine. Raises ValueError without examples of both classes.
    """
    names = list(signs)
    labels = np.array([example.answerable for example in examples], dtype=np.float64)
    if not 0 < labels.sum() < len(labels):
        raise ValueError("A calibration needs questions that the sources answer and questions that they do not")
    raw = np.array([[example.features.get(name, 0.0) for name in names] for example in examples], dtype=np.float64)
    means, scales = raw.mean(axis=0), raw.std(axis=0)
    scales[scales < 1e-9] = 1.0
    values = (raw - means) / scales
    importance = np.where(labels == 1.0, 0.5 / labels.sum(), 0.5 / (len(labels) - labels.sum()))
    sign = np.array([signs[name] for name in names], dtype=np.float64)
    weights, intercept = np.zeros(len(names)), 0.0
    for _ in range(_STEPS):
        errors = importance * (1.0 / (1.0 + np.exp(-(values @ weights + intercept))) - labels)
        weights -= _RATE * (values.T @ errors + penalty * weights / len(names))
        weights = np.where(weights * sign < 0.0, 0.0, weights)
        intercept -= _RATE * float(errors.sum())
    return FittedModel(
        intercept=float(intercept),
        weights=dict(zip(names, map(float, weights), strict=True)),
        means=dict(zip(names, map(float, means), strict=True)),
        scales=dict(zip(names, map(float, scales), strict=True)),
    )


def predict(model: FittedModel, features: Mapping[str, float]) -> float:
    """Probability 0..1 by a fitted model."""
    total = model.intercept + sum(
        weight * (features.get(name, 0.0) - model.means[name]) / model.scales[name]
        for name, weight in model.weights.items()
    )
    return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total))))


def cross_validated(
    examples: Sequence[LabelledFeatures], signs: Mapping[str, int], *, penalty: float = 0.05
) -> list[float]:
    """The probability of each example by a model that saw no example of its group.

    Where one group holds every example of a class, every fifth example is held out instead.
    """
    groups = [example.group for example in examples]
    for wanted in (True, False):
        if len({example.group for example in examples if example.answerable is wanted}) < 2:
            groups = [str(i % _FOLDS) for i in range(len(examples))]
    probabilities = [0.0] * len(examples)
    for group in sorted(set(groups)):
        seen = [example for example, own in zip(examples, groups, strict=True) if own != group]
        model = fit_logistic(seen, signs, penalty=penalty)
        for i, example in enumerate(examples):
            if groups[i] == group:
                probabilities[i] = predict(model, example.features)
    return probabilities
