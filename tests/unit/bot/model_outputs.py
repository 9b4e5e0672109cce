"""Reads the table of model outputs, and gives what reaches a reader of each."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from bot.evidence_pieces import NumberedEvidence
from bot.generating import Asked, Writer
from bot.llm.thinking import ThoughtFilter
from bot.persona import language_of, load_persona
from bot.prompting import NO_ANSWER
from bot.sentences import split_sentences
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel, FakeReply

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PERSONA = load_persona(Path(__file__).resolve().parents[3] / "persona.md")


@dataclass(frozen=True)
class Output:
    """One row of a table."""

    kind: str
    case: str
    question: str
    output: str
    reaches: str

    @property
    def expected(self) -> str:
        text = {"=": self.output, "-": ""}.get(self.reaches, self.reaches)
        return " ".join(text.split())


def read_evidence(name: str = "model_evidence.md") -> list[NumberedEvidence]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+)$", text, flags=re.MULTILINE)[1:]
    pieces = []
    for number, body in zip(parts[::2], parts[1::2], strict=True):
        lines = re.search(r"lines (\d+)-(\d+)", body)
        pieces.append(
            NumberedEvidence(
                number=int(number),
                text=body.strip(),
                is_code=lines is not None,
                start_line=int(lines[1]) if lines else None,
                end_line=int(lines[2]) if lines else None,
            )
        )
    return pieces


def read_outputs(name: str) -> list[Output]:
    with (FIXTURES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Output(**{key: value.replace("⏎", "\n") for key, value in row.items()}) for row in rows]


@dataclass(frozen=True)
class Reached:
    """What a reader gets of an output."""

    text: str  # all of it
    quotes: tuple[str, ...]  # what of it stands in place of sentences: the evidence's own words
    faults: tuple[str, ...]  # why sentences were cut

    @property
    def own_sentences(self) -> list[str]:
        """The words of the model itself."""
        text = self.text
        for quote in self.quotes:
            text = text.replace(" ".join(quote.split()), "\n")
        bare = map(bare_words, split_sentences(text))
        return [words for words in bare if words and not words.isdigit()]  # the number of a list says nothing


def bare_words(text: str) -> str:
    """Letters and digits alone, for comparing what is said."""
    return re.sub(r"[\W_]", "", re.sub(r"\[\d+\]", "", text))


async def reach(output: Output, *, again: str = NO_ANSWER, evidence: str = "model_evidence.md") -> Reached:
    """What is shown of an output; `again` is what the model writes when it is asked to correct a sentence."""
    shown = ThoughtFilter()
    text = shown.feed(output.output) + shown.finish()
    pieces = tuple(re.findall(r"\S+\s*|\s+", text)) or ("",)
    model = FakeChatModel(FakeReply(pieces=pieces), otherwise=FakeReply(pieces=(again,)))
    asked = Asked(question=output.question, persona=PERSONA, language=language_of(output.question))
    writer = Writer(asked, read_evidence(evidence), None)
    await writer.write(model, [ChatTurn(role="user", content=output.question)])
    made = writer.result
    text = " ".join(made.text.split()) if made.cited else ""
    return Reached(text, tuple(made.quoted) if text else (), tuple(made.faults))


async def reaching(output: Output, *, again: str = NO_ANSWER, evidence: str = "model_evidence.md") -> str:
    """The text that is shown of an output."""
    return (await reach(output, again=again, evidence=evidence)).text
