"""What a question is about, as far as its writer said so: `code: ...` or `docs: ...` in front."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.types import EvidenceKind

_PREFIXES: dict[str, EvidenceKind] = {"code": "code", "코드": "code", "docs": "docs", "문서": "docs"}
_MENTION = re.compile(r"^\s*(?:[@＠]haechi|[@＠]해치)(?:야|아|님)?(?![\w.-])[\s,:]*", re.IGNORECASE)
_PREFIX = re.compile(rf"^\s*({'|'.join(_PREFIXES)})\s*[:：]\s*", re.IGNORECASE)


_MASK = re.compile(r"\[masked:[^\]\s]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """`kind` is None when the evidence is to decide."""

    question: str
    kind: EvidenceKind | None


def route(text: str) -> Routed:
    """The question without mention and prefix. A prefix with nothing behind it is the question itself."""
    rest = _MENTION.sub("", text, count=1).strip()
    match = _PREFIX.match(rest)
    question = rest[match.end() :].strip() if match else ""
    if match and question:
        return Routed(question=question, kind=_PREFIXES[match[1].lower()])
    return Routed(question=rest, kind=None)


def search_text(masked: str) -> str:
    """A masked question as it is searched: a mask stands for what is nowhere in the evidence, so it is left out."""
    return " ".join(_MASK.sub(" ", masked).split(" ")).strip() or masked
