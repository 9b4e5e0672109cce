"""Notices from the payment gateway: is the sender who it says it is, and have we seen this notice before?"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict


class InvalidSignature(Exception):
    """The notice was not signed with our key, or is too old."""


TOLERANCE_S = 300


def verify_signature(body: bytes, timestamp_s: int, signature: str, key: bytes, now_s: int) -> None:
    """Checks the HMAC-SHA256 over timestamp and body in constant time; raises InvalidSignature."""
    if abs(now_s - timestamp_s) > TOLERANCE_S:
        raise InvalidSignature("the notice is older than five minutes: a replay?")
    expected = hmac.new(key, f"{timestamp_s}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise InvalidSignature("the signature does not match")


class SeenNotices:
    """The last few thousand notice ids, so that a notice delivered twice is handled once."""

    def __init__(self, capacity: int = 5_000) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._capacity = capacity

    def first_time(self, notice_id: str) -> bool:
        if notice_id in self._ids:
            self._ids.move_to_end(notice_id)
            return False
        self._ids[notice_id] = None
        if len(self._ids) > self._capacity:
            self._ids.popitem(last=False)
        return True
