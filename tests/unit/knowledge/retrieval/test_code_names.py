"""Which definition a question means when it writes out a name."""

from __future__ import annotations

import pytest

from knowledge.retrieval.code_names import how_surely_named
from knowledge.retrieval.question import understand
from tests.unit.knowledge.retrieval.corpus import chunk


@pytest.mark.parametrize(
    ("question", "uri", "symbol", "surely"),
    [
        ("hc.accounts.views.check_token fails for long names", "hc/accounts/views.py", "check_token", 1.0),
        ("views.check_token fails", "hc/accounts/views.py", "check_token", 1.0),
        ("hc.accounts.views.check_token fails", "hc/front/views.py", "check_token", 0.0),
        ("com.acme.pay.PayService.charge is called twice", "src/main/java/com/acme/pay/PayService.java",
         "PayService.charge", 1.0),
        ("com.acme.pay.PayService.charge is called twice", "src/main/java/com/acme/old/PayService.java",
         "PayService.charge", 0.0),
        ("com.acme.pay.PayService is a bean twice", "src/main/java/com/acme/pay/PayService.java", "PayService", 1.0),
        ("storage::feeds::find_due never ends", "crates/storage/src/feeds.rs", "find_due", 1.0),
        ("storage::feeds::find_due never ends", "crates/archive/src/feeds.rs", "find_due", 0.25),
        ("feeds::find_due never ends", "crates/storage/src/feeds.rs", "find_due", 1.0),
        ("PayService.charge is called twice", "src/PayService.java", "PayService.charge", 1.0),
        ("`charge` is called twice", "src/PayService.java", "PayService.charge", 0.25),
        ("the charge is booked twice", "src/PayService.java", "PayService.charge", 0.0),
    ],
)  # fmt: skip
def test_a_name_with_its_class_module_or_package_means_one_definition(
    question: str, uri: str, symbol: str, surely: float
) -> None:
    one = chunk("a", "text", source="s", uri=uri, symbol=symbol)
    assert how_surely_named(understand(question, "code").identifiers, one) == surely


def test_a_part_of_a_file_outside_of_definitions_has_no_name() -> None:
    assert how_surely_named(("a.b",), chunk("a", "text", source="s", uri="a/b.py")) == 0.0
