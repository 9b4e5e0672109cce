"""What an operator sees of a running bot: health, figures, the Model Context Protocol."""

from __future__ import annotations

import re

import httpx

from tests.e2e.haechi import Haechi, interrupt

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
