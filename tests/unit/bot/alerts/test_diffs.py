"""A diff is shown only when every line of it fits the file, and what is shown is taken by `git apply`."""

from __future__ import annotations

import subprocess

import pytest

from bot.alerts.diffs import DoesNotApply, apply_diff, proved_diff

FILE = ["a", "b", "c", "d", "c"]


def test_a_diff_that_fits_gives_the_new_file():
    assert apply_diff(FILE, "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c", path="x.py") == [
        "a", "B", "c", "d", "c",
    ]  # fmt: skip


def test_a_wrong_line_number_is_forgiven_where_the_place_is_certain():
    assert apply_diff(FILE, "@@ -4,2 +4,2 @@\n a\n-b\n+B", path="x.py")[1] == "B"


@pytest.mark.parametrize(
    "diff",
    [
        "@@ -1,2 +1,2 @@\n a\n-x\n+B",  # an old line that is not there
        "--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+A",  # another file
        "@@ -9,1 +9,1 @@\n-c\n+C",  # two places
        "@@ -1 +1 @@\n a",  # nothing changes
        "@@ -1 +1 @@\n+A",  # no line of the file
        "replace a by b",
        "",
        "--- a/x.py\n+++ b/z.py\n@@ -1 +1 @@\n-a\n+A",  # renamed
        "diff --git a/x.py b/z.py\nrename from x.py\nrename to z.py",
        "diff --git a/x.py b/x.py\nsimilarity index 90%\n@@ -1 +1 @@\n-a\n+A",
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+A\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+A",  # two files
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+A\ndiff --git a/y.py b/y.py\n@@ -2 +2 @@\n-b\n+B",
        "--- /etc/x.py\n+++ /etc/x.py\n@@ -1 +1 @@\n-a\n+A",  # an absolute path
        "--- a/../x.py\n+++ b/../x.py\n@@ -1 +1 @@\n-a\n+A",  # out of the repository
        "--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+A",  # a new file
        "--- a/x.py\n+++ /dev/null\n@@ -1,5 +0,0 @@\n-a\n-b\n-c\n-d\n-c",  # a deleted one
        "@@ -2,1 +2,2 @@\n b\n+```\n",  # it would end the block in which it is shown
        "@@ -1 +1 @@\n-a\n+password = 'hunter2secret9'",  # a secret
        "@@ -1 +1 @@\n-a\n+" + "\n+".join(["x"] * 300),  # far too long
    ],
)
def test_a_diff_that_does_not_fit_is_refused(diff):
    with pytest.raises(DoesNotApply):
        apply_diff(FILE, diff, path="x.py")


def test_a_change_of_a_masked_line_is_refused_and_one_nearby_keeps_away_from_it():
    masked = ["key = [masked:api-key]", "", "a", "b", "c"]
    with pytest.raises(DoesNotApply, match="masked"):
        apply_diff(masked, "@@ -1 +1 @@\n-key = [masked:api-key]\n+key = None", path="x.py")
    with pytest.raises(DoesNotApply, match="masked"):
        proved_diff([*masked[:1], "a"], "@@ -2 +2 @@\n-a\n+A", path="x.py")
    shown = proved_diff(masked, "@@ -4 +4 @@\n-b\n+B", path="x.py")
    assert "masked" not in shown
    assert "+B" in shown


CHANGES = {
    "first line": ("@@ -1 +1 @@\n-a\n+A", "x.py"),
    "last line": ("@@ -5 +5 @@\n-e\n+E\n", "x.py"),
    "lines added at the end": ("@@ -5 +5,2 @@\n e\n+f\n", "x.py"),
    "last line removed": ("@@ -4,2 +4,1 @@\n d\n-e", "x.py"),
    "two hunks, numbers wrong": ("@@ -7 +7 @@\n-a\n+A\n@@ -9 +9 @@\n-e\n+E", "x.py"),
    "in a fence": ("```diff\n--- a/x.py\n+++ b/x.py\n@@ -2 +2 @@\n-b\n+B\n```", "x.py"),
    "a path with blanks and Hangul": (
        "--- a/소스 코드/x y.py\n+++ b/소스 코드/x y.py\n@@ -2 +2 @@\n-b\n+B",
        "소스 코드/x y.py",
    ),
}


@pytest.mark.parametrize("ends_with_newline", [True, False], ids=["ended", "no newline at the end"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", CHANGES)
def test_what_is_shown_is_taken_by_git_and_gives_the_same_file(tmp_path, name, ending, ends_with_newline):
    diff, path = CHANGES[name]
    text = ending.join("abcde") + (ending if ends_with_newline else "")
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    lines = text.split("\n")[:-1] if ends_with_newline else text.split("\n")
    shown = proved_diff(lines, diff, path=path, ends_with_newline=ends_with_newline)
    (tmp_path / "fix.diff").write_bytes((shown + "\n").encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "fix.diff"], cwd=tmp_path, check=True
    )
    expected = apply_diff(lines, diff, path=path)
    now = file.read_bytes().decode()
    assert [line.removesuffix("\r") for line in now.split("\n") if line] == [one.removesuffix("\r") for one in expected]
    if ending == "\r\n" and ends_with_newline:
        assert now.count("\n") == now.count("\r\n")
