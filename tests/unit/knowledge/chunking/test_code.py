"""Code becomes whole definitions with their names, lines and calls; whatever else becomes sections and windows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking.code import CODE_CHUNKING_VERSION, chunk_code, cut_code
from knowledge.chunking.code_grammars import GRAMMARS
from knowledge.chunking.code_text import PART_CHARS, words_of
from knowledge.types import ChunkDraft

PYTHON = '''"""Payments."""

import os

RETRIES = 3


# Sends money.
class PaymentService(Base):
    """Pays and pays back."""

    limit = 5

    def __init__(self, gate):
        self.gate = gate

    # Tries again.
    @retry(times=3)
    async def pay(self, order):
        """Pays one order."""
        self.gate.send(order)
        return log(order)

    class Receipt:
        def number(self):
            return os.urandom(4)

    def name(self): return "pay"


def main():
    def inner():
        return 1

    return PaymentService(inner())


if os.name == "nt":
    def windows_only():
        return 2
'''

JAVA = """package shop;

import java.util.List;

/** Orders. */
@Service
@Transactional(readOnly = true)
public class OrderService implements Orders {
    private final List<Item> items = new ArrayList<>();

    public OrderService(Gate gate) {
        this.gate = gate;
    }

    /** Cancels. */
    @Override
    public void cancel(long id) throws NotFound {
        gate.refund(find(id));
    }

    public void cancel(Order order) {
        cancel(order.id());
    }

    public int size() { return items.size(); }

    enum State { OPEN, CLOSED }

    record Line(int count, String name) {
    }
}

interface Orders {
    void cancel(long id);

    /** Finds one. */
    Order find(long id);
}
"""

KOTLIN = """package shop

import a.b.C

/** Cart. */
data class Cart(val items: List<Item>)

sealed interface Event

object Clock {
    fun now(): Long {
        return System.currentTimeMillis()
    }
}

class Shop(private val clock: Clock) : Base() {
    private val open = true

    fun sell(item: Item): Receipt {
        return register.add(item).print()
    }

    fun String.shout(): String {
        return uppercase()
    }

    companion object {
        const val NAME = "shop"

        fun create(): Shop {
            return Shop(Clock)
        }
    }
}

suspend fun List<Item>.total(): Int {
    return sumOf { it.price }
}

typealias Price = Int
"""

TSX = """import React, { useState } from 'react';

/** How many. */
export const useCount = (start: number) => {
  const [count, setCount] = useState(start);
  const add = () => setCount(count + 1);
  return { count, add };
};

interface Props {
  title: string;
}

const Card = memo(({ title }: Props) => {
  return <Panel><Title text={title} /></Panel>;
});

export default function App() {
  return <Card title="a" />;
}

@Injectable()
export class Store<T> extends Base {
  private items: T[] = [];

  @Input()
  @Required()
  async load(id: string): Promise<T> {
    return this.api.fetch(id);
  }

  save = async (item: T) => {
    await this.api.put(item);
  };

  get size() { return this.items.length; }
}

export const ROUTES = {
  home: '/',
  cart: '/cart',
};

enum Color { Red, Green }

export type Id = string;
"""

JAVASCRIPT = """'use strict';
const fs = require('fs');

exports.read = function (path) {
  return fs.readFileSync(path);
};

Reader.prototype.next = function () {
  return this.buffer.shift();
};

module.exports = {
  start() {
    listen(80);
  },
  stop: function () {
    close();
  },
};

describe('reader', () => {
  it('reads', () => {
    function helper() { return 1; }
    expect(helper()).toBe(1);
  });
});
"""

GO = """package shop

import "fmt"

// Cart holds items.
type Cart struct {
	Items []Item
}

type (
	Pricer interface {
		Price() int
	}
)

// Total adds up.
func (c *Cart) Total(tax int) (int, error) {
	return sum(c.Items), fmt.Errorf("no")
}

func (l *List[T]) Push(v T) {
	l.items = append(l.items, v)
}

func Map[T any](in []T) []T {
	return in
}

const A, B = 1, 2
"""

SWIFT = """import Foundation

