"""A git repository on this machine as a source of code; `git_remote` and `hosted` read their copies through it.

What is read is the commit at HEAD, or at `branch`, never the working tree: uncommitted work is nobody's knowledge yet.
Working trees, linked worktrees, detached checkouts and bare repositories all do. When the root is a folder inside a
working tree, the source is that folder alone, and its uris are relative to it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import NotFound, SourceMissing, UnreadableFile
from knowledge.masking import mask_path
from knowledge.sources import git_filters as filters
from knowledge.sources.git_links import HostKind, build_permalink, web_address
from knowledge.sources.git_process import BlobReader, GitFailed, run_git
from knowledge.sources.shown_names import hides_something, shown_name
from knowledge.types import Discovered, Discovery, SkippedItem

_REVISION = re.compile(r"[0-9a-f]{7,64}")
# Line breaks and other control characters, except tabs: such a name breaks lists, citations and terminals, and signs
# that turn the direction of writing show another name than there is.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of `git ls-tree`."""

    mode: str
    blob_id: str
    size_bytes: int
    path: str  # exactly as git has it


class GitSource:
    """Files of one commit; blob ids are the content hashes. Close it to end its git process."""

    def __init__(
        self,
        name: str,
        root: Path,
        branch: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        reference: str | None = None,  # the full name of what is followed, in a copy of a remote repository
        web: str | None = None,  # where people see the repository; None: as its remote says
        host_kind: HostKind | None = None,
    ) -> None:
        self.name = name
        self._root = root
        self._reference = reference
        self._host_kind = host_kind
        self._branch = branch
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._blobs = BlobReader(root)
        self._entries: dict[str, _Entry] | None = None  # of the last discovery, by uri
        self._content_reasons: dict[str, str | None] = {}  # blob id -> why it is not read; blobs never change
        self._prefix: str | None = None
        self._web = web

    def discover(self) -> Discovery:
        """Files of the followed commit that are worth reading, and the others with the reason. Raises SourceMissing."""
        prefix = self._find_prefix()
        commit = self._find_commit()
        entries, skipped = self._list(commit, prefix)
        rules = filters.PathRules(
            include=self._include, exclude=self._exclude, attributes=self._read_attributes(entries)
        )
        kept: dict[str, _Entry] = {}
        for entry in entries:
            plain = unicodedata.normalize("NFC", entry.path)
            reason = self._reason_to_skip(entry, plain, rules)
            uri = shown_name(plain, kept)
            if uri in kept:
                reason = filters.SAME_NAME
            if reason:
                skipped.append(SkippedItem(uri=uri, reason=reason))
            else:
                kept[uri] = entry
        self._entries = kept
        self._web = self._web or self._find_web_address()
        return Discovery(
            revision=commit,
            items=tuple(
                Discovered(uri=uri, content_hash=e.blob_id, size_bytes=e.size_bytes) for uri, e in sorted(kept.items())
            ),
            skipped=tuple(skipped),
        )

    def fetch(self, uri: str) -> bytes:
        """Content of `uri` at the commit of the last discovery. Raises NotFound, UnreadableFile."""
        if self._entries is None:
            self.discover()
        entry = (self._entries or {}).get(uri)
        if entry is None:
            raise NotFound(f"{uri} is not among the files of source {self.name}: run `haechi ingest` to refresh it")
        content = self._try_read(entry)
        if content is None:
            raise UnreadableFile(
                f"{uri} of source {self.name} cannot be read: object {entry.blob_id[:12]} of the repository "
                f"{self._root} is damaged or missing; run `git fsck` there and fetch it again from a sound copy"
            )
        return content

    def file_at(self, uri: str, revision: str) -> bytes:
        """Unmasked content of `uri` at commit `revision`: callers mask. Raises NotFound, UnreadableFile.

        Secrets files are refused here as well, because an evidence page must not show what the index may not hold.
        """
        if not _REVISION.fullmatch(revision) or filters.secret_reason(uri) or ".." in uri.split("/"):
            raise NotFound(f"{uri} at {revision} cannot be shown from source {self.name}")
        prefix = self._find_prefix()
        known = self._known(uri)
        # macOS writes decomposed names: the uri is composed, the path in the tree may not be.
        candidates = [known.path] if known else [uri, unicodedata.normalize("NFD", uri)]
        for path in dict.fromkeys(candidates):
            try:
                return self._blobs.read(f"{revision}:{prefix}{path}")
            except NotFound:
                continue
            except UnreadableFile as e:
                raise UnreadableFile(f"{uri} of source {self.name} cannot be shown: {e}") from e
        raise NotFound(f"{uri} is not in source {self.name} at commit {revision[:12]}")

    def permalink(self, uri: str, revision: str, start_line: int | None, end_line: int | None) -> str | None:
        """Address of these lines at this commit on the repository's web host; None for a plain local repository."""
        try:
            prefix = self._find_prefix()
            web = self._web or self._find_web_address()
        except SourceMissing:
            return None
        if web is None or hides_something(uri):  # an address of the true name would show what was masked
            return None
        return build_permalink(web, prefix + uri, revision, start_line, end_line, kind=self._host_kind)

    def history_place(self, uri: str) -> tuple[Path, str]:
        """The repository and the path in it whose history is that of `uri`. Raises NotFound, SourceMissing."""
        if filters.secret_reason(uri) or ".." in uri.split("/"):
            raise NotFound(f"{uri} of source {self.name} is never shown")
        known = self._known(uri)
        prefix = self._find_prefix()
        top = self._root
        if prefix:  # paths of a history count from the top of the working tree
            top = Path(run_git(self._root, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").strip())
        return top, prefix + (known.path if known else uri)

    def describe(self) -> str:
        """The commit that is followed. Raises SourceMissing."""
        self._find_prefix()
        return f"commit {self._find_commit()[:10]}"

    def close(self) -> None:
        """Ends the git process; the source can still be used afterwards."""
        self._blobs.close()

    # --- where the repository is ---

    def _find_prefix(self) -> str:
        """The folder within the working tree that is the source, with a trailing slash; "" for all of it."""
        if self._prefix is None:
            if not self._root.is_dir():
                raise SourceMissing(f"{self._root} of source {self.name} is not a folder: correct `path`")
            try:
                output = run_git(self._root, "rev-parse", "--show-prefix")
            except GitFailed as e:
                raise SourceMissing(
                    f"{self._root} of source {self.name} is not a git repository ({e}): correct `path`, or give it "
                    f'kind = "documents" if it is a plain folder'
                ) from e
            self._prefix = output.decode("utf-8", "surrogateescape").removesuffix("\n")
        return self._prefix

    def _known(self, uri: str) -> _Entry | None:
        """The file of the last discovery; the true name of one that is masked is known from a discovery alone."""
        if self._entries is None and hides_something(uri):
            self.discover()
        return (self._entries or {}).get(uri)

    def _find_commit(self) -> str:
        names = [self._reference or "HEAD"]
        if self._branch and self._reference is None:
            names = [f"refs/heads/{self._branch}", f"refs/remotes/origin/{self._branch}", f"refs/tags/{self._branch}"]
        for name in names:
            try:
                run_git(self._root, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
            except GitFailed:
                continue  # no such name
            try:
                found = run_git(self._root, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
            except GitFailed as e:
                raise SourceMissing(
                    f"source {self.name}: {name} of {self._root} names a commit that is damaged or missing: check the "
                    f"repository with `git fsck`"
                ) from e
            return found.decode("ascii").strip()
        if self._branch:
            raise SourceMissing(f"source {self.name}: {self._root} has no branch {self._branch}: correct `branch`")
        raise SourceMissing(f"source {self.name}: {self._root} has no commits yet: commit something, or set `branch`")

    def _find_web_address(self) -> str | None:
        try:
            origin = run_git(self._root, "config", "--get", "remote.origin.url")
        except GitFailed:
            return None
        return web_address(origin.decode("utf-8", "replace").strip())

    # --- what is in it ---

    def _list(self, commit: str, prefix: str) -> tuple[list[_Entry], list[SkippedItem]]:
        tree = f"{commit}:{prefix.rstrip('/')}" if prefix else commit
        try:
            output = run_git(self._root, "ls-tree", "-r", "-z", "--long", "--full-tree", tree)
        except GitFailed as e:
            raise SourceMissing(
                f"source {self.name}: {self._root} cannot be listed at {commit[:12]} ({e}): check it with `git fsck`"
            ) from e
        entries, skipped = [], []
        for record in output.split(b"\0"):
            if not record:
                continue
            meta, _, raw_path = record.partition(b"\t")
            mode, _kind, blob_id, size = meta.decode("ascii").split()
            try:
                path = raw_path.decode("utf-8")
            except UnicodeDecodeError:
                shown = mask_path(raw_path.decode("utf-8", "replace"))
                skipped.append(SkippedItem(uri=shown, reason=filters.BAD_NAME))
                continue
            if _CONTROL.search(path):
                shown = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), path)
                skipped.append(SkippedItem(uri=mask_path(shown), reason=filters.CONTROL_NAME))
                continue
            entries.append(_Entry(mode, blob_id, int(size) if size.isdigit() else 0, path))
        return entries, skipped

    def _read_attributes(self, entries: Sequence[_Entry]) -> filters.GitAttributes | None:
        files = [
            (entry.path.removesuffix(".gitattributes"), content.decode("utf-8", "replace"))
            for entry in entries
            if entry.path.rsplit("/", 1)[-1] == ".gitattributes"
            and entry.mode.startswith("100")
            and entry.size_bytes <= filters.MAX_FILE_BYTES
            and (content := self._try_read(entry)) is not None
        ]
        return filters.GitAttributes(files) if files else None

    def _reason_to_skip(self, entry: _Entry, uri: str, rules: filters.PathRules) -> str | None:
        if entry.mode == "120000":
            return filters.SYMLINK
        if entry.mode == "160000":
            return filters.SUBMODULE
        reason = rules.reason_to_skip(uri)
        if reason:
            return reason
        if entry.size_bytes > filters.MAX_FILE_BYTES:
            return filters.TOO_LARGE
        if entry.blob_id not in self._content_reasons:
            content = self._try_read(entry)
            if content is None:
                return None  # kept, so that `fetch` fails for this file alone and says why
            self._content_reasons[entry.blob_id] = filters.reason_by_content(content)
        return self._content_reasons[entry.blob_id]

    def _try_read(self, entry: _Entry) -> bytes | None:
        """The content of a listed file, or None when its object is damaged or missing."""
        try:
            return self._blobs.read(entry.blob_id)
        except (NotFound, UnreadableFile):
            return None
