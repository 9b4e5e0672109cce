"""What a line of a regulation opens: a division (편/장/절), an article, an appendix, supplementary provisions, nothing.

Chinese characters and old numerals (別表, 第一條, 별표 Ⅰ) are read as the words and digits that they stand for.
Only line starts count. "별표 1과 같다" or "제3조에 따라" at the start of a wrapped line is a reference, so what follows
the number decides: a title in brackets, a revision mark or nothing opens a section, a particle does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from knowledge.chunking.markers_english import read_english

MarkerKind = Literal["division", "article", "appendix", "supplement"]

_LEAD = r"^(?:#{1,6}\s+)?(?:\*\*\s*)?"
_ARTICLE = re.compile(
    _LEAD + r"제\s*(\d{1,4})\s*(?:조(?:\s*의\s*(\d{1,3})(?!\d))?|의\s*(\d{1,3})\s*조)(?!\s*건)(.*)$", re.S
)
_DIVISION = re.compile(_LEAD + r"제\s*(\d{1,3})\s*([편장절관])(?:\s*의\s*(\d{1,2}))?(.*)$", re.S)
_SUPPLEMENT = re.compile(_LEAD + r"([\[<〈【(（]?)\s*부\s*칙\s*[\]>〉】)）]?(.*)$", re.S)
_KINDS = r"별\s*표|별\s*지(?:\s*서\s*식)?|서\s*식|별\s*첨|양\s*식|세\s*칙|붙\s*임|첨\s*부|부\s*록|부\s*표|별\s*책"
_MAIN = r"\d{1,3}(?:\s*[-–]\s*\d{1,3})*"
_BRANCH = r"(?:\s*의\s*(\d{1,3})(?!\d))?"
_NUMBER = rf"(?:제\s*)?(?:[#＃_\-–]\s*|No\.?\s*)?({_MAIN})\s*호?{_BRANCH}"
_NUMBER_OR_LETTER = (
    rf"(?:제\s*)?(?:[#＃_\-–]\s*|No\.?\s*)?({_MAIN}|[A-Z가나다라마바사아자차카타파하](?=\s*(?:호"
    rf"|[\]>〉】)）］》≫｣」』〕}}]|[.:]\s)))\s*호?{_BRANCH}"
)
_FORM = r"\s*(?:호)?\s*(?:서\s*식|양\s*식)?"
_BRACKETED = re.compile(
    _LEAD + rf"([\[<〈【(（［《≪｢「『〔{{])\s*({_KINDS})\s*(?:{_NUMBER_OR_LETTER})?{_FORM}{_BRANCH}(.*)$", re.S
)
_BARE = re.compile(_LEAD + rf"({_KINDS})\s*(?:{_NUMBER})?{_FORM}{_BRANCH}(.*)$", re.S)
# "[제3호 서식] 신청서": the number in front
_NUMBERED_FORM = re.compile(
    _LEAD + r"([\[<〈【(（［《≪〔])\s*제\s*(\d{1,3})\s*호\s*(?:의\s*(\d{1,3}))?\s*(서\s*식|양\s*식)()(.*)$", re.S
)
# how the forms of laws begin: "■ 공무원 여비 규정 [별표 2] <개정 2023. 3. 2.>국내 여비 지급표"
_OFFICIAL = re.compile(
    r"^(?:[■□◼▣◆]\s*(?:[^\[\]<>〈〉【】]{2,60}?)?|[가-힣 ·ㆍ]{2,40}(?:규정"
    r"|규칙|세칙|정관|학칙|지침|내규|요령|법|령|조례)\s*)"
    r"(?=[\[<〈【〔]\s*별\s*[표지첨])"
)
_BULLET = re.compile(r"^[■□◼▣◆]\s*(?=별\s*[표지첨]\s*(?:제\s*)?\d)")
_ATTACHMENTS = frozenset(("붙임", "첨부", "부록", "부표", "별책"))  # letters and manuals have them too
_COPIES = re.compile(r"\d\s*부\s*[.。]?\s*$|끝\s*\.?\s*$")  # of a list of what is handed in with an application
_CLOSING = dict(zip("[<〈【(（［《≪｢「『〔{", "]>〉】)）］》≫｣」』〕}", strict=True))
_OLD_SPELLINGS = str.maketrans("第條編章節", "제조편장절")
_OLD_WORDS = ((re.compile(r"別\s*表"), "별표"), (re.compile(r"別\s*紙"), "별지"), (re.compile(r"[附付]\s*則"), "부칙"))
_OLD_NUMBER = re.compile(
    r"^((?:#{1,6}\s+)?제\s*)([一二三四五六七八九十百일이삼사오육칠팔구십백]{1,6})(?=\s*[조장절편]\s*(?:[(（【\[]|의\s|\s|$))"
)
_ROMAN = re.compile(r"(?<=[표지첨식록임호제])(\s*(?:제\s*)?)([Ⅰ-Ⅻ])")
# what makes "별표" without a number the head of an appendix: a mark behind it, or a title that ends in "(제4조 관련)"
_UNNUMBERED = re.compile(r"[<(〈\[（]?\s*(?:제\s*\d+\s*조.{0,20}관련|개정|신설|삭제)")
_RELATED_END = re.compile(r"[<(〈\[（]\s*제\s*\d+\s*조.{0,40}관련\s*[>)〉\]）]\s*$")
_TITLE_BRACKETS = {"(": ")", "（": "）", "[": "]", "【": "】", "〔": "〕", "［": "］", "｢": "｣", "「": "」"}
# what makes the words before it a reference: a particle right behind, or a word that joins
_PARTICLE = re.compile(
    r"(?:에서|에게|에는|에도|에(?=[\s따의서규게도는])|의(?=\s)|의(?=규정)|을|를|과(?=[\s같])|와(?=[\s같])|및|또는|부터|까지|내지|중(?=\s)|으로|로(?=\s)|"
    r"제\s*\d|각\s*호|본문|단서|이나|나\s|이며|이고|같은)"
)
_PARTICLE_AFTER_GAP = re.compile(
    r"(?:에서|에\s|에\s*(?:따|의|규)|의\s|을\s|를\s|과\s|와\s|과\s*같|와\s*같|및|또는|부터|까지|내지|중\s|으로|제\s*\d|각\s*호|본문|단서|이나|같은\s)"
)
_PARTICLE_BEHIND_TITLE = re.compile(
    r"(?:에\s*(?:따|의|규)|의\s|을\s|를\s|과\s|와\s|및|또는|부터|까지|내지|중\s|제\s*\d+\s*[항호목])"
)
_SUBJECT = re.compile(r"(?:은|는|이|가)(?=\s)")
_REVISION = re.compile(
    r"[<〈(\[（【]\s*(?:\d{4}[^<>〈〉()\[\]]*)?"
    r"(?:규정\s*명칭\s*변경|개정|신설|삭제|전문\s*개정|전면\s*개정|제정|본[조장절]\s*신설|시행|폐지|이동)"
    r"(?:[\s,:‘’'`]*[\d-][^<>〈〉()\[\]（）【】]*)?\s*[>〉)\]）】]"
)
_REVISION_OPEN = re.compile(r"[<〈(\[（【]\s*(?:개정|신설|삭제|전문개정|전면개정|제정)[^>〉)\]）】]*$")
_SENTENCE_END = re.compile(r"(?:다|요|것)\s*[.。]\s*$|(?<=[가-힣])(?:다|[음임함됨]\.?)\s*$|[,;]\s*$")
_DELETED_RANGE = re.compile(r"^\s*(?:부터|내지|~|～|-|및|,|·|ㆍ)\s*제?\s*\d+\s*조?.{0,40}(?:삭\s*제|생\s*략)")
_MAX_TITLE_CHARS = 60
_MAX_READ_CHARS = 400  # of a line: whether it opens something shows at its start


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """`number` is written as in "12" or "12의2"; `weak` means that only the sequence of numbers can confirm it."""

    kind: MarkerKind
    unit: str  # 조, 편, 장, 절, 관, 부칙, 별표, 별지, 서식 ..., Article, Chapter, Appendix ...
    number: str
    title: str
    rest: str  # what stands behind number and title
    weak: bool = False

    @property
    def is_english(self) -> bool:
        return self.unit.isascii()

    @property
    def is_attachment(self) -> bool:
        """Whether other documents than regulations have such parts too."""
        return self.unit in _ATTACHMENTS or (self.is_english and self.kind == "appendix")

    @property
    def main_number(self) -> int:
        digits = re.match(r"\d+", self.number)
        return int(digits.group()) if digits else 0

    @property
    def anchor(self) -> str:
        """Normalised label under which references find this section: "제12조의2", "별표 1", "부칙"."""
        if self.is_english:
            return f"{self.unit} {self.number}".strip()
        if self.kind == "article":
            return article_anchor(self.number)
        if self.kind == "division":
            return f"제{self.number}{self.unit}"
        return f"{self.unit} {self.number}".strip()

    @property
    def heading(self) -> str:
        """Label within the regulation: "제12조(연차휴가)", "[별표 1] 여비 지급 기준", "부칙 <2010. 3. 1.>"."""
        if self.is_english or self.kind == "division":
            return f"{self.anchor} {self.title}".strip()
        if self.kind == "article":
            return self.anchor + (f"({self.title})" if self.title else "")
        if self.kind == "supplement":
            return f"부칙 {self.title}".strip()
        if self.unit == "별지" and not (self.number and not self.number[0].isdigit()):
            name = f"[별지 제{self.number}호 서식]" if self.number else "[별지 서식]"
        else:
            name = f"[{self.unit} {self.number}]" if self.number else f"[{self.unit}]"
        return f"{name} {self.title}".strip()


def article_anchor(number: str) -> str:
    """ "제12조의2" for "12의2"."""
    main, _, branch = number.partition("의")
    return f"제{main}조" + (f"의{branch}" if branch else "")


def read_marker(line: str) -> Marker | None:
    """What `line` opens, or None for ordinary text and references."""
    line = _modern(line.lstrip()[:_MAX_READ_CHARS])
    start = line.lstrip(" \t\u3000#*")[:1]
    if not start:
        return None
    if start == "제":
        return _read_article(line) or _read_division(line)
    if start in "부별서세양붙첨[<〈【(（［《≪｢「『〔{":
        return _read_supplement(line) or _read_appendix(line) or (_read_english(line) if start in "[<(" else None)
    if start.isascii():
        return _read_english(line)
    return _read_official(line)


def _read_english(line: str) -> Marker | None:
    head = read_english(line)
    if head is None:
        return None
    kind: MarkerKind = "appendix"
    if head.unit in ("Chapter", "Part"):
        kind = "division"
    elif head.unit == "Article":
        kind = "article"
    elif head.unit == "Addenda":
        kind = "supplement"
    return Marker(kind=kind, unit=head.unit, number=head.number, title=head.title, rest=head.rest, weak=head.weak)


def _modern(line: str) -> str:
    """`line` with the old spellings at its start as they are written today: 第一條 -> 제1조, 別表 -> 별표, Ⅱ -> 2."""
    head, tail = line[:40], line[40:]
    if re.search(r"[第別附付]", head):
        head = head.translate(_OLD_SPELLINGS)
        for old, new in _OLD_WORDS:
            head = old.sub(new, head)
    head = _OLD_NUMBER.sub(lambda found: found[1] + str(_old_number(found[2])), head)
    return _ROMAN.sub(lambda found: found[1] + (" " if not found[1] else "") + str(ord(found[2]) - 0x215F), head) + tail


def _old_number(text: str) -> int:
    """15 for 十五 and 십오."""
    total, digit = 0, 0
    for char in text:
        unit = {"十": 10, "십": 10, "百": 100, "백": 100}.get(char)
        if unit is None:
            digit = max("一二三四五六七八九".find(char), "일이삼사오육칠팔구".find(char)) + 1
        else:
            total, digit = total + max(1, digit) * unit, 0
    return total + digit


def _read_official(line: str) -> Marker | None:
    """An appendix behind a square or the name of its regulation, as laws print it."""
    found = _OFFICIAL.match(line) or _BULLET.match(line)
    if found is None:
        return None
    rest = line[found.end() :]
    marker = _read_appendix(rest)
    if marker is None or found.group()[0] in "■□◼▣◆":
        return marker
    behind = rest[rest.find(_CLOSING[rest[0]]) + 1 :].strip()
    return marker if not behind or _REVISION.match(behind) else None  # else a sentence may begin with that name


def strip_revisions(text: str) -> str:
    """`text` without marks such as <개정 2010. 3. 1.>, white space collapsed."""
    return " ".join(_REVISION_OPEN.sub("", _REVISION.sub("", text)).split())


def close_up(text: str) -> str:
    """Letter-spaced headings closed up: "총  칙" -> "총칙"; other text only has its white space collapsed."""
    words = text.split()
    if len(words) > 1 and all(len(word) == 1 and "가" <= word <= "힣" for word in words):
        return "".join(words)
    return " ".join(words)


def is_sentence(text: str) -> bool:
    """Whether `text` ends like a sentence or goes on: such a line is no title."""
    return bool(_SENTENCE_END.search(text.strip()))


def _number(main: str | None, branch: str | None) -> str:
    if not main:
        return ""
    number = re.sub(r"\s*[-–]\s*", "-", main)
    return f"{number}의{branch}" if branch else number


def _read_article(line: str) -> Marker | None:
    found = _ARTICLE.match(line)
    if not found:
        return None
    number = _number(str(int(found[1])), found[2] or found[3])
    rest = found[4]
    text = rest.lstrip()
    gap = rest != text
    if not text:
        return _article(number, "", "", weak=True)
    if _DELETED_RANGE.match(text):
        return _article(number, "삭제", text)
    if text[0] in _TITLE_BRACKETS:
        closed = _closing_index(text)
        if closed < 0:
            return _article(number, "", text, weak=True)
        title, tail = text[1:closed].strip(), text[closed + 1 :]
        if _PARTICLE.match(tail) or _PARTICLE_BEHIND_TITLE.match(tail.lstrip()):
            return None
        if _REVISION.match(text):
            return _article(number, "삭제" if "삭제" in title else "", text)
        return _article(number, close_up(title), tail)
    if text[0] in "<〈" and (title := _angle_title(text)):
        return _article(number, close_up(title), text[len(title) + 2 :])
    if text[0] in "<〈" or text.startswith("삭제"):
        return _article(number, "삭제" if "삭제" in text[:40] else "", text)
    if not gap and text[0] not in ".:：":
        return None
    text = text.lstrip(".:： ")
    if _PARTICLE_AFTER_GAP.match(text + " ") or text[:1] in ",·ㆍ~～-)]":
        return None
    title = strip_revisions(text)
    if len(title) > 30 or is_sentence(text) or re.search(r"[①-⑳]", title):
        return _article(number, "", text, weak=True)
    return _article(number, close_up(title), "", weak=True)


def _angle_title(text: str) -> str:
    """The title in "<목적>", "" for a mark such as "<개정 2010. 3. 1.>"."""
    found = re.match(r"[<〈]([가-힣 ·ㆍ,]{2,30})[>〉]", text)
    return found[1] if found and not _REVISION.match(text) else ""


def _article(number: str, title: str, rest: str, *, weak: bool = False) -> Marker:
    return Marker(kind="article", unit="조", number=number, title=title, rest=rest, weak=weak)


def _closing_index(text: str) -> int:
    """Index of the bracket that closes the one at index 0, nesting counted; -1 when it is not near."""
    opening, closing = text[0], _TITLE_BRACKETS[text[0]]
    depth = 0
    for index, char in enumerate(text[:120]):
        if char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return index
    return -1


def _read_division(line: str) -> Marker | None:
    found = _DIVISION.match(line)
    if not found:
        return None
    rest = found[4]
    text = strip_revisions(rest)
    if rest[:1] and not rest[:1].isspace() and rest[0] not in "(<[（【.:：":
        if _PARTICLE.match(rest) or _SUBJECT.match(rest) or len(text) > 20:
            return None
    elif _PARTICLE_AFTER_GAP.match(rest.lstrip() + " "):
        return None
    if len(text) > 50 or is_sentence(text):
        return None
    title = close_up(text.strip(" .:：()[]【】"))
    return Marker(kind="division", unit=found[2], number=_number(str(int(found[1])), found[3]), title=title, rest="")


def _read_supplement(line: str) -> Marker | None:
    found = _SUPPLEMENT.match(line)
    if not found:
        return None
    rest = found[2]
    text = rest.strip()
    if not text or text[0] in "<〈([（【" or re.match(r"(?:제\s*)?\d[\d\s.,년월일호제-]*", text):
        if re.match(r"제\s*\d+\s*조", text) and not re.match(r"제\s*1\s*조\s*[(（]", text):
            return None
        if re.match(r"제\s*\d+\s*[항호](?!\s*[<(,\d]|\s*$)", text):
            return None
        if text[:1] in "([（" and _PARTICLE.match(re.sub(r"^[(\[（][^)\]）]*[)\]）]", "", text)):
            return None
        title = text if len(text) <= 40 and not is_sentence(text) and not text.startswith("제1조") else ""
        return Marker(kind="supplement", unit="부칙", number="", title=title, rest="" if title else text)
    if rest[:1].isspace() and re.match(r"(?:이|본|①|1\.)\s*\S", text):
        return Marker(kind="supplement", unit="부칙", number="", title="", rest=text)
    return None


def _read_appendix(line: str) -> Marker | None:
    found = _BRACKETED.match(line)
    if found:
        return _bracketed_appendix(found[1], found[2], _number(found[3], found[4] or found[5]), found[6])
    found = _NUMBERED_FORM.match(line)
    if found:
        return _bracketed_appendix(found[1], found[4], _number(found[2], found[3]), found[6])
    found = _BARE.match(line)
    if not found:
        return None
    unit, number, rest = _unit(found[1]), _number(found[2], found[3] or found[4]), found[5]
    if number and rest[:1] == ")":
        rest = " " + rest[1:]
    text = rest.strip()
    if unit in _ATTACHMENTS and (not number or _COPIES.search(text)):
        return None
    related = _RELATED_END.search(text)
    is_related = related is not None and not is_sentence(text[: related.start()])
    if not number and text and not (is_related or _UNNUMBERED.match(text)):
        return None
    if not number and unit not in ("별표", "별지", "서식", "세칙"):
        return None
    if text and (_PARTICLE.match(rest) or _PARTICLE_AFTER_GAP.match(text + " ") or text[0] in ",·ㆍ~～)]】」"):
        return None
    attached = rest[:1] and not rest[0].isspace() and rest[0] not in ".:：<([〈（"
    if attached and (_SUBJECT.match(rest) or not (number or is_related)):
        return None
    title = _appendix_title(text.lstrip(".:： "))
    if len(title) > _MAX_TITLE_CHARS or is_sentence(text):
        return None
    return Marker(kind="appendix", unit=unit, number=number, title=title, rest="")


def _bracketed_appendix(opening: str, kind: str, number: str, rest: str) -> Marker | None:
    closed = rest.find(_CLOSING[opening])
    if closed < 0 or closed > _MAX_TITLE_CHARS:
        return None
    inner, tail = rest[:closed].strip(), rest[closed + 1 :]
    behind = None if number or inner else re.match(rf"\s*(?:제\s*)?({_MAIN})(?![\d.])\s*호?{_BRANCH}", tail)
    if behind is not None:  # "[별표] 1"
        number, tail = _number(behind[1], behind[2]), tail[behind.end() :]
    if inner and inner[0] in ",및와과에":
        return None
    if _unit(kind) in _ATTACHMENTS and ((not number and (inner or opening in "(（")) or _COPIES.search(tail)):
        return None  # "[첨부파일]", "(붙임 참조)", "[붙임] 동의서 1부."
    if _PARTICLE.match(tail) or _SUBJECT.match(tail) or _PARTICLE_AFTER_GAP.match(tail.lstrip() + " "):
        return None
    strict = opening in "(（｢「『"
    if is_sentence(tail) or (strict and len(strip_revisions(tail)) > _MAX_TITLE_CHARS):
        return None
    if tail.strip()[:1] in (",", "·", "ㆍ", "~"):
        return None
    title = _appendix_title(f"{inner} {tail}")
    if len(title) > _MAX_TITLE_CHARS * 2:
        title = title[: _MAX_TITLE_CHARS * 2].rsplit(" ", 1)[0]
    return Marker(kind="appendix", unit=_unit(kind), number=number, title=title, rest="")


def _appendix_title(text: str) -> str:
    title = close_up(strip_revisions(text))
    if not title and re.search(r"삭\s*제", text):
        return "삭제"
    return title


def _unit(text: str) -> str:
    squeezed = "".join(text.split())
    return "별지" if squeezed.startswith("별지") else squeezed
