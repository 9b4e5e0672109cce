"""The haechi command as a process, on a small company of its own."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.unit.bot.company import write_company

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120
# for tests that count what is indexed while a bot runs: it reads the sources when it is told to, and only then
FOLLOWS_NOTHING = "[schedule]\nenabled = false\n\n[ingest]\nworkers = 1\nat_start = false\n"


@dataclass
class Haechi:
    """A folder with a configuration; `run` runs a command in it and waits, `start` does not wait."""

    folder: Path
    secrets: dict[str, str] = field(default_factory=dict)  # variables that its configuration names
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @classmethod
    def with_company(cls, folder: Path, extra: str = "") -> Haechi:
        write_company(folder)
        haechi = cls(folder)
        haechi.configure(extra)
        return haechi

    def configure(self, extra: str = "") -> None:
        text = (
            'data_dir = "data"\n\n'
            '[[sources]]\nname = "rules"\ntitle = "사규"\nkind = "documents"\npath = "rules"\n\n'
            '[[sources]]\nname = "shop"\nkind = "repository"\npath = "shop"\n\n'
            '[embedding]\ndocuments = ["hash"]\ncode = ["hash"]\n\n'
        )
        ingest = "" if "[ingest]" in extra else "[ingest]\nworkers = 1\n\n"
        web = "" if "[web]" in extra else "[web]\nport = 0\n\n"
        (self.folder / "haechi.toml").write_text(text + ingest + web + extra, encoding="utf-8")

    def run(
        self, *words: str, stdin: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words), cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=timeout_s,
            env={**environment(), **self.secrets}, check=False,
        )  # fmt: skip

    def json(self, *words: str, stdin: str | None = None) -> Any:
        run = self.run(*words, stdin=stdin)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def start(self, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(*words), cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**environment(), **self.secrets},
        )  # fmt: skip
        self.started.append(process)
        return process

    def start_bot(self) -> tuple[subprocess.Popen[str], str]:
        """A running bot and the address of its page."""
        process = self.start("run")
        line = wait_for_line(process, "Haechi answers at ")
        return process, line.split()[-1].rstrip("/")

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "bot", *words]


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HAECHI_")}
    return {**kept, "PYTHONPATH": os.fspath(ROOT), "PYTHONUNBUFFERED": "1"}


def wait_for_line(process: subprocess.Popen[str], words: str, *, stream: str = "stdout") -> str:
    """The first line that holds `words`; fails when the process ends or TIMEOUT_S pass before.

    Reads byte by byte: what a buffer took too much of would be missing to select and to whoever reads on."""
    descriptor = getattr(process, stream).fileno()
    deadline = time.monotonic() + TIMEOUT_S
    seen, line = [], bytearray()
    while time.monotonic() < deadline:
        ready, _, _ = select.select([descriptor], [], [], 1.0)
        if not ready:
            continue
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
        if byte in b"\r\n":
            text = line.decode(errors="replace")
            if words in text:
                return text
            seen.append(text)
            line.clear()
    raise AssertionError(
        f"{words!r} did not come; got {seen}, stderr {process.stderr.read() if process.poll() else ''}"
    )


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Ctrl-C, and what the process had to say."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=TIMEOUT_S)
