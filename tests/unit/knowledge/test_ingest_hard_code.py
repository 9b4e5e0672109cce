"""What repositories hold besides sane code: nothing crashes, and everything is counted where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from knowledge.sources import git_filters as filters
from knowledge.types import SourceConfig, SyncReport
from tests.emulators.git_repositories import commit, make_bare
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

TWICE = "def same():\n    return 1\n\n\ndef same():\n    return 1\n\n\ndef same():\n    return 2\n"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
MINIFIED = "".join(f"function f{n}(a){{return a+{n}}};" for n in range(40_000))
DEEP_CALLS = "x = " + "f(\n" * 3000 + "1" + ")\n" * 3000 + "\n"
DEEP_BLOCKS = "".join("    " * depth + f"if a{depth}:\n" for depth in range(90)) + "    " * 90 + "pass\n"
DEEP_JSON = "[\n" * 5000 + "]\n" * 5000
DEEP_HTML = "export const A = () => (" + "<div>\n" * 1500 + "x" + "</div>\n" * 1500 + ");\n"

READ: dict[str, str | bytes] = {
    "src/twice.py": TWICE,
    "src/deep_calls.py": DEEP_CALLS,
    "src/deep_blocks.py": DEEP_BLOCKS,
    "src/deep.json": DEEP_JSON,
    "src/Deep.tsx": DEEP_HTML,
    "src/latin.py": "# caf\xe9\ndef caf():\n    return 1\n".encode("latin-1"),
    "src/korean.java": "// 결제를 취소한다\nclass Pay { void cancel() { } }\n".encode("cp949"),
    "src/windows.cs": b"\xef\xbb\xbfclass A\r\n{\r\n    void Run() { }\r\n}\r\n",
    "src/broken.kt": "class A { fun b( { { ] val x = \n fun c() = 1\n",
    "src/Same.py": "def upper():\n    return 1\n",
    "src/same.py": "def lower():\n    return 1\n",
    "src/zero\u200bwidth.py": "def hidden():\n    return 1\n",
    "한글/결제 처리.py": "def pay():\n    return 1\n",
}
LEFT_OUT: dict[str, tuple[str | bytes, str, str]] = {
    "src/bundle.ts": (MINIFIED, "100644", filters.TOO_LARGE),
    "src/small_bundle.ts": (MINIFIED[:200_000], "100644", filters.MINIFIED),
    "out.py": ("../../etc/passwd", "120000", filters.SYMLINK),
    "link.py": ("src/twice.py", "120000", filters.SYMLINK),
    "libs/other": ("b" * 40, "160000", filters.SUBMODULE),
    "model.py": (LFS, "100644", filters.LFS_POINTER),
    "config/.env": ("A=1\n", "100644", filters.SECRET_FILE),
    "yarn.lock": ("a: 1\n", "100644", filters.LOCK_FILE),
    "node_modules/x/index.js": ("a()\n", "100644", filters.VENDORED),
    "api/pay.pb.go": ("package api\n", "100644", filters.GENERATED),
    "gen/client.py": ("a = 1\n", "100644", filters.GENERATED),  # by .gitattributes
    "logo.png": (b"\x89PNG\0", "100644", filters.BINARY),
    "core.xyz": (b"a\0b" * 50, "100644", filters.BINARY),
    "empty.py": ("\n", "100644", filters.EMPTY),
    "bad\udcff.py": ("a = 1\n", "100644", filters.BAD_NAME),
}


@dataclass(frozen=True)
class Indexed:
    shelf: Shelf
    report: SyncReport


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    """The repository after its first sync, which the tests only look at."""
    place = tmp_path_factory.mktemp("odd")
    origin = make_bare(place / "odd.git")
    attributes = {".gitattributes": "gen/** linguist-generated=true\n"}
    files = {**READ, **{path: content for path, (content, _, _) in LEFT_OUT.items()}, **attributes}
    commit(origin, files, modes={path: mode for path, (_, mode, _) in LEFT_OUT.items()})
    shelf = Shelf(place / "company")
    shelf.sources = (SourceConfig(name="rules", kind="repository", path=origin),)
    yield Indexed(shelf, shelf.sync())
    shelf.close()


def test_odd_repositories_are_read_and_counted(indexed: Indexed) -> None:
    report = indexed.report
    assert report.failed == ()
    assert report.added == len(READ) + 1  # and .gitattributes itself
    (status,) = indexed.shelf.knowledge.status(scope=EVERYTHING)
    assert status.skipped == dict(Counter(reason for _, _, reason in LEFT_OUT.values()))
    uris = {document.uri for document in indexed.shelf.knowledge.list_documents(scope=EVERYTHING)}
    assert uris == {*READ, ".gitattributes"}
    assert report.pending == 0
    assert report.embedded <= report.chunks


def test_equal_functions_of_one_file_are_chunks_of_their_own(indexed: Indexed) -> None:
    catalog = indexed.shelf.knowledge._catalog
    generations = catalog.active_generations(EVERYTHING)
    chunks = catalog.chunks_where("d.uri = 'src/twice.py' ORDER BY c.ordinal", (), generations)
    places = [(chunk.locator.symbol, chunk.locator.start_line) for chunk in chunks]
    assert places == [("same", 1), ("same", 5), ("same", 9)]


def test_texts_in_other_encodings_are_found(indexed: Indexed) -> None:
    shelf = indexed.shelf
    assert any("결제를 취소한다" in text for text in shelf.keyword("취소"))
    assert any("upper" in text for text in shelf.keyword("upper"))
    assert any("lower" in text for text in shelf.keyword("lower"))


def test_a_second_sync_changes_nothing(indexed: Indexed) -> None:
    indexed.shelf.embedder.passages.clear()
    second = indexed.shelf.sync()
    assert (second.added, second.updated, second.deleted, second.unchanged) == (0, 0, 0, indexed.report.added)
    assert indexed.shelf.embedder.passages == []
