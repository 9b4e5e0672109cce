"""The answer with a model: numbered evidence and persona in, sentences out, each checked before it is released.

What fails the check is written anew once, from the accepted text on and with the fault named; what fails then is cut.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from bot.citing import Checked, EvidenceIndex, NumberedEvidence
from bot.claims import claims_of, squeeze, without_amounts
from bot.code_quotes import block_of, lines_of
from bot.content_words import bag_of, content_words, held_share
from bot.errors import ModelError
from bot.leads import introduces
from bot.persona import Persona
from bot.ports import ChatModel, Waiting
from bot.prompting import (
    HISTORY_TOKENS,
    NO_ANSWER,
    build_turns,
    correction_turns,
    cut_lines,
    evidence_budget,
    instructions,
    number_evidence,
)
from bot.sentences import SentenceReader, marked_numbers
from bot.types import AnswerLength, ChatTurn, Language
from knowledge.types import ScoredChunk

Release = Callable[[str], Awaitable[None]]

_FENCE = "```"
_LIST_MARK = re.compile(r"\s*(?:\d{1,2}[.)]|[-*•])\s+")
_MOST_WORDS = 0.5  # of a sentence, for what says it again
_GOES_ON = re.compile(r"(?:다만|그리고|또한|하지만|그러나|however|but|and|also)(?:,\s*|\s+)(?=\S)", re.IGNORECASE)
MOST_REPEATS = 3  # a model that says the same over and over is stopped
_DECLINES = re.compile(
    r"(?:근거|자료|문서|정보|규정|내용|증거|evidence)[가-힣A-Za-z\s]*(?:에서|에는|에|으로는|이|가|"
    r"은|는|을|를)?[가-힣\s]{0,20}"
    r"(?:찾을 수 없|찾지 못|확인할 수 없|확인되지 않|나와 있지 않|포함되어 있지 않|답할 수 없|알 수 "
    r"없|명시되어 있지 않|언급되어 있지 않)|"
    r"답(?:변)?(?:할|드릴) 수 없|알 수 없습니다|모르겠습니다|"
    r"\b(?:evidence|sources?|documents?|material|context|information)\b[^.]{0,40}\b(?:does|do|did|is|are)\s?n[o']t\b|"
    r"\b(?:cannot|can't|can not|unable to)\b[^.]{0,30}\b(?:answer|find|determine)|\bI (?:do not|don't) know\b|"
    r"\bno (?:evidence|information|mention)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Generated:
    """What came of it. `text` is what passed the check; `failure` why the model broke off, if it did."""

    text: str = ""
    cited: list[int] = field(default_factory=list)
    told: list[int] = field(default_factory=list)  # of these, what is told in the model's own words
    faults: list[str] = field(default_factory=list)  # of sentences that the reader does not get
    declined: bool = False  # the model itself says that the evidence does not answer
    failure: ModelError | None = None
    corrected: int = 0  # times that the model was asked to write anew
    quoted: list[str] = field(
        default_factory=list
    )  # the evidence's own words in place of a sentence, as they are shown
    provisos: str = ""  # of rules that the reply tells without them, in the evidence's own words
    replaced: list[str] = field(default_factory=list)  # why: a doubt, or a fault that the model did not mend


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an answer is generated for."""

    question: str
    persona: Persona
    language: Language
    length: AnswerLength = "normal"
    history: str = ""  # what was said before, one line a turn


async def generate(
    asked: Asked,
    chunks: Sequence[ScoredChunk],
    *,
    model: ChatModel,
    num_ctx: int,
    release: Release | None,
    waiting: Waiting | None = None,
) -> Generated:
    """The checked reply. Sentences go to `release` as soon as they have passed; what it got is never taken back."""
    history = cut_lines(asked.history, HISTORY_TOKENS) or ""
    numbered = number_evidence(chunks, evidence_budget(num_ctx, asked.question, asked.persona, history))
    turns = build_turns(
        asked.question,
        numbered,
        persona=asked.persona,
        language=asked.language,
        length=asked.length,
        history=history,
    )
    writer = await asyncio.to_thread(Writer, asked, numbered, release)  # long evidence takes a moment to prepare
    await writer.write(model, turns, waiting)
    return writer.result


@dataclass(frozen=True, slots=True)
class _Failed:
    """A sentence that was held back, why, and what may be shown in its place."""

    sentence: str
    fault: str
    instead: Checked | None = None


def _says_again(text: str, failed: _Failed) -> bool:
    """Whether a text is about what the sentence that failed was about: it has most of its words, or is its quote."""
    words = content_words(without_amounts(claims_of(failed.sentence)))
    if failed.instead is not None and failed.instead.text in text:
        return True
    return held_share(words, bag_of(text)) > _MOST_WORDS


