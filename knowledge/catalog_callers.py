"""What calls a definition, best first, and the modifiers that a Solidity function uses.

A call is a name. Whether it means this definition and not another one of that name is judged by signs: the same file or
class, imports of the calling file, the name before the dot, classes that the file mentions, the folder, and how many
definitions bear the name. A name that is everywhere (`get`) needs more of them than one that exists once.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.catalog_rows import called_name
from knowledge.types import Caller, Chunk, Locator

MAX_CALLERS = 5
_MAX_SITES = 400  # of one name that are looked at
_COMMON_SITES = 40  # a name called more often than this for each definition is a common word
_MAX_CONTRACTS = 40
_CALLABLE = frozenset(
    [
        "function", "method", "constructor", "component", "hook", "modifier", "class", "data class", "record", "struct",
        "macro", "event", "error", "case class", "object", "prototype", "operator", "task", "procedure", "table",
        "property", "trait", "sealed class", "value class", "actor", "record struct", "abstract class", "interface",
        "destructor", "view", "materialized view", "query",
    ]
)  # fmt: skip
_OWN = frozenset(["-", "self", "this", "super", "cls", "Self", "static", "parent", "base"])
_FAMILIES = {
    **dict.fromkeys(["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"], "script"),
    **dict.fromkeys(["java", "kt", "kts", "scala", "sc", "groovy"], "jvm"),
    **dict.fromkeys(["c", "h", "cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp", "tpp", "inl", "m", "mm"], "native"),
    **dict.fromkeys(["rb", "rake", "gemspec", "erb"], "ruby"),
    **dict.fromkeys(["py", "pyi", "pyw"], "python"),
    **dict.fromkeys(["php", "phtml"], "php"),
    **dict.fromkeys(["sh", "bash", "zsh", "ksh"], "shell"),
}
_BASES = re.compile(r"(?:\bextends\b|\bimplements\b|\bwith\b|\bis\b|\bfor\b|[:<(])(?P<bases>[^{]*)")
_WORD = re.compile(r"[A-Za-z_]\w+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|e2e|androidTest|mocks?)/|[._]?(?:test|spec)s?\.\w+$", re.I)

# What is worth how much; found by looking at the callers of a hundred definitions in eight repositories.
_SAME_FILE = 4.5
_SAME_CLASS = 2.0
_IMPORTED = 3.0
_BASE_IMPORTED = 1.5
_RECEIVER = 3.0
_MENTIONED = 1.5
_SAME_FOLDER = 1.0
_ONLY_ONE = 1.5
_FOREIGN_RECEIVER = -1.5
_FOREIGN_PLAIN = -2.0
_FOREIGN_MODULE = -4.0
_TEST = -1.0


@dataclass(frozen=True, slots=True)
class _Site:
    """One chunk that calls the name."""

    row: sqlite3.Row
    score: float
    is_test: bool


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The definition that is called."""

    name: str
    owner: str | None  # simple name of its class
    bases: frozenset[str]  # classes and interfaces that its class stands for
    folder: str
    stem: str
    definitions: int  # how many definitions bear the name
    document_id: str
    group: str

    @property
    def aliases(self) -> frozenset[str]:
        """Every class under which the definition may be called."""
        return self.bases | ({self.owner} if self.owner else frozenset())


def find_callers(
    catalog: Catalog, chunk: Chunk, generations: Mapping[str, int], *, limit: int = MAX_CALLERS
) -> tuple[Caller, ...]:
    """What calls the definition that `chunk` is a part of, best first; empty for what is no definition."""
    name = called_name(chunk.locator.symbol, chunk.symbol_kind)
    generation = generations.get(chunk.locator.source)
    if name is None or generation is None or chunk.symbol_kind not in _CALLABLE:
        return ()
    with catalog.reading() as connection:
        wanted = _understand(connection, chunk, name, generation)
        rows = _sites(connection, chunk, name, generation)
        common = len(rows) > _COMMON_SITES * max(1, wanted.definitions)
        needed = 3.0 if common or wanted.definitions > 5 else 2.0 if wanted.definitions > 1 else 1.0
        sites = [_judge(connection, wanted, row, needed) for row in rows]
        chosen = _best([site for site in sites if site.score >= needed], limit)
        return tuple(_as_caller(connection, site.row, chunk.locator.source, name) for site in chosen)


