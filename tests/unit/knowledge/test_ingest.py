"""Syncs of a folder: what is read, embedded, kept and removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.api import ExtractionLimits
from knowledge.errors import Busy, NotFound, SourceMissing, UnknownSource
from knowledge.types import Discovery, Progress, Scope, SourceConfig
from tests.unit.knowledge.shelf import EVERYTHING, LEAVE, TRAVEL, Shelf, git


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    yield shelf
    shelf.close()


def test_the_first_sync_makes_documents_searchable_by_words_and_by_vectors(shelf: Shelf) -> None:
    report = shelf.sync()
    assert (report.added, report.updated, report.deleted, report.unchanged) == (2, 0, 0, 0)
    assert report.failed == ()
    assert report.pending == 0
    assert report.embedded == report.chunks > 2
    assert "15일의 연차휴가" in shelf.keyword("연차휴가")[0]
    assert any("15일의 연차휴가" in text for text in shelf.dense("연차휴가 15일"))
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert (status.documents, status.chunks, status.pending) == (2, report.chunks, {"counting": 0})
    assert status.last_sync is not None


def test_a_second_sync_reads_and_embeds_nothing(shelf: Shelf) -> None:
    shelf.sync()
    shelf.embedder.passages.clear()
    steps: list[str] = []
    shelf.on_step = steps.append
    report = shelf.sync()
    assert (report.added, report.updated, report.unchanged, report.embedded) == (0, 0, 2, 0)
    assert shelf.embedder.passages == []
    assert steps == ["documents-complete"]


def test_only_changed_sections_are_embedded_again_and_old_ones_leave_every_index(shelf: Shelf) -> None:
    shelf.sync()
    shelf.embedder.passages.clear()
    shelf.write("leave.md", LEAVE.replace("15일", "16일"))
    report = shelf.sync()
    assert (report.updated, report.unchanged, report.embedded) == (1, 1, 1)
    assert ["16일" in text for text in shelf.embedder.passages] == [True]
    assert all("15일" not in text for text in [*shelf.keyword("연차휴가"), *shelf.dense("연차휴가 15일")])
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()


def test_a_renamed_document_is_not_embedded_again(shelf: Shelf) -> None:
    shelf.sync()
    shelf.embedder.passages.clear()
    (shelf.folder / "leave.md").rename(shelf.folder / "휴가규정.md")
    report = shelf.sync()
    assert (report.added, report.deleted) == (1, 1)
    reembedded = [text for text in shelf.embedder.passages if "leave" not in text and "휴가규정" not in text]
    assert reembedded == []
    assert {document.uri for document in shelf.knowledge.list_documents(scope=EVERYTHING)} == {
        "휴가규정.md",
        "travel.md",
    }


def test_the_same_text_in_two_documents_is_embedded_once(shelf: Shelf) -> None:
    shelf.write("copies/leave.md", LEAVE)
    shelf.sync()
    assert len(shelf.embedder.passages) == len(set(shelf.embedder.passages))
    assert len(shelf.keyword("연차휴가")) >= 2


def test_a_deleted_document_leaves_catalog_and_vectors(shelf: Shelf) -> None:
    shelf.sync()
    (shelf.folder / "travel.md").unlink()
    report = shelf.sync()
    assert report.deleted == 1
    assert shelf.keyword("여비") == []
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()


def test_one_bad_file_is_named_and_stops_nothing(shelf: Shelf) -> None:
    (shelf.folder / "broken.docx").write_bytes(b"PK\x03\x04 this is no archive")
    report = shelf.sync()
    assert report.added == 2
    assert [item.uri for item in report.failed] == ["broken.docx"]
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert status.failed == report.failed
    assert status.failed[0].reason


def test_a_bad_file_is_tried_again_when_it_changes_or_by_force_only(shelf: Shelf) -> None:
    bad = shelf.folder / "broken.docx"
    bad.write_bytes(b"PK\x03\x04 this is no archive")
    shelf.sync()
    again = shelf.sync()
    assert (again.failed, again.unchanged) == ((), 3)
    assert [item.uri for item in shelf.sync(force=True).failed] == ["broken.docx"]
    bad.unlink()
    shelf.write("broken.docx", "# 이제는 읽힌다\n\n명절 상여금을 준다.\n")
    assert shelf.sync().updated == 1
    assert shelf.keyword("상여금")


def test_text_of_a_document_that_became_unreadable_is_not_shown_any_more(shelf: Shelf) -> None:
    shelf.sync()
    (shelf.folder / "leave.md").write_bytes(b"PK\x03\x04 this is no archive")
    assert [item.uri for item in shelf.sync().failed] == ["leave.md"]
    assert shelf.keyword("연차휴가") == []


def test_a_missing_folder_is_an_error_and_deletes_nothing(shelf: Shelf) -> None:
    shelf.sync()
    shelf.folder.rename(shelf.place / "elsewhere")
    with pytest.raises(SourceMissing, match="docs"):
        shelf.sync()
    assert shelf.keyword("연차휴가")
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert status.problem is not None
    assert "docs" in status.problem
    (shelf.place / "elsewhere").rename(shelf.folder)
    shelf.sync()
    assert shelf.knowledge.status(scope=EVERYTHING)[0].problem is None


def test_one_missing_source_does_not_hold_up_the_others(shelf: Shelf) -> None:
    shelf.sources = (SourceConfig(name="gone", kind="documents", path=shelf.place / "nowhere"), *shelf.sources)
    reports = {report.source: report for report in shelf.knowledge.sync()}
    assert reports["rules"].added == 2
    assert reports["gone"].problem is not None


def test_a_source_that_left_the_configuration_is_hidden_at_once_and_removed_by_the_next_sync(shelf: Shelf) -> None:
    other = shelf.place / "other"
    other.mkdir()
    (other / "secret.md").write_text("# 비밀\n\n인수합병 계획.\n", encoding="utf-8")
    shelf.sources = (*shelf.sources, SourceConfig(name="secret", kind="documents", path=other))
    shelf.knowledge.sync()
    assert shelf.keyword("인수합병")
    shelf.close()
    shelf.sources = shelf.sources[:1]
    assert shelf.keyword("인수합병") == []
    assert len(shelf.vector_ids()) == 2
    shelf.sync()
    assert len(shelf.vector_ids()) == 1
    assert shelf.knowledge._catalog.source_names() == {"rules"}


def test_without_its_embedder_a_sync_still_makes_words_findable_and_a_later_one_adds_the_vectors(shelf: Shelf) -> None:
    shelf.embedder.down = True
    report = shelf.sync()
    assert report.added == 2
    assert report.pending == report.chunks
    assert report.problem is not None
    assert "embedding server" in report.problem
    assert shelf.keyword("연차휴가")
    assert shelf.knowledge._catalog.pending_counts(shelf.knowledge._catalog.active_generations(EVERYTHING)) == {
        ("rules", "counting"): (report.chunks, report.chunks)
    }
    shelf.embedder.down = False
    later = shelf.sync()
    assert (later.pending, later.embedded, later.problem) == (0, report.chunks, None)
    assert shelf.dense("연차휴가")


def test_an_embedder_that_fails_half_way_leaves_the_rest_pending(shelf: Shelf) -> None:
    shelf.sync()
    shelf.write("more.md", "# 상여규정\n\n상여금은 연 2회 지급한다.\n")

    def fail_after_documents(step: str) -> None:
        if step == "documents-complete":
            shelf.embedder.down = True

    shelf.on_step = fail_after_documents
    report = shelf.sync()
    assert report.pending > 0
    assert shelf.keyword("상여금")
    shelf.on_step = lambda step: None
    shelf.embedder.down = False
    assert shelf.sync().pending == 0


def test_a_text_that_the_embedder_rejects_costs_its_neighbours_nothing(shelf: Shelf) -> None:
    shelf.embedder.rejects = "하루 3만원"
    report = shelf.sync()
    assert report.pending == 1
    assert report.embedded == report.chunks - 1
    assert any("연차휴가" in text for text in shelf.dense("연차휴가"))
    shelf.embedder.rejects = None
    assert shelf.sync().pending == 0


def test_a_stopped_sync_keeps_what_it_did_and_the_next_one_does_the_rest(shelf: Shelf) -> None:
    steps: list[str] = []
    shelf.on_step = steps.append
    report = shelf.sync(should_stop=lambda: "document-committed" in steps)
    assert report.stopped
    assert report.added == 1
    assert len(shelf.knowledge.list_documents(scope=EVERYTHING)) == 1
    rest = shelf.sync()
    assert (rest.added, rest.unchanged, rest.pending) == (1, 1, 0)


def test_a_sync_stopped_between_vectors_goes_on_where_it_was(shelf: Shelf) -> None:
    for number in range(40):
        shelf.write(f"more-{number}.md", f"# 규정 {number}\n\n이것은 {number}번째 규정의 본문이다.\n")
    steps: list[str] = []
    shelf.on_step = steps.append
    stopped = shelf.sync(should_stop=lambda: "vectors-cached" in steps)
    assert stopped.stopped
    assert 0 < stopped.embedded < stopped.chunks
    first = len(shelf.embedder.passages)
    rest = shelf.sync()
    assert rest.pending == 0
    assert len(shelf.embedder.passages) == len(set(shelf.embedder.passages)) > first


def test_a_dry_run_reports_every_document_and_writes_nothing(shelf: Shelf) -> None:
    shelf.sync()
    shelf.write("leave.md", LEAVE + "\n## 제3조(공가)\n예비군 훈련에는 공가를 준다.\n")
    shelf.write("new.md", "# 새 규정\n\n재택근무를 허용한다.\n")
    (shelf.folder / "travel.md").unlink()
    (report,) = shelf.knowledge.sync(dry_run=True)
    assert report.dry_run
    assert {document.uri: document.change for document in report.documents} == {
        "leave.md": "updated",
        "new.md": "added",
        "travel.md": "deleted",
    }
    assert all(document.chunks > 0 for document in report.documents if document.change != "deleted")
    assert shelf.keyword("재택근무") == []
    assert shelf.keyword("여비")


def test_progress_names_stages_and_counts(shelf: Shelf) -> None:
    seen: list[Progress] = []
    shelf.knowledge.sync(progress=seen.append)
    assert [step.stage for step in seen if step.stage == "read"] == ["read", "read"]
    assert [step.done for step in seen if step.stage == "read"] == [1, 2]
    assert {step.stage for step in seen} == {"discover", "read", "embed", "done"}


def test_an_unknown_source_is_named_with_the_known_ones(shelf: Shelf) -> None:
    with pytest.raises(UnknownSource, match="rules"):
        shelf.knowledge.sync(sources=["ruless"])


def test_two_syncs_at_a_time_are_refused(shelf: Shelf) -> None:
    errors: list[Exception] = []

    def sync_again(step: str) -> None:
        if step == "documents-complete":
            try:
                shelf.knowledge.sync()
            except Busy as error:
                errors.append(error)

    shelf.on_step = sync_again
    shelf.sync()
    assert len(errors) == 1


def test_many_documents_are_read_in_worker_processes(shelf: Shelf) -> None:
    for number in range(6):
        shelf.write(f"more-{number}.md", f"# 규정 {number}\n\n이것은 {number}번째 규정이다.\n")
    (shelf.folder / "broken.docx").write_bytes(b"PK\x03\x04 this is no archive")
    report = shelf.sync()
    assert report.added == 8
    assert [item.uri for item in report.failed] == ["broken.docx"]


def test_a_file_that_goes_beyond_the_limits_fails_alone_and_names_the_setting(shelf: Shelf) -> None:
    for number in range(3):
        shelf.write(f"more-{number}.md", f"# 규정 {number}\n\n이것은 {number}번째 규정이다.\n")
    shelf.limits = ExtractionLimits(memory_bytes=1_000_000, memory_setting="ingest.file_memory_limit_mb")
    report = shelf.sync()
    assert report.added == 0
    assert len(report.failed) == 5
    assert all("raise ingest.file_memory_limit_mb" in item.reason for item in report.failed)


CODE = '''"""Payments."""


def charge(amount):
    """Charges the card."""
    return amount * 2


def refund(amount):
    """Pays back."""
    return charge(-amount)
'''


@pytest.fixture
def repository(shelf: Shelf) -> Path:
    path = shelf.place / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "payments.py").write_text(CODE, encoding="utf-8")
    (path / "other.py").write_text("def other():\n    return 1\n", encoding="utf-8")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "first")
    shelf.sources = (SourceConfig(name="shop", kind="repository", path=path),)
    return path


def test_moved_lines_of_code_are_updated_and_nothing_is_embedded_again(shelf: Shelf, repository: Path) -> None:
    shelf.sync()
    before = {chunk.locator.symbol: chunk for chunk in _code_chunks(shelf)}
    shelf.embedder.passages.clear()
    (repository / "payments.py").write_text(
        CODE.replace("\n\n\ndef charge", "\n\n\n\n\n\ndef charge"), encoding="utf-8"
    )
    git(repository, "commit", "-q", "-am", "blank lines")
    report = shelf.sync()
    assert (report.updated, report.embedded) == (1, 0)
    after = {chunk.locator.symbol: chunk for chunk in _code_chunks(shelf)}
    assert after["refund"].id == before["refund"].id
    assert after["refund"].locator.start_line == (before["refund"].locator.start_line or 0) + 3


def test_unchanged_files_follow_the_commit_and_evidence_shows_their_lines(shelf: Shelf, repository: Path) -> None:
    shelf.sync()
    (repository / "other.py").write_text("def other():\n    return 2\n", encoding="utf-8")
    git(repository, "commit", "-q", "-am", "second")
    commit = git(repository, "rev-parse", "HEAD")
    shelf.sync()
    chunk = next(chunk for chunk in _code_chunks(shelf) if chunk.locator.symbol == "refund")
    assert chunk.locator.revision == commit
    passage = shelf.knowledge.passage(chunk.id, scope=EVERYTHING)
    assert passage.locator == chunk.locator
    assert passage.lines[(chunk.locator.start_line or 0) - 1] == "def refund(amount):"
    assert passage.evidence_kind == "code"


def test_callers_of_a_function_are_recorded(shelf: Shelf, repository: Path) -> None:
    shelf.sync()
    with shelf.knowledge._catalog.reading() as connection:
        rows = connection.execute(
            "SELECT c.symbol FROM callers k JOIN chunks c ON c.number = k.chunk WHERE k.name = 'charge'"
        ).fetchall()
    assert [row[0] for row in rows] == ["refund"]


def test_evidence_outside_the_scope_does_not_exist(shelf: Shelf) -> None:
    shelf.sync()
    (chunk, *_) = shelf.chunk_ids()
    assert shelf.knowledge.passage(chunk, scope=Scope.of("rules")).blocks
    for scope in (Scope.of(), Scope.of("other")):
        with pytest.raises(NotFound):
            shelf.knowledge.passage(chunk, scope=scope)
        with pytest.raises(NotFound):
            shelf.knowledge.read("leave.md", "제2조", scope=scope)
        assert shelf.knowledge.list_documents(scope=scope) == []
        assert shelf.knowledge.status(scope=scope) == []
        assert shelf.keyword("연차휴가", scope=scope) == []


def _code_chunks(shelf: Shelf) -> list:  # type: ignore[type-arg]
    catalog = shelf.knowledge._catalog
    return list(catalog.chunks_where("1", (), catalog.active_generations(Scope.of("shop"))))


# --- one source that fails, or looks empty --------------------------------------------------------


def test_a_damaged_object_fails_its_file_alone_and_other_sources_go_on(shelf: Shelf, repository: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD:other.py")
    damaged = repository / ".git" / "objects" / blob[:2] / blob[2:]
    damaged.chmod(0o600)
    damaged.write_bytes(b"this is no object")
    shelf.sources = (*shelf.sources, SourceConfig(name="rules", kind="documents", path=shelf.folder))
    reports = {report.source: report for report in shelf.knowledge.sync()}
    assert reports["rules"].added == 2
    shop = reports["shop"]
    assert shop.problem or [item.uri for item in shop.failed] == ["other.py"]


class Broken:
    """A source whose listing fails in a way that no adapter announces."""

    name = "shop"

    def discover(self) -> Discovery:
        raise NotFound("an object is not in the repository")

    def fetch(self, uri: str) -> bytes:
        raise NotFound(uri)


def test_an_error_of_one_source_is_its_problem_and_not_that_of_the_others(shelf: Shelf) -> None:
    broken = SourceConfig(name="shop", kind="repository", path=shelf.place)
    shelf.sources = (broken, *shelf.sources)
    knowledge = shelf.knowledge
    build = knowledge._syncer._build_source
    knowledge._syncer._build_source = lambda config: Broken() if config.name == "shop" else build(config)
    reports = {report.source: report for report in knowledge.sync()}
    assert reports["shop"].problem == "an object is not in the repository"
    assert reports["rules"].added == 2
    status = {status.source: status for status in knowledge.status(scope=EVERYTHING)}
    assert status["shop"].problem == "an object is not in the repository"


def test_a_folder_that_is_suddenly_empty_keeps_its_documents_until_somebody_insists(shelf: Shelf) -> None:
    shelf.sync()
    for file in shelf.folder.iterdir():
        file.unlink()
    report = shelf.sync()
    assert report.problem is not None
    assert "looks empty" in report.problem
    assert "haechi ingest --source rules --force" in report.problem
    assert shelf.keyword("연차휴가")
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert status.problem == report.problem
    (preview,) = shelf.knowledge.sync(dry_run=True)
    assert preview.problem == report.problem
    assert shelf.sync(force=True).deleted == 2
    assert shelf.keyword("연차휴가") == []
    assert shelf.sync().problem is None
