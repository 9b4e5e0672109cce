"""How much a value looks like a password or key, and what is an expression, a path or a technical term instead."""

from __future__ import annotations

import re
from itertools import pairwise

from knowledge.masking_values import SECRET_WORD, is_placeholder, is_random

CALL_OR_TYPE = re.compile(
    r"\w[(\[<{](?:[\w.$:*&?=\\/-]*$|.*[)\]>}])|[)\]}>]$|^[({\[<|]|^&(?!\w*\d)|::|->|\w\.\w+\(|^!(?!\w*\d)|^[\w.]+\?[\w.]+:[\w.]+$"
)
DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:[?!]*\.[A-Za-z_$][\w$]*)+[!?;]*")
NOT_NULL = re.compile(r"[A-Za-z_]\w*!{1,2}")  # `password!` and `password!!` assert that a variable is set
_PATH = re.compile(
    r"(?:[.~]{0,2}/|[A-Za-z]:\\|https?://|file:|classpath:|arn:)\S*|[\w.-]+(?:/[a-z_.-]+){2,}"
    r"|\S+\.(?:pem|key|crt|json|ya?ml|txt|env|conf|xml|py|js|ts|java|kt|md)"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{28,}={0,2}")
_SPECIAL = re.compile(r"[!@#$%^&*+=~?]")
_INNER_SPECIAL = re.compile(r"\w[@#$%^&*+~]|[!?]\w|^[@#$%^&*]\w")
_TERM = re.compile(
    r"(?:sha[-_]?\d|aes[-_]?\d|md[245]$|base[-_]?(?:32|64)|utf[-_]?\d|oauth|pbkdf|argon2|s?bcrypt|scrypt|(?:rfc|iso|iec|pkcs)[-_]?\d|"
    r"http|ipv[46]|x\.?509|win(?:dows)?\d|rsa|ecdsa|ed25519|hmac|seed[-_]?\d|aria[-_]?\d|lea[-_]?\d|des$|3des|tls|ssl|"
    r"totp|hotp|[2m]fa$|fido|wpa|web3|html5?|utf8|log4j|jdk|java\d|python\d|k8s|s3$|ec2$|n/a$|varchar|nvarchar|number\(|"
    r"char\d|int\d|uint\d|float\d|string\d|bytes?\d|ntlm|ldap|kerberos|plaintext|nullable|sensitive)",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\d+[-~]\d+[+%]?|\d+[+%]|\d+(?:[-~]\d+)?\+?-?(?:bits?|bytes?|chars?|characters?|digits?|letters?|days?|hours?|times?|"
    r"months?|years?|weeks?|minutes?|seconds?|[kmg]b|ms|st|nd|rd|th|px|[hmsdx])(?:[-.,)].*)?|\d+(?:\.\d+)+\w*|v\d{1,3}(?:\.\d+)*(?:[-.]?[a-z]{1,6}\.?\d*)?|"
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,2}.*|\d+[-~]\d[\d-]*|[A-Z]{1,3}-?\d{1,3}|[A-Z]{2,6}-\d+(?:-[A-Z]+)*",
    re.IGNORECASE,
)
_SNAKE = re.compile(r"[a-z]+\d*(?:[_-][a-z0-9]+)+|[A-Z]+\d*(?:_[A-Z0-9]+)+")


def is_mixed(value: str) -> bool:
    """True when `value` holds letters and digits."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_expression(value: str) -> bool:
    """True for `request.password`, `user?.pw`, `get(`, `Map<String`; a drawn `Zx9.kkQpl` is none."""
    if CALL_OR_TYPE.search(value):
        return True
    if not DOTTED.fullmatch(value):
        return False
    drawn = is_mixed(value) and not value.islower() and not value.isupper() and re.search(r"\d[A-Za-z.!?]", value)
    return not drawn or SECRET_WORD.search(value) is not None


def is_term(value: str) -> bool:
    """True for names of algorithms and formats, measures, dates and snake_case names: `SHA256`, `12-character`."""
    return bool(_TERM.match(value) or _MEASURE.fullmatch(value) or _SNAKE.fullmatch(value))


def is_strong(value: str) -> bool:
    """True when `value` alone, wherever it stands, reads like a chosen password: `P@ssw0rd123`, `hunter2Secret`."""
    if len(value) < 6 or not value.isascii() or not any(c.isalpha() for c in value) or is_term(value):
        return False
    if is_mixed(value):
        cases = any(c.islower() for c in value) and any(c.isupper() for c in value)
        return cases or _SPECIAL.search(value) is not None
    return _INNER_SPECIAL.search(value) is not None


def is_path(value: str) -> bool:
    """True for paths, addresses and names of files; a key in base64 may begin with a slash too."""
    return _PATH.fullmatch(value) is not None and not _is_key_with_slashes(value)


def _is_key_with_slashes(value: str) -> bool:
    """True for base64 that a machine drew: letters, cases and digits change more often than in the words of a path."""
    key = _BASE64.match(value)
    if key is None or not is_mixed(value):
        return False
    kinds = ["A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else "/" for c in key[0]]
    return sum(a != b for a, b in pairwise(kinds)) * 5 > len(kinds) * 2 and "A" in kinds and "a" in kinds


def is_secret_value(value: str, strength: str) -> bool:
    """True when `value` can be a secret for a name of this strength ("password", "secret" or "key")."""
    if is_placeholder(value) or any(c.isspace() for c in value) or not value.isascii():
        return False
    if is_path(value) or (DOTTED.fullmatch(value) and is_expression(value)):
        return False
    if strength == "password":
        if value.isdigit():
            return len(value) >= 4
        if is_mixed(value):
            return len(value) >= 5
        if value.isalpha():
            return len(value) >= 6 and value[1:].islower() and SECRET_WORD.search(value) is None
        return len(value) >= 6 and _SPECIAL.search(value) is not None and not value.startswith(("#", "."))
    if strength == "secret":
        return len(value) >= 6 and is_mixed(value) and is_random(value, least_bits=2.2)
    if len(value) < 12:
        return False
    if is_mixed(value):
        return is_random(value, least_bits=2.8)
    # Letters alone: long and without the rhythm of words.
    is_plain = value.isalnum() and not value.isdigit()
    return len(value) >= 24 and is_plain and is_random(value, least_bits=3.8) and _ragged(value)


def _ragged(value: str) -> bool:
    """True when upper and lower case change too often for camel case."""
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return changes * 3 > len(value)
