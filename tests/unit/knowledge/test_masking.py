"""Secrets and personal numbers are masked; everything else reads as before. All values here are made up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.masking import MASKING_VERSION, mask, mask_counted
from knowledge.masking_personal import passes_luhn
from knowledge.masking_resident import has_resident_checksum

HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"

# Tokens are put together here, so that no scanner takes the test for a leak.
TOKENS = [
    ("aws-key", "AKIA" + "Q3EGRJ5WXYZ2ABCD"),
    ("gcp-key", "AIza" + "SyD" + MIXED[:32]),
    ("gcp-oauth", "GOCSPX-" + MIXED[:28]),
    ("azure-secret", "abc8Q~" + MIXED[:34]),
    ("azure-key", "AccountKey=" + MIXED + MIXED + "abcdefghijklmn=="),
    ("github-token", "ghp_" + MIXED),
    ("github-token", "github_pat_" + MIXED + "_" + MIXED),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("slack-token", "xoxb-" + "123456789012-" + MIXED[:24]),
    ("slack-webhook", "https://hooks.slack.com/services/" + "T0AB12CD3/B0AB12CD3/" + MIXED[:24]),
    ("openai-key", "sk-proj-" + MIXED),
    ("anthropic-key", "sk-ant-" + MIXED),
    ("stripe-key", "sk_live_" + MIXED[:24]),
    ("npm-token", "npm_" + MIXED),
    ("pypi-token", "pypi-" + MIXED + MIXED),
    ("telegram-token", "123456789:AA" + MIXED[:33]),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + MIXED),
    ("huggingface-token", "hf_" + MIXED),
    ("sendgrid-key", "SG." + MIXED[:22] + "." + MIXED),
    ("twilio-key", "SK" + HEX),
    ("digitalocean-token", "dop_v1_" + HEX + HEX),
    ("vault-token", "hvs." + MIXED),
    ("bearer-token", "Authorization: Bearer " + MIXED),
    ("basic-auth", "Authorization: Basic " + "YWRtaW46czNjcjN0"),
]

ASSIGNED = [
    ('password = "hunter2"', "hunter2"),
    ("DB_PASSWORD=summer", "summer"),
    ("  password: hunter2", "hunter2"),
    ("spring.datasource.password=Pa55word!", "Pa55word!"),
    (f'"apiKey": "{HEX}"', HEX),
    (f"api_key: {HEX}", HEX),
    (f"const token = '{HEX}';", HEX),
    ('private String secret = "s3cr3tKeyForJwt2024";', "s3cr3tKeyForJwt2024"),
    (f'val clientSecret: String = "{MIXED}"', MIXED),
    ("# old password: Winter2023!", "Winter2023!"),
    ("// the admin password is Winter2023!", "Winter2023!"),
    ("postgres://app:S3cr3t@db.example.com:5432/shop", "S3cr3t"),
    ("redis://:p4ss@cache:6379", "p4ss"),
    ("mysql -u root --password=hunter22", "hunter22"),
    ("curl -u admin:s3cr3t https://example.com", "s3cr3t"),
    (f'-H "X-Api-Key: {HEX}"', HEX),
    ("jdbc:mysql://host/db?user=a&password=hunter2", "hunter2"),
    ('"Server=x;User Id=sa;Password=hunter2;Encrypt=yes"', "hunter2"),
    ("<password>hunter2</password>", "hunter2"),
    ('<property name="password" value="hunter2"/>', "hunter2"),
    ('put("password", "hunter2")', "hunter2"),
    ('os.environ.get("DB_PASSWORD", "hunter2x9")', "hunter2x9"),
    (r'"source": ["password = \"hunter2\"\n"]', "hunter2"),
    ("ENV DB_PASSWORD=hunter2 MODE=fast", "hunter2"),
    ("      - DB_PASSWORD=hunter2", "hunter2"),
    (f"//registry.example.com/:_authToken={HEX}", HEX),
    ("- name: DB_PASSWORD\n  value: hunter2", "hunter2"),
    ("비밀번호: Welcome1!", "Welcome1!"),
    ("초기 비밀번호는 Welcome1! 입니다", "Welcome1!"),
    (f"PRIVATE_KEY=0x{HEX}{HEX}", HEX),
]

HARMLESS = [
    "password = getpass()",
    "password: String,",
    "val password: String",
    "password = request.password",
    "self.password = pwd",
    "def login(password=None, token=None):",
    '"password": {"type": "string"}',
    '<input type="password" name="password">',
    'password: "비밀번호"',
    "API_KEY=${API_KEY}",
    'api_key = os.environ["API_KEY"]',
    "token = Token.objects.get(pk)",
    "PASSWORD_MIN_LENGTH = 12",
    'primary_key = "id_0001234567"',
    "max_tokens: 4096",
    'secret: "{{ secret }}"',
    "password=your-password",
    "const ACCESS_TOKEN_KEY = 'accessToken';",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "'order': ['aws_access_key', 'aws_secret_key', 's3_staging_dir'],",
    "sed -i s/DB_PASSWORD=.*/DB_PASSWORD=$DB_PASSWORD/g env",
    "비밀번호는 8자 이상으로 한다.",
    "제900101-1호 시행 2023. 01. 01.",
    "전화 010-1234-5678, 대표번호 02-123-4567",
    "사업자등록번호 123-45-67890, 금액 1,234,567,890원",
    "uint256 constant MAX = 115792089237316195423570985008687907853269984665640564039457584007913129639935;",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "-----BEGIN PUBLIC KEY-----",
]


@pytest.mark.parametrize(("kind", "token"), TOKENS)
def test_a_token_is_masked_wherever_it_stands(kind: str, token: str) -> None:
    secret = (
        token.split("=", 1)[1]
        if kind == "azure-key"
        else token.split(" ")[-1].removeprefix("https://hooks.slack.com/services/")
    )
    for text in (f"x = '{token}'", f"# see {token}\nnext", f"curl {token}", f"| {token} |"):
        masked, counts = mask_counted(text)
        assert secret not in masked
        assert f"[masked:{kind}]" in masked
        assert counts[kind] == 1


@pytest.mark.parametrize(("text", "secret"), ASSIGNED)
def test_a_value_of_a_secret_name_is_masked_and_the_rest_stays(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert "[masked:" in masked
    head = text.split(secret)[0].removesuffix("0x")
    assert masked.startswith(head)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text
    assert mask_counted(text)[1] == {}


def test_a_private_key_keeps_its_number_of_lines() -> None:
    body = "MIIEowIBAAKCAQEA" + MIXED
    text = f"before\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\n-----END RSA PRIVATE KEY-----\nafter\n"
    masked, counts = mask_counted(text)
    assert masked.splitlines() == [
        "before",
        "-----BEGIN RSA PRIVATE KEY-----",
        "[masked:private-key]",
        "[masked:private-key]",
        "-----END RSA PRIVATE KEY-----",
        "after",
    ]
    assert counts == {"private-key": 1}


def test_a_private_key_in_one_line_or_without_its_end_is_masked() -> None:
    body = "MIIEowIBAAKCAQEA" + MIXED
    one_line = '{"private_key": "-----BEGIN PRIVATE KEY-----\\n' + body + '\\n-----END PRIVATE KEY-----\\n"}'
    cut = f"-----BEGIN EC PRIVATE KEY-----\n{body}\n{body}\n\nplain words follow\n"
    assert body not in mask(one_line)
    assert body not in mask(cut)
    assert mask(cut).count("\n") == cut.count("\n")
    assert mask(cut).endswith("plain words follow\n")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("홍길동 900101-1234567", "resident-number"),
        ("900101 - 1234567", "resident-number"),
        ("주민등록번호 9001011234568", "resident-number"),
        ("외국인등록번호: 900101-5234567", "foreigner-number"),
        ("카드 4111-1111-1111-1111", "card-number"),
        ("card=4111111111111111", "card-number"),
        ("3782 822463 10005", "card-number"),
        ("여권번호 M12345678", "passport-number"),
        ("여권: M123A4567", "passport-number"),
        ("계좌번호: 가나은행 123456-01-123456", "account-number"),
        ("계좌번호 12345678901234", "account-number"),
        ("운전면허 11-12-123456-12", "driver-licence"),
    ],
)
def test_personal_numbers_are_masked(text: str, kind: str) -> None:
    masked, counts = mask_counted(text)
    assert f"[masked:{kind}]" in masked
    assert counts == {kind: 1}
    assert not any(len(part) > 5 and part.isdigit() for part in masked.replace("-", " ").split())


@pytest.mark.parametrize(
    "text",
    [
        "991301-1234567",  # month 13
        "1234-5678-9012-3456",  # no card: the check digit is wrong
        "관리번호 123456-01-123456",  # no account: nothing says so
        "2023010112345678",
        "여비 규정 제12345678호",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert mask(text) == text


def test_checksums_follow_their_definitions() -> None:
    assert has_resident_checksum("9001011234568")
    assert not has_resident_checksum("9001011234567")
    assert passes_luhn("4111111111111111")
    assert not passes_luhn("4111111111111112")


@pytest.mark.parametrize(
    "text", [t for _, t in TOKENS] + [t for t, _ in ASSIGNED] + ["", "\n\n", "İ password='hunter2'"]
)
def test_masking_twice_changes_nothing_more_and_lines_stay(text: str) -> None:
    once = mask(text)
    assert mask(once) == once
    assert once.count("\n") == text.count("\n")


_PIECES = st.sampled_from(
    [t for t, _ in ASSIGNED] + [t for _, t in TOKENS] + HARMLESS + ["\n", " ", '"', "'", "=", ":"]
)


@settings(deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=20)), max_size=12))
def test_any_mixture_keeps_lines_and_is_stable(pieces: list[str]) -> None:
    text = "".join(pieces)
    once = mask(text)
    assert once.count("\n") == text.count("\n")
    assert mask(once) == once
    assert mask(text) == once


def test_the_version_is_part_of_the_interface() -> None:
    assert MASKING_VERSION
