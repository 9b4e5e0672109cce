"""What is wrong with a configuration, told so that a person can mend it.

`check_table` runs on the parsed TOML before pydantic does, because pydantic alone would take `port = true` for 1, and
would name neither the line nor the nearest known key.
"""

from __future__ import annotations

import difflib
import os
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

LINK_FIELDS = ("uri", "revision", "start_line", "end_line", "page")
ValueKind = Literal["text", "a whole number", "a number", "true or false", "a list", "a section", "a date or time"]


class Problem(ValueError):
    """One thing that is wrong: a key path ("sources.0.name") and the rest of a sentence about it."""

    def __init__(self, key: str, says: str, *, env: str | None = None) -> None:
        super().__init__(f"{key} {says}")
        self.key = key
        self.says = says
        self.env = env


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKey:
    """One key of the configuration, for checks and for the test of its documentation."""

    path: str  # "web.port"; "sources[].name" within a list of sections
    kind: ValueKind
    default: object
    required: bool
    env: str | None  # None where only the file can set it


def setting_keys(model: type[BaseModel], env_prefix: str, *, path: str = "", listed: bool = False) -> list[SettingKey]:
    """Every key of `model`, sections walked in order."""
    keys: list[SettingKey] = []
    for name, info in model.model_fields.items():
        here = f"{path}.{name}" if path else name
        section, many = _section_of(info.annotation)
        named = _named_section_of(info.annotation)
        if named is not None:
            section, many = named, True
        if section is not None:
            keys += setting_keys(section, env_prefix, path=f"{here}[]" if many else here, listed=listed or many)
            continue
        kind = _expected_kind(info.annotation)
        scalar = kind != "a list" and not listed
        env = env_prefix + here.upper().replace(".", "__") if scalar else None
        keys.append(SettingKey(path=here, kind=kind, default=info.get_default(), required=info.is_required(), env=env))
    return keys


def check_table(table: Mapping[str, Any], model: type[BaseModel], path: str = "") -> Problem | None:
    """The first unknown key, or value of the wrong kind; None when there is none."""
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if key not in model.model_fields:
            section_name = re.sub(r"[.]\d+", "", path)
            where = f"in [{section_name}]" if path else "at the top of the file"
            return Problem(here, f"is not a known key {where}{nearest(key, list(model.model_fields))}")
        section, many = _section_of(model.model_fields[key].annotation)
        named = _named_section_of(model.model_fields[key].annotation)
        if named is not None:
            problem = _check_named_sections(here, value, named)
        elif section is None:
            problem = _check_value(here, value, model.model_fields[key].annotation)
        elif many:
            problem = _check_sections(here, value, section)
        elif not isinstance(value, dict):
            problem = Problem(here, f"must be a section, written [{key}], but is {kind_of(value)}")
        else:
            problem = check_table(value, section, here)
        if problem is not None:
            return problem
    return None


def check_environment(environ: Mapping[str, str], model: type[BaseModel], prefix: str) -> Problem | None:
    """The first variable that looks like a setting ("HAECHI_WEB__PROT") and is none."""
    known = [key.env for key in setting_keys(model, prefix) if key.env is not None]
    for name in sorted(environ):
        if name.startswith(prefix) and "__" in name and name not in known:
            return Problem(name, f"is not a known setting{nearest(name, known)}", env=name)
    return None


def first_problem(error: ValidationError, environ: Mapping[str, str], prefix: str) -> Problem:
    """The first error of pydantic as a problem; values are never repeated."""
    details = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in details["loc"])
    cause = (details.get("ctx") or {}).get("error")
    if isinstance(cause, Problem):
        key = f"{path}.{cause.key}" if path else cause.key
        says = cause.says
    else:
        key, says = path, _says(details)
    env = prefix + key.upper().replace(".", "__")
    return Problem(key, says, env=env if env in environ else None)


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that ends a sentence: "; did you mean 'port'?", the known words, or nothing."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known are {', '.join(known)}" if len(known) <= 16 else ""


