"""Which conditions a statement runs under is read from the form of the code, in whatever language it is."""

from __future__ import annotations

import pytest

from bot.code_units import LONGEST_LINE_CHARS, code_units_of


def units(body: str, path: str = "src/a.py"):
    return code_units_of(1, f"a · name\n({path} lines 1-20, commit abc123)\n{body}")


def guards_of(body: str, text: str, path: str = "src/a.py"):
    unit = next(unit for unit in units(body, path) if unit.text.startswith(text))
    return [(guard.text, guard.negated, guard.kind) for guard in unit.guards]


PYTHON = """def take(key, cost=1):
    # counts what is refused
    if tokens < cost:
        return False
    elif key is None:
        raise KeyError(key)
    for item in items:
        send(item)
    return True"""


def test_a_statement_knows_the_condition_it_stands_under():
    assert guards_of(PYTHON, "return False") == [("tokens < cost", False, "if")]
    assert guards_of(PYTHON, "raise KeyError") == [("tokens < cost", True, "passed"), ("key is None", False, "if")]


def test_what_follows_an_early_return_runs_when_its_condition_does_not_hold():
    assert ("tokens < cost", True, "passed") in guards_of(PYTHON, "send(item)")


def test_what_follows_a_loop_runs_when_it_has_ended():
    assert guards_of(PYTHON, "return True")[-1] == ("for item in items:", False, "ended")


@pytest.mark.parametrize(
    ("body", "path", "text", "guards"),
    [
        ("if (a) {\n  return b;\n} else {\n  return c;\n}", "a.ts", "return c", [("a", True, "if")]),
        ("if (n === 1) await expire(key);", "a.ts", "await expire", [("n === 1", False, "if")]),
        ("unless user.active?\n  raise Inactive\nend", "a.rb", "raise Inactive", [("user.active?", True, "if")]),
        ("raise Gone if code == 410", "a.rb", "raise Gone", [("code == 410", False, "if")]),
        ("order = orders.find(id).orElseThrow(() -> new NotFound());", "A.java", "order =", None),
        ("val c = find(x) ?: throw Missing(x)", "a.kt", "throw Missing", None),
        ("size = small if narrow else large", "a.py", "size = large", [("narrow", True, "if")]),
        ("try:\n    go()\nexcept Busy:\n    wait()", "a.py", "wait()", [("Busy", False, "catch")]),
        ("when (kind) {\n    A -> one()\n    B -> two()\n}", "a.kt", "two()", [("B", False, "case")]),
        ('if [ -z "$KEY" ]; then\n  exit 1\nfi', "a.sh", "exit 1", [('[ -z "$KEY" ]', False, "if")]),
        ("if err := send(); err != nil {\n\treturn err\n}", "a.go", "return err", None),
    ],
)
def test_conditions_are_read_in_every_language(body, path, text, guards):
    found = guards_of(body, text, path)
    if guards is None:
        assert len(found) == 1
    else:
        assert found[-1:] == guards


def test_comments_callers_and_keys_are_told_apart():
    found = units("worker:\n  limits:\n    memory: 1Gi  # of the container\ncalled by: main() (src/main.py)", "a.yaml")
    assert [(unit.kind, unit.text) for unit in found[2:]] == [
        ("comment", "of the container"),
        ("statement", "memory: 1Gi"),
        ("caller", "main() (src/main.py)"),
    ]
    assert found[3].keys == "worker:\nlimits:"


def test_a_division_of_python_is_no_comment():
    assert [unit.text for unit in units("rate = min(total * 3 // 100, most)\nother = 1")] == [
        "rate = min(total * 3 // 100, most)",
        "other = 1",
    ]


def test_a_statement_over_several_lines_is_one():
    found = units("rows = (\n    query(A)\n    .limit(5)\n)\nnext_one()")
    assert [unit.text for unit in found] == ["rows = ( query(A) .limit(5) )", "next_one()"]


def test_columns_of_a_table_are_statements_of_their_own():
    found = units("CREATE TABLE invoices (\n    id BIGINT,\n    due_date DATE\n);", "a.sql")
    assert [unit.text for unit in found] == ["CREATE TABLE invoices (", "id BIGINT,", "due_date DATE"]


def test_packed_and_generated_code_costs_no_more_than_its_first_lines():
    assert len(units("a+" * 100_000)[0].text) == LONGEST_LINE_CHARS
    nested = "\n".join("  " * depth + f"if (a{depth}) {{" for depth in range(3000))
    assert max(len(unit.guards) for unit in units(nested, "a.ts")) < 40
