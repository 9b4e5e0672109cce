"""`haechi doctor`: everything that Haechi needs, one line each, with what to do about what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from bot.compose_models import build_models
from bot.errors import ConfigError
from bot.persona import find_persona, load_persona
from bot.readiness import Check, check_machine, check_settings
from bot.services import embedder_dimensions, knowledge_config, utc_now
from bot.settings import Settings, load_settings
from knowledge.errors import KnowledgeError
from knowledge.types import ToolStatus


def examine(config: Path | None) -> Iterator[Check]:
    """All checks, in the order in which they are worth mending."""
    yield from check_machine()
    try:
        settings = load_settings(config)
        load_persona(find_persona(settings.answers.persona, settings.config_file))
    except ConfigError as error:
        yield Check(name="configuration", ok=False, detail=str(error), remedy="see docs/configuration.md")
        return
    yield Check(name="configuration", ok=True, detail=str(settings.config_file))
    yield from check_settings(settings)
    yield from _check_embedders(settings)
    yield from _check_model(settings)


def _check_embedders(settings: Settings) -> Iterator[Check]:
    try:
        chosen = knowledge_config(settings).embedders
    except ConfigError as error:
        yield Check(name="embedding", ok=False, detail=str(error), remedy="use one of the names it lists")
        return
    kinds = {source.evidence_kind for source in settings.source_configs()}
    names = dict.fromkeys(name for kind in sorted(kinds) for name in chosen[kind])
    for name in names:
        try:
            dimensions = embedder_dimensions(settings, name)
        except KnowledgeError as error:
            yield Check(name=f"embedder {name}", ok=False, detail=str(error), remedy="keyword search works meanwhile")
        else:
            yield Check(name=f"embedder {name}", ok=True, detail=f"{dimensions} dimensions")


def _check_model(settings: Settings) -> Iterator[Check]:
    models = build_models(settings, clock=utc_now)
    if not models.chains:
        yield Check(name="model", ok=True, detail="none configured; answers quote the evidence")
        return

    async def ask() -> list[ToolStatus]:
        try:
            return await models.check()
        finally:
            await models.close()

    for status in asyncio.run(ask()):
        ok = status.state == "ok"
        yield Check(name=status.name, ok=ok, detail=status.detail, remedy="" if ok else "correct [model]")
