"""Samples of stack traces with what must be read out of them; tests/fixtures/alerts/traces/README.md has their form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bot.alerts.alert import Thrown, Trace

FIXTURES = Path(__file__).parents[3] / "fixtures" / "alerts"

Told = tuple[str, tuple[str, ...]]  # "CLASS: MESSAGE", "FILE:LINE SYMBOL" of own frames


@dataclass(frozen=True, slots=True)
class Sample:
    """One text, and for each trace in it the language and the chain, outermost first."""

    name: str
    text: str
    traces: tuple[tuple[str, tuple[Told, ...]], ...]


@cache
def trace_samples() -> tuple[Sample, ...]:
    """Every sample of tests/fixtures/alerts/traces, by file and place."""
    return tuple(sample for path in sorted((FIXTURES / "traces").glob("*.txt")) for sample in _samples(path))


def _samples(path: Path) -> list[Sample]:
    found = []
    for part in path.read_text(encoding="utf-8").split("%% sample ")[1:]:
        name, _, rest = part.partition("\n")
        text, *marks = rest.split("\n%% ")
        traces: list[tuple[str, list[tuple[str, list[str]]]]] = []
        for mark in marks:
            kind, _, value = mark.rstrip("\n").partition(" ")
            if kind == "trace":
                traces.append((value, []))
            elif kind == "thrown":
                traces[-1][1].append((value, []))
            else:
                assert kind == "own", f"{path.name}: {name}: {kind}"
                traces[-1][1][-1][1].append(value)
        frozen = tuple((language, tuple((head, tuple(own)) for head, own in chain)) for language, chain in traces)
        found.append(Sample(f"{path.stem}:{name}", text, frozen))
    return found


def told_by(traces: tuple[Trace, ...]) -> tuple[tuple[str, tuple[Told, ...]], ...]:
    """What was read, in the form of the samples."""
    return tuple((trace.language, tuple(_thrown(one) for one in trace.thrown)) for trace in traces)


def _thrown(one: Thrown) -> Told:
    first = one.message.split("\n", 1)[0]
    own = tuple(f"{f.file}:{'' if f.line is None else f.line} {f.symbol or ''}".strip() for f in one.frames if f.in_app)
    return (f"{one.error_class}: {first}".strip(), own)
