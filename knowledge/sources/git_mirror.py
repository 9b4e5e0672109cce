"""A bare copy of the followed branch of a remote repository, on this machine: that branch, no other, no tags.

The reference `FOLLOWED` names the commit that is indexed, `PREVIOUS` the one before, which evidence pages show until a
sync is complete. The remote is asked what it has before anything is fetched. What is in the copy is unmasked, so it is
for its owner alone, and everything that is read from it is masked.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import SourceMissing, ToolDown
from knowledge.sources.git_access import GitAccess, explain
from knowledge.sources.git_process import GitFailed, failure_of, git_command, run_git

FOLLOWED = "refs/haechi/followed"
PREVIOUS = "refs/haechi/previous"

_ASK_TIMEOUT_S = 90
_FETCH_TIMEOUT_S = 3 * 3600
_POLL_S = 0.2
_PACKS_TO_TIDY = 24  # as many fetches leave as many packs, and every read has to look through all of them
_DAMAGED = re.compile(
    r"not a git repository|\.lock'?: File exists|bad object|corrupt|unable to read|missing (?:blob|tree|commit)"
    r"|invalid (?:sha1|index-pack)|loose object|packfile|object file .* is empty|bad config|did not send all necessary",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the remote has: the commit to follow, and the full name of its reference."""

    commit: str
    reference: str


class EmptyRepository(SourceMissing):
    """The remote has no commits yet."""


