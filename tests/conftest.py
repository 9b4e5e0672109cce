"""What holds for every test: generated input is the same on every machine, and a slow machine fails no test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "haechi", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("haechi")
