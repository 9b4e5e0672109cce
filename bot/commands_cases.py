"""`/haechi cases`: admins list, show and forget what is remembered of past faults, as far as the channel may see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from bot.alerts.rendering import code_span
from bot.case_operations import CaseMemory, forgotten_detail
from bot.commands_parsing import parse_cases
from bot.reply_text import link_address
from knowledge.errors import NotFound
from knowledge.types import Scope
from knowledge.types_cases import ErrorCase

LISTED = 20

Say = Callable[..., str]


async def carry_out_cases(
    rest: str, memory: CaseMemory, *, scope: Scope, say: Say, forgotten: Callable[[str], None]
) -> tuple[str, str]:
    """(the name of the outcome, what is said). `forgotten` keeps the origin of a case that is forgotten.

    A case that the channel may not see is one that does not exist.
    """
    action, number, service = parse_cases(rest)
    if action == "unknown" or (number is None and action != "list"):
        return "unknown action", say("cases_what")
    if action == "list" or number is None:
        found = await asyncio.to_thread(memory.list_cases, scope=scope, service=service, limit=LISTED)
        return f"listed {len(found)}", _listed(found, say)
    try:
        if action == "forget":
            case = await asyncio.to_thread(memory.forget, number, scope=scope)
            await asyncio.to_thread(forgotten, case.origin)
            return f"forgot {forgotten_detail(case)}", say("case_forgotten", n=case.number, what=_what(case))
        case = await asyncio.to_thread(memory.show, number, scope=scope)
    except NotFound:
        return "not found", say("case_none", n=number)
    return f"showed {number}", _shown(case, say)


def _listed(cases: Sequence[ErrorCase], say: Say) -> str:
    if not cases:
        return say("cases_none")
    lines = [f"- {_name(case)} {_what(case)}{_marks(case, say)}: {code_span(case.cause)}" for case in cases]
    return say("cases") + "\n\n" + "\n".join(lines)


def _shown(case: ErrorCase, say: Say) -> str:
    parts = [f"{_name(case)} {_what(case)}{_marks(case, say)} · {case.learnt_at:%Y-%m-%d}"]
    parts += [code_span(text, most=1000) for text in (case.message, case.summary, case.cause) if text]
    places = [
        f"- {code_span(f'{one.source}/{one.uri}' + (f':{one.start_line}' if one.start_line else ''))}"
        for one in case.cited
    ]
    parts += ["\n".join(places)] if places else []
    if case.fix and "```" not in case.fix:
        parts.append(f"```diff\n{case.fix}\n```")
    return "\n\n".join(parts)


def _name(case: ErrorCase) -> str:
    address = link_address(case.url)
    return f"[#{case.number}]({address})" if address else f"#{case.number}"


def _what(case: ErrorCase) -> str:
    return f"{code_span(case.error_class or '-')} ({code_span(case.service or '-')})"


def _marks(case: ErrorCase, say: Say) -> str:
    marks = [say("case_told")] if case.is_correction else []
    marks += [say("case_stale")] if case.is_stale else []
    return f" [{', '.join(marks)}]" if marks else ""
