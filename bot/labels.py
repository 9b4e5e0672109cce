"""Numbered places of a regulation: articles, paragraphs, appendices, in Korean and in English."""

from __future__ import annotations

import re

_KOREAN = re.compile(
    r"제\s?(?P<n>\d+)\s?(?P<unit>조|장|절|항|호|관|편)(?:\s?의\s?(?P<branch>\d+))?"
    r"|(?<![\d,.])(?P<bare>\d{1,3})\s?조(?:\s?의\s?(?P<bare_branch>\d+))?(?=\s?(?:제?\s?\d+\s?항|에|의|는|를|와|,|\)|\.|$))(?!\s?원)"
    r"|(?P<appendix>별표|별지|별첨|서식|부칙|부록|붙임)\s?(?:제\s?)?(?P<count>\d+)(?:\s?호)?(?:\s?의\s?(?P<sub>\d+))?"
)
_ENGLISH = re.compile(
    r"\b(?P<word>articles?|art\.|chapters?|sections?|paragraphs?|para\.|subparagraphs?|appendix|appendices|annex|schedule|"
    r"attachment|attached table|form)\s+(?:no\.\s?)?(?P<n>\d+)(?:-(?P<branch>\d+))?",
    re.IGNORECASE,
)
_UNITS = {
    "article": ("조",), "art.": ("조",), "chapter": ("장",), "section": ("절", "조"), "paragraph": ("항",),
    "para.": ("항",), "subparagraph": ("호",),
}  # fmt: skip
_APPENDICES = ("별표", "별지", "별첨", "서식", "부칙", "부록", "붙임")

Label = frozenset[str]  # canonical names, one of which must stand in the evidence


def take_labels(text: str) -> tuple[list[Label], str]:
    """The labels of a text that went through `plain`, and the text with blanks in their places.

    "제 12 조의 2 제1항" gives 제12조의2 and 제1항; "Appendix 1" any of 별표1, 별지1 and so on.
    """
    found: list[Label] = []

    def korean(match: re.Match[str]) -> str:
        if match["n"]:
            found.append(frozenset({_named(f"제{match['n']}{match['unit']}", match["branch"])}))
        elif match["bare"]:
            found.append(frozenset({_named(f"제{match['bare']}조", match["bare_branch"])}))
        else:
            found.append(frozenset({_named(f"{match['appendix']}{match['count']}", match["sub"])}))
        return " " * len(match[0])

    def english(match: re.Match[str]) -> str:
        word = match["word"].lower().removesuffix("s") if not match["word"].endswith(".") else match["word"].lower()
        units = _UNITS.get(word)
        own = f"{word} {match['n']}"
        if units is not None:
            names = [_named(f"제{match['n']}{unit}", match["branch"]) for unit in units]
        else:
            names = [_named(f"{appendix}{match['n']}", match["branch"]) for appendix in _APPENDICES]
        found.append(frozenset([*names, own]))
        return " " * len(match[0])

    text = _KOREAN.sub(korean, text)
    return found, _ENGLISH.sub(english, text)


def _named(name: str, branch: str | None) -> str:
    return f"{name}의{branch}" if branch else name
