"""`haechi doctor`: everything that Haechi needs, one line each, with what to do about what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bot.compose_models import build_models
from bot.doctor_index import check_index
from bot.doctor_platforms import check_platforms
from bot.doctor_reranker import check_reranker
from bot.errors import ConfigError
from bot.model_chain import ModelChain
from bot.persona import find_persona, load_persona
from bot.readiness import Check, check_machine, check_settings
from bot.services import embedder_dimensions, knowledge_config, utc_now
from bot.settings import Settings, load_settings
from knowledge.errors import KnowledgeError
from knowledge.types import ToolStatus

if TYPE_CHECKING:
    from bot.model_probes import ProbeResult


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
    yield from check_reranker(settings)
    yield from _check_model(settings)
    yield from check_platforms(settings)
    yield from check_index(settings)


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


def examine_model(config: Path | None) -> Iterator[Check]:
    """The probes of the model that answers questions, each as it comes, then the verdict. Raises ConfigError."""
    from bot.model_probes import probe_model, verdict

    settings = load_settings(config)
    persona = load_persona(find_persona(settings.answers.persona, settings.config_file))
    chain = build_models(settings, clock=utc_now).chat_model("docs")
    if chain is None:
        yield Check(name="model", ok=False, detail="none configured", remedy="set [model], see docs/models.md")
        return
    chain = ModelChain(chain.models[:1], num_ctx=chain.num_ctx)  # a verdict on a fallback would mislead
    with asyncio.Runner() as runner:
        results: list[ProbeResult] = []
        try:
            status = runner.run(chain.check())
            yield Check(name="model", ok=status.state != "down", detail=status.detail, remedy=_mend(status))
            if status.state == "down":
                return
            probes = probe_model(chain, persona)
            while (result := runner.run(_next(probes))) is not None:
                results.append(result)
                yield Check(name=f"{result.kind}: {result.name}", ok=result.ok, detail=result.told)
        finally:
            runner.run(chain.close())
    ok, english, korean = verdict(results)
    remedy = "" if ok else "see docs/models.md"
    yield Check(name="verdict", ok=ok, detail=english, remedy=remedy)
    yield Check(name="판정", ok=ok, detail=korean, remedy="" if ok else "docs/models.ko.md를 보세요")


async def _next(probes: AsyncIterator[ProbeResult]) -> ProbeResult | None:
    return await anext(probes, None)


def _mend(status: ToolStatus) -> str:
    return "" if status.state == "ok" else "correct [model]"
