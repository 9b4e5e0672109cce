"""What kind of thing a question asks for (an amount, a share, days, people ...), and how such a thing looks in a text.

Blanks of templates ("00월 00일", "ㅇ개월") and the dates of amendments are no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

_NUMBER = r"(?:\d[\d,.]*|(?<![가-힣])(?:[한두세네석넉열]|다섯|여섯|일곱|여덟|아홉|[일이삼사오육칠팔구십백천]{1,6}))"
_WORDS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety)"
_ENGLISH = rf"(?:\d+|{_WORDS})"
_END = r"(?=\s|$|[?,.]|[가-힣])"
_PRICE = (
    r"\d[\d,.]*\s?(?:원|천\s?원|만\s?원|백만\s?원|억|달러|유로|엔(?![가-힣])|\$|USD|KRW|won\b|dollars?\b)"
    r"|[일이삼사오육칠팔구십백천]+만?\s?원|만\s?원|(?<!\d)\d{1,3}(?:,\d{3})+|(?:US)?[$€￦₩]\s?\d"
)
_SHARE = (
    r"\d[\d.]*\s?(?:%|퍼센트|할(?![가-힣]{2})|배(?![가-힣]{2}))|분의\s?[\d일이삼사오]|(?<![\d.])\d\s?/\s?\d(?![\d/])"
    r"|절반|반액|\bpercent\b|\bhalf\b"
)
# a part of an amount, and not of those who vote
_PORTION = rf"(?:{_SHARE})(?!\s?이상의?\s?(?:출석|찬성|동의|요구|서면))"
_IN_WORDS = (
    r"전액|실비|무료|무상|면제|동액|동일한|지급하지|받지\s?아니|지원하지|부담하지|\bfree of charge\b|\bactual costs?\b"
)
_DAYS = (
    rf"{_NUMBER}\s?(?:일(?![반정시부체괄용상])|개월|월\s?이내|년(?!\s?\d)|주(?=\s|간|전|후|이|일|까|를|의|[^가-힣]|$)"
    r"|달(?!러)|시간|회계연도|학기(?=\s|이|까|를|전|후)|분기)"
    r"|즉시|지체\s?없이|곧바로|말일|전일|당일|익일|월말|연말|만료일|\bimmediately\b"
    rf"|\b{_ENGLISH}(?:[ -]\w+)?[ -](?:days?|weeks?|months?|years?|hours?)\b"
)
_DATE = (
    r"\d{4}\s?[.년/-]\s?\d{1,2}|[1-9]\d?\s?월\s?[1-9]\d?\s?일|['‘’]\d{2}\.\s?\d|[1-9]\d?\s?월(?!\s?\d|\s?(?:이내|이상|\d?회))"
    r"|(?:매월|매달|다음\s?달|익월)\s?(?:[1-9]\d?\s?일|말일)|\d{1,2}\.\s?\d{1,2}"
    r"|(?<![\d.])[1-9]\d?일(?!\s?(?:이내|이상|이하|이|간|전|후|동안|분|을|초과|차|의|까지|씩|치|반))"
)
_CLOCK = (
    r"(?<!\d)\d{1,2}\s?:\s?\d{2}(?!\d)|(?<!\d)[1-9]\d?\s?시(?!간|[·ㆍ가-힣])|오전|오후|정오|자정|\b\d{1,2}\s?[ap]\.?m\b"
)
# name, words that ask for it, how it looks; the first one counts
_KINDS = (
    ("phone", r"전화\s?번호|연락처|내선\s?번호|팩스\s?번호|\bphone number\b", r"\d{2,4}\s?[-)]\s?\d{3,4}"),
    ("mail", r"(?:이메일|메일)\s?주소|\be-?mail address\b", r"[\w.]+@[\w.]+"),
    (
        "date",
        r"몇\s?월\s?(?:며칠|몇\s?일|에|달)|몇\s?월(?=\s|$|\?|이)|날짜|(?:매달|매월)\s?(?:며칠|몇\s?일)"
        r"|[가-힣][날일](?:이|은)?\s(?:매달\s|매월\s)?(?:며칠|몇\s?일)|\bwhat date\b",
        _DATE,
    ),
    (
        "clock",
        r"몇\s?시(?!간)|(?:운영|이용|개관|근무|영업)\s?시간|\bwhat time\b|\bopening hours\b",
        rf"{_CLOCK}|{_NUMBER}\s?시간",
    ),
    (
        "share",
        r"몇\s?(?:퍼센트|프로|%|할(?!\s?수)|배)|이율|금리|이자율|요율|가산율|지급률|\binterest rate\b|\bpercent",
        rf"{_SHARE}|전액",
    ),
    ("currency", rf"몇\s?(?:원|달러|만\s?원|유로|불){_END}", rf"{_PRICE}|실비"),
    (
        "people",
        rf"몇\s?(?:명|인|사람|분){_END}|(?:인원|정원)(?:\s?수)?(?=\s|$|\?|은|이)"
        r"|\bhow many (?:people|members|employees|persons)\b",
        rf"{_NUMBER}\s?(?:여\s?)?(?:명|인(?=\s|$|[^가-힣]|이내|이상|이하|의|을|으로|과|까지|씩|에|당))|분의\s?\d|과반수|한\s?사람"
        rf"|\b{_ENGLISH} (?:people|members|employees|persons)",
    ),
    (
        "often",
        rf"얼마나\s?자주|몇\s?(?:번|회|차례){_END}|횟수|\bhow often\b|\bhow many times\b",
        rf"{_NUMBER}\s?(?:회|번|차례|차(?![가-힣]))|매월|매년|매주|매일|매\s?학기|분기|반기|마다|[연년월]\s?\d"
        r"|\bevery\b|\bonce\b|\btwice\b|\btimes\b|\b\w+ly\b",
    ),
    ("hours", r"몇\s?시간|\bhow many hours\b", rf"{_NUMBER}\s?(?:시간|분|h)|\bhours?\b|\d+/\d+"),
    ("credits", r"몇\s?학점|\bcredits\b", r"\d+\s?(?:학점|[~∼])|\d+/\d+"),
    ("age", r"몇\s?(?:살|세(?=\s|$|\?|[까부이면]))|나이|연령|\bage\b", r"\d+\s?(?:세(?!대)|살)|\bage \d"),
    (
        "period",
        rf"며칠|몇\s?일|몇\s?(?:달|개월|년|주){_END}|언제까지|기한|일수|얼마\s?동안|얼마간|얼마나\s?(?:걸|오래)|기간|임기"
        r"|\bhow long\b|\bdeadline\b|\bhow (?:soon|many (?:days|weeks|months|years))\b",
        rf"{_DAYS}|{_DATE}|\d\s?분(?![의기류야])",
    ),
    (
        "money",
        r"얼마(?!나|\s?동안|간)|얼마나\s?(?:나와|나오|줘|주|더|되|내|받|들|해|하)|금액|비용|요금|단가|수수료|가격|연봉"
        r"|\bhow much\b|\bcost\b|\bamount\b|\bfee\b|\bfare\b",
        rf"{_PRICE}|{_PORTION}|{_IN_WORDS}",
    ),
    ("count", r"몇\s?(?P<unit>[가-힣㎥]{1,4})|대수|장수|개수|\bhow many\b", rf"{_NUMBER}\s?[가-힣㎥]|\b{_WORDS}\b"),
)
# units that are asked for by name, and what else they are called; a number of anything else is no answer
_UNITS = {
    "장": "장|매", "매": "장|매", "개": "개(?!월)", "대": "대", "권": "권", "점": "점|포인트", "건": "건",
    "톤": "톤|t\\b",
    "과목": "과목|교과목", "가지": "가지|종", "킬로": "킬로|km|㎞|kg", "평": "평", "호": "호", "쪽": "쪽|면|페이지",
    "등급": "등급|급", "급": "급|등급", "단계": "단계", "조": "조", "마리": "마리", "병": "병", "층": "층",
}  # fmt: skip
_ENDING = re.compile(r"(?<=.)(?:이[에예나야지죠]?|가|을|를|은|는|예|인|까|씩|나|야|죠|로|정|이상|이하).*$")
# nouns that say no more than the kind: where such a thing stands they need not be said
_NOUNS: Mapping[str, frozenset[str]] = {
    "phone": frozenset({"전화", "번호", "전화번호", "연락처"}),
    "date": frozenset({"날짜"}),
    "period": frozenset({"기간", "기한", "일수", "deadline"}),
    "people": frozenset({"인원", "인원수", "명수"}),
    "count": frozenset({"대수", "개수", "장수"}),
    "money": frozenset({"요금", "비용", "금액", "가격", "액수", "단가", "cost", "amount"}),
}
# what the head of a table says where the numbers that stand alone in its cells are of a kind
_MONEY_HEAD = (
    r"[가-힣](?:금|비|료|액)(?=\s|$|[|()/·,])|수당|운임|단가|단위\s?:[^)\n]*(?:원|\$)|(?<![가-힣])원(?![가-힣])|[$€￦₩]|달러"
    r"|\b(?:KRW|USD|won|fee|fare|amount|cost|allowance)\b"
)
_HEADED = {
    "money": _MONEY_HEAD,
    "currency": _MONEY_HEAD,
    "share": r"율|률|%|퍼센트|\brate\b|percent",
    "people": r"인원|정원|명|(?<![가-힣])인(?![가-힣])|people|members",
    "period": r"일수|기간|휴가|연한|개월|연수|(?<![가-힣])[일년](?![가-힣])|days|weeks|months",
    "hours": r"시간|시수|hours",
    "credits": r"학점|credits",
    "age": r"연령|나이|(?<![가-힣])세(?![가-힣])|\bage\b",
    "often": r"횟수|회수|(?<![가-힣])회(?![가-힣])|times",
}
_CELL = re.compile(r"(?:^|\|)\s*\(?[1-9][\d,.]*\)?(?:\s*[/(~∼-][^|]{0,12})?\s*(?=\||$)")
_AMENDED = re.compile(
    r"[<〈\[(]\s*(?:개정|신설|전문\s?개정|본조\s?신설|단서\s?조항\s?삽입|제정|전부\s?개정|시행|삭제)[^>〉\])|]{0,600}[>〉\])]"
    r"|<\s?\d{4}\.[^>]{0,600}>"
)
_BLANK = re.compile(r"(?<![\d.,])0{2,}\s?(?:개월|[일월년%시])|[ㅇ○◯]+\s?(?:개월|[일월년%원시])|(?<!\d)00\s?:\s?00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A kind of thing that is asked for."""

    name: str
    looks: re.Pattern[str] = field(repr=False)
    headed: re.Pattern[str] | None = field(repr=False)  # what the head of a table says where bare numbers are such

    @property
    def nouns(self) -> frozenset[str]:
        """Terms of a question that say no more than this kind."""
        return _NOUNS.get(self.name, frozenset())

    @property
    def in_one_line(self) -> bool:
        """Whether it stands in the very line that speaks of it: dates and times stand everywhere else as well."""
        return self.name in ("date", "clock", "phone")

    def stands_in(self, line: str, head: str = "") -> bool:
        """Whether a line, or a row of a table with "|" between its cells, holds such a thing.

        `head` is what stands over the table: a number alone in a cell is what that says.
        """
        if _BLANK.search(line):
            return False
        if self.looks.search(line):
            return True
        return (
            self.headed is not None
            and "|" in line
            and _CELL.search(line) is not None
            and bool(self.headed.search(head))
        )


