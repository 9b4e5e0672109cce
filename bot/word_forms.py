"""Words of a text in the form in which they are compared, with the part that their particles give them.

`content_words` asks whether texts speak of similar things; here two words are the same only when one is a form of the
other, begins with it, or means the same by the groups of `same_meaning`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.content_words import latin_stem
from bot.same_meaning import meaning_of

_WORD = re.compile(r"[가-힣]+|[A-Za-z][A-Za-z'’]*")
_HANGUL = re.compile(r"[가-힣]")
_ROLES = (
    ("to", re.compile(r"(?<=[가-힣])(?:에게는|에게도|에게만|에게|께서는|께는|께|한테)$")),
    ("agent", re.compile(r"(?<=[가-힣])(?:께서|이|가)$")),
    ("topic", re.compile(r"(?<=[가-힣])(?:은|는|도)$")),
    ("object", re.compile(r"(?<=[가-힣])(?:을|를)$")),
    ("of", re.compile(r"(?<=[가-힣]{2})의$")),
)
_PARTICLE = re.compile(
    r"(?:적으로|으로부터|로부터|으로써|으로서|에서부터|에게는|에게도|에게만|"
    r"에게서|에서는|에서도|에서만|에서의|으로는|으로도|으로만|까지는|까지도|"
    r"까지의|"
    r"부터는|부터의|께서는|께서|이라도|이란|이라면|라면|이라는|라는|에게|에서|"
    r"에는|에도|에만|에의|으로|까지|부터|보다|처럼|만큼|마다|마저|조차|"
    r"이며|이고|이나|이면|이라|이든|과의|와의|만은|만을|만이|씩|당|"
    r"은|는|이|가|을|를|의|에|로|와|과|도|만|께|나|며|란)$"
)
_PARTICLE_ALONE = re.compile(
    r"(?:은|는|이|가|을|를|의|에|에는|에도|로|으로|와|과|도|만|까지|부터|에서|씩|당|이며|이고|이면)"
)
_ENDING = re.compile(
    r"(?:(?<=[가-힣]{2})받(?:을|는|은|고|지|습니다|는다|아야|으며|으면|아)|하실|"
    r"하시면|하시는|하셔야|하신|되시면|되실|시려면|으시면|시면|셔야|"
    r"라고|다고|돼요|해요|되어요|에요|이에요|네요|어요|아요|세요|으세요|나요|"
    r"되었던|되었으며|되었고|하였으며|하였고|했으며|했고|됐으며|됐고|었습니다|"
    r"았습니다|였습니다|었으며|았으며|었고|았고|었지만|았지만|었던|았던|했지만|"
    r"됐지만|했다|"
    r"하시기|하십시오|하세요|하였습니다|했습니다|하겠습니다|하여야만|하여야|"
    r"하셔야|하려면|하려는|하려고|하도록|하더라도|하거나|하지만|하여서는|"
    r"해서는|하여서|하면서|하므로|하기|하여|해야만|해야|해서|해도|했던|했을|하던|"
    r"하면|하고|하며|하되|하나|하는|하지|합니다|한다|했다|"
    r"되었습니다|됐습니다|되어야|돼야|되려면|되도록|되거나|되지만|되어서|되므로|"
    r"되어|돼서|되던|되면|되고|되며|되되|되나|되는|되지|됩니다|된다|됐다|"
    r"시켜야|시키는|시킨다|시킵니다|"
    r"입니다|이어야|이었습니다|였습니다|이에요|예요|이다|인데|인지|습니다|읍시다|"
    r"더라도|으려면|려면|도록|거나|지만|으면서|면서|으므로|므로|"
    r"어야만|아야만|여야만|어야|아야|여야|어서|아서|으며|으면|으나|으니|는다|는데|는지|던|"
    r"하|해|한|할|함|했|되|돼|된|될|됨|됐|인|일|임|고|며|면|되|지|기|게|야|던|는|은|을|음)$"
)
_LINK = re.compile(r"(?<=[가-힣])(?:으|어|아|여|하|되)$")
_FINAL_N = re.compile(r"([가-힣])다$")
_SUFFIX = re.compile(r"(?<=[가-힣]{2})(?:율|률|비|료|금|액|차|일|자|분|용)$")
_FINAL_B = re.compile(r"([가-힣])니다$")
_GRAMMATICAL_WORDS = """
    수 것 등 및 또는 그리고 그러나 하지만 다만 단 즉 또한 따라서 그러므로 그래서 이 그 저 각 이러한
    그러한 해당 위 아래 다음 같 있 없 않 아니 하 되 되어 돼 한 할 함 대 대하여 대한 대해 위하여 위한
    위해 따라 따르 따른 의하 의하여 의한 관하여 관한 관련 통하여 통해 경우 때 시 자 바 점 중 내 안
    못 말 네 예 아니요 아니오 아뇨 됩 됩니다 안됩니다 있습니다 없습니다 합니다 입니다 이다 가능
    불가능 불가 필요 더 약 총 최대 최소 이상 이하 초과 미만 이내 이후 이전 까지 부터 전 후 뒤 동안
    사이 만 모두 모든 각각 함께 반드시 또 이때 여기 때문 보 볼 본 봅 정하 정해 정한 규정 명시 나와
    나오 적혀 한하 한해 한정 제외 외 별도 참고 답 예외 원칙 원칙적 단서 조항 근거 문서 자료 내용
    이는 이것 이것은 처리 물론 우선 먼저 즉시 바로 매 씩 마다 당 별 쪽 건 게 걸 데 줄 뿐 채 대로
    만큼 정도 간 째 번 반 적 용 인 님 들 네요 지요 거 겁 진행 꼭 이루어지 다음과 a an the every of
    to in on at by for from with and or but is are was were be been being has have had do does did
    not no can cannot may must should shall will would could it its this that these those as if then
    than there their they them you your we our us i my me he his him she her per each any all some
    such when where which who whom what how also only more most other into up out over under about
    after before between within without until unless except yes according following once while
    during least both either so let's get gets got need needs needed able allowed permitted required
    just via one's himself themselves yourself whether however e g i.e therefore thus stands stated
    states says described defined found section article
