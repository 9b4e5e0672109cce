"""Which words are the same: forms of one word, beginnings of compounds, words of one meaning; and which are not."""

from __future__ import annotations

import pytest

from bot.word_forms import Vocabulary, forms_of, stems_of, unheld


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("제출하여야", "제출"), ("줍니다", "주"), ("직원에게는", "직원"), ("시행되었습니다", "시행"), ("받는다", "받"),
        ("받으면", "받"), ("준다", "주"), ("지원받습니다", "지원"), ("released", "relea"),
    ],
)  # fmt: skip
def test_the_stem_of_a_word(word, stem):
    assert stem in stems_of(word)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ("복직원을 제출하여야 한다", "복직원을 내야 합니다"),
        ("재택 근무를 신청한다", "재택근무를 신청할 수"),
        ("연차휴가를 준다", "연차를 받습니다"),
        ("출장을 마치면 보고서를 낸다", "출장보고서를 제출합니다"),
        ("수습사원은 제외한다", "수습사원은"),
        ("employees must notify HR", "staff have to inform HR"),
    ],
)
def test_other_forms_and_words_of_one_meaning_are_held(evidence, said):
    assert [form.word for form in unheld(forms_of(said), Vocabulary([evidence]))] == []


@pytest.mark.parametrize(
    ("evidence", "said", "missing"),
    [
        ("본부장이 승인한다", "부장이 승인합니다", "부장이"),
        ("개인정보보호책임자가 알린다", "정보보호책임자가 알립니다", "정보보호책임자가"),
        ("임직원에게 육아휴직을 준다", "임직원에게 휴직을 줍니다", "휴직을"),
        ("the release captain writes the notes", "the QA lead writes the notes", "qa"),
    ],
)
def test_a_word_inside_another_one_is_another_word(evidence, said, missing):
    assert unheld(forms_of(said), Vocabulary([evidence]))[0].word == missing


def test_particles_tell_what_part_a_word_has():
    assert [(form.stem, form.role) for form in forms_of("팀장이 직원에게 서류를")] == [
        ("팀장", "agent"),
        ("직원", "to"),
        ("서류", "object"),
    ]


def test_auxiliaries_and_words_of_grammar_say_nothing():
    assert forms_of("할 수 있습니다. 그러나 하여야 한다. you must not") == ()
