"""More than 80 secrets of more than 25 kinds in a repository: none reaches a database, an index, a log or a reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from knowledge.analysis import analyze
from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.masking import mask
from knowledge.types import RemoteConfig, Scope, SourceConfig
from tests.e2e.haechi import Haechi
from tests.e2e.planted_secrets import PLACES, Planted, plant
from tests.emulators.git_repositories import commit, make_bare

UNMASKED_BY_DESIGN = ("mirrors", "ocr")


def found_in(content: str, planted: list[Planted]) -> list[str]:
    lowered = content.lower()
    return sorted({f"{p.kind} of {p.path}" for p in planted for line in p.lines if line.lower() in lowered})


@pytest.fixture(scope="module")
def secrets() -> tuple[dict[str, str], list[Planted]]:
    files, planted = plant(seed=20260302)
    assert len(planted) >= 80
    assert len({one.kind for one in planted}) >= 25
    return files, planted


@pytest.fixture(scope="module")
def haechi(tmp_path_factory: pytest.TempPathFactory, secrets: tuple[dict[str, str], list[Planted]]) -> Haechi:
    """The product after it has read the repository, with every word that it logs."""
    folder = tmp_path_factory.mktemp("planted")
    commit(make_bare(folder / "shop.git"), secrets[0])
    (folder / "haechi.toml").write_text(
        f'data_dir = "data"\n\n[[sources]]\nname = "shop"\nkind = "repository"\nurl = "{(folder / "shop.git").as_uri()}"\n\n'
        '[embedding]\ndocuments = ["hash"]\ncode = ["hash"]\n\n[ingest]\nworkers = 1\n\n[log]\nlevel = "debug"\n',
        encoding="utf-8",
    )
    return Haechi(folder)


@pytest.mark.parametrize("seed", range(12))
def test_every_kind_is_masked_in_every_place_and_lines_stay(seed: int) -> None:
    files, planted = plant(seed)
    masked = {path: mask(text) for path, text in files.items()}
    assert [leak for p in planted for leak in found_in(masked[p.path], [p])] == []
    assert [path for path, text in files.items() if masked[path].count("\n") != text.count("\n")] == []


def test_no_secret_is_stored_logged_or_shown(haechi: Haechi, secrets: tuple[dict[str, str], list[Planted]]) -> None:
    files, planted = secrets
    runs = [haechi.run("ingest", "--json"), haechi.run("list", "--json"), haechi.run("status", "--json")]
    assert all(run.returncode == 0 for run in runs), runs[0].stderr
    report = json.loads(runs[0].stdout)["sources"][0]
    assert (report["added"], report["failed"]) == (len(files), [])
    words = sorted({analyze(path)[0] for path in files})
    queries = [*("password token secret key", "connect", "resident number", "private key"), *words[:12]]
    runs.append(haechi.run("search", "--json", "--top-k", "50", "-", stdin="\n".join(queries)))
    runs.append(haechi.run("ask", "What is the db_password of connect_db_password?"))
    assert "[masked:" in runs[3].stdout
    for run in runs:
        assert found_in(run.stdout + run.stderr, planted) == []
    kept = 0
    for path in sorted((haechi.folder / "data").rglob("*")):
        inside = path.relative_to(haechi.folder / "data").parts
        if path.is_file() and not path.is_symlink() and inside[0] not in UNMASKED_BY_DESIGN:
            content = path.read_bytes()
            kept += len(content)
            assert found_in(content.decode("latin-1"), planted) == [], path
    assert kept > 100_000  # databases, the vector index, logs: something was looked at


def test_no_evidence_page_shows_a_secret(haechi: Haechi, secrets: tuple[dict[str, str], list[Planted]]) -> None:
    files, planted = secrets
    remote = RemoteConfig(url=(haechi.folder / "shop.git").as_uri())
    config = KnowledgeConfig(
        data_dir=haechi.folder / "data",
        sources=(SourceConfig(name="shop", kind="repository", remote=remote),),
        embedders={"docs": ("hash",), "code": ("hash",)},
    )
    knowledge = Knowledge.open(config)
    try:
        everything = Scope.everything()
        seen: dict[str, str] = {}
        chunks = knowledge._catalog.chunks_where("1", (), knowledge._catalog.active_generations(everything))
        for chunk in chunks:
            assert found_in(f"{chunk.text}\n{chunk.index_text}\n{chunk.signature}", planted) == []
            if chunk.locator.uri not in seen:
                passage = knowledge.passage(chunk.id, scope=everything)
                seen[chunk.locator.uri] = "\n".join(passage.lines)
        assert len(seen) > 0.9 * len(files)
        assert found_in("\n".join(seen.values()), planted) == []
    finally:
        knowledge.close()


def test_the_places_hold_code_configuration_comments_and_notebooks(tmp_path: Path) -> None:
    assert {Path(place).suffix for place in PLACES} >= {".py", ".ts", ".java", ".yaml", ".example", ".go", ".ipynb"}
