"""Whether a message is answered, and why not: one ladder of reasons, from the cheapest to the dearest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.types import Admission, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What has to be known besides the message itself."""

    bot_id: str | None
    max_chars: int
    answered_thread: bool  # the bot has answered somebody in this thread, or is about to
    answers: bool = True  # questions are answered in this channel
    alerts: bool = False  # what programs post in this channel are alerts
    alert_authors: Collection[str] = ()  # accounts of people whose posts are alerts too
    names_cause: bool = False  # the message says what the cause of a fault was, below its analysis
    is_listed: bool = True  # the channel has an entry in the settings
    over_limit: bool = False  # this person, or everybody together, has asked too much


def admit(message: Message, around: Surroundings) -> Admission:
    """The decision and its reason. What is "told" is said instead of an answer; all other refusals are silent.

    A follow-up in a thread of the bot needs no mention, as between people; elsewhere the bot stays silent unless it is
    spoken to.
    """
    if around.bot_id is not None and message.author.id == around.bot_id:
        return _passed_over("own message")
    if message.event != "posted":
        return _passed_over({"edited": "an edit", "deleted": "a deletion"}.get(message.event, "a system post"))
    if message.author.is_bot or message.author.id in around.alert_authors:
        return _admit_program(message, around)
    to_us = message.mentions_bot or message.is_direct or not message.mentions_others
    is_foreign = message.is_shared and not around.is_listed
    if around.names_cause and to_us and not is_foreign and len(message.text.strip()) <= around.max_chars:
        return Admission(admitted=True, reason="the cause of a fault, below its analysis")
    if not around.answers:
        return _passed_over("answering is switched off in this channel")
    addressed = message.mentions_bot or message.is_direct
    if not addressed and not around.answered_thread:
        return _passed_over("not addressed (no mention, no direct message, no thread of the bot)")
    if not addressed and message.mentions_others:
        return _passed_over("a follow-up that speaks to somebody else")
    if is_foreign:
        return _told("shared") if addressed else _passed_over("a channel that other organisations read, not listed")
    if not _says_something(message):
        return _told("empty") if addressed else _passed_over("a follow-up in which nothing is asked")
    if len(message.text.strip()) > around.max_chars:
        return _told("too_long")
    if around.over_limit:
        return _told("over_limit")
    if message.mentions_bot:
        return Admission(admitted=True, reason="mention")
    return Admission(
        admitted=True, reason="direct message" if message.is_direct else "follow-up in a thread of the bot"
    )


def _admit_program(message: Message, around: Surroundings) -> Admission:
    """What bots, webhooks and alerting accounts post is an alert where alerts are awaited, else nothing. Below another
    post it is never one: two bots would talk to each other for ever."""
    if not around.alerts:
        return _passed_over("another bot")
    if message.id != message.thread.root_id:
        return _passed_over("another bot, below a post")
    if not message.text.strip() and not any(item.text for item in message.attachments):
        return _passed_over("an alert without text")
    return Admission(admitted=True, reason="alert", kind="alert")


def _says_something(message: Message) -> bool:
    texts = [message.text, *(item.text or "" for item in message.attachments)]
    return any(character.isalnum() for text in texts for character in text)


def _passed_over(reason: str) -> Admission:
    return Admission(admitted=False, reason=f"silent: {reason}")


def _told(name: str) -> Admission:
    return Admission(admitted=False, reason=name, told=name)
