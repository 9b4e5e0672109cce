"""Runs git for reading: no prompts, no locks, no network, and nothing of the machine's or user's configuration.

The environment is built from nothing, so that variables such as GIT_DIR or GIT_TRACE cannot leak in. `safe.directory`
is set for these commands alone: a mounted repository often belongs to another user, and none of the commands used
here (rev-parse, ls-tree, cat-file, config) runs anything that the repository configures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from knowledge.errors import NotFound, SourceMissing, UnreadableFile

_CONFIG = (
    ("safe.directory", "*"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
)
_VARIABLES = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_TIMEOUT_S = 120


class GitFailed(Exception):
    """git ended with an error; the text is its last line on standard error, `output` all of it."""

    def __init__(self, last_line: str, output: str = "") -> None:
        super().__init__(last_line)
        self.output = output or last_line


class GitTimeout(GitFailed):
    """git took longer than it may."""


def git_environment(
    config: Sequence[tuple[str, str]] = (), variables: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a git command; `config` counts for this command alone and shows in no argument."""
    pairs = (*_CONFIG, *config)
    numbered = {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(pairs)}
    numbered |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(pairs)}
    return _VARIABLES | {"GIT_CONFIG_COUNT": str(len(pairs))} | numbered | dict(variables or {})


_ENVIRONMENT = git_environment()


def git_command(root: Path, arguments: Sequence[str]) -> list[str]:
    """The full argument list of a git command in `root`. Raises SourceMissing when git is not installed."""
    program = shutil.which("git")
    if program is None:
        raise SourceMissing("git is not installed: install it (Debian: apt-get install git) to read repositories")
    return [program, "-C", str(root), *arguments]


def run_git(root: Path, *arguments: str, timeout_s: float = _TIMEOUT_S) -> bytes:
    """Standard output of a git command in `root`.

    Raises GitFailed, of it GitTimeout when the time is over, SourceMissing when git is not installed.
    """
    try:
        done = subprocess.run(
            git_command(root, arguments),
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise GitTimeout(f"git {arguments[0]} took longer than {timeout_s:.0f} s") from e
    if done.returncode:
        raise failure_of(arguments[0], done.returncode, done.stderr)
    return done.stdout


def run_git_bounded(root: Path, *arguments: str, most_bytes: int, timeout_s: float = _TIMEOUT_S) -> bytes:
    """The first `most_bytes` of what a git command in `root` prints; what it would print beyond them is not waited for.

    Raises as `run_git`.
    """
    late = threading.Event()
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            git_command(root, arguments),
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        assert process.stdout is not None

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout_s, end)
        timer.start()
        try:
            output = process.stdout.read(most_bytes)
            is_cut = len(output) == most_bytes
            if is_cut:
                process.kill()
            status = process.wait()
        finally:
            timer.cancel()
            process.kill()
        if status and not is_cut:
            if late.is_set():
                raise GitTimeout(f"git {_name_of(arguments)} took longer than {timeout_s:.0f} s")
            errors.seek(0)
            raise failure_of(_name_of(arguments), status, errors.read())
    return output


def _name_of(arguments: Sequence[str]) -> str:
    """The command, behind what is configured for it."""
    place = 0
    while arguments[place] == "-c":
        place += 2
    return arguments[place]


def failure_of(command: str, status: int, errors: bytes) -> GitFailed:
    """The failure of a git command that ended with `status`."""
    output = errors.decode("utf-8", "replace").strip()
    lines = output.splitlines()
    return GitFailed(lines[-1] if lines else f"git {command} ended with status {status}", output)


class BlobReader:
    """Reads objects through one `git cat-file --batch`, started at the first read. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stop: weakref.finalize[[subprocess.Popen[bytes]], BlobReader] | None = None

    def read(self, name: str) -> bytes:
        """The content of the blob that `name` names: an object id, or `commit:path`.

        Raises NotFound when there is none, UnreadableFile when git stops answering.
        """
        if "\n" in name or "\0" in name:
            raise NotFound(f"no file is called {name!r} in {self._root}")
        with self._lock:
            try:
                return self._ask(name)
            except (OSError, ValueError) as e:
                self._close()
                raise UnreadableFile(
                    f"git stopped while reading {name} in {self._root}: check the repository with `git fsck`"
                ) from e

    def close(self) -> None:
        """Ends the process; a later read starts another one."""
        with self._lock:
            self._close()

    def _ask(self, name: str) -> bytes:
        requests, answers = self._pipes()
        requests.write(name.encode("utf-8", "surrogateescape") + b"\n")
        requests.flush()
        header = answers.readline()
        fields = header.split()
        if not header.endswith(b"\n") or len(fields) < 2:
            raise ValueError("no answer")
        if not fields[-1].isdigit():
            raise NotFound(f"{name} is not in the repository {self._root}")
        content = answers.read(int(fields[-1]))
        if len(content) != int(fields[-1]) or answers.read(1) != b"\n":
            raise ValueError("short answer")
        if fields[-2] != b"blob":
            raise NotFound(f"{name} is not a file in the repository {self._root}")
        return content

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None or self._process.poll() is not None:
            self._close()
            process = subprocess.Popen(
                git_command(self._root, ["cat-file", "--batch"]),
                env=_ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._process = process
            self._stop = weakref.finalize(self, _stop_process, process)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _close(self) -> None:
        if self._stop is not None:
            self._stop()
        self._stop = self._process = None


def _stop_process(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # a pipe whose reader has gone cannot be flushed
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
