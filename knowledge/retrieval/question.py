"""What is understood of a question before anything is searched."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from knowledge.analysis import analyze, analyze_query, subjects
from knowledge.retrieval.frames import Frame, find_files, find_frames
from knowledge.retrieval.lexicon import load_reversed, phrases_in, plain_english, translations
from knowledge.retrieval.manner import generality, names_setting
from knowledge.retrieval.named_sections import without_english_sections
from knowledge.types import EvidenceKind

_HANGUL = re.compile(r"[가-힣]")
# camelCase, snake_case, dotted or called names: what nobody writes in prose
_IDENTIFIER = re.compile(
    r"(?<![\w/.])(?:[a-z$_][\w$]*[a-z0-9][A-Z][\w$]*|[A-Z][a-z0-9]+[A-Z][\w$]*|[A-Za-z]\w*_\w+|[A-Za-z_]\w*(?=\())(?:\.\w+)*"
)
_MEMBER = re.compile(r"(?<![\w/.@-])[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+(?![\w/@])")  # Context.Value, Pay::send
_QUOTED = re.compile(r"`([A-Za-z_$][\w$.]*)(?:\(\))?`")
# How titles of reports and of changes begin and end: they say that something is wrong, not what.
_REPORT_WORDS = re.compile(
    r"^\s*\[?(?:bug\s?-?fix(?:es|ed)?|hot\s?fix|fix(?:es|ed|ing)?|bug|issue|regression|feat|chore)\]?"
    r"(?:\([^)]*\))?[:!]?(?=\s|$)"
    r"|(?:\s|^)(?:버그\s?(?:를|을)?\s?)?(?:수정|고침|해결)(?:했습니다|함|해 주세요)?\s*$"
    r"|\(?(?:fixes|closes|resolves)?\s*#\d+\)?",
    re.IGNORECASE | re.MULTILINE,
)
_DISTRIBUTIVE = frozenset(["each", "everi", "per"])  # as they are indexed
_PARTICIPLE = re.compile(r"^[a-z]{2,}[^e\W]ed$|^[a-z]{3,}ly$")
_LONG_LINE_CHARS = 160
_MIN_LEAD_CHARS = 15
_SENTENCE_END = re.compile(r"(?<=[.?!])\s")
_TEST_WORDS = frozenset({"test", "spec", "mock", "fixtur", "테스트", "목"})

_ENGLISH_SPAN = (
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|fifteen|twenty|thirty|sixty|ninety)"
    r"[ -](?:\w+ )?(?:hours?|days?|weeks?|months?|years?)\b|\bimmediately\b|\bwithout delay\b"
)
# What kind of thing the answer is, by the words that ask for it -> how such a thing looks in a text.
_ASKS = tuple(
    (re.compile(asked), re.compile(looks))
    for asked, looks in (
        (
            r"얼마|금액|비용|요금|단가|한도|수당|\bhow much\b|\bcost\b|\bamount\b|\bfee\b",
            r"\d[\d,.]*\s?(?:원|천원|만원|달러|유로|\$|%|won\b|KRW|USD|EUR)|만\s?원|\d{1,3}(?:,\d{3})+|(?:\$|₩|KRW|USD|EUR)\s?\d",
        ),
        (
            r"며칠|몇\s?일|언제까지|기한|일수|몇\s?달|몇\s?개월|몇\s?년|몇\s?주|기간|임기"
            r"|\bhow long\b|\bhow soon\b|\bby when\b|\bdeadline\b|\bhow many (?:\w+ )?(?:days|weeks|months|years)\b",
            r"\d+\s?(?:일|개월|년|주|시간)|즉시|지체\s?없이|" + _ENGLISH_SPAN,
        ),
        (
            r"몇\s?(?:퍼센트|프로|%)|비율|이율|금리|이자율|\brate\b|\bpercent",
            r"\d[\d.]*\s?(?:%|퍼센트|할|분의)|분의\s?\d",
        ),
        (
            r"몇\s?(?:명|회|번|권|점|대|건|학점|톤|시간|살|세)|\bhow many\b",
            r"\d[\d,.]*\s?(?:명|인|회|번|권|점|대|건|학점|톤|시간|세)|\b\d+\b|분의\s?\d",
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as one kind of source is asked: terms for the keyword index, texts for the embedders, hints."""

    text: str
    kind: EvidenceKind
    terms: tuple[str, ...]  # of the keyword index, compounds among them
    words: tuple[str, ...]  # the terms without compounds: what coverage is measured by
    expansions: Mapping[str, tuple[str, ...]]  # word -> terms that say the same in the texts
    added_terms: tuple[str, ...]  # all terms of the expansions
    added_text: str  # the words of the expansions, "" when there are none
    subjects: Mapping[str, str] = field(default_factory=dict)  # term -> as written: what a question is about
    names: frozenset[str] = frozenset()  # those subjects that are names of places and houses
    frames: tuple[Frame, ...] = ()
    files: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    about_tests: bool = False
    details: frozenset[str] = frozenset()  # words that stand behind the first line of a report only
    has_setting: bool = False  # whether a language or tool is named that the question is about
    generality: float = 0.0  # how much it sounds like a question for a search engine, 0..1
    answer_pattern: re.Pattern[str] | None = field(
        default=None, compare=False
    )  # how the answer looks, when that is clear


