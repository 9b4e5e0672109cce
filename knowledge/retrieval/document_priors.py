"""How likely a section of a document is what somebody looks for, before its words are compared."""

from __future__ import annotations

import re

from knowledge.types import Chunk

FORM_PRIOR = 0.85  # a form to fill in repeats the words of the rule that it belongs to
SUPPLEMENT_PRIOR = 0.9  # supplementary provisions say from when a rule holds

_FORM = re.compile(
    r"별\s*지|서\s*식|신청서|확인서|서약서|동의서|청구서|명세서|통지서|보고서|신고서|계획서|의뢰서|각서|의결서|심의서|추천서|위임장|대장$|양식"
)
_SUPPLEMENT = re.compile(r"부\s*칙(?:\s|\(|<|$)")
_ASKS_FOR_FORM = re.compile(
    r"서류|서식|양식|신청서|확인서|서약서|동의서|청구서|통지서|보고서|신고서|계획서|대장|\bforms?\b|체크리스트|작성"
)
_ASKS_FOR_SUPPLEMENT = re.compile(r"부칙|시행일|경과\s?조치|언제부터|개정|\beffective\b")


def document_prior(chunk: Chunk, question: str) -> float:
    """A factor 0..1 for the rank of a section: below 1 for forms and supplementary provisions nobody asked for."""
    label = chunk.locator.label or ""
    if _SUPPLEMENT.search(label):
        return 1.0 if _ASKS_FOR_SUPPLEMENT.search(question) else SUPPLEMENT_PRIOR
    if chunk.kind == "appendix" and _FORM.search(label):
        return 1.0 if _ASKS_FOR_FORM.search(question) else FORM_PRIOR
    return 1.0