class Mirror:
    """The copy in `folder`; `update` brings it to what the remote has now."""

    def __init__(
        self, folder: Path, url: str, access: GitAccess, *, branch: str | None = None, what: str | None = None
    ) -> None:
        self.folder = folder
        self._url = url
        self._access = access
        self._branch = branch
        self._what = what or url

    def update(self, *, should_stop: Callable[[], bool] = lambda: False) -> Head:
        """What is followed now; fetched when it is not here yet. Raises SourceMissing, EmptyRepository, ToolDown.

        A failure leaves the copy as it was.
        """
        head = self.ask(should_stop=should_stop)
        if self.commit() != head.commit:
            self._fetch(head, should_stop)
        return head

    def ask(self, *, should_stop: Callable[[], bool] = lambda: False) -> Head:
        """What the remote has, without fetching anything."""
        names = [f"refs/heads/{self._branch}", f"refs/tags/{self._branch}"] if self._branch else ["HEAD"]
        arguments = ["ls-remote", "--symref", "--", self._url, *names, *(f"{name}^{{}}" for name in names)]
        output = self._run(None, arguments, timeout_s=_ASK_TIMEOUT_S, should_stop=should_stop)
        symbolic, commits = _parse_references(output)
        for name in names:
            if name in commits:
                return Head(commit=commits[name], reference=symbolic.get(name, name))
        if self._branch is None or not self._has_any(should_stop):
            raise EmptyRepository(f"{self._what} has no commits yet: push something, or set `branch`")
        raise SourceMissing(
            f"{self._what} has no branch {self._branch} any more, so what was read of it is kept: correct `branch`, or "
            f"remove it to follow the remote's default branch"
        )

    def commit(self) -> str | None:
        """The commit that is here, or None."""
        if not (self.folder / "HEAD").is_file():
            return None
        try:
            return (
                run_git(self.folder, "--git-dir=.", "rev-parse", "--verify", "--quiet", FOLLOWED + "^{commit}")
                .decode()
                .strip()
            )
        except GitFailed:
            return None

    # --- fetching ---------------------------------------------------------------------------------

    def _has_any(self, should_stop: Callable[[], bool]) -> bool:
        output = self._run(None, ["ls-remote", "--", self._url], timeout_s=_ASK_TIMEOUT_S, should_stop=should_stop)
        return bool(output.strip())

    def _fetch(self, head: Head, should_stop: Callable[[], bool]) -> None:
        if not (self.folder / "HEAD").is_file():
            self._fetch_anew(head, should_stop)
            return
        try:
            with suppress(GitFailed):
                run_git(self.folder, "--git-dir=.", "update-ref", PREVIOUS, FOLLOWED)
            self._fetch_into(self.folder, head, should_stop)
        except GitFailed as failure:
            if not _DAMAGED.search(failure.output):
                raise self._explained(failure) from failure
            self._fetch_anew(head, should_stop)
        self._tidy()

    def _fetch_anew(self, head: Head, should_stop: Callable[[], bool]) -> None:
        """A new copy beside the old one, which it replaces once it is complete."""
        fresh = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            make_private(fresh)
            kind = "sha256" if len(head.commit) == 64 else "sha1"
            run_git(fresh, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
            self._fetch_into(fresh, head, should_stop)
        except GitFailed as failure:
            shutil.rmtree(fresh, ignore_errors=True)
            raise self._explained(failure) from failure
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        shutil.rmtree(self.folder, ignore_errors=True)
        fresh.rename(self.folder)

    def _fetch_into(self, folder: Path, head: Head, should_stop: Callable[[], bool]) -> None:
        arguments = [
            "fetch", "--quiet", "--no-tags", "--force", "--no-write-fetch-head", "--no-auto-maintenance",
            "--no-recurse-submodules", "--update-shallow", "--", self._url,
            f"+{head.reference}:{FOLLOWED}",
        ]  # fmt: skip
        self._start(folder, arguments, timeout_s=_FETCH_TIMEOUT_S, should_stop=should_stop)

    def _tidy(self) -> None:
        packs = self.folder / "objects" / "pack"
        if len(list(packs.glob("*.pack"))) < _PACKS_TO_TIDY:
            return
        with suppress(GitFailed):  # a copy that could not be tidied is only slower
            run_git(self.folder, "--git-dir=.", "-c", "gc.autoDetach=false", "gc", "--quiet")

    # --- the network ------------------------------------------------------------------------------

    def _run(
        self, folder: Path | None, arguments: list[str], *, timeout_s: float, should_stop: Callable[[], bool]
    ) -> bytes:
        try:
            return self._start(folder, arguments, timeout_s=timeout_s, should_stop=should_stop)
        except GitFailed as failure:
            raise self._explained(failure) from failure

    def _explained(self, failure: GitFailed) -> SourceMissing | ToolDown:
        error = explain(failure, what=self._what, secret=self._access.token())
        return error if isinstance(error, SourceMissing | ToolDown) else SourceMissing(str(error))

    def _start(
        self, folder: Path | None, arguments: list[str], *, timeout_s: float, should_stop: Callable[[], bool]
    ) -> bytes:
        """Standard output of a command that talks to the remote; it and what it started end when it must stop."""
        root = self.folder.parent
        make_private(root)
        environment = self._access.environment(self._url)
        # neither a repository around the data folder nor its settings must ever be taken for this one
        environment["GIT_CEILING_DIRECTORIES"] = str(root.parent)
        if folder is not None:
            environment["GIT_DIR"] = str(folder)
        if self._url.startswith("file://"):
            environment["GIT_CONFIG_GLOBAL"] = str(_trust_everybody(root))
        process = subprocess.Popen(
            git_command(folder or root, arguments),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                output, errors = process.communicate(timeout=_POLL_S)
                break
            except subprocess.TimeoutExpired:
                late = time.monotonic() > deadline
                if late or should_stop():
                    _kill_group(process)
                    if late:
                        raise GitFailed(f"git {arguments[0]} took longer than {timeout_s:.0f} s") from None
                    raise ToolDown(f"{self._what} was not fetched, because the sync was asked to stop") from None
        if process.returncode:
            raise failure_of(arguments[0], process.returncode, errors)
        return output


def make_private(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, for their owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _trust_everybody(folder: Path) -> Path:
    """A file for the git that serves a local repository: the environment of the git that asks does not reach it, and
    a mounted repository often belongs to another user."""
    path = folder / "serving.gitconfig"
    if not path.is_file():
        path.write_text("[safe]\n\tdirectory = *\n", encoding="ascii")
    return path


def _parse_references(output: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """(symbolic name -> what it stands for, name -> commit) of `git ls-remote --symref`."""
    symbolic: dict[str, str] = {}
    commits: dict[str, str] = {}
    for line in output.decode("utf-8", "surrogateescape").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: "):
            symbolic[name] = value.removeprefix("ref: ")
        elif re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", value):
            commits[name.removesuffix("^{}")] = value  # a tag's own object, then the commit that it names
    return symbolic, commits
