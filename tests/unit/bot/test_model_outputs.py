"""What reaches a reader of what models write, good and bad: tests/fixtures/model_outputs.tsv is the table."""

from __future__ import annotations

import pytest

from tests.unit.bot.model_outputs import Output, reaching, read_outputs

TABLES = ("model_outputs.tsv", "model_outputs_other_style.tsv", "model_outputs_third.tsv")
OUTPUTS = [output for table in TABLES for output in read_outputs(table)]
BAD = [output for output in OUTPUTS if output.kind == "bad"]
GOOD = [output for output in OUTPUTS if output.kind == "good"]
MOST_REFUSED = 0.03  # of the good ones


@pytest.mark.parametrize("output", BAD, ids=[output.case for output in BAD])
async def test_nothing_bad_gets_through(output: Output):
    assert await reaching(output) == output.expected


async def test_good_outputs_reach_the_reader():
    lost = {output.case: shown for output in GOOD if (shown := await reaching(output)) != output.expected}
    assert len(lost) <= MOST_REFUSED * len(GOOD), lost


def test_the_table_is_large_enough():
    assert len(OUTPUTS) >= 120
    assert len({output.case for output in OUTPUTS}) == len(OUTPUTS)


MIXED = [(output, n) for n in range(1, 5) for output in read_outputs(f"model_outputs_mixed_{n}.tsv")]
MIXED_BAD = [(output, n) for output, n in MIXED if output.kind == "bad"]
MOST_MISSED = 0.1  # of the bad ones of other evidence: those marked "missed" get through and are still to be mended


@pytest.mark.parametrize(("output", "n"), MIXED_BAD, ids=[output.case for output, _ in MIXED_BAD])
async def test_nothing_bad_gets_through_over_other_evidence(output: Output, n: int):
    assert await reaching(output, evidence=f"model_evidence_mixed_{n}.md") == output.expected


async def test_good_outputs_over_other_evidence_reach_the_reader():
    good = [(output, n) for output, n in MIXED if output.kind == "good"]
    lost = {
        output.case: shown
        for output, n in good
        if (shown := await reaching(output, evidence=f"model_evidence_mixed_{n}.md")) != output.expected
    }
    assert len(lost) <= MOST_REFUSED * len(good), lost


def test_few_bad_outputs_over_other_evidence_are_missed():
    missed = [output.case for output, _ in MIXED if output.kind == "missed"]
    assert len(missed) <= MOST_MISSED * (len(missed) + len(MIXED_BAD)), missed
