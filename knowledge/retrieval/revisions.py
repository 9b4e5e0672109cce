"""Revisions of one regulation: what holds at the time that is asked about comes first, the rest is marked and follows.

Until when a wording held follows from the other revisions that are in the index now, so that nothing has to be written
again when one comes or goes. Without a date nothing is preferred.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import squeeze
from knowledge.retrieval.moment import Moment
from knowledge.types import Chunk

OTHER_TIME_PRIOR = 0.8  # of a wording that does not hold at the time that is asked about
_LOOKED_UP = 4  # leading sections of another time whose counterpart is looked up when no search found it

_NUMBER = re.compile(r"제\d+조(?:의\d+)?|\[(?:별표|별지|별첨|서식|양식|세칙)[^\]]*\]|부칙")

Family = tuple[str, str]  # source and name


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisions:
    """The revisions of the regulations that candidates belong to, and which of them hold at a moment."""

    moment: Moment
    days: Mapping[Family, Sequence[date]]  # earliest first

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], moment: Moment, lookup: ChunkLookup, generations: Mapping[str, int]
    ) -> Revisions:
        families = dict.fromkeys(family for c in candidates if (family := family_of(c.chunk)) is not None)
        days = lookup.revision_dates(list(families), generations) if families else {}
        return cls(moment=moment, days=days)

    @property
    def differ(self) -> bool:
        """Whether some regulation is there in more than one revision, so that the time decides anything."""
        return any(len(days) > 1 for days in self.days.values())

    def held_then(self, family: Family | None) -> date | None:
        """The day since which the revision held that the moment asks for; None when none is known to have held."""
        days = self.days.get(family, ()) if family is not None else ()
        held = [day for day in days if day <= self.moment.last]
        if not held:
            return None
        if self.moment.previous:
            return held[-2] if len(held) > 1 else None
        return max(held, key=lambda day: (self._days_held(day, days), day))

    def holding(self, family: Family | None) -> date | None:
        """The same; of a time before every known revision the earliest, which is nearest; None without dates.

        When not even one has come into force yet, nothing is preferred.
        """
        known = self.held_then(family)
        if known is not None or self.moment.is_today:
            return known
        return next(iter(self.days.get(family, ())), None) if family is not None else None

    def holds(self, chunk: Chunk) -> bool:
        """False only for a wording that is known not to hold then, while another one is known to."""
        holding = self.holding(family_of(chunk))
        return holding is None or chunk.locator.valid_from is None or chunk.locator.valid_from == holding

    def until(self, chunk: Chunk) -> date | None:
        """The day from which the next revision holds, None for the last one."""
        start = chunk.locator.valid_from
        family = family_of(chunk)
        if start is None or family is None:
            return None
        return next((day for day in self.days.get(family, ()) if day > start), None)

    def unknown(self, candidates: Sequence[Candidate]) -> list[str]:
        """One sentence for each regulation among `candidates` of which no revision of the time asked about is here."""
        earliest: dict[Family, date] = {}
        for candidate in candidates:
            family = family_of(candidate.chunk)
            days = self.days.get(family, ()) if family is not None else ()
            if family is not None and days and self.held_then(family) is None:
                earliest[family] = days[0]
        if self.moment.is_today:
            return [f"{name} is not in force before {day}" for (_, name), day in earliest.items()]
        asked = "before its last revision" if self.moment.previous else f"for {self.moment.words}"
        return [
            f"the question asks {asked}: the earliest wording of {name} that is known holds since {day}"
            for (_, name), day in earliest.items()
        ]

    def _days_held(self, day: date, days: Sequence[date]) -> int:
        """How many days of the moment a revision held."""
        end = next((later for later in days if later > day), date.max)
        first, last = max(day, self.moment.first), min(end.toordinal() - 1, self.moment.last.toordinal())
        return max(0, last - first.toordinal() + 1)


def family_of(chunk: Chunk) -> Family | None:
    """The regulation of which the chunk holds one wording; None where there is only this one."""
    return (chunk.locator.source, chunk.family) if chunk.family is not None else None


def weigh_by_time(candidates: Sequence[Candidate], revisions: Revisions) -> list[Candidate]:
    """The candidates, those of another time with a lower score, and without those whose very words hold then too."""
    if not revisions.differ:
        return list(candidates)
    held = {_wording(c.chunk) for c in candidates if c.chunk.family is not None and revisions.holds(c.chunk)}
    kept = []
    for candidate in candidates:
        if not revisions.holds(candidate.chunk):
            if _wording(candidate.chunk) in held:
                continue
            candidate.score *= OTHER_TIME_PRIOR
        kept.append(candidate)
    return sorted(kept, key=lambda candidate: -candidate.score)


def in_order_of_time(
    ranked: Sequence[Candidate], revisions: Revisions, lookup: ChunkLookup, generations: Mapping[str, int]
) -> list[Candidate]:
    """The candidates, the section that holds at the time asked about in front of every other wording of it.

    A section that the question did not find, since it was reworded, is brought along by the wording that was found.
    """
    if not revisions.differ:
        return list(ranked)
    result: list[Candidate] = []
    placed: set[int] = set()
    looked_up = 0
    for candidate in ranked:
        if id(candidate) in placed:
            continue
        if not revisions.holds(candidate.chunk):
            counterpart = next((c for c in ranked if _is_counterpart(candidate.chunk, c.chunk, revisions)), None)
            if counterpart is None and looked_up < _LOOKED_UP:
                looked_up += 1
                counterpart = _look_up(candidate, revisions, lookup, generations)
            if counterpart is not None and not any(counterpart.group == c.group for c in result):
                placed.add(id(counterpart))
                result.append(counterpart)
        placed.add(id(candidate))
        result.append(candidate)
    return result


def marked_with_time(candidates: Sequence[Candidate], revisions: Revisions) -> None:
    """Writes into every locator until when its wording held."""
    for candidate in candidates:
        until = revisions.until(candidate.chunk)
        if until is not None:
            locator = replace(candidate.chunk.locator, valid_until=until)
            candidate.chunk = replace(candidate.chunk, locator=locator)


def _wording(chunk: Chunk) -> tuple[str, str | None, str]:
    return chunk.locator.source, chunk.family, squeeze(chunk.text)


def _is_counterpart(chunk: Chunk, other: Chunk, revisions: Revisions) -> bool:
    """Whether `other` is the same section of the same regulation in the revision that holds."""
    return (
        other.family == chunk.family
        and other.locator.source == chunk.locator.source
        and other.locator.valid_from == revisions.holding(family_of(chunk))
        and _same_section(chunk, other) > 0
    )


def _same_section(chunk: Chunk, other: Chunk) -> int:
    """2 for the same number and title, 1 for the same of either, 0 for another section."""
    number, title = _section_of(chunk)
    other_number, other_title = _section_of(other)
    if title and title == other_title:
        return 2 if number == other_number else 1
    return 1 if number and number == other_number and not (title and other_title) else 0


def _section_of(chunk: Chunk) -> tuple[str, str]:
    """Number and title of a section, out of its label: "제12조" and "휴가", "[별표 1]" and "여비", "" and a heading."""
    label = (chunk.locator.label or "").rpartition(" > ")[2]
    found = next(reversed(list(_NUMBER.finditer(label))), None)
    if found is None:
        return "", squeeze(label)
    return squeeze(found.group()), squeeze(label[found.end() :]).strip("()")


def _look_up(
    candidate: Candidate, revisions: Revisions, lookup: ChunkLookup, generations: Mapping[str, int]
) -> Candidate | None:
    chunk = candidate.chunk
    family = family_of(chunk)
    holding = revisions.holding(family)
    if family is None or holding is None:
        return None
    others = lookup.revision_chunks(*family, holding, generations)
    best = max(others, key=lambda other: _same_section(chunk, other), default=None)
    if best is None or _same_section(chunk, best) == 0:
        return None
    return Candidate(chunk=best, score=candidate.score, features=dict(candidate.features), via=chunk.id)
