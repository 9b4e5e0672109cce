"""A file of a repository that is renamed or moved: nothing is parsed again, and what it becomes is what parsing gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.catalog_moves import StoredChunk, moved_index_texts
from knowledge.chunking.code import chunk_code
from knowledge.types import SourceConfig
from tests.emulators.git_repositories import commit, git, make_bare
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

PYTHON = 'import os\n\nRATE = 3\n\n\nclass Cart:\n    """Holds items."""\n\n    def total(self):\n        return helper() * RATE\n\n\ndef helper():\n    return 2\n'
TYPESCRIPT = "export function price(n: number): number {\n  return n * 2;\n}\n\nexport default function () {\n  return price(1);\n}\n\nconst LIMIT = price(4);\n"
FILES = {
    "py": PYTHON,
    "ts": TYPESCRIPT,
    "tsx": "export default function Page() {\n  const [open, setOpen] = useState(false);\n  return <div>{open}</div>;\n}\n",
    "java": "package shop;\n\n@Service\npublic class Cart {\n    private int rate = 3;\n    public int total() { return rate; }\n}\n",
    "kt": "package shop\n\nclass Cart(val rate: Int) {\n    fun total(): Int = rate\n}\n\nfun helper() = 2\n",
    "go": "package shop\n\n// Total adds up.\nfunc Total() int {\n\treturn 1\n}\n\nvar rate = 3\n",
    "sol": "contract Cart {\n    event Paid(uint a);\n    modifier onlyOwner() { _; }\n    function pay() public onlyOwner { emit Paid(1); }\n}\n",
    "rs": "pub struct Cart { rate: u32 }\n\nimpl Cart {\n    pub fn total(&self) -> u32 { self.rate }\n}\n",
    "rb": "class Cart\n  def total\n    helper\n  end\nend\n",
    "md": "# Cart\n\nWhat it holds.\n\n## Totals\n\nAdded up.\n",
    "sql": "CREATE TABLE cart (id INT);\n\nCREATE VIEW totals AS SELECT * FROM cart;\n",
    "sh": "#!/bin/sh\ntotal() {\n  echo 1\n}\ntotal\n",
    "txt": "Words about carts.\n",
    "yaml": "cart:\n  rate: 3\n  names:\n    - a\n",
}  # fmt: skip


def stored(uri: str, text: str) -> list[StoredChunk]:
    return [
        StoredChunk(number=n, id=str(n), symbol=draft.symbol, label=draft.label, index_text=draft.index_text)
        for n, draft in enumerate(chunk_code(uri, text))
    ]


@pytest.mark.parametrize("suffix", sorted(FILES))
@pytest.mark.parametrize(
    ("old", "new"),
    [("src/shop/cart", "lib/other/cart"), ("cart", "deep/er/cart"), ("src/cart", "src/basket"), ("a/index", "b/index")],
)
def test_what_a_move_gives_is_what_parsing_would_give(suffix: str, old: str, new: str) -> None:
    before, after = f"{old}.{suffix}", f"{new}.{suffix}"
    texts = moved_index_texts(before, after, stored(before, FILES[suffix]))
    parsed = chunk_code(after, FILES[suffix])
    if texts is None:  # read again, because the name of the file decides what its chunks are called
        assert suffix in ("ts", "tsx", "yaml", "txt")
        assert (old.rpartition("/")[2] != new.rpartition("/")[2]) or "index" in old
        return
    assert texts == [draft.index_text for draft in parsed]
    assert [chunk.symbol for chunk in stored(before, FILES[suffix])] == [draft.symbol for draft in parsed]


def test_another_ending_is_read_again() -> None:
    assert moved_index_texts("a.py", "a.txt", stored("a.py", PYTHON)) is None


class Place:
    def __init__(self, tmp_path: Path) -> None:
        self.origin = make_bare(tmp_path / "shop.git")
        self.shelf = Shelf(tmp_path / "company")
        self.shelf.sources = (SourceConfig(name="rules", kind="repository", path=self.origin),)

    def rows(self) -> list[tuple[object, ...]]:
        """All that is stored of chunks and words, without row numbers."""
        with self.shelf.knowledge._catalog.reading() as connection:
            chunks = connection.execute(
                "SELECT d.uri, d.file_name, d.id, d.title, d.media_type, d.content_hash, d.revision, c.id, c.ordinal, "
                "c.kind, c.part_of, c.label, c.symbol, c.signature, c.start_line, c.end_line, c.tokens, c.text, "
                "c.index_text, k.tokens FROM documents d JOIN chunks c ON c.document = d.number "
                "JOIN keywords k ON k.rowid = c.number ORDER BY d.uri, c.ordinal"
            ).fetchall()
            terms = connection.execute("SELECT term, chunks FROM terms ORDER BY term").fetchall()
            sums = connection.execute("SELECT chunks, tokens FROM generations").fetchall()
        return [tuple(row) for row in (*chunks, *terms, *sums)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    commit(place.origin, {f"src/shop/cart.{suffix}": text for suffix, text in FILES.items()})
    yield place
    place.shelf.close()


def test_moved_files_are_not_parsed_and_the_index_is_as_if_they_had_been(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = place.shelf
    first = shelf.sync()
    shelf.embedder.passages.clear()
    changes: dict[str, str | bytes | None] = {f"src/shop/cart.{suffix}": None for suffix in FILES}
    changes |= {f"lib/basket/cart.{suffix}": text for suffix, text in FILES.items()}
    commit(place.origin, changes)
    steps: list[str] = []
    shelf.on_step = steps.append
    monkeypatch.setattr("knowledge.sources.git.GitSource.fetch", lambda *_: pytest.fail("a moved file was read"))
    report = shelf.sync()
    assert (report.added, report.deleted, report.failed) == (len(FILES), len(FILES), ())
    assert steps.count("document-moved") == len(FILES)
    assert "document-written" not in steps
    assert report.chunks == first.chunks == len(shelf.chunk_ids())
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()
    assert all("src/shop" not in text for text in shelf.embedder.passages)
    moved = place.rows()
    monkeypatch.undo()
    shelf.sync(force=True)
    assert place.rows() == moved


def test_callers_follow_a_moved_file(place: Place) -> None:
    shelf = place.shelf
    shelf.sync()
    commit(place.origin, {"src/shop/cart.py": None, "src/cart/basket.py": PYTHON})
    shelf.sync()
    with shelf.knowledge._catalog.reading() as connection:
        rows = connection.execute(
            "SELECT d.uri FROM callers k JOIN chunks c ON c.number = k.chunk JOIN documents d ON d.number = c.document "
            "WHERE k.name = 'helper' ORDER BY d.uri"
        ).fetchall()
    assert "src/cart/basket.py" in [row[0] for row in rows]
    assert "src/shop/cart.py" not in [row[0] for row in rows]


def test_a_copy_keeps_the_original(place: Place) -> None:
    place.shelf.sync()
    commit(place.origin, {"copy/cart.py": PYTHON})
    report = place.shelf.sync()
    assert (report.added, report.deleted) == (1, 0)
    assert {"copy/cart.py", "src/shop/cart.py"} <= {
        d.uri for d in place.shelf.knowledge.list_documents(scope=EVERYTHING)
    }


def test_a_file_that_takes_the_place_of_another_one_replaces_it(place: Place) -> None:
    place.shelf.sync()
    commit(place.origin, {"src/shop/cart.go": None, "src/shop/cart.py": FILES["go"]})
    report = place.shelf.sync()
    assert (report.updated, report.deleted, report.failed) == (1, 1, ())
    assert "cart.go" not in " ".join(place.shelf.keyword("total"))


def test_a_rename_that_changes_only_the_case_is_one_file(place: Place) -> None:
    place.shelf.sync()
    commit(place.origin, {"src/shop/cart.py": None, "src/shop/Cart.py": PYTHON})
    report = place.shelf.sync()
    assert (report.added, report.deleted) == (1, 1)
    uris = [d.uri for d in place.shelf.knowledge.list_documents(scope=EVERYTHING)]
    assert "src/shop/Cart.py" in uris
    assert "src/shop/cart.py" not in uris
    assert git(place.origin, "rev-parse", "main") == place.shelf.knowledge.status(scope=EVERYTHING)[0].revision
