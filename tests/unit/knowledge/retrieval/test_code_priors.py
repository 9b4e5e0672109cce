"""What nobody looks for stands behind: tests, change logs, declarations; by whole names, never by a part of one."""

from __future__ import annotations

import pytest

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_links import likely_first
from knowledge.retrieval.code_priors import code_prior, is_test_path, path_prior
from tests.unit.knowledge.retrieval.corpus import chunk


@pytest.mark.parametrize(
    "path",
    [
        "src/test/java/shop/OrderServiceTest.java",
        "tests/pay.py",
        "shop/test_pay.py",
        "spec/models/order_spec.rb",
        "test/order_test.rb",
        "src/Shop.Tests/OrderTests.cs",
        "test/Shop.PerformanceTests/Load.cs",
        "src/cart.spec.ts",
        "contracts/Vault.t.sol",
        "src/parser/tests.rs",
        "tests/Unit/OrderTest.php",
        "src/test/scala/OrderSpec.scala",
    ],
)
def test_tests_are_known_by_their_folders_and_file_names(path: str) -> None:
    assert is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/shop/PerfTestService.java",
        "src/contest/order.py",
        "src/latest/pay.ts",
        "src/Attestation.cs",
        "lib/testament.rb",
        "src/TestimonialController.php",
    ],
)
def test_a_part_of_a_name_makes_no_test(path: str) -> None:
    assert not is_test_path(path)


@pytest.mark.parametrize(
    ("path", "behind"),
    [
        ("CHANGELOG.md", "README.md"),
        ("ChangeLog", "README.md"),
        ("lib/NEWS", "lib/README"),
        ("docs/release-notes-2.md", "docs/install.md"),
        ("audits/2017-03.md", "docs/install.md"),
        ("README.md", "src/shop.py"),
        ("src/main/resources/messages/ko.properties", "src/main/resources/application.properties"),
        ("web/locales/ko.yml", "config/web.yml"),
    ],
)
def test_change_logs_stand_behind_documents_and_those_behind_code(path: str, behind: str) -> None:
    assert path_prior(path) < path_prior(behind)


def test_what_does_the_work_stands_before_what_declares_it() -> None:
    body = "public void pay(long id) {\n    gate.send(id);\n    log(id);\n    done();\n}"
    head = "/**\n * Pays.\n * @param id of the order {@code 1}\n */\nvoid pay(long id);"
    works = chunk("a", body, source="shop", uri="src/Pay.java", symbol="Pay.pay", lines=(1, 9), symbol_kind="method")
    says = chunk("b", head, source="shop", uri="src/IPay.java", symbol="IPay.pay", lines=(1, 5), symbol_kind="method")
    assert code_prior(says, about_tests=False) < code_prior(works, about_tests=False)
    kotlin = chunk("c", "/** Pays. */\n// now\n// or later\nfun pay(id: Long) = gate.send(id)", source="shop",
                   uri="a/Pay.kt", symbol="Pay.pay", lines=(1, 4), symbol_kind="method")  # fmt: skip
    assert code_prior(kotlin, about_tests=False) == code_prior(works, about_tests=False)


def test_a_test_beside_the_code_is_known_by_its_mark_or_module() -> None:
    marked = chunk("a", "#[test]\nfn adds_up() {\n    a();\n    b();\n}", source="s", uri="src/sum.rs",
                   symbol="adds_up", lines=(1, 5), symbol_kind="function")  # fmt: skip
    inside = chunk("b", "fn helper() {\n    a();\n    b();\n    c();\n}", source="s", uri="src/sum.rs",
                   symbol="tests.helper", lines=(1, 5), symbol_kind="function")  # fmt: skip
    for one in (marked, inside):
        assert code_prior(one, about_tests=False) == 0.5
        assert code_prior(one, about_tests=True) == 1.0


def test_change_logs_and_tests_do_not_take_the_places_of_code() -> None:
    log, test, code = (
        Candidate(chunk=chunk(uri, "body", source="s", uri=uri, symbol=uri), rrf=rrf)
        for uri, rrf in (("CHANGELOG.md", 0.030), ("tests/test_pay.py", 0.029), ("shop/pay.py", 0.02))
    )
    assert likely_first([log, test, code], about_tests=False)[0] is code
    assert likely_first([log, test, code], about_tests=True)[0] is test
