"""References inside a regulation's text, normalised: "제12조", "제7조의2", "별표 1", "별표 2의2", "별지 3", "부칙"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from knowledge.chunking.markers import article_anchor

_ARTICLE = re.compile(r"제\s*(\d{1,4})\s*(?:조(?:\s*의\s*(\d{1,3})(?!\d))?|의\s*(\d{1,3})\s*조)")
# an article of another law or regulation: its name stands right before, in brackets or not
_FOREIGN = re.compile(r"(?:[」｣』”\"’']|법률?|시행령|시행규칙|규정|규칙|정관|학칙|지침|세칙|조례|내규|규약)\s*$")
_OWN = re.compile(r"(?:이|본|동|당해|위)\s*(?:규정|규칙|정관|학칙|지침|세칙|내규|규약)\s*$")
_INNER = re.compile(r"(?:제\s*\d+\s*조(?:의\s*\d+)?)?(?:\s*제\s*\d+\s*[항호])*\s*$")
_CHAIN = re.compile(r"(?:\s*제\s*\d+\s*[항호목])*\s*(?:,|및|와|과|·|ㆍ|또는|내지|부터|~)?\s*")
_OPENING = re.compile(r"\s*[(\[【]")
_APPENDIX = re.compile(
    r"(별\s*표|별\s*지(?:\s*서\s*식)?|(?<![가-힣])(?:서\s*식|별\s*첨|양\s*식|붙\s*임|첨\s*부|부\s*록|부\s*표|별\s*책))\s*"
    r"((?:제\s*)?(?:[#＃_-]\s*)?\d{1,3}(?:\s*-\s*\d{1,3})?\s*호?(?:\s*의\s*\d{1,3}(?!\d))?"
    r"(?:\s*(?:,|및|와|과|·|ㆍ|또는|내지|~)\s*(?:별\s*[표지]\s*)?(?:제\s*)?\d{1,3}(?:\s*-\s*\d{1,3})?"
    r"(?![\d,]*\s*(?:원|일|%|항|조|년|월|개월|명|급|회))\s*호?(?:\s*의\s*\d{1,3}(?!\d))?)*)"
)
_APPENDIX_ONE = re.compile(r"(\d{1,3}(?:\s*-\s*\d{1,3})?)\s*호?(?:\s*의\s*(\d{1,3}))?")
_APPENDIX_BARE = re.compile(
    r"(?<![가-힣])(별\s*표|별\s*지)\s*[\])〉>】]?\s*(?:와|과|에|의|로|를|을|기준|서식)(?!\s*\d)"
)
_APPENDIX_LETTER = re.compile(
    r"(별\s*[표지])\s*(?:제\s*)?([A-Z]|[가나다라마바사아자차카타파하](?=\s*[\]>〉】)」』]))(?![A-Za-z])"
)
_ROMAN = re.compile(r"(?<=[표지식첨])\s*(?:제\s*)?([Ⅰ-Ⅻ])")
_ENGLISH = re.compile(
    r"\b(Article|Appendix|Annex|Schedule|Attachment|Exhibit)\s+(\d{1,3}(?:[-.]\d{1,3})?(?!\d)|[A-Z](?:-\d{1,2})?\b)(?!\s+of\s+the\s+(?:\w+\s+){0,5}(?:Act|Law|Code|Decree)\b)"
)
_SUPPLEMENT = re.compile(r"부칙\s*(?:제\s*\d+\s*조)?(?=[에의은을]|\s*제)")


def find_references(text: str, *, own: Collection[str] = (), appendices: Collection[str] = ()) -> tuple[str, ...]:
    """Normalised labels that `text` points to, in order, without `own`.

    `appendices` are the anchors that the regulation has: "별표와 같다" without a number means the single 별표 there is.
    References to articles of other laws are left out; a bare "제3조" is one of this regulation.
    """
    found: dict[str, None] = {}
    text = _ROMAN.sub(lambda roman: f" {ord(roman[1]) - 0x215F}", text)
    for match in _APPENDIX.finditer(text):
        if _is_foreign(text[: match.start()]):
            continue
        unit = "별지" if "지" in match[1] else "".join(match[1].split())
        for one in _APPENDIX_ONE.finditer(match[2]):
            number = re.sub(r"\s", "", one[1]) + (f"의{one[2]}" if one[2] else "")
            found.setdefault(f"{unit} {number}")
    for match in _APPENDIX_LETTER.finditer(text):
        if not _is_foreign(text[: match.start()]):
            found.setdefault(f"{''.join(match[1].split())} {match[2]}")
    for match in _APPENDIX_BARE.finditer(text):
        unit = "".join(match[1].split())
        candidates = [anchor for anchor in appendices if anchor == unit or anchor.startswith(unit + " ")]
        if len(candidates) == 1 and not _is_foreign(text[: match.start()]):
            found.setdefault(candidates[0])
    for label in _articles(text):
        found.setdefault(label)
    found.update(dict.fromkeys(f"{match[1]} {match[2]}" for match in _ENGLISH.finditer(text)))
    if _SUPPLEMENT.search(text):
        found.setdefault("부칙")
    return tuple(label for label in found if label not in own)


def _articles(text: str) -> Iterator[str]:
    """Articles of this regulation that `text` names, without those that it contains itself."""
    foreign_end = -1  # where the last reference into another law ended: "법 제3조, 제4조" goes on
    for match in _ARTICLE.finditer(text):
        before = text[: match.start()]
        line_start = before.rstrip(" \t").endswith("\n") or not before.strip()
        if line_start and _OPENING.match(text, match.end()):
            continue
        chained = foreign_end >= 0 and _CHAIN.fullmatch(text[foreign_end : match.start()])
        if chained or _is_foreign(before):
            foreign_end = match.end()
            continue
        branch = match[2] or match[3]
        yield article_anchor(match[1].lstrip("0") + (f"의{branch}" if branch else ""))


def _is_foreign(before: str) -> bool:
    """Whether the words right before a reference name another law or regulation."""
    tail = _INNER.sub("", before[-40:])
    return bool(_FOREIGN.search(tail)) and not _OWN.search(tail)
