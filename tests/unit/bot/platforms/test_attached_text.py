"""Which files are text, what their bytes say, and how much of a long one is kept."""

from __future__ import annotations

import pytest

from bot.platforms.attached_text import HEAD_BYTES, LONGEST_BYTES, TAIL_BYTES, HeadAndTail, decoded, is_text_file


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("로그".encode(), "로그"),
        ("\ufeff로그".encode(), "로그"),
        ("로그".encode("cp949"), "로그"),
        ("로그".encode("utf-16"), "로그"),
        ("\ufeff로그".encode("utf-16-be"), "로그"),
        (b"\x1b[31mERROR\x1b[0m", "\x1b[31mERROR\x1b[0m"),
        (b"\x00\x01\x02", None),
        (b"\xff\xff\xff", None),
        (b"\xff\xfe\x00\xd8\x00\xd8", None),
        (b"GIF89a\x01\x02\x03\x04\x05\x06", None),
        (bytes(range(1, 256)) * 4, None),
        (b"", ""),
    ],
)
def test_text_is_decoded_and_what_is_none_is_told_apart(content, text):
    assert decoded(content) == text


def test_a_log_in_which_one_line_is_damaged_is_a_text():
    text = decoded(("연차를 신청했습니다.\n" * 50).encode() + b"\xff\xfe broken")
    assert text is not None
    assert text.endswith("broken")


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "utf-16"])
@pytest.mark.parametrize("piece_bytes", [999, 65_536, 10_000_000])
def test_of_a_long_file_the_beginning_and_the_end_are_whole_characters(encoding, piece_bytes):
    content = "".join(f"{number:06d} 연차를 신청했습니다\n" for number in range(70_000)).encode(encoding)
    kept = HeadAndTail()
    for start in range(0, len(content), piece_bytes):
        kept.take(content[start : start + piece_bytes])
    text = kept.text()
    assert text is not None
    assert text.startswith("000000 연차를 신청했습니다\n")
    assert text.endswith("069999 연차를 신청했습니다\n")
    assert "\ufffd" not in text
    assert text.count("\n…\n") == 1
    assert len(kept.head) + len(kept.tail) <= HEAD_BYTES + 2 * TAIL_BYTES


@pytest.mark.parametrize("size", [0, 1, HEAD_BYTES, HEAD_BYTES + 1, HEAD_BYTES + TAIL_BYTES])
def test_what_fits_is_kept_whole(size):
    kept = HeadAndTail()
    kept.take(b"x" * size)
    assert kept.text() == "x" * size


def test_what_is_far_too_long_is_refused():
    kept = HeadAndTail()
    for _ in range(LONGEST_BYTES // 1_000_000):
        kept.take(b"x" * 1_000_000)
    with pytest.raises(ValueError, match="longer than"):
        kept.take(b"x")


def test_texts_are_told_by_their_name_or_kind():
    assert is_text_file("app.log", "application/octet-stream", 10)
    assert is_text_file("memo", "text/plain", 10)
    assert not is_text_file("photo.png", "image/png", 10)
    assert not is_text_file("app.log", "text/plain", LONGEST_BYTES + 1)
