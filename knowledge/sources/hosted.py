"""The repositories of an organisation, a group or a user as one source: uri = repository/path in it.

Each repository is a part: one that has not moved is not listed again, one that cannot be reached keeps what is known of
it, and neither stops the others.
"""

from __future__ import annotations

import hashlib
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from knowledge.errors import KnowledgeError, NotFound, SourceEmpty, SourceMissing, StorageFull
from knowledge.masking import MASKING_VERSION
from knowledge.ports import DiscoveryTask
from knowledge.sources import hosting
from knowledge.sources.git import GitSource
from knowledge.sources.git_access import GitAccess, scheme_of
from knowledge.sources.git_filters import FILTERS_VERSION
from knowledge.sources.git_mirror import FOLLOWED, EmptyRepository, Mirror
from knowledge.sources.hosted_index import HostedIndex, prefix_of
from knowledge.sources.hosting import Choice, HostedRepository, RepositoryHost
from knowledge.types import Discovered, Discovery, Part, SkippedItem

FETCHES_AT_ONCE = 4
_FEW = 4  # of so few repositories, all may well be gone at once


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """One repository: what it holds, or why it could not be reached."""

    part: Part
    items: tuple[Discovered, ...] = ()
    skipped: tuple[SkippedItem, ...] = ()


