"""Whether a message is answered: one ladder of reasons not to."""

from __future__ import annotations

from bot.types import Admission, Message


def admit(message: Message, *, bot_id: str | None, answered_thread: bool, max_chars: int) -> Admission:
    """The decision and its reason. `answered_thread`: the bot has answered in this thread before.

    A follow-up in a thread of the bot needs no mention, as between people; elsewhere the bot stays silent unless it is
    spoken to. "empty" and "too long" are told to whoever did speak to it; a reason that begins with "silent" is not.
    """
    if bot_id is not None and message.author.id == bot_id:
        return _refused("silent: own message")
    if message.author.is_bot:
        return _refused("silent: another bot")
    if not (message.mentions_bot or message.is_direct or answered_thread):
        return _refused("silent: not addressed (no mention, no direct message, no thread of the bot)")
    text = message.text.strip()
    if not any(character.isalnum() for character in text):
        return _refused("empty" if message.mentions_bot or message.is_direct else "silent: nothing asked")
    if len(text) > max_chars:
        return _refused("too_long")
    return Admission(admitted=True, reason="mention" if message.mentions_bot else _address(message))


def _address(message: Message) -> str:
    return "direct message" if message.is_direct else "follow-up in a thread of the bot"


def _refused(reason: str) -> Admission:
    return Admission(admitted=False, reason=reason)
