"""The articles, chapters, appendices and forms that a question names by number, letter or Roman numeral."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.types import Chunk

_MAX_NAMED = 4
_NAMES = "규정|규칙|세칙|정관|학칙|회칙|지침|내규|규약|요령|기준|법|령"
_LETTER = r"[가나다라마바사아자차카타파하]"
_BEHIND_LETTER = r"(?=$|[\s,.?!)\]>」호서]|[은는이의에를을도와과]\s|(?:은|는|이|의|에|를|을|도)?(?:요)?[?]|[은는]$)"
_NUMBER = r"\d{1,3}(?:\s*-\s*\d{1,3})?"
_SUB = r"(?:\s*의\s*(?P<{0}>\d{{1,3}}))?"
_NOT_MONEY = r"(?!\s*(?:\d|원|천|백|만|억|달러|불|위안|엔|유로|[23]교대|건))"
_KOREAN = re.compile(
    rf"(?P<supplement>부\s*칙)(?:\s*(?:제\s*)?(?P<supplement_article>\d{{1,3}})\s*조)?"
    rf"|(?:제\s*|(?<=[정칙관령법침])\s|^\s*|(?<=[\s,]))(?P<article>\d{{1,4}})\s*조(?![가-힣]*직){_NOT_MONEY}{_SUB.format('sub')}"
    rf"|제\s*(?P<division>\d{{1,3}})\s*(?P<unit>[편장절])(?![가-힣]{{2}})"
    rf"|(?P<kind>별\s*표|별\s*지(?:\s*서\s*식)?|별\s*첨|서\s*식|양\s*식|붙\s*임|부\s*록)"
    rf"(?:\s*(?:제|#|No\.?)?\s*(?P<table>{_NUMBER})(?![\d년월일만천])|\s+(?:제\s*)?(?P<letter>{_LETTER}|[A-Z](?![A-Za-z])){_BEHIND_LETTER}"
    rf"|\s*(?:제\s*)?(?P<roman>[Ⅰ-Ⅻ]|(?<![A-Za-z])[IVX]{{1,4}}(?![A-Za-z])))(?:\s*호)?{_SUB.format('table_sub')}"
    rf"|제\s*(?P<form>\d{{1,3}})\s*호(?:\s*의\s*(?P<form_sub>\d{{1,3}}))?\s*(?:서\s*식|양\s*식)"
)
_ENGLISH = re.compile(
    r"\b(?P<unit>article|art\.|chapter|section|sec\.|appendix|annex|schedule|attachment|exhibit|attached table|form)\s+"
    r"(?:no\.?\s*)?(?P<number>\d{1,3}(?:[.-]\d{1,3}){0,2}|[IVX]{1,4}(?![A-Za-z])|[A-Z](?:-\d{1,2})?(?![A-Za-z]))"
    r"|§\s?(?P<sign>\d{1,3}(?:\.\d{1,3}){0,2})",
    re.IGNORECASE,
)
_ROMAN_NUMBER = re.compile(r"(?<=[표지첨식록])\s*(?:제\s*)?(?:[Ⅰ-Ⅻ]|[IVX]{1,4}(?![A-Za-z]))")
_ROMAN = {"I": 1, "V": 5, "X": 10}
_APPENDICES = ("appendix", "annex", "schedule", "attachment", "exhibit")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSection:
    """How the sections that are meant look: by their label, or also by the chapter or the text that they have."""

    label: re.Pattern[str]
    inside: re.Pattern[str] | None = None  # a line of the index text

    def means(self, chunk: Chunk) -> bool:
        """Whether the chunk is such a section; short appendices stand together in one chunk, each with its own head."""
        if chunk.kind == "appendix" and any(self.label.match(line) for line in chunk.text.splitlines()):
            return self.inside is None or self.inside.search(chunk.text) is not None
        if self.label.search(chunk.locator.label or "") is None:
            return False
        return self.inside is None or self.inside.search(chunk.index_text) is not None


def named_sections(text: str) -> list[NamedSection]:
    """What each section looks like that is named with its number, in order. A sum ("3조 원") names none."""
    found: dict[tuple[str, str | None], None] = {}
    for label, inside in (*_korean(text), *_english(text)):
        found.setdefault((label, inside))
    return [
        NamedSection(label=re.compile(label, re.I), inside=re.compile(inside, re.M) if inside else None)
        for label, inside in list(found)[:_MAX_NAMED]
    ]


def without_named_sections(text: str) -> str:
    """The text without the numbers that name sections: what else it says."""
    return _ENGLISH.sub(" ", _KOREAN.sub(" ", text))


def without_english_sections(text: str) -> str:
    """The text without what names sections in English or by Roman numerals: "Article", "III" tell nothing."""
    return _ROMAN_NUMBER.sub(" ", _ENGLISH.sub(" ", text))


def stands_behind_a_name(text: str) -> bool:
    """Whether the name of a law or regulation stands right before an article that is named."""
    return any(re.search(rf"(?:{_NAMES})[」』\"']?\s*$", text[: match.start()]) for match in _KOREAN.finditer(text))


def _korean(text: str) -> Iterator[tuple[str, str | None]]:
    for match in _KOREAN.finditer(text):
        if match["supplement"]:
            number = match["supplement_article"]
            yield r"(?:^|\s)부칙", rf"^\s*제\s*{number}\s*조" if number else None
        elif match["article"]:
            yield _article(match["article"], match["sub"]), None
        elif match["division"]:
            yield r"", rf"^제\s*{match['division']}\s*{match['unit']}(?=\s|$)"
        elif match["form"]:
            yield _appendix("서식", match["form"], match["form_sub"]), None
        else:
            number = match["table"] or match["letter"] or _digits(match["roman"])
            yield _appendix("".join(match["kind"].split()), number, match["table_sub"]), None


def _article(number: str, sub: str | None) -> str:
    branch = rf"\s*의\s*{sub}(?!\d)" if sub else r"(?!\s*의\s*\d)"
    return rf"(?<!\d)제\s*{number}\s*조{branch}"


def _appendix(kind: str, number: str, sub: str | None) -> str:
    kinds = "서식|양식|별지" if kind in ("서식", "양식") else re.escape(kind[:2])
    branch = rf"\s*의\s*{sub}" if sub else r"(?!\s*의\s*\d)"
    spaced = r"\s*-\s*".join(map(re.escape, re.split(r"\s*-\s*", number)))
    return rf"\[\s*(?:{kinds})\s*(?:서식\s*)?(?:제|#)?\s*{spaced}(?![\d-])(?:\s*호)?{branch}"


def _english(text: str) -> Iterator[tuple[str, str | None]]:
    for match in _ENGLISH.finditer(text):
        unit = (match["unit"] or "section").casefold().rstrip(".")
        number = (match["number"] or match["sign"]).upper()
        if match["number"] and match["number"].islower() and number in ("I", "A"):
            continue  # "form a committee", "section i run"
        numbers = "|".join(re.escape(one) for one in dict.fromkeys((number, _digits(number))))
        end = r"(?![\w-]|\.\d)"
        if unit in ("article", "art"):
            yield rf"\bArticle\s+(?:{numbers}){end}|{_article(_digits(number), None)}", None
        elif unit == "chapter":
            yield r"", rf"^(?:Chapter\s+(?:{numbers}){end}|제\s*{_digits(number)}\s*장(?=\s|$))"
        elif unit == "section":
            yield rf"(?:^|>\s*|\bSection\s+|§\s?)(?:{numbers})(?:\.(?!\d)|{end})", None
        elif unit in _APPENDICES:
            yield (
                rf"\b(?:{'|'.join(_APPENDICES)})\s+(?:{numbers}){end}|{_appendix('별표', _digits(number), None)}",
                None,
            )
        else:
            yield _appendix("별표" if unit == "attached table" else "서식", _digits(number), None), None


def _digits(number: str | None) -> str:
    """A number whose Roman numerals are digits; others stay."""
    if number is None:
        return ""
    if "Ⅰ" <= number <= "Ⅻ":
        return str(ord(number) - 0x215F)
    if not number or not set(number) <= set(_ROMAN):
        return number
    values: list[int] = [_ROMAN[letter] for letter in number]
    return str(sum(-v if v < max(values[i:]) else v for i, v in enumerate(values)))
