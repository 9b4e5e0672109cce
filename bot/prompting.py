"""What a model is given: persona, rules and numbered evidence, cut to fit its window. All words stand in prompts/."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from bot.citing import NumberedEvidence
from bot.persona import Persona
from bot.types import ChatTurn, Language
from knowledge.types import ScoredChunk

PROMPTS = Path(__file__).parent / "prompts"
NO_ANSWER = "NO_ANSWER"
REPLY_TOKENS = 1024
MARGIN_TOKENS = 256

_LANGUAGE_RULE: dict[Language, str] = {"ko": "Write the answer in Korean.", "en": "Write the answer in English."}
_TAG = re.compile(r"</?\s*evidence", re.IGNORECASE)


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
        name = " · ".join(part for part in (chunk.title, chunk.locator.label or chunk.locator.symbol) if part)
        text = cut_lines(f"{name}\n{chunk.text}", left)
        if text is None:
            break
        numbered.append(NumberedEvidence(number=number, text=text))
        left -= estimate_tokens(text) + 40
    return numbered


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
    question: str, evidence: Sequence[NumberedEvidence], *, persona: Persona, language: Language
) -> tuple[ChatTurn, ...]:
    """The conversation that asks for an answer."""
    blocks = "\n\n".join(
        f'<evidence n="{item.number}">\n{_TAG.sub("‹evidence", item.text)}\n</evidence>' for item in evidence
    )
    system = _template("answer").substitute(guidance=persona.guidance, language=_LANGUAGE_RULE[language])
    user = _template("question").substitute(evidence=blocks, question=question)
    return ChatTurn(role="system", content=system), ChatTurn(role="user", content=user)


def evidence_budget(num_ctx: int, question: str, persona: Persona) -> int:
    """Tokens that the evidence may take in a window of `num_ctx`."""
    fixed = sum(estimate_tokens(turn.content) for turn in build_turns(question, (), persona=persona, language="en"))
    return max(0, num_ctx - fixed - REPLY_TOKENS - MARGIN_TOKENS)


def prompt_text(name: str, **values: object) -> str:
    """The text prompts/NAME.md with its $words filled in."""
    return _template(name).substitute(values)


def _template(name: str) -> Template:
    return Template((PROMPTS / f"{name}.md").read_text(encoding="utf-8"))
