"""Since when a regulation holds in the wording of a document, and which other documents are revisions of it.

Read, in this order: a line in front of the first article that says when it came into force ("[시행 2024. 3. 1.]"); the
latest of its supplementary provisions ("이 규정은 2024년 3월 1일부터 시행한다"), of the dates of its history and of the
amendments noted in articles; the document's name. Nothing is guessed: what gives no date stays without one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

_MAX_HEADER_CHARS = 300
_MAX_YEAR = 2100
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"(?<![\d.])(?P<y>(?:19|20)\d{2})\s*[.년\-/]\s*(?P<m>\d{1,2})\s*[.월\-/]\s*(?P<d>\d{1,2})(?!\d)\s*일?"
    r"|(?<!\d)['’‘`](?P<y2>\d{2})\s*[.\-/]\s*(?P<m2>\d{1,2})\s*[.\-/]\s*(?P<d2>\d{1,2})(?!\d)"
    rf"|\b(?P<name>{_MONTH_NAME})\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y3>(?:19|20)\d{{2}})\b"
    rf"|\b(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<name4>{_MONTH_NAME})\s+(?P<y4>(?:19|20)\d{{2}})\b",
    re.I,
)
# --- sentences and lines that tell a date -------------------------------------------------------
_FORCE_HEAD = re.compile(
    r"시\s*행(?!\s*(?:세칙|규칙|규정|령|계획|방법))|\beffective\b|\bin force\b|\btakes? effect\b|\bvalid from\b", re.I
)
_CHANGE_HEAD = re.compile(
    r"제\s*정|개\s*정|공\s*포|발\s*령|전\s*문|일\s*부|개\s*편|\brevis|\bamend|\bupdated\b|\badopted\b|\bversion\b", re.I
)
_SENTENCE = re.compile(r"(?<=다)\s*[.。]\s*|\n+|(?=[②-⑳])|(?=다만[,\s])")
_IN_FORCE = re.compile(r"(?:부터|에|자로|로|자)\s*(?:소급\s*하여\s*)?(?:이를\s*)?(?:시행|효력)")
_ON_THE_DAY = re.compile(
    r"(?:공포|발령|공고|고시|제정|개정|승인|의결|결재|인가|허가|통과|확정)[^.\n]{0,12}?날\s*(?:로)?\s*부터"
)
_LATER = re.compile(
    r"(?:공포|발령|공고|고시|승인|의결)[^.\n]{0,10}?(\d{1,3})\s*(개월|년|일|월)\s*(?:이|을)?\s*(?:경과|지난|후)"
)
_OWN_LABEL = re.compile(
    r"^\s*(?:제\s*\d+\s*조|[①-⑳]|\d+\.|\(\d+\))?\s*[(（\[【]?\s*시\s*행\s*일?\s*자?\s*[)）\]】]?\s*[:：]?"
)
_PARTIAL = re.compile(r"^\s*(?:다만|단,)|제\s*\d+\s*조|별\s*표|경과\s*조치|적용례|종전")
_NOTE = re.compile(
    r"[<〈(\[（【]([^<>〈〉()\[\]（）【】]{0,40}(?:개정|신설|제정|삭제)[^<>〈〉()\[\]（）【】]{0,400})[>〉)\]）】]"
)
# --- names --------------------------------------------------------------------------------------
_NAME_DAY = re.compile(r"(?<!\d)((?:19|20)\d{2})[.\-_ ]?(\d{2})[.\-_ ]?(\d{2})(?!\d)")
_NAME_SHORT_DAY = re.compile(r"(?<![\d.])(\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_NAME_MONTH = re.compile(r"(?<!\d)((?:19|20)\d{2})\s*[.년\-_]?\s*(0?[1-9]|1[0-2])\s*월?(?!\d)")
_NAME_YEAR = re.compile(
    r"(?<!\d)((?:19|20)\d{2})\s*(?:년|년도)?\s*(?=(?:[가-힣]{0,2}\s*개정|시행|제정|판|edition|rev)|[)\]】_]|$)"
    r"|(?:^|(?<=[(\[_]))((?:19|20)\d{2})(?!\d)",
    re.I,
)
_CLAIMS = re.compile(r"개\s*정|시\s*행|\brev|\beffective", re.I)
_VERSION_WORDS = re.compile(
    r"(?:전부|일부|전문|전면)?\s*개\s*정\s*(?:안|본|판|전문)?(?![가-힣])|최종\s*(?:본|안)?(?![가-힣])|수정\s*(?:본|안)|현행|사본"
    r"|(?:신|구)\s*버전|버전|제\s*\d+\s*차|\b(?:final|draft|copy|revised|rev|ver|version|edition|old|new|current)\b\.?"
    r"|(?<![a-z])v(?:er|ersion)?\.?\s*\d+(?:\.\d+)*|^\s*(?:구|신)(?=\s)|(?<=[\s_)])시행(?![가-힣])|^시행(?=[\s_\d])",
    re.I,
)
_NAME_NUMBER = re.compile(r"(?<![제\d])\d{2,8}\s*(?:년|년도|월|일)?(?![가-힣\d])|(?<!제)\b(?:19|20)\d{2}\s*년?\s*도?")
_BRACKETS = re.compile(r"[(\[【<〈（][^()\[\]【】<>〈〉（）]*[)\]】>〉）]")
_REGULATION_NAME = re.compile(
    r"(?:규정|규칙|세칙|정관|학칙|지침|내규|요령|규약|요강|강령|약관|협약|준칙|헌장|조례|법률?|시행령|절차서?|방침|회칙|수칙|편람|기준|"
    r"매뉴얼|정책|핸드북|가이드(?:라인)?|"
    r"(?:polic(?:y|ies)|guidelines?|guide|rules?|handbook|manual|regulations?|bylaws|charter|procedures?|code))$",
    re.I,
)
_NO_NAME = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a text is a revision of, and since when it holds; both None where nothing says so."""

    family: str | None = None
    valid_from: date | None = None


