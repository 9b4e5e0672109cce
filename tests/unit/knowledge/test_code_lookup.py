"""A definition is found by name and by place, and with it what calls it, what it uses, and who changed it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from knowledge.errors import NotFound
from knowledge.types import Chunk, Scope, SourceConfig
from tests.unit.knowledge.shelf import Shelf, git

EVERYTHING = Scope.everything()

FILES = {
    "src/shop/orders/OrderService.java": """package shop.orders;

import shop.payments.PaymentGateway;

public class OrderService implements Orders {
    private final PaymentGateway gateway;

    public OrderService(PaymentGateway gateway) {
        this.gateway = gateway;
    }

    /** Cancels an order and gives the money back. */
    public void cancel(long id) {
        Order order = get(id);
        gateway.refund(order);
    }

    public Order get(long id) {
        return cache.get(id);
    }

    public void cancelAll(List<Long> ids) {
        ids.forEach(id -> cancel(id));
        log.info("cancelled");
    }
}
""",
    "src/shop/orders/Orders.java": """package shop.orders;

/** What can be done with orders. */
public interface Orders {
    /** Cancels an order. */
    void cancel(long id);
}
""",
    "src/shop/web/OrderController.java": """package shop.web;

import shop.orders.Orders;

public class OrderController {
    private final Orders orders;

    public void onCancel(Request request) {
        orders.cancel(request.id());
        audit.write(request);
    }
}
""",
    "src/shop/jobs/TimerJob.java": """package shop.jobs;

import java.util.Timer;

public class TimerJob {
    public void stop(Timer timer) {
        timer.cancel();
        timer.get(1);
    }
}
""",
    "src/shop/payments/PaymentGateway.java": """package shop.payments;

public class PaymentGateway {
    public void refund(Order order) {
        client.send(order.total());
        log(order);
    }
}
""",
    "src/test/java/shop/OrderServiceTest.java": """package shop;

import shop.orders.OrderService;

class OrderServiceTest {
    @Test
    void cancels() {
        new OrderService(gateway).cancel(1);
        verify(gateway);
    }
}
""",
    "contracts/Ownable.sol": """// SPDX-License-Identifier: MIT
contract Ownable {
    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }
}
""",
    "contracts/Other.sol": """// SPDX-License-Identifier: MIT
contract Other {
    modifier onlyOwner() {
        revert("never");
        _;
    }
}
""",
    "contracts/Vault.sol": """// SPDX-License-Identifier: MIT
import "./Ownable.sol";

abstract contract Base is Ownable {
    uint256 internal total;
}

