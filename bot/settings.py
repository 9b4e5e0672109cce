"""Settings from haechi.toml and the environment: read once, checked, frozen.

This is the only module that reads the environment. What is wrong is told in one sentence that names the file, the
line, the key and the remedy; values are never repeated, because a secret may stand where it does not belong.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from bot.errors import ConfigError
from bot.settings_check import (
    Problem,
    check_environment,
    check_places,
    check_table,
    first_problem,
    line_of,
    nearest,
    require_distinct,
    require_link_template,
    require_patterns,
    require_url,
)
from knowledge.types import SourceConfig

CONFIG_NAME = "haechi.toml"
ENV_PREFIX = "HAECHI_"
SMALLEST = """data_dir = "data"

[[sources]]
name = "rules"            # a slug; Korean titles go into title
kind = "documents"        # or "repository"
path = "./docs"
"""

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Section(BaseModel):
    """A part of the configuration; docs/configuration.md says what its keys mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceSettings(Section):
    """One `[[sources]]` entry."""

    name: str
    kind: Literal["documents", "repository"]
    path: Path | None = None
    url: str | None = None
    title: str | None = None
    branch: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    link_template: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not _SLUG.fullmatch(self.name):
            raise Problem("name", "must be a slug: a-z, 0-9, '.', '_' or '-', at most 64; other names go into title")
        if self.url is not None:
            raise Problem("url", "is not supported yet: this version reads local folders and clones, so set path")
        if self.path is None:
            raise Problem("path", "is missing: the folder with the documents, or the local clone of the repository")
        if self.branch is not None and self.kind != "repository":
            raise Problem("branch", 'belongs to kind = "repository"; remove it')
        require_patterns("include", self.include)
        require_patterns("exclude", self.exclude)
        if self.link_template is not None:
            require_link_template("link_template", self.link_template)
        return self


class EmbeddingSettings(Section):
    """`[embedding]`: None stands for the embedders that were measured to be best."""

    documents: tuple[str, ...] | None = None
    code: tuple[str, ...] | None = None
    ollama_url: str = "http://127.0.0.1:11434"
    vector_cache: Path | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_url("ollama_url", self.ollama_url)
        require_distinct("documents", self.documents or ())
        require_distinct("code", self.code or ())
        return self


class IngestSettings(Section):
    """`[ingest]`."""

    workers: int = Field(default=2, ge=1, le=64)
    at_start: bool = True
    file_time_limit_s: float = Field(default=600.0, ge=1.0)
    file_memory_limit_mb: int = Field(default=2000, ge=300)


class ModelSettings(Section):
    """`[model]`."""

    provider: Literal["none", "ollama"] = "none"
    url: str = "http://127.0.0.1:11434"
    name: str = ""
    num_ctx: int = Field(default=8192, ge=1024, le=1_048_576)
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    first_token_timeout_s: float = Field(default=120.0, gt=0)
    total_timeout_s: float = Field(default=300.0, gt=0)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_url("url", self.url)
        if self.provider != "none" and not self.name:
            raise Problem("name", 'is missing: the model to use, for example "qwen3:8b"')
        return self