/// A cart.
@MainActor
public final class Cart: Base {
    var items: [Item] = []

    init(store: Store) {
        self.store = store
    }

    func add(_ item: Item) -> Int {
        return store.save(item)
    }
}

protocol Pricing {
    func price() -> Int
}

extension String {
    func shout() -> String {
        return uppercased()
    }
}

struct Money { let amount: Int }

enum State: String { case open, closed }
"""

SOLIDITY = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./Base.sol";

/// @title Vault
abstract contract Vault is Ownable, Base(1) {
    uint256 private _total;

    event Paid(address to);

    /// Too much.
    error TooMuch(uint256 amount);

    constructor(uint256 total) Base(total) {
        _total = total;
    }

    modifier onlyOpen(uint256 id) {
        require(isOpen(id), "closed");
        _;
    }

    /**
     * @dev Pays out.
     */
    function pay(address to, uint256 id) external onlyOwner onlyOpen(id) returns (bool) {
        emit Paid(to);
        _send(to);
        return true;
    }

    receive() external payable {
        deposit();
    }
}

library Sums {
    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        return a + b;
    }
}

interface IVault {
    function pay(address to, uint256 id) external returns (bool);
}
"""


def by_symbol(uri: str, text: str) -> dict[str, ChunkDraft]:
    found: dict[str, ChunkDraft] = {}
    for draft in chunk_code(uri, text):
        if draft.symbol:
            found.setdefault(draft.symbol, draft)
    return found


def lines(text: str, draft: ChunkDraft) -> list[str]:
    assert draft.start_line is not None
    assert draft.end_line is not None
    return text.splitlines()[draft.start_line - 1 : draft.end_line]


@pytest.mark.parametrize(
    ("uri", "text", "kinds"),
    [
        (
            "shop/pay.py",
            PYTHON,
            {
                "PaymentService": "class",
                "PaymentService.__init__": "method",
                "PaymentService.pay": "method",
                "PaymentService.Receipt": "class",
                "PaymentService.Receipt.number": "method",
                "main": "function",
                "windows_only": "function",
            },
        ),
        (
            "src/OrderService.java",
            JAVA,
            {
                "OrderService": "class",
                "OrderService.OrderService": "constructor",
                "OrderService.cancel": "method",
                "OrderService.State": "enum",
                "OrderService.Line": "record",
                "Orders": "interface",
                "Orders.find": "method",
            },
        ),
        (
            "src/Shop.kt",
            KOTLIN,
            {
                "Cart": "data class",
                "Event": "sealed interface",
                "Clock": "object",
                "Clock.now": "method",
                "Shop": "class",
                "Shop.sell": "method",
                "Shop.shout": "method",
                "Shop.create": "method",
                "List.total": "function",
            },
        ),
        (
            "web/App.tsx",
            TSX,
            {
                "useCount": "hook",
                "Props": "interface",
                "Card": "component",
                "App": "component",
                "Store": "class",
                "Store.load": "method",
                "Store.save": "method",
                "ROUTES": "object",
                "Color": "enum",
            },
        ),
        (
            "web/reader.js",
            JAVASCRIPT,
            {
                "read": "function",
                "Reader.next": "function",
                "reader": "object",
                "reader.start": "method",
                "reader.stop": "method",
            },
        ),
        (
            "shop/cart.go",
            GO,
            {
                "Cart": "struct",
                "Pricer": "interface",
                "Cart.Total": "method",
                "List.Push": "method",
                "Map": "function",
            },
        ),
        (
            "ios/Cart.swift",
            SWIFT,
            {
                "Cart": "class",
                "Cart.init": "constructor",
                "Cart.add": "method",
                "Pricing": "protocol",
                "String": "extension",
                "String.shout": "method",
                "Money": "struct",
                "State": "enum",
            },
        ),
        (
            "contracts/Vault.sol",
            SOLIDITY,
            {
                "Vault": "contract",
                "Vault.TooMuch": "error",
                "Vault.constructor": "constructor",
                "Vault.onlyOpen": "modifier",
                "Vault.pay": "function",
                "Vault.receive": "function",
                "Sums": "library",
                "Sums.add": "function",
                "IVault": "interface",
            },
        ),
    ],
)
def test_definitions_are_found_with_qualified_name_and_kind(uri: str, text: str, kinds: dict[str, str]) -> None:
    assert {symbol: draft.symbol_kind for symbol, draft in by_symbol(uri, text).items()} == kinds