def line_of(text: str, key: str) -> int | None:
    """The line, from 1, where a key path stands in TOML text; of its section when the key is absent."""
    parts = key.split(".")
    while len(parts) > 2 and parts[-1].isdigit() and not parts[-2].isdigit() and parts[0] == "services":
        parts.pop()  # an item of a list stands where the list stands
    if len(parts) == 3 and not parts[1].isdigit():
        return _line_in_named(text, ".".join(parts[:2]), parts[2])
    wanted_index = int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None
    section = parts[0] if len(parts) > 1 else ""
    name = parts[-1]
    current, seen, section_line = "", -1, None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([A-Za-z0-9_.-]+)\s*\]\]?", line)
        if header:
            current = header[1]
            seen += current == section
            if current == section and wanted_index in (None, seen):
                section_line = number
            continue
        assignment = re.match(r"\s*\"?([A-Za-z0-9_.-]+)\"?\s*=", line)
        if assignment and current == section and wanted_index in (None, seen) and assignment[1] == name:
            return number
    return section_line


def _line_in_named(text: str, section: str, name: str) -> int | None:
    """The line of a key in `[section.name]`; of its header when the key is absent, of the outer section without one."""
    found, inside = None, False
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
        if header:
            inside = header[1].replace('"', "").replace("'", "") == section
            found = number if inside else found
        elif inside and re.match(rf"\s*\"?{re.escape(name)}\"?\s*=", line):
            return number
    return found if found is not None else line_of(text, f"{section.partition('.')[0]}.{name}")


def kind_of(value: object) -> ValueKind:
    """What a value of TOML is, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, date | datetime | time):
        return "a date or time"
    return "a list" if isinstance(value, list) else "a section"


def require_url(key: str, value: str) -> None:
    """Raises Problem unless `value` is an http(s) address without credentials."""
    try:
        parts = urlsplit(value)
        complete = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if not complete:
        raise Problem(key, "must be an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise Problem(key, "must not hold a user name or password")


def require_link_template(key: str, value: str) -> None:
    """Raises Problem unless `value` becomes an http(s) address when its known {fields} are filled in."""
    for name in re.findall(r"\{([^{}]*)\}", value):
        if name not in LINK_FIELDS:
            known = ", ".join(f"{{{field}}}" for field in LINK_FIELDS)
            raise Problem(key, f"has the unknown field {{{name}}}; known are {known}")
    filled = re.sub(r"\{[^{}]*\}", "1", value)
    if "{" in filled or "}" in filled:
        raise Problem(key, "has a brace without its counterpart; fields are written {uri}")
    require_url(key, filled)


def require_patterns(key: str, patterns: Sequence[str]) -> None:
    """Raises Problem unless every one of `patterns` is a pattern of .gitignore that can match something."""
    import pathspec

    for pattern in patterns:
        try:
            compiled = pathspec.GitIgnoreSpec.from_lines([pattern]).patterns
        except ValueError:
            compiled = []
        if not any(part.include is not None for part in compiled):
            raise Problem(key, f"holds {pattern!r}, which is no pattern of .gitignore; correct or remove it")


def require_distinct(key: str, values: Sequence[str]) -> None:
    """Raises Problem when a value stands twice."""
    for number, value in enumerate(values):
        if value in values[:number]:
            raise Problem(key, f"names {value!r} twice; remove one of them")


def check_places(data_dir: Path, sources: Sequence[Any]) -> Problem | None:
    """The first source that reads the data folder or what another source reads already; paths are absolute.

    Whoever gives the outer one of two sources patterns has thought about it: that is taken as it is.
    """
    data = Path(os.path.realpath(data_dir))
    places = [
        (number, source, Path(os.path.realpath(source.path)))
        for number, source in enumerate(sources)
        if source.path is not None
    ]
    for count, (number, source, place) in enumerate(places):
        if source.kind == "documents" and place.is_relative_to(data):
            return Problem(f"sources.{number}.path", "lies in data_dir, which Haechi writes itself; separate the two")
        for _, other, elsewhere in places[:count]:
            if source.kind != other.kind or source.branch != other.branch:
                continue
            inner, outer = (source, other) if place.is_relative_to(elsewhere) else (other, source)
            related = place.is_relative_to(elsewhere) or elsewhere.is_relative_to(place)
            thought = (outer, inner) if place == elsewhere else (outer,)
            if related and not any(one.include or one.exclude for one in thought):
                return Problem(
                    f"sources.{number}.path",
                    f"overlaps with that of source {other.name!r}, so documents would be found twice; set other paths, "
                    f"or exclude (or include) of source {outer.name!r}",
                )
    return None


def _check_sections(here: str, value: object, section: type[BaseModel]) -> Problem | None:
    name = here.rpartition(".")[2]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return Problem(here, f"must be sections, each written [[{name}]], but is {kind_of(value)}")
    for number, item in enumerate(value):
        problem = check_table(item, section, f"{here}.{number}")
        if problem is not None:
            return problem
    return None


def _check_named_sections(here: str, value: object, section: type[BaseModel]) -> Problem | None:
    if not isinstance(value, dict):
        return Problem(here, f"must be sections, each written [{here}.NAME], but is {kind_of(value)}")
    for name, item in value.items():
        if not isinstance(item, dict):
            return Problem(f"{here}.{name}", f"must be a section, written [{here}.NAME], but is {kind_of(item)}")
        if not name.strip() or "." in name:
            return Problem(f"{here}.{name}", "must have a name without dots; other spellings go into its aliases")
        problem = check_table(item, section, f"{here}.{name}")
        if problem is not None:
            return problem
    return None


def _check_value(here: str, value: object, annotation: object) -> Problem | None:
    expected, given = _expected_kind(annotation), kind_of(value)
    if expected == "a list" and isinstance(value, list):
        wrong = [kind_of(item) for item in value if not isinstance(item, str)]
        if wrong:
            return Problem(here, f"must be a list of texts, but holds {wrong[0]}")
        held = any("\0" in item for item in value)
        return Problem(here, "holds a NUL character; remove it") if held else None
    if isinstance(value, str) and "\0" in value:
        return Problem(here, "holds a NUL character; remove it")
    if value == "" and Path in _arguments(annotation):
        return Problem(here, "is empty; write a path, or remove the key")
    if expected == given or (expected == "a number" and given == "a whole number"):
        return None
    return Problem(here, f"must be {expected}, but is {given}")


def _arguments(annotation: object) -> list[object]:
    """The members of a union without None; any other annotation as it is."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return [part for part in typing.get_args(annotation) if part is not type(None)]
    return [annotation]


