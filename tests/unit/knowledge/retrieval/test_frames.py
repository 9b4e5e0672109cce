"""Stack traces of every language that is read, and the chunks they lead to."""

import pytest

from knowledge.retrieval.frames import find_files, find_frames
from knowledge.retrieval.places import locate_frames
from tests.unit.knowledge.retrieval.corpus import MemoryCatalog, chunk

PYTHON = """Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/flask/app.py", line 1949, in full_dispatch_request
  File "/app/shop/handlers/orders.py", line 31, in post
  File "/app/shop/payment.py", line 57, in <lambda>
ValueError: no amount"""


@pytest.mark.parametrize(
    ("text", "file", "line", "symbol"),
    [
        (
            "java.lang.NullPointerException\n\tat app//com.shop.pay.PaymentService.retry(PaymentService.java:45)",
            "com/shop/pay/PaymentService.java",
            45,
            "PaymentService.retry",
        ),
        (
            "\tat com.shop.Downloader$queueAll$1.invokeSuspend(Downloader.kt:48)",
            "com/shop/Downloader.kt",
            48,
            "Downloader.queueAll",
        ),
        ("\tat com.shop.Installer.onDestroy(SourceFile:11)", "com/shop/Installer.", None, "Installer.onDestroy"),
        (
            "    at useCart (webpack-internal:///./src/hooks/useCart.ts:41:17)",
            "src/hooks/useCart.ts",
            41,
            "useCart",
        ),
        ("    at async Server.handle (/srv/app/dist/server.js:10:5)", "srv/app/dist/server.js", 10, "Server.handle"),
        ("render@http://localhost:3000/static/app.js:12:3", "static/app.js", 12, "render"),
        (
            "main.(*Service).Retry(0xc000)\n\t/home/me/shop/pay/service.go:88 +0x1a5",
            "home/me/shop/pay/service.go",
            88,
            "Service.Retry",
        ),
        (
            "3 App 0x0 PaymentService.retry(_:) + 84 (PaymentService.swift:57)",
            "PaymentService.swift",
            57,
            "PaymentService.retry",
        ),
        ("src/app.py:42 에서 오류가 납니다", "src/app.py", 42, None),
        (
            "   at Shop.Orders.OrderService.Cancel(Int64 id) in C:\\src\\Orders\\OrderService.cs:line 42",
            "src/Orders/OrderService.cs",
            42,
            "OrderService.Cancel",
        ),
        (
            "   at Shop.OrderService.<CancelAsync>d__5.MoveNext() in /src/OrderService.cs:line 7",
            "src/OrderService.cs",
            7,
            "OrderService.CancelAsync",
        ),
        ("   at Shop.OrderService.Cancel(Int64 id)", "OrderService.cs", None, "OrderService.Cancel"),
        (
            "   2: shop::cart::Cart::total::h0123456789abcdef\n             at ./src/cart.rs:88:14",
            "src/cart.rs",
            88,
            "Cart.total",
        ),
        ("thread 'main' panicked at src/cart.rs:88:14:\nno total", "src/cart.rs", 88, None),
        ("/app/lib/shop/order.rb:12:in `block in pay': undefined method", "app/lib/shop/order.rb", 12, "pay"),
        ("\tfrom app/models/order.rb:7:in 'Shop::Order#pay'", "app/models/order.rb", 7, "Shop.Order.pay"),
        ("PHP Fatal error:  Uncaught Error in /app/src/Order.php:12", "app/src/Order.php", 12, None),
        ("#0 /app/src/Shop.php(44): App\\Order->pay()", "app/src/Shop.php", 44, None),
        ("    #1 0x55d0 in cart_total /src/cart.c:31:5", "src/cart.c", 31, "cart_total"),
    ],
)
def test_one_frame_of_each_language(text: str, file: str, line: int | None, symbol: str | None) -> None:
    frame = find_frames(text)[0]
    assert (frame.file, frame.line, frame.symbol) == (file, line, symbol)


def test_python_frames_come_innermost_first() -> None:
    frames = find_frames(PYTHON)
    assert [frame.line for frame in frames] == [57, 31, 1949]
    assert frames[0].symbol is None


def test_prose_holds_no_frames() -> None:
    assert find_frames("결제가 실패하면 몇 번 다시 시도하나요? e.g. at night") == []


def test_files_of_a_question() -> None:
    assert find_files("why does src/pay/service.py differ from cart.ts?") == ["src/pay/service.py", "cart.ts"]


CODE = [
    chunk("post", "body", source="shop", uri="shop/handlers/orders.py", symbol="Orders.post", lines=(25, 40)),
    chunk("get", "body", source="shop", uri="shop/handlers/orders.py", symbol="Orders.get", lines=(10, 24)),
    chunk("pay", "body", source="shop", uri="shop/payment.py", symbol="pay", lines=(50, 60)),
    chunk("app", "body", source="shop", uri="shop/app.py", symbol="create_app", lines=(1, 30)),
]


def test_frames_lead_to_their_definitions_and_library_frames_to_nothing() -> None:
    found = locate_frames(find_frames(PYTHON), MemoryCatalog(CODE), {"shop": 1})
    assert [c.id for c in found] == ["pay", "post"]


def test_the_name_decides_before_the_line() -> None:
    trace = 'File "/app/shop/handlers/orders.py", line 12, in post'
    found = locate_frames(find_frames(trace), MemoryCatalog(CODE), {"shop": 1})
    assert [c.id for c in found] == ["post"]


def test_an_obfuscated_frame_finds_the_file_of_its_class() -> None:
    kotlin = chunk(
        "stop", "body", source="shop", uri="app/src/com/shop/Installer.kt", symbol="Installer.onDestroy", lines=(3, 9)
    )
    frames = find_frames("\tat com.shop.Installer.onDestroy(SourceFile:11)")
    assert [c.id for c in locate_frames(frames, MemoryCatalog([kotlin]), {"shop": 1})] == ["stop"]
