"""주민등록번호 and 외국인등록번호 are masked however they are written; other numbers of that shape stay."""

from __future__ import annotations

import pytest

from knowledge.masking import mask

# 900101-1234568 has a valid checksum, 900101-1234567 has not.
WRITTEN = [
    "900101-1234567",
    "900101 - 1234567",
    "900101--1234567",
    "900101－1234567",
    "900101−1234567",
    "900101 — 1234567",
    "９００１０１－１２３４５６７",
    "９００１０１−１２３４５６７",
    "900101\u200b-1234567",
    "900101 1234568",
    "900101.1234568",
    "900101/1234568",
    "9001011234568",
    "주민등록번호 900101 1234567",
    "주민번호: 900101  1234567",
    "주민등록번호(900101 1234567)",
    "등록번호 900101\t1234567",
    "주민번호 900101·1234567",
    "주민번호 900101_1234567",
    "주민번호 900101/1234567",
    "주민번호 19900101-1234567",
    "주민등록번호\u00a0900101\u00a01234567",
    "resident number 900101 1234567",
    "외국인등록번호 900101 5234567",
    "900101-\n1234567",
    "900101\n-1234567",
    "주민등록번호: 900101\n1234567",
    "900101<br>-1234567",
    "| 900101 | 1234568 |",
    "| 주민등록번호 | 900101 | 1234567 |",
    "| 성명 | 주민등록번호 |\n|---|---|\n| 홍길동 | 900101 1234567 |",
    "이름,주민등록번호\n홍길동,9001011234567",
    "이름,앞자리,뒷자리\n홍길동,900101,1234567",
    "앞자리 900101 뒷자리 1234567",
    "주민등록번호 앞 6자리: 900101, 뒤 7자리: 1234567",
    "주민번호 앞자리는 900101이고 뒷자리는 1234567이다",
    "주민등록번호 뒷자리: 1234567",
    "주민등록번호 9 0 0 1 0 1 - 1 2 3 4 5 6 7",
]

OTHER = [
    "법인등록번호 110111-1234567",
    "900101 1234567",
    "건수 900101 금액 1234567",
    "우편번호 900101, 전화 1234567",
    "시행 2023.01.01. 2023-02-03",
    "991301-1234567",
    "900101-1234567-1",
    "등록번호 제2023-1234567호",
    "주민등록번호는 13자리 숫자이다",
    "주민등록번호 뒷자리는 표시하지 않는다",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_resident_number_is_masked_in_every_writing(text: str) -> None:
    masked = mask(text)
    assert "[masked:foreigner-number]" in masked if "5234567" in text else "[masked:resident-number]" in masked
    assert not any(part in masked for part in ("900101", "123456", "９００", "１２３", "234567", "9 0 0"))
    assert mask(masked) == masked
    assert masked.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", OTHER)
def test_other_numbers_of_that_shape_stay(text: str) -> None:
    assert mask(text) == text
