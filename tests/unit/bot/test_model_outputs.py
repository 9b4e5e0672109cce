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