def understand(text: str, kind: EvidenceKind) -> Question:
    """The question for sources of one kind. Never raises; a question without a subject has no terms."""
    code = kind == "code"
    told = _without_report_words(text) if code else text
    terms = tuple(analyze_query(told))
    words = _with_known_compounds(_simple_words(terms, analyze(told)), terms, kind)
    phrases = phrases_in(analyze(text)) if kind == "docs" and not _HANGUL.search(text) else {}
    lead = lead_of(text) if code else text
    leading = frozenset(analyze(lead)) if lead != text else None
    subject, names = subjects(without_english_sections(text)) if kind == "docs" else ({}, frozenset[str]())
    expansions, added = _expand([word for word in words if leading is None or word in leading], text, kind, phrases)
    if kind == "docs":
        words = _without_plain_words(words, expansions, subject)
        said = set(analyze(without_english_sections(text)))
        words = tuple(word for word in words if word in said) or words
    return Question(
        text=text,
        kind=kind,
        terms=terms,
        words=words,
        expansions=expansions,
        added_terms=tuple(dict.fromkeys(term for terms in expansions.values() for term in terms)),
        added_text=" ".join(added),
        subjects=subject,
        names=names,
        frames=tuple(find_frames(text)) if code else (),
        files=tuple(find_files(text)),
        identifiers=tuple(_identifiers(text)) if code else (),
        has_setting=names_setting(text),
        generality=generality(text, words, code=code),
        about_tests=bool(_TEST_WORDS & (set(terms) if leading is None else leading)),
        details=frozenset() if leading is None else frozenset(words) - leading,
        answer_pattern=None if code else _answer_pattern(text),
    )


def query_terms(text: str) -> list[str]:
    """The terms of a question, and behind those of an English one the Korean words of texts that say the same."""
    terms = analyze_query(text)
    if _HANGUL.search(text):
        return terms
    return list(dict.fromkeys((*terms, *understand(text, "docs").added_terms)))


def _without_report_words(text: str) -> str:
    """The text without the words that mark it as a report or a change ("Fix ...", "[Bug]"), if others remain."""
    told = _REPORT_WORDS.sub(" ", text)
    return told if analyze_query(told) else text


def without_wordings(question: Question, unused: Collection[str]) -> Question:
    """The question without those wordings among its expansions."""
    kept = {word: tuple(t for t in terms if t not in unused) for word, terms in question.expansions.items()}
    return replace(question, expansions={word: terms for word, terms in kept.items() if terms})


