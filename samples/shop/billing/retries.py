"""When a payment failed: which failures are tried again, how often, and after how long."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from billing.charges import Charge, ChargeService, GatewayTimeout, PaymentDeclined


@dataclass(frozen=True)
class RetryPolicy:
    attempts: int = 4
    first_delay_s: float = 2.0
    factor: float = 3.0
    longest_delay_s: float = 120.0

    def delay_before(self, attempt: int, rng: random.Random) -> float:
        """Seconds to wait before the given attempt (2 is the first retry): exponential back-off with full jitter."""
        ceiling = min(self.longest_delay_s, self.first_delay_s * self.factor ** (attempt - 2))
        return rng.uniform(0, ceiling)


@dataclass(frozen=True)
class DeadLetter:
    charge: Charge
    reason: str


class PaymentRetrier:
    """Tries failed payments again; gives up on declined cards at once and parks the rest in the dead letter queue."""

    def __init__(self, charges: ChargeService, policy: RetryPolicy, sleep: Callable[[float], None], rng: random.Random):
        self._charges = charges
        self._policy = policy
        self._sleep = sleep
        self._rng = rng
        self.dead_letters: list[DeadLetter] = []

    def collect(self, charge: Charge) -> str | None:
        """Returns the payment id, or None when the payment went to the dead letter queue."""
        for attempt in range(1, self._policy.attempts + 1):
            if attempt > 1:
                self._sleep(self._policy.delay_before(attempt, self._rng))
            try:
                return self._charges.charge_order(charge)
            except PaymentDeclined as declined:
                self.dead_letters.append(DeadLetter(charge, f"declined: {declined}"))
                return None
            except GatewayTimeout:
                continue
        self.dead_letters.append(DeadLetter(charge, f"no answer after {self._policy.attempts} attempts"))
        return None

    def replay_dead_letters(self) -> int:
        """Tries everything in the dead letter queue once more and returns how many payments went through."""
        waiting, self.dead_letters = self.dead_letters, []
        return sum(1 for letter in waiting if self.collect(letter.charge) is not None)
