"""Settings from haechi.toml and the environment: read once, checked, frozen.

This is the only module that reads the environment. What is wrong is told in one sentence that names the file, the
line, the key and the remedy; values are never repeated, because a secret may stand where it does not belong.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from bot.errors import ConfigError
from bot.settings_alerts import AlertSettings, ServiceSettings, check_services
from bot.settings_chat import (
    CatchUpSettings,
    ChannelSettings,
    ChatSettings,
    CommandSettings,
    LimitSettings,
    check_chat,
)
from bot.settings_check import (
    Problem,
    check_environment,
    check_places,
    check_table,
    first_problem,
    line_of,
    nearest,
    require_url,
)
from bot.settings_mattermost import MattermostSettings
from bot.settings_mcp import McpSettings
from bot.settings_models import ModelSettings
from bot.settings_operations import MetricsSettings, RetentionSettings
from bot.settings_reranker import RerankerSettings
from bot.settings_schedule import HookSettings, ScheduleSettings
from bot.settings_secrets import read_secrets
from bot.settings_sections import (
    AnswerSettings,
    ChromaSettings,
    EmbeddingSettings,
    IngestSettings,
    LogSettings,
    SearchSettings,
    WebSettings,
)
from bot.settings_slack import SlackSettings
from bot.settings_sources import SourceSettings
from knowledge.types import SourceConfig

CONFIG_NAME = "haechi.toml"
ENV_PREFIX = "HAECHI_"
SMALLEST = """data_dir = "data"

[[sources]]
name = "rules"            # a slug; Korean titles go into title
kind = "documents"        # or "repository"
path = "./docs"
"""


class Settings(BaseSettings):
    """Everything that can be set. `config_file` is where it was read."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", env_ignore_empty=True
    )

    data_dir: Path
    public_url: str | None = None
    sources: tuple[SourceSettings, ...] = ()
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    ingest: IngestSettings = Field(default_factory=IngestSettings)
    model: ModelSettings = Field(default_factory=ModelSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    answers: AnswerSettings = Field(default_factory=AnswerSettings)
    chroma: ChromaSettings = Field(default_factory=ChromaSettings)
    chat: ChatSettings = Field(default_factory=ChatSettings)
    channels: tuple[ChannelSettings, ...] = ()
    limits: LimitSettings = Field(default_factory=LimitSettings)
    commands: CommandSettings = Field(default_factory=CommandSettings)
    catch_up: CatchUpSettings = Field(default_factory=CatchUpSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    mattermost: MattermostSettings = Field(default_factory=MattermostSettings)
    slack: SlackSettings = Field(default_factory=SlackSettings)
    schedule: ScheduleSettings = Field(default_factory=ScheduleSettings)
    hooks: HookSettings = Field(default_factory=HookSettings)
    mcp: McpSettings = Field(default_factory=McpSettings)
    metrics: MetricsSettings = Field(default_factory=MetricsSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    services: dict[str, ServiceSettings] = Field(default_factory=dict)
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
        for name in self.mcp.sources or ():
            if name not in names:
                raise Problem("mcp.sources", f"names {name!r}, which no [[sources]] entry has{nearest(name, names)}")
        check_chat(self.chat, self.channels, names)
        check_services(self.services, names)
        if self.public_url is not None:
            require_url("public_url", self.public_url)
        reached = not self.web.is_loopback or self.public_url is not None
        if self.mcp.enabled and reached and not self.mcp.names_secret("token"):
            raise Problem(
                "mcp.enabled",
                "is open to everybody who reaches the address, so mcp.token_env or mcp.token_file must be set",
            )
        if self.web.enabled and not self.web.is_loopback and not self.web.names_secret("token"):
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
        return tuple(source.config() for source in self.sources)


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
    for source in resolved.sources:
        source.use_proxies(_proxies(os.environ))
    read_secrets(resolved, os.environ, file)
    return resolved


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The usual variables that say through which proxy other machines are reached, under the names that git reads."""
    names = ("https_proxy", "http_proxy", "all_proxy", "no_proxy")
    found = {name: environ.get(name) or environ.get(name.upper()) for name in names}
    return {name: value for name, value in found.items() if value}


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
