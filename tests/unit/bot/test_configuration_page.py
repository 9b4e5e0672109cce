"""docs/configuration.md and the settings name the same keys, kinds, defaults and variables."""

from __future__ import annotations

import re
from pathlib import Path

from bot.settings import ENV_PREFIX, Settings
from bot.settings_check import setting_keys

PAGE = Path(__file__).resolve().parents[3] / "docs" / "configuration.md"
ROW = re.compile(
    r"^\| `([a-z_.\[\]]+)` \|\s*([^|]*?)\s*\|\s*([^|]*?)\s*\|\s*([^|]*?)\s*\|\s*([^|]*?)\s*\|$", re.MULTILINE
)


def documented() -> dict[str, tuple[str, str, str, str]]:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return {row[0]: (row[1], row[2].strip("`"), row[3].strip("`"), row[4]) for row in rows}


def test_the_page_names_every_key_and_no_other():
    assert list(documented()) == [key.path for key in setting_keys(Settings, ENV_PREFIX)]


def test_the_page_tells_the_kind_and_the_environment_variable_of_every_key():
    page = documented()
    for key in setting_keys(Settings, ENV_PREFIX):
        kind, default, env, meaning = page[key.path]
        assert kind == key.kind, key.path
        assert env == (key.env or ""), key.path
        assert (default == "required") == key.required, key.path
        assert len(meaning) > 10, key.path


def test_the_page_tells_the_defaults():
    page = documented()
    for key in setting_keys(Settings, ENV_PREFIX):
        if not key.required and key.default not in (None, (), ""):
            shown = str(key.default).lower() if isinstance(key.default, bool) else str(key.default)
            assert page[key.path][1] == shown, key.path
