"""What a person sees and can do, in Debian's chromium, with the whole product behind it.

Screenshots go into pytest's temporary folder, `browser*/`; `--basetemp` says where that is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from tests.e2e.product import Product, prepare

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
]
ANSWER_LIMIT_MS = 60_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 720}

DOCS_QUESTION = "연차휴가는 며칠까지 다음 해로 이월되나요?"
TABLE_QUESTION = "국내 출장 숙박비 상한은 얼마인가요?"
CODE_QUESTION = "결제 실패하면 재시도는 어디서 해?"
OFF_TOPIC = "김치볶음밥 맛있게 만드는 법 알려줘"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    product = Product(prepare(tmp_path_factory.mktemp("product")))
    yield product
    product.stop()


@pytest.fixture
def address(product: Product) -> str:
    return product.address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, (
        "This test needs Debian's chromium: run `make browser-tools`, or leave it out with -m 'not browser'."
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


class Person:
    """Somebody at a page; remembers what the browser complained about."""

    def __init__(self, page: Page, address: str, shots: Path) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        self._shots = shots
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, path: str = "/") -> None:
        self.page.goto(self.address + path)

    def ask(self, question: str) -> Locator:
        """The finished reply to a question that was typed into the general channel and sent with Enter."""
        self.open("/c/general")
        self.page.locator("#compose").press_sequentially(question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/c/general/t/*")
        return self.last_reply()

    def last_reply(self, number: int = 1) -> Locator:
        reply = self.page.locator(".post.bot[data-state=final]")
        expect(reply).to_have_count(number, timeout=ANSWER_LIMIT_MS)
        return reply.nth(number - 1)

    def shoot(self, name: str) -> None:
        self.page.screenshot(path=self._shots / f"{name}.png")

    def focused(self) -> str:
        """The focused element, as its id or its text."""
        return str(self.page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def _visit(browser: Browser, address: str, shots: Path, **options: object) -> Iterator[Person]:
    context = browser.new_context(**({"locale": "ko-KR", "viewport": DESK} | options))  # type: ignore[arg-type]
    person = Person(context.new_page(), address, shots)
    yield person
    assert person.complaints == []
    context.close()


@pytest.fixture
def person(browser: Browser, address: str, shots: Path) -> Iterator[Person]:
    yield from _visit(browser, address, shots)


@pytest.fixture
def phone(browser: Browser, address: str, shots: Path) -> Iterator[Person]:
    yield from _visit(browser, address, shots, viewport=PHONE, is_mobile=True, has_touch=True)


def is_in_view(element: Locator) -> bool:
    """Whether the beginning of an element lies within the window and within what scrolls around it."""
    return bool(
        element.evaluate(
            """(element) => {
              const box = element.getBoundingClientRect();
              const frame = element.closest(".document, .code-scroll").getBoundingClientRect();
              return box.height > 0 && box.top >= frame.top - 1 && box.top < Math.min(frame.bottom, innerHeight);
            }"""
        )
    )


def widest_overflow_px(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_a_docs_question_is_answered_and_its_citation_opens_the_section(person: Person) -> None:
    reply = person.ask(DOCS_QUESTION)
    expect(reply.locator(".body")).to_contain_text("5일까지")
    expect(reply.locator(".sources")).to_contain_text("제12조")
    person.shoot("answer")
    cite = reply.locator("a.cite").first
    cite.click()
    panel = person.page.locator("#evidence")
    expect(panel).to_be_visible()
    cited = panel.locator("#cited")
    expect(cited).to_contain_text("연차휴가의 이월")
    expect(cited).to_contain_text("3월 31일까지")
    assert "제11조" not in cited.inner_text()
    expect(panel.locator("h2")).to_contain_text("제12조")
    assert is_in_view(cited)
    person.shoot("evidence-document")


def test_an_appendix_opens_as_a_table_with_its_numbers(person: Person) -> None:
    reply = person.ask(TABLE_QUESTION)
    reply.locator(".sources a", has_text="별표 1").click()
    cited = person.page.locator("#evidence #cited")
    expect(cited.locator("th").first).to_be_visible()
    row = cited.locator("tr", has_text="나급")
    expect(row).to_contain_text("140,000원")
    assert is_in_view(cited)
    person.shoot("evidence-table")


def test_a_code_question_opens_the_file_at_its_lines(person: Person) -> None:
    reply = person.ask(CODE_QUESTION)
    expect(reply).to_have_class(re.compile(r"\banswer\b"))
    source = reply.locator(".sources a", has_text="billing/retries.py").first
    place = source.locator(".place").inner_text()
    found = re.search(r":(\d+)", place)
    assert found is not None, place
    source.click()
    cited = person.page.locator("#evidence tr.cited")
    expect(cited.first.locator(".line-number")).to_have_text(found[1])
    assert is_in_view(cited.first)
    expect(person.page.locator("#evidence h2")).to_have_text("billing/retries.py")
    expect(person.page.locator("#evidence .hl-k").first).to_be_visible()
    person.shoot("evidence-code")


def test_an_off_topic_question_is_refused_calmly(person: Person) -> None:
    reply = person.ask(OFF_TOPIC)
    expect(reply).to_have_class(re.compile(r"\brefusal\b"))
    expect(reply.locator(".body")).to_contain_text("근거")
    expect(reply.locator("a.cite")).to_have_count(0)
    person.shoot("refusal")


def test_the_panel_has_an_address_and_the_back_button_closes_it(person: Person) -> None:
    reply = person.ask(DOCS_QUESTION)
    panel = person.page.locator("#evidence")
    reply.locator("a.cite").first.click()
    expect(person.page.locator("#cited")).to_be_visible()
    bookmark = person.page.url
    assert "?evidence=" in bookmark
    person.page.go_back()
    expect(panel).to_be_hidden()
    assert "evidence" not in person.page.url
    person.page.goto(bookmark)
    expect(person.page.locator("#cited")).to_be_visible()
    person.page.locator("#evidence-close").click()
    expect(panel).to_be_hidden()
    assert "evidence" not in person.page.url


def test_everything_can_be_done_with_the_keyboard(person: Person) -> None:
    page = person.page
    person.open()
    expect(page.locator("#compose")).to_be_focused()
    page.keyboard.insert_text(DOCS_QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/general/t/*")
    reply = person.last_reply()
    expect(page.locator("#announce")).to_contain_text("haechi")
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.matches('a.cite')"):
            break
    assert page.evaluate("document.activeElement.matches('a.cite:focus-visible')")
    page.keyboard.press("Enter")
    expect(page.locator("#cited")).to_be_visible()
    expect(page.locator("#evidence-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#evidence")).to_be_hidden()
    assert page.evaluate("document.activeElement.matches('a.cite')"), person.focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.vote") == "up":
            break
    page.keyboard.press("Enter")
    expect(reply.locator("[data-vote=up]")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.locator("[data-vote=up]")).to_have_attribute("aria-pressed", "true")
    for _ in range(60):
        page.keyboard.press("Tab")
        if person.focused() == "compose":
            break
    page.keyboard.insert_text("그럼 며칠 안에 써야 하나요?")
    page.keyboard.press("Shift+Enter")
    page.keyboard.insert_text("고맙습니다")
    page.keyboard.press("Enter")
    expect(page.locator(".post.person")).to_have_count(2)
    expect(page.locator(".post.person").last).to_contain_text("고맙습니다")
    person.last_reply(2)


def test_a_newcomer_is_led_to_the_mention_and_to_examples(person: Person) -> None:
    page = person.page
    person.open()
    page.locator(".channel-form summary").click()
    page.locator("#channel-form input").fill("처음 온 곳")
    page.locator("#channel-form button").click()
    expect(page.locator("h1")).to_have_text("# 처음 온 곳")
    expect(page.locator("#compose")).to_have_value("@haechi ")
    person.shoot("empty")
    page.locator("#compose").fill("숙박비는 얼마인가요?")
    expect(page.locator("#mention-hint")).to_be_visible()
    page.locator("#add-mention").click()
    expect(page.locator("#compose")).to_have_value("@haechi 숙박비는 얼마인가요?")
    expect(page.locator("#mention-hint")).to_be_hidden()
    page.locator(".examples button").first.click()
    expect(page.locator("#compose")).to_have_value(re.compile(r"^@haechi 국내 출장"))
    page.locator("#compose").fill("@haechi " + "가" * 4000)
    expect(page.locator("#compose-problem")).to_contain_text("4000")


def test_a_phone_shows_all_without_sideways_scrolling(phone: Person) -> None:
    page = phone.page
    reply = phone.ask(TABLE_QUESTION)
    assert widest_overflow_px(page) == 0
    phone.shoot("phone-answer")
    reply.locator(".sources a").first.click()
    expect(page.locator("#cited")).to_be_visible()
    assert widest_overflow_px(page) == 0
    panel = page.locator("#evidence").bounding_box()
    assert panel is not None
    assert (panel["x"], panel["y"], panel["width"]) == (0, 0, PHONE["width"])
    assert page.evaluate("document.getElementById('main').inert")
    phone.shoot("phone-evidence")
    page.locator("#evidence-close").click()
    expect(page.locator("#compose")).to_be_visible()
    button = page.locator("#compose-form [type=submit]").bounding_box()
    assert button is not None
    assert button["y"] + button["height"] <= PHONE["height"]


def test_the_language_toggle_changes_every_word_and_is_kept(person: Person) -> None:
    page = person.page
    person.open()
    page.get_by_role("link", name="English").click()
    expect(page.locator("h1")).to_have_text("# general")
    assert page.locator("html").get_attribute("lang") == "en"
    reply = person.ask("How is the signature of a gateway notice checked?")
    expect(reply.locator(".sources h3").first).to_have_text(re.compile("Sources|Nearest sources"))
    own = page.locator(".side, .title .back, .composer, .feedback").all_inner_texts()
    assert not re.search("[가-힣]", "".join(own).replace("한국어", "").replace("처음 온 곳", ""))
    page.get_by_role("link", name="한국어").click()
    expect(page.locator("#compose-form [type=submit]")).to_have_text("보내기")


def test_the_dark_scheme_is_dark_and_readable(browser: Browser, address: str, shots: Path) -> None:
    for person in _visit(browser, address, shots, color_scheme="dark"):
        reply = person.ask(DOCS_QUESTION)
        reply.locator("a.cite").first.click()
        expect(person.page.locator("#cited")).to_be_visible()
        person.shoot("dark")
        for selector in ("body", ".post.bot .body", "#cited", ".sources .from", ".cite"):
            assert contrast(person.page.locator(selector).first) >= 4.5, selector


def test_two_tabs_of_one_thread_see_the_reply(person: Person) -> None:
    person.ask(DOCS_QUESTION)
    second = person.page.context.new_page()
    second.goto(person.page.url)
    second.locator("#compose").fill("@haechi " + OFF_TOPIC)
    second.keyboard.press("Enter")
    for page in (person.page, second):
        expect(page.locator(".post.bot[data-state=final]")).to_have_count(2, timeout=ANSWER_LIMIT_MS)
        expect(page.locator(".post.person").last).to_contain_text("김치볶음밥")


def test_a_name_is_kept_and_shown_as_typed(person: Person) -> None:
    page = person.page
    person.open()
    page.locator(".name-form summary").click()
    page.locator("#name-form input").fill("<b>하늘</b>")
    page.locator("#name-form button").click()
    expect(page.locator(".name-form summary")).to_have_text("<b>하늘</b>")
    person.ask("<img src=x onerror=document.title='broken'> 연차")
    expect(page.locator(".post.person header strong")).to_have_text("<b>하늘</b>")
    expect(page.locator(".post.person .body")).to_contain_text("<img src=x")
    assert page.title() != "broken"


def test_evidence_has_a_page_that_needs_no_script(browser: Browser, address: str, shots: Path, person: Person) -> None:
    reply = person.ask(TABLE_QUESTION)
    link = reply.locator(".sources a", has_text="별표 1").get_attribute("href")
    assert link is not None
    for reader in _visit(browser, address, shots, java_script_enabled=False):
        reader.open(link)
        expect(reader.page.locator("#cited")).to_contain_text("140,000원")
        reader.open(person.page.url.removeprefix(address))
        expect(reader.page.locator(".post.bot .body")).to_be_visible()


def test_threads_outlive_a_restart_and_open_pages_come_back(product: Product, person: Person) -> None:
    person.ask(DOCS_QUESTION)
    thread = person.page.url.removeprefix(product.address)
    second = person.page.context.new_page()
    second.goto(person.page.url)
    product.stop()
    banner = person.page.locator("#connection-banner")
    expect(banner).to_be_visible(timeout=ANSWER_LIMIT_MS)
    person.shoot("connection-lost")
    product.start()
    expect(banner).to_be_hidden(timeout=ANSWER_LIMIT_MS)
    expect(person.page.locator(".post.bot .body")).to_contain_text("5일까지")
    second.goto(product.address + thread)
    second.locator("#compose").fill("@haechi " + OFF_TOPIC)
    second.keyboard.press("Enter")
    expect(person.page.locator(".post.refusal")).to_be_visible(timeout=ANSWER_LIMIT_MS)
    person.page.locator("a.cite").first.click()
    expect(person.page.locator("#cited")).to_contain_text("이월")
    assert all("ERR_" in complaint for complaint in person.complaints), "only about the connection that was lost"
    person.complaints.clear()


def contrast(element: Locator) -> float:
    """Contrast ratio of an element's text against what is painted behind it (WCAG 2.2, 1.4.3)."""
    return float(
        element.evaluate(
            """(element) => {
              const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
              const luminance = (colour) => {
                const [r, g, b] = channels(colour).slice(0, 3).map((value) => {
                  const share = value / 255;
                  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              let behind = element;
              while (behind.parentElement && channels(getComputedStyle(behind).backgroundColor)[3] === 0)
                behind = behind.parentElement;
              const [light, dark] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor]
                .map(luminance).sort((a, b) => b - a);
              return (light + 0.05) / (dark + 0.05);
            }"""
        )
    )
