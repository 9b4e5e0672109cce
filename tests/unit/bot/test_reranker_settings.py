"""`[reranker]`: what is refused, what becomes of it, and what `haechi doctor` says of it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bot.doctor_reranker import check_reranker
from bot.errors import ConfigError
from bot.services import knowledge_config
from bot.settings import Settings, load_settings
from tests.emulators.reranker import RerankServer
from tests.fakes.reranker_folder import write_reranker


def load(folder: Path, reranker: str) -> Settings:
    (folder / "rules").mkdir(exist_ok=True)
    text = 'data_dir = "data"\n\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "rules"\n\n'
    (folder / "haechi.toml").write_text(f"{text}[reranker]\n{reranker}\n", encoding="utf-8")
    return load_settings(folder / "haechi.toml")


@pytest.mark.parametrize(
    ("reranker", "says"),
    [
        ('model = "m"\nurl = "http://host:8080"', r"reranker\.url and reranker\.model are both set"),
        ('url = "host:8080"', r"reranker\.url must be an address that begins with http"),
        ('url = "http://me:secret@host"', r"must not hold a user name"),
        ('name = "bge"', r"reranker\.name .* but reranker\.url is not set"),
        ('model = "m"\ntoken_env = "T"', r"haechi.toml:10: reranker\.token_env .* reranker\.url is not set"),
        (
            'url = "http://host"\ntoken_env = "NOT_SET_HERE"',
            "names NOT_SET_HERE, but that environment variable is not set",
        ),
        ('modle = "m"', "did you mean 'model'"),
        ("candidates = 1", r"reranker\.candidates must be at least 2"),
        ("weight = 0.0", r"reranker\.weight must be more than 0"),
        ("timeout_s = 0", r"reranker\.timeout_s must be more than 0"),
        ("max_tokens = 63", r"reranker\.max_tokens must be at least 64"),
        ('model = ""', r"reranker\.model is empty"),
    ],
)
def test_what_cannot_work_is_refused_with_line_key_and_remedy(tmp_path, reranker, says):
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, reranker)


def test_a_folder_that_is_not_there_yet_is_no_reason_not_to_start(tmp_path):
    config = knowledge_config(load(tmp_path, 'model = "models/bge"')).reranker
    assert config is not None
    assert config.model == tmp_path / "models" / "bge"  # from the folder of the configuration


def test_without_a_section_there_is_none(tmp_path):
    assert knowledge_config(load(tmp_path, "")).reranker is None


def test_a_token_that_is_replaced_in_its_file_is_the_one_that_is_sent(tmp_path):
    (tmp_path / "token").write_text("old\n", encoding="utf-8")
    config = load(tmp_path, 'url = "http://host"\ntoken_file = "token"').reranker.config()
    assert config is not None
    assert config.token() == "old"
    (tmp_path / "token").write_text("new\n", encoding="utf-8")
    assert config.token() == "new"


# --- haechi doctor --------------------------------------------------------------------------------


def test_doctor_says_how_long_a_question_waits_for_it(tmp_path):
    write_reranker(tmp_path / "bge", ["숙박비 출장"])
    ticks = itertools.count(0.0, 0.25)
    (check,) = check_reranker(
        load(tmp_path, 'model = "bge"\ncandidates = 7\ntimeout_s = 120.0'), now_s=lambda: next(ticks)
    )
    assert (check.ok, check.detail, check.remedy) == (True, "bge/model.onnx, 250 ms for 7 passages", "")


def test_doctor_measures_a_server_too(tmp_path):
    with RerankServer(style="tei") as server:
        (check,) = check_reranker(load(tmp_path, f'url = "{server.url}"\ntimeout_s = 120.0'))
    assert check.ok
    assert f"The reranker at {server.url}" in check.detail
    assert "ms for 20 passages" in check.detail
    assert len(server.received[-1].body["texts"]) == 20


@pytest.mark.parametrize(
    ("reranker", "says"),
    [('model = "gone"', "gone is not there: copy model.onnx"), ('url = "http://127.0.0.1:1"', "cannot be reached")],
)
def test_doctor_says_what_is_wrong_and_that_questions_are_answered_meanwhile(tmp_path, reranker, says):
    (check,) = check_reranker(load(tmp_path, reranker))
    assert not check.ok
    assert says in check.detail
    assert "usual order meanwhile" in check.remedy


def test_doctor_says_that_none_is_configured_and_that_this_is_no_problem(tmp_path):
    (check,) = check_reranker(load(tmp_path, ""))
    assert check.ok
    assert "none configured" in check.detail
