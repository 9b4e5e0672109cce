"""Replies within Slack's limits: checked against what the emulator rejects as Slack does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.platforms.slack_format import FORMS, growing_part, message_fields, parts_of, private_part, status_part
from bot.platforms.slack_mrkdwn import aligned, plain_tables, to_mrkdwn
from bot.types import Reply, ThreadRef
from tests.emulators.slack_blocks import check_message

THREAD = ThreadRef(platform="slack", channel_id="C1", root_id="1.1")


def reply(text: str, **changes: object) -> Reply:
    fields = {"thread": THREAD, "markdown": text, "citations": (), "delivery_id": "C1:1.1", "final": True}
    return Reply(**{**fields, **changes})


def blocks_of(text: str, form: str = "markdown") -> list[dict]:
    return [block for part in parts_of(reply(text)) for block in message_fields(part, form)["blocks"]]


HARD = [
    "짧은 답 [1]",
    "가" * 100_000,
    "\n\n".join(f"문단 {n}. " + "내용 " * 300 for n in range(40)),
    "```python\n" + "x = 1  # <a & b>\n" * 3000 + "```",
    "| 구분 | 금액 |\n|---|---|\n" + "\n".join(f"| 항목 {n} | {n},000원 |" for n in range(400)),
    "&<>" * 9_000,
    "<!channel> <@U1> @here " * 500,
    "\u202e거꾸로\u2066 \x00\x07",
    "",
]


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_part_is_accepted(text, form):
    for part in [*parts_of(reply(text)), *private_part(text), growing_part(text), status_part(text[:200])]:
        check_message(message_fields(part, form))


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="가a&<>|`*_~[]()#-\n @!:1", max_size=3000))
def test_no_text_makes_a_message_that_slack_rejects(text):
    for form in FORMS:
        for part in parts_of(reply(text)):
            check_message(message_fields(part, form))


def test_nothing_is_lost_when_a_long_answer_is_split():
    text = "\n\n".join(f"문단 {n}: " + "내용 " * 50 for n in range(100))
    shown = "\n\n".join(block["text"] for block in blocks_of(text) if block["type"] == "markdown")
    assert [f"문단 {n}:" in shown for n in range(100)] == [True] * 100


@pytest.mark.parametrize("form", ["sections", "text"])
def test_older_forms_lose_nothing_either(form):
    text = "\n\n".join(f"문단 {n}: " + "a < b & c " * 50 for n in range(60))
    fields = [message_fields(part, form) for part in parts_of(reply(text))]
    shown = "".join(
        f["text"] if form == "text" else "".join(b["text"]["text"] for b in f["blocks"] if b["type"] == "section")
        for f in fields
    )
    assert [f"문단 {n}:" in shown for n in range(60)] == [True] * 60


def test_buttons_close_the_last_part_of_a_final_reply_and_name_the_delivery():
    parts = parts_of(reply("문단\n\n" * 4000))
    assert len(parts) > 1
    assert [part.vote_on for part in parts] == [None] * (len(parts) - 1) + ["C1:1.1"]
    buttons = message_fields(parts[-1], "markdown")["blocks"][-1]["elements"]
    assert [button["value"] for button in buttons] == ["up:C1:1.1", "down:C1:1.1", "wrong:C1:1.1"]


def test_failures_and_unfinished_replies_have_no_buttons():
    assert parts_of(reply("오류", kind="error"))[0].vote_on is None
    assert parts_of(reply("아직", final=False))[0].vote_on is None


@pytest.mark.parametrize(
    "call", ["<!channel>", "<!here|here>", "<@U1>", "<!subteam^S1>", "@channel", "@here", "@everyone"]
)
@pytest.mark.parametrize("form", FORMS)
def test_generated_text_calls_nobody(call, form):
    for place in (f"보세요 {call}", f"`{call}`", f"[{call}](https://x.example)", f"| a |\n|---|\n| {call} |"):
        fields = message_fields(parts_of(reply(place))[0], form)
        texts = [fields["text"], *(str(b.get("text")) for b in fields.get("blocks", ()))]
        assert not any(call in text for text in texts)
        assert not any(sign in text for text in texts for sign in ("<!", "<@"))


def test_code_places_do_not_turn_into_pictures():
    block = blocks_of("pay.py:100: error\n\n`a:100:b`")[0]["text"]
    assert ":100:" not in block.split("\n")[0]
    assert "`a:100:b`" in block


def test_the_first_table_is_left_to_slack_and_further_ones_become_aligned_code():
    table = "| 구분 | 숙박비 |\n|---|---|\n| 서울 | 70,000원 |"
    text = blocks_of(f"{table}\n\n다음\n\n{table}")[0]["text"]
    assert text.count("| 서울 | 70,000원 |") == 1
    assert "```\n구분  숙박비\n----  --------\n서울  70,000원\n```" in text


def test_a_table_that_is_too_wide_for_slack_becomes_code():
    wide = "|" + "a|" * 25 + "\n|" + "---|" * 25 + "\n|" + "1|" * 25
    assert plain_tables(wide, keep=1).startswith("```")


def test_hangul_counts_double_in_aligned_columns():
    assert aligned([["구분", "b"], ["가나다", "1"]]) == "구분    b\n------  -\n가나다  1"


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("## 제목", "*제목*"),
        ("**굵게** 보통", "*굵게* 보통"),
        ("[문서](https://x.example/a?b=1&c=2)", "<https://x.example/a?b=1&amp;c=2|문서>"),
        ("[a|b>c](https://x.example)", "<https://x.example|a¦b&gt;c>"),
        ("[js](javascript:alert(1))", "[js](javascript:alert(1))"),
        ("- 항목\n  - 안쪽", "• 항목\n  • 안쪽"),
        ("`a < b`", "`a &lt; b`"),
        ("~~취소~~", "~취소~"),
        ("> 인용 & 더", "> 인용 &amp; 더"),
        ("```py\n**x** < 1\n```", "```\n**x** &lt; 1\n```"),
        ("```\nopen", "```\nopen\n```"),
    ],
)
def test_markdown_in_the_older_notation(markdown, mrkdwn):
    assert to_mrkdwn(markdown) == mrkdwn


def test_a_growing_text_shows_its_beginning_when_it_is_longer_than_a_message():
    part = growing_part("문장입니다. " * 5000)
    assert part.markdown.endswith("…")
    assert part.markdown.startswith("문장입니다.")
