"""Text without what could call somebody or lead elsewhere: links, images, HTML and mentions that are not evidence."""

from __future__ import annotations

import re
from collections.abc import Container

from bot.evidence_text import WORD_JOINER

_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^)]*)\)?")
_REFERENCE_LINK = re.compile(r"\[([^\]\[]*[^\]\[\d,; ][^\]\[]*)\]\[[^\]\d,; ][^\]]*\]")
_REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
ADDRESS = re.compile(
    r"<?\b(?:https?|ftp|file|javascript|vbscript|slack|mattermost)\s?:\s?/{0,2}[^\s<>)\]]+>?|\bdata:[\w/+.-]+[;,][^\s<>)\]]*|"
    r"\bwww\.[^\s<>)\]]+|\bmailto:[^\s<>)\]]+|\btel:[+\d-]+",
    re.IGNORECASE,
)
_BARE_HOST = re.compile(
    r"(?<![\w@/.-])(?:[a-z0-9-]+\.)+(?:com|net|org|io|kr|info|biz|xyz|example|ru|cn|me|app|link|click|top|site|online|gg|ly|"
    r"dev|ai|co|cc|tk)(?::\d+)?(?:/[^\s<>)\]]*)?(?![\w-])",
    re.IGNORECASE,
)
_SLACK_SPECIAL = re.compile(r"<[!#@][^>\n]*>|<(?:https?|mailto|tel)[^>\n]*>", re.IGNORECASE)
_BROADCAST = re.compile(r"[@＠](?:channel|here|all|everyone|채널|모두|전체)(?![\w가-힣])", re.IGNORECASE)
_MENTION = re.compile(r"(?<![\w.+-])[@＠](?=[\w가-힣])")
_TAG = re.compile(
    r"<(?:script|style)\b.*?</(?:script|style)\s*>|</?[A-Za-z][^<>\n]*>|<!--.*?-->|<!--|-->", re.DOTALL | re.IGNORECASE
)
_OPEN_TAG = re.compile(
    r"<(?:/?(?:a|img|script|iframe|style|svg|object|embed|form|input|body|html|div|span|b|i|p|br)\b)[^>]*$",
    re.IGNORECASE,
)
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|lt|gt|quot|apos|commat|colon|sol);?", re.IGNORECASE)
_CODE_SPAN = re.compile(r"`[^`\n]+`")


def sanitised(text: str, addresses: Container[str]) -> str:
    """`text` without links, images, HTML and mentions; an address of the evidence stays as text that is no link."""
    text = _ENTITY.sub("", _CONTROL.sub("", text))
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if re.search(r"https?:|@(?:channel|here|all)|<!|javascript:", match[0], re.IGNORECASE):
            return match[0]
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE_SPAN.sub(keep, text)
    text = _REFERENCE.sub("", text)
    text = _SLACK_SPECIAL.sub("", _IMAGE.sub(r"\1", text))
    text = _LINK.sub(lambda m: f"[{m[1]}]" if _is_marker(m[1]) else m[1], text)
    text = _REFERENCE_LINK.sub(r"\1", text)
    text = _OPEN_TAG.sub("", _TAG.sub("", text))
    for pattern in (ADDRESS, _BARE_HOST):
        text = pattern.sub(lambda m: shown_address(m[0]) if bare_address(m[0]) in addresses else "", text)
    text = _MENTION.sub("", _BROADCAST.sub("", text))
    return re.sub("\x00(\\d+)\x00", lambda m: kept[int(m[1])], text)


def addresses_of(text: str) -> set[str]:
    """The addresses that a piece of evidence holds."""
    return {bare_address(match[0]) for pattern in (ADDRESS, _BARE_HOST) for match in pattern.finditer(text)}


def bare_address(address: str) -> str:
    """An address without brackets and the punctuation that follows it in a sentence."""
    return address.strip("<>").rstrip(".,;:!?'\"`")


def shown_address(address: str) -> str:
    """An address as text that no platform makes a link of."""
    shown = address.strip("<>").replace("://", f":{WORD_JOINER}//")
    return re.sub(r"\.(?=[A-Za-z])", f".{WORD_JOINER}", shown) if "://" not in address else shown


def _is_marker(text: str) -> bool:
    return re.fullmatch(r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*", text.strip()) is not None
