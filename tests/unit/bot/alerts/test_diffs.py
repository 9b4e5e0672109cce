"""A diff is shown only when every line of it fits the file."""

from __future__ import annotations

import pytest

from bot.alerts.diffs import DoesNotApply, apply_diff

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
    ],
)
def test_a_diff_that_does_not_fit_is_refused(diff):
    with pytest.raises(DoesNotApply):
        apply_diff(FILE, diff, path="x.py")
