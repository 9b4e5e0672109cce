"""`[[sources]]` of repositories: what belongs together, what is refused and with what remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.settings import Settings, load_settings

HEAD = 'data_dir = "data"\n\n[[sources]]\nname = "code"\nkind = "repository"\n'


def load(folder: Path, text: str) -> Settings:
    (folder / "haechi.toml").write_text(HEAD + text, encoding="utf-8")
    return load_settings(folder / "haechi.toml")


@pytest.mark.parametrize(("text", "words"), [
    ("", "path is missing: set path (a clone here), url (one repository), github"),
    ('url = "https://h/a/b"\npath = "x"', "url and path are both set"),
    ('github = "acme"\ngitlab = "acme"', "gitlab and github are both set"),
    ('url = "https://me:pw@h/a/b"', "url holds credentials"),
    ('url = "https://token@h/a/b"', "remove them and set token_env or token_file"),
    ('url = "ext::sh -c id"', "url must be https://"),
    ('url = "git://h/a/b"', "url must be https://"),
    ('url = "--upload-pack=x"', "url must be https://"),
    ('url = "http://h/a/b"\ntoken_env = "T"', "url would send the token unencrypted"),
    ('github = "acme"\nbase_url = "http://h"\ntoken_env = "T"', "base_url would send the token unencrypted"),
    ('github = "acme"\nbase_url = "https://me:pw@h"', "must not hold a user name or password"),
    ('github = "https://github.com/acme"', 'github must be the name of an organisation or user, as in "acme"'),
    ('gitlab = "https://gitlab.com/acme"', "gitlab must be the path of a group"),
    ('path = "x"\ntoken_env = "T"', "token_env is for repositories that are fetched"),
    ('url = "https://h/a/b"\narchived = true', "archived is for github and gitlab"),
    ('url = "https://h/a/b"\nrepositories = ["x"]', "repositories is for github and gitlab"),
    ('gitlab = "acme"\napp_id = "1"', "app_id is for github"),
    ('github = "acme"\napp_id = "1"', "app_id needs app_key_file"),
    ('github = "acme"\napp_key_file = "k"', "app_key_file needs app_id"),
    ('github = "acme"\napp_id = "1"\napp_key_file = "k"\ntoken_env = "T"', "keep one way to log in"),
    ('url = "https://h/a/b"\nssh_key_file = "k"', "ssh_key_file is for addresses such as git@host"),
    ('url = "git@h:a/b"\ntoken_env = "T"', "token_env is for https"),
    ('github = "acme"\ntoken_env = "ghp-not-a-name"', "must be the name of an environment variable"),
    ('path = "x"\nhost_kind = "svn"', "host_kind must be"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert words in str(raised.value)
    assert "haechi.toml:" in str(raised.value)
    assert "pw@" not in str(raised.value)


def test_keys_of_repositories_do_not_belong_to_documents(tmp_path: Path) -> None:
    for line in ('url = "https://h/a/b"', 'github = "acme"', 'path = "x"\nhost_kind = "gitea"'):
        with pytest.raises(ConfigError, match='belongs to kind = "repository"'):
            _load_documents(tmp_path, line)


def _load_documents(folder: Path, line: str) -> Settings:
    (folder / "haechi.toml").write_text(HEAD.replace("repository", "documents") + line, encoding="utf-8")
    return load_settings(folder / "haechi.toml")


def test_an_organisation_with_an_app_reaches_knowledge_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.pem").write_text("-----BEGIN KEY-----\nline two\n-----END KEY-----\n")
    settings = load(
        tmp_path,
        'github = "acme"\nbase_url = "https://ghe.acme.com"\napp_id = "7"\napp_key_file = "app.pem"\nforks = true\n'
        'repositories = ["shop-*"]\nexclude_repositories = ["*-old"]\nbranch = "main"\nca_file = "ca.pem"\n',
    )
    (config,) = settings.source_configs()
    remote = config.remote
    assert remote is not None
    assert (remote.github, remote.app_id, remote.forks, remote.archived) == ("acme", "7", True, False)
    assert remote.app_key is not None
    assert remote.app_key.count("\n") == 2
    assert (remote.repositories, remote.exclude_repositories) == (("shop-*",), ("*-old",))
    assert remote.ca_file == tmp_path / "ca.pem"
    assert config.place == "acme on https://ghe.acme.com"
    assert "line two" not in repr(config)
    assert "line two" not in settings.model_dump_json()


def test_a_token_is_read_from_its_variable_and_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "tok" + os.urandom(9).hex()
    monkeypatch.setenv("SHOP_TOKEN", token)
    settings = load(tmp_path, 'url = "https://git.example.com/a/b.git"\ntoken_env = "SHOP_TOKEN"\n')
    (config,) = settings.source_configs()
    assert config.remote is not None
    assert config.remote.token == token
    assert token not in repr(config) + repr(settings) + settings.model_dump_json()
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(ConfigError, match="SHOP_TOKEN, but that environment variable is not set"):
        load(tmp_path, 'url = "https://git.example.com/a/b.git"\ntoken_env = "SHOP_TOKEN"\n')
