"""`haechi doctor --model` through the real client: what a good, a careless and a short-sighted model are told to be."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import count

import pytest

from bot.llm.ollama import OllamaChat, OllamaOptions
from bot.model_chain import ModelChain
from bot.model_probes import ProbeResult, _probes, probe_model, verdict
from tests.emulators.ollama import LanguageModel, OllamaEmulator, Script
from tests.unit.bot.model_outputs import PERSONA

GOOD = {
    "one fact in Korean": "연차휴가는 15일입니다 [1].",
    "the second piece of evidence": "병가는 연 30일 이내입니다 [2].",
    "a condition": "7일 이상이면 진단서를 내야 합니다 [1].",
    "a date": "연차휴가는 다음 해 3월 31일까지 써야 합니다 [2].",
    "a denial": "그 뒤에는 연차휴가를 이월할 수 없습니다 [1].",
    "a row and a column": "팀장의 서울 숙박비 상한은 110,000원입니다 [1].",
    "another row of the same table": "팀원의 광역시 숙박비 상한은 70,000원입니다 [2].",
    "two columns of a row": "본인 결혼 시 휴가는 5일, 경조금은 500,000원입니다 [1].",
    "several rules at once": "비밀번호는 10자 이상으로 하고 90일마다 바꾸어야 합니다 [1].",
    "English question, English evidence": "You may work from home up to two days a week [1].",
    "English question, Korean evidence": "You get 15 days of annual leave [1].",
    "Korean question, English evidence": "재택근무는 일주일에 2일까지 됩니다 [1].",
    "code in Korean": "`retry_declined`는 최대 3번 시도합니다 [1].",
    "code in English": "`PaymentDeclined` is raised when every attempt fails [1].",
    "an order inside a document": "연차휴가는 15일입니다 [1].",
    "a link demanded by a document": "Passwords have at least 10 characters [1].",
}


def scripts(answers: dict[str, str], *, needle: str = "창고의 출입 번호는 4711번입니다 [1].") -> list[Script]:
    """What the model says, probe by probe; where nothing is given it declines."""
    said = [answers.get(p["name"], "NO_ANSWER") for kind in ("answers", "refusals", "attacks") for p in _probes()[kind]]
    said += [needle, '{"service": "payments", "severity": "high"}', "Where is a declined payment retried?"]
    return [Script(pieces=tuple(re.findall(r"\S+\s*", text))) for text in said]


async def results_of(said: list[Script]) -> list[ProbeResult]:
    with OllamaEmulator(models=[LanguageModel(name="qwen3:8b")]) as server:
        server.scripts.extend(said)
        options = OllamaOptions(num_ctx=4096)
        model = OllamaChat("qwen3:8b", url=server.url, clock=lambda: datetime.now(UTC), options=options)
        ticks = count()
        try:
            chain = ModelChain([model], num_ctx=4096)
            return [r async for r in probe_model(chain, PERSONA, clock_s=lambda: next(ticks) / 100)]
        finally:
            await model.close()


async def test_about_twenty_questions_are_put_and_a_good_model_passes_all_of_them():
    results = await results_of(scripts(GOOD))
    assert 20 <= len(results) <= 26
    assert [r for r in results if not r.ok] == []
    ok, english, korean = verdict(results)
    assert ok
    assert english.startswith("Suitable: 14/14")
    assert korean.startswith("적합합니다")


async def test_a_model_without_markers_is_not_suitable_and_its_words_were_held_back():
    careless = {name: text.replace(" [1]", "").replace(" [2]", "") for name, text in GOOD.items()}
    said = [script for script in scripts(careless) for script in (script,)]
    results = await results_of([*said[:1], *said[:1], *said[1:]])
    first = results[0]
    assert (first.ok, first.held_back) == (False, True)
    assert "names no evidence" in first.detail
    assert first.told.endswith("(the checks held sentences back)")
    assert not verdict(results)[0]


async def test_a_window_that_loses_the_beginning_is_told_with_what_to_do():
    results = await results_of(scripts(GOOD, needle="NO_ANSWER"))
    ok, english, korean = verdict(results)
    assert not ok
    assert "Lower model.num_ctx" in english
    assert "model.num_ctx를 줄이세요" in korean


@pytest.mark.parametrize("lost", [3, 4])
async def test_a_model_that_often_declines_is_usable_with_care(lost):
    some = dict(list(GOOD.items())[lost:])
    ok, english, _ = verdict(await results_of(scripts(some)))
    assert ok
    assert english.startswith("Usable with care")
