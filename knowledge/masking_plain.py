"""The plain form of a text: full-width letters and digits as ASCII, invisible characters gone; lines stay.

Secrets copied from chats and word processors hold zero-width spaces, and forms hold full-width digits. No rule has to
know: a line that is masked in its plain form is kept in that form.
"""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f"
    "\ufe00-\ufe0f\ufeff"
)
# One full-width letter is a sign, and an invisible character behind a space or at the start is a mark of the encoding.
_UNUSUAL = re.compile(f"(?<=[^\\s])[{_INVISIBLE}]|[０-９Ａ-Ｚａ-ｚ\U0001d400-\U0001d7ff]{{2}}")
_CHANGED = re.compile(f"[{_INVISIBLE}！-～\u00a0\u2000-\u200a\u202f\u3000\U0001d400-\U0001d7ff]")
_GONE = re.compile(f"[{_INVISIBLE}]")


def needs_plain_form(text: str) -> bool:
    """True when `text` holds characters behind which a secret could hide."""
    return not text.isascii() and _UNUSUAL.search(text) is not None


def plain_form(text: str) -> str:
    """`text` in plain characters, with the same number of lines."""
    return _CHANGED.sub(lambda match: _plain(match[0]), text)


def _plain(char: str) -> str:
    return "" if _GONE.match(char) else unicodedata.normalize("NFKC", char)
