"""`[retention]` and `[metrics]`: how long records are kept, and who may read figures and details of health."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from bot.settings_check import Problem
from bot.settings_sections import Section

SHORTEST_DELIVERIES_DAYS = 31  # platforms are caught up with for 30 days at most


class RetentionSettings(Section):
    """`[retention]`: days; 0 keeps everything."""

    questions_days: int = Field(default=365, ge=0, le=36_500)
    feedback_days: int = Field(default=730, ge=0, le=36_500)
    audit_days: int = Field(default=1095, ge=0, le=36_500)
    posts_days: int = Field(default=0, ge=0, le=36_500)
    deliveries_days: int = Field(default=90, ge=0, le=36_500)

    @model_validator(mode="after")
    def _long_enough(self) -> Self:
        if 0 < self.deliveries_days < SHORTEST_DELIVERIES_DAYS:
            raise Problem(
                "deliveries_days",
                f"must be 0 or at least {SHORTEST_DELIVERIES_DAYS}: what comes a second time would be answered twice",
            )
        return self


class MetricsSettings(Section):
    """`[metrics]`: without a token, figures and details of health are for callers on this machine alone."""

    enabled: bool = True
    token_env: str | None = None
    token_file: Path | None = None

    SECRETS: ClassVar[tuple[str, ...]] = ("token",)
