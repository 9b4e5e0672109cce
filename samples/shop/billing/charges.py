"""Charging a card, once, even when the caller asks twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class PaymentDeclined(Exception):
    """The bank refused the card; asking again with the same card does not help."""


class GatewayTimeout(Exception):
    """The payment gateway did not answer in time; the outcome is unknown."""


@dataclass(frozen=True)
class Charge:
    order_id: str
    amount_won: int
    card_token: str


class Gateway(Protocol):
    def charge(self, charge: Charge, idempotency_key: str) -> str: ...


class IdempotencyStore:
    """Remembers which key already led to a payment, so that a repeated request is answered with the first result."""

    def __init__(self) -> None:
        self._payments: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        return self._payments.get(key)

    def remember(self, key: str, payment_id: str) -> None:
        self._payments.setdefault(key, payment_id)


class ChargeService:
    def __init__(self, gateway: Gateway, store: IdempotencyStore, maximum_won: int = 5_000_000) -> None:
        self._gateway = gateway
        self._store = store
        self._maximum_won = maximum_won

    def charge_order(self, charge: Charge) -> str:
        """Charges the order and returns the payment id. The same order is never charged twice."""
        self._check_amount(charge)
        key = f"order-{charge.order_id}"
        earlier = self._store.find(key)
        if earlier is not None:
            return earlier
        payment_id = self._gateway.charge(charge, idempotency_key=key)
        self._store.remember(key, payment_id)
        return payment_id

    def _check_amount(self, charge: Charge) -> None:
        if charge.amount_won <= 0:
            raise ValueError(f"order {charge.order_id}: the amount must be above zero")
        if charge.amount_won > self._maximum_won:
            raise ValueError(f"order {charge.order_id}: {charge.amount_won} won is above {self._maximum_won}")