"""
_GRAMMATICAL = frozenset(_GRAMMATICAL_WORDS.split())
_AUXILIARY = re.compile(
    r"^(?:(?:있|없|않|아니|말아|못하|같|것|이것|그것|때문|따르|따른|의하|의한|대하|위하|관하)[가-힣]{0,5}|수(?:가|는|도|를|밖에)?)$"
)


@dataclass(frozen=True, slots=True)
class Form:
    """One word as it stands, what its stem may be, the part that its particle gives it ("" when it tells none), its
    place."""

    word: str
    stems: tuple[str, ...]  # longest first
    role: str
    place: int

    @property
    def stem(self) -> str:
        return self.stems[-1]

    @property
    def is_korean(self) -> bool:
        return _HANGUL.match(self.word) is not None


@lru_cache(maxsize=4096)
def forms_of(text: str) -> tuple[Form, ...]:
    """The words of a text that say something, in order."""
    found: list[Form] = []
    for match in _WORD.finditer(text):
        word = match[0].lower()
        stems = stems_of(word)
        role = next((name for name, pattern in _ROLES if pattern.search(word)), "") if _HANGUL.match(word) else ""
        if word in _GRAMMATICAL or any(len(stem) > 1 and stem in _GRAMMATICAL for stem in stems) or _says_nothing(word):
            continue
        found.append(Form(word, stems, role, match.start()))
    return tuple(found)


@lru_cache(maxsize=8192)
def stems_of(word: str) -> tuple[str, ...]:
    """What the stem of a word may be, longest first: a Korean word without particles and endings, as far as these can
    be told without a dictionary ("제출하여야" -> "제출", "직원에게는" -> "직원"); the beginning of a Latin one."""
    if not _HANGUL.match(word):
        return (latin_stem(re.sub(r"['’]s$", "", word)) or word,)
    found = [word]
    if not word.endswith(("습니다", "합니다", "됩니다", "입니다")) and (match := _FINAL_B.search(word)):
        word = word[: match.start()] + _without_final(match[1], "ㅂ")
        found.append(word)
    if match := _FINAL_N.search(word):
        found.append(word[: match.start()] + _without_final(match[1], "ㄴ"))
    for pattern in (_PARTICLE, _ENDING, _ENDING, _LINK):
        shorter = pattern.sub("", word)
        if shorter and shorter != word and not (pattern is _PARTICLE and len(shorter) < 2):
            word = shorter
            found.append(word)
    if len(word) == 1 and len(found) > 1:
        found.append(_without_final(_without_final(word, "ㄹ"), "ㄴ"))
    elif len(found) == 1 and len(word) == 2 and (shorter := _PARTICLE.sub("", word)) and shorter != word:
        found.append(shorter)
    elif len(found) == 1 and len(word) == 1:
        found.append(_without_final(_without_final(word, "ㄹ"), "ㄴ"))
    return tuple(dict.fromkeys(found))


def _says_nothing(word: str) -> bool:
    """Whether it is an auxiliary verb, an ending alone or a word of grammar with a particle: "전까지", "한다"."""
    if not _HANGUL.match(word):
        return False
    bare = _PARTICLE.sub("", word)
    return (
        _AUXILIARY.match(word) is not None
        or bare in _GRAMMATICAL
        or any(pattern.fullmatch(word) for pattern in (_ENDING, _PARTICLE_ALONE))
    )


_FINALS = {"ㄴ": 4, "ㄹ": 8, "ㅂ": 17}


def _without_final(syllable: str, final: str) -> str:
    code = ord(syllable) - 0xAC00
    return chr(0xAC00 + code - code % 28) if 0 <= code < 11172 and code % 28 == _FINALS[final] else syllable


class Vocabulary:
    """The words of a stretch of evidence, for asking whether it has a word in some form."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.forms: tuple[Form, ...] = ()
        self._stems: set[str] = set()
        self._meanings: set[str] = set()
        self._starts: set[str] = set()
        self._words: set[str] = set()
        for text in texts:
            self._add(text)

    def _add(self, text: str) -> None:
        words = [match[0].lower() for match in _WORD.finditer(text)]
        self.forms += forms_of(text)
        self._words.update(words)
        for number, word in enumerate(words):
            stems = stems_of(word)
            self._stems.update(stems)
            for stem in stems:
                self._meanings.update(meaning_of(stem))
            joined = "".join(words[number : number + 3]) if _HANGUL.match(word) else ""
            self._starts.update(joined[:length] for length in range(2, min(len(joined), 12) + 1))

    def holds(self, form: Form, before: Form | None = None) -> bool:
        """Whether the word stands here; with the one before it as a compound, too."""
        if any(stem in self._stems or (len(stem) > 1 and stem in self._starts) for stem in form.stems):
            return True
        if any(not self._meanings.isdisjoint(meaning_of(stem)) for stem in form.stems):
            return True
        if not form.is_korean:
            return False
        if before is not None and before.is_korean and any(before.stem + stem in self._starts for stem in form.stems):
            return True
        if any(_SUFFIX.sub("", stem) in self._stems for stem in form.stems):
            return True
        return any(len(stem) > 3 and self._holds_parts(stem) for stem in form.stems)

    def holds_part(self, stem: str) -> bool:
        """Whether the stem stands here, also inside a compound: "휴가" in "연차휴가"."""
        return stem in self._stems or (len(stem) > 1 and any(stem in word for word in self._words))

    def _holds_parts(self, stem: str) -> bool:
        """Whether a compound is made of two words that stand here: "출장보고서" of "출장" and "보고서"."""
        return any(
            stem[:cut] in self._starts and (stem[cut:] in self._starts or stem[cut:] in self._stems)
            for cut in range(2, len(stem) - 1)
        )

    def roles(self, form: Form) -> set[str]:
        """The parts that the word has here."""
        return {other.role for other in self.forms if other.stem == form.stem}


def unheld(forms: Sequence[Form], *vocabularies: Vocabulary) -> list[Form]:
    """The words that none of the vocabularies holds."""
    missing: list[Form] = []
    before: Form | None = None
    for form in forms:
        if not any(vocabulary.holds(form, before) for vocabulary in vocabularies):
            missing.append(form)
        before = form
    return missing
