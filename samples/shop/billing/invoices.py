"""Invoices: numbers without gaps, value added tax, and the monthly statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

VAT_PERCENT = 10


@dataclass(frozen=True)
class InvoiceLine:
    title: str
    quantity: int
    unit_price_won: int

    @property
    def total_won(self) -> int:
        return self.quantity * self.unit_price_won


@dataclass(frozen=True)
class Invoice:
    number: str
    issued_on: date
    lines: tuple[InvoiceLine, ...]

    def net_won(self) -> int:
        return sum(line.total_won for line in self.lines)

    def vat_won(self) -> int:
        """Value added tax, rounded down to the won as the tax office asks."""
        return self.net_won() * VAT_PERCENT // 100


class InvoiceNumbers:
    """Hands out numbers such as 2026-000041, counting from one in every year."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def next_number(self, issued_on: date) -> str:
        count = self._last.get(issued_on.year, 0) + 1
        self._last[issued_on.year] = count
        return f"{issued_on.year}-{count:06d}"


def monthly_statement(invoices: Iterable[Invoice], year: int, month: int) -> dict[str, int]:
    """Net amount, tax and count of the invoices issued in one month."""
    chosen = [i for i in invoices if (i.issued_on.year, i.issued_on.month) == (year, month)]
    net_won = sum(invoice.net_won() for invoice in chosen)
    vat_won = sum(invoice.vat_won() for invoice in chosen)
    return {"count": len(chosen), "net_won": net_won, "vat_won": vat_won}
