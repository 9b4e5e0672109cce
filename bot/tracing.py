"""One id from a delivery to its reply: bound to every log line, shown in the text of an error, kept in the query log.

Deliveries have the long ids of their platforms. What a reader can pass on is short, and is computed from that id, so
that it is the same after a restart and needs no place of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

TRACE_CHARS = 8


def trace_of(delivery_id: str) -> str:
    """The short id of a delivery: 8 hexadecimal digits, always the same ones."""
    return hashlib.sha256(delivery_id.encode()).hexdigest()[:TRACE_CHARS]


@contextmanager
def following(delivery_id: str) -> Iterator[str]:
    """Every log line in the block, those of its threads and tasks too, carries `delivery` and `trace`; gives the
    latter."""
    trace = trace_of(delivery_id)
    with structlog.contextvars.bound_contextvars(delivery=delivery_id, trace=trace):
        yield trace
