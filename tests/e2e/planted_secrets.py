"""Secrets of many kinds, made at run time so that none stands in this repository, and files of code that hold them."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URL_SAFE = ALNUM + "-_"


@dataclass(frozen=True)
class Planted:
    """One secret where it was put; `lines` are what must be found nowhere."""

    kind: str
    path: str
    lines: tuple[str, ...]


def _make(chance: random.Random) -> dict[str, Callable[[], str]]:
    def pick(letters: str, count: int) -> str:
        return "".join(chance.choice(letters) for _ in range(count))

    def mixed(count: int, letters: str = ALNUM) -> str:
        """Random, with a digit in it for sure: real ones of this length have one."""
        return pick(letters, count - 2) + pick(string.digits, 1) + pick(string.ascii_letters, 1)

    def jwt_like() -> str:
        parts = [
            json.dumps({"alg": "HS256", "typ": "JWT"}),
            json.dumps({"sub": pick(string.digits, 10), "n": pick(ALNUM, 9)}),
        ]
        coded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
        return ".".join([*coded, mixed(43, URL_SAFE)])

    def card() -> str:
        digits = [4, *(chance.randrange(10) for _ in range(14))]
        total = sum(sum(divmod(2 * d, 10)) if place % 2 == 0 else d for place, d in enumerate(digits))
        number = "".join(map(str, [*digits, -total % 10]))
        return "-".join(number[start : start + 4] for start in range(0, 16, 4))

    def resident() -> str:
        front = f"{chance.randrange(70, 99)}{chance.randrange(1, 13):02}{chance.randrange(1, 28):02}"
        digits = [int(d) for d in f"{front}{chance.randrange(1, 3)}{pick(string.digits, 5)}"]
        check = (11 - sum(d * w for d, w in zip(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), strict=True)) % 11) % 10
        text = "".join(map(str, [*digits, check]))
        return f"{text[:6]}-{text[6:]}"

    return {
        "aws access key": lambda: "AKIA" + pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "aws secret": lambda: mixed(40, ALNUM + "/+"),
        "gcp key": lambda: "AIza" + mixed(35, URL_SAFE),
        "azure storage": lambda: "AccountKey=" + mixed(86, ALNUM + "/+") + "==",
        "github token": lambda: "ghp_" + mixed(36),
        "github fine-grained": lambda: "github_pat_" + mixed(22) + "_" + mixed(59),
        "gitlab token": lambda: "glpat-" + mixed(20, URL_SAFE),
        "slack bot": lambda: f"xoxb-{pick(string.digits, 12)}-{pick(string.digits, 12)}-{mixed(24)}",
        "slack webhook": lambda: f"https://hooks.slack.com/services/T{pick(string.ascii_uppercase, 8)}/B{pick(string.ascii_uppercase, 8)}/{mixed(24)}",
        "stripe": lambda: "sk_live_" + mixed(24),
        "openai": lambda: "sk-proj-" + mixed(48),
        "anthropic": lambda: "sk-ant-" + "api03-" + mixed(80, URL_SAFE),
        "npm": lambda: "npm_" + mixed(36),
        "pypi": lambda: "pypi-" + mixed(60, URL_SAFE),
        "hugging face": lambda: "hf_" + mixed(34),
        "sendgrid": lambda: f"SG.{mixed(22, URL_SAFE)}.{mixed(43, URL_SAFE)}",
        "twilio": lambda: "SK" + pick(HEX, 32),
        "telegram": lambda: f"{pick('123456789', 10)}:AA{mixed(33, URL_SAFE)}",
        "jwt": jwt_like,
        "password": lambda: mixed(12, ALNUM + "!#^*"),
        "url password": lambda: f"postgres://app:{mixed(14)}@db.internal:5432/shop",
        "bearer": lambda: "Bearer " + mixed(40),
        "basic auth": lambda: "Basic " + base64.b64encode(f"admin:{mixed(12)}".encode()).decode(),
        "api secret": lambda: pick(HEX, 40),
        "resident number": resident,
        "card number": card,
        "vault": lambda: "hvs." + mixed(90, URL_SAFE),
        "shopify": lambda: "shpat_" + pick(HEX, 32),
    }  # fmt: skip


_NAMES = {
    "aws secret": "aws_secret_access_key", "password": "db_password", "api secret": "api_secret",
    "azure storage": "storage_connection", "resident number": "resident_number", "card number": "card_number",
    "url password": "database_url", "bearer": "authorization", "basic auth": "authorization",
}  # fmt: skip


def _name(kind: str) -> str:
    return _NAMES.get(kind) or kind.replace(" ", "_").replace("-", "_") + "_token"


def _python(kind: str, value: str) -> str:
    return f'def connect_{_name(kind)}():\n    """Opens the connection."""\n    {_name(kind)} = "{value}"\n    return {_name(kind)}\n'


def _typescript(kind: str, value: str) -> str:
    return f"export const config = {{\n  {_name(kind)}: '{value}',\n  retries: 3,\n}};\n\nexport function start() {{ return config; }}\n"


def _java(kind: str, value: str) -> str:
    constant = _name(kind).upper()
    return f'class Client {{\n    private static final String {constant} = "{value}";\n    void call() {{ send({constant}); }}\n}}\n'


def _yaml(kind: str, value: str) -> str:
    return f"service:\n  name: shop\n  {_name(kind)}: {value}\n  replicas: 2\n"


def _environment(kind: str, value: str) -> str:
    return f"# settings\nPORT=8080\n{_name(kind).upper()}={value}\nDEBUG=0\n"


def _comment(kind: str, value: str) -> str:
    return f"package shop\n\n// Pay charges a card. Until the vault is there: {_name(kind)} = {value}\nfunc Pay() int {{\n\treturn 1\n}}\n"


def _notebook(kind: str, value: str) -> str:
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": [f'{_name(kind)} = "{value}"\n', f"print({_name(kind)})"],
    }
    printed = {
        "cell_type": "code",
        "execution_count": 2,
        "metadata": {},
        "source": ["show()"],
        "outputs": [{"output_type": "stream", "name": "stdout", "text": [f"{_name(kind)}: {value}\n"]}],
    }
    return json.dumps({"cells": [cell, printed], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)  # fmt: skip


PLACES: dict[str, Callable[[str, str], str]] = {
    "src/{n}.py": _python,
    "web/{n}.ts": _typescript,
    "java/Client{n}.java": _java,
    "deploy/{n}.yaml": _yaml,
    "config/{n}.env.example": _environment,
    "go/pay{n}.go": _comment,
    "notebooks/{n}.ipynb": _notebook,
}


KINDS_IN_NAMES = ("aws access key", "gcp key", "github token", "gitlab token", "slack bot", "stripe", "resident number")


def plant(seed: int) -> tuple[dict[str, str], list[Planted]]:
    """(path -> text of the files, what was planted): every kind in every place, each time another value."""
    chance = random.Random(seed)
    files: dict[str, str] = {}
    planted: list[Planted] = []
    for number, (kind, make) in enumerate(_make(chance).items()):
        for pattern, write in PLACES.items():
            path, value = pattern.format(n=number), make()
            files[path] = write(kind, value)
            planted.append(Planted(kind, path, tuple(_telling(kind, value))))
    makers = _make(chance)
    for number, kind in enumerate(KINDS_IN_NAMES):
        value = makers[kind]()
        path = f"exports/{value}.txt"
        files[path] = f"export {number}\n"
        planted.append(Planted(kind, path, tuple(_telling(kind, value))))
    for number, (path, text, lines) in enumerate(_private_keys(chance)):
        files[path.format(n=number)] = text
        planted.append(Planted("private key", path.format(n=number), lines))
    return files, planted


def _telling(kind: str, value: str) -> Iterator[str]:
    """The part of a value that must not come through: of an address only the secret in it."""
    if kind == "url password":
        value = value.partition("//app:")[2].partition("@")[0]
    elif kind == "slack webhook":
        value = value.rpartition("/")[2]
    elif kind in ("bearer", "basic auth"):
        value = value.partition(" ")[2]
    elif kind == "azure storage":
        value = value.partition("=")[2]
    yield value
    if len(value) >= 24:
        yield value[:16]
        yield value[-16:]


def _private_keys(chance: random.Random) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for path, before, after in (
        ("src/key{n}.py", 'KEY = """', '"""\n\ndef use():\n    return KEY\n'),
        ("deploy/key{n}.yaml", "tls:\n  key: |\n", ""),
        ("docs/key{n}.md", "# Setup\n\n```\n", "\n```\n"),
    ):
        body = tuple("".join(chance.choice(ALNUM + "+/") for _ in range(64)) for _ in range(8))
        indent = "    " if path.endswith(".yaml") else ""
        kind = "RSA PRIVATE" + " KEY"
        block = "\n".join(indent + line for line in (f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"))
        yield path, before + block + after, body