def test_a_method_has_its_comment_decorators_and_body_and_a_signature_without_them() -> None:
    pay = by_symbol("shop/pay.py", PYTHON)["PaymentService.pay"]
    assert lines(PYTHON, pay)[0] == "    # Tries again."
    assert lines(PYTHON, pay)[-1] == "        return log(order)"
    assert pay.text == "\n".join(lines(PYTHON, pay))
    assert pay.signature == "async def pay(self, order)"
    assert pay.calls == ("retry", "send", "log")


def test_annotations_stay_in_the_text_and_out_of_the_signature() -> None:
    found = by_symbol("src/OrderService.java", JAVA)
    assert found["OrderService"].signature == "public class OrderService implements Orders"
    assert found["OrderService"].text.startswith("/** Orders. */\n@Service\n@Transactional(readOnly = true)")
    assert found["OrderService.cancel"].signature == "public void cancel(long id) throws NotFound"
    assert found["OrderService.cancel"].calls == ("refund", "find")
    load = by_symbol("web/App.tsx", TSX)["Store.load"]
    assert lines(TSX, load)[:2] == ["  @Input()", "  @Required()"]


def test_a_class_shows_its_head_and_one_line_for_each_method() -> None:
    head = by_symbol("shop/pay.py", PYTHON)["PaymentService"]
    assert "limit = 5" in head.text
    assert "    async def pay(self, order)\n" in head.text
    assert "self.gate.send" not in head.text
    assert 'def name(self): return "pay"' in head.text
    assert (head.start_line, head.end_line) == (8, 12)
    assert "PaymentService.name" in head.anchors


def test_the_same_name_twice_gives_two_groups() -> None:
    drafts = [d for d in chunk_code("src/OrderService.java", JAVA) if d.symbol == "OrderService.cancel"]
    assert [d.group for d in drafts] == ["OrderService.cancel", "OrderService.cancel#2"]
    twice = chunk_code("a.py", "def f():\n    return 1\n\n\ndef f():\n    return 2\n")
    assert [(d.group, d.start_line) for d in twice] == [("f", 1), ("f#2", 5)]


def test_functions_within_functions_stay_in_them() -> None:
    main = by_symbol("shop/pay.py", PYTHON)["main"]
    assert "def inner():" in main.text
    hook = by_symbol("web/App.tsx", TSX)["useCount"]
    assert "const add" in hook.text


def test_code_of_the_module_is_a_window_without_imports() -> None:
    window = next(d for d in chunk_code("shop/pay.py", PYTHON) if d.kind == "window")
    assert "RETRIES = 3" in window.text
    assert "import os" not in window.text
    assert window.symbol is None
    only_imports = "import os\nfrom sys import path\n\n# nothing more\n"
    assert chunk_code("a.py", only_imports) == []
    assert chunk_code("a/index.ts", "export * from './a';\nexport { b } from './b';\n") == []


def test_a_solidity_function_brings_its_modifiers() -> None:
    found = by_symbol("contracts/Vault.sol", SOLIDITY)
    assert found["Vault.pay"].refers_to == ("onlyOwner", "onlyOpen")
    assert found["Vault.pay"].calls == ("onlyOwner", "onlyOpen", "Paid", "_send")
    assert found["Vault.onlyOpen"].anchors == ("onlyOpen",)
    assert "event Paid(address to);" in found["Vault"].text


def test_default_exports_go_by_the_name_of_their_file_or_folder() -> None:
    body = "export default () => {\n  return start();\n};\n"
    assert list(by_symbol("web/Login.jsx", body)) == ["Login"]
    assert list(by_symbol("web/Login/index.jsx", body)) == ["Login"]