class HostedSource:
    """Files of many repositories, each at its own commit."""

    def __init__(
        self,
        name: str,
        host: RepositoryHost,
        folder: Path,
        access: GitAccess,
        choice: Choice,
        *,
        branch: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        """`folder` holds the copies; `branch` is followed where it is set, else each default branch."""
        self.name = name
        self._host = host
        self._folder = folder
        self._access = access
        self._choice = choice
        self._branch = branch
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._index = HostedIndex(folder)
        self._open: dict[str, GitSource] = {}

    def discover(self) -> Discovery:
        return self.discover_with(DiscoveryTask())

    def discover_with(self, task: DiscoveryTask) -> Discovery:
        """See `RemoteSource`. Raises SourceMissing and ToolDown when the list itself cannot be had: nothing changes."""
        task.progress(0, None, f"listing {self._host.place}")
        listed = self._host.repositories(
            should_stop=task.should_stop, waiting=lambda words: task.progress(0, None, words)
        )
        left_out = [(repository, self._choice.reason_to_skip(repository)) for repository in listed]
        chosen = [repository for repository, reason in left_out if reason is None]
        skipped = [SkippedItem(uri=repository.path, reason=reason) for repository, reason in left_out if reason]
        self._require_plausible(chosen, task)
        self._close_open()
        outcomes = sorted(self._outcomes(chosen, task), key=lambda outcome: outcome.part.prefix)
        self._index.write(chosen)
        if not task.should_stop():
            self._index.drop_others(chosen)
        skipped += [item for outcome in outcomes for item in outcome.skipped]
        parts = tuple(outcome.part for outcome in outcomes)
        return Discovery(
            revision=_revision(parts),
            items=tuple(sorted((i for outcome in outcomes for i in outcome.items), key=lambda item: item.uri)),
            skipped=tuple(skipped),
            parts=parts,
        )

    def fetch(self, uri: str) -> bytes:
        """Content of `uri` at the commit of the last discovery. Raises NotFound, UnreadableFile."""
        source, inner = self._locate(uri)
        return source.fetch(inner)

    def file_at(self, uri: str, revision: str) -> bytes:
        """Unmasked content of `uri` at its repository's commit `revision`: callers mask."""
        source, inner = self._locate(uri)
        return source.file_at(inner, revision)

    def history_place(self, uri: str) -> tuple[Path, str]:
        """(copy of the repository, path in it) of a file. Raises NotFound, SourceMissing."""
        source, inner = self._locate(uri)
        return source.history_place(inner)

    def permalink(self, uri: str, revision: str, start_line: int | None, end_line: int | None) -> str | None:
        """Address of these lines at this commit of the repository that holds them."""
        try:
            source, inner = self._locate(uri)
        except (NotFound, SourceMissing):
            return None
        return source.permalink(inner, revision, start_line, end_line)

    def describe(self) -> str:
        """How many repositories there are and how many are read. Raises SourceMissing, ToolDown."""
        listed = self._host.repositories(should_stop=lambda: False, waiting=lambda words: None)
        chosen = sum(self._choice.reason_to_skip(repository) is None for repository in listed)
        return f"{len(listed)} repositories, {chosen} of them read"

    def close(self) -> None:
        """Ends the git processes and connections; the source can still be used for reading afterwards."""
        self._close_open()
        self._host.close()

    # --- one repository after the other -----------------------------------------------------------

    def _require_plausible(self, chosen: Sequence[HostedRepository], task: DiscoveryTask) -> None:
        """Raises SourceEmpty when most repositories seem to be gone: a token that lost its rights looks like that."""
        copies = {known.key for known in self._index.known().values()}
        gone = copies - {repository.key for repository in chosen}
        if task.known and len(copies) >= _FEW and 2 * len(gone) > len(copies) and not task.force:
            raise SourceEmpty(
                f"{len(gone)} of {len(copies)} repositories of source {self.name} are not in the list of "
                f"{self._host.place} any more, so all are kept as they are: check what the token may read; run "
                f"`haechi ingest --source {self.name} --force` if they are meant to be gone"
            )

    def _outcomes(self, chosen: Sequence[HostedRepository], task: DiscoveryTask) -> Iterator[_Outcome]:
        """Fetches several at once, because most of the time is spent waiting; lists each as soon as it is here."""
        with ThreadPoolExecutor(FETCHES_AT_ONCE, thread_name_prefix="haechi-fetch") as pool:
            futures = {pool.submit(self._update, repository, task): repository for repository in chosen}
            for done, future in enumerate(as_completed(futures), start=1):
                repository = futures[future]
                task.progress(done, len(chosen), repository.path)
                yield self._outcome(repository, future, task)

    def _update(self, repository: HostedRepository, task: DiscoveryTask) -> str:
        """The commit that is followed now, fetched."""
        mirror = self._mirror(repository)
        mirror.update(should_stop=task.should_stop)
        commit = mirror.commit()
        if commit is None:
            raise SourceMissing(f"{repository.path} was fetched without its commit: run `haechi ingest` again")
        return commit

    def _outcome(self, repository: HostedRepository, future: Future[str], task: DiscoveryTask) -> _Outcome:
        prefix = prefix_of(repository)
        try:
            commit = future.result()
            state = self._state(repository, commit)
            if task.known.get(prefix) == state and not task.force:
                return _Outcome(part=Part(prefix=prefix, state=state, revision=commit, is_kept=True))
            return self._listed(repository, commit, state)
        except EmptyRepository:
            shutil.rmtree(self._index.copy_of(repository.key), ignore_errors=True)
            skipped = (SkippedItem(uri=repository.path, reason=hosting.EMPTY),)
            return _Outcome(part=Part(prefix=prefix, state="empty"), skipped=skipped)
        except StorageFull:
            raise
        except KnowledgeError as error:
            return self._unreachable(repository, task, str(error))

    def _unreachable(self, repository: HostedRepository, task: DiscoveryTask, problem: str) -> _Outcome:
        """What is known stays; what is not known, after a rename or for a new generation, comes from the copy."""
        prefix = prefix_of(repository)
        known = task.known.get(prefix)
        commit = None if known else Mirror(self._index.copy_of(repository.key), "", self._access).commit()
        if commit is not None:
            with suppress(KnowledgeError):
                listed = self._listed(repository, commit, self._state(repository, commit))
                return replace(listed, part=replace(listed.part, problem=problem))
        return _Outcome(part=Part(prefix=prefix, state=known or "", is_kept=True, problem=problem))

    def _listed(self, repository: HostedRepository, commit: str, state: str) -> _Outcome:
        prefix = prefix_of(repository)
        source = self._source(repository.key, repository.web)
        self._open[repository.key] = source
        found = source.discover()
        source.close()  # hundreds of git processes would wait for nothing; a later read starts one again
        return _Outcome(
            part=Part(prefix=prefix, state=state, revision=commit),
            items=tuple(replace(item, uri=_uri(prefix, item.uri), revision=commit) for item in found.items),
            skipped=tuple(replace(item, uri=_uri(prefix, item.uri)) for item in found.skipped),
        )

    def _state(self, repository: HostedRepository, commit: str) -> str:
        """Changes when the part would give other items: another commit, other patterns, other rules."""
        settings = "\0".join((repository.key, FILTERS_VERSION, MASKING_VERSION, *self._include, "", *self._exclude))
        return f"{commit}:{hashlib.sha256(settings.encode()).hexdigest()[:12]}"

    def _mirror(self, repository: HostedRepository) -> Mirror:
        url = repository.ssh_url if self._access.ssh_key_file is not None else repository.https_url
        if scheme_of(url) not in ("https", "http", "ssh") or (self._access.server_only and not self._is_own(url)):
            raise SourceMissing(
                f"{repository.path}: its host gives the address {url}, which is on another server: check base_url there"
            )
        copy = self._index.copy_of(repository.key)
        return Mirror(copy, url, self._access, branch=self._branch, what=f"repository {repository.path}")

    def _is_own(self, url: str) -> bool:
        return (urlsplit(url).hostname or "") == self._access.server_only or scheme_of(url) == "ssh"

    # --- reading ----------------------------------------------------------------------------------

    def _locate(self, uri: str) -> tuple[GitSource, str]:
        known = self._index.find(uri)
        if known is None:
            raise NotFound(f"{uri} is in no repository of source {self.name}: run `haechi ingest` to refresh it")
        source = self._open.get(known.key)
        if source is None:
            source = self._open[known.key] = self._source(known.key, known.web)
        return source, uri.removeprefix(known.prefix)

    def _source(self, key: str, web: str) -> GitSource:
        return GitSource(
            self.name,
            self._index.copy_of(key),
            None,
            self._include,
            self._exclude,
            reference=FOLLOWED,
            web=web,
            host_kind=self._host.kind,
        )

    def _close_open(self) -> None:
        for source in self._open.values():
            source.close()
        self._open.clear()


def _uri(prefix: str, uri: str) -> str:
    return unicodedata.normalize("NFC", prefix + uri)


def _revision(parts: Sequence[Part]) -> str:
    """One name for all commits together; it is none of them."""
    digest = hashlib.sha256("\n".join(f"{part.prefix}\0{part.state}" for part in parts).encode()).hexdigest()
    return f"parts-{digest[:32]}"
