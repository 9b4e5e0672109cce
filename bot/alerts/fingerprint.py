"""What makes two alerts the same fault: a key that survives lines, ids, hosts and times, and a sequence to compare."""

from __future__ import annotations

from collections.abc import Sequence

from bot.alerts.alert import Trace


def fingerprint(
    *,
    service: str | None,
    traces: Sequence[Trace],
    error_class: str | None,
    message: str,
    title: str,
    rule: str | None = None,
) -> tuple[str, tuple[str, ...]]:
    """(key, sequence): equal keys are the same fault; the sequence is what the key is made of, in printed order."""
    raise NotImplementedError


def same_fault(one: Sequence[str], *, is_truncated: bool, other: Sequence[str], other_is_truncated: bool) -> bool:
    """Whether two sequences of one service are of the same fault, where at least one was cut off."""
    raise NotImplementedError
