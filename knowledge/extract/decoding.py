"""Bytes to clean text: UTF-8, UTF-16 with and without BOM, CP949; never mojibake, never control characters."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from knowledge.errors import UnreadableFile, UnsupportedFormat

_SAMPLE_BYTES = 200_000
_RARE = 0.2  # share of syllables that no Korean text reaches
_ENOUGH_SYLLABLES = 8
_GOOD_ENOUGH = 0.90  # share of characters that people write
_REMOVED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ufff9-\ufffb]")
_COMMON = re.compile(
    r"[\t\n\r\x20-\x7e\u00a0-\u00ff"
    r"\u2000-\u206f\u2100-\u218f\u2190-\u23ff\u2460-\u27bf\u3000-\u303f\u3130-\u318f\u3200-\u33ff"  # ① ㈜ ㎡
    r"\u1100-\u11ff\uac00-\ud7a3\uff00-\uffef]"  # Hangul, full width
)
_HANJA_OR_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uf900-\ufaff]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Text with the encoding it was in."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def clean_text(text: str) -> str:
    """`text` in NFC with LF line ends and without control and zero-width characters; the line count stays."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", " ").replace("\x0c", " ").replace("\x85", " ")
    return unicodedata.normalize("NFC", _REMOVED.sub("", text))


def decode(content: bytes, *, name: str) -> Decoded:
    """Clean text of `content`. Raises UnsupportedFormat for binary data and UnreadableFile when no encoding fits."""
    for bom, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if content.startswith(bom):
            return _finish(content[len(bom) :], encoding, name=name)
    wide = _utf16_by_zeros(content)
    if wide is not None:
        return _finish(content, wide, name=name)
    if _decodes(content, "utf-8"):
        return _finish(content, "utf-8", name=name)
    sample = content[:_SAMPLE_BYTES]
    scored = sorted(
        ((_plausibility(sample, encoding), -rank, encoding) for rank, encoding in enumerate(_candidates(sample))),
        reverse=True,
    )
    best = scored[0][2]
    if best == "cp949" and _rare_share(sample, "cp949") > _RARE:
        if _rare_share(sample, "johab") > _RARE / 4:
            _finish(content, best, name=name)  # says it when this is no text at all
            raise UnreadableFile(
                f"{name} cannot be decoded as text (tried UTF-8, UTF-16, CP949 and Johab); save it again as UTF-8."
            )
        best = "johab"
    return _finish(content, best, name=name)


def _rare_share(sample: bytes, encoding: str) -> float:
    """Share of the Hangul syllables, from 0 to 1, that are not among the 2,350 of KS X 1001, which texts consist of."""
    syllables = re.findall(r"[가-힣]", sample.decode(encoding, errors="ignore"))
    rare = sum(1 for char in syllables if not _encodes(char, "euc_kr"))
    return rare / len(syllables) if len(syllables) > _ENOUGH_SYLLABLES else 0.0


def _encodes(char: str, encoding: str) -> bool:
    try:
        return len(char.encode(encoding)) == 2  # longer: spelt out of its letters
    except UnicodeEncodeError:
        return False


def _candidates(sample: bytes) -> tuple[str, ...]:
    western = ("cp1252",) if sum(byte < 0x80 for byte in sample) > 0.9 * len(sample) else ()
    return ("utf-8", "cp949", "utf-16-le", "utf-16-be", *western)


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _utf16_by_zeros(content: bytes) -> str | None:
    """UTF-16 without BOM shows as zero bytes on one side of each pair (spaces, digits, line ends); None otherwise."""
    sample = content[: min(len(content) // 2 * 2, _SAMPLE_BYTES)]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    pairs = max(1, len(sample) // 2)
    if odd > 0.05 * pairs and even < 0.1 * odd and _plausibility(sample, "utf-16-le") >= _GOOD_ENOUGH:
        return "utf-16-le"
    if even > 0.05 * pairs and odd < 0.1 * even and _plausibility(sample, "utf-16-be") >= _GOOD_ENOUGH:
        return "utf-16-be"
    return None


def _plausibility(sample: bytes, encoding: str) -> float:
    """Share of characters, from 0 to 1, that Korean and English documents are written in."""
    text = sample.decode(encoding, errors="replace")
    if not text:
        return 0.0
    common = len(_COMMON.findall(text)) + 0.7 * len(_HANJA_OR_KANA.findall(text))
    return common / len(text)


def _finish(content: bytes, encoding: str, *, name: str) -> Decoded:
    text = content.decode(encoding, errors="replace")
    length = max(1, len(text))
    controls = len(_CONTROL.findall(text.replace("\x00", "")))
    zeros = text.count("\x00")
    if controls > 3 + 0.02 * length or zeros > 3 + 0.2 * length:
        raise UnsupportedFormat(
            f"{name} is binary data of a kind that is not known here, not a document; "
            "exclude it from the source or convert it to PDF or DOCX."
        )
    bad = text.count("\ufffd")
    if _plausibility_of(_REMOVED.sub("", text)) < _GOOD_ENOUGH or bad > 0.05 * length:
        raise UnreadableFile(
            f"{name} cannot be decoded as text (tried UTF-8, UTF-16 and CP949); save it again as UTF-8."
        )
    warnings = (f"{bad} characters could not be decoded as {encoding} and were dropped",) if bad else ()
    return Decoded(text=clean_text(text.replace("\ufffd", "")), encoding=encoding, warnings=warnings)


def _plausibility_of(text: str) -> float:
    sample = text[:_SAMPLE_BYTES]
    letters = sum(1 for char in sample if char.isalnum() or _COMMON.match(char) or _is_mark(char))
    return letters / max(1, len(sample))


def _is_mark(char: str) -> bool:
    """Vowel signs and accents, which most scripts of India write with."""
    return unicodedata.category(char).startswith("M")
