"""Every sample of a stack trace gives its chain and the company's own frames."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.alerts.alert import Alert
from bot.alerts.reading import read_payload
from bot.alerts.services import Services
from tests.unit.bot.alerts.samples import Sample, told_by, trace_samples

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def alert_of(text: str) -> Alert:
    return read_payload(text.encode(), content_type="text/plain", services=Services(), posted_at=NOON).alerts[0]


@pytest.mark.parametrize("sample", trace_samples(), ids=lambda sample: sample.name)
def test_a_trace_gives_its_chain_and_own_frames(sample: Sample) -> None:
    assert told_by(alert_of(sample.text).traces) == sample.traces


def test_there_are_samples_of_every_language_that_is_read() -> None:
    languages = {language for sample in trace_samples() for language, _ in sample.traces}
    assert languages == {"jvm", "python", "javascript", "go", "rust", "dotnet", "ruby", "php", "swift"}
