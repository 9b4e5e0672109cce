"""Keeps one source up to date: discover, compare, read, write, embed, take over, clean up.

Everything that is committed stays when a run is stopped or killed; the next run picks up the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation
from knowledge.catalog_rows import KnownDocument, PreparedDocument
from knowledge.catalog_writes import delete_document, put_document
from knowledge.errors import SourceEmpty, TransientError
from knowledge.index.collections import collection_name
from knowledge.index.reconcile import remove_unused_vectors
from knowledge.index.spaces import EmbedderShelf
from knowledge.ingest_changes import record_changes
from knowledge.ingest_embed import Filled, VectorFiller
from knowledge.ingest_generation import (
    finish_generation,
    generations_to_write,
    remove_retired,
    wanted_spaces,
)
from knowledge.ingest_looks import read_looks, record_looks
from knowledge.ingest_moves import carry_moves
from knowledge.ingest_overlap import EarlyEmbedding, begin_early
from knowledge.ingest_parts import complete_parts, discover, record_parts, record_skipped
from knowledge.ingest_plan import SyncPlan, lost_suddenly, make_plan
from knowledge.ingest_prepare import log_failure
from knowledge.ingest_read import DocumentReader
from knowledge.ingest_warm import WarmReaders
from knowledge.ports import Source, VectorIndex
from knowledge.types import Discovery, DocumentReport, FailedItem, FileLook, Progress, SourceConfig, SyncReport

ProgressHook = Callable[[Progress], None]
Stage = Literal["discover", "read", "embed", "done"]
Change = Literal["added", "updated", "deleted", "unchanged", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncTools:
    """What a sync works with."""

    catalog: Catalog
    vectors: VectorIndex
    filler: VectorFiller
    shelf: EmbedderShelf
    clock: Callable[[], datetime]
    readers: WarmReaders
    ocr_folder: Path  # raw OCR, unmasked: by the file's hash, so that a scan is read once
    on_step: Callable[[str], None]


@dataclass(slots=True)
class _Outcome:
    failed: list[FailedItem] = field(default_factory=list)
    documents: list[DocumentReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    embedded: int = 0
    removed_ids: set[str] = field(default_factory=set)
    alarm: str | None = None  # what an admin has to look at, although the sync went on
    processed: set[str] = field(default_factory=set)


class SourceSync:
    """One run over one source."""

    def __init__(
        self,
        tools: SyncTools,
        config: SourceConfig,
        source: Source,
        embedders: Sequence[str],
        *,
        progress: ProgressHook,
        should_stop: Callable[[], bool],
    ) -> None:
        self._tools = tools
        self._catalog = tools.catalog
        self._config = config
        self._source = source
        self._embedders = embedders
        self._progress = progress
        self._should_stop = should_stop
        self._looks: Mapping[str, FileLook] = {}
        self._reader = DocumentReader(config, source, readers=tools.readers, ocr_folder=tools.ocr_folder)

    def run(self, *, force: bool) -> SyncReport:
        """Brings the catalog and the vectors up to date. Raises SourceMissing, StorageFull and other errors."""
        started = self._tools.clock()
        self._report_progress("discover", 0, None)
        spaces, problems = wanted_spaces(self._tools.shelf, self._embedders)
        discovery = self._discover(complete_parts(self._catalog, self._config, spaces), force=force)
        generations = generations_to_write(self._catalog, self._config, spaces, now=started)
        known = {g.id: self._catalog.known_documents(g.id) for g in generations}
        outcome = _Outcome(problems=problems)
        discovery = discovery if force else self._keep_lost(discovery, known[generations[0].id], outcome)
        plan = make_plan(discovery, known, generations, force=force)
        plan = plan if force else self._carry_moves(plan, discovery, outcome)
        self._delete_gone(plan, outcome, moved=False)
        self._keep_revisions(plan, discovery)
        tools, items = self._tools, len(plan.to_read)
        with begin_early(generations, tools.filler, tools.shelf, items=items, should_stop=self._should_stop) as early:
            self._read(plan, discovery.revision, outcome)
            early.end_growth()
            complete = not self._should_stop()
            if complete:
                self._delete_gone(plan, outcome, moved=True)
                sound = self._without_gaps(generations, known, discovery)
                self._record_complete(sound, generations, plan, discovery, outcome)
                record_changes(self._catalog, self._config.name, self._source, discovery, should_stop=self._should_stop)
            self._name_problems(discovery, outcome)
            self._remove_vectors(generations, outcome, at_least=1)
            self._embed(generations, outcome, early)
        self._finish(generations, outcome)
        return self._report(plan, outcome, started, stopped=self._should_stop())

    def preview(self, *, force: bool) -> SyncReport:
        """What `run` would do, document by document; nothing is written."""
        started = self._tools.clock()
        spaces, _ = wanted_spaces(self._tools.shelf, self._embedders)
        discovery = self._discover(complete_parts(self._catalog, self._config, spaces), force=force)
        shown = [g for g in self._catalog.generations(self._config.name) if g.state == "active"]
        known = {g.id: self._catalog.known_documents(g.id) for g in shown}
        generation = shown or [_nothing_yet(self._config.name)]
        plan = make_plan(discovery, known or {generation[0].id: {}}, generation, force=force)
        outcome = _Outcome()
        for prepared in self._prepared(plan, discovery.revision):
            outcome.documents.append(_document_report(prepared, plan))
            if prepared.status == "failed":
                outcome.failed.append(FailedItem(uri=prepared.uri, reason=prepared.reason or ""))
        outcome.documents.extend(DocumentReport(uri=uri, change="deleted") for uri in plan.deleted)
        for kept in plan.kept.get(generation[0].id, ()):
            outcome.documents.append(DocumentReport(uri=kept.uri, change="unchanged"))
        outcome.documents.sort(key=lambda report: report.uri)
        return self._report(plan, outcome, started, stopped=self._should_stop(), dry_run=True)

    def _discover(self, known: Mapping[str, str], *, force: bool) -> Discovery:
        """What the source holds. Raises SourceEmpty when that would remove all its documents, unless `force`."""
        self._looks = read_looks(self._catalog, self._config.name) if self._config.kind == "documents" else {}
        discovery = discover(
            self._source,
            known=known,
            looks=self._looks,
            force=force,
            progress=partial(self._report_progress, "discover"),
            should_stop=self._should_stop,
        )
        if discovery.items or discovery.kept_prefixes or discovery.held or force:
            return discovery
        name = self._config.name
        shown = [g for g in self._catalog.generations(name) if g.state == "active"]
        if any(self._catalog.known_documents(g.id) for g in shown):
            raise SourceEmpty(
                f"{self._config.place} looks empty, so what it had is kept: check that it is mounted and what "
                f"include and exclude say; run `haechi ingest --source {name} --force` if it is meant to be empty"
            )
        return discovery

    def _keep_lost(self, discovery: Discovery, known: Mapping[str, KnownDocument], outcome: _Outcome) -> Discovery:
        """Keeps what a folder has lost when that is most of it; a commit of a repository is what somebody decided."""
        lost = lost_suddenly(discovery, known) if self._config.kind == "documents" else frozenset()
        if not lost:
            return discovery
        name = self._config.name
        outcome.alarm = (
            f"{len(lost)} of {len(known)} documents of {self._config.place} are suddenly gone, so they are kept: check "
            f"that everything is mounted; run `haechi ingest --source {name} --force` if they were meant to go"
        )
        outcome.problems.append(outcome.alarm)
        return replace(discovery, held=discovery.held | lost)

    def _without_gaps(
        self,
        generations: Sequence[Generation],
        known: Mapping[int, Mapping[str, KnownDocument]],
        discovery: Discovery,
    ) -> list[Generation]:
        """The generations that now hold everything: one that is built must not take over while a document is shown
        that could not be read for it."""
        shown = known[generations[0].id]
        unread = discovery.held | self._reader.vanished
        owed = {uri for uri in shown if uri in unread or uri.startswith(discovery.kept_prefixes)}
        return [g for g in generations if g.state == "active" or not owed - known[g.id].keys()]

    def _carry_moves(self, plan: SyncPlan, discovery: Discovery, outcome: _Outcome) -> SyncPlan:
        if self._config.kind != "repository" or not plan.moved:
            return plan
        plan, moved = carry_moves(
            self._catalog,
            plan,
            source=self._config.name,
            revision=discovery.revision,
            clock=self._tools.clock,
            on_step=self._tools.on_step,
            should_stop=self._should_stop,
        )
        outcome.processed |= moved.uris
        outcome.removed_ids |= moved.removed_ids
        return plan

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, plan: SyncPlan, revision: str, outcome: _Outcome) -> None:
        total = len(plan.to_read)
        for done, prepared in enumerate(self._prepared(plan, revision), start=1):
            self._write(plan, prepared, outcome)
            self._report_progress("read", done, total, prepared.uri)

    def _prepared(self, plan: SyncPlan, revision: str) -> Iterator[PreparedDocument]:
        return self._reader.prepared(plan, revision, should_stop=self._should_stop)

    # --- writing ----------------------------------------------------------------------------------

    def _write(self, plan: SyncPlan, prepared: PreparedDocument, outcome: _Outcome) -> None:
        with self._catalog.transaction() as connection:
            for generation in plan.targets[prepared.uri]:
                outcome.removed_ids |= put_document(connection, generation, prepared, now=self._tools.clock())
            self._tools.on_step("document-written")
        self._tools.on_step("document-committed")
        outcome.processed.add(prepared.uri)
        if prepared.status == "failed":
            log_failure(prepared)
            outcome.failed.append(FailedItem(uri=prepared.uri, reason=prepared.reason or ""))

    def _delete_gone(self, plan: SyncPlan, outcome: _Outcome, *, moved: bool) -> None:
        for generation, documents in plan.gone.items():
            for document in documents:
                if (document.uri in plan.moved) == moved:
                    with self._catalog.transaction() as connection:
                        outcome.removed_ids |= delete_document(connection, generation, document.number)
                    self._tools.on_step("document-deleted")

    def _keep_revisions(self, plan: SyncPlan, discovery: Discovery) -> None:
        """Unchanged files of a repository belong to the new commit too: permalinks point to what is shown."""
        if self._config.kind != "repository":
            return
        own = {item.uri: item.revision for item in discovery.items if item.revision is not None}
        outdated = [
            (revision, document.number)
            for documents in plan.kept.values()
            for document in documents
            if document.revision != (revision := own.get(document.uri, discovery.revision))
        ]
        if outdated:
            with self._catalog.transaction() as connection:
                connection.executemany("UPDATE documents SET revision = ? WHERE number = ?", outdated)

    def _record_complete(
        self,
        complete: Sequence[Generation],
        generations: Sequence[Generation],
        plan: SyncPlan,
        discovery: Discovery,
        outcome: _Outcome,
    ) -> None:
        now = self._tools.clock()
        with self._catalog.transaction() as connection:
            connection.execute(
                "UPDATE sources SET kind = ?, revision = ?, last_sync = ?, problem = ? WHERE name = ?",
                (self._config.kind, discovery.revision, now.isoformat(), outcome.alarm, self._config.name),
            )
            connection.executemany("UPDATE generations SET complete = 1 WHERE id = ?", [(g.id,) for g in complete])
            record_skipped(connection, self._config.name, plan.skipped, discovery.kept_prefixes)
            record_looks(connection, self._config.name, self._looks, discovery.looks)
            record_parts(connection, generations, discovery.parts, now=now)
        self._tools.on_step("documents-complete")

    def _name_problems(self, discovery: Discovery, outcome: _Outcome) -> None:
        outcome.failed.extend(
            FailedItem(uri=part.prefix, reason=part.problem) for part in discovery.parts if part.problem is not None
        )

    # --- vectors ----------------------------------------------------------------------------------

    def _remove_vectors(self, generations: Sequence[Generation], outcome: _Outcome, *, at_least: int) -> None:
        if len(outcome.removed_ids) < at_least:
            return
        unused = sorted(outcome.removed_ids - self._catalog.ids_in_use(outcome.removed_ids))
        outcome.removed_ids.clear()
        spaces = {recorded.space.key for g in generations for recorded in g.spaces if recorded.space is not None}
        try:
            for key in spaces:
                name = collection_name(self._catalog.installation, self._config.name, key)
                self._tools.vectors.delete(name, unused)
            self._tools.on_step("vectors-removed")
        except TransientError as error:
            outcome.problems.append(str(error))

    def _embed(self, generations: Sequence[Generation], outcome: _Outcome, early: EarlyEmbedding) -> None:
        _note_filled(outcome, early.finish(self._catalog, self._report_embedding))
        for generation in generations:
            for recorded in generation.spaces:
                if self._should_stop():
                    return
                if (
                    recorded.space is None
                    or early.key == (generation.id, recorded.embedder)
                    or not self._catalog.pending_count(generation.id, recorded.embedder)
                ):
                    continue
                space, _ = self._tools.shelf.space_of(recorded.embedder)
                if space != recorded.space:
                    continue  # the embedder is down, or has changed: a new generation is being built for it
                filled = self._tools.filler.fill(
                    generation,
                    recorded,
                    self._tools.shelf.get(recorded.embedder),
                    should_stop=self._should_stop,
                    progress=partial(self._report_embedding, recorded.embedder),
                )
                _note_filled(outcome, filled)

    def _finish(self, generations: Sequence[Generation], outcome: _Outcome) -> None:
        """Lets a complete generation take over, and removes what nobody needs any more."""
        for generation in generations:
            if not self._should_stop() and finish_generation(self._catalog, generation, now=self._tools.clock()):
                self._tools.on_step("taken-over")
        if not self._should_stop() and remove_retired(self._catalog, self._config.name, should_stop=self._should_stop):
            self._tools.on_step("retired-removed")
            try:
                remove_unused_vectors(self._catalog, self._tools.vectors, self._config.name)
            except TransientError as error:
                outcome.problems.append(str(error))

    # --- reporting --------------------------------------------------------------------------------

    def _report(
        self, plan: SyncPlan, outcome: _Outcome, started: datetime, *, stopped: bool, dry_run: bool = False
    ) -> SyncReport:
        shown = self._catalog.generations(self._config.name)
        active = next((g for g in shown if g.state == "active"), None)
        chunks = self._catalog.counts(active.id)[1] if active is not None else 0
        pending = 0
        if active is not None:
            pending = sum(self._catalog.pending_count(active.id, recorded.embedder) for recorded in active.spaces)
        done = outcome.processed if not dry_run else {report.uri for report in outcome.documents}
        failures = {item.uri for item in outcome.failed}
        self._report_progress("done", len(done), len(plan.to_read))
        return SyncReport(
            source=self._config.name,
            added=len((plan.added & done) - failures),
            updated=len((plan.updated & done) - failures),
            deleted=len(plan.deleted),
            unchanged=plan.unchanged,
            failed=tuple(sorted(outcome.failed, key=lambda item: item.uri)),
            duration_s=(self._tools.clock() - started).total_seconds(),
            chunks=sum(report.chunks for report in outcome.documents) if dry_run else chunks,
            embedded=outcome.embedded,
            pending=pending,
            dry_run=dry_run,
            documents=tuple(outcome.documents),
            problem="; ".join(dict.fromkeys(outcome.problems)) or None,
            stopped=stopped,
        )

    def _report_embedding(self, embedder: str, done: int, total: int) -> None:
        self._report_progress("embed", done, total, embedder)

    def _report_progress(self, stage: Stage, done: int, total: int | None, detail: str = "") -> None:
        self._progress(Progress(source=self._config.name, stage=stage, done=done, total=total, detail=detail))


def _note_filled(outcome: _Outcome, filled: Filled) -> None:
    outcome.embedded += filled.embedded
    if filled.problem is not None:
        outcome.problems.append(filled.problem)


def _document_report(prepared: PreparedDocument, plan: SyncPlan) -> DocumentReport:
    change: Change = "failed" if prepared.status == "failed" else "added" if prepared.uri in plan.added else "updated"
    reason = (prepared.reason,) if prepared.reason else ()
    return DocumentReport(
        uri=prepared.uri,
        change=change,
        format=prepared.format,
        extractor=prepared.extractor,
        blocks=len(prepared.blocks),
        chunks=len(prepared.drafts),
        warnings=(*prepared.warnings, *reason),
    )


def _nothing_yet(source: str) -> Generation:
    return Generation(id=0, source=source, state="active", fingerprint="", complete=False, spaces=())
