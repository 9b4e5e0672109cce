"""A reranker that is not there when the bot starts, comes, goes and comes back, without a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi
from tests.fakes.reranker_folder import write_reranker
from tests.unit.bot.company import LEAVE, TRAVEL

QUESTION = "연차휴가는 며칠인가요?"


@pytest.fixture
def haechi(tmp_path: Path) -> Iterator[Haechi]:
    made = Haechi.with_company(tmp_path)
    yield made
    made.end()


def state(haechi: Haechi) -> tuple[str, str]:
    (tool,) = [tool for tool in haechi.json("status", "--json")["tools"] if tool["name"] == "reranker"]
    return tool["state"], tool["detail"]


def search(haechi: Haechi) -> tuple[list[str], bool]:
    """What was missing, and whether the results were scored by the reranker."""
    form = haechi.json("search", "--json", QUESTION)
    assert form["results"][0]["document"] == "휴가규정.md"
    assert form["verdict"] == "ok"
    assert form["took_ms"]["rerank"] >= 0
    return form["degraded"], any(result["scores"]["rerank"] is not None for result in form["results"])


def is_without(haechi: Haechi) -> bool:
    degraded, is_scored = search(haechi)
    told = [sentence for sentence in degraded if sentence.startswith("reranker could not be used: ")]
    return len(told) == 1 and not is_scored and state(haechi)[0] == "down"


def is_with(haechi: Haechi) -> bool:
    return search(haechi) == ([], True) and state(haechi)[0] == "ok"


def test_a_folder_that_comes_and_goes_while_the_bot_runs(haechi):
    haechi.configure(f'{FOLLOWS_NOTHING}\n[reranker]\nmodel = "models/tiny"\ntimeout_s = 120.0\n')
    assert haechi.run("ingest").returncode == 0
    place, away = haechi.folder / "models" / "tiny", haechi.folder / "away"
    haechi.start_bot()
    assert is_without(haechi)
    assert "models/tiny is not there: copy model.onnx" in state(haechi)[1]
    assert "15일" in haechi.json("ask", "--json", QUESTION)["answer"]
    write_reranker(place, [LEAVE, TRAVEL, QUESTION])
    assert is_with(haechi)
    assert state(haechi)[1].startswith("tiny/model.onnx, last time ")
    place.rename(away)
    assert is_without(haechi)
    away.rename(place)
    assert is_with(haechi)
    (place / "model.onnx").write_bytes(b"half a file")
    assert is_without(haechi)
    assert "cannot be loaded: copy it again" in state(haechi)[1]