NO_REVISION = Revision()


@dataclass(slots=True)
class Told:
    """What the parts of one regulation say about its name and its dates, gathered section by section."""

    name: str = ""  # as a line of the document gives it
    header: list[str] = field(default_factory=list)  # lines in front of the first article, its title among them
    supplements: list[tuple[str, str]] = field(default_factory=list)  # (heading, text) of supplementary provisions
    notes: list[str] = field(default_factory=list)  # lines that may hold a note such as <개정 2010. 3. 1.>
    names: list[str] = field(default_factory=list)  # of the document, when it holds this regulation alone
    folder: str = ""  # in which the document lies: "clubs/hiking", "" at the top


def revision_of(told: Told) -> Revision:
    """The family and the date of what was told; a text that no name of a regulation stands over has neither."""
    families = [known for name in (told.name, *told.names) if (known := family_of(name)) is not None]
    if not families:
        return NO_REVISION
    return Revision(family=_of_its_body(families, told.folder), valid_from=effective_date(told))


def _of_its_body(families: Sequence[str], folder: str) -> str:
    """The first family; a bare "정관" or "회칙", which every body has, with the words that tell whose it is.

    They come from a longer name of the same document ("산악회 회칙.hwp"), else from its folder, so that the rules of
    one body never count as an older wording of another's. Folders that only tell a version say nothing.
    """
    first = families[0]
    if not _REGULATION_NAME.fullmatch(first):
        return first
    longer = next((family for family in families if family != first and family.endswith(first)), None)
    if longer is not None:
        return longer
    steps = [step for step in folder.split("/") if _without_versions(step)]
    return " / ".join([*steps, first])


def effective_date(told: Told) -> date | None:
    """The day on which this wording came into force, None where nothing says so."""
    header = [line[:_MAX_HEADER_CHARS] for line in told.header]
    in_force = [day for line in header for day in _header_dates(line, _FORCE_HEAD)]
    if in_force:
        return max(in_force)
    known = [day for line in header for day in _header_dates(line, _CHANGE_HEAD)]
    known += [day for heading, text in told.supplements if (day := supplement_date(heading, text)) is not None]
    known += [day for line in told.notes for day in _note_dates(line)]
    # a name that says "개정" or "시행" beside its date counts like a line of the history
    known += [day for name in told.names if _CLAIMS.search(name) and (day := date_of_name(name)) is not None]
    if known:
        return max(known)
    return next((day for name in told.names if (day := date_of_name(name)) is not None), None)


def supplement_date(heading: str, text: str) -> date | None:
    """When supplementary provisions say that the regulation comes into force.

    Provisos for single articles are left out. "공포한 날부터" means the date in the heading
    ("부칙 <2010. 3. 1.>").
    """
    own = next(reversed(list(find_dates(heading))), None)
    found: list[date] = []
    for sentence in _SENTENCE.split(text):
        body = _OWN_LABEL.sub("", sentence)
        labelled = body != sentence
        if not ("시행" in body or "효력" in body or labelled) or _PARTIAL.search(body):
            continue
        match = _IN_FORCE.search(body)
        days = list(find_dates(body[: match.end()] if match else body if labelled else ""))
        later = _LATER.search(body)
        if days:
            found.append(days[-1])
        elif own is not None and later is not None:
            found.append(_after(own, int(later[1]), later[2]))
        elif own is not None and _ON_THE_DAY.search(body):
            found.append(own)
    return max(found, default=None)


