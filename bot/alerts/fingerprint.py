"""What makes two alerts the same fault: a key that survives lines, ids, hosts and times, and a sequence to compare.

With frames, a fault is its service, the classes of its chain and the company's own functions on the way: no lines, no
messages, since an edit shifts the one and a language or an id changes the other. Without frames it is the alerting
rule, or the logger, class and error codes, with the message only where they say too little.

A trace that was cut off lacks what its language prints last: Python its innermost calls and the class, others their
outer calls and the causes. The sequence is kept as printed, so that a cut one is the beginning of a whole one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from bot.alerts.alert import Thrown, Trace, TraceFrame
from bot.alerts.services import plain_name
from bot.alerts.variable_words import error_codes, rule_name, without_variables

MAX_TOKENS = 120
MAX_MESSAGE_CHARS = 300
_LEAST_WEIGHT = 3  # of what is left of a trace that was cut off: less could be the beginning of any fault
_WEIGHTS = {"C": 2, "A": 2, "L": 1}
_ENDLESS = ("StackOverflowError", "RecursionError", "StackOverflowException", "stack overflow")
_HASHED_NAME = re.compile(
    r"[.\-_~](?=[\w]*\d)[0-9a-f]{6,}(?=[.\-_~]|$)|[.\-_](?=[A-Za-z_]*\d)[A-Za-z0-9_]{8}(?=\.\w+$)"
)
_GENERATED = re.compile(r"\$\$[\w$]*.*$|\$\d+|(?:\.func\d+)+(?:\.\d+)*|`\d+|<[^<>]*>|__\w+$")
_OWNERS = re.compile(r"^(?:Object|Module|exports|global|window|_?this)\.")


def fingerprint(
    *,
    service: str | None,
    traces: Sequence[Trace],
    error_class: str | None,
    message: str,
    title: str,
    rule: str | None = None,
    logger: str | None = None,
) -> tuple[str, tuple[str, ...]]:
    """(key, sequence): equal keys are the same fault; the sequence is what the fault looks like, in printed order."""
    main = main_trace(traces)
    if main is not None:
        sequence = _printed(main)
        essence = _essence(main)
        if not any(":" in token[2:] and not token.endswith(":") for token in essence if token[:1] in "AL"):
            essence = (*essence, *_words(main.root.message or message))  # places without names say too little
    else:
        sequence = essence = tuple(_told(error_class, message, title, rule, logger))
    owner = plain_name(service) if service else ""
    key = hashlib.sha256("\n".join((owner, *essence)).encode("utf-8", "replace")).hexdigest()[:20]
    return key, sequence


def same_fault(one: Sequence[str], *, is_truncated: bool, other: Sequence[str], other_is_truncated: bool) -> bool:
    """Whether two sequences of one service are of the same fault although their keys differ: one was cut off, and what
    is left of it is how the other one begins."""
    if _essential(one) == _essential(other):
        return True
    return _begins(one, other, was_cut=is_truncated) or _begins(other, one, was_cut=other_is_truncated)


def group_of(
    sequence: Sequence[str], *, is_truncated: bool, groups: Sequence[tuple[Sequence[str], bool]]
) -> int | None:
    """The place in `groups` (sequence, is_truncated) of the one group of the service that this fault belongs to.

    Keys are compared before. None when there is none, and when what is left of a trace fits several different faults:
    counting it to one of them would be a guess.
    """
    fitting = [
        place
        for place, (other, cut) in enumerate(groups)
        if same_fault(sequence, is_truncated=is_truncated, other=other, other_is_truncated=cut)
    ]
    if len(fitting) > 1:
        longest = max(fitting, key=lambda place: len(groups[place][0]))
        whole = groups[longest][0]
        if not all(_begins(groups[place][0], whole, was_cut=True) or place == longest for place in fitting):
            return None
        return longest
    return fitting[0] if fitting else None


def main_trace(traces: Sequence[Trace]) -> Trace | None:
    """The trace that the alert is about: the first whole one with own frames, else the first with any."""
    framed = [trace for trace in traces if any(one.frames for one in trace.thrown)]
    own = [trace for trace in framed if any(frame.in_app for one in trace.thrown for frame in one.frames)]
    named = [trace for trace in own if trace.thrown[0].error_class]
    return next(iter(named or own or framed), None)


# --- with frames ----------------------------------------------------------------------------------


def _printed(trace: Trace) -> tuple[str, ...]:
    """Classes ("C:"), own ("A:") and other functions ("L:") in the order in which this language prints them."""
    tokens: list[str] = []
    if trace.language == "python":
        for one in reversed(trace.thrown):
            tokens += reversed(_functions(one, trace.language))
            tokens += _class_of(one)
    else:
        for one in trace.thrown:
            tokens += _class_of(one)
            tokens += _functions(one, trace.language) if trace.language != "dotnet" else ()
        for one in reversed(trace.thrown if trace.language == "dotnet" else ()):
            tokens += _functions(one, trace.language)
    return tuple(tokens[:MAX_TOKENS])


def _essence(trace: Trace) -> tuple[str, ...]:
    """What the key is made of: the chain, outermost first, with own functions, or with all where none is own."""
    chain = [[*_class_of(one), *_functions(one, trace.language)] for one in trace.thrown]
    tokens = [token for one in chain for token in one]
    if any(one.error_class.rpartition(".")[2] in _ENDLESS for one in trace.thrown):
        return (
            *sorted({token for token in tokens if token[0] == "C"}),
            *sorted({t for t in tokens if t[0] == "A"})[:12],
        )
    own = any(token.startswith("A:") for token in tokens)
    return tuple(token for token in tokens if token[0] == "C" or not own or token[0] == "A")


def _class_of(one: Thrown) -> list[str]:
    return [f"C:{class_name(one.error_class)}"] if one.error_class else []


def class_name(error_class: str) -> str:
    """The name of a class without its package, which not every system tells."""
    return re.split(r"[.\\]|::", _GENERATED.sub("", error_class))[-1] or error_class


def _functions(one: Thrown, language: str) -> list[str]:
    """A token for each function, innermost first, without repetition: recursion goes to another depth each time."""
    named = (f"{'A' if frame.in_app else 'L'}:{function_name(frame, language)}" for frame in one.frames)
    return list(dict.fromkeys(named))


def function_name(frame: TraceFrame, language: str = "") -> str:
    """ "tasks/queries:execute_query": a function by its file, without lines, build hashes and generated parts."""
    parts = [_HASHED_NAME.sub("", part) for part in frame.file.rstrip(".").split("/")]
    stem = re.sub(r"(?:\.(?:min|bundle|chunk|prod|dev|esm|cjs))*\.\w{1,5}$", "", parts[-1]) or parts[-1]
    folder = re.sub(r"\d+", "#", parts[-2]) if len(parts) > 1 and language not in ("dotnet", "swift") else ""
    symbol = _OWNERS.sub("", _GENERATED.sub("", frame.symbol or ""))
    symbol = re.sub(r"\[as \w+\]|\s+", "", symbol)
    if language == "javascript":
        symbol = "" if len(symbol.rpartition(".")[2]) <= 2 else symbol  # minified: another name in every build
    return f"{folder}/{stem}:{symbol}" if folder else f"{stem}:{symbol}"


# --- without frames -------------------------------------------------------------------------------


def _told(error_class: str | None, message: str, title: str, rule: str | None, logger: str | None) -> Iterator[str]:
    if rule:
        yield f"R:{rule_name(rule)}"
        return
    codes = error_codes(message)
    if logger:
        yield f"G:{without_variables(logger)}"
    if error_class:
        yield f"C:{class_name(error_class)}"
    yield from (f"E:{code}" for code in codes)
    if not codes or not (error_class or logger):
        yield from _words(message or title)


def _words(message: str) -> Iterator[str]:
    if words := without_variables(message)[:MAX_MESSAGE_CHARS].strip():
        yield f"M:{words}"


# --- comparing ------------------------------------------------------------------------------------


def _essential(sequence: Sequence[str]) -> tuple[str, ...]:
    own = any(token.startswith("A:") for token in sequence)
    return tuple(token for token in sequence if not (own and token.startswith("L:")))


def _begins(short: Sequence[str], whole: Sequence[str], *, was_cut: bool) -> bool:
    """Whether `whole` begins with `short`, and `short` says enough. Without a cut it must end where a cause begins."""
    weight = sum(_WEIGHTS.get(token[0], 0) for token in short)
    if any(token.startswith("A:") for token in short):
        short, whole = _essential(short), _essential(whole)
    if not short or len(short) > len(whole) or weight < _LEAST_WEIGHT:
        return False
    if tuple(whole[: len(short) - 1]) != tuple(short[:-1]):
        return False
    last, counterpart = short[-1], whole[len(short) - 1]
    if not was_cut:
        return (
            last == counterpart
            and len(short) < len(whole)
            and (whole[len(short)].startswith("C:") or last.startswith("C:"))
        )
    return counterpart.startswith(last)
