"""Paying money back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

REFUND_WINDOW = timedelta(days=14)
RESTOCKING_FEE_PERCENT = 5


class RefundRefused(Exception):
    """The refund is not due; the message says why."""


@dataclass(frozen=True)
class Purchase:
    order_id: str
    paid_won: int
    delivered_on: date
    opened: bool


class RefundCalculator:
    def refundable_amount(self, purchase: Purchase, today: date) -> int:
        """How much is paid back today: everything within the window, less a restocking fee for opened goods."""
        if today - purchase.delivered_on > REFUND_WINDOW:
            raise RefundRefused(f"order {purchase.order_id} was delivered more than {REFUND_WINDOW.days} days ago")
        if not purchase.opened:
            return purchase.paid_won
        return purchase.paid_won * (100 - RESTOCKING_FEE_PERCENT) // 100

    def split_partial_refund(self, amount_won: int, weights: list[int]) -> list[int]:
        """Divides a refund among the lines of an order so that the parts add up to the won."""
        total = sum(weights)
        parts = [amount_won * weight // total for weight in weights]
        for i in range(amount_won - sum(parts)):
            parts[i % len(parts)] += 1
        return parts
