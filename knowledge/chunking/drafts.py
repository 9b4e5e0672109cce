"""Parts of a section to chunk drafts: names and labels in front of the index text, places, unique groups."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.chunking.effective import NO_REVISION, Revision
from knowledge.chunking.splitting import Part
from knowledge.types import ChunkDraft, ChunkKind


def build_drafts(
    parts: Sequence[Part],
    *,
    kind: ChunkKind,
    group: str,
    label: str | None,
    context: Sequence[str],
    regulation: str | None = None,
    anchors: tuple[str, ...] = (),
    refers_to: Sequence[tuple[str, ...]] = (),
    revision: Revision = NO_REVISION,
) -> list[ChunkDraft]:
    """One draft a part. `context` are the names in front of the index text; `refers_to` has one entry a part."""
    drafts = []
    for number, part in enumerate(parts):
        first, last = part.pieces[0], part.pieces[-1]
        names = dict.fromkeys(name for name in (*context, label) if name)
        drafts.append(
            ChunkDraft(
                kind=kind,
                text=part.text,
                index_text="\n".join((*names, part.text)),
                group=group,
                label=label,
                start_line=first.line,
                end_line=last.line,
                page=first.page,
                first_block=first.block,
                last_block=last.block,
                regulation=regulation,
                anchors=anchors,
                refers_to=refers_to[number] if refers_to else (),
                family=revision.family,
                valid_from=revision.valid_from,
            )
        )
    return drafts


class GroupNames:
    """Hands out group names that are unique within one document and stay put when other sections come and go."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def next(self, name: str) -> str:
        count = self._seen.get(name, 0) + 1
        self._seen[name] = count
        return name if count == 1 else f"{name} #{count}"
