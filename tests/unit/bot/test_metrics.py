"""Every figure that the dashboard and the alert rules use exists."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot.answering import Outcome
from bot.errors import ModelTimeout
from bot.inbox import Inbox
from bot.metrics import Metrics, Snapshot
from bot.store import Store
from bot.types import Answer, Job, Refusal
from knowledge.types import Evidence, FailedItem, SourceStatus, ToolStatus, Verdict
from tests.unit.bot.messages import message

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
JOB = Job(
    number=1, source="rules", force=False, state="done", requested_by=("schedule",), requested_at=NOW,
    duration_s=2.0, counts={"added": 3, "failed": 1},
)  # fmt: skip
WEAK = Verdict(decision="weak", reason="low", probability=0.3)
OUTCOME = Outcome(
    answer=Answer(text="", citations=(), refusal=Refusal(reason="weak_evidence", detail="low"), verdict=WEAK, route="docs"),
    evidence=Evidence(
        query="q", chunks=(), verdict=WEAK, route="docs", took_ms={"total": 40.0, "embed": 10.0, "keyword": 2.0},
        tools=(ToolStatus(name="dense:e5", state="down", detail="no answer", checked_at=NOW),),
        degraded=("embedder e5 could not be used",),
    ),
    question="q", language="ko",
)  # fmt: skip


def status(source: str, last_sync: datetime | None) -> SourceStatus:
    return SourceStatus(
        source=source, title=source, kind="documents", documents=12, chunks=90, pending={"e5": 7},
        failed=(FailedItem(uri="a.hwp", reason="encrypted"),), skipped={}, last_sync=last_sync, revision=None,
        embedders=("e5",), calibrated=True,
    )  # fmt: skip


SNAPSHOT = Snapshot(
    parts={"catalog": "ok", "slack": "down", "model:m": "degraded"},
    sources=(status("rules", NOW - timedelta(hours=2)), status("shop", None)),
    last_backup_at=NOW - timedelta(days=1),
)


@pytest.fixture
def metrics(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=lambda: NOW)
    Inbox(store, clock=lambda: NOW).save(message())
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
        assert family.name in shown or family.name.startswith("process_"), family.name
    assert "process_resident_memory_bytes" in shown


def busy(metrics: Metrics) -> str:
    """The exposition after one of everything has happened."""
    metrics.stage("queue", 0.2)
    metrics.model_called("qwen3:8b", 1.5, None)
    metrics.model_called("qwen3:8b", 30.0, ModelTimeout("too slow"))
    metrics.alert_taken("skipped: no alert in it")
    metrics.requested("/c/{channel_id}", 200, 0.01)
    metrics.answered(OUTCOME, "slack", 120.0)
    metrics.job_ended(JOB)
    return metrics.render(SNAPSHOT).decode()


def samples(text: str) -> dict[str, list[dict[str, str]]]:
    """name of each sample -> the labels of its lines."""
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(dict(sample.labels))
    return found


def test_the_exposition_is_what_prometheus_reads(metrics):
    text = busy(metrics)
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert text.endswith("\n")
    assert {family.type for family in families.values()} == {"counter", "gauge", "histogram"}
    assert all(family.documentation for family in families.values())
    assert len(re.findall("^# TYPE", text, re.MULTILINE)) == len(families)  # no family stands twice
    lines = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == len(set(lines))
    for name, family in families.items():
        for sample in family.samples if family.type == "histogram" else ():
            if sample.name == f"{name}_bucket" and sample.labels["le"] == "+Inf":
                rest = {key: value for key, value in sample.labels.items() if key != "le"}
                assert sample.value == next(
                    s.value for s in family.samples if s.name == f"{name}_count" and s.labels == rest
                )


@pytest.mark.parametrize("file", ["grafana-dashboard.json", "alert-rules.yml"])
def test_labels_and_their_values_that_are_asked_for_are_given(metrics, file):
    given = samples(busy(metrics))
    text = (DEPLOY / file).read_text(encoding="utf-8").replace('\\"', '"')
    asked = re.findall(r"(haechi_[a-z_]+)\{([^}]*)\}", text)
    assert asked
    for name, matchers in asked:
        for label, operator, value in re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', matchers):
            values = {labels.get(label) for labels in given[name]}
            assert None not in values, (name, label)
            if operator == "=" and label in ("lane", "stage"):
                assert value in values, (name, label, value)
    for by, name in re.findall(r"by \(([\w, ]+)\) \((?:rate|increase)\((haechi_[a-z_]+)", text):
        for label in by.split(", "):
            assert all(label in labels for labels in given[name]), (name, label)


def test_rules_say_how_bad_and_for_how_long_and_name_only_labels_that_they_have(metrics):
    given = samples(busy(metrics))
    (group,) = yaml.safe_load((DEPLOY / "alert-rules.yml").read_text(encoding="utf-8"))["groups"]
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"]) >= 12
    for rule in group["rules"]:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert re.fullmatch(r"\d+[mh]", rule["for"])
        assert rule["expr"].count("(") == rule["expr"].count(")")
        grouped = re.search(r"by \(([\w, ]+)\)", rule["expr"])
        names = re.findall(r"\bhaechi_[a-z_]+", rule["expr"])
        has = set(grouped[1].split(", ")) if grouped else {k for n in names for labels in given[n] for k in labels}
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= has, rule["alert"]


@pytest.mark.parametrize("guide", ["operations.md", "operations.ko.md"])
def test_the_guide_says_what_to_do_about_every_rule(guide):
    (group,) = yaml.safe_load((DEPLOY / "alert-rules.yml").read_text(encoding="utf-8"))["groups"]
    told = re.findall(r"`(Haechi\w+)`", (DEPLOY.parent / "docs" / guide).read_text(encoding="utf-8"))
    assert sorted(told) == sorted(rule["alert"] for rule in group["rules"])


def test_what_models_and_tools_did_is_counted(metrics):
    text = busy(metrics)
    for line in (
        'haechi_model_calls_total{model="qwen3:8b",outcome="answered"} 1.0',
        'haechi_model_calls_total{model="qwen3:8b",outcome="ModelTimeout"} 1.0',
        'haechi_stage_seconds_count{stage="model"} 2.0',
        'haechi_stage_seconds_sum{stage="queue"} 0.2',
        'haechi_tool_errors_total{tool="dense:e5"} 1.0',
        'haechi_alerts_total{outcome="skipped"} 1.0',
        'haechi_http_requests_total{route="/c/{channel_id}",status="200"} 1.0',
        'haechi_questions_total{origin="slack",outcome="weak_evidence"} 1.0',
        "haechi_searches_degraded_total 1.0",
    ):
        assert line in text
    assert "process_resident_memory_bytes" in text


def test_ages_and_states_are_those_of_the_moment(metrics):
    text = metrics.render(SNAPSHOT).decode()
    for line in (
        'haechi_part_state{part="slack"} 0.0', 'haechi_part_state{part="model:m"} 0.5',
        'haechi_index_age_seconds{source="rules"} 7200.0', 'haechi_index_age_seconds{source="shop"} +Inf',
        'haechi_documents{source="rules",state="indexed"} 12.0', 'haechi_documents{source="rules",state="failed"} 1.0',
        'haechi_vectors_pending{source="rules"} 7.0', "haechi_backup_age_seconds 86400.0",
    ):  # fmt: skip
        assert line in text


def test_a_sync_is_counted_with_what_it_did(metrics):
    metrics.job_ended(JOB)
    text = metrics.render(Snapshot()).decode()
    assert 'haechi_sync_documents_total{change="added",source="rules"} 3.0' in text
    assert 'haechi_syncs_total{source="rules",state="done"} 1.0' in text
