"""How `haechi jobs` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.cli_output import Text, console, local_time
from bot.terminal_text import one_line

_STYLES = {"done": "green", "running": "cyan", "failed": "red", "interrupted": "yellow", "cancelled": "yellow"}


def print_jobs(jobs: Sequence[Mapping[str, Any]]) -> None:
    """One line a job, the newest first."""
    for job in jobs:
        parts = [f"{job['job']}", job["source"], job["state"] + (" (force)" if job["force"] else "")]
        parts.append(f"asked for by {', '.join(job['requested_by'])} at {local_time(job['requested_at'])}")
        if job["duration_s"] is not None:
            parts.append(f"{job['duration_s']:.1f} s")
        if job["counts"]:
            parts.append(", ".join(f"{count} {name}" for name, count in job["counts"].items() if count) or "no change")
        if step := job["progress"]:
            parts.append(f"{step['stage']} {step['done']}" + (f"/{step['total']}" if step["total"] else ""))
        if job["reason"]:
            parts.append(job["reason"])
        console().print(Text(one_line("  ".join(parts)), style=_STYLES.get(job["state"], "")))
    if not jobs:
        console().print(Text("No sync has run yet."))
