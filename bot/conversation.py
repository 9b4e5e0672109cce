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
_SHORT_WORDS = 3  # a question with so few telling words may lean on the one before
_HISTORY_CHARS = 500  # of one turn
_CONDENSE_TOKENS = 1200

_OPENS = re.compile(
    r"^\s*(?:그럼|그러면|그렇다면|그리고|그런데|근데|그건|그거|그것|이건|이거|그때|그 ?경우|이 "
    r"?경우|또|아니|혹시 그|반대로|만약|and\b|what about|how about|"
    r"then\b|also\b|but\b|so\b|what if|same for|for\s+\w+(?:\s\w+){0,3}\?)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"(?:^|\s)(?:그|저|이|위|해당|같은|방금|아까|앞)\s?(?:규정|조항|경우|문서|함수|파일|코드|내용|"
    r"금액|기간|휴가|표|기준|것|거|때|사람|제도)|"
    r"\b(?:it|its|that|those|these|this|they|them|there|the same|previous|above|one|ones)\b|거기|그게|그것|이것|저것",
    re.IGNORECASE,
)
_ONLY_TOPIC = re.compile(r"^[\s\S]{1,24}(?:은|는|도|이면|라면|일 ?때는|의 ?경우는?|의 ?경우에는)(?:요)?\s*\?*\s*$")
_NO_TOPIC = re.compile(
    r"^\s*(?:왜|언제|어디서?|누가|누구|얼마|며칠|몇 \S+|어떻게|(?:why|when|where|who|how (?:much|"
    r"many|long)|which)\b)[\s\S]{0,16}$",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:면|면요|나요|까요|어요|아요|해요|지요|죠|니까|는가요|ㄴ가요|인가요|할까|할지|되나|하나|써야|써도)$"
)
_ASKING = frozenset(
    ["어떻게", "얼마", "얼마나", "며칠", "언제", "무엇", "어디", "누구", "누가", "왜", "몇", "되나요", "하나요"]
)
_LEAD = re.compile(
    r"^\s*(?:그럼|그러면|그렇다면|그리고|그런데|근데|또|혹시|아니|만약|and|then|also|but|so|what "
    r"about|how about|what if)[\s,]+",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^(?P<topic>\S{2,14}?(?:\s\S{2,10}?){0,2})(?:은|는|이|가|도)\s")
_ARTICLE = re.compile(r"제\s?(\d+)\s?조(?:의\s?\d+)?")
_NEXT_ARTICLE = re.compile(r"(?:그|바로)?\s*(?:(다음)|앞|이전)\s?조(?:문|항)?(?=은|는|도|이|가|을|를|의|\s|[?？]|$)")
_ASPECT = re.compile(  # of a topic; alone they say nothing of what a question is about
    "취소|변경|신청|연장|승인|결재|반납|반환|환불|연기|면제|예외|기간|기한|한도|금액|비용|절차|방법|서류|양식|대상|자격|조건"
    "|담당자?|위반|벌칙|처벌|제출|접수|보고|비밀|임기|횟수|시기|사유"
)
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
            questions.append(stand_alone(text, before))
    return Conversation(questions=tuple(questions[-MOST_TURNS:]), turns=tuple(turns[-2 * MOST_TURNS :]))


def leans_on_before(question: str) -> bool:
    """Whether a question leaves out what the one before named."""
    words = telling_words(question)
    if _OPENS.match(question) or _ONLY_TOPIC.match(question) or _NO_TOPIC.match(question):
        return True
    points_back = len(words) <= 2 * _SHORT_WORDS and _POINTS_BACK.search(question) is not None
    return points_back or names_no_topic(question)


def names_no_topic(question: str) -> bool:
    """Whether a question names at most an aspect of what it is about: "신청은 언제까지 하나요?", "취소는요?"."""
    return all(_ASPECT.fullmatch(word) for word in telling_words(question))


def telling_words(question: str) -> list[str]:
    """The words that say what a question is about, without those that only ask."""
    return [word for word in content_words(question) if not _VERB.search(word) and word not in _ASKING]


def stand_alone(question: str, before: str | None) -> str:
    """The question with the words of the one before that it leaves out; unchanged when it leaves nothing out.

    "그럼 병가는?" after "연차휴가는 며칠인가요?" takes the place of its topic: "병가는 며칠인가요?", and "취소는요?"
    after "예약은 어떻게 하나요?" stands beside it: "예약 취소는 어떻게 하나요?". Another article takes the place of the
    one before. Otherwise the words of the question before are added.
    """
    if before is None or not leans_on_before(question):
        return question
    bare = _counted_on(_LEAD.sub("", question).strip() or question.strip(), before)
    asked_for = _NEW_TOPIC.match(bare)
    if asked_for and _ARTICLE.fullmatch(asked_for["topic"]) and _ARTICLE.search(before):
        return _ARTICLE.sub(asked_for["topic"], before, count=1)
    if _ARTICLE.search(bare):
        before = " ".join(_ARTICLE.sub("", before).split())
    new, old = _NEW_TOPIC.match(bare), _TOPIC.match(before)
    if new and old and not _ARTICLE.search(bare) and not set(content_words(new["topic"])) & set(content_words(before)):
        rest = _fitting(before[old.end("topic") :], new["topic"])
        kept = f"{old['topic']} " if names_no_topic(new["topic"]) else ""
        return f"{kept}{new['topic']}{rest}"[:_MOST_CHARS]
    known = set(content_words(bare))
    carried = [word for word in before.split() if not set(content_words(word)) & known]
    return f"{bare} {' '.join(carried)}"[:_MOST_CHARS].strip()


def _counted_on(question: str, before: str) -> str:
    """The question with "다음 조" as the article that follows the one of the question before."""
    named, wanted = _ARTICLE.search(before), _NEXT_ARTICLE.search(question)
    if named is None or wanted is None:
        return question
    number = int(named[1]) + (1 if wanted[1] else -1)
    return f"{question[: wanted.start()]}제{number}조{question[wanted.end() :]}".strip()


def with_old_topic(question: str, before: str | None) -> str | None:
    """A follow-up that names a topic, with the topic of the question before beside it; None for other questions."""
    if before is None or not leans_on_before(question):
        return None
    bare = _LEAD.sub("", question).strip() or question.strip()
    new, old = _NEW_TOPIC.match(bare), _TOPIC.match(before)
    if not new or not old or names_no_topic(new["topic"]) or _ARTICLE.search(_counted_on(bare, before)):
        return None
    return f"{new['topic']} {before}"[:_MOST_CHARS]


def with_question_before(question: str, before: str | None) -> str | None:
    """A short question that names something, with the one before beside it: "승인은 누가 하나요?" after one about
    working from home; None for others. Whether it changes the topic only the search can tell."""
    if before is None or leans_on_before(question) or not 0 < len(telling_words(question)) <= _SHORT_WORDS - 1:
        return None
    return f"{question} {before}"[:_MOST_CHARS]


async def condense(question: str, conversation: Conversation, model: ChatModel | None) -> str:
    """The question as it stands alone. What the model makes of it is taken only when it keeps to what was said."""
    by_rule = stand_alone(question, conversation.previous)
    if model is None or conversation.previous is None:
        return by_rule
    if by_rule == question and len(content_words(question)) > _SHORT_WORDS:
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
