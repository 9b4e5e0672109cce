"""Fitting, storing and refusing calibrations, and the verdicts they lead to."""

import json
from pathlib import Path

import pytest

from knowledge.embed.registry import DEFAULT_EMBEDDERS, build_embedder
from knowledge.retrieval.calibrate import BadQuestionFile, calibrate, calibrate_examples, read_labelled_questions
from knowledge.retrieval.calibration import (
    Calibration,
    CalibrationRefused,
    Calibrations,
    Fingerprint,
    LabelledFeatures,
    fit_logistic,
    predict,
    save_calibration,
)
from knowledge.retrieval.gate import judge
from knowledge.retrieval.versions import chunking_version
from knowledge.types import EvidenceKind

MARK = Fingerprint(kind="docs", spaces=("e5-384-0",), chunking="1")
EXAMPLES = [
    LabelledFeatures(
        features={
            "matched": 2.5 + i % 3 * 0.2,
            "label": 0.4,
            "unknown": 0.1,
            "cosine": 0.5 - i % 2 * 0.1,
            "contrast": 0.2,
        },
        answerable=True,
        group=f"g{i % 4}",
    )
    for i in range(20)
] + [
    LabelledFeatures(
        features={
            "matched": 0.5 + i % 3 * 0.2,
            "label": 0.0,
            "unknown": 0.8,
            "cosine": 0.3 + i % 2 * 0.1,
            "contrast": 0.1,
        },
        answerable=False,
        group=f"g{i % 4}",
        off_topic=i % 2 == 0,
    )
    for i in range(20)
]


def test_weights_keep_their_sign() -> None:
    backwards = [
        LabelledFeatures(features={"a": float(not e.answerable)}, answerable=e.answerable, group="g") for e in EXAMPLES
    ]
    assert fit_logistic(backwards, {"a": +1}).weights["a"] == 0.0
    assert fit_logistic(backwards, {"a": -1}).weights["a"] < 0.0


def test_the_fit_tells_answerable_from_unanswerable_and_is_repeatable() -> None:
    signs = {"matched": +1, "unknown": -1}
    model = fit_logistic(EXAMPLES, signs)
    assert predict(model, EXAMPLES[0].features) > 0.8 > 0.2 > predict(model, EXAMPLES[-1].features)
    assert fit_logistic(EXAMPLES, signs) == model


def test_one_kind_of_questions_is_not_enough() -> None:
    with pytest.raises(ValueError, match="questions that they do not"):
        fit_logistic(EXAMPLES[:20], {"matched": +1})


def test_a_calibration_survives_its_file(tmp_path: Path) -> None:
    calibration = calibrate_examples(EXAMPLES, MARK)
    save_calibration(calibration, tmp_path / "calibration-docs.json")
    loaded = Calibrations.load(tmp_path).find(MARK)
    assert loaded is not None
    features = EXAMPLES[0].features
    assert loaded.probability(features) == pytest.approx(calibration.probability(features), abs=1e-3)
    assert loaded.measured["cross-validated"]["off-topic not refused"] == 0.0


def test_a_calibration_for_another_space_is_refused(tmp_path: Path) -> None:
    save_calibration(calibrate_examples(EXAMPLES, MARK), tmp_path / "calibration-docs.json")
    known = Calibrations.load(tmp_path)
    other = Fingerprint(kind="docs", spaces=("use-512-1",), chunking="1")
    assert known.find(other) is None
    assert MARK.differences(other) == ["spaces"]


def test_a_damaged_file_is_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "calibration-a.json").write_text("{", encoding="utf-8")
    (tmp_path / "calibration-b.json").write_text('{"format": 99}', encoding="utf-8")
    known = Calibrations.load(tmp_path)
    assert len(known.refused) == 2
    assert "calibration-b.json: format 99" in known.refused[1]
    with pytest.raises(CalibrationRefused, match="run `haechi calibrate` again"):
        Calibration.from_json(json.loads('{"format": 1}'), origin="x.json")


@pytest.mark.parametrize("kind", ["docs", "code"])
def test_the_default_embedders_come_with_a_calibration(kind: EvidenceKind) -> None:
    """Fails when a chunker, analyser or embedder changed: measure again (docs/decisions/0003-gate.md)."""
    spaces = tuple(sorted(build_embedder(name).space.key for name in DEFAULT_EMBEDDERS[kind]))
    assert Calibrations.load().find(Fingerprint(kind=kind, spaces=spaces, chunking=chunking_version(kind)))


def test_verdicts_follow_the_bands() -> None:
    calibration = calibrate_examples(EXAMPLES, MARK)
    assert judge({**EXAMPLES[0].features, "coverage": 0.9}, calibration).decision == "ok"
    assert judge({**EXAMPLES[-1].features, "coverage": 0.1}, calibration).decision == "none"
    assert judge({}, calibration).decision == "none"


@pytest.mark.parametrize(("share", "decision"), [(0.9, "ok"), (0.6, "weak"), (0.2, "none")])
def test_without_calibration_the_share_of_words_decides(share: float, decision: str) -> None:
    verdict = judge({"coverage": share}, None)
    assert verdict.decision == decision
    assert verdict.probability is None
    assert "uncalibrated" in verdict.reason


def test_questions_of_a_file_become_a_calibration(tmp_path: Path) -> None:
    path = tmp_path / "questions.tsv"
    lines = ["question\tanswerable\tsource"]
    lines += [f"연차 {i}\tyes\trules" for i in range(6)] + [f"날씨 {i}\toff-topic\t" for i in range(6)]
    path.write_text("\n".join(lines), encoding="utf-8")
    questions = read_labelled_questions(path)
    assert questions[0].source == "rules"
    assert questions[-1].off_topic
    calibration = calibrate(questions, lambda q: EXAMPLES[0 if q.answerable else -1].features, MARK)
    assert calibration.measured["questions"] == {"answerable": 6, "unanswerable": 0, "off-topic": 6}


def test_a_wrong_label_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.tsv"
    path.write_text("question\tanswerable\n연차\tmaybe\n", encoding="utf-8")
    with pytest.raises(BadQuestionFile, match=r"questions\.tsv:2.*maybe"):
        read_labelled_questions(path)