contract Vault is Base {
    modifier open() {
        require(!closed, "closed");
        _;
    }

    function payOut(address to) external onlyOwner open {
        total -= 1;
        send(to);
    }
}
""",
}


def _filled(place: Path) -> Shelf:
    shelf = Shelf(place)
    shelf.sources = (SourceConfig(name="shop", kind="repository", path=shelf.folder),)
    git(shelf.folder, "init", "-q", "-b", "main")
    for name, text in FILES.items():
        shelf.write(name, text)
    git(shelf.folder, "add", "-A")
    git(shelf.folder, "commit", "-q", "-m", "Orders can be cancelled")
    shelf.sync()
    return shelf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """The repository as it is, for tests that only read."""
    shelf = _filled(tmp_path_factory.mktemp("read"))
    yield shelf
    shelf.close()


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[Shelf]:
    """The repository for a test that commits to it."""
    shelf = _filled(tmp_path)
    yield shelf
    shelf.close()


def found(shelf: Shelf, symbol: str, uri_end: str = "") -> Chunk:
    chunks = shelf.knowledge.definition(symbol, scope=EVERYTHING)
    return next(chunk for chunk in chunks if chunk.locator.uri.endswith(uri_end))


def callers(shelf: Shelf, symbol: str, uri_end: str = "") -> list[str | None]:
    chunk = found(shelf, symbol, uri_end)
    return [caller.symbol for caller in shelf.knowledge.callers(chunk.id, scope=EVERYTHING)]


def test_callers_come_from_the_file_and_from_files_that_import_the_class_or_its_interface(shelf: Shelf) -> None:
    assert callers(shelf, "OrderService.cancel") == [
        "OrderService.cancelAll",
        "OrderController.onCancel",
        "OrderServiceTest.cancels",
    ]
    assert callers(shelf, "PaymentGateway.refund") == ["OrderService.cancel"]


def test_a_caller_is_one_line_with_the_place_of_the_call(shelf: Shelf) -> None:
    chunk = found(shelf, "PaymentGateway.refund")
    (caller,) = shelf.knowledge.callers(chunk.id, scope=EVERYTHING)
    assert caller.signature == "public void cancel(long id)"
    place = caller.locator
    assert (place.uri, place.start_line) == ("src/shop/orders/OrderService.java", 15)
    assert "gateway.refund(order)" in FILES[place.uri].splitlines()[place.start_line - 1]


def test_a_name_that_is_everywhere_names_no_foreign_callers(shelf: Shelf) -> None:
    assert callers(shelf, "OrderService.get") == ["OrderService.cancel"]  # not timer.get, not cache.get


def test_a_constructor_is_called_by_what_makes_one(shelf: Shelf) -> None:
    assert callers(shelf, "OrderService.OrderService") == ["OrderServiceTest.cancels"]


def test_search_tells_the_callers_of_what_it_finds_and_the_scope_limits_them(shelf: Shelf) -> None:
    evidence = shelf.knowledge.search("give the money back: refund of an order", scope=EVERYTHING, kind="code")
    refund = next(c for c in evidence.chunks if c.chunk.locator.symbol == "PaymentGateway.refund")
    assert [caller.symbol for caller in refund.callers] == ["OrderService.cancel"]
    with pytest.raises(NotFound):
        shelf.knowledge.callers(refund.chunk.id, scope=Scope.of())


def test_callers_follow_a_change_of_the_calling_file(changing: Shelf) -> None:
    changing.write("src/shop/orders/OrderService.java", "package shop.orders;\n\npublic class OrderService {\n}\n")
    git(changing.folder, "commit", "-q", "-am", "Orders stay")
    changing.sync()
    assert callers(changing, "PaymentGateway.refund") == []


def test_a_solidity_function_brings_its_own_and_inherited_modifiers(shelf: Shelf) -> None:
    evidence = shelf.knowledge.search("payOut of the vault", scope=EVERYTHING, kind="code", top_k=4)
    pay = evidence.chunks[0]
    assert pay.chunk.locator.symbol == "Vault.payOut"
    brought = [c.chunk.locator.symbol for c in evidence.chunks if c.via == pay.chunk.id]
    assert set(brought) == {"Ownable.onlyOwner", "Vault.open"}
    assert len(evidence.chunks) <= 4


def test_a_definition_is_found_by_its_full_name_its_end_and_other_spellings(shelf: Shelf) -> None:
    names = ("OrderService.cancel", "shop.orders.OrderService.cancel", "OrderService::cancel", "OrderService#cancel")
    for name in names:
        assert found(shelf, name).locator.symbol == "OrderService.cancel"
    both = [c.locator.symbol for c in shelf.knowledge.definition("cancel", scope=EVERYTHING)]
    assert both[0] == "OrderService.cancel"  # the one that does the work
    assert shelf.knowledge.definition("nothing.like.it", scope=EVERYTHING) == ()
    assert shelf.knowledge.definition("cancel", scope=Scope.of()) == ()


def test_a_line_gives_the_definition_around_it(shelf: Shelf) -> None:
    uri = "src/shop/orders/OrderService.java"

    def at(line: int, scope: Scope = EVERYTHING) -> str | None:
        chunk = shelf.knowledge.definition_at("shop", uri, line, scope=scope)
        return chunk.locator.symbol if chunk is not None else None

    assert (at(15), at(12), at(6)) == ("OrderService.cancel", "OrderService.cancel", "OrderService")
    assert at(400) is None
    assert at(15, Scope.of("rules")) is None


def test_a_line_of_another_commit_is_followed_to_the_indexed_one(changing: Shelf) -> None:
    uri = "src/shop/orders/OrderService.java"
    first = git(changing.folder, "rev-parse", "HEAD").strip()
    changing.write(uri, "// one\n// two\n// three\n" + FILES[uri].replace("return cache.get(id);", "return null;"))
    git(changing.folder, "commit", "-q", "-am", "Three lines more")
    changing.sync()

    def at(line: int) -> str | None:
        chunk = changing.knowledge.definition_at("shop", uri, line, scope=EVERYTHING, revision=first)
        return chunk.locator.symbol if chunk is not None else None

    assert at(13) == "OrderService.cancel"
    assert at(19) is None  # that line is not there any more
    with pytest.raises(NotFound):
        changing.knowledge.definition_at("shop", uri, 13, scope=EVERYTHING, revision="0" * 40)


def test_blame_and_history_name_the_commits_of_the_lines(changing: Shelf) -> None:
    uri = "src/shop/orders/OrderService.java"
    changing.write(uri, FILES[uri].replace("gateway.refund(order);", "gateway.refund(order.paid());"))
    git(changing.folder, "commit", "-q", "-am", "Refund what was paid password=hunter2hunter2")
    changing.sync()
    changes = changing.knowledge.blame("shop", uri, 13, 16, scope=EVERYTHING)
    assert [(c.start_line, c.end_line, c.author) for c in changes] == [(13, 14, "t"), (15, 15, "t"), (16, 16, "t")]
    assert changes[0].commit != changes[1].commit == git(changing.folder, "rev-parse", "HEAD").strip()
    assert "hunter2" not in changes[1].summary
    history = changing.knowledge.log_of_lines("shop", uri, 13, 16, scope=EVERYTHING)
    assert [c.summary for c in history][-1] == "Orders can be cancelled"
    assert len(history) == 2
    assert len(changing.knowledge.log_of_lines("shop", uri, 13, 16, scope=EVERYTHING, limit=1)) == 1
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert changing.knowledge.log_of_lines("shop", uri, 13, 16, scope=EVERYTHING, since=tomorrow) == ()
    with pytest.raises(NotFound):
        changing.knowledge.blame("shop", uri, 1, 2, scope=Scope.of("rules"))
    with pytest.raises(NotFound):
        changing.knowledge.blame("shop", "src/none.java", 1, 2, scope=EVERYTHING)


def test_status_counts_files_that_could_not_be_parsed_whole(changing: Shelf) -> None:
    changing.write("src/broken.py", "def good():\n    return 1\n\nclass {{{ ???\n  = = lost\n")
    changing.write("src/wide.ts", "function a(b){return b+1};" * 60 + "\n" + "const c = 1;\n" * 20)
    git(changing.folder, "add", "-A")
    git(changing.folder, "commit", "-q", "-m", "Broken")
    changing.sync()
    (status,) = changing.knowledge.status(scope=EVERYTHING)
    assert sum(status.warned.values()) == 2
    assert all("windows of lines" in reason for reason in status.warned)
