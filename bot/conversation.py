"""A follow-up question as one that stands alone: by the small model where there is one, else by what it leaves out.

What was said before is data: it fills in what a question leaves out, and never widens what may be searched.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from bot.content_words import bag_of, content_words, held_share
from bot.conversation_words import (
    SHORT_WORDS,
    asks_only,
    corrected,
    leans_on_before,
    names_no_topic,
    swapped,
    telling_words,
    without_aspects,
)
from bot.errors import ModelError
from bot.orders import withhold_orders
from bot.ports import ChatModel
from bot.prompting import cut_lines, prompt_text
from bot.routing import route
from bot.types import ChatTurn, Message
from knowledge.masking import mask

CONDENSE_LIMIT_S = 20.0
MOST_TURNS = 6  # questions of a thread that are looked at, the latest ones
_MOST_CHARS = 400
_MOST_POSTED_CHARS = 2_000  # of a post that may be a question: nobody limits what else stands in a thread
_HISTORY_CHARS = 500  # of one turn
_CONDENSE_TOKENS = 1200

_LEAD = re.compile(
    r"^\s*(?:그럼|그러면|그렇다면|그리고|그런데|근데|또|혹시|아니|만약|and|then|also|but|so|what "
    r"about|how about|what if)[\s,]+",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^(?P<topic>\S{2,14}?(?:\s\S{2,10}?){0,2})(?:은|는|이|가|도)(?=\s|[?？]*$)")
_ARTICLE = re.compile(r"제\s?(\d+)\s?조(?:의\s?\d+)?")
_NEXT_ARTICLE = re.compile(r"(?:그|바로)?\s*(?:(다음)|앞|이전)\s?조(?:문|항)?(?=은|는|도|이|가|을|를|의|\s|[?？]|$)")
_AT_THAT = re.compile(r"^\s*(?:그때|그 때|그 ?경우(?:에는|엔|에)?|그동안|그 기간(?:에는|엔|에)?|거기서?(?:는)?)\s+")
_ENGLISH_TOPIC = re.compile(
    r"^(?:for |in |to |on )?(?:an? |the |my )?(?P<topic>[A-Za-z]{3,20})(?: (?:trips?|travel))?\s*\?*$"
)
_PLACE = re.compile(r"(?:에서|에게|에|으로|할 ?때|경우)$")  # narrows a topic and is none
_NEW_TOPIC = re.compile(r"^(?P<topic>\S{1,14}(?:\s\S{1,10})?)(?:은|는|도)(?:요)?\s*\?*\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said before a question."""

    questions: tuple[str, ...]  # of people, oldest first, each as it stands alone
    turns: tuple[tuple[str, str], ...]  # (who, text), oldest first

    @property
    def previous(self) -> str | None:
        """The question before, standing alone."""
        return self.questions[-1] if self.questions else None

    def history(self) -> str:
        """The turns as lines, the latest ones first to be kept by a budget that cuts at the end."""
        return "\n".join(f"{who}: {text}" for who, text in reversed(self.turns))


def read_thread(thread: Sequence[Message], question: str) -> Conversation:
    """The conversation before `question`, masked; the bot's own posts are turns, but no questions."""
    turns: list[tuple[str, str]] = []
    questions: list[str] = []
    for message in thread:
        text = mask(route(message.text).question).strip()
        if not text or message.event != "posted":
            continue
        if message is thread[-1] and not message.author.is_bot and text == question.strip():
            continue  # the question itself
        shown = " ".join(withhold_orders(text).split())
        turns.append(("Haechi" if message.author.is_bot else "User", shown[:_HISTORY_CHARS]))
        if not message.author.is_bot:
            before = questions[-1] if questions else None
            questions.append(stand_alone(" ".join(text.split())[:_MOST_POSTED_CHARS], before))
    return Conversation(questions=tuple(questions[-MOST_TURNS:]), turns=tuple(turns[-2 * MOST_TURNS :]))


def stand_alone(question: str, before: str | None) -> str:
    """The question with the words of the one before that it leaves out; unchanged when it leaves nothing out.

    "그럼 병가는?" after "연차휴가는 며칠인가요?" takes the place of its topic: "병가는 며칠인가요?", and "취소는요?"
    after "예약은 어떻게 하나요?" stands beside it: "예약 취소는 어떻게 하나요?". Another article takes the place of the
    one before, and so does one of several ("실장은?" after one about "팀장") and a correction. A question with words of
    its own takes over the topic alone; otherwise the words of the question before are added.
    """
    if before is None:
        return question
    if (rather := corrected(question, before)) is not None:
        return rather
    if not leans_on_before(question):
        return question
    bare = _counted_on(_LEAD.sub("", question).strip() or question.strip(), before)
    asked_for = _NEW_TOPIC.match(bare)
    if asked_for and _ARTICLE.fullmatch(asked_for["topic"]) and _ARTICLE.search(before):
        return _ARTICLE.sub(asked_for["topic"], before, count=1)
    if _ARTICLE.search(bare):
        before = " ".join(_ARTICLE.sub("", before).split())
    elif (other := _other_of_several(bare, before)) is not None:
        return other
    elif (joined := _with_topic(bare, before)) is not None:
        return joined[:_MOST_CHARS]
    known = set(content_words(bare))
    carried = [word for word in before.split() if not set(content_words(word)) & known]
    return f"{bare} {' '.join(carried)}"[:_MOST_CHARS].strip()


