"""Whether a clause of a claim and one clause of the evidence say the same thing of the same subject.

The right number of another subject, the subject of one rule with the deed of another, and words that turn a rule round
are found by comparing how much of the claim each clause of the evidence covers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.claims import Claims, claims_of
from bot.clause_windows import Window, clauses_of_sentence, topics_of, words_of
from bot.polarity import is_denied, predicate_of
from bot.quantities import Quantity, plain
from bot.strong_words import left_out, turned_round, unsupported_strength

_MARGIN = 1.0
_DURATIONS = frozenset({"년", "개월", "주", "일", "영업일", "시간", "분", "초", "밀리초"})
_IN_TURN = re.compile(r"각각|respectively|순서대로", re.IGNORECASE)
_AFTER = re.compile(
    r"\s?(?:이\s)?(?:(?P<late>\S{0,4}(?:한|된|난)\s(?:뒤|후)|이후|후(?!보|원)|뒤|부터|지나)|(?P<early>전(?!체|부|액|사)|이내|까지|안에|내에))"
)
_BEFORE = re.compile(
    r"\b(?:(?P<late>after|from|since)|(?P<early>before|within|by|until|no later than))\s+(?:the\s)?$", re.IGNORECASE
)
_NUMBER = re.compile(r"\d[\d,.:]*\s?(?:[가-힣]{1,3}|[a-z]+)?", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d,]*")
_DENIED = re.compile(
    r"(?:않|아니|못|없|안\s?(?:되|됩|된|돼)|금지|불가|말아야)[가-힣]*(?:\s?[되됩된하한합][가-힣]{0,4})?$|"
    r"\b(?:not|cannot|never|n't)\b(?!.*\bunless\b)",
    re.IGNORECASE,
)
_BOUND = re.compile(r"초과|넘|외에|제외|한하|한정|이내|이하|미만|만\s|\bonly\b|\bunless\b|\bexcept", re.IGNORECASE)
_SOURCE = re.compile(
    r"([가-힣A-Za-z·]{2,24}(?:규정|규칙|지침|세칙|내규|요령|매뉴얼|기준|법률|법|안내|가이드|정책))(?:\s?제\d+조[^\s]*)?\s?"
    r"(?:에|을|를)\s?(?:따라|따르면|의하면|의하여|의거)"
)


def support_fault(claims: Claims, windows: Sequence[Window], whole: str) -> str | None:
    """What is wrong with a claim about prose, None when nothing is. `whole` is all the evidence that it names."""
    strong = unsupported_strength(claims.spoken, whole)
    if strong is not None:
        return f'"{strong}" does not stand in the evidence it names'
    if needless := left_out(claims.spoken, whole):
        return f'"{needless}" does not stand in the evidence it names'
    if fault := _source_fault(claims.spoken, whole):
        return fault
    if not windows:
        return None
    if fault := _direction_fault(claims.spoken, whole):
        return fault
    carried: tuple[str, ...] = ()
    for clause in clauses_of_sentence(claims.spoken):
        part = claims_of(clause)
        topics = topics_of(clause)
        fault = (
            _opposite_fault(clause, windows)
            or _denial_fault(clause, topics, windows)
            or _amount_fault(clause, part, windows, () if topics else carried, whole=claims.spoken)
            or _date_fault(clause, part, windows)
            or _topic_fault(clause, topics, part, windows)
        )
        if fault:
            return fault
        carried = topics or carried
    return None


def _source_fault(spoken: str, whole: str) -> str | None:
    squeezed = re.sub(r"\s+", "", plain(whole))
    for match in _SOURCE.finditer(spoken):
        if match[1] not in squeezed and not match[1].endswith(("기준", "안내")):
            return f"{match[1]} is not the document it names"
    return None


def _direction_fault(spoken: str, whole: str) -> str | None:
    """What is wrong when the claim says "after" a number where the evidence says "until" or "before" it."""
    theirs = _directions(plain(whole))
    for digits, side in _directions(spoken).items():
        if len(side) == 1 and digits in theirs and not side & theirs[digits]:
            return f"{digits} is a limit of the other direction in the evidence"
    return None


def _directions(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in _NUMBER.finditer(text):
        digits = _DIGITS.match(match[0])
        if digits is None:
            continue
        end = digits.end() + match.start()
        unit = re.compile(
            r"\s?(?:시간|시|개월|년|주일|주|일|분|초|영업일|만\s?원|천\s?원|원|회|[a-z]+)?(?:간|째)?"
        ).match(text, end)
        behind = _AFTER.match(text, unit.end() if unit else end)
        side = _side(behind) if behind else _side(_BEFORE.search(text[max(0, match.start() - 20) : match.start()]))
        if side:
            found.setdefault(digits[0].replace(",", ""), set()).add(side)
    return found


def _side(match: re.Match[str] | None) -> str | None:
    return None if match is None else ("late" if match["late"] else "early")


def _opposite_fault(clause: str, windows: Sequence[Window]) -> str | None:
    """The word that turns the nearest clause of the evidence round."""
    words = words_of(clause)
    if not words:
        return None
    scores = [window.score(words) for window in windows]
    best = max(scores)
    if best < 1.0 or best * 3 < len(words):
        return None
    nearest = [window for window, score in zip(windows, scores, strict=True) if score >= best - 0.01]
    found = [turned_round(clause, window.text) for window in nearest]
    if found and all(found):
        return f'"{found[0]}" is the opposite of what the evidence says'
    return None


def _denial_fault(clause: str, topics: Sequence[str], windows: Sequence[Window]) -> str | None:
    """What is wrong when the one clause that has all the words of the claim denies what the claim affirms, or the
    other way round."""
    if _BOUND.search(clause):
        return None
    spoken = re.sub(r"[\s.!?)]+$", "", clause)
    words = [word for word in words_of(spoken) if not any(word in topic or topic in word for topic in topics)]
    words = words or words_of(spoken)
    scores = [sum(window.covers(word) == 1.0 for word in words) for window in windows]
    best = max(scores)
    few = best < 2 and not (best == 1 and len(words) == 2 and topics)
    if few or (best * 3 < len(words) * (1 if few else 2) and not (best == 1 and topics)):
        return None
    denied = _denies(spoken)
    nearest = [window for window, score in zip(windows, scores, strict=True) if score == best]
    if topics and any(any(window.covers(word) for word in topics) for window in nearest):
        nearest = [window for window in nearest if any(window.covers(word) for word in topics)]
    for window in nearest:
        theirs = re.sub(r"[\s.!?)]+$", "", window.text)
        if _BOUND.search(theirs) or _denies(theirs) == denied or not _same_deed(spoken, theirs):
            return None
    return f'says the opposite of the evidence: "{nearest[0].text[:80]}"'


def _denies(clause: str) -> bool:
    return is_denied(clause) or _DENIED.search(clause) is not None


def _same_deed(one: str, other: str) -> bool:
    """Whether both end in a verb of one root, or one only says that something may or may not be done."""
    mine, theirs = predicate_of(one), predicate_of(other)
    if not mine or not theirs:
        return False
    return mine[:1] == theirs[:1] or mine in other or theirs in one or bool({"하", "허용"} & {mine, theirs})


def _amount_fault(
    clause: str, part: Claims, windows: Sequence[Window], carried: Sequence[str], *, whole: str
) -> str | None:
    """What is wrong when the words beside an amount stand beside another one in the evidence."""
    if _IN_TURN.search(whole) or not part.quantities:
        return None
    own = words_of(_without(part))
    words = list(dict.fromkeys([*own, *(word for name in carried for word in words_of(name))]))
    if not words:
        return None
    for quantity in part.quantities:
        holding = [window for window in windows if window.holds_amount(quantity)]
        if not holding:
            continue
        if any(window.sentence_holds(word) for window in holding for word in words if word not in own):
            words = own  # the subject of an earlier clause is that of the sentence
        if not words:
            return None
        right = max(holding, key=lambda window: window.score(words))
        mine = right.score(words)
        for window in windows:
            if window in holding or not any(_is_rival(quantity, q) for q in window.claims.quantities):
                continue
            rivals = [other for other in part.quantities if other is not quantity and _is_rival(quantity, other)]
            if any(window.holds_amount(other) for other in rivals):
                continue  # the claim speaks of both
            theirs = window.score(words)
            if theirs >= mine + _margin(quantity, window, holding, words) and any(
                window.covers(w) > right.covers(w) for w in words
            ):
                other_word = next(w for w in words if window.covers(w) > right.covers(w))
                return f"{quantity.value:f}{quantity.unit or ''} does not stand beside {other_word} in the evidence"
    return None


def _date_fault(clause: str, part: Claims, windows: Sequence[Window]) -> str | None:
    """What is wrong when the words beside a date stand beside another date in the evidence."""
    words = words_of(part.text)
    for day in part.dates if len(part.dates) == 1 and words else ():
        holding = [w for w in windows if any(day.is_part_of(other) for other in w.claims.dates)]
        mine = max((w.score(words) for w in holding), default=0.0)
        for window in windows:
            if holding and window not in holding and window.claims.dates and window.score(words) >= mine + _MARGIN:
                return f"the date {day} stands beside other words in the evidence"
    return None


def _margin(quantity: Quantity, rival: Window, holding: Sequence[Window], words: Sequence[str]) -> float:
    """How much more of the words the clause of another amount must hold. None when it alone has one of them."""
    other_side = any(q.equals(quantity) for q in rival.claims.quantities)  # "50만원 이상" and "50만원 미만"
    alone = any(rival.covers(w) == 1.0 and not any(window.covers(w) for window in holding) for w in words)
    if other_side:
        return 0.0 if alone else 0.5
    return 0.5 if alone else _MARGIN


def _topic_fault(clause: str, topics: Sequence[str], part: Claims, windows: Sequence[Window]) -> str | None:
    """What is wrong when the deed of one subject is told of another."""
    for topic in topics:
        words = [word for word in words_of(clause) if word not in topic and topic not in word]
        amounts = [*part.quantities]
        if len(words) + len(amounts) + len(part.dates) < 2:
            continue

        def score(window: Window, words: list[str] = words, amounts: list[Quantity] = amounts) -> float:
            held = sum(window.bag.holds(word) or word in window.codes for word in words)
            held += sum(window.holds_amount(quantity) for quantity in amounts)
            return held + sum(any(day.is_part_of(other) for other in window.claims.dates) for day in part.dates)

        best = max(windows, key=score)
        if score(best) < 2 or not best.topics or _meet(topic, best.text) or _meet(topic, " ".join(best.topics)):
            continue
        own = [window for window in windows if _meet(topic, window.text)]
        if own and all(score(window) + _MARGIN <= score(best) for window in own):
            return f"what is said of {topic} is said of {best.topics[0]} in the evidence"
    return None


def _meet(topic: str, text: str) -> bool:
    return topic in text or (len(topic) > 2 and text in topic)


def _is_rival(quantity: Quantity, other: Quantity) -> bool:
    if quantity.equals(other):
        return quantity.contradicts_bound(other)
    return quantity.unit == other.unit or {quantity.unit, other.unit} <= _DURATIONS


def _without(part: Claims) -> str:
    text = part.spoken
    for quantity in part.quantities:
        text = text[: quantity.start] + " " * (quantity.end - quantity.start) + text[quantity.end :]
    return text
