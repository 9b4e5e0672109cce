"""One repository behind an address as a source of code: a copy of its followed branch, read as a local one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from knowledge.errors import SourceMissing
from knowledge.ports import DiscoveryTask
from knowledge.sources.git import GitSource
from knowledge.sources.git_access import GitAccess
from knowledge.sources.git_links import HostKind, web_address
from knowledge.sources.git_mirror import FOLLOWED, Mirror
from knowledge.types import Discovery


class RemoteGitSource:
    """Files of the commit that the remote's default branch, or `branch`, has at the moment of a discovery."""

    def __init__(
        self,
        name: str,
        url: str,
        folder: Path,
        access: GitAccess,
        branch: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        host_kind: HostKind | None = None,
    ) -> None:
        """`folder` holds the copy; it is made when missing, for its owner alone."""
        self.name = name
        self._mirror = Mirror(folder, url, access, branch=branch, what=f"source {name}: {url}")
        self._inside = GitSource(
            name,
            folder,
            None,
            include,
            exclude,
            reference=FOLLOWED,
            web=web_address(url, kind=host_kind),
            host_kind=host_kind,
        )

    def discover(self) -> Discovery:
        return self.discover_with(DiscoveryTask())

    def discover_with(self, task: DiscoveryTask) -> Discovery:
        """Fetches what is new, then lists it. Raises SourceMissing, ToolDown; the copy stays as it was then."""
        task.progress(0, None, "asking the remote")
        self._mirror.update(should_stop=task.should_stop)
        return self._inside.discover()

    def fetch(self, uri: str) -> bytes:
        """Content of `uri` at the commit of the last discovery. Raises NotFound, UnreadableFile."""
        self._require_copy()
        return self._inside.fetch(uri)

    def file_at(self, uri: str, revision: str) -> bytes:
        """Unmasked content of `uri` at commit `revision`: callers mask. Raises NotFound, UnreadableFile."""
        self._require_copy()
        return self._inside.file_at(uri, revision)

    def history_place(self, uri: str) -> tuple[Path, str]:
        """(copy of the repository, path in it) of a file. Raises SourceMissing."""
        self._require_copy()
        return self._inside.history_place(uri)

    def permalink(self, uri: str, revision: str, start_line: int | None, end_line: int | None) -> str | None:
        """Address of these lines at this commit on the repository's web host; None for a host without pages."""
        return self._inside.permalink(uri, revision, start_line, end_line)

    def describe(self) -> str:
        """What the remote has now; nothing is fetched. Raises SourceMissing, ToolDown."""
        head = self._mirror.ask()
        return f"commit {head.commit[:10]} of {head.reference.removeprefix('refs/heads/')}"

    def close(self) -> None:
        """Ends the git process; the source can still be used afterwards."""
        self._inside.close()

    def _require_copy(self) -> None:
        if self._mirror.commit() is None:
            raise SourceMissing(f"source {self.name} has not been fetched yet: run `haechi ingest`")
