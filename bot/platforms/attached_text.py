"""Files that people attach: which of them are text, how much of a long one is read, and what its bytes say."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field

FILES_READ = 5  # of one message
HEAD_BYTES, TAIL_BYTES = 64_000, 192_000  # what lies between is left out: a log says at its end what went wrong
LONGEST_BYTES = 50_000_000  # longer files are not fetched

LEFT_OUT = "\n…\n"
MOST_ODD = 0.01  # of the characters of a text: controls, and what no encoding explains

_KINDS = ("text/", "application/json", "application/xml", "application/x-yaml", "application/yaml")
_ENDINGS = (
    ".txt", ".log", ".md", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".xml", ".ini", ".conf",
    ".toml", ".out", ".err", ".trace", ".stacktrace", ".properties", ".sql", ".py", ".js", ".ts", ".java", ".kt", ".go",
    ".rs", ".sol", ".sh", ".c", ".h", ".cpp", ".cs", ".rb", ".php", ".diff", ".patch",
)  # fmt: skip


def is_text_file(name: str, media_type: str, size_bytes: int) -> bool:
    """Whether a file calls itself a text or a log, and can be fetched."""
    return (media_type.startswith(_KINDS) or name.lower().endswith(_ENDINGS)) and size_bytes <= LONGEST_BYTES


@dataclass(slots=True)
class HeadAndTail:
    """Takes a file piece by piece and keeps its beginning and its end, all of it when it is short."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    taken_bytes: int = 0

    def take(self, piece: bytes) -> None:
        """Adds the next bytes of the file. Raises ValueError when it is too long to be read at all."""
        self.taken_bytes += len(piece)
        if self.taken_bytes > LONGEST_BYTES:
            raise ValueError(f"it is longer than {LONGEST_BYTES} bytes")
        room = HEAD_BYTES - len(self.head)
        self.head += piece[:room] if room > 0 else b""
        self.tail += piece[max(room, 0) :]
        if len(self.tail) > 2 * TAIL_BYTES:
            del self.tail[:-TAIL_BYTES]

    def text(self) -> str | None:
        """What the file says; None when it is no text. What was left out is marked by an ellipsis on its own line."""
        if len(self.head) + len(self.tail) == self.taken_bytes <= HEAD_BYTES + TAIL_BYTES:
            return decoded(bytes(self.head + self.tail))
        end = bytes(self.tail[-TAIL_BYTES:])
        begin = bytes(self.head)
        if begin.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            end = begin[:2] + end[(self.taken_bytes - len(end)) % 2 :]
        else:  # at the ends of lines, so that no character is cut
            begin = begin[: begin.rfind(b"\n") + 1] or begin
            end = end[end.find(b"\n") + 1 :]
        first, last = decoded(begin), decoded(end)
        return None if first is None or last is None else f"{first.rstrip()}{LEFT_OUT}{last}"


def decoded(content: bytes) -> str | None:
    """The text of a file: UTF-8, UTF-16 with its mark, or the Korean code page of Windows; None when it is no text."""
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _plausible(content.decode("utf-16", "replace"))
    if b"\x00" in content:
        return None
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return _plausible(content.decode(encoding))
        except UnicodeDecodeError:
            continue
    return _plausible(content.decode("utf-8-sig", "replace"))  # a log in which one line is damaged


def _plausible(text: str) -> str | None:
    odd = sum(1 for character in text if character == "\ufffd" or (character < " " and character not in "\t\n\r\f\x1b"))
    return text if odd <= MOST_ODD * len(text) else None