def test_components_in_wrappers_go_by_their_own_names() -> None:
    text = (
        "export const Input = forwardRef<A, P>(({ label }, ref) => {\n  return <label ref={ref}><Icon /></label>;\n});\n"
        "export default React.memo(function Panel({ a }: P) {\n  return <Input label={a} />;\n});\n"
    )
    found = by_symbol("web/form/index.tsx", text)
    assert {name: draft.symbol_kind for name, draft in found.items()} == {"Input": "component", "Panel": "component"}
    assert found["Input"].calls == ("forwardRef", "Icon")
    kotlin = "@Composable\nfun Screen(state: State) {\n    Column { Text(state.name) }\n    load()\n}\n"
    assert by_symbol("ui/Screen.kt", kotlin)["Screen"].symbol_kind == "component"


def test_imports_are_names_of_import_statements_and_not_the_own_package() -> None:
    java = "package shop.orders;\n\nimport shop.pay.Gateway;\n\nclass A {\n    void f() {\n        g();\n    }\n}\n"
    assert cut_code("A.java", java).imports == ("shop", "pay", "Gateway")
    csharp = "namespace Shop.Orders;\nusing Shop.Pay;\nclass A { }\n"
    assert cut_code("A.cs", csharp).imports == ("Shop", "Pay")
    python = "from shop.pay import Gateway as G\nimport os\n\n\ndef f():\n    return 1\n"
    assert cut_code("a.py", python).imports == ("shop", "pay", "Gateway", "os")


def test_a_call_remembers_what_it_is_called_on_and_its_first_line() -> None:
    text = "def f(order):\n    order.gate.send(1)\n    send(2)\n    Order(3)\n    self.items[0].send()\n"
    sites = {site.name: (site.line, site.receivers) for site in chunk_code("a.py", text)[0].call_sites}
    assert sites == {"send": (2, ("gate", "", "items")), "Order": (4, ("",))}


def test_what_could_not_be_parsed_is_told_in_constant_sentences() -> None:
    assert cut_code("a.py", PYTHON).warnings == ()
    assert cut_code("a.py", "def f(:\n").warnings == cut_code("b.go", "func (((\n").warnings != ()
    assert cut_code("a.ts", "function a(b){return b+1};" * 400).warnings != ()


def test_the_index_text_begins_with_path_and_name_in_words() -> None:
    draft = by_symbol("src/OrderService.java", JAVA)["OrderService.cancel"]
    assert draft.index_text.splitlines()[:2] == [
        "src/OrderService.java",
        "method OrderService.cancel: order service cancel",
    ]
    assert words_of("HTTPServer.sendAll_v2 주문Service") == "http server send all v 2 주문 service"


def test_a_long_body_is_cut_at_statements_and_repeats_its_signature() -> None:
    blocks = "".join(
        f"    if ready({n}):\n        first_step({n})\n        second_step({n}, 'text')\n" for n in range(150)
    )
    text = f'def long(order):\n    """Long."""\n{blocks}'
    drafts = chunk_code("a.py", text)
    assert len(drafts) > 2
    assert {d.group for d in drafts} == {"long"}
    assert all(d.text.startswith("def long(order)") for d in drafts)
    assert all(lines(text, d)[0].startswith("    if ready(") for d in drafts[1:])
    assert all(len(d.text) <= PART_CHARS + 200 for d in drafts)
    covered = [n for d in drafts for n in range(d.start_line or 0, (d.end_line or 0) + 1)]
    assert covered == list(range(1, text.count("\n") + 1))


def test_a_large_class_head_is_cut_and_its_parts_name_their_own_lines() -> None:
    fields = "".join(f'    private final String field{n} = "value of the field";\n' for n in range(150))
    text = f"class Wide {{\n{fields}    void run() {{\n        go();\n    }}\n}}\n"
    drafts = [d for d in chunk_code("Wide.java", text) if d.symbol == "Wide"]
    assert len(drafts) > 1
    assert {d.group for d in drafts} == {"Wide"}
    assert all(d.text.startswith("class Wide") for d in drafts)
    for before, after in pairwise(drafts):
        assert (before.end_line or 0) < (after.start_line or 0)


