"""Code that is quoted says what calls it, and brings the modifiers that it uses."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from bot.json_forms import search_form
from bot.quoting import articles_not_found, choose_chunks, quote_evidence, worth_quoting
from knowledge.analysis import analyze
from knowledge.types import Caller, Chunk, Evidence, Locator, ScoredChunk, Verdict


def chunk(name: str, text: str, *, uri: str = "contracts/Vault.sol") -> Chunk:
    return Chunk(
        id=name,
        document_id=uri,
        kind="definition",
        text=text,
        index_text=f"{uri}\n{name}\n{text}",
        locator=Locator(source="shop", uri=uri, revision="a", start_line=3, end_line=9, symbol=name),
        ordinal=0,
        tokens=5,
        group=name,
        evidence_kind="code",
        title=uri,
    )


def caller(signature: str, line: int) -> Caller:
    place = Locator(source="shop", uri="contracts/Shop.sol", revision="a", start_line=line, end_line=line)
    return Caller(signature=signature, symbol="Shop.close", locator=place)


PAY = ScoredChunk(
    chunk=chunk("Vault.payOut", "function payOut(address to) onlyOwner {\n    send(to);\n}"),
    callers=(caller("function close(uint256 id) external", 12), caller("function `x` @channel [1]()", 30)),
)
OTHER = ScoredChunk(chunk=chunk("Vault.total", "function payOut send to total() {\n    return total;\n}"))
MODIFIER = ScoredChunk(chunk=chunk("Ownable.onlyOwner", "modifier onlyOwner() {\n    _;\n}"), via="Vault.payOut")


def quoted(*chunks: ScoredChunk) -> str:
    text, _ = quote_evidence(
        chunks, ("payout", "send"), analyze, language="en", link=lambda locator, chunk_id: "https://x.example"
    )
    return text


def test_a_quote_of_code_ends_with_its_callers_one_line_each() -> None:
    text = quoted(PAY)
    assert "Called by:\n\n- function close(uint256 id) external (contracts/Shop.sol:12)" in text
    assert text.count("\n- ") == 2


def test_a_signature_cannot_mention_anybody_or_cite() -> None:
    assert "@channel" not in quoted(PAY)
    assert "[1]()" not in quoted(PAY)


def test_a_definition_that_nothing_calls_says_nothing_of_callers() -> None:
    assert "Called by" not in quoted(OTHER)


def test_the_modifier_of_a_function_is_quoted_before_another_function() -> None:
    chosen = choose_chunks([PAY, OTHER, MODIFIER], ("payout", "send"), analyze)
    assert [scored.chunk.id for scored in chosen] == ["Vault.payOut", "Ownable.onlyOwner"]


def test_search_prints_the_callers_with_their_places() -> None:
    evidence = Evidence(
        query="pay", route="code", chunks=(PAY, OTHER), verdict=Verdict(decision="ok", reason=""), tools=()
    )
    first, second = search_form("pay", evidence)["results"]
    assert first["callers"][0] == {
        "signature": "function close(uint256 id) external",
        "symbol": "Shop.close",
        "source": "shop",
        "path": "contracts/Shop.sol",
        "line": 12,
    }
    assert second["callers"] == []


def rule(name: str, label: str, text: str, *, uri: str = "travel.md", **place: object) -> ScoredChunk:
    made = chunk(name, text, uri=uri)
    locator = replace(made.locator, label=label, symbol=None, **place)
    return ScoredChunk(chunk=replace(made, kind="article", evidence_kind="docs", locator=locator))


REPORT = "출장을 마친 직원은 20일 이내에 보고서를 총무팀장에게 제출하여야 한다."
FORM = rule("form", "[별지 제4호 서식] 국외 출장 보고서", "위와 같이 국외 출장을 보고합니다. 직위: 성명: 날짜:")
RULE = rule("rule", "제7조의6(보고)", REPORT)


def test_a_form_that_nobody_asked_for_stands_behind_the_rule() -> None:
    assert worth_quoting([FORM, RULE], "출장 보고서는 며칠 안에 내나요?") == [RULE, FORM]


def test_a_form_that_is_asked_for_keeps_its_place() -> None:
    assert worth_quoting([FORM, RULE], "출장 보고서 서식이 있나요?") == [FORM, RULE]


def test_a_text_that_another_document_repeats_is_quoted_once_and_not_from_the_scan() -> None:
    scan = rule(
        "scan", "제7조의6(보고)", REPORT.replace("총무팀장", "총무팀정"), uri="scan.pdf", doubtful=("총무팀정",)
    )
    assert worth_quoting([scan, RULE], "보고서는 언제까지?") == [RULE]
    assert worth_quoting([RULE, scan], "보고서는 언제까지?") == [RULE]


def test_a_text_with_another_amount_or_of_another_time_is_quoted_too() -> None:
    other = rule("other", "제7조의6(보고)", REPORT.replace("20일", "10일"), uri="other.md")
    old = rule("old", "제7조의6(보고)", REPORT, uri="old.md", valid_until=date(2020, 1, 1))
    assert worth_quoting([RULE, other, old], "보고서는 언제까지?") == [RULE, other, old]


def test_only_the_article_that_is_asked_for_by_number_is_quoted() -> None:
    next_one = rule("next", "제8조(정산)", "정산은 귀국한 날부터 하며 영수증을 붙인다.")
    assert worth_quoting([RULE, next_one], "여비규정 제8조가 뭐야?") == [next_one]
    assert worth_quoting([RULE, next_one], "여비규정 제99조가 뭐야?") == [RULE, next_one]


def test_a_scan_whose_doubtful_words_hold_the_other_amount_is_its_original_once_more() -> None:
    scan = rule("scan", "제7조의6(보고)", REPORT.replace("20일", "29일"), uri="scan.pdf", doubtful=("1", "29일"))
    assert worth_quoting([scan, RULE], "보고서는 언제까지?") == [RULE]
    sure = rule("sure", "제7조의6(보고)", REPORT.replace("20일", "29일"), uri="scan.pdf", doubtful=("총무팀장",))
    assert worth_quoting([sure, RULE], "보고서는 언제까지?") == [sure, RULE]


def test_the_same_words_in_two_editions_of_a_rulebook_that_both_hold_are_quoted_once() -> None:
    newer = rule("newer", "제7조의6(보고)", REPORT, uri="2025.md", valid_from=date(2025, 6, 1))
    older = rule("older", "제7조의6(보고)", REPORT, uri="2024.md", valid_from=date(2024, 6, 1))
    assert worth_quoting([newer, older], "보고서는 언제까지?") == [newer]


def test_a_quote_says_since_when_its_wording_holds() -> None:
    old = rule("old", "제7조의6(보고)", REPORT, valid_from=date(2019, 3, 1), valid_until=date(2020, 1, 1))
    text, _ = quote_evidence([old], ("보고",), analyze, language="ko", link=lambda locator, chunk_id: None)
    assert text.splitlines()[0].endswith("(2019-03-01 시행, 2020-01-01 개정 전)** [1]")


def test_a_file_that_is_named_like_its_regulation_is_not_named_twice() -> None:
    def heading(uri: str) -> str:
        text, _ = quote_evidence(
            [rule("a", "여비규정 제2조(보고)", REPORT, uri=uri)], ("보고",), analyze,
            language="ko", link=lambda locator, chunk_id: None,
        )  # fmt: skip
        return text.splitlines()[0]

    assert heading("여비규정.docx") == "**여비규정 제2조(보고)** [1]"
    assert heading("사규집.docx") == "**사규집.docx, 여비규정 제2조(보고)** [1]"
    assert heading("2023/여비규정.docx") == "**2023/여비규정.docx, 여비규정 제2조(보고)** [1]"


def test_an_article_that_is_asked_for_by_number_is_missing_when_no_chunk_is_it_or_speaks_of_it() -> None:
    speaks = rule("speaks", "제9조(준용)", "제12조를 준용한다.")
    assert articles_not_found([RULE, speaks], "여비규정 제99조 제2항이 뭐야?") == ["제99조"]
    assert articles_not_found([RULE, speaks], "여비규정 별표 3 보여줘") == ["별표3"]
    assert articles_not_found([RULE, speaks], "여비규정 제9조와 제12조는?") == []
    assert articles_not_found([RULE, speaks], "보고서는 언제까지?") == []
