"""Search: question -> candidates of every ranking -> fusion -> order -> evidence -> verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from knowledge.analysis import analyze
from knowledge.ports import ChangeIndex, ChunkLookup, KeywordIndex, Reranker, VectorIndex
from knowledge.rerank.config import RerankerConfig
from knowledge.rerank.features import completeness, most_telling_part, rank_by_features, rank_by_whole_sections
from knowledge.rerank.model_order import RERANKER, ModelOrder
from knowledge.retrieval.articles import asks_for_sections_alone, locate_articles
from knowledge.retrieval.calibration import Calibrations, Fingerprint
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_history import note_changes
from knowledge.retrieval.code_links import likely_first, note_callers, with_modifiers
from knowledge.retrieval.coverage import TermWeights, term_weights
from knowledge.retrieval.expand import merge_parts, one_per_group
from knowledge.retrieval.foreign_words import ENGLISH_PROBE, temper_unknown, with_wordings_counted
from knowledge.retrieval.fusion import fuse_rankings
from knowledge.retrieval.gate import NOTHING_LACKS, gate_features, judge
from knowledge.retrieval.links import with_linked_sections
from knowledge.retrieval.misread import with_misread_forms
from knowledge.retrieval.missing import find_lack
from knowledge.retrieval.moment import Moment, moment_of
from knowledge.retrieval.outcomes import Outcome, combine
from knowledge.retrieval.places import locate_files, locate_frames
from knowledge.retrieval.question import Question, understand, without_wordings
from knowledge.retrieval.recall import DENSE, KEYWORD, Recall, Recalled, Spaces
from knowledge.retrieval.revisions import Revisions, in_order_of_time, marked_with_time, weigh_by_time
from knowledge.retrieval.versions import chunking_version
from knowledge.types import Evidence, EvidenceKind, Scope

KINDS: tuple[EvidenceKind, ...] = ("docs", "code")
ADDED_WEIGHT = 0.5  # of a ranking for the question in the words of the texts
FILES_WEIGHT = 1.0  # of the chunks of a file that the question mentions
_CANDIDATES_PER_RANKING = 100
_RANKED = 80  # candidates whose text is looked at
_TRIES = 4  # of a search while the index goes on
_ANSWERING = 2  # pieces of evidence whose time must be that of the question
_SHORT_SECTION = 2  # parts that are shown together wherever the search found something
_ROWS_CHOSEN = 6  # leading sections that are shown around the row that is asked for
_MERGED = 10  # leading pieces of evidence that get their neighbouring parts


@dataclass(slots=True, kw_only=True)
class _Found:
    """What was found of one kind, in the order of its features, before a model is asked and the gate judges."""

    kind: EvidenceKind
    generations: Mapping[str, int]
    question: Question
    weights: dict[str, float]
    ranked: list[Candidate]
    revisions: Revisions
    recalled: Recalled
    features: dict[str, float]  # that the gate looks at


class SearchPipeline:
    """Searches what a scope allows. Thread-safe; holds no state but the cache of query vectors."""

    def __init__(
        self,
        *,
        catalog: ChunkLookup,
        keywords: KeywordIndex,
        vectors: VectorIndex,
        spaces: Spaces,
        reranker: Reranker | None,
        calibrations: Calibrations,
        clock: Callable[[], datetime],
        timezone: str = "Asia/Seoul",
        changes: ChangeIndex | None = None,
        reranking: RerankerConfig | None = None,
    ) -> None:
        """`timezone` says what day it is: a regulation comes into force at midnight where it holds."""
        self._catalog = catalog
        self._keywords = keywords
        self._spaces = spaces
        self._by_model = ModelOrder(reranker, reranking or RerankerConfig(), clock)
        self._calibrations = calibrations
        self._clock = clock
        self._timezone = ZoneInfo(timezone)
        self._changes = changes
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="search")
        self._recall = Recall(keywords=keywords, vectors=vectors, spaces=spaces, executor=self._executor, clock=clock)

    def search(self, query: str, *, scope: Scope, top_k: int, kind: EvidenceKind | None) -> Evidence:
        """Evidence of at most `top_k` chunks with a verdict; without a kind both are searched and judged apart.

        Raises what the catalog and the keyword index raise. An embedder that is down only degrades the result.
        """
        started = time.perf_counter()
        for _ in range(_TRIES):
            generations = self._catalog.active_generations(scope)
            outcomes = self._search_kinds(query, generations, kind, top_k)
            moved = any(outcome.vanished for outcome in outcomes)
            if not moved and self._catalog.active_generations(scope) == generations:
                break  # else the index went on meanwhile: what was found is of two states
        return combine(query, outcomes, asked=kind, top_k=top_k, total_ms=(time.perf_counter() - started) * 1000)

    def _search_kinds(
        self, query: str, generations: Mapping[str, int], kind: EvidenceKind | None, top_k: int
    ) -> list[Outcome]:
        kinds = self._catalog.evidence_kinds()
        found = []
        for one in KINDS if kind is None else (kind,):
            of_kind = {source: number for source, number in generations.items() if kinds.get(source) == one}
            if of_kind:
                found.append(self._found(query, one, of_kind, top_k))
        shares = self._by_model.shares([one.features.get("coverage", 0.0) for one in found])
        outcomes: list[Outcome] = []
        for of_one, share in zip(found, shares, strict=True):
            is_down = any(tool.name == RERANKER and tool.state == "down" for o in outcomes for tool in o.tools)
            outcomes.append(self._judged(of_one, top_k, candidates=0 if is_down else share))  # it is waited for once
        return outcomes

    def is_calibrated(self, source: str, kind: EvidenceKind) -> bool:
        """Whether there is a calibration for exactly the vector spaces and versions of this source."""
        return self._calibrations.find(self._fingerprint(kind, [source])) is not None

    def fingerprint(self, kind: EvidenceKind, scope: Scope) -> Fingerprint:
        """What a calibration for the sources of this kind in the scope would be made for."""
        kinds = self._catalog.evidence_kinds()
        sources = [source for source in self._catalog.active_generations(scope) if kinds.get(source) == kind]
        return self._fingerprint(kind, sources)

    def gate_features(self, query: str, *, scope: Scope, kind: EvidenceKind) -> dict[str, float]:
        """The features that the gate sees for a question; empty when nothing was found. For calibration."""
        kinds = self._catalog.evidence_kinds()
        generations = self._catalog.active_generations(scope)
        of_kind = {source: number for source, number in generations.items() if kinds.get(source) == kind}
        return self._judged(self._found(query, kind, of_kind, 8), 8, candidates=0).features if of_kind else {}

    # --- one kind ---------------------------------------------------------------------------------

    def _found(self, query: str, kind: EvidenceKind, generations: Mapping[str, int], top_k: int) -> _Found:
        question = understand(query, kind)
        if kind == "docs":
            question = with_misread_forms(
                question, lambda terms: self._keywords.document_frequencies(terms, generations=generations)[0]
            )
        limit = max(_CANDIDATES_PER_RANKING, 3 * top_k)
        recalled = self._recall.gather(question, generations, limit=limit)
        candidates = self._fused(question, recalled, generations, limit)[: max(_RANKED, top_k)]
        revisions = Revisions.of(candidates, self._moment(query), self._catalog, generations)
        question, weights = self._weighed(question, kind, revisions)
        started = time.perf_counter()
        ranked = weigh_by_time(rank_by_features(question, candidates, weights), revisions)
        recalled.took_ms["rerank"] = (time.perf_counter() - started) * 1000
        return _Found(
            kind=kind,
            generations=generations,
            question=question,
            weights=weights,
            ranked=ranked,
            revisions=revisions,
            recalled=recalled,
            features=gate_features(question, ranked, weights),
        )

    def _judged(self, found: _Found, top_k: int, *, candidates: int) -> Outcome:
        """The evidence of one kind with its verdict, after a model has read so many candidates. What it says changes
        the order alone: the verdict rests on the order that the gate was measured with."""
        kind, generations, question, weights = found.kind, found.generations, found.question, found.weights
        recalled, revisions, features = found.recalled, found.revisions, found.features
        started = time.perf_counter()
        ranked = self._by_model.order(question, found.ranked, revisions, recalled, candidates=candidates)
        recalled.took_ms["rerank"] += (time.perf_counter() - started) * 1000
        located = self._located(question, ranked, generations)
        ranked = one_per_group([*located, *ranked])
        leading = self._with_parts(question, ranked[:_MERGED], generations, weights)
        lack = NOTHING_LACKS
        if kind == "docs":
            ranked = self._completed(question, leading, ranked[_MERGED:], generations, weights, revisions)[:top_k]
            marked_with_time(ranked, revisions)
            lack = find_lack(question, ranked, weights)
            features |= lack.features if features else {}
        else:
            ranked = with_modifiers(ranked, self._catalog, generations, top_k=top_k)
            note_callers(ranked[:top_k], self._catalog, generations)
        unknown = revisions.unknown(ranked[:_ANSWERING])
        pending = self._pending(generations)
        fits = not pending and not recalled.down
        calibration = self._calibrations.find(self._fingerprint(kind, generations)) if fits else None
        return Outcome(
            kind=kind,
            evidence=[candidate.to_scored() for candidate in ranked[:top_k]],
            verdict=judge(
                features,
                calibration,
                names_place=bool(located)
                and (kind == "code" or asks_for_sections_alone(question, [one.chunk for one in located])),
                lack=lack,
                unknown_time=bool(unknown),
            ),
            tools=recalled.tools,
            degraded=[*recalled.degraded, *pending, *unknown],
            took_ms=recalled.took_ms,
            features=features,
            vanished=recalled.vanished,
        )

    def _moment(self, query: str) -> Moment:
        return moment_of(query, today=self._clock().astimezone(self._timezone).date())

    def _weighed(
        self, question: Question, kind: EvidenceKind, revisions: Revisions
    ) -> tuple[Question, dict[str, float]]:
        """What each word of the question tells, and the question without translations that no text holds.

        The words of a time tell nothing once it has chosen the revision.
        """
        words = question.words
        if revisions.differ and not revisions.moment.is_today:
            said = set(analyze(revisions.moment.words))
            words = tuple(word for word in words if word not in said) or words
        others = question.added_terms if kind == "docs" else ()
        frequencies, total = self._keywords.document_frequencies(
            dict.fromkeys((*words, *others, ENGLISH_PROBE)), generations=self._universe(kind)
        )
        if kind == "docs":
            frequencies = with_wordings_counted(question, frequencies)
        weights = term_weights(words, frequencies, total, details=question.details)
        if kind == "docs":
            weights = temper_unknown(question, weights, frequencies, total)
        if not others:
            return question, weights
        unused = {other for other in others if other.isascii() and not frequencies.get(other)}
        return without_wordings(question, unused), TermWeights(weights, term_weights(others, frequencies, total))

    def _completed(
        self,
        question: Question,
        leading: Sequence[Candidate],
        rest: Sequence[Candidate],
        generations: Mapping[str, int],
        weights: Mapping[str, float],
        revisions: Revisions,
    ) -> list[Candidate]:
        """Sections judged whole, the wording that holds first, and what the leaders refer to beside them."""
        leading = rank_by_whole_sections(question, leading, weights)
        ordered = in_order_of_time([*leading, *rest], revisions, self._catalog, generations)
        fresh = [candidate for candidate in ordered[:_MERGED] if not candidate.parts]
        self._with_parts(question, fresh, generations, weights)
        linked = with_linked_sections(
            ordered,
            self._catalog,
            generations,
            completes=lambda first, second: completeness(question, first, second, weights),
        )
        linked.sort(key=lambda candidate: "named" not in candidate.features)
        return in_order_of_time(linked, revisions, self._catalog, generations)

    def _universe(self, kind: EvidenceKind) -> dict[str, int]:
        """Everything of a kind that is shown: how rare a word is does not depend on who asks, nor on the other kind."""
        kinds = self._catalog.evidence_kinds()
        shown = self._catalog.active_generations(Scope.everything())
        return {source: generation for source, generation in shown.items() if kinds.get(source) == kind}

    def _fused(
        self, question: Question, recalled: Recalled, generations: Mapping[str, int], limit: int
    ) -> list[Candidate]:
        """Visible candidates by reciprocal rank fusion, best first, with their places in every ranking."""
        rankings = {name: [chunk_id for chunk_id, _ in hits] for name, hits in recalled.rankings.items()}
        rankings |= {f"{name}+": [chunk_id for chunk_id, _ in hits] for name, hits in recalled.added.items()}
        mentioned = locate_files(question.files, self._catalog, generations)
        if mentioned:
            rankings["files"] = [chunk.id for chunk in mentioned]
        weights = {f"{name}+": ADDED_WEIGHT for name in recalled.added} | {"files": FILES_WEIGHT}
        fused = fuse_rankings(rankings, weights=weights)
        wanted = list(fused)[: 3 * limit]
        visible = self._catalog.visible_chunks(wanted, generations)
        by_words = {chunk_id for name in (KEYWORD, f"{KEYWORD}+") for chunk_id in rankings.get(name, ())}
        recalled.vanished = any(chunk_id in by_words and chunk_id not in visible for chunk_id in wanted)
        found = [Candidate(chunk=visible[id_], rrf=fused[id_]) for id_ in wanted if id_ in visible]
        if question.kind == "code":
            found = likely_first(found, about_tests=question.about_tests)
            note_changes(found, question, self._changes, sources=generations)
        candidates = {candidate.chunk.id: candidate for candidate in found}
        _note_scores(candidates, recalled)
        return list(candidates.values())

    def _located(
        self, question: Question, ranked: Sequence[Candidate], generations: Mapping[str, int]
    ) -> list[Candidate]:
        """The chunks that the stack frames of the question point to, innermost first, or the articles that it names."""
        if question.kind == "docs":
            chunks = locate_articles(question, ranked, self._catalog, generations)
        else:
            chunks = locate_frames(question.frames, self._catalog, generations) if question.frames else []
        known = {candidate.chunk.id: candidate for candidate in ranked}
        located = [known.get(chunk.id) or Candidate(chunk=chunk) for chunk in chunks]
        for candidate in located:
            candidate.features["named" if question.kind == "docs" else "frame"] = 1.0
        return located

    def _with_parts(
        self,
        question: Question,
        leading: Sequence[Candidate],
        generations: Mapping[str, int],
        weights: Mapping[str, float],
    ) -> list[Candidate]:
        """The candidates, each joined with the neighbouring parts of its section or definition.

        Of a long section of a document those around the line that holds most of the question.
        """
        for place, candidate in enumerate(leading):
            parts = self._catalog.group_parts(candidate.chunk, generations)
            chunk = candidate.chunk
            if question.kind == "docs" and len(parts) > _SHORT_SECTION and place < _ROWS_CHOSEN:
                chunk = most_telling_part(question, chunk, parts, weights)
            candidate.show(*merge_parts(chunk, parts))
        return list(leading)

    def _pending(self, generations: Mapping[str, int]) -> list[str]:
        """One sentence for each source and vector space whose vectors are not all there."""
        return [
            f"vectors pending for {missing} of {total} chunks of {source}"
            for (source, _), (missing, total) in sorted(self._catalog.pending_counts(generations).items())
            if missing
        ]

    def _fingerprint(self, kind: EvidenceKind, sources: Sequence[str] | Mapping[str, int]) -> Fingerprint:
        keys = {embedder.space.key for source in sources for embedder, _ in self._spaces(source)}
        return Fingerprint(kind=kind, spaces=tuple(sorted(keys)), chunking=chunking_version(kind))


def _note_scores(candidates: Mapping[str, Candidate], recalled: Recalled) -> None:
    """Writes into each candidate what every ranking said of it."""
    for name, hits in recalled.rankings.items():
        space = name.removeprefix(DENSE)
        for rank, (chunk_id, score) in enumerate(hits, 1):
            if (candidate := candidates.get(chunk_id)) is None:
                continue
            if name == KEYWORD:
                candidate.keyword_rank, candidate.keyword_score = rank, score
            else:
                candidate.dense_ranks[space], candidate.dense_scores[space] = rank, score
    for name, hits in recalled.added.items():
        for chunk_id, score in hits:
            if (candidate := candidates.get(chunk_id)) is None:
                continue
            if name == KEYWORD:
                candidate.added_keyword_score = score
            else:
                candidate.added_dense_scores[name.removeprefix(DENSE)] = score
