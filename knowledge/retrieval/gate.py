"""Whether the evidence is worth an answer: features of the ranked evidence, a probability, one of three verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from knowledge.retrieval.calibration import Calibration
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import covered_weight, is_everyday
from knowledge.retrieval.missing import TOLD_FROM, Lack
from knowledge.retrieval.question import Question
from knowledge.types import Decision, Verdict

# Without a calibration the share of the question's weight decides that the best piece of evidence holds. Measured on
# the same questions as the calibrations: off-topic questions stay below the first, most answerable ones above it.
UNCALIBRATED_WEAK_FROM = 0.45
UNCALIBRATED_OK_FROM = 0.80
# From this weight on (0..1) a telling word that the best evidence lacks forbids "ok": the rest merely matches.
LACKING_FROM = 0.65
TITLED_FROM = 0.1  # share of the question's weight that a title holds which speaks of it
_JUDGED = 3  # pieces of evidence that an answer usually rests on
_KNOWN_WITHIN = 50  # candidates in which a word must occur to be known to the sources
_BACKGROUND = slice(10, 50)  # ranks whose cosine tells what unrelated text reaches for this question

NOTHING_LACKS = Lack()

# Feature -> +1 when more of it speaks for an answer, -1 when it speaks against one.
GATE_SIGNS: Mapping[str, int] = {
    "matched": +1,
    "label": +1,
    "unknown": -1,
    "cosine": +1,
    "contrast": +1,
    "told": +1,
    "beside": +1,
    "setting": -1,
    "general": -1,
    "everyday": -1,
    "lacking": -1,
    "focus": +1,
}


def gate_features(
    question: Question, ranked: Sequence[Candidate], term_weights: Mapping[str, float]
) -> dict[str, float]:
    """What the gate looks at, all 0..1 but for the cosines; empty without evidence.

    coverage: share of the question's weight in the best of the leading pieces; passage: in their best line;
    label: in their best title, label or symbol. matched: logarithm of that weight itself, since three rare words that
    match say more than one everyday word that does.
    unknown: share of the weight of words that no candidate holds, in no wording.
    setting: whether the question names a language or tool as its setting, as questions about programming in general do.
    general: how much the question sounds like one for a search engine.
    everyday: share of the words that any text may hold.
    cosine: mean over the vector spaces of the best cosine; contrast: how far it stands above the ranks from ten on.
    lacking, apart, focus, told and beside come from `missing.find_lack` once the evidence is complete: the weight of
    the most telling word that no piece holds, of the one that the best piece lacks, the share of the subject that this
    piece holds, and how far the kind of thing that is asked for stands beside the subject (`told.Told`).
    agreement: share of the rankings that place the first piece among their first five.
    """
    if not ranked:
        return {}
    leading = ranked[:_JUDGED]
    features = {
        "coverage": max(candidate.features.get("coverage", 0.0) for candidate in leading),
        "passage": max(candidate.features.get("passage", 0.0) for candidate in leading),
        "matched": max(_matched(question, candidate, term_weights) for candidate in leading),
        "label": max(candidate.features.get("label", 0.0) for candidate in leading),
        "unknown": _unknown_share(question, ranked[:_KNOWN_WITHIN], term_weights),
        "agreement": _agreement(ranked),
        "setting": float(question.has_setting),
        "general": question.generality,
        "everyday": sum(map(is_everyday, term_weights)) / len(term_weights) if term_weights else 1.0,
    }
    return features | _cosines(ranked, leading)


def _matched(question: Question, candidate: Candidate, term_weights: Mapping[str, float]) -> float:
    return math.log1p(covered_weight(term_weights, question.expansions, candidate.held))


def _unknown_share(question: Question, candidates: Sequence[Candidate], term_weights: Mapping[str, float]) -> float:
    total = sum(term_weights.values())
    if total <= 0.0:
        return 1.0
    missing = 0.0
    for word, weight in term_weights.items():
        wordings = (word, *question.expansions.get(word, ()))
        if not any(wording in candidate.held for candidate in candidates for wording in wordings):
            missing += weight
    return missing / total


def _cosines(ranked: Sequence[Candidate], leading: Sequence[Candidate]) -> dict[str, float]:
    spaces = sorted({space for candidate in ranked for space in candidate.dense_scores})
    found: dict[str, float] = {}
    for space in spaces:
        everywhere = sorted((c.dense_scores[space] for c in ranked if space in c.dense_scores), reverse=True)
        background = everywhere[_BACKGROUND] or everywhere[-1:]
        best = max((c.dense_scores[space] for c in leading if space in c.dense_scores), default=everywhere[-1])
        found[f"cosine:{space}"] = best
        found[f"contrast:{space}"] = best - sum(background) / len(background)
    if spaces:
        for name in ("cosine", "contrast"):
            found[name] = sum(found[f"{name}:{space}"] for space in spaces) / len(spaces)
    return found


def _agreement(ranked: Sequence[Candidate]) -> float:
    first = ranked[0]
    lists = {space for candidate in ranked for space in candidate.dense_ranks}
    agreeing = sum(first.dense_ranks.get(space, 99) <= 5 for space in lists)
    agreeing += first.keyword_rank is not None and first.keyword_rank <= 5
    return agreeing / (len(lists) + 1)


def judge(
    features: Mapping[str, float],
    calibration: Calibration | None,
    *,
    names_place: bool = False,
    lack: Lack = NOTHING_LACKS,
    unknown_time: bool = False,
) -> Verdict:
    """The verdict on evidence with these features; no features mean that nothing was found.

    Where a telling word of the question is lacking it is never "ok", whatever else matches. `names_place` says that the
    question holds a stack frame that lies in the sources: that is evidence as it is. `unknown_time` says that the
    question is about a time of which no wording is known: that is never "ok" either.
    """
    if not features:
        return Verdict(decision="none", reason="nothing was found", probability=None)
    share = features["coverage"]
    held = f"the evidence holds {share:.0%} of what the question's words weigh"
    barred = unknown_time or is_barred(features)
    if lack.words:
        held = f"nothing that was found mentions {', '.join(lack.words)}; {held}"
    elif lack.apart >= LACKING_FROM:
        held = f"nothing that was found speaks of {', '.join(lack.apart_words)} together with the rest; {held}"
    elif lack.told < TOLD_FROM:
        held = f"nothing of the kind that is asked for stands where the evidence speaks of it; {held}"
    elif is_chance(features):
        held = f"the evidence has only words in common with the question; {held}"
    if calibration is None:
        decision = _band(share, UNCALIBRATED_WEAK_FROM, UNCALIBRATED_OK_FROM)
        if names_place:
            return Verdict(decision="ok", reason="the question names a place in the sources", probability=None)
        decision = "weak" if barred and decision == "ok" else decision
        return Verdict(decision=decision, reason=f"{held} (uncalibrated)", probability=None, missing=lack.words)
    probability = calibration.probability(features)
    if names_place:
        probability = max(probability, (1.0 + calibration.ok_from) / 2)
        return Verdict(decision="ok", reason="the question names a place in the sources", probability=probability)
    decision = _band(probability, calibration.weak_from, calibration.ok_from)
    decision = "weak" if barred and decision == "ok" else decision
    return Verdict(decision=decision, reason=held, probability=probability, missing=lack.words)


def is_barred(features: Mapping[str, float]) -> bool:
    """Whether what a question asks for, or a telling word of it, is lacking where the rest of it stands.

    So is evidence of documents that has only words in common with the question.
    """
    return features.get("apart", 0.0) >= LACKING_FROM or features.get("told", 1.0) < TOLD_FROM or is_chance(features)


def is_chance(features: Mapping[str, float]) -> bool:
    """Whether no title speaks of the question, and the best text means nothing nearer to it than the ranks behind."""
    return "told" in features and features.get("contrast", 1.0) < 0.0 and features.get("label", 1.0) < TITLED_FROM


def _band(value: float, weak_from: float, ok_from: float) -> Decision:
    if value >= ok_from:
        return "ok"
    return "weak" if value >= weak_from else "none"