def test_broken_code_keeps_what_can_be_read_and_shows_the_rest_as_windows() -> None:
    text = "def good():\n    return 1\n\nx = = lost words\n\ndef also_good():\n    return 2\n"
    drafts = chunk_code("a.py", text)
    assert {"good", "also_good"} <= {d.symbol for d in drafts}
    assert any(d.kind == "window" and "lost words" in d.text for d in drafts)
    worse = "def good():\n    return 1\n\nclass {{{ ???\n  = = lost words\n\ndef swallowed():\n    return 2\n"
    drafts = chunk_code("a.py", worse)
    assert drafts[0].symbol == "good"
    assert any(d.kind == "window" and "lost words" in d.text and "swallowed" in d.text for d in drafts)


def test_markdown_is_cut_at_headings_outside_code() -> None:
    text = "intro\n\n# Setup\n\n```sh\n# not a heading\n```\n\n## Linux\n\nUse apt.\n\n# Run\n\ngo\n"
    drafts = chunk_code("README.md", text)
    assert [(d.kind, d.label, d.start_line) for d in drafts] == [
        ("window", None, 1),
        ("section", "Setup", 3),
        ("section", "Setup > Linux", 9),
        ("section", "Run", 13),
    ]


def test_underlined_headings_are_headings() -> None:
    text = "Title\n=====\n\ntext\n\nPart\n----\n\nmore\n"
    assert [d.label for d in chunk_code("doc.rst", text)] == ["Title", "Title > Part"]


def test_configuration_is_cut_at_top_level_keys() -> None:
    text = "".join(f"service_{n}:\n  image: shop\n  ports:\n    - {n}\n" for n in range(200))
    drafts = chunk_code("deploy/compose.yml", text)
    assert len(drafts) > 1
    assert all(lines(text, d)[0].startswith("service_") for d in drafts)
    assert all(d.kind == "section" and d.symbol == f"service_{place}" for place, d in enumerate(drafts))


@pytest.mark.parametrize("suffix", sorted(GRAMMARS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n \n",
        "\0\0",
        "}}}}",
        "x = '\ud800'\n",
        "\ufeffclass A {}\n",
        "(" * 20_000 + ")" * 20_000,
        "class A {\n" * 400 + "}\n" * 400,
    ],
    ids=["empty", "blank", "nul", "closers", "surrogate", "bom", "deep", "nested"],
)
def test_odd_text_never_fails(suffix: str, text: str) -> None:
    for draft in chunk_code(f"a.{suffix}", text):
        assert 1 <= (draft.start_line or 0) <= (draft.end_line or 0) <= text.count("\n") + 1
        assert len(draft.index_text) < 3 * PART_CHARS


def test_a_megabyte_in_one_line_gives_little() -> None:
    drafts = chunk_code("app.ts", "function a(b){return b+1};" * 40_000)
    assert len(drafts) == 1
    assert len(drafts[0].index_text) < 2000


def test_carriage_returns_do_not_move_lines() -> None:
    drafts = chunk_code("a.py", PYTHON.replace("\n", "\r\n"))
    assert [(d.symbol, d.start_line, d.end_line, d.text) for d in drafts] == [
        (d.symbol, d.start_line, d.end_line, d.text) for d in chunk_code("a.py", PYTHON)
    ]


_SAMPLES = {
    "py": PYTHON,
    "java": JAVA,
    "kt": KOTLIN,
    "tsx": TSX,
    "js": JAVASCRIPT,
    "go": GO,
    "swift": SWIFT,
    "sol": SOLIDITY,
}


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(_SAMPLES)), st.data())
def test_damaged_files_give_chunks_within_their_lines(suffix: str, data: st.DataObject) -> None:
    text = _SAMPLES[suffix]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 80)))
    damaged = text[:start] + data.draw(st.text(alphabet="{}()[]\"'`;\n가", max_size=8)) + text[end:]
    drafts = chunk_code(f"a.{suffix}", damaged)
    for draft in drafts:
        assert 1 <= (draft.start_line or 0) <= (draft.end_line or 0) <= damaged.count("\n") + 1
        assert draft.text.strip()
    assert drafts == chunk_code(f"a.{suffix}", damaged)


def test_the_version_is_part_of_the_interface() -> None:
    assert CODE_CHUNKING_VERSION
