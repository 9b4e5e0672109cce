"""Error memory: what analyses of faults found out, kept apart from the source index, so that no indexing touches it.

A case keeps the text that it cites, its places and hashes. Vectors are computed from that text when they are needed, by
whatever embedder is in use, and kept in the vector cache: another embedder makes its own, and none is ever lost.
A case is seen by those who may see every source that it was taken from.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from knowledge.analysis import analyze
from knowledge.catalog import Catalog
from knowledge.error_memory_denials import denied_rows, deny, is_denied, plain_cause
from knowledge.errors import KnowledgeError, NotFound
from knowledge.index.vector_cache import VectorCache, text_key
from knowledge.lookup_code import find_definitions
from knowledge.masking import mask
from knowledge.ports import Embedder
from knowledge.types import Scope
from knowledge.types_cases import CitedText, ErrorCase, NewCase, Recalled

MAX_CASES_COMPARED = 2000  # of one service, the latest
MAX_EMBEDDED = 64  # texts that one recall embeds anew: after a swap the others follow with the next ones
MAX_TEXT_CHARS = 4000
MAX_CITED = 12
STALE_WEIGHT = 0.5
SIMILAR_AT_LEAST = 0.35
SAME_CAUSE_AT_LEAST = 0.7  # of two texts by vectors: measured on paraphrases and on other causes of one fault
_SAME_FAULT, _SAME_CLASS = 2.0, 1.0
_UNRELATED = (
    "The parser reads a comma where a number is expected.",
    "회의실 예약은 하루 전까지 신청한다.",
    "A disk is full on the build server.",
    "사용자가 로그아웃한 뒤 토큰이 지워지지 않는다.",
    "Bananas ripen faster beside apples.",
    "환율은 매일 아침 아홉 시에 갱신된다.",
)


def hash_of(text: str) -> str:
    """The hash under which a cited definition is known again; blanks at line ends do not count."""
    return hashlib.sha256("\n".join(line.rstrip() for line in text.strip().splitlines()).encode()).hexdigest()[:32]


class ErrorMemory:
    """Every method may be called from any thread; each change is one transaction of the catalog."""

    def __init__(
        self,
        catalog: Catalog,
        cache: VectorCache,
        *,
        embedder: Callable[[], Embedder | None],
        clock: Callable[[], datetime],
    ) -> None:
        """`embedder` is the one in use for text, or None; it may raise ToolDown or ModelMissing."""
        self._catalog = catalog
        self._cache = cache
        self._embedder = embedder
        self._clock = clock
        self._baselines: dict[str, float] = {}  # vector space -> cosine of unrelated texts

    # --- keeping --------------------------------------------------------------------------------

    def remember(self, case: NewCase) -> int | None:
        """The number of the case; the same one for the same origin. Everything in it is masked here.

        None when people have called this cause of this fault wrong, in these or in other words: it is not learnt
        again. A correction takes the place of every valid case of its fault, whose causes are not learnt again either.
        """
        now = self._clock().isoformat()
        row = _row_of(case)
        is_rejected = not case.is_correction and self.is_denied(case)
        with self._catalog.transaction() as connection:
            known = connection.execute("SELECT number FROM error_cases WHERE origin = ?", (case.origin,)).fetchone()
            if known is not None:
                return int(known[0])
            if is_rejected or (not case.is_correction and is_denied(connection, row)):
                return None
            if case.is_correction:
                connection.execute(
                    "UPDATE error_cases SET state = 'replaced', changed_at = ?"
                    " WHERE service = ? AND fingerprint = ? AND state = 'valid'",
                    (now, row["service"], row["fingerprint"]),
                )
            values = {**row, "learnt_at": now, "changed_at": now}
            inserted = connection.execute(
                f"INSERT INTO error_cases ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
            return inserted.lastrowid

    def take_out(self, origin: str) -> bool:
        """Whether a case was learnt from `origin`; it is called wrong, and its cause is not learnt again."""
        with self._catalog.transaction() as connection:
            row = connection.execute("SELECT * FROM error_cases WHERE origin = ?", (origin,)).fetchone()
            if row is None:
                return False
            deny(connection, row, self._clock().isoformat())
            return True

    def forget(self, number: int, *, scope: Scope) -> ErrorCase:
        """The case that was forgotten: its text is gone, and its cause is not learnt again. Raises NotFound."""
        case = self.show(number, scope=scope)
        self.forget_origin(case.origin)
        return case

    def forget_origin(self, origin: str) -> bool:
        """Whether a case was learnt from `origin`; it is forgotten as by `forget`."""
        with self._catalog.transaction() as connection:
            row = connection.execute("SELECT * FROM error_cases WHERE origin = ?", (origin,)).fetchone()
            if row is None:
                return False
            if row["cause"]:  # else it was forgotten before
                deny(connection, row, self._clock().isoformat())
            connection.execute(
                "UPDATE error_cases SET message = '', summary = '', cause = '', fix = '', cited = '[]', url = NULL"
                " WHERE number = ?",
                (row["number"],),
            )
        return True

    # --- looking --------------------------------------------------------------------------------

    def list_cases(self, *, scope: Scope, service: str | None = None, limit: int = 50) -> list[ErrorCase]:
        """Valid cases whose sources the scope allows, the latest first."""
        found = self._cases("state = 'valid'" + (" AND service = ?" if service else ""), [service] if service else [])
        return [self._judged(case) for case in found if _sees(scope, case)][:limit]

    def show(self, number: int, *, scope: Scope) -> ErrorCase:
        """A valid case. Raises NotFound for what is not there or not to be seen: nobody learns which."""
        found = [case for case in self._cases("number = ? AND state = 'valid'", [number]) if _sees(scope, case)]
        if not found:
            raise NotFound(f"There is no case {number}: `haechi cases list` shows those that you may see")
        return self._judged(found[0])

    def recall(
        self, *, service: str, error_class: str, fingerprint: str, text: str, scope: Scope, limit: int = 3
    ) -> list[Recalled]:
        """Past cases of a service for a fault: the same fault and class first, then similar ones; never wrong ones.

        What people said comes before what a model said; cases that are stale weigh less among their like. A vector
        that cannot be had now leaves the words to decide. A service that is not known shares nothing but the same
        fault.
        """
        found = self._cases("state = 'valid' AND service = ?", [service], nearest=(fingerprint, error_class))
        cases = [case for case in found if _sees(scope, case)]
        ranked: list[Recalled] = []
        for case, alike in zip(cases, self._likeness(mask(text), cases), strict=True):
            if case.fingerprint == fingerprint:
                ranked.append(Recalled(case=case, match="same", score=_SAME_FAULT + alike))
            elif service and error_class and case.error_class == error_class:
                ranked.append(Recalled(case=case, match="class", score=_SAME_CLASS + alike))
            elif service and alike >= SIMILAR_AT_LEAST:
                ranked.append(Recalled(case=case, match="similar", score=alike))
        ranked.sort(key=_order)
        weighed = [self._weighed(one) for one in ranked[: 10 * limit]]
        return sorted((one for one in weighed if one is not None), key=_order)[:limit]

    def is_denied(self, case: NewCase) -> bool:
        """Whether people have called the cause of this case wrong for its fault, or for one of its class: in the same
        words, in many of them, or, as far as the embedder can be asked now, in others that mean the same."""
        row = _row_of(case)
        with self._catalog.reading() as connection:
            if is_denied(connection, row):
                return True
            rejected = denied_rows(
                connection,
                service=str(row["service"]),
                error_class=str(row["error_class"]),
                fingerprint=str(row["fingerprint"]),
            )
        causes = [plain_cause(one["cause"]) for one in rejected[:MAX_EMBEDDED]]
        return max(self._alike(plain_cause(str(row["cause"])), causes), default=0.0) >= SAME_CAUSE_AT_LEAST

    def wrong_causes(
        self, *, service: str, error_class: str, fingerprint: str, scope: Scope, limit: int = 3
    ) -> list[str]:
        """Causes of a fault that people have called wrong, of cases that the scope allows, the latest first."""
        with self._catalog.reading() as connection:
            rows = denied_rows(connection, service=service, error_class=error_class, fingerprint=fingerprint)
        causes = (case.cause for case in map(_case_of, rows) if _sees(scope, case))
        return list(dict.fromkeys(causes))[:limit]

    # --- inside ---------------------------------------------------------------------------------

    def _cases(
        self, condition: str, values: Sequence[object], *, nearest: tuple[str, str] = ("\0", "\0")
    ) -> list[ErrorCase]:
        """The latest cases that meet the condition; those of this fingerprint and class are never cut off."""
        with self._catalog.reading() as connection:
            rows = connection.execute(
                f"SELECT * FROM error_cases WHERE {condition} ORDER BY fingerprint = ? DESC, error_class = ? DESC,"
                f" number DESC LIMIT {MAX_CASES_COMPARED}",
                (*values, *nearest),
            ).fetchall()
        return [_case_of(row) for row in rows]

    def _weighed(self, one: Recalled) -> Recalled | None:
        """The case with its staleness and the weight of that; None for a similar one that is not near enough then."""
        case = self._judged(one.case)
        if not case.is_stale:
            return replace(one, case=case)
        score = one.score * STALE_WEIGHT
        return None if one.match == "similar" and score < SIMILAR_AT_LEAST else replace(one, case=case, score=score)

    def _judged(self, case: ErrorCase) -> ErrorCase:
        """The case with its staleness: a cited definition is not in the index any more as it was cited. One that
        only moved to another file is not stale."""
        for cited in case.cited:
            if cited.start_line is None:
                continue
            generations = self._catalog.active_generations(Scope.of(cited.source))
            if not generations:
                continue  # nothing is known: neither fresh nor stale
            there = self._catalog.chunks_in_files([cited.uri], generations).get(cited.uri, ())
            if any(hash_of(chunk.text) == cited.text_hash for chunk in there):
                continue
            moved = find_definitions(self._catalog, cited.symbol, generations) if cited.symbol else ()
            if not any(hash_of(chunk.text) == cited.text_hash for chunk in moved):
                return replace(case, is_stale=True)
        return case

    def _likeness(self, text: str, cases: Sequence[ErrorCase]) -> list[float]:
        """How alike a text and each case are, 0 to 1: the better of shared telling words and of vectors."""
        texts = [_search_text(case) for case in cases]
        by_vectors = self._alike(text, texts)
        return [max(one, other) for one, other in zip(_shared_words(text, texts), by_vectors, strict=True)]

    def _alike(self, text: str, texts: Sequence[str]) -> list[float]:
        """How near vectors lie, from 0, as near as unrelated texts do, to 1; all 0 where none can be had now."""
        try:
            embedder = self._embedder()
            return self._by_vectors(embedder, text, texts) if embedder is not None and texts else [0.0] * len(texts)
        except KnowledgeError:
            return [0.0] * len(texts)

    def _by_vectors(self, embedder: Embedder, text: str, texts: Sequence[str]) -> list[float]:
        space = embedder.space.key
        keys = [text_key(one) for one in texts]
        known = self._cache.get(space, keys)
        missing = {key: one for key, one in zip(keys, texts, strict=True) if key not in known}
        if missing:
            now = dict(list(missing.items())[:MAX_EMBEDDED])
            fresh = dict(zip(now, embedder.embed_passages(list(now.values())), strict=True))
            self._cache.put(space, fresh)
            known = {**known, **fresh}
        query, base = embedder.embed_passages([text])[0], self._baseline(embedder)
        return [max(0.0, (float(query @ known[key]) - base) / (1 - base)) if key in known else 0.0 for key in keys]

    def _baseline(self, embedder: Embedder) -> float:
        """The cosine that unrelated texts have in the space of this embedder: 0.1 in one, 0.8 in another."""
        space = embedder.space.key
        if space not in self._baselines:
            vectors = embedder.embed_passages(_UNRELATED)
            cosines = [float(one @ other) for one, other in combinations(vectors, 2)]
            self._baselines[space] = min(0.95, max(0.0, sum(cosines) / len(cosines)))
        return self._baselines[space]


def _row_of(case: NewCase) -> dict[str, object]:
    masked = [replace(one, text=mask(one.text)) for one in case.cited[:MAX_CITED]]
    cited = [
        replace(one, text=one.text[:MAX_TEXT_CHARS], text_hash=one.text_hash or hash_of(one.text)) for one in masked
    ]
    stored = [
        {
            "source": one.source, "uri": one.uri, "revision": one.revision, "start_line": one.start_line,
            "end_line": one.end_line, "symbol": one.symbol, "text": one.text,
            "text_hash": one.text_hash,
        }
        for one in cited
    ]  # fmt: skip
    return {
        "service": mask(case.service),
        "error_class": mask(case.error_class),
        "fingerprint": case.fingerprint,
        "message": mask(case.message)[:MAX_TEXT_CHARS],
        "summary": mask(case.summary)[:MAX_TEXT_CHARS],
        "cause": mask(case.cause)[:MAX_TEXT_CHARS],
        "fix": mask(case.fix)[: 4 * MAX_TEXT_CHARS],
        "cited": json.dumps(stored, ensure_ascii=False),
        "sources": json.dumps(sorted({*(one.source for one in case.cited), *case.sources}), ensure_ascii=False),
        "origin": case.origin,
        "url": case.url,
        "is_correction": int(case.is_correction),
    }


def _case_of(row: sqlite3.Row) -> ErrorCase:
    return ErrorCase(
        number=row["number"], service=row["service"], error_class=row["error_class"], fingerprint=row["fingerprint"],
        message=row["message"], summary=row["summary"], cause=row["cause"], fix=row["fix"],
        cited=tuple(CitedText(**one) for one in json.loads(row["cited"])), sources=tuple(json.loads(row["sources"])),
        origin=row["origin"], url=row["url"], is_correction=bool(row["is_correction"]), state=row["state"],
        learnt_at=datetime.fromisoformat(row["learnt_at"]),
    )  # fmt: skip


def _order(one: Recalled) -> tuple[int, bool, float, int]:
    order = {"same": 0, "class": 1, "similar": 2}
    return order[one.match], not one.case.is_correction, -one.score, -one.case.number


def _sees(scope: Scope, case: ErrorCase) -> bool:
    """A case without sources rests on words of people alone; it is shown where everything is."""
    return scope.sources is None or (bool(case.sources) and set(case.sources) <= scope.sources)


def _search_text(case: ErrorCase) -> str:
    return "\n".join(part for part in (case.error_class, case.message, case.cause) if part)[:MAX_TEXT_CHARS]


def _shared_words(text: str, others: Iterable[str]) -> list[float]:
    """Cosine of telling words, each weighed by how few of the texts hold it."""
    bags = [Counter(analyze(one)) for one in others]
    wanted = Counter(analyze(text))
    spread = Counter(word for bag in [*bags, wanted] for word in bag)
    total = len(bags) + 1
    weights: Mapping[str, float] = {word: math.log(1 + total / count) for word, count in spread.items()}

    def length(bag: Counter[str]) -> float:
        return math.sqrt(sum(weights[word] ** 2 for word in bag)) or 1.0

    return [
        sum(weights[word] ** 2 for word in bag.keys() & wanted.keys()) / (length(bag) * length(wanted)) for bag in bags
    ]
