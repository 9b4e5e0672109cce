"""Secrets that their place or their form gives away; made at run time, so that none stands in this repository."""

from __future__ import annotations

import base64
import random
import string

import pytest

from knowledge.masking import mask, mask_path

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
WORDS = ("legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful", "abandon", "ability", "zoo", "vote")
BODY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n"


class Maker:
    """Values of the kinds that templates name: `{pw}`, `{drawn}` ..."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def pick(self, letters: str, count: int) -> str:
        return "".join(self._chance.choice(letters) for _ in range(count))

    def drawn(self, count: int) -> str:
        """Capital and small letters and digits in turn, as machines write them."""
        kinds = (string.ascii_lowercase, string.digits, string.ascii_uppercase)
        return "".join(self._chance.choice(kinds[place % 3]) for place in range(count))

    def make(self, kind: str) -> str:
        if kind == "pw":
            word = self._chance.choice(["Summer", "Dragon", "Seoul", "Admin", "winter"])
            return f"{word}!{self.pick('23456789', 3)}z"
        if kind == "hex":
            return self.pick(HEX, 31) + "7"
        if kind == "hex40":
            return self.pick(HEX, 39) + "7"
        if kind == "hex64":
            return self.pick(HEX, 64)
        if kind == "pem":
            return base64.b64encode((BODY + self.drawn(120)).encode()).decode()
        if kind == "base64":
            return base64.b64encode(self.drawn(18).encode()).decode()
        if kind == "words":
            return " ".join(self._chance.sample(WORDS, 12))
        return self.drawn(int(kind))


PLACES = [
    ("pw", 'variable "db_password" {{\n  type    = string\n  default = "{v}"\n}}'),
    ("pw", '<property value="{v}" name="db.password"/>'),
    ("pw", '<entry key="db.password">{v}</entry>'),
    ("pw", "jdbc:oracle:thin:scott/{v}@//h:1521/X"),
    ("pw", 'requests.get(url, auth=("mina", "{v}"))'),
    ("pw", "auth = HTTPBasicAuth('mina', '{v}')"),
    ("pw", 'new NetworkCredential("mina", "{v}")'),
    ("pw", "server.login('mina@shop.example', '{v}')"),
    ("pw", "'Basic ' + btoa('admin:{v}')"),
    ("pw", '$pw = ConvertTo-SecureString "{v}" -AsPlainText -Force'),
    ("pw", 'echo "{v}" | docker login -u ci --password-stdin registry.example.com'),
    ("pw", "keytool -genkey -storepass {v} -keypass x"),
    ("pw", 'psql "host=h user=u password={v}"'),
    ("pw", "dblink_connect('password={v} host=h')"),
    ("pw", "smbclient //h/s -U 'user%{v}'"),
    ("pw", "INSERT INTO users (id, password) VALUES (1, '{v}');"),
    ("pw", "insert into `users` (`email`, `user_pwd`, n)\nvalues ('a@b', '{v}', now()), ('c@d', NULL, now());"),
    ("pw", '@Value("${{db.password:{v}}}")'),
    ("pw", "-- 운영DB 접속정보 scott/{v}"),
    ("pw", '"passwords": ["{v}", "x"]'),
    ("24", 'SigningKey: []byte("{v}"),'),
    ("30", "DEPLOY_TOKEN := {v}"),
    ("32", 'buildConfigField("String", "API_SECRET", "\\"{v}\\"")'),
    ("32", 'writeKey: "{v}"'),
    ("40", "Cookie: session={v}; theme=dark"),
    ("40", "Authorization: SSWS {v}"),
    ("40", "COHERE={v}"),
    ("48", 'const cohere = "{v}";'),
    ("36", "acme_prod_{v}"),
    ("hex", "Authorization: KakaoAK {v}"),
    ("hex64", 'accounts: ["0x{v}"],'),
    ("hex64", "cast send --private-key 0x{v} 0xabc"),
    ("words", 'MNEMONIC="{v}"'),
    ("words", "니모닉: {v}"),
    ("base64", "kind: Secret\nmetadata:\n  name: db\ndata:\n  conn: {v}\n"),
    (
        "pw",
        "apiVersion: v1\nstringData:\n  a.conf: |\n    user mina\n    opens {v}\nkind: Secret\n---\nkind: Service\n",
    ),
    ("pem", "SSH_KEY={v}"),
    ("64", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{v}\nPrivate-MAC: 0\n"),
]
FORMS = [
    ("80", "xai-"), ("52", "gsk_"), ("48", "pplx-"), ("37", "r8_"), ("hex40", "sbp_"), ("43", "pscale_pw_"),
    ("40", "figd_"), ("69", "AKCp"), ("120", "sl."), ("44", "BBDC-"), ("hex40", "sgp_"), ("hex40", "pul-"),
    ("20", "LTAI"), ("32", "AKID"), ("43", "CFPAT-"), ("99", "fm2_"), ("99", "v2.local."), ("40", "bkua_"),
    ("60", "HRKU-"), ("36", "nfp_"), ("30", "vercel_blob_rw_"), ("24", "live_sk_"), ("24", "test_gsk_docs_"),
    ("27", "NRAK-"),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("kind", "line"), PLACES, ids=[line[:30] for _, line in PLACES])
def test_a_secret_is_masked_where_its_place_gives_it_away(kind: str, line: str, seed: int) -> None:
    value = Maker(seed).make(kind)
    text = line.format(v=value)
    masked = mask(text)
    assert value not in masked
    assert masked.count("\n") == text.count("\n")
    assert mask(masked) == masked


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("kind", "start"), FORMS, ids=[start for _, start in FORMS])
def test_a_token_is_masked_by_its_form_alone(kind: str, start: str, seed: int) -> None:
    value = Maker(seed).make(kind)
    assert value not in mask(f"use {start}{value} for now\n")


def test_addresses_that_let_others_post_are_masked() -> None:
    hook = Maker(1).pick(string.ascii_lowercase, 25) + "7"
    for address in (
        f"https://chat.example.com/hooks/{hook}",
        f"https://wh.jandi.com/connect-api/webhook/123/{Maker(1).make('hex')}",
        f"https://hooks.zapier.com/hooks/catch/123/{hook}",
        f"https://acme.webhook.office.com/webhookb2/{Maker(1).pick(HEX, 36)}@a1/IncomingWebhook/{Maker(1).make('hex')}/b",
    ):
        masked = mask(f'url = "{address}"\n')
        assert hook not in masked
        assert "[masked:" in masked


@pytest.mark.parametrize("text", [
    'integrity="sha512-rNjApaLzuwaOTjCiT8lSDdGN1APCiqkChLMJxJPWLunPAt5fy8xgU9"',
    "const signer = '0x2cc1166f6212628A0deEf2B33BEFB2187D35b86c';",
    "client = Redis(host=url.hostname, port=url.port, db=redis_db, password=redis_password)",
    "if not conn.rebind(user=user.entry_dn, password=password):",
    'login("mina", "Please sign in")',
    'requests.get(url, auth=("user", "password"))',
    "kind: Secret\ndata:\n  password: {{ .Values.password | b64enc }}\n",
    "kind: ConfigMap\ndata:\n  level: debug-level-9\n",
    "INSERT INTO users (id, name) VALUES (1, 'Summer!234z');",
    'const hash = "9F8e7D6c5B4a39281706f5E4d3C2b1A09F8e7D6c5B4a";',
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB",
    "The mnemonic of each opcode is shown in the table below together with its operands and flags and costs",
    "bytes32 constant ROLE = 0x9f2df0fed2c77648de5860a4cc508cd0818c85b8b8a1ab4ceeef8d981c8956a6;",
])  # fmt: skip
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert mask(text) == text


def test_names_of_files_are_masked_segment_by_segment() -> None:
    token = "ghp_" + Maker(3).drawn(36)
    assert mask_path(f"keys/{token}/read.py") == "keys/[masked:github-token]/read.py"
    for path in ("src/main/java/com/acme/OrderServiceImplementationTest.java", "규정/비밀번호_관리_지침.hwp"):
        assert mask_path(path) == path
