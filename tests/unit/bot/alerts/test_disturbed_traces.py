"""Traces are read as they were printed, whatever collectors, chats and people made of their lines."""

from __future__ import annotations

import pytest

from bot.alerts.alert import Alert
from tests.unit.bot.alerts.disturbances import LOSSLESS, LOSSY
from tests.unit.bot.alerts.samples import told_by, trace_samples
from tests.unit.bot.alerts.test_traces import alert_of

# A single line that was escaped shows no line breaks by which that could be told.
OF_SEVERAL_LINES = [sample for sample in trace_samples() if sample.text.count("\n") > 1]


@pytest.mark.parametrize("kind", LOSSLESS)
def test_what_can_be_undone_changes_nothing(kind: str) -> None:
    read = {sample.name: told_by(alert_of(LOSSLESS[kind](sample.text)).traces) for sample in OF_SEVERAL_LINES}
    assert read == {sample.name: sample.traces for sample in OF_SEVERAL_LINES}


@pytest.mark.parametrize("kind", LOSSY)
def test_the_place_of_the_failure_is_found_in_what_was_cut_or_flattened(kind: str) -> None:
    missed = [
        sample.name
        for sample in OF_SEVERAL_LINES
        if _own(alert_of(LOSSY[kind](sample.text)))[:1] != _own(alert_of(sample.text))[:1]
    ]
    assert len(missed) <= len(OF_SEVERAL_LINES) // 15, missed


def test_a_secret_that_an_escape_hid_is_masked() -> None:
    # what the escapes hide reads: password=..., and a key of AWS
    text = (
        r"{\"message\":\"login\",\"stack\":\"Error: pass\u0077ord=Tr0ub4dor-88x, key A\u004bIAIOSFODNN7EXAMPQX\\n"
        r"    at login (/app/src/login.js:3:1)\\n    at main (/app/src/main.js:9:1)\"}"
    )
    alert = alert_of(text)
    assert [frame.file for frame in alert.frames] == ["app/src/login.js", "app/src/main.js"]
    assert "Tr0ub4dor" not in str(alert)
    assert "IOSFODNN7EXAMPQX" not in str(alert)


def _own(alert: Alert) -> list[tuple[str, int | None]]:
    return [(frame.file, frame.line) for frame in alert.frames if frame.in_app]