def find_dates(text: str) -> Iterator[date]:
    """Whole dates of a text in order, written in Korean or English; impossible ones are left out."""
    for match in _DATE.finditer(text):
        if match["y"]:
            day = _as_date(int(match["y"]), int(match["m"]), int(match["d"]))
        elif match["y2"]:
            day = _as_date(_full_year(int(match["y2"])), int(match["m2"]), int(match["d2"]))
        elif match["y3"]:
            day = _as_date(int(match["y3"]), _month(match["name"]), int(match["d3"]))
        else:
            day = _as_date(int(match["y4"]), _month(match["name4"]), int(match["d4"]))
        if day is not None:
            yield day


def date_of_name(name: str) -> date | None:
    """The date in a file name or title: "여비규정_20240301", "(2024.3.1 개정)"; of a month or year its first day."""
    name = unicodedata.normalize("NFC", name)
    for day in find_dates(name):
        return day
    for match in _NAME_DAY.finditer(name):
        if (found := _as_date(*map(int, match.groups()))) is not None:
            return found
    months = [_as_date(int(m[1]), int(m[2]), 1) for m in _NAME_MONTH.finditer(name)]
    short = [_as_date(_full_year(int(m[1])), int(m[2]), int(m[3])) for m in _NAME_SHORT_DAY.finditer(name)]
    told = {day for day in (*months, *short) if day is not None}
    if told:
        return told.pop() if len(told) == 1 else None  # "201105" is a month or a day: not to be told
    for match in _NAME_YEAR.finditer(name):
        return _as_date(int(match[1] or match[2]), 1, 1)
    return None


def family_of(name: str) -> str | None:
    """The name of a regulation as all its revisions share it, None for names that are none of a regulation.

    Spaces, dates, brackets and words such as 개정, 최종 or "v2" do not count.
    """
    text = _without_versions(name)
    return text if len(text) >= 2 and _REGULATION_NAME.search(text) else None


def _without_versions(name: str) -> str:
    """The letters and digits of a name that stay the same from revision to revision."""
    text = unicodedata.normalize("NFC", name)
    for _ in range(2):  # brackets within brackets
        text = _BRACKETS.sub(" ", text)
    text = _NAME_DAY.sub(" ", _DATE.sub(" ", text))
    text = _VERSION_WORDS.sub(" ", text.replace("_", " "))
    text = _VERSION_WORDS.sub(" ", _NAME_NUMBER.sub(" ", text))
    return _NO_NAME.sub("", text).casefold()


def _header_dates(line: str, words: re.Pattern[str]) -> Iterator[date]:
    if words.search(line):
        if words is _FORCE_HEAD and _CHANGE_HEAD.search(line):
            yield from _force_dates(line)
        else:
            yield from find_dates(line)


def _force_dates(line: str) -> Iterator[date]:
    """Dates that stand beside 시행 in a line that tells others too: "[시행 2024. 3. 1.] [고시, 2024. 2. 20., 개정]"."""
    for match in _FORCE_HEAD.finditer(line):
        behind = re.match(r"\s*일?\s*자?\s*[:：]?\s*", line[match.end() :])
        start = match.end() + (behind.end() if behind else 0)
        found = _DATE.match(line, start)
        if found:
            yield from find_dates(found.group())
            continue
        before = [m for m in _DATE.finditer(line, 0, match.start()) if match.start() - m.end() <= 6]
        if before:
            yield from find_dates(before[-1].group())


def _note_dates(line: str) -> Iterator[date]:
    for note in _NOTE.finditer(line):
        yield from find_dates(note[1])


def _after(day: date, count: int, unit: str) -> date:
    if unit == "일":
        return day + timedelta(days=count)
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "년" else 1)
    return _as_date(months // 12, months % 12 + 1, day.day) or _as_date(months // 12, months % 12 + 1, 28) or day


def _as_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if year <= _MAX_YEAR else None
    except ValueError:
        return None


def _full_year(short: int) -> int:
    return 1900 + short if short >= 45 else 2000 + short


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].casefold()) + 1


def names_of(title: str, uri: str) -> list[str]:
    """The title and the file name without its ending, each once: what may carry a date or the name itself."""
    stem = uri.rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    return list(dict.fromkeys(unicodedata.normalize("NFC", name) for name in (title, stem) if name))


def folder_of(uri: str) -> str:
    """The folder of a document within its source, "" at the top."""
    return unicodedata.normalize("NFC", uri.rpartition("/")[0])
