"""What a masking rule is, and what tells a secret value from a placeholder, a name or an expression."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskRule:
    """Replaces the group `v` of every match that passes `check`; runs only when one of `hints` is in the text."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def replace_values(text: str, rule: MaskRule, counts: Counter[str]) -> str:
    """`text` with the values that `rule` finds masked; `counts` grows by what was replaced."""
    for hint in rule.hints:  # `any` over a generator takes three times as long
        if hint in text:
            break
    else:
        return text
    check = rule.check
    return replace_spans(
        text,
        [
            (*match.span("v"), rule.kind)
            for match in rule.pattern.finditer(text)
            if not match["v"].startswith("[masked:") and (check is None or check(match["v"]))
        ],
        counts,
    )


def replace_spans(text: str, spans: list[tuple[int, int, str]], counts: Counter[str]) -> str:
    """`text` with every (start, end, kind) masked; of overlapping spans the first one counts."""
    if not spans:
        return text
    pieces: list[str] = []
    position = 0
    for start, end, kind in sorted(spans, key=lambda span: span[0]):
        if start < position:
            continue
        pieces.append(text[position:start])
        pieces.append(f"[masked:{kind}]")
        counts[kind] += 1
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def is_drawn(value: str) -> bool:
    """True for a long value that only a machine writes: small and capital letters and digits change all the time."""
    kinds = ["A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else "/" for c in value]
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes * 5 > len(kinds) * 2 and {"A", "a", "0"} <= set(kinds) and bits_per_char(value) >= 3.8


_TEMPLATE = re.compile(
    r"\$\{|\$\(|^\$[A-Za-z_]\w*(?![\w!@#%^*])|\{\{|^<.*>$|^%(?!\w*\d)\w+%?$|^%\w+%$|^%\d\$|%\(|%[sd](?![A-Za-z0-9])|^\{.*\}$|#\{|\\\(|\{[\w.]*\}|^\[masked:|^@(?!\w*\d)|^@.*@$|^@\w+/|^!(?!\w*\d)\w+$|^&(?!\w*\d)\w+$|^\*(?!\w*\d)\w+$|^ENC\(|^vault:|^op://"
)
_FILLER = re.compile(r"^(?:[*x.#_\-•?0X]+|(.)\1{3,})$")
_FILLER_WORDS = re.compile(
    r"change[-_ ]?(?:me|it|this)|your[-_ ]?|my[-_](?:api|secret|token|password)|placeholder|dummy|redacted|masked|"
    r"example|sample|insert[-_ ]|replace[-_ ]|enter[-_ ]|fixme|todo|here$|hidden|foobar|lorem",
    re.IGNORECASE,
)
_EMPTY_WORDS = frozenset(
    [
        "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "string", "str", "text",
        "varchar", "char", "int", "integer", "number", "boolean", "bool", "bytes", "any", "object", "required",
        "optional", "default", "unset", "empty", "unknown", "disabled", "enabled", "auto", "always", "never", "env",
        "file", "plain", "hashed", "encrypted", "input", "test", "tests", "testing", "user", "username",
    ]
)  # fmt: skip
SECRET_WORD = re.compile(r"passw|passphrase|passcode|secret|token|credential|key|auth|pwd|비밀|암호", re.IGNORECASE)


def is_placeholder(value: str, *, names_too: bool = True) -> bool:
    """True for what stands where a secret will be: templates, filler, `changeme`, `your-api-key`, plain words.

    With `names_too` a value that only repeats what it is for ("password", "accessToken") counts as well.
    """
    if _TEMPLATE.search(value) or _FILLER.match(value):
        return True
    lowered = value.lower()
    if lowered.startswith(("your", "<your", "insert", "replace")):
        return True
    has_digit = any(c.isdigit() for c in value)
    if not has_digit and _FILLER_WORDS.search(value):
        return True
    if not names_too:
        return False
    if value[:1].islower():
        value = lowered = lowered.rstrip("!?")  # `password!` asserts that the variable is set
    return lowered in _EMPTY_WORDS or (not has_digit and SECRET_WORD.search(value) is not None and value.isidentifier())


def bits_per_char(value: str) -> float:
    """Shannon entropy of the characters of `value`; 0 for an empty one."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


_WORDS_AND_DIGITS = re.compile(r"[A-Za-z][a-z]+(?:[-_. ]?[A-Za-z][a-z]+)*(?:[-_. ]?\d{1,4})?")


def is_random(value: str, *, least_bits: float) -> bool:
    """True when `value` looks drawn by a machine: enough entropy, and not words with a few digits behind them."""
    return bits_per_char(value) >= least_bits and _WORDS_AND_DIGITS.fullmatch(value) is None
