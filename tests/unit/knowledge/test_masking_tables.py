"""A cell is masked by the cell left of it and by its header, in rows of documents and in lines of text."""

from __future__ import annotations

import pytest

from knowledge.masking import mask, mask_blocks, mask_counted, mask_rows

PASSWORD = "hunter2Secret!"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

LINES = [
    f"| 비밀번호 | {PASSWORD} |",
    f"비밀번호 | {PASSWORD}",
    f"비밀번호\t{PASSWORD}",
    f"비밀번호,{PASSWORD}",
    f"| **비밀번호** | `{PASSWORD}` |",
    f"| 비밀번호 | {PASSWORD} (매월 변경) |",
    f"| DB password | {PASSWORD} |",
    f"| 계정 / 비밀번호 | admin / {PASSWORD} |",
    f"|아이디|비밀번호|\n|---|---|\n|admin|{PASSWORD}|\n|kim|{PASSWORD}|",
    f"| 구분 | ID | PW |\n|---|---|---|\n| 운영 | admin | {PASSWORD} |",
    f"||비밀번호||{PASSWORD}||",
    f"+---+---+\n| ID | PW |\n+---+---+\n| a | {PASSWORD} |",
    f"서버 | 아이디 | 비밀번호\nweb1 | root | {PASSWORD}",
    f"id,password\nadmin,{PASSWORD}\nkim,{PASSWORD}",
    f"ID\tPW\nadmin\t{PASSWORD}",
    f"name;password\nkim;{PASSWORD}",
]

HARMLESS = [
    "| 비밀번호 | 설명 |",
    "| 항목 | 비밀번호 |\n|---|---|\n| 최소 길이 | 8자 |\n| 변경 주기 | 90일 |",
    "| password | string | required |",
    "| password | varchar(64) | N |",
    "| 비밀번호 | VARCHAR2(20) | 필수 |",
    "| Field | Type |\n| password | String |\n| userId2 | Long |",
    "| userId | password |\n|---|---|\n| String | String |",
    "| 비밀번호 | SHA-256 |",
]


@pytest.mark.parametrize("text", LINES)
def test_a_cell_is_masked_by_its_label_or_header(text: str) -> None:
    masked = mask(text)
    assert masked == text.replace(PASSWORD, "[masked:password]")
    assert mask(masked) == masked


@pytest.mark.parametrize("text", HARMLESS)
def test_tables_about_passwords_stay(text: str) -> None:
    assert mask(text) == text


def test_keys_and_accounts_are_masked_by_their_labels() -> None:
    assert mask(f"| aws_secret | {KEY} |") == "| aws_secret | [masked:secret] |"
    assert mask("| 계좌번호 | 110-123-456789 |") == "| 계좌번호 | [masked:account-number] |"
    assert mask("| 예금주 | 계좌 |\n| 김 | 110-123-456789 |").endswith("| 김 | [masked:account-number] |")


def test_masked_cells_are_counted() -> None:
    assert mask_counted(f"| 비밀번호 | {PASSWORD} |\n| 암호 | korea1234 |")[1] == {"password": 2}


def test_rows_of_a_document_are_masked_by_label_and_header() -> None:
    rows = (("구분", "아이디", "비밀번호"), ("운영", "admin", PASSWORD), ("개발", "dev", "korea1234"))
    assert mask_rows(rows) == (
        ("구분", "아이디", "비밀번호"),
        ("운영", "admin", "[masked:password]"),
        ("개발", "dev", "[masked:password]"),
    )
    assert mask_rows((("비 밀 번 호", PASSWORD), ("ID/PW", f"admin / {PASSWORD}"))) == (
        ("비 밀 번 호", "[masked:password]"),
        ("ID/PW", "admin / [masked:password]"),
    )


def test_a_header_below_a_merged_title_counts() -> None:
    rows = (("접속 정보", "접속 정보"), ("ID", "PW"), ("admin", PASSWORD))
    assert mask_rows(rows)[2] == ("admin", "[masked:password]")


def test_rows_without_secrets_stay() -> None:
    rows = (("항목", "기준"), ("비밀번호", "9자리 이상"), ("비밀번호 변경 주기", "180일"), ("password", "string"))
    assert mask_rows(rows) == rows
    assert mask_rows(()) == ()


def test_a_resident_number_over_two_cells_is_masked_in_both() -> None:
    both = ("[masked:resident-number]", "[masked:resident-number]")
    assert mask_rows((("900101", "1234568"),)) == (both,)  # by its checksum
    assert mask_rows((("주민등록번호", "900101", "1234567"),)) == (("주민등록번호", *both),)
    assert mask_rows((("주민등록번호", "900101", "-", "1234567"),))[0] == ("주민등록번호", both[0], "-", both[1])
    assert mask_rows((("앞자리", "뒷자리"), ("900101", "1234567")))[1] == both
    assert mask_rows((("건수", "금액"), ("900101", "1234567")))[1] == ("900101", "1234567")


def test_a_form_with_one_digit_a_cell_is_masked() -> None:
    row = ("주민등록번호", *"900101", "-", *"1234567")
    masked = mask_rows((row,))[0]
    assert not any(cell.isdigit() for cell in masked)
    assert masked[0] == "주민등록번호"
    assert masked[7] == "-"


def test_texts_that_follow_each_other_are_masked_as_one_too() -> None:
    body = "MIIEowIBAAKCAQEA" + "aB3dE5fG7hJ9kL1mN3pQ5rS7"
    assert mask_blocks(["비밀번호:", PASSWORD, "끝\n둘째 줄"]) == ["비밀번호:", "[masked:password]", "끝\n둘째 줄"]
    assert mask_blocks(["-----BEGIN RSA PRIVATE KEY-----", body, body, "-----END RSA PRIVATE KEY-----"])[1:3] == [
        "[masked:private-key]",
        "[masked:private-key]",
    ]
    assert mask_blocks([]) == []
