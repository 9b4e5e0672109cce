"""The words of code: what is kept of them."""

from __future__ import annotations

import tracemalloc

from bot.code_terms import CodeWords
from bot.word_forms import forms_of


def test_words_are_held_by_the_beginning_that_they_share():
    words = CodeWords(["def refundPayment(): authentication_failed()"])
    held = [form.word for form in forms_of("refund payments by authenticating invoices") if words.holds(form)]
    assert {"refund", "payments"} <= set(held)
    assert "invoices" not in held


def test_encoded_data_in_code_takes_no_more_memory_than_its_length():
    tracemalloc.start()
    try:
        words = CodeWords(["token = " + "a" * 4_000])
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 500_000
    assert all(map(words.holds, forms_of("token")))