class WebSettings(Section):
    """`[web]`: `sources` None means all of them."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: int = Field(default=8765, ge=0, le=65535)
    token_env: str | None = None
    token_file: Path | None = None
    sources: tuple[str, ...] | None = None
    allowed_hosts: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    _token: SecretStr | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.token_env is not None and self.token_file is not None:
            raise Problem("token_file", "and token_env are both set; keep one of them")
        if self.token_env is not None and not _ENV_NAME.fullmatch(self.token_env):
            raise Problem("token_env", "must be the name of an environment variable, not the token itself")
        return self

    @property
    def token(self) -> SecretStr | None:
        """The page token, read when the settings were loaded."""
        return self._token

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


class SearchSettings(Section):
    """`[search]`."""

    top_k: int = Field(default=8, ge=1, le=100)


class AnswerSettings(Section):
    """`[answers]`."""

    concurrency: int = Field(default=2, ge=1, le=32)
    max_question_chars: int = Field(default=4000, ge=50, le=100_000)
    persona: Path | None = None


class ChromaSettings(Section):
    """`[chroma]`: without a url it runs inside this process."""

    url: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.url is not None:
            require_url("url", self.url)
        return self


class LogSettings(Section):
    """`[log]`."""

    level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(BaseSettings):
    """Everything that can be set. `config_file` is where it was read."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", env_ignore_empty=True
    )

    data_dir: Path
    public_url: str | None = None
    sources: tuple[SourceSettings, ...] = ()
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    ingest: IngestSettings = Field(default_factory=IngestSettings)
    model: ModelSettings = Field(default_factory=ModelSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    answers: AnswerSettings = Field(default_factory=AnswerSettings)
    chroma: ChromaSettings = Field(default_factory=ChromaSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    _config_file: Path = PrivateAttr(default=Path(CONFIG_NAME))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.sources:
            raise Problem("sources", "is empty: add at least one [[sources]] entry with name, kind and path")
        names: list[str] = []
        for number, source in enumerate(self.sources):
            if source.name in names:
                raise Problem(
                    f"sources.{number}.name", f"{source.name!r} stands twice; every source needs its own name"
                )
            names.append(source.name)
        for name in self.web.sources or ():
            if name not in names:
                raise Problem("web.sources", f"names {name!r}, which no [[sources]] entry has{nearest(name, names)}")
        if self.public_url is not None:
            require_url("public_url", self.public_url)
        if self.web.enabled and not self.web.is_loopback and not (self.web.token_env or self.web.token_file):
            raise Problem(
                "web.host", "is reachable from other machines, so web.token_env or web.token_file must be set as well"
            )
        return self

    @property
    def config_file(self) -> Path:
        return self._config_file

    @property
    def page_url(self) -> str:
        """The address under which readers open the page, without a final slash."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.web.host, self.web.host)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.web.port}"

    @property
    def fingerprint(self) -> str:
        """Equal for equal settings: tells a command that a running process was started with other ones."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def source_configs(self) -> tuple[SourceConfig, ...]:
        """The sources as `knowledge` wants them."""
        return tuple(SourceConfig(**{name: getattr(s, name) for name in type(s).model_fields}) for s in self.sources)


def load_settings(config: Path | None) -> Settings:
    """The settings of `config`, or of haechi.toml in the current folder. Raises ConfigError."""
    file = (config or Path(CONFIG_NAME)).expanduser()
    text = _read(file, explicit=config is not None)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from error
    problem = check_table(table, Settings) or check_environment(os.environ, Settings, ENV_PREFIX)
    if problem is not None:
        raise ConfigError(_sentence(file, text, problem))
    try:
        settings = Settings(**table)
    except ValidationError as error:
        raise ConfigError(_sentence(file, text, first_problem(error, os.environ, ENV_PREFIX))) from None
    except SettingsError as error:
        raise ConfigError(f"An environment variable that begins with {ENV_PREFIX} cannot be read: {error}.") from None
    try:
        resolved = _with_absolute_paths(settings, file.absolute().parent)
        problem = check_places(resolved.data_dir, resolved.sources)
    except Problem as error:
        problem = error
    if problem is not None:
        raise ConfigError(_sentence(file, text, problem))
    resolved._config_file = file
    resolved.web._token = _read_secret(resolved.web, os.environ, file)
    return resolved


def _read(file: Path, *, explicit: bool) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        where = f"{file} does not exist" if explicit else f"There is no {CONFIG_NAME} in {Path.cwd()}"
        raise ConfigError(f"{where}; the smallest one that works is:\n\n{SMALLEST}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error


def _sentence(file: Path, text: str, problem: Problem) -> str:
    end = "" if problem.says.endswith("?") else "."
    if problem.env is not None:
        return f"The environment variable {problem.env} {problem.says}{end}"
    line = line_of(text, problem.key)
    return f"{file}{f':{line}' if line else ''}: {problem.key} {problem.says}{end}"


def _with_absolute_paths(settings: Settings, folder: Path) -> Settings:
    """A copy in which every relative path starts at the folder of the configuration file. Raises Problem."""

    def absolute(model: BaseModel, path: str) -> dict[str, Any]:
        update: dict[str, Any] = {}
        for name in type(model).model_fields:
            value, key = getattr(model, name), f"{path}{name}"
            if isinstance(value, Path):
                update[name] = Path(os.path.normpath(folder / _expanded(value, key)))
            elif isinstance(value, BaseModel):
                update[name] = value.model_copy(update=absolute(value, f"{key}."))
            elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
                update[name] = tuple(
                    item.model_copy(update=absolute(item, f"{key}.{n}.")) for n, item in enumerate(value)
                )
        return update

    return settings.model_copy(update=absolute(settings, ""))


def _expanded(path: Path, key: str) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise Problem(key, "begins with ~ and a user that this machine does not have") from None


def _read_secret(web: WebSettings, environ: Mapping[str, str], file: Path) -> SecretStr | None:
    if web.token_env is not None:
        value = environ.get(web.token_env, "").strip()
        if not value and web.enabled:
            raise ConfigError(f"{file}: web.token_env names {web.token_env}, but that environment variable is not set.")
        _require_sendable(value, f"{file}: the environment variable {web.token_env} (web.token_env)")
        return SecretStr(value) if value else None
    if web.token_file is not None:
        try:
            value = web.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: web.token_file {web.token_file} cannot be read: {_why(error)}.") from error
        if not value:
            raise ConfigError(f"{file}: web.token_file {web.token_file} is empty; put the token into it.")
        _require_sendable(value, f"{file}: web.token_file {web.token_file}")
        return SecretStr(value)
    return None


def _require_sendable(token: str, where: str) -> None:
    """Raises ConfigError for a token that a browser or program cannot send in a header."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{where} holds a blank or a character outside ASCII, which headers cannot carry; use letters and digits, "
            "for example what `openssl rand -hex 24` prints."
        )


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"