def _without_conjunction(text: str) -> str:
    """The first sentence of a reply without the "다만" or "However" that joined it to one which was not shown."""
    bare = _GOES_ON.sub("", text, count=1) if _GOES_ON.match(text) else text
    return bare if bare == text else f"{bare[:1].upper()}{bare[1:]}"


class Writer:
    """Takes what a model writes, sentence by sentence, and keeps what passes."""

    def __init__(self, asked: Asked, evidence: Sequence[NumberedEvidence], release: Release | None) -> None:
        self.result = Generated()
        self._index = EvidenceIndex(
            evidence,
            asked.question,
            language=asked.language,
            instructions=instructions(asked.persona, asked.language, asked.length),
        )
        self._release = release
        self._held: list[str] = []  # leads, and sentences whose marker may stand at the end of their paragraph
        self._context = ""
        self._code = ""  # of a code block that is not whole yet
        self._said: set[str] = set()
        self._repeats = 0
        self._verdict: Checked | None = None  # what stands for a yes or no behind which nothing came
        self._rewritten: _Failed | None = None  # what the reply that is being written is to say in other words first

    async def write(self, model: ChatModel, turns: Sequence[ChatTurn], waiting: Waiting | None = None) -> None:
        """Streams a reply; where a sentence fails, a second one that goes on from what was accepted."""
        await self._write(model, turns, waiting)
        if self._verdict is not None and not self.result.cited:
            await self._quote(self._verdict, "says only yes or no", "")
        if self.result.cited:
            left_out = self._index.left_out_of(self.result.text, self.result.cited)
            self.result.provisos = left_out.text if left_out else ""

    async def _write(self, model: ChatModel, turns: Sequence[ChatTurn], waiting: Waiting | None) -> None:
        failed = await self._stream(model, turns, stop_at_fault=True, waiting=waiting)
        if failed is None:
            return
        self.result.corrected += 1
        self._rewritten = failed
        again = (*turns, *correction_turns(self.result.text, failed.sentence, failed.fault))
        await self._stream(model, again, stop_at_fault=False, waiting=waiting)
        if self._rewritten is not None:  # nothing took the place of the sentence
            self._rewritten = None
            await self._lose(failed)

    async def _stream(
        self, model: ChatModel, turns: Sequence[ChatTurn], *, stop_at_fault: bool, waiting: Waiting | None
    ) -> _Failed | None:
        """The sentence that failed and why, when it is to be written anew."""
        reader = SentenceReader()
        self._held.clear()
        self._code = ""
        try:
            # what every adapter gives is an async generator, which alone can be closed at once
            pieces = cast(AsyncGenerator[str], model.stream(turns, waiting=waiting))
            async with aclosing(pieces):
                async for piece in pieces:
                    for sentence in reader.feed(piece):
                        failed = await self._take(sentence)
                        if failed is not None and stop_at_fault:
                            return failed
                        if self._repeats >= MOST_REPEATS:
                            return None
            for sentence in reader.finish():
                failed = await self._take(sentence)
                if failed is not None and stop_at_fault:
                    return failed
            failed = await self._give_up_held()
            return failed if stop_at_fault else None
        except ModelError as error:
            self._held.clear()
            self.result.failure = error
            return None

    async def _take(self, sentence: str) -> _Failed | None:
        """Keeps the sentence, holds it, or gives it back with its fault."""
        if self._code or sentence.lstrip().startswith(_FENCE):
            return await self._take_code(sentence)
        if NO_ANSWER in sentence:
            self.result.declined = True
            return None
        if not any(character.isalnum() for character in sentence):
            return await self._end_of_line(sentence)
        squeezed = squeeze(sentence)
        if squeezed in self._said:
            self._repeats += 1
            return None
        checked = self._index.check(sentence, context=self._context)
        if checked.is_lead:
            self._held.append(checked.text)
            self._context = checked.text
            return None
        if introduces(sentence):
            self._context = sentence
        if checked.fault == "names no evidence":
            if _DECLINES.search(sentence):
                self.result.declined = True
                return None
            if not sentence.endswith("\n"):
                self._held.append(sentence)  # a marker at the end of the paragraph may be meant for it, too
                return None
        if checked.fault is not None:
            return await self._refuse(_Failed(sentence, checked.fault, checked.as_quote))
        if not checked.text.strip():
            self._verdict = self._verdict or checked.as_quote
            return None
        held_fault = await self._release_held(marked_numbers(checked.text))
        return await self._keep_or_quote(checked, sentence) or held_fault

    async def _take_code(self, part: str) -> _Failed | None:
        """Collects a code block; a whole one is kept when all of its lines stand in one piece of evidence."""
        self._code += part
        if self._code.count(_FENCE) < 2:
            return None
        block, self._code = self._code, ""
        number = self._index.holding_code(block)
        if number is None:
            return await self._refuse(_Failed(block, "shows code that does not stand in the evidence"))
        marker = "" if number in self.result.cited else f"\n[{number}]\n"
        await self._keep(Checked(text=f"{block}{marker}", cited=(number,), fault=None), squeeze(block))
        return None

    async def _end_of_line(self, blank: str) -> _Failed | None:
        """A line ended: sentences that still wait for a marker will get none."""
        if "\n" not in blank:
            return None
        failed = None
        for held in [held for held in self._held if not self._index.check(held).is_lead]:
            self._held.remove(held)
            failed = failed or await self._refuse(_Failed(held, "names no evidence"))
        if "\n\n" in blank and not self._held:
            self._context = ""
        if self._held:
            self._held[-1] += blank
        elif self.result.text and not self.result.text.endswith("\n\n"):
            await self._show(blank)
        return failed

    async def _release_held(self, markers: Sequence[int]) -> _Failed | None:
        """Releases what waited for the sentence that now passed: leads as they are, others checked with its markers."""
        held, self._held = self._held, []
        failed = None
        for text in held:
            checked = self._index.check(text, context=self._context, inherited=markers)
            if checked.fault is None:
                failed = await self._keep_or_quote(checked, text) or failed
            else:
                failed = failed or await self._refuse(_Failed(text, checked.fault, checked.as_quote))
        return failed

    async def _give_up_held(self) -> _Failed | None:
        """At the end of a reply: sentences without a marker fail; a lead with nothing behind it is no loss."""
        held, self._held = self._held, []
        failed = None
        for text in held:
            if not self._index.check(text).is_lead:
                failed = failed or await self._refuse(_Failed(text, "names no evidence"))
        return failed

    async def _refuse(self, failed: _Failed) -> _Failed | None:
        """The sentence with its fault when it is to be written anew; given up when that has been tried."""
        if self.result.corrected == 0:
            return failed
        await self._lose(failed)
        return None

    async def _lose(self, failed: _Failed) -> None:
        """Shows the evidence's own words in place of a sentence, or notes that it is lost."""
        if failed.instead is None:
            self.result.faults.append(failed.fault)
            return
        await self._quote(failed.instead, failed.fault, failed.sentence)

    async def _keep_or_quote(self, checked: Checked, sentence: str) -> _Failed | None:
        """Keeps a sentence that the evidence is certain to say; shows the evidence's own words where it is not."""
        if checked.doubt is None:
            self.result.told += [number for number in checked.cited if number not in self.result.told]
            await self._keep(checked, squeeze(sentence))
            return None
        if checked.as_quote is None:
            return await self._refuse(_Failed(sentence, f"is not what the evidence says: {checked.doubt}"))
        await self._quote(checked.as_quote, checked.doubt, sentence)
        return None

    async def _quote(self, quote: Checked, reason: str, sentence: str) -> None:
        await self._before_going_on(quote.text)
        self._said.add(squeeze(sentence))
        self.result.replaced.append(reason)
        shown = [line for text in self.result.quoted for line in lines_of(text)]
        lines = lines_of(quote.text)
        if quote.text in self.result.quoted or (lines and set(lines) <= set(shown)):
            return
        if self.result.text.rstrip().endswith(_FENCE) and set(quote.cited) <= set(self.result.cited):
            gap = "\n" * (2 - len(self.result.text[-2:]) + len(self.result.text[-2:].rstrip("\n")))
            quote = replace(quote, text=f"{gap}{block_of(quote.text)}")  # goes on from the lines above
        self.result.quoted.append(quote.text)
        mark = _LIST_MARK.match(sentence) if not quote.text.lstrip().startswith(_FENCE) else None
        blank = sentence[len(sentence.rstrip()) :]
        if lines:  # a block ends its line; a space would stand in front of the next one
            blank = "\n" if "\n" in blank else ""
        await self._keep(replace(quote, text=f"{mark[0] if mark else ''}{quote.text}{blank}"), squeeze(quote.text))

    async def _before_going_on(self, text: str) -> None:
        """Shows the evidence instead of a sentence that failed, where the model does not write it anew but goes on."""
        failed, self._rewritten = self._rewritten, None
        if failed is not None and failed.instead is not None and not _says_again(text, failed):
            await self._lose(failed)

    async def _keep(self, checked: Checked, squeezed: str) -> None:
        await self._before_going_on(checked.text)
        self._said.add(squeezed)
        self.result.cited += [number for number in checked.cited if number not in self.result.cited]
        await self._show(checked.text if self.result.text else _without_conjunction(checked.text))

    async def _show(self, text: str) -> None:
        if self.result.text and not self.result.text[-1].isspace() and not text[:1].isspace():
            text = f" {text}"
        self.result.text += text
        if self._release is not None and text.strip():
            await self._release(text)