def _section_of(annotation: object) -> tuple[type[BaseModel] | None, bool]:
    """The model behind a field that is a section, and whether it is a list of them."""
    kind = _arguments(annotation)[0]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind, False
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        if isinstance(item, type) and issubclass(item, BaseModel):
            return item, True
    return None, False


def _named_section_of(annotation: object) -> type[BaseModel] | None:
    """The model of a field that holds sections by name: dict[str, Model]."""
    kind = _arguments(annotation)[0]
    if typing.get_origin(kind) is dict:
        item = typing.get_args(kind)[1]
        if isinstance(item, type) and issubclass(item, BaseModel):
            return item
    return None


def _expected_kind(annotation: object) -> ValueKind:
    kind = _arguments(annotation)[0]
    if typing.get_origin(kind) is tuple:
        return "a list"
    if kind is bool:
        return "true or false"
    if kind is int:
        return "a whole number"
    if kind is float:
        return "a number"
    if kind in (str, Path) or typing.get_origin(kind) is Literal:
        return "text"
    raise TypeError(f"a setting cannot be of type {annotation!r}")


def _says(details: ErrorDetails) -> str:
    """The rest of a sentence for an error of pydantic."""
    kind, context = details["type"], details.get("ctx") or {}
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a known key"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    limits = {
        "greater_than_equal": ("at least", "ge"),
        "less_than_equal": ("at most", "le"),
        "greater_than": ("more than", "gt"),
        "less_than": ("less than", "lt"),
    }
    if kind in limits:
        words, name = limits[kind]
        return f"must be {words} {context[name]:g}"
    expected = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    return f"must be {expected.get(kind.partition('_')[0], 'of another kind: ' + details['msg'])}"
