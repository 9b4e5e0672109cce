"""Masks secrets and personal numbers before text is stored, embedded, logged or sent.

`mask` is a pure function of its text: the same text gives the same result, masking twice changes nothing more, and
the number of lines stays, so that line numbers of the masked text are those of the file. A reader sees what stood
there: `[masked:aws-key]`.

What is masked: keys and tokens whose issuers gave them a recognisable form, private key blocks, passwords in URLs and
headers (`masking_tokens`), values assigned to secret-like names (`masking_assignments`), given away by their place
(`masking_places`), told in sentences (`masking_told`), given to
commands (`masking_commands`) or standing in cells (`masking_tables`), and personal numbers (`masking_personal`).
What is not: placeholders, variables, calls and types, and telephone numbers, because the contact lines of regulations
are what people ask for. A rule runs only when one of its hints occurs in the text, which keeps ordinary text cheap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from knowledge.masking_assignments import mask_assignments
from knowledge.masking_commands import COMMAND_RULES
from knowledge.masking_personal import mask_personal_numbers
from knowledge.masking_places import mask_places
from knowledge.masking_plain import needs_plain_form, plain_form
from knowledge.masking_tables import mask_cells, mask_table_lines
from knowledge.masking_tokens import TOKEN_RULES
from knowledge.masking_values import replace_values

MASKING_VERSION = "4"
MASKED = "[masked:"  # how every mask begins
_MOST_PASSES = 6


def mask(text: str) -> str:
    """`text` with secrets and personal numbers replaced by `[masked:<what>]`; the line count stays."""
    return mask_counted(text)[0]


def mask_counted(text: str) -> tuple[str, dict[str, int]]:
    """Masked text, and how many values of which kind were replaced (`{"aws-key": 1}`)."""
    counts: Counter[str] = Counter()
    for _ in range(_MOST_PASSES):
        masked, found = _mask_in_both_forms(text)
        if masked == text:
            break
        counts.update(found)
        text = masked  # a mask ends what stood before it, so that what stood beside may be a value now
    return text, dict(counts)


def _mask_in_both_forms(text: str) -> tuple[str, Counter[str]]:
    """`text` masked; lines of which more is masked in their plain form are kept in that form."""
    masked, counts = _mask_as_written(text)
    if not needs_plain_form(text):
        return masked, counts
    plain = plain_form(text)
    masked_plain, plain_counts = _mask_as_written(plain)
    if plain_counts == counts:
        return masked, counts
    lines = zip(masked.split("\n"), plain.split("\n"), masked_plain.split("\n"), strict=True)
    text = "\n".join(in_plain if in_plain != before else as_written for as_written, before, in_plain in lines)
    return text, counts | plain_counts


_PERHAPS_SECRET = re.compile(
    r"[A-Za-z0-9_-]{20}|\d{6}|[=@:]|pass|pwd|pw|secret|token|credential|key|비밀|비 밀|암호|비번|패스워드|토큰|시크릿",
    re.IGNORECASE,
)


def mask_path(path: str) -> str:
    """A path with every segment masked by itself; slashes stay where they are. Ordinary names cost next to nothing."""
    if not _PERHAPS_SECRET.search(path):
        return path
    return "/".join(mask(segment) if _PERHAPS_SECRET.search(segment) else segment for segment in path.split("/"))


def mask_rows(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table masked, each as if it were written behind the cell left of it and below its header."""
    return mask_cells(rows, mask)


def mask_blocks(texts: Sequence[str]) -> list[str]:
    """Texts that follow each other in a document, masked one by one and then as one text.

    A key whose lines are paragraphs, and a password in the paragraph below its name, are seen in the whole only.
    """
    masked = [mask(text) for text in texts]
    lines = iter(mask("\n".join(masked)).split("\n"))
    return ["\n".join(islice(lines, text.count("\n") + 1)) for text in masked]


def _mask_as_written(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    text = _mask_inline(text, counts)
    return mask_table_lines(text, counts, _mask_inline), counts


def _mask_inline(text: str, counts: Counter[str]) -> str:
    text = _mask_private_keys(text, counts)
    for rule in TOKEN_RULES:
        text = replace_values(text, rule, counts)
    text = mask_places(text, counts)
    text = mask_assignments(text, counts)
    for rule in COMMAND_RULES:
        text = replace_values(text, rule, counts)
    return mask_personal_numbers(text, counts)


# --- private keys ---------------------------------------------------------------------------------

_KEY_LABEL = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?"
_KEY_BLOCK = re.compile(rf"(-----BEGIN ({_KEY_LABEL})-----)(.*?)(-----END \2-----)", re.DOTALL)
# A block whose end is missing: the lines after it that can only be its body (base64, PEM headers).
_CUT_KEY = re.compile(
    rf"(-----BEGIN {_KEY_LABEL}-----)"
    r"((?:[^\S\n]*(?:\\n)?[^\S\n]*\n?[^\S\n]*[\"'+>|#*/]{0,3}[^\S\n]*[A-Za-z0-9+/=]{24,})+)"
)
_KEY_BODY = re.compile(r"[^\n]*[^\s][^\n]*")
_KEY_MASK = "[masked:private-key]"


def _mask_private_keys(text: str, counts: Counter[str]) -> str:
    """Masks every line of a key's body, so that the lines after it keep their numbers."""
    if "PRIVATE KEY" not in text:
        return text

    def hide(match: re.Match[str]) -> str:
        head, body, tail = match[1], match[match.lastindex or 2], ""
        if match.re is _KEY_BLOCK:
            body, tail = match[3], match[4]
        if not re.search(r"[A-Za-z0-9+/]{16}", body.replace(_KEY_MASK, "")):
            return match[0]  # already masked, or only mentioned
        counts["private-key"] += 1
        return head + _KEY_BODY.sub(_KEY_MASK, body) + tail

    return _CUT_KEY.sub(hide, _KEY_BLOCK.sub(hide, text))
