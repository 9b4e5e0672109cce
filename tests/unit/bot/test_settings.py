"""What is wrong with a configuration is told in one sentence: file, line, key, remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.settings import SMALLEST, Settings, load_settings

BASE = 'data_dir = "data"\n\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "./docs"\n'


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch):
    import os

    for name in list(os.environ):
        if name.startswith("HAECHI_"):
            monkeypatch.delenv(name)


def write(folder: Path, text: str) -> Path:
    file = folder / "haechi.toml"
    file.write_text(text, encoding="utf-8")
    return file


def load(folder: Path, text: str) -> Settings:
    return load_settings(write(folder, text))


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return str(caught.value).removeprefix(str(folder))


def test_the_smallest_configuration_works(tmp_path):
    settings = load(tmp_path, SMALLEST)
    assert settings.data_dir == tmp_path / "data"
    assert [(s.name, s.kind, s.path) for s in settings.sources] == [("rules", "documents", tmp_path / "docs")]
    assert settings.web.host == "127.0.0.1"
    assert settings.model.provider == "none"


def test_relative_paths_start_at_the_configuration_file_wherever_the_command_runs(tmp_path, monkeypatch):
    (tmp_path / "etc").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    settings = load(tmp_path / "etc", BASE.replace("./docs", "../docs"))
    assert settings.sources[0].path == tmp_path / "docs"
    assert settings.data_dir == tmp_path / "etc" / "data"


def test_without_a_file_the_smallest_configuration_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_settings(None)
    assert str(tmp_path) in str(caught.value)
    assert SMALLEST in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BASE + "[web]\nprot = 1\n", ["/haechi.toml:8: web.prot", "did you mean 'port'?"]),
        ('dta_dir = "x"\n' + BASE, ["/haechi.toml:1: dta_dir", "did you mean 'data_dir'?"]),
        (BASE + 'titel = "x"\n', [":7: sources.0.titel", "'title'"]),
        (BASE + "[web]\nport = '80'\n", [":8: web.port must be a whole number, but is text"]),
        (BASE + "[web]\nport = true\n", ["web.port must be a whole number, but is true or false"]),
        (BASE + "[web]\nenabled = 1\n", ["web.enabled must be true or false, but is a whole number"]),
        (BASE + "[web]\nport = 99999\n", ["web.port must be at most 65535"]),
        (BASE + "[model]\nprovider = 'gpt'\n", ["model.provider must be 'none', 'ollama' or 'openai'"]),
        (BASE + "[model]\nprovider = 'ollama'\n", ["model.name is missing"]),
        (BASE + "[embedding]\ncode = [1]\n", ["embedding.code must be a list of texts, but holds a whole number"]),
        (BASE + "[embedding]\nollama_url = 'localhost:1'\n", ["embedding.ollama_url must be an address"]),
        (BASE + "[embedding]\nollama_url = 'http://me:pw@host'\n", ["must not hold a user name or password"]),
        ("web = 3\n" + BASE, ["web must be a section, written [web], but is a whole number"]),
        ("data_dir = 'x'\nsources = 3\n", ["sources must be sections, each written [[sources]]"]),
        ("data_dir = 'x'\n", ["sources is empty"]),
        (BASE.replace('data_dir = "data"\n', ""), ["data_dir is missing"]),
        (BASE + BASE.split("\n\n")[1], ["sources.1.name 'rules' stands twice"]),
        (BASE.replace('"rules"', '"사규"'), [":4: sources.0.name must be a slug"]),
        (BASE.replace('"documents"', '"docs"'), ["sources.0.kind must be 'documents' or 'repository'"]),
        (BASE.replace("path = ", "url = "), ['sources.0.url belongs to kind = "repository"']),
        (BASE + 'branch = "main"\n', ["sources.0.branch belongs to kind = \"repository\""]),
        (BASE + "[web]\nsources = ['rulez']\n", ["web.sources names 'rulez'", "did you mean 'rules'?"]),
        (BASE + "[web]\nhost = '0.0.0.0'\n", [":8: web.host is reachable from other machines", "web.token_env"]),
        ("data_dir = \n", ["is not valid TOML", "line 1"]),
    ],
)  # fmt: skip
def test_what_is_wrong_names_the_key_and_the_remedy(tmp_path, text, words):
    told = complaint(tmp_path, text)
    assert all(word in told for word in words), told
    assert "\n" not in told


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HAECHI_WEB__PORT", "9001")
    monkeypatch.setenv("HAECHI_DATA_DIR", "/somewhere/else")
    settings = load(tmp_path, BASE + "[web]\nport = 9000\n")
    assert settings.web.port == 9001
    assert settings.data_dir == Path("/somewhere/else")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HAECHI_WEB__PORT", "many", "The environment variable HAECHI_WEB__PORT must be a whole number"),
        ("HAECHI_WEB__PROT", "1", "HAECHI_WEB__PROT is not a known setting; did you mean 'HAECHI_WEB__PORT'?"),
    ],
)
def test_a_wrong_environment_variable_is_named(tmp_path, monkeypatch, name, value, words):
    monkeypatch.setenv(name, value)
    assert words in complaint(tmp_path, BASE)


def test_a_token_comes_from_the_environment_or_a_file_and_is_never_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("PAGE_TOKEN", "open-sesame")
    by_env = load(tmp_path, BASE + "[web]\nhost = '0.0.0.0'\ntoken_env = 'PAGE_TOKEN'\n")
    (tmp_path / "token").write_text("open-sesame\n")
    by_file = load(tmp_path, BASE + "[web]\nhost = '0.0.0.0'\ntoken_file = 'token'\n")
    for settings in (by_env, by_file):
        assert settings.web.token is not None
        assert settings.web.token.get_secret_value() == "open-sesame"
        for shown in (repr(settings), str(settings), settings.model_dump_json(), repr(settings.web)):
            assert "open-sesame" not in shown


@pytest.mark.parametrize(
    ("web", "words"),
    [
        ("token_env = 'NOT_SET_ANYWHERE'", "names NOT_SET_ANYWHERE, but that environment variable is not set"),
        ("token_env = 'sk-secret value'", "must be the name of an environment variable, not the secret itself"),
        ("token_file = 'gone'", "web.token_file"),
        ("token_env = 'A'\ntoken_file = 'b'", "token_file and token_env are both set"),
    ],
)
def test_a_token_that_cannot_be_read_is_refused_without_repeating_it(tmp_path, web, words):
    told = complaint(tmp_path, BASE + f"[web]\n{web}\n")
    assert words in told
    assert "sk-secret" not in told


def test_settings_cannot_be_changed(tmp_path):
    from pydantic import ValidationError

    settings = load(tmp_path, BASE)
    with pytest.raises(ValidationError):
        settings.web.port = 1  # type: ignore[misc]


def test_equal_settings_have_an_equal_fingerprint_and_others_do_not(tmp_path):
    first, second = load(tmp_path, BASE), load(tmp_path, BASE + "\n# a comment\n")
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != load(tmp_path, BASE + "[search]\ntop_k = 5\n").fingerprint


def test_values_of_a_config_file_with_a_byte_order_mark_are_read(tmp_path):
    file = tmp_path / "haechi.toml"
    file.write_text(BASE, encoding="utf-8-sig")
    assert load_settings(file).sources[0].name == "rules"


def test_the_page_address_is_the_public_one_where_there_is_one(tmp_path):
    assert load(tmp_path, BASE + "[web]\nport = 8000\n").page_url == "http://127.0.0.1:8000"
    assert load(tmp_path, 'public_url = "https://haechi.example/"\n' + BASE).page_url == "https://haechi.example"


SOURCE = '\n[[sources]]\nname = "more"\nkind = "documents"\npath = "{path}"\n'


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"data"', '""', "data_dir is empty"),
        ('"./docs"', '""', "sources.0.path is empty"),
        ('"data"', '"~nosuchuser/x"', "data_dir begins with ~ and a user that this machine does not have"),
        ('"data"', '"a\\u0000b"', "data_dir holds a NUL character"),
        ('"./docs"', '"a\\u0000b"', "sources.0.path holds a NUL character"),
        ('"./docs"', '"./data/inside"', "sources.0.path lies in data_dir"),
        ('"./docs"', '"./docs"\ninclude = ["*.md", "!"]', "sources.0.include holds '!', which is no pattern"),
        ('"./docs"', '"./docs"\nexclude = ["\\\\"]', "sources.0.exclude holds '\\\\', which is no pattern"),
        ('"./docs"', '"./docs"\nlink_template = "https://w/{path}"', "link_template has the unknown field {path}"),
        ('"./docs"', '"./docs"\nlink_template = "https://[w/{uri}"', "link_template must be an address"),
        ('"./docs"', '"./docs"\nlink_template = "https://w/{uri"', "link_template has a brace without its counterpart"),
        ('"./docs"', '"./docs"\nlink_template = "{uri}"', "link_template must be an address"),
        ('"./docs"', '"./docs"\n[embedding]\ndocuments = ["hash", "hash"]', "embedding.documents names 'hash' twice"),
        ('"./docs"', '"./docs"\n[model]\nurl = "http://[x"', "model.url must be an address"),
        ('"./docs"', '"./docs"' + SOURCE.format(path="docs/hr"), "sources.1.path overlaps with that of source 'rules'"),
        ('"./docs"', '"./docs"' + SOURCE.format(path="./docs"), "exclude (or include) of source 'rules'"),
        ('"./docs"', '"./docs"' + SOURCE.format(path="."), "exclude (or include) of source 'more'"),
    ],
)
def test_what_cannot_work_is_refused_with_its_line_and_key(tmp_path, old, new, says):
    found = complaint(tmp_path, BASE.replace(old, new))
    assert says in found
    assert found.startswith("/haechi.toml:")
    assert "\n" not in found


def test_sources_may_share_a_folder_when_patterns_tell_them_apart(tmp_path):
    shared = BASE + 'exclude = ["/hr/"]\n' + SOURCE.format(path="docs/hr")
    assert [source.name for source in load(tmp_path, shared).sources] == ["rules", "more"]
    both = BASE + '\n[[sources]]\nname = "code"\nkind = "repository"\npath = "./docs"\n'
    assert len(load(tmp_path, both).sources) == 2


@pytest.mark.parametrize("token", ["비밀번호", "two words", "caf\u00e9"])
def test_a_token_that_no_header_can_carry_is_refused_without_being_shown(tmp_path, monkeypatch, token):
    monkeypatch.setenv("PAGE_TOKEN", token)
    found = complaint(tmp_path, BASE + '[web]\ntoken_env = "PAGE_TOKEN"\n')
    assert "PAGE_TOKEN (web.token_env) holds a blank or a character outside ASCII" in found
    assert "openssl rand -hex 24" in found
    assert token not in found


@pytest.mark.parametrize(("host", "address"), [("0.0.0.0", "http://127.0.0.1:8765"), ("::", "http://[::1]:8765")])
def test_the_page_of_every_address_has_one_that_works(tmp_path, monkeypatch, host, address):
    monkeypatch.setenv("PAGE_TOKEN", "s3cret")
    settings = load(tmp_path, BASE + f'[web]\nhost = "{host}"\ntoken_env = "PAGE_TOKEN"\n')
    assert settings.page_url == address
