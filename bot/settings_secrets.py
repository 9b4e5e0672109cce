"""Reads the secrets that sections name, from the environment that is passed in or from files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, SecretStr

from bot.errors import ConfigError
from bot.settings_sections import Section


def read_secrets(settings: BaseModel, environ: Mapping[str, str], file: Path) -> None:
    """Puts every secret that a section names into that section. Raises ConfigError, which never holds a value."""
    for path, section in sections_of(settings):
        for name in section.SECRETS:
            value = _read(section, name, f"{path}.{name}", environ, file)
            if value is not None:
                section._secrets[name] = value


def secret_values(settings: BaseModel) -> list[str]:
    """Every secret that was read, for those who must never show one."""
    return [value.get_secret_value() for _, section in sections_of(settings) for value in section._secrets.values()]


def sections_of(model: BaseModel, path: str = "") -> Iterator[tuple[str, Section]]:
    """(key path, section) for every section below `model`, lists and named tables included, in order."""
    for name in type(model).model_fields:
        here = f"{path}.{name}" if path else name
        value = getattr(model, name)
        if isinstance(value, Section):
            yield here, value
            yield from sections_of(value, here)
        elif isinstance(value, tuple):
            for number, item in enumerate(value):
                if isinstance(item, Section):
                    yield f"{here}.{number}", item
                    yield from sections_of(item, f"{here}.{number}")
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, Section):
                    yield f"{here}.{key}", item
                    yield from sections_of(item, f"{here}.{key}")


def _read(section: Section, name: str, path: str, environ: Mapping[str, str], file: Path) -> SecretStr | None:
    variable, place = getattr(section, f"{name}_env"), getattr(section, f"{name}_file")
    if variable is not None:
        value = environ.get(variable, "").strip()
        if not value:
            if not section.is_used:
                return None
            raise ConfigError(f"{file}: {path}_env names {variable}, but that environment variable is not set.")
        where = f"{file}: the environment variable {variable} ({path}_env)"
    elif place is not None:
        try:
            value = place.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: {path}_file {place} cannot be read: {_why(error)}.") from error
        if not value:
            raise ConfigError(f"{file}: {path}_file {place} is empty; put the secret into it.")
        where = f"{file}: {path}_file {place}"
    else:
        return None
    if name not in section.KEY_SECRETS:
        _require_sendable(value, where)
    return SecretStr(value)


def _require_sendable(token: str, where: str) -> None:
    """Raises ConfigError for a token that a browser or program cannot send in a header."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{where} holds a blank or a character outside ASCII, which headers cannot carry; use letters and digits, "
            "for example what `openssl rand -hex 24` prints."
        )


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"
