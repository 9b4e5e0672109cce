"""Finds names of secrets in a text: `db_password`, `clientSecret`, "비밀번호", "비밀 키"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What a name must hold, the longest first. A key of no known use ("key", "sortKey", "foreign_key") is not secret.
_WORDS: dict[str, str] = {
    "password": "password", "passwd": "password", "passphrase": "password", "passcode": "password", "pass": "password",
    "pwd": "password", "pw": "password", "비밀번호": "password", "비밀 번호": "password", "비 밀 번 호": "password",
    "패스워드": "password", "암호": "password", "비번": "password",
    "secret_access_key": "secret", "secretaccesskey": "secret", "secret_key": "secret", "secret-key": "secret",
    "secret key": "secret", "secret access key": "secret", "secretkey": "secret", "secret": "secret",
    "비밀키": "secret", "비밀 키": "secret", "시크릿 키": "secret", "시크릿키": "secret", "시크릿": "secret",
    "token": "token", "토큰": "token", "credential": "credential", "_auth": "credential", "key": "api-key",
    "인증키": "api-key", "인증 키": "api-key", "액세스키": "api-key", "액세스 키": "api-key", "접근 키": "api-key",
    "암호화 키": "api-key", "암호화키": "api-key", "서비스키": "api-key", "서비스 키": "api-key", "api 키": "api-key",
    "api키": "api-key",
}  # fmt: skip
_ANCHORS = (
    "pass", "pwd", "pw", "비밀", "비 밀", "패스워드", "암호", "비번", "secret", "token", "credential", "_auth", "key",
    "시크릿", "토큰", "인증키", "인증 키", "액세스", "접근 키", "서비스키", "서비스 키", "api 키", "api키",
)  # fmt: skip
_WORD = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_SHORT_WORDS = frozenset(("pass", "pw"))  # count at the start of a name's part only: not in "compass" or "bypass"
_KEY_USE = re.compile(
    r"(?:api|access|private|encryption|encrypt|signing|auth|account|service|master|license|app|admin|client|consumer|"
    r"deploy|hmac|jwt|aes|storage|session|shared|subscription|webhook|write|ingest|integration|bot|server)[_.\- ]?$"
)
_REST = re.compile(r"[A-Za-z0-9_-]{0,40}")
_AFTER_NAME = frozenset("\"'`\\]:= \t>：?|<\n은는이가을를도(→⇒),/*")
_AFTER_KOREAN_NAME = _AFTER_NAME | frozenset("[만로으에「『“‘")


@dataclass(frozen=True, slots=True)
class SecretName:
    """One identifier or word in a text that names a secret."""

    start: int  # of the keyword
    end: int  # of the identifier
    kind: str  # password, secret, token, credential or api-key
    rest: str  # of the identifier, behind the keyword
    korean: bool


def secret_names(text: str) -> Iterator[SecretName]:
    """Identifiers that hold a secret-like word and are followed by something that can assign a value.

    Plain substring searches come first: a regular expression over all words at once is ten times slower.
    """
    lowered = _lowered(text)
    places = set()
    for anchor in _ANCHORS:
        at = lowered.find(anchor)
        while at >= 0:
            places.add(at)
            at = lowered.find(anchor, at + 1)
    for start in sorted(places):
        word = _WORD.match(lowered, start)
        if word is None:
            continue
        rest = _REST.match(text, word.end())
        end = rest.end() if rest else word.end()
        korean = not word[0].isascii()
        if end < len(text) and text[end] not in (_AFTER_KOREAN_NAME if korean else _AFTER_NAME):
            continue
        if word[0] == "key" and not _KEY_USE.search(lowered, max(0, start - 14), start):
            continue
        joined = start > 0 and text[start - 1].isalpha() and text[start - 1].isascii() and not text[start].isupper()
        if word[0] in _SHORT_WORDS and joined:
            continue
        yield SecretName(start, end, _WORDS[word[0]], text[word.end() : end], korean)


def _lowered(text: str) -> str:
    """Lower case of the same length, so that positions agree ("İ" would become two characters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