def _kinds() -> Iterator[tuple[re.Pattern[str], Asked]]:
    for name, asks, looks in _KINDS:
        headed = re.compile(_HEADED[name], re.IGNORECASE) if name in _HEADED else None
        yield re.compile(asks, re.I), Asked(name=name, looks=re.compile(looks, re.IGNORECASE), headed=headed)


_BY_WORDS = tuple(_kinds())


def asked_of(text: str) -> Asked | None:
    """The kind of thing that a question asks for; None where its words do not say."""
    for asks, asked in _BY_WORDS:
        if match := asks.search(text):
            counted = match.groupdict().get("unit")
            return _counted_in(_unit_of(counted)) if counted else asked
    return None


def _unit_of(written: str) -> str:
    """The unit in "과목까지" or "칼로리예요": one that is known, else what stands in front of an ending."""
    known = next((unit for unit in _UNITS if written.startswith(unit)), None)
    return known or _ENDING.sub("", written) or written


@lru_cache(maxsize=256)
def _counted_in(unit: str) -> Asked:
    looks = rf"{_NUMBER}\s?(?:{_UNITS.get(unit, re.escape(unit))})|분의\s?\d"
    return Asked(
        name="count", looks=re.compile(looks, re.IGNORECASE), headed=re.compile(_UNITS.get(unit, re.escape(unit)))
    )


def without_amendments(text: str) -> str:
    """The text without the marks that say when it was amended ("<개정 2008. 3. 1.>"): their dates answer nothing."""
    return _AMENDED.sub(" ", text)
