"""Index tokens of a text and query terms of a question, for Korean, English and source code alike.

Korean is cut into morphemes by kiwipiepy, which is loaded at the first Hangul letter (about one second) and never for
plain code. Each content morpheme becomes a token, and neighbouring nouns also become one token together, so that
"연차휴가", "연차 휴가" and a search for "연차" all meet. Numbers and labels: see `numerals`. Identifiers are split,
stemmed and kept whole beside it ("getUserName" and "get_user_name" both give get, user, name, getusername).

Tokens consist of letters and digits that SQLite's unicode61 neither splits nor folds: the keyword index stores them
joined by spaces and gets the same tokens back.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from knowledge.numerals import Span, is_number, korean_number_tokens, label_tokens, number_tokens
from knowledge.stemming import stem
from knowledge.stopwords import GRAMMAR_MORPHEMES, QUESTION_WORDS

ANALYZER_VERSION = "1"

# Letters of SQLite's unicode61 (Unicode 6.1) that it leaves unfolded once they are lower-cased and without accents.
_TOKEN = re.compile("[0-9a-zα-ωа-я가-힣ㄱ-ㅎㅏ-ㅣぁ-ゖァ-ヺ一-鿋]+")
_MAY_HAVE_ACCENT = re.compile("[\u00c0-\u052f\u1e00-\u1fff]")
_HANGUL = re.compile(r"[가-힣]")
_WORD = re.compile(r"[A-Za-zα-ωΑ-Ωа-яА-Я0-9_$\u00df]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
_MAX_TOKEN_CHARS = 64  # longer runs are encoded data, not words
_MAX_IDENTIFIER_CHARS = 200
_MAX_SEGMENT_CHARS = 1500  # kiwi's time grows faster than the text

_CONTENT_TAGS = ("NNG", "NNP", "NR", "XR", "VV", "VA", "MM", "MAG", "SH")
_NOUN_TAGS = ("NNG", "NNP", "NR", "XR", "XPN", "XSN", "SL", "SN", "SH", "NNB")
# Words of regulations and of software that the model would take apart into something else.
_DOMAIN_NOUNS = (
    *("별표", "별지", "별첨", "부칙", "공결", "연차"),
    *("해시", "타입", "모달", "북마크", "클립보드", "백엔드", "프론트엔드", "엔드포인트", "드롭다운"),
)


class _Morpheme(NamedTuple):
    form: str
    tag: str
    start: int
    end: int


_kiwi: Any = None
_kiwi_lock = threading.Lock()


def _tokenizer() -> Any:
    """The shared Kiwi. Its dictionaries of names and typing errors are left out: they triple the loading time."""
    global _kiwi
    with _kiwi_lock:
        if _kiwi is None:
            from kiwipiepy import Kiwi

            kiwi = Kiwi(
                num_workers=1,
                model_type="cong",
                load_default_dict=False,
                load_typo_dict=False,
                load_multi_dict=False,
            )
            for word in _DOMAIN_NOUNS:
                kiwi.add_user_word(word, "NNG", 0.0)
            _kiwi = kiwi
        return _kiwi


def warm_up() -> None:
    """Loads the Korean model now, so that the first question does not wait for it."""
    _tokenizer().tokenize("준비")


def analyze(text: str) -> list[str]:
    """Tokens of `text`, repeated as often as they occur; compounds, labels and whole identifiers beside their parts.

    Empty for text without a letter or digit. Never raises on any string.
    """
    return list(_tokens(_normalise(text)))


def analyze_query(text: str) -> list[str]:
    """Distinct terms of a question in order of appearance, without question words, endings and forms of address.

    Empty for a question that has no subject ("뭐야?").
    """
    return [term for term in dict.fromkeys(_tokens(_normalise(text))) if term not in QUESTION_WORDS]


def subjects(text: str) -> tuple[dict[str, str], frozenset[str]]:
    """(term -> as it is written) for the nouns and foreign words of a question, and those terms that are names."""
    text = _normalise(text)
    found: dict[str, str] = {}
    names: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if len(word) > 1 and word.isalpha() and word.casefold() not in QUESTION_WORDS:
            found.update(dict.fromkeys(_identifier_tokens(word), word))
    if _HANGUL.search(text):
        for token in _tokenizer().tokenize(text):
            if token.tag in ("NNG", "NNP", "XR") and len(token.form) > 1 and _HANGUL.match(token.form):
                found[token.form] = token.form
                if token.tag == "NNP":
                    names.add(token.form)
    kept = {term: written for term, written in found.items() if term not in QUESTION_WORDS | GRAMMAR_MORPHEMES}
    return kept, frozenset(names)


@lru_cache(maxsize=4096)
def is_unknown_noun(word: str) -> bool:
    """Whether a Korean word is none that the dictionary knows, nor one that is made of such: "둥록"."""
    tokens = _tokenizer().tokenize(word)
    return len(tokens) == 1 and tokens[0].tag in ("NNG", "NNP") and tokens[0].id == _unknown_id()


@lru_cache(maxsize=1)
def _unknown_id() -> int:
    """The id that every noun has which stands in no dictionary."""
    return int(_tokenizer().tokenize("뷁쀍")[0].id)


def latin_terms(text: str) -> frozenset[str]:
    """The distinct tokens of words and identifiers in Latin letters; never loads the Korean model."""
    return frozenset(_latin_tokens(_normalise(text)))


def _normalise(text: str) -> str:
    """NFKC without accents, so that equal words have equal letters."""
    text = unicodedata.normalize("NFKC", text)
    return text if text.isascii() else _MAY_HAVE_ACCENT.sub(lambda match: _plain_letter(match.group()), text)


@lru_cache(maxsize=4096)
def _plain_letter(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))


def _clean(token: str) -> Iterator[str]:
    for piece in _TOKEN.findall(token.casefold()):
        if len(piece) <= _MAX_TOKEN_CHARS:
            yield piece


def _tokens(text: str) -> Iterator[str]:
    plain: list[str] = []
    korean: list[str] = []
    if _HANGUL.search(text):
        for line in text.splitlines():
            (korean if _HANGUL.search(line) else plain).append(line)
    else:
        plain.append(text)
    for segment in ("\n".join(plain), *_segments(korean)):
        taken: list[Span] = []  # places of labels and numbers, which morphemes leave alone
        yield from _latin_tokens(segment)
        yield from label_tokens(segment, taken)
        yield from number_tokens(segment, taken)
        if _HANGUL.search(segment):
            yield from korean_number_tokens(segment, taken)
            yield from _morpheme_tokens(segment, taken)


def _segments(lines: Sequence[str]) -> Iterator[str]:
    """The lines joined into pieces that kiwi handles quickly; a longer line is cut."""
    piece: list[str] = []
    size = 0
    for line in lines:
        for start in range(0, len(line), _MAX_SEGMENT_CHARS):
            part = line[start : start + _MAX_SEGMENT_CHARS]
            if piece and size + len(part) > _MAX_SEGMENT_CHARS:
                yield "\n".join(piece)
                piece, size = [], 0
            piece.append(part)
            size += len(part)
    if piece:
        yield "\n".join(piece)


# --- Latin letters: words and identifiers -----------------------------------------------------------


def _latin_tokens(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield from _identifier_tokens(match.group())


@lru_cache(maxsize=65536)
def _identifier_tokens(word: str) -> tuple[str, ...]:
    """Stems of the parts of an identifier, and the whole of it when it has more than one part."""
    if len(word) > _MAX_IDENTIFIER_CHARS or (word[0].isdigit() and is_number(word)):
        return ()  # a number is handled with its unit
    parts = _PART.findall(word)
    tokens: list[str] = []
    for part in parts:
        if len(part) > 1:
            tokens += (stem(piece) if piece.isascii() and piece.isalpha() else piece for piece in _clean(part))
    if len(parts) > 1:
        tokens += _clean("".join(parts))
    return tuple(tokens)


# --- Korean morphemes -------------------------------------------------------------------------------


def _morpheme_tokens(text: str, taken: Sequence[Span]) -> Iterator[str]:
    spans = iter(sorted(taken))
    nowhere = (len(text), len(text))
    start, end = next(spans, nowhere)
    run: list[_Morpheme] = []
    for token in _tokenizer().tokenize(text):
        morpheme = _Morpheme(token.form, token.tag, token.start, token.start + token.len)
        while morpheme.start >= end and start < len(text):
            start, end = next(spans, nowhere)
        is_taken = morpheme.end > start
        is_noun = morpheme.tag in _NOUN_TAGS and not is_taken
        if run and not (is_noun and _joins(run[-1], morpheme, text)):
            yield from _compound_tokens(run)
            run = []
        if is_noun:
            run.append(morpheme)
        if not is_taken:
            yield from _content_tokens(morpheme)
    yield from _compound_tokens(run)


def _joins(left: _Morpheme, right: _Morpheme, text: str) -> bool:
    """Whether the two stand together: without a gap, or with one space between full nouns."""
    if left.end == right.start:
        return True
    return text[left.end : right.start] == " " and right.tag in ("NNG", "NNP") and left.tag in ("NNG", "NNP")


def _content_tokens(morpheme: _Morpheme) -> Iterator[str]:
    tag = morpheme.tag.partition("-")[0]
    if tag not in _CONTENT_TAGS:
        return
    form = f"{morpheme.form}다" if tag in ("VV", "VA") else morpheme.form
    if form not in GRAMMAR_MORPHEMES:
        yield from _clean(form)


def _compound_tokens(run: Sequence[_Morpheme]) -> Iterator[str]:
    """Pairs of neighbouring nouns, and the whole of three to five that were written without a space."""
    for left, right in pairwise(run):
        if left.form not in GRAMMAR_MORPHEMES and right.form not in GRAMMAR_MORPHEMES:
            yield from _clean(left.form + right.form)
    if 3 <= len(run) <= 5 and all(left.end == right.start for left, right in pairwise(run)):
        yield from _clean("".join(morpheme.form for morpheme in run))
