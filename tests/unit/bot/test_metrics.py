"""Every figure that the dashboard and the alert rules use exists."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.metrics import Metrics, Snapshot
from bot.store import Store
from bot.types import Job

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def metrics(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=lambda: NOW)
    yield Metrics(store, clock=lambda: NOW)
    store.close()


def names(metrics: Metrics) -> set[str]:
    families = list(metrics.registry.collect())
    with_suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}
    return {family.name + suffix for family in families for suffix in with_suffixes[family.type]}


@pytest.mark.parametrize("file", ["grafana-dashboard.json", "alert-rules.yml"])
def test_every_figure_that_is_used_exists(metrics, file):
    text = (DEPLOY / file).read_text(encoding="utf-8")
    used = set(re.findall(r"\bhaechi_[a-z_]+", text))
    assert len(used) > 8
    assert used <= names(metrics)


def test_the_dashboard_shows_every_figure(metrics):
    shown = (DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8")
    assert len(json.loads(shown)["panels"]) >= 10
    for family in metrics.registry.collect():
        assert family.name in shown, family.name


def test_ages_and_states_are_those_of_the_moment(metrics):
    snapshot = Snapshot(
        parts={"catalog": "ok", "slack": "down", "model:m": "degraded"},
        synced_at={"rules": NOW - timedelta(hours=2), "shop": None},
        last_backup_at=NOW - timedelta(days=1),
    )
    text = metrics.render(snapshot).decode()
    for line in (
        'haechi_part_state{part="slack"} 0.0', 'haechi_part_state{part="model:m"} 0.5',
        'haechi_index_age_seconds{source="rules"} 7200.0', 'haechi_index_age_seconds{source="shop"} +Inf',
        "haechi_backup_age_seconds 86400.0",
    ):  # fmt: skip
        assert line in text


def test_a_sync_is_counted_with_what_it_did(metrics):
    job = Job(
        number=1, source="rules", force=False, state="done", requested_by=("schedule",), requested_at=NOW,
        duration_s=2.0, counts={"added": 3, "failed": 1},
    )  # fmt: skip
    metrics.job_ended(job)
    text = metrics.render(Snapshot()).decode()
    assert 'haechi_sync_documents_total{change="added",source="rules"} 3.0' in text
    assert 'haechi_syncs_total{source="rules",state="done"} 1.0' in text
