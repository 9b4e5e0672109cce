"""Proxies of the environment reach the sources that are fetched, and nothing prints them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.settings import load_settings

CONFIG = """data_dir = "data"

[[sources]]
name = "shop"
kind = "repository"
url = "https://git.example.com/shop.git"
"""


@pytest.mark.parametrize("spelling", [str.upper, str.lower])
def test_proxies_of_the_environment_reach_fetched_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: Callable[[str], str]
) -> None:
    for name in ("https_proxy", "http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv(spelling("https_proxy"), "http://mina:wordword7@proxy.corp:3128")
    monkeypatch.setenv(spelling("no_proxy"), "git.corp,127.0.0.1")
    (tmp_path / "haechi.toml").write_text(CONFIG)
    settings = load_settings(tmp_path / "haechi.toml")
    (source,) = settings.source_configs()
    assert source.remote is not None
    assert source.remote.proxies == {
        "https_proxy": "http://mina:wordword7@proxy.corp:3128",
        "no_proxy": "git.corp,127.0.0.1",
    }
    assert "wordword7" not in repr(source) + repr(settings) + settings.model_dump_json()