def lead_of(text: str) -> str:
    """What a report is about: its first line, or its first sentence when that is long; the rest tells details."""
    line = text.strip().split("\n", 1)[0].strip()
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0] if len(line) > _LONG_LINE_CHARS else line
    return sentence if len(sentence) >= _MIN_LEAD_CHARS else text


def _simple_words(terms: Sequence[str], tokens: Sequence[str]) -> tuple[str, ...]:
    """The terms that are not made of two other tokens of the same question."""
    known = set(tokens)

    def is_compound(term: str) -> bool:
        return any(
            term[:cut] in known and (term[cut:] in known or is_compound(term[cut:])) for cut in range(1, len(term))
        )

    return tuple(term for term in terms if not is_compound(term))


def _with_known_compounds(words: Sequence[str], terms: Sequence[str], kind: EvidenceKind) -> tuple[str, ...]:
    """The words, with compounds that have a meaning of their own (방값) in place of their single syllables (방, 값)."""
    compounds = [term for term in terms if term not in words and _HANGUL.match(term)]
    known = translations(compounds, "software_ko_en" if kind == "code" else "workplace_ko") if compounds else {}
    kept = [word for word in words if len(word) > 1 or not any(word in compound for compound in known)]
    return (*kept, *known)


def _without_plain_words(
    words: tuple[str, ...], expansions: Mapping[str, Sequence[str]], written: Mapping[str, str]
) -> tuple[str, ...]:
    """The words without English ones that tell nothing, if others remain: a list of them, and participles and adverbs
    that no lexicon knows ("shortened", "automatically"), since what a question is about are things. The "each" of
    "each week" says nothing that the week does not say."""
    plain = plain_english()
    known = [word for word in words if word in expansions and word not in _DISTRIBUTIVE]
    said = [tuple(expansions[word]) for word in known]
    kept = [
        word
        for word in words
        if word in known
        or (word in expansions and tuple(expansions[word]) not in said)
        or not (word in expansions or word in plain or _PARTICIPLE.search(written.get(word, "").casefold()))
    ]
    return tuple(kept) or words


def _expand(
    words: Sequence[str], text: str, kind: EvidenceKind, phrases: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Terms and plain words that say the same as the question in the language of the texts."""
    if kind == "code":
        found = translations(words, "software_ko_en" if _HANGUL.search(text) else "software_en")
    else:
        found = translations(words, "workplace_ko" if _HANGUL.search(text) else "workplace_en_ko")
        found |= {word: phrases[word] for word in words if word in phrases}
    plain = list(dict.fromkeys(word for others in found.values() for word in others))
    if kind == "docs" and _HANGUL.search(text):
        found = _with_english(words, found)
    return {word: tuple(term for other in others for term in _as_terms(other)) for word, others in found.items()}, plain


def _with_english(words: Sequence[str], found: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The expansions with the English words for each Korean one: some documents of a Korean house are in English."""
    english = load_reversed("workplace_en_ko")
    return {
        word: tuple(dict.fromkeys((*found.get(word, ()), *english.get(word, ()))))
        for word in words
        if word in found or word in english
    }


def _as_terms(word: str) -> Sequence[str]:
    """Index terms of a word of a lexicon: a Korean noun is its own, alone it might be taken for a verb."""
    return (word,) if _HANGUL.search(word) else analyze(word)


def _identifiers(text: str) -> list[str]:
    found = [match.group().strip(".") for match in _IDENTIFIER.finditer(text)]
    found += [match[1].strip(".") for match in _QUOTED.finditer(text)]
    found += [re.sub(r"::|#|->", ".", match.group()) for match in _MEMBER.finditer(text)]
    return list(dict.fromkeys(found))


def _answer_pattern(text: str) -> re.Pattern[str] | None:
    for asks, looks in _ASKS:
        if asks.search(text):
            return looks
    return None
