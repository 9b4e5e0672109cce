"""A reply as one Markdown text: complete, and unable to call anybody."""

from __future__ import annotations

import pytest

from bot.reply_text import clean_text, full_markdown, link_address, safe_markdown
from bot.types import Citation, Reply, ThreadRef
from knowledge.types import Locator

THREAD = ThreadRef(platform="slack", channel_id="C1", root_id="1.1")


def citation(index: int = 1, **changes: object) -> Citation:
    locator = Locator(source="rules", uri="travel.docx", revision="r1", page=12, label="[별표 1] 여비 지급 기준")
    fields = {
        "index": index,
        "locator": locator,
        "chunk_id": "c1",
        "title": "여비 규정",
        "url": "https://h/evidence/c1#cited",
        "quote": "x",
    }
    return Citation(**{**fields, **changes})


def reply(text: str = "숙박비는 70,000원입니다. [1]", **changes: object) -> Reply:
    fields = {"thread": THREAD, "markdown": text, "citations": (), "delivery_id": "d1", "final": True}
    return Reply(**{**fields, **changes})


def test_an_answer_shows_text_notices_and_numbered_sources_with_links():
    code = Locator(source="shop", uri="src/pay.py", revision="abc", start_line=12, end_line=30, symbol="pay")
    text = full_markdown(
        reply(
            citations=(citation(1), citation(3, locator=code, title="src/pay.py", url="https://git/x#L12-L30")),
            notices=("규정: 2시간 전 색인",),
        )
    )
    assert text == (
        "숙박비는 70,000원입니다. [1]\n\n"
        "> 규정: 2시간 전 색인\n\n"
        "**출처**\n\n"
        "- [1] travel.docx, [별표 1] 여비 지급 기준, 12쪽 ([열기](https://h/evidence/c1#cited))\n"
        "- [3] `src/pay.py:12-30` ([열기](https://git/x#L12-L30))"
    )


def test_a_refusal_shows_the_nearest_sources_under_their_own_title():
    text = full_markdown(reply("I cannot be sure.", kind="refusal", nearest=(citation(),)))
    assert "Nearest sources (not evidence for an answer)" in text
    assert "**Sources**" not in text


def test_an_error_shows_its_number_once():
    assert "`ab12`" in full_markdown(reply("오류가 났습니다.", kind="error", error_id="ab12"))
    assert full_markdown(reply("번호 ab12를 알려 주세요.", kind="error", error_id="ab12")).count("ab12") == 1


def test_the_language_of_the_titles_may_be_given():
    assert "**Sources**" in full_markdown(reply(citations=(citation(),)), language="en")


@pytest.mark.parametrize(
    "call", ["@channel", "@here", "@all", "@everyone", "@ALL", "`@channel`", "@here.", "@channel_", "(@all)"]
)
def test_a_mention_of_everybody_is_defused(call):
    safe = safe_markdown(f"보세요 {call} 지금")
    assert "@\u200b" in safe
    assert safe.replace("\u200b", "") == f"보세요 {call} 지금"


@pytest.mark.parametrize(
    "call", ["<!channel>", "<!here|here>", "<!subteam^S123>", "<@U123>", "`<!everyone>`", "```\n<!channel>\n```"]
)
def test_slack_control_sequences_are_defused(call):
    assert "<!" not in safe_markdown(call)
    assert "<@" not in safe_markdown(call)


def test_mail_addresses_and_code_stay_as_they_are():
    text = "kim@example.com, `@property`, a@here.org\n\n```python\n@dataclass\nclass A: ...\n```"
    assert safe_markdown(text) == text


def test_a_person_is_not_called():
    assert safe_markdown("@minsu 확인") == "@\u200bminsu 확인"


def test_controls_and_marks_that_turn_text_around_are_removed():
    assert safe_markdown("a\x00\x07\x1b[31mb\u202ec\u2066d\u2028e\ttab\nline\ud800") == "a[31mbcd\ne\ttab\nline"


def test_a_title_cannot_become_a_link():
    evil = Locator(source="s", uri="evil [click](http://bad/).docx", revision="r")
    assert "](http://bad" not in full_markdown(reply(citations=(citation(locator=evil, title=evil.uri),)))


@pytest.mark.parametrize("url", [None, "javascript:alert(1)", "/evidence/x", "https://[bad", "ftp://h/x"])
def test_only_addresses_of_web_servers_become_links(url):
    assert link_address(url) is None
    assert "](" not in full_markdown(reply(citations=(citation(url=url),)))


def test_an_address_cannot_leave_its_parentheses():
    assert link_address("https://h/a b(1)<x>") == "https://h/a%20b%281%29%3Cx%3E"


@pytest.mark.parametrize("name", ["[급여](https://evil.example/a).pdf", "![x](https://evil.example/p.png)"])
def test_names_of_files_become_neither_links_nor_pictures(name):
    text = full_markdown(reply(notices=(f"읽지 않은 파일: {name}",)))
    assert "](" not in text
    assert "https://evil.example/" in text


@pytest.mark.parametrize("link", ["<https://evil.example|사규>", "<mailto:a@evil.example|인사팀>", "<HTTPS://evil|x>"])
def test_no_words_hide_an_address_in_slacks_notation(link):
    assert link not in safe_markdown(f"규정은 {link}에 있습니다")
    assert safe_markdown("<https://docs.example/a>와 a < b | c") == "<https://docs.example/a>와 a < b | c"


def test_characters_without_width_do_not_hide_in_words():
    assert clean_text("연\u200b차\u2060휴\xad가") == "연차휴가"
    assert clean_text("👨\u200d👩\u200d👧 가족") == "👨\u200d👩\u200d👧 가족"
