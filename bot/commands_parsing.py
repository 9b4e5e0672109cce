"""What a slash command asks for: its subcommand in either language, the words behind it, and the nearest known one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.inbox import Lane
from bot.types import Vote

CommandName = Literal["ask", "search", "status", "sources", "reindex", "feedback", "cases", "help", "unknown"]

_NAMES: Mapping[str, CommandName] = {
    **dict.fromkeys(("ask", "질문", "물어보기", "묻기"), "ask"),
    **dict.fromkeys(("search", "find", "검색", "찾기"), "search"),
    **dict.fromkeys(("status", "상태", "현황"), "status"),
    **dict.fromkeys(("sources", "source", "자료", "출처", "소스"), "sources"),
    **dict.fromkeys(("reindex", "재색인", "다시읽기", "색인"), "reindex"),
    **dict.fromkeys(("feedback", "평가", "피드백", "의견"), "feedback"),
    **dict.fromkeys(("cases", "case", "사례", "사례들"), "cases"),
    **dict.fromkeys(("help", "?", "도움말", "도움"), "help"),
}
_VOTES: Mapping[str, Vote] = {
    **dict.fromkeys(("up", "+1", "👍", "good", "좋음", "좋아요", "도움됨"), "up"),
    **dict.fromkeys(("down", "-1", "👎", "bad", "아쉬움", "별로", "싫어요"), "down"),
    **dict.fromkeys(("wrong", "❌", "틀림", "틀렸어요", "오답"), "wrong"),
}
CaseAction = Literal["list", "show", "forget", "unknown"]
_CASE_ACTIONS: Mapping[str, CaseAction] = {
    **dict.fromkeys(("list", "목록"), "list"),
    **dict.fromkeys(("show", "보기", "자세히"), "show"),
    **dict.fromkeys(("forget", "잊기", "삭제", "지우기"), "forget"),
}
_CANCEL = ("cancel", "stop", "취소", "중지")
_FORCE = ("--force", "-f", "--강제", "강제")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A command: `rest` are the words behind its name; `nearest` is what an unknown one may have meant."""

    name: CommandName
    rest: str
    typed: str = ""
    nearest: str = ""


def parse_command(args: str) -> Parsed:
    """The command in the words behind /haechi; nothing at all asks for help."""
    typed, _, rest = args.strip().partition(" ")
    if "\n" in typed:
        typed, _, rest = args.strip().partition("\n")
    if not typed:
        return Parsed(name="help", rest="")
    name = _NAMES.get(typed.lower())
    if name is not None:
        return Parsed(name=name, rest=rest.strip(), typed=typed)
    near = difflib.get_close_matches(typed.lower(), list(_NAMES), n=1, cutoff=0.5)
    return Parsed(name="unknown", rest=rest.strip(), typed=typed[:40], nearest=near[0] if near else "")


def lane_of(parsed: Parsed) -> Lane:
    """Where the command waits: only questions may wait for a model, only reading sources again takes long."""
    if parsed.name == "ask" and parsed.rest:
        return "slow"
    return "long" if parsed.name == "reindex" and not parse_cancel(parsed.rest) else "quick"


def parse_reindex(rest: str) -> tuple[list[str], bool, str]:
    """(sources, whether everything is read again, an option that is not known)."""
    words = rest.split()
    unknown = next((word for word in words if word.startswith("-") and word not in _FORCE), "")
    return [word for word in words if word not in _FORCE and word != unknown], any(w in _FORCE for w in words), unknown


def parse_cancel(rest: str) -> list[str]:
    """The words when the first of them asks to stop the running syncs; empty otherwise."""
    words = rest.split()
    return words if words and words[0].lower() in _CANCEL else []


def parse_vote(rest: str) -> tuple[Vote | None, str]:
    """(vote, comment); no vote when the first word is none."""
    word, _, comment = rest.partition(" ")
    return _VOTES.get(word.lower()), comment.strip()


def parse_cases(rest: str) -> tuple[CaseAction, int | None, str | None]:
    """(action, number of a case, service to list); nothing at all asks for the list, a number alone to show it."""
    words = rest.split()
    if not words:
        return "list", None, None
    action = _CASE_ACTIONS.get(words[0].lower())
    numbers = [int(word.lstrip("#")) for word in words if word.lstrip("#").isdecimal() and len(word) < 12]
    if action is None:
        return ("show", numbers[0], None) if len(words) == 1 and numbers else ("unknown", None, None)
    if action == "list":
        return action, None, words[1] if len(words) > 1 else None
    return action, numbers[0] if len(numbers) == 1 and len(words) == 2 else None, None
