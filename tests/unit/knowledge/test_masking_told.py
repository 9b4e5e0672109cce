"""Passwords and keys that people tell in sentences, notes and commands are masked; rules about passwords stay."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.masking import mask

PASSWORD = "hunter2Secret!"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
DRAWN = "aB3dE5fG7hJ9kL1mN3pQ5rS7"

PUNCTUATED = [
    "DB_PASSWORD=Zx9!kkQpl",
    "spring.datasource.password=Qw8!rrTpl3",
    "db:\n  password: Mm7!xxYqz2",
    "PASSWORD=Zx9?kkQpl",
    "DB_PASSWORD=Zx9.kkQpl",
    "DB_PASSWORD=ab,9Xk!2",
    "DB_PASSWORD=ab(9Xk!2",
    "DB_PASSWORD=!Zx9kkQpl",
    "DB_PASSWORD=@Zx9kkQpl",
    "DB_PASSWORD=$Zx9kk!Qpl",
    "DB_PASSWORD=Zx9->kkQpl",
    "DB_PASSWORD=Zx9::kkQpl",
    'DB_PASSWORD=Zx9"kkQpl',
    "DB_PASSWORD=Zx9!kkQpl # old",
    "password: Zx9&kk=Qpl",
    'const password = "Zx9!.kkQpl"',
]

TOLD = [
    (f"비밀번호: {PASSWORD} 입니다", PASSWORD),
    (f"비밀번호: {PASSWORD}, 계좌 110-123-456789", PASSWORD),
    ("password: hunter2Secret and then more", "hunter2Secret"),
    ("비밀번호: Abcd1234 / 아이디: admin", "Abcd1234"),
    (f"공용 계정 비밀번호: {PASSWORD} 매월 바꾼다.", PASSWORD),
    ("비밀번호는 korea1234 이다", "korea1234"),
    ("비밀번호가 korea1234라서", "korea1234"),
    ("패스워드는 korea1234로 설정한다", "korea1234"),
    ("초기 비밀번호는 1234입니다.", "1234"),
    ("비번은 1234 임", "1234"),
    ("비밀번호 : letmein 입니다", "letmein"),
    ("비 밀 번 호 : korea1234", "korea1234"),
    (f"비밀번호를 {PASSWORD}로 변경했다", PASSWORD),
    (f"비밀번호로 {PASSWORD} 를 쓴다", PASSWORD),
    (f"비밀번호 변경: {PASSWORD}", PASSWORD),
    ("비밀번호(초기): korea1234", "korea1234"),
    (f"임시비밀번호[{PASSWORD}]를 발급", PASSWORD),
    (f"비밀번호는 “{PASSWORD}”입니다", PASSWORD),
    (f"계정 admin 비밀번호 {PASSWORD}", PASSWORD),
    ("wifi 비밀번호 -> korea1234!", "korea1234!"),
    ("비밀번호 ▶ korea1234", "korea1234"),
    (f"env: {{DB_PASSWORD: {PASSWORD}}}", PASSWORD),
    ("PW = korea1234 이며 변경 금지", "korea1234"),
    ("**비밀번호**: korea1234", "korea1234"),
    (f"- **Password**: `{PASSWORD}`", PASSWORD),
    (f"the password for admin is {PASSWORD}", PASSWORD),
    (f"The password has been changed to {PASSWORD}.", PASSWORD),
    ("The default password is admin1234.", "admin1234"),
    ("Password (default): hunter2Secret", "hunter2Secret"),
    (f"Use the password {PASSWORD} to log in.", PASSWORD),
    (f"<td>비밀번호</td><td>{PASSWORD}</td>", PASSWORD),
    ("비밀번호：ｈｕｎｔｅｒ２Ｓｅｃｒｅｔ", "ｈｕｎｔｅｒ２Ｓｅｃｒｅｔ"),
    (f"비밀\u200b번호: {PASSWORD}", PASSWORD),
]

PAIRED = [
    "ID/PW: admin / P@ssw0rd123",
    "계정(ID/PW): admin/P@ssw0rd123",
    "아이디/비밀번호: admin/P@ssw0rd123",
    "아이디와 비밀번호는 admin, P@ssw0rd123 이다",
    "admin / P@ssw0rd123 (ID/PW)",
    "관리자 계정(admin/P@ssw0rd123)으로 접속",
    "login: admin / P@ssw0rd123",
    "와이파이: office / P@ssw0rd123",
    "Log in with admin / P@ssw0rd123",
    "username: admin password: P@ssw0rd123",
]

BELOW = [
    f"password:\n  {PASSWORD}",
    f"비밀번호:\n\n    {PASSWORD}",
    f"password: |\n  {PASSWORD}",
    f"비밀번호는 다음과 같다.\n{PASSWORD}",
    f"비밀번호\n{PASSWORD}",
    f"- 비밀번호\n  - {PASSWORD}",
]

COMMANDS = [
    f"sshpass -p {PASSWORD} ssh a@b",
    f"sshpass -p '{PASSWORD}' ssh a@b",
    f"mysql -p{PASSWORD} -u root",
    f"mysqldump -uroot -p'{PASSWORD}' db",
    f"redis-cli -h x -a {PASSWORD} ping",
    f"requirepass {PASSWORD}",
    f"docker login -u me -p {PASSWORD} registry.example.com",
    f"ldapsearch -x -D cn=admin -w {PASSWORD}",
    f"sqlcmd -S host -U sa -P {PASSWORD}",
    f"echo {PASSWORD} | sudo -S ls",
    f"echo 'root:{PASSWORD}' | chpasswd",
    f"machine h login b password {PASSWORD}",
    f"net use Z: //a/b /user:kim {PASSWORD}",
    f"ALTER USER app WITH PASSWORD '{PASSWORD}';",
    f"CREATE USER a IDENTIFIED BY '{PASSWORD}';",
]

KEYS = [
    (f"비밀 키는 {KEY} 이다", KEY),
    (f"AWS 비밀 키 {KEY}", KEY),
    (f"the secret key is {KEY}.", KEY),
    (f"시크릿 키: {DRAWN}", DRAWN),
    (f"API 키: {DRAWN} 를 쓴다", DRAWN),
    (f"액세스 토큰: {DRAWN} (만료 없음)", DRAWN),
    (f"API key: {DRAWN} for testing", DRAWN),
    ("AKIAQ3EG\u200bRJ5WXYZ2ABCD", "RJ5WXYZ2ABCD"),
    ("ＡＫＩＡＱ３ＥＧＲＪ５ＷＸＹＺ２ＡＢＣＤ", "ＲＪ５Ｗ"),
]

HARMLESS = [
    "비밀번호는 12자 이상으로 하고",
    "비밀번호는 180일마다 바꾸며",
    "비밀번호는 8~12자리로 한다",
    "비밀번호는 3회 이상 틀리면",
    "비밀번호 4자리 이상",
    "비밀번호: 영문+숫자 8자리",
    "비밀번호는 2종류 이상 조합 시 10자리",
    "비밀번호는 SHA-256으로 암호화한다",
    "비밀번호는 SHA256 방식으로 저장한다",
    "암호는 AES256, ARIA-256 등을 쓴다",
    "암호는 TLS1.2 이상을 쓴다",
    "비밀번호 오류 시 02-123-4567로 연락한다",
    "비밀번호 찾기 (02-1234-5678)",
    "비밀번호는 Windows10 설정에서 바꾼다",
    "토큰은 ERC20 표준을 따른다",
    "token is ERC20Upgradeable",
    "ID/PW: 사번 / 생년월일",
    "Username/Password: LDAP / Kerberos",
    "password must have 12 characters",
    "The password must contain at least 8 characters.",
    "Passwords are hashed with PBKDF2-SHA256",
    "password is required",
    "password = get_password()",
    "password: str",
    "if password == other.password",
    "this.password = password!",
    "val password = pwd!!",
    "password?: string | undefined",
    "password: Joi.string().min(8)",
    "password = isNew?foo1:bar2",
    "if (password !== confirmPassword2) {",
    "password = form2.password.data",
    "token: str = Depends(oauth2_scheme)",
    "connect(server=server, user=user, password=password, database=db)",
    "for username, password, role1 in rows:",
    "def f(user, password, sha1):",
    "docker run --name mysql -p3306:3306 mysql",
    "pass: 1234, fail: 2",
]


@pytest.mark.parametrize("text", PUNCTUATED)
def test_signs_in_a_bare_value_make_it_no_expression(text: str) -> None:
    masked = mask(text)
    assert "[masked:password]" in masked
    assert not any(part in masked for part in ("Zx9", "kkQpl", "Qw8", "rrTpl", "Mm7", "xxYqz", "9Xk"))


@pytest.mark.parametrize(("text", "secret"), TOLD)
def test_a_password_in_a_sentence_is_masked_whatever_follows(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert masked.startswith(text.split(secret)[0].replace("：", ":").replace("\u200b", "")[:3])
    assert "[masked:password]" in masked


def test_the_words_around_a_told_password_stay() -> None:
    assert mask("공용 비밀번호: hunter2Secret! 입니다") == "공용 비밀번호: [masked:password] 입니다"
    assert mask("password: hunter2Secret and then more") == "password: [masked:password] and then more"
    assert mask("비밀번호는 korea1234입니다.") == "비밀번호는 [masked:password]입니다."


@pytest.mark.parametrize("text", PAIRED)
def test_the_second_of_a_pair_is_the_password(text: str) -> None:
    assert mask(text) == text.replace("P@ssw0rd123", "[masked:password]")


@pytest.mark.parametrize("text", BELOW)
def test_a_password_on_the_line_below_its_name_is_masked(text: str) -> None:
    assert mask(text) == text.replace(PASSWORD, "[masked:password]")


@pytest.mark.parametrize("text", COMMANDS)
def test_a_password_among_the_arguments_of_a_command_is_masked(text: str) -> None:
    assert mask(text) == text.replace(PASSWORD, "[masked:password]")


@pytest.mark.parametrize(("text", "secret"), KEYS)
def test_keys_are_masked_in_sentences_and_behind_invisible_characters(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert "[masked:" in masked


@pytest.mark.parametrize("text", HARMLESS)
def test_rules_about_passwords_and_code_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "text", [*PUNCTUATED, *(t for t, _ in TOLD), *PAIRED, *BELOW, *COMMANDS, *(t for t, _ in KEYS)]
)
def test_masking_what_is_masked_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once
    assert once.count("\n") == text.count("\n")


def test_an_invisible_character_changes_only_its_own_line() -> None:
    text = "\ufeff# 제목\n가\u200b나\n비밀\u200b번호: hunter2Secret!\n"
    assert mask(text) == "\ufeff# 제목\n가\u200b나\n비밀번호: [masked:password]\n"


_GLUE = ("\n", " ", "|", ",", "\t", ": ", "비밀번호", "PW", "900101", "-", "1234567", "주민등록번호", "ID/PW", "\u200b")
_PIECES = st.sampled_from(
    [*PUNCTUATED, *(t for t, _ in TOLD), *PAIRED, *BELOW, *COMMANDS, *(t for t, _ in KEYS), *HARMLESS, *_GLUE]
)


@settings(deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=12))
def test_any_mixture_keeps_its_lines_and_is_stable(pieces: list[str]) -> None:
    text = "".join(pieces)
    once = mask(text)
    assert once.count("\n") == text.count("\n")
    assert mask(once) == once


@pytest.mark.parametrize("behind", ["AKIAIOSFODNN7EXAMPLQ", "2026-11-30 took 3 ms", "[main] retry", "900101-1234567"])
def test_a_password_in_a_line_of_a_log_is_masked_whatever_field_follows(behind: str) -> None:
    assert "hunter2Super" not in mask(f"DeclinedError: login password=hunter2SuperSecretXYZ {behind}")


def test_a_term_behind_which_a_number_or_a_reference_stands_stays() -> None:
    for text in ("password: SHA256 2 rounds", "the password: PBKDF2 [1]", "password=None [x]"):
        assert mask(text) == text
