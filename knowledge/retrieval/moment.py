"""Which time a question is about: today, a day, month or year that it names, or before the last revision."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
# what makes a date the time that is asked about, and not a fact of the question ("2015년에 입사했는데")
_MARK = r"\s*(?:도|분)?\s*(?:기준|당시|시점|현재|때|무렵|에는|엔|에도|까지는|까지만|적용|시행|규정(?:으로|에|상)|버전)"
_RELATIVE_YEARS = {
    "재작년": -2, "작년": -1, "지난해": -1, "전년도": -1, "전년": -1, "올해": 0, "금년": 0, "내년": 1, "내후년": 2,
}  # fmt: skip
_KOREAN = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d{2})\s*[년.\-]\s*(?:(?P<m>\d{1,2})\s*[월.\-]?\s*(?:(?P<d>\d{1,2})\s*[일.]?)?)?" + _MARK
)
# a year without a mark is the time that is asked about when the question ends in the past: "2015년 일비는 얼마였나요?"
_PAST_END = (
    r"[가-힣]*(?:였|었|았|했|됐|갔|냈|났|겼)(?:나요|어요|어|나|죠|지요?|습니까|을까요?|던가요?|는지)?\s*[?？.!~]*\s*$"
)
_KOREAN_PAST = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d{2})\s*년도?\s*(?:(?P<m>\d{1,2})\s*월\s*(?:(?P<d>\d{1,2})\s*일)?)?(?:에)?(?=\s)"
    rf"(?!\s*(?:\d\s*[/]?\d*\s*분기|[상하]반기|이후|이전|말|초|중))(?=.*{_PAST_END})"
)
_RELATIVE_PAST = re.compile(rf"(?P<word>{'|'.join(_RELATIVE_YEARS)})(?:에)?(?=\s)(?=.*{_PAST_END})")
_KOREAN_RELATIVE = re.compile(
    rf"(?P<word>{'|'.join(_RELATIVE_YEARS)})\s*(?:(?P<m>\d{{1,2}})\s*월\s*(?:(?P<d>\d{{1,2}})\s*일)?)?(?P<mark>{_MARK})?"
)
_YEARS_AGO = re.compile(r"(?P<n>\d{1,2})\s*년\s*전\s*(?:에는|엔|기준|규정|당시)|\b(?P<m>\d{1,2}) years? ago\b", re.I)
_LAST_MONTH = re.compile(rf"지난\s*달{_MARK}|\blast month\b", re.I)
_ENGLISH = re.compile(
    r"\b(?:as of|as at|as (?:it|they) stood (?:in|on)|back in"
    r"|(?:valid|in force|applicable|effective|rules?|policy) (?:in|on|of))\s+"
    rf"(?:(?P<d1>\d{{1,2}})\s+)?(?:(?P<name>{_MONTH_NAME})\s+)?(?:(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?"
    r"(?P<y>(?:19|20)\d{2})(?:-(?P<m>\d{2})(?:-(?P<d>\d{2}))?)?\b",
    re.I,
)
_ENGLISH_PAST = re.compile(
    rf"\b(?:was|were|did|could|had|used to)\b.*\bin (?:(?P<name>{_MONTH_NAME}) )?(?P<y>(?:19|20)\d{{2}})\b", re.I
)
_LAST_YEAR = re.compile(r"\b(?P<word>last|next) year\b", re.I)
_BEFORE_YEAR = re.compile(
    r"(?<!\d)((?:19|20)\d{2})\s*년\s*(?:(\d{1,2})\s*월\s*)?개정\s*(?:되기\s*)?전"
    r"|\bbefore (?:the )?((?:19|20)\d{2}) (?:revision|amendment|change|update)",
    re.I,
)
_BEFORE = re.compile(
    r"(?:개정|변경|수정)\s*(?:하기|되기)?\s*전(?!\s*후|면|부|문|체)|(?:바뀌|고치)기\s*전"
    r"|(?:이전|예전|종전|옛날|옛|구|직전)\s*(?:의\s*)?(?:규정|규칙|지침|기준|버전|개정|취업규칙)|예전(?:에는|엔)"
    r"|\b(?:before|prior to) (?:the |its |this )?(?:last |latest |recent )?(?:revision|amendment|change|update)"
    r"|\b(?:previous|former|old|earlier|superseded) (?:version|rules?|regulations?|policy|revision|edition)\b",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The days that a question is about, first and last; `previous`: the revision before the one that holds then."""

    first: date
    last: date
    previous: bool = False
    words: str = ""  # of the question that say so; "" for today, which no words say

    @property
    def is_today(self) -> bool:
        return not self.words


