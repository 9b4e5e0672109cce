"""What a model is given: persona, rules and numbered evidence, cut to fit its window. All words stand in prompts/."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from string import Template

from bot.evidence_pieces import NumberedEvidence
from bot.orders import withhold_orders
from bot.persona import Persona
from bot.types import AnswerLength, ChatTurn, Language
from knowledge.types import Locator, ScoredChunk

PROMPTS = Path(__file__).parent / "prompts"
NO_ANSWER = "NO_ANSWER"
REPLY_TOKENS = 1024
MARGIN_TOKENS = 256
HISTORY_TOKENS = 600  # of what was said before, at most
CALLER_TOKENS = 120  # of the callers of one definition
_LEAST_TOKENS = 60  # less of a piece of evidence says nothing

_TAG = re.compile(r"</?\s*evidence", re.IGNORECASE)
_COMMIT_CHARS = 10


def estimate_tokens(text: str) -> int:
    """An upper estimate: one token a Hangul syllable or other wide character, one for every three others."""
    wide = sum(character > "\u2e80" for character in text)
    return wide + (len(text) - wide + 2) // 3


def number_evidence(chunks: Sequence[ScoredChunk], budget_tokens: int) -> list[NumberedEvidence]:
    """Evidence by rank as far as the budget goes; what does not fit is cut at a line border, never inside a row."""
    numbered: list[NumberedEvidence] = []
    left = budget_tokens
    for number, scored in enumerate(chunks, start=1):
        chunk = scored.chunk
        head = evidence_head(scored)
        if left < _LEAST_TOKENS:
            break
        text = cut_lines(withhold_orders(f"{head}\n{chunk.text}{_callers(scored)}"), left)
        if text is None:
            break
        locator = chunk.locator
        numbered.append(
            NumberedEvidence(
                number=number,
                text=text,
                is_code=chunk.evidence_kind == "code",
                start_line=locator.start_line,
                end_line=locator.end_line,
            )
        )
        left -= estimate_tokens(text) + 40
    return numbered


def evidence_head(scored: ScoredChunk) -> str:
    """Title and label or symbol, where it stands, which revision it is and since when it holds; one or two lines."""
    chunk, locator = scored.chunk, scored.chunk.locator
    name = " · ".join(part for part in (chunk.title, locator.label or locator.symbol) if part)
    if chunk.evidence_kind == "code":
        lines = f" lines {locator.start_line}-{locator.end_line or locator.start_line}" if locator.start_line else ""
        return f"{name}\n({locator.uri}{lines}, commit {locator.revision[:_COMMIT_CHARS]})"
    return f"{name}{_validity(locator)}"


def cut_lines(text: str, budget_tokens: int) -> str | None:
    """The first whole lines that fit; None when fewer than three of a longer text do."""
    kept: list[str] = []
    lines = text.splitlines()
    for line in lines:
        budget_tokens -= estimate_tokens(line) + 1
        if budget_tokens < 0:
            break
        kept.append(line)
    if len(kept) < min(3, len(lines)):
        return None
    return "\n".join(kept)


def build_turns(
    question: str,
    evidence: Sequence[NumberedEvidence],
    *,
    persona: Persona,
    language: Language,
    length: AnswerLength = "normal",
    history: str = "",
) -> tuple[ChatTurn, ...]:
    """The conversation that asks for an answer."""
    blocks = "\n\n".join(
        f'<evidence n="{item.number}">\n{_TAG.sub("‹evidence", item.text)}\n</evidence>' for item in evidence
    )
    said = prompt_text("history", turns=_TAG.sub("‹evidence", history)) if history else ""
    user = prompt_text("question", evidence=blocks, question=_TAG.sub("‹evidence", question), history=said)
    return (
        ChatTurn(role="system", content=instructions(persona, language, length)),
        ChatTurn(role="user", content=user),
    )


def instructions(persona: Persona, language: Language, length: AnswerLength = "normal") -> str:
    """What the model is told to be and to do."""
    return prompt_text(
        "answer",
        guidance=persona.guidance,
        language=prompt_text(f"language_{language}").strip(),
        length=prompt_text(f"length_{length}").strip(),
    )


def correction_turns(accepted: str, sentence: str, fault: str) -> tuple[ChatTurn, ...]:
    """What is said when a sentence was held back: what was accepted as the model's own words, then the fault."""
    own = (ChatTurn(role="assistant", content=accepted.strip()),) if accepted.strip() else ()
    asked = prompt_text("correct", fault=fault, sentence=sentence.strip()[:400])
    return (*own, ChatTurn(role="user", content=asked))


def evidence_budget(num_ctx: int, question: str, persona: Persona, history: str = "") -> int:
    """Tokens that the evidence may take in a window of `num_ctx`."""
    turns = build_turns(question, (), persona=persona, language="en", length="long", history=history)
    fixed = sum(estimate_tokens(turn.content) for turn in turns)
    return max(0, num_ctx - fixed - REPLY_TOKENS - MARGIN_TOKENS)


def prompt_text(name: str, **values: object) -> str:
    """The text prompts/NAME.md with its $words filled in."""
    return Template(_source(name)).substitute(values)


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def _validity(locator: Locator) -> str:
    """When this wording came into force, and until when it held."""
    if locator.valid_from is None and locator.valid_until is None:
        return ""
    parts = [f"시행 {_day(locator.valid_from)}" if locator.valid_from else ""]
    if locator.valid_until is not None:
        parts.append(f"{_day(locator.valid_until)} 개정 전의 옛 규정")
    return f" ({', '.join(part for part in parts if part)})"


def _day(day: date) -> str:
    return f"{day.year}. {day.month}. {day.day}."


def _callers(scored: ScoredChunk) -> str:
    """One line for each caller, as far as their budget goes."""
    lines: list[str] = []
    left = CALLER_TOKENS
    for caller in scored.callers:
        line = f"called by: {' '.join(caller.signature.split())} ({caller.locator.uri})"
        left -= estimate_tokens(line)
        if left < 0:
            break
        lines.append(line)
    return "".join(f"\n{line}" for line in lines)
