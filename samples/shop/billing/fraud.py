"""A first look at orders that smell of fraud."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class VelocityLimit:
    """No more than `most` payments from one card within `window_s` seconds."""

    most: int = 5
    window_s: float = 600.0
    _seen: dict[str, deque[float]] = field(default_factory=dict)

    def allows(self, card_token: str, now_s: float) -> bool:
        times = self._seen.setdefault(card_token, deque())
        while times and now_s - times[0] > self.window_s:
            times.popleft()
        if len(times) >= self.most:
            return False
        times.append(now_s)
        return True


def risk_score(amount_won: int, country_differs: bool, new_customer: bool, night: bool) -> int:
    """0 (harmless) to 100: from 70 on a person looks at the order before it is shipped."""
    score = min(40, amount_won // 50_000)
    score += 30 if country_differs else 0
    score += 20 if new_customer else 0
    score += 10 if night else 0
    return min(100, score)
