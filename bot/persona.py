"""persona.md: the voice and rules that a model is given, and what the bot says in its own words.

Parsed and checked at start, so that a text missing in one language is found before somebody is left without an answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import structlog

from bot.errors import ConfigError
from bot.types import Language, RefusalReason

log = structlog.get_logger(__name__)

PERSONA_NAME = "persona.md"
GUIDANCE_SECTIONS = ("Voice", "Rules", "Language")
PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    **{reason: frozenset[str]() for reason in get_args(RefusalReason)},
    "tool_down": frozenset({"tools"}),
    "no_model": frozenset(),
    "low_relevance": frozenset(),
    "error": frozenset({"id"}),
    "too_long": frozenset({"max_chars"}),
    "empty": frozenset(),
    "greeting": frozenset({"sources"}),
    "thanks": frozenset(),
    "missing_word": frozenset({"words"}),
    "contradiction": frozenset({"contact"}),
    "default_contact": frozenset(),
}

_HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]")
_HEADING = re.compile(r"^(##|###)[ \t]+(.+?)[ \t]*$", re.MULTILINE)


class Persona:
    """`guidance` goes to a model; `texts` to readers: language -> name -> text. One that was loaded from a file is read
    again when the file changes; a change that is not valid is logged, and the last valid state holds on."""

    def __init__(self, *, guidance: str, texts: Mapping[Language, Mapping[str, str]], file: Path | None = None) -> None:
        self._guidance = guidance
        self._texts = texts
        self._file = file
        self._state = _file_state(file)

    @property
    def guidance(self) -> str:
        self._follow_file()
        return self._guidance

    @property
    def texts(self) -> Mapping[Language, Mapping[str, str]]:
        self._follow_file()
        return self._texts

    def say(self, name: str, language: Language, **values: object) -> str:
        """The text of that name with its words in braces filled in."""
        return self.texts[language][name].format(**values)

    def _follow_file(self) -> None:
        state = _file_state(self._file)
        if self._file is None or state is None or state == self._state:
            return
        self._state = state
        try:
            changed = load_persona(self._file)
        except ConfigError as error:
            log.warning("persona.unchanged", reason=str(error))
            return
        self._guidance, self._texts = changed._guidance, changed._texts
        log.info("persona.reloaded", file=str(self._file))


def _file_state(file: Path | None) -> tuple[int, int] | None:
    """What changes when the file does; None without a file, or while it is being replaced."""
    if file is None:
        return None
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def language_of(question: str) -> Language:
    """Korean when there is any Hangul in it: Korean questions are full of English names, not the other way round."""
    return "ko" if _HANGUL.search(question) else "en"


def load_persona(file: Path) -> Persona:
    """The persona of a file. Raises ConfigError naming the file and what is missing."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The persona {file} cannot be read ({error}); set answers.persona to another file."
        ) from error
    return parse_persona(text, name=str(file), file=file)


def find_persona(configured: Path | None, config_file: Path) -> Path:
    """The file to use: the configured one, one beside the configuration, or the one that comes with the program."""
    if configured is not None:
        return configured
    package = Path(__file__).resolve().parent
    for folder in (config_file.absolute().parent, package, package.parent):
        if (folder / PERSONA_NAME).is_file():
            return folder / PERSONA_NAME
    raise ConfigError(f"There is no {PERSONA_NAME} beside {config_file}; set answers.persona to a file.")


def parse_persona(text: str, *, name: str, file: Path | None = None) -> Persona:
    """The persona of a Markdown text. Raises ConfigError."""
    sections = _sections(text)
    for heading in GUIDANCE_SECTIONS:
        if not sections.get((heading, None)):
            raise ConfigError(f'{name}: the section "## {heading}" is missing or empty.')
    texts: dict[Language, dict[str, str]] = {}
    for language in get_args(Language):
        heading = f"Texts ({language})"
        texts[language] = {}
        for key, allowed in PLACEHOLDERS.items():
            body = sections.get((heading, key))
            if not body:
                raise ConfigError(f'{name}: the text "### {key}" under "## {heading}" is missing or empty.')
            _check_placeholders(body, allowed, where=f'{name}: "### {key}" under "## {heading}"')
            texts[language][key] = body
    guidance = "\n\n".join(sections[(heading, None)] for heading in GUIDANCE_SECTIONS)
    return Persona(guidance=guidance, texts=texts, file=file)


def _sections(text: str) -> dict[tuple[str, str | None], str]:
    """(heading, sub-heading or None) -> body, with the line breaks of the source file joined within a paragraph."""
    found: dict[tuple[str, str | None], str] = {}
    headings = list(_HEADING.finditer(text))
    section = ""
    for match, following in zip(headings, [*headings[1:], None], strict=False):
        body = text[match.end() : following.start() if following else len(text)].strip()
        if match[1] == "##":
            section = match[2]
            found[(section, None)] = body
        else:
            found[(section, match[2])] = re.sub(r"(?<=\S)\n(?=[^\n\-*>`|])", " ", body)
    return found


def _check_placeholders(body: str, allowed: frozenset[str], *, where: str) -> None:
    try:
        used = {field for _, field, _, _ in string.Formatter().parse(body) if field is not None}
    except ValueError as error:
        raise ConfigError(f"{where} has a brace that is not closed; write {{{{ for a brace itself.") from error
    for field in sorted(used - allowed):
        words = ", ".join(f"{{{word}}}" for word in sorted(allowed)) or "none"
        raise ConfigError(f"{where} uses {{{field}}}, which is not known there; known: {words}.")
    for field in sorted(allowed - used):
        raise ConfigError(f"{where} must hold {{{field}}}.")
