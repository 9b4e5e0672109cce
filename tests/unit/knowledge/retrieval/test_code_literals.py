"""A message that a report quotes leads to the code that holds it."""

from __future__ import annotations

import pytest

from knowledge.rerank.features import rank_by_features
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_literals import quoted_in
from knowledge.retrieval.question import understand
from tests.unit.knowledge.retrieval.corpus import chunk


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('The editor says "Unable to edit key." since today', ("unable to edit key",)),
        ("It says “결제 수단을 찾을 수 없습니다” when I pay", ("결제 수단을 찾을 수 없습니다",)),
        ("`no such function: IIF` in the log", ("no such function: iif",)),
        ("「인증 토큰 만료」 오류가 나요", ("인증 토큰 만료",)),
        ("the log says 'schema does not exist' and stops", ("schema does not exist",)),
        ("it doesn't start and I can't log in", ()),
        ('answers "no" to everything', ()),
        ("`PlaybackPreferences` and `retryPayment()` are names", ()),
        ('a quote that never ends: "Unable to', ()),
        ('"' + "a" * 500 + '"', ()),
    ],
)
def test_what_stands_in_quotation_marks_is_a_quote(text: str, quotes: tuple[str, ...]) -> None:
    assert quoted_in(text) == quotes


def test_the_code_that_holds_the_quoted_message_comes_first() -> None:
    edits = "void edit(Key key) {\n    check(key);\n    cache.edit(key);\n    keys.refresh();\n    done(key);\n}"
    throws = 'void open(String id) {\n    var handle = cache.get(id);\n    if (handle == null) {\n        ' \
             'throw new IOException("Unable to edit key");\n    }\n    use(handle);\n}'  # fmt: skip
    candidates = [
        Candidate(chunk=chunk("a", edits, source="s", uri="src/KeyEditor.java", symbol="KeyEditor.edit", lines=(1, 6))),
        Candidate(chunk=chunk("b", throws, source="s", uri="src/Cache.java", symbol="Cache.open", lines=(1, 7))),
    ]
    weights = {"edit": 5.0, "key": 5.0, "editor": 5.0, "unabl": 6.0}
    plain = understand("the key editor is unable to edit a key", "code")
    assert rank_by_features(plain, candidates, weights)[0].chunk.id == "a"
    for candidate in candidates:
        candidate.features.clear()
    quoting = understand('the key editor says "unable to edit key"', "code")
    assert rank_by_features(quoting, candidates, weights)[0].chunk.id == "b"


def test_a_word_that_everything_holds_says_little() -> None:
    candidates = [
        Candidate(chunk=chunk(str(n), f"read settings {n}", source="s", uri=f"src/{n}.py", symbol=f"f{n}"))
        for n in range(16)
    ]
    rank_by_features(understand("where is `read settings` called", "code"), candidates, {"set": 5.0, "read": 4.0})
    assert {candidate.features["quoted"] for candidate in candidates} == {0.25}