def moment_of(text: str, *, today: date) -> Moment:
    """The time that a question is about; today when it names none. Never raises."""
    if found := _BEFORE_YEAR.search(text):
        year = int(found[1] or found[3])
        start = _day(year, int(found[2]), 1) if found[2] else _day(year, 1, 1)
        if start is not None:
            before = start - timedelta(days=1)
            return Moment(first=before, last=before, words=found.group())
    for read in (_named, _relative):
        moment = read(text, today)
        if moment is not None:
            return moment
    if found := _BEFORE.search(text):
        return Moment(first=today, last=today, previous=True, words=found.group())
    return Moment(first=today, last=today)


def _named(text: str, today: date) -> Moment | None:
    found = _KOREAN.search(text) or _KOREAN_PAST.search(text)
    if found:
        return _period(int(found["y"]), _int(found["m"]), _int(found["d"]), found.group(), today)
    found = _ENGLISH.search(text)
    if found:
        month = _month(found["name"]) or _int(found["m"])
        day = _int(found["d"] or found["d1"] or found["d2"]) if month else None
        return _period(int(found["y"]), month, day, found.group(), today)
    found = _ENGLISH_PAST.search(text)
    if found:
        return _period(
            int(found["y"]), _month(found["name"]), None, found.group()[found.group().rfind(" in ") :], today
        )
    return None


def _relative(text: str, today: date) -> Moment | None:
    found = _KOREAN_RELATIVE.search(text)
    if found and (found["mark"] or (found["m"] and re.match(r"\s*(?:에|에는|엔)?\s", text[found.end() :] + " "))):
        year = today.year + _RELATIVE_YEARS[found["word"]]
        return _period(year, _int(found["m"]), _int(found["d"]), found.group(), today)
    found = _RELATIVE_PAST.search(text)
    if found:
        return _period(today.year + _RELATIVE_YEARS[found["word"]], None, None, found.group(), today)
    found = _LAST_YEAR.search(text)
    if found:
        return _period(today.year + (1 if found["word"].casefold() == "next" else -1), None, None, found.group(), today)
    found = _YEARS_AGO.search(text)
    if found:
        return _period(today.year - int(found["n"] or found["m"]), today.month, None, found.group(), today)
    found = _LAST_MONTH.search(text)
    if found:
        last = today.replace(day=1) - timedelta(days=1)
        return Moment(first=last.replace(day=1), last=last, words=found.group())
    return None


def _period(year: int, month: int | None, day: int | None, words: str, today: date) -> Moment | None:
    """A day, month or year; of one that is running the days that are left, today first."""
    if month is None:
        first, last = _day(year, 1, 1), _day(year, 12, 31)
    elif not 1 <= month <= 12:
        return None
    elif day is None:
        first, last = _day(year, month, 1), _day(year, month, monthrange(year, month)[1])
    else:
        first = last = _day(year, month, day)
    if first is None or last is None:
        return None
    if first <= today <= last:
        first = last = today
    return Moment(first=first, last=last, words=words.strip())


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _int(text: str | None) -> int | None:
    return int(text) if text else None


def _month(name: str | None) -> int | None:
    return _MONTHS.index(name[:3].casefold()) + 1 if name else None
