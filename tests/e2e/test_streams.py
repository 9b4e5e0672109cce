"""Standard input and output: any line gives one object, closed streams give one sentence, names steer no terminal."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.e2e.haechi import command, environment


def piped(folder, stdin: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*words), cwd=folder, input=stdin, capture_output=True, timeout=120, env=environment(), check=False
    )


def in_shell(folder, redirect: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = '"$@" ' + redirect
    return subprocess.run(
        ["sh", "-c", script, "sh", *command(*words)], cwd=folder, capture_output=True, text=True, timeout=120,
        env=environment(), check=False,
    )  # fmt: skip


def test_every_line_gives_one_object_whatever_it_holds(indexed):
    lines = [
        "연차휴가는 며칠인가요?".encode(),
        b'{"query": ' + b"[" * 200_000,
        b'{"query": "\\ud800 half"}',
        b'{"query": ' + b"9" * 6000 + b"}",
        "연차휴가는 며칠인가요?".encode("cp949"),
        b"\xff\xfe\x00",
        b'{"query": "\\u0000"}',
        "숙박비 상한".encode(),
    ]
    run = piped(indexed.folder, b"\n".join(lines) + b"\n", "search", "--json", "-")
    assert run.returncode == 1
    assert b"Traceback" not in run.stderr
    forms = [json.loads(line) for line in run.stdout.decode("utf-8").splitlines()]
    assert len(forms) == len(lines)
    assert ["error" in form for form in forms][:6] == [False, True, True, True, True, True]
    assert "Line 2 is nested too deeply" in forms[1]["error"]["message"]
    assert "half a character" in forms[2]["error"]["message"]
    assert "Line 5 is not UTF-8 text; convert it first" in forms[4]["error"]["message"]
    assert forms[-1]["verdict"] == "ok"


def test_a_question_in_another_encoding_gets_a_sentence(indexed):
    run = piped(indexed.folder, "연차휴가는 며칠인가요?".encode("cp949"), "ask", "-")
    assert run.returncode == 1
    assert run.stdout == b""
    assert run.stderr.decode().startswith("haechi: Standard input is not UTF-8 text; convert it first")
    assert run.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("redirect", "words", "says"),
    [
        ("<&-", ("ask", "--json", "-"), "Standard input is closed"),
        ("<&-", ("search", "--json", "-"), "Standard input is closed"),
        (">&-", ("search", "휴가"), "standard output is closed"),
        (">&-", ("list", "--json"), "standard output is closed"),
    ],
)
def test_a_closed_stream_is_told_in_one_sentence_without_our_insides(indexed, redirect, words, says):
    run = in_shell(indexed.folder, redirect, *words)
    assert run.returncode == 1
    assert run.stdout == ""
    assert says in run.stderr
    assert run.stderr.startswith("haechi: ")
    assert run.stderr.count("\n") == 1


def test_names_with_control_characters_are_shown_written_out(haechi):
    name = "여비\x1b[31m\n규정.md"
    (haechi.folder / "rules" / name).write_text("# 이상한 규정\n\n## 제1조(목적)\n목적은 시험이다.\n", encoding="utf-8")
    (haechi.folder / "rules" / "깨진\x1b]0;x\x07.docx").write_bytes(b"PK\x03\x04 no archive")
    for words in (("ingest", "--dry-run"), ("ingest",), ("list",), ("status",), ("search", "이상한 규정 시험")):
        run = haechi.run(*words)
        assert run.returncode == 0, run.stderr
        assert "\x1b" not in run.stdout + run.stderr
        assert "\x07" not in run.stdout + run.stderr
        assert "\\x1b" in run.stdout
    assert "여비\\x1b[31m\\n규정.md" in haechi.run("list").stdout
