"""Secrets that begin as paths, templates, anchors or versions do, and what begins so and is none."""

from __future__ import annotations

import random
import string

import pytest

from knowledge.masking import mask


def drawn(seed: int, length: int, letters: str = string.ascii_letters + string.digits) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice(letters) for _ in range(length - 3)) + "aZ7"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("start", ["%D", "*W", "#O", "v0", "V5"])
@pytest.mark.parametrize(
    "line",
    ['db_password = "{}"', "DB_PASSWORD={}", "  db_password: {}", "// until the vault is there: db_password = {}"],
)
def test_a_password_may_begin_with_a_sign(start: str, line: str, seed: int) -> None:
    value = start + drawn(seed, 14)
    around = "package shop\n{}\nfunc Pay() int {{ return 1 }}\n" if line.startswith("//") else "port: 80\n{}\n"
    assert value not in mask(around.format(line.format(value)))


@pytest.mark.parametrize("seed", range(8))
def test_a_key_in_base64_that_begins_with_a_slash_is_masked(seed: int) -> None:
    value = "/" + drawn(seed, 39, string.ascii_letters + string.digits + "+/")
    for line in ("AWS_SECRET_ACCESS_KEY={}", 'aws_secret_access_key: "{}"', "// aws_secret_access_key = {}"):
        assert value not in mask(f"{line.format(value)}\n")


@pytest.mark.parametrize("text", [
    "password: %s", "password = '%(password)s'", "PASSWORD=%DB_PASSWORD%", "password: *default_password",
    "password_file: /run/secrets/db_password", "secret: /var/lib/haechi/secrets/application/production",
    "// password = #reset-password", "token: v1beta1", "api_key: v2.1.0", "secret_key_path=/etc/ssl/private/Server2Key",
])  # fmt: skip
def test_paths_templates_anchors_and_versions_stay(text: str) -> None:
    assert mask(text) == text
