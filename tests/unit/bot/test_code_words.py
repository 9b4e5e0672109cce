"""What a sentence says that code does must show in it: behaviour with a name, flags, and what its comments tell."""

from __future__ import annotations

import pytest

from bot.code_words import behaviour_fault

CODE = '''
RETRY = false

def drain(queue, cache=None):
    """Sends waiting messages and stops at the first error. Messages that failed stay in the queue."""
    if queue.closed:
        raise QueueClosed()
    return queue.sent
'''


@pytest.mark.parametrize(
    "sentence",
    [
        "닫힌 큐에서는 `QueueClosed` 예외를 던집니다.",
        "It stops at the first error.",
        "실패한 메시지는 큐에 남습니다.",
        "`RETRY`는 false입니다.",
        "캐시는 기본값이 없습니다.",
        "Failed messages are not deleted.",
    ],
)
def test_what_shows_in_the_code_is_right(sentence):
    assert behaviour_fault(sentence, CODE) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "실패한 메시지는 큐에서 삭제됩니다.",
        "It continues with the next message.",
        "오류가 나면 null을 반환합니다.",
        "It runs every hour.",
        "`RETRY`는 true입니다.",
        "메시지를 Redis에 저장합니다.",
        "It sends an email.",
    ],
)
def test_what_does_not_show_is_named(sentence):
    assert behaviour_fault(sentence, CODE.replace("None", "0")) is not None