def used_modifiers(catalog: Catalog, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
    """The modifiers that a Solidity function uses, own and inherited ones, in the order of the contracts above it."""
    generation = generations.get(chunk.locator.source)
    if generation is None or not chunk.locator.uri.endswith(".sol") or not chunk.locator.symbol:
        return []
    with catalog.reading() as connection:
        rows = connection.execute(
            """
            SELECT m.id, m.symbol, m.name FROM chunks f JOIN callers k ON k.chunk = f.number
            JOIN chunks m ON m.generation = f.generation AND m.name = k.name AND m.symbol_kind = 'modifier'
            WHERE f.id = ? AND f.generation = ? ORDER BY m.number
            """,
            (chunk.id, generation),
        ).fetchall()
        if not rows:
            return []
        line = _linearised(connection, chunk.locator.symbol.rpartition(".")[0], generation)
    chosen: dict[str, tuple[int, str]] = {}
    count: dict[str, int] = {}
    for row in rows:
        owner = str(row["symbol"]).rpartition(".")[0]
        place = line.index(owner) if owner in line else len(line)
        count[row["name"]] = count.get(row["name"], 0) + 1
        if row["name"] not in chosen or place < chosen[row["name"]][0]:
            chosen[row["name"]] = (place, row["id"])
    ids = [id_ for name, (place, id_) in chosen.items() if place < len(line) or count[name] == 1]
    found = catalog.visible_chunks(ids, {chunk.locator.source: generation})
    return [found[id_] for id_ in ids if id_ in found]


def _linearised(connection: sqlite3.Connection, contract: str, generation: int) -> list[str]:
    """The contract and those that it inherits from, nearest first."""
    line = [contract]
    for known in line:
        if len(line) > _MAX_CONTRACTS:
            break
        rows = connection.execute(
            "SELECT signature FROM chunks WHERE generation = ? AND name = ? AND symbol_kind IN ('contract', 'library')",
            (generation, known),
        ).fetchall()
        for row in rows:
            bases = str(row["signature"] or "").partition(" is ")[2]
            line += [base for base in _WORD.findall(re.sub(r"\([^)]*\)", "", bases)) if base not in line]
    return line


def _understand(connection: sqlite3.Connection, chunk: Chunk, name: str, generation: int) -> _Wanted:
    symbol = chunk.locator.symbol or ""
    parts = symbol.split(".")
    owners = parts[:-1]
    owner = owners[-1] if owners else None
    if chunk.symbol_kind == "constructor":
        owner = owners[-2] if len(owners) > 1 else None
    bases: set[str] = set()
    if owner is not None:
        rows = connection.execute(
            "SELECT signature FROM chunks WHERE generation = ? AND name = ? AND signature IS NOT NULL LIMIT 10",
            (generation, owner),
        ).fetchall()
        for row in rows:
            bases |= _bases(str(row["signature"]))
    definitions = connection.execute(
        "SELECT count(DISTINCT document || ' ' || coalesce(symbol, '')) FROM chunks WHERE generation = ? AND name = ?",
        (generation, name),
    ).fetchone()[0]
    folder, _, file = chunk.locator.uri.rpartition("/")
    return _Wanted(
        name=name,
        owner=owner,
        bases=frozenset(base for base in bases if base not in (name, owner)),
        folder=folder,
        stem=file.split(".")[0],
        definitions=int(definitions),
        document_id=chunk.document_id,
        group=chunk.group,
    )


def _bases(signature: str) -> set[str]:
    """Classes and interfaces that a class stands for, by its signature."""
    found: set[str] = set()
    for match in _BASES.finditer(signature):
        found |= {word for word in _WORD.findall(match["bases"]) if word[:1].isupper() and len(word) > 2}
    return found


def _sites(connection: sqlite3.Connection, chunk: Chunk, name: str, generation: int) -> list[sqlite3.Row]:
    """Chunks that call the name: those of the same file, and as many others as are looked at."""
    columns = (
        "c.number, c.part_of, c.symbol, c.symbol_kind, c.start_line, c.end_line, k.line, k.receivers, "
        "d.number AS document, d.id AS document_id, d.uri, d.revision, d.imports"
    )
    joined = "FROM callers k CROSS JOIN chunks c ON c.number = k.chunk CROSS JOIN documents d ON d.number = c.document"
    rows = connection.execute(
        f"SELECT {columns} {joined} WHERE k.generation = ? AND k.name = ? ORDER BY d.id = ? DESC, c.number LIMIT ?",
        (generation, name, chunk.document_id, _MAX_SITES),
    ).fetchall()
    family = _family(chunk.locator.uri)
    return [
        row
        for row in rows
        if (row["document_id"], row["part_of"]) != (chunk.document_id, chunk.group)
        and (_family(row["uri"]) == family or (family == "sol" and _family(row["uri"]) == "script"))
    ]


def _family(uri: str) -> str:
    """Languages that call each other share one; Solidity is called by the scripts that test and deploy it."""
    suffix = uri.rsplit(".", 1)[-1].lower()
    return _FAMILIES.get(suffix, suffix)


def _judge(connection: sqlite3.Connection, wanted: _Wanted, row: sqlite3.Row, needed: float) -> _Site:
    receivers = str(row["receivers"]).split() or ["-"]
    same_file = row["document_id"] == wanted.document_id
    imports = set() if same_file else set(str(row["imports"]).split())
    score = _ONLY_ONE if wanted.definitions == 1 else 0.0
    score += _SAME_FILE if same_file else 0.0
    imported = wanted.name in imports or wanted.stem in imports or (wanted.owner or "") in imports
    if imported:
        score += _IMPORTED
    elif wanted.bases & imports:
        score += _BASE_IMPORTED
    score += _of_receivers(wanted, row, receivers, near=same_file or imported)
    folder = str(row["uri"]).rpartition("/")[0]
    score += _SAME_FOLDER if folder == wanted.folder and not same_file else 0.0
    aliases = wanted.aliases
    if aliases and not same_file and score < needed <= score + _MENTIONED and not imported:
        score += _MENTIONED if _mentions(connection, row["document"], aliases) else 0.0
    is_test = _TEST_PATH.search(str(row["uri"])) is not None
    return _Site(row, score + (_TEST if is_test and score + _TEST >= needed else 0.0), is_test)


def _of_receivers(wanted: _Wanted, row: sqlite3.Row, receivers: Sequence[str], *, near: bool) -> float:
    """What the names before the dot say; `near` means the same file, or one that imports the definition."""
    others = [receiver for receiver in receivers if receiver not in _OWN]
    if any(_is_alias(receiver, wanted.aliases) for receiver in others):
        return _RECEIVER
    if wanted.owner is None:
        if len(others) < len(receivers):
            return 0.0  # called plainly
        places = {wanted.stem, wanted.folder.rpartition("/")[2], "new"}
        return _RECEIVER if places & set(others) else _FOREIGN_MODULE
    owner = str(row["symbol"] or "").rpartition(".")[0].rpartition(".")[2]
    if len(others) < len(receivers):
        if owner == wanted.owner or owner in wanted.aliases:
            return _SAME_CLASS
        return 0.0 if near else _FOREIGN_PLAIN
    return 0.0 if near or "new" in others else _FOREIGN_RECEIVER


def _is_alias(receiver: str, aliases: frozenset[str]) -> bool:
    """Whether a variable's name tells its class: orderService and service of OrderService, repo of OrderRepository."""
    plain = receiver.strip("_$").replace("_", "").lower()
    if len(plain) < 3:
        return False
    for alias in aliases:
        low = alias.lower()
        if low == plain or low.endswith(plain) or plain.endswith(low):
            return True
        words = [word.lower() for word in _CAMEL.findall(alias)]
        tail = re.sub(r".*_", "", receiver.strip("_$")).lower()
        if len(tail) > 2 and any(word.startswith(tail) for word in words[-1:]):
            return True
    return False


def _mentions(connection: sqlite3.Connection, document: int, aliases: frozenset[str]) -> bool:
    """Whether the text of a file names one of the classes."""
    conditions = " OR ".join("instr(text, ?)" for _ in aliases)
    row = connection.execute(
        f"SELECT 1 FROM chunks WHERE document = ? AND ({conditions}) LIMIT 1", (document, *sorted(aliases))
    ).fetchone()
    return row is not None


def _best(sites: Sequence[_Site], limit: int) -> list[_Site]:
    """The best sites, one for each calling definition; those in tests last."""
    ordered = sorted(sites, key=lambda site: (site.is_test, -site.score, site.row["uri"], site.row["line"] or 0))
    chosen: dict[tuple[str, str], _Site] = {}
    for site in ordered:
        chosen.setdefault((site.row["document_id"], site.row["symbol"] or site.row["part_of"]), site)
        if len(chosen) == limit:
            break
    return list(chosen.values())


def _as_caller(connection: sqlite3.Connection, row: sqlite3.Row, source: str, name: str) -> Caller:
    found = connection.execute("SELECT signature, text FROM chunks WHERE number = ?", (row["number"],)).fetchone()
    line = row["line"] or row["start_line"]
    signature = found["signature"]
    if not signature:
        calling = (text.strip() for text in str(found["text"]).split("\n"))
        signature = next((text for text in calling if name in text), row["uri"])
    return Caller(
        signature=str(signature)[:200],
        symbol=row["symbol"],
        locator=Locator(
            source=source,
            uri=row["uri"],
            revision=row["revision"],
            start_line=line,
            end_line=line,
            symbol=row["symbol"],
        ),
    )