def _other_of_several(bare: str, before: str) -> str | None:
    """The question before about another one of several things: "실장은?", "and overseas?"; None for other questions."""
    named = _NEW_TOPIC.match(bare) or _ENGLISH_TOPIC.match(bare)
    return swapped(before, named["topic"]) if named else None


def _with_topic(bare: str, before: str) -> str | None:
    """A follow-up with the topic of the question before it, or in its place; None where no topic stands out."""
    new, old = _NEW_TOPIC.match(bare), _TOPIC.match(before)
    if old is None:
        return None
    pointing = _AT_THAT.match(bare)
    if pointing and telling_words(bare[pointing.end() :]):
        return f"{without_aspects(old['topic'])} {bare[pointing.end() :]}"
    if new is None:
        has_own = bool(telling_words(bare)) and not _shares(bare, old["topic"])
        return f"{without_aspects(old['topic'])} {bare}" if has_own else None
    if _PLACE.search(new["topic"]) or _shares(new["topic"], before):
        return None
    rest = before[old.end("topic") :]
    if not names_no_topic(new["topic"]):
        return f"{new['topic']}{_fitting(rest, new['topic'])}"
    topic = without_aspects(old["topic"])
    return f"{topic} {new['topic']}{_fitting(rest, new['topic']) if asks_only(rest[1:]) else ''}"


def _shares(text: str, other: str) -> bool:
    return bool(set(content_words(text)) & set(content_words(other)))


def _counted_on(question: str, before: str) -> str:
    """The question with "다음 조" as the article that follows the one of the question before."""
    named, wanted = _ARTICLE.search(before), _NEXT_ARTICLE.search(question)
    if named is None or wanted is None:
        return question
    number = int(named[1]) + (1 if wanted[1] else -1)
    return f"{question[: wanted.start()]}제{number}조{question[wanted.end() :]}".strip()


def with_old_topic(question: str, before: str | None) -> str | None:
    """A follow-up that names a topic, with the topic of the question before beside it; None for other questions."""
    if before is None or not leans_on_before(question) or corrected(question, before) is not None:
        return None
    bare = _LEAD.sub("", question).strip() or question.strip()
    new, old = _NEW_TOPIC.match(bare), _TOPIC.match(before)
    if (
        not new
        or not old
        or _other_of_several(bare, before) is not None
        or names_no_topic(new["topic"])
        or _ARTICLE.search(_counted_on(bare, before))
    ):
        return None
    return f"{new['topic']} {before}"[:_MOST_CHARS]


def with_question_before(question: str, before: str | None) -> str | None:
    """A short question that names something, with the one before beside it: "승인은 누가 하나요?" after one about
    working from home; None for others. Whether it changes the topic only the search can tell."""
    if before is None or leans_on_before(question) or not 0 < len(telling_words(question)) <= SHORT_WORDS - 1:
        return None
    return f"{question} {before}"[:_MOST_CHARS]


async def condense(question: str, conversation: Conversation, model: ChatModel | None) -> str:
    """The question as it stands alone. What the model makes of it is taken only when it keeps to what was said."""
    by_rule = stand_alone(question, conversation.previous)
    if model is None or conversation.previous is None:
        return by_rule
    if by_rule == question and len(content_words(question)) > SHORT_WORDS:
        return question
    turns = cut_lines(conversation.history(), _CONDENSE_TOKENS) or ""
    asked = (
        ChatTurn(role="system", content=prompt_text("condense")),
        ChatTurn(role="user", content=prompt_text("condense_question", turns=turns, question=question)),
    )
    try:
        async with asyncio.timeout(CONDENSE_LIMIT_S):
            written = await model.complete(asked)
    except (ModelError, TimeoutError) as error:
        structlog.get_logger(__name__).warning("condense.failed", reason=str(error) or "too slow")
        return by_rule
    line = mask(written.strip().splitlines()[0].strip(" \"'`")) if written.strip() else ""
    return line if _keeps_to(line, question, conversation) else by_rule


def _keeps_to(line: str, question: str, conversation: Conversation) -> bool:
    """Whether a rewritten question consists of words of the conversation, and holds one of the question's own."""
    if not line or len(line) > _MOST_CHARS:
        return False
    said = " ".join((question, *(text for _, text in conversation.turns)))
    own = content_words(question)
    if own and held_share(own, bag_of(line)) == 0.0:
        return False
    return held_share(content_words(line), bag_of(said)) >= 0.8


def _fitting(rest: str, topic: str) -> str:
    """What followed the old topic, with the particle that the new one needs: "연차는" -> "병가는", "출장은"."""
    particle, following = rest[:1], rest[1:]
    last = ord(topic[-1]) - 0xAC00
    if not 0 <= last < 11172:
        return rest
    closed = last % 28 != 0
    fitting = {"은": "은는", "는": "은는", "이": "이가", "가": "이가"}.get(particle)
    return (fitting[0 if closed else 1] if fitting else particle) + following
