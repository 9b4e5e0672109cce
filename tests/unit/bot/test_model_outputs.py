"""What reaches a reader of what models write, good and bad: tests/fixtures/model_outputs*.tsv are the tables.

A bad sentence never reaches anybody: it is cut, or the evidence's own words stand in its place. A good one is shown, or
the evidence's own words about the same thing are.
"""

from __future__ import annotations

import re
import unicodedata

import pytest

from bot.code_quotes import lines_of
from bot.evidence_text import WORD_JOINER
from tests.unit.bot.model_outputs import Output, Reached, bare_words, reach, read_evidence, read_outputs

SETS = [
    ("model_outputs.tsv", "model_evidence.md"),
    ("model_outputs_other_style.tsv", "model_evidence.md"),
    ("model_outputs_third.tsv", "model_evidence.md"),
    *((f"model_outputs_mixed_{n}.tsv", f"model_evidence_mixed_{n}.md") for n in range(1, 13)),
]
FREELY_TOLD_CODE = tuple(f"model_evidence_mixed_{n}.md" for n in (8, 9, 10, 11, 12))  # told as people tell it
OUTPUTS = [(output, evidence) for table, evidence in SETS for output in read_outputs(table)]
BAD = [(output, evidence) for output, evidence in OUTPUTS if output.kind == "bad"]
GOOD = [(output, evidence) for output, evidence in OUTPUTS if output.kind == "good"]
MOST_REFUSED = 0.03  # of the good ones
LEAST_WHOLE = 0.6  # of the good ones about documents, in the model's own words; of code the lines are shown instead
LEAST_WHOLE_OF_PLAIN_CODE = 0.5  # of those that tell short and directly what a line says


def allowed(output: Output) -> str:
    """What of the output may reach a reader in the model's own words."""
    return bare_words(output.expected)


def letters(text: str) -> str:
    return re.sub(r"\W", "", unicodedata.normalize("NFKC", text))


def is_kept(output: Output, reached: Reached) -> bool:
    """Whether what a good output says reaches the reader, in its own words or in those of the evidence."""
    return bool(reached.text) and not reached.faults and all(s in allowed(output) for s in reached.own_sentences)


@pytest.mark.parametrize(("output", "evidence"), BAD, ids=[output.case for output, _ in BAD])
async def test_nothing_bad_gets_through(output: Output, evidence: str):
    reached = await reach(output, evidence=evidence)
    assert [sentence for sentence in reached.own_sentences if sentence not in allowed(output)] == []


@pytest.mark.parametrize(("output", "evidence"), OUTPUTS, ids=[output.case for output, _ in OUTPUTS])
async def test_what_is_quoted_stands_in_the_evidence(output: Output, evidence: str):
    reached = await reach(output, evidence=evidence)
    held = letters("\n".join(piece.text for piece in read_evidence(evidence)))
    for quote in reached.quotes:
        for part in re.findall(r"“([^”]*)”", quote.replace(WORD_JOINER, "")):
            for cell in re.split(r",\s|:\s|…|\s", part):
                assert letters(cell) in held
        assert [line for line in lines_of(quote) if letters(line) not in held] == []


def cites_code(output: Output, evidence: str) -> bool:
    code = {piece.number for piece in read_evidence(evidence) if piece.is_code}
    return any(int(number) in code for number in re.findall(r"\[(\d+)", output.output))


async def test_good_outputs_reach_the_reader():
    reached = [(output, evidence, await reach(output, evidence=evidence)) for output, evidence in GOOD]
    lost = {output.case: got for output, _, got in reached if not is_kept(output, got)}
    assert len(lost) <= MOST_REFUSED * len(GOOD), lost
    whole = [(output, evidence) for output, evidence, got in reached if not got.quotes and is_kept(output, got)]
    prose = [one for one in GOOD if not cites_code(*one)]
    assert len([one for one in whole if not cites_code(*one)]) >= LEAST_WHOLE * len(prose)
    plain = [one for one in GOOD if cites_code(*one) and one[1] not in FREELY_TOLD_CODE]
    assert len([one for one in whole if one in plain]) >= LEAST_WHOLE_OF_PLAIN_CODE * len(plain)


def test_the_table_is_large_enough():
    assert len(OUTPUTS) >= 1450
    assert len({(output.case, output.output) for output, _ in OUTPUTS}) == len(OUTPUTS)
    assert {output.kind for output, _ in OUTPUTS} == {"good", "bad"}  # none is known to get through
