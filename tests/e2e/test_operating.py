"""What an operator sees of a running bot: health, figures, the Model Context Protocol."""

from __future__ import annotations

import re

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bot.cli_output import local_time
from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi, interrupt

EXTRA = "[mcp]\nenabled = true\n\n"


def test_a_running_bot_tells_what_works_and_counts_what_it_did(tmp_path):
    haechi = Haechi.with_company(tmp_path, EXTRA)
    try:
        process, address = haechi.start_bot()
        assert haechi.run("ingest").returncode == 0
        assert haechi.run("ask", "연차휴가는 며칠인가요?").returncode == 0
        assert httpx.get(f"{address}/healthz").json() == {"status": "ok"}
        ready = httpx.get(f"{address}/readyz").json()
        assert {"catalog", "web"} <= {part["name"] for part in ready["parts"]}
        assert all(part["since"] for part in ready["parts"])
        figures = httpx.get(f"{address}/metrics").text
        assert 'haechi_questions_total{origin="cli",outcome="answered"} 1.0' in figures
        assert 'haechi_stage_seconds_count{stage="embed"} 1.0' in figures
        assert re.search(r'haechi_syncs_total\{source="rules",state="done"\} [1-9]', figures)
        assert 'haechi_queue_length{lane="slow"} 0.0' in figures
        assert 'haechi_part_state{part="catalog"} 1.0' in figures
        assert "haechi_backup_age_seconds +Inf" in figures
        passed_on = {"x-forwarded-for": "203.0.113.9"}
        assert httpx.get(f"{address}/metrics", headers=passed_on).status_code == 401
        assert set(httpx.get(f"{address}/readyz", headers=passed_on).json()) == {"status"}
        assert httpx.get(f"{address}/metrics", headers={"host": "haechi.example.com"}).status_code == 401
        said = httpx.post(
            f"{address}/mcp",
            headers={"accept": "application/json, text/event-stream"},
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        ).json()
        assert {tool["name"] for tool in said["result"]["tools"]} == {"search_docs", "list_docs", "read_article"}
        interrupt(process)
        assert process.returncode == 0
    finally:
        haechi.end()


def test_what_is_not_well_is_shown_with_since_when_everywhere(tmp_path):
    haechi = Haechi.with_company(tmp_path, f'[[channels]]\nplatform = "web"\nid = "general"\n\n{FOLLOWS_NOTHING}')
    try:
        process, address = haechi.start_bot()
        assert haechi.run("ingest").returncode == 0
        assert haechi.run("backup", str(tmp_path / "kept.haechi")).returncode == 0
        (tmp_path / "rules").rename(tmp_path / "elsewhere")  # a mount that fell off
        assert haechi.run("ingest", "--source", "rules").returncode == 1

        form = haechi.json("status", "--json")  # looks anew; /readyz may show what is ten seconds old
        assert form["running"]
        assert form["last_backup"]
        tools = {tool["name"]: tool for tool in form["tools"]}
        assert tools["source:rules"]["state"] == "degraded"
        assert tools["source:shop"]["state"] == "ok"
        since = tools["source:rules"]["since"]
        parts = {part["name"]: part for part in httpx.get(f"{address}/readyz").json()["parts"]}
        assert (parts["source:rules"]["state"], parts["source:rules"]["since"]) == ("degraded", since)
        assert "rules" in parts["source:rules"]["detail"]

        shown = haechi.run("status").stdout
        assert f"source:rules: degraded since {local_time(since)}" in shown
        assert "source:shop" not in shown  # its own lines tell it
        assert "last backup: just now" in shown
        doctor = haechi.run("doctor")
        assert doctor.returncode == 1
        lines = {line[8:].partition(":")[0]: line for line in doctor.stdout.splitlines()}
        assert lines["index rules"].startswith("problem")
        assert "2 documents" in lines["index rules"]  # what was known stays
        assert lines["index shop"].startswith("ok")
        assert lines["backup"].startswith("ok")
        assert lines["web channel general"].startswith("ok")

        families = {
            family.name: family for family in text_string_to_metric_families(httpx.get(f"{address}/metrics").text)
        }
        states = {sample.labels["part"]: sample.value for sample in families["haechi_part_state"].samples}
        assert (states["source:rules"], states["source:shop"]) == (0.5, 1.0)
        failed = [
            s.value for s in families["haechi_syncs"].samples if s.labels == {"source": "rules", "state": "failed"}
        ]
        assert failed == [1.0]
        interrupt(process)
    finally:
        haechi.end()


def test_status_without_a_bot_says_so_and_tells_no_since(tmp_path):
    haechi = Haechi.with_company(tmp_path)
    assert haechi.run("ingest").returncode == 0
    form = haechi.json("status", "--json")
    assert not form["running"]
    assert {tool["since"] for tool in form["tools"]} == {None}
    assert "No bot runs on this data folder now" in haechi.run("status").stdout
