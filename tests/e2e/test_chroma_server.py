"""Chroma as a server of its own (`--profile chroma`): it may come later, go, and come back empty."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi, interrupt

WAIT_S = 120.0
QUESTION = "연차휴가는 며칠인가요?"


class ChromaServer:
    """The real server of the installed package, on one port of this machine; can be stopped and begun anew."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, folder: Path) -> None:
        program = str(Path(sys.executable).with_name("chroma"))
        self._process = subprocess.Popen(
            [program, "run", "--host", "127.0.0.1", "--port", str(self.port), "--path", str(folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).raise_for_status()
                return
            except httpx.HTTPError:
                assert self._process.poll() is None, "the Chroma server ended"
                time.sleep(0.05)
        raise AssertionError("the Chroma server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


@pytest.fixture
def chroma():
    server = ChromaServer()
    yield server
    server.stop()


def spaces_found(haechi: Haechi) -> set[str]:
    """The vector spaces that found the first result of a question."""
    (line,) = haechi.run("search", "--json", QUESTION).stdout.splitlines()
    return set(json.loads(line)["results"][0]["scores"]["dense"])


def state(haechi: Haechi) -> str:
    return next(tool["state"] for tool in haechi.json("status", "--json")["tools"] if tool["name"] == "chroma")


def test_the_server_may_come_later_and_go_and_come_back_empty(tmp_path, chroma):
    haechi = Haechi.with_company(tmp_path, f'[chroma]\nurl = "{chroma.url}"\n\n{FOLLOWS_NOTHING}')
    try:
        process, _ = haechi.start_bot()  # compose starts both at once
        assert state(haechi) == "down"
        chroma.start(tmp_path / "first")
        assert state(haechi) == "ok"
        assert haechi.run("ingest").returncode == 0
        assert spaces_found(haechi) == {"hash"}
        assert not list((tmp_path / "data").glob("chroma/*"))  # nothing of it stands in the data folder

        chroma.stop()
        assert state(haechi) == "down"
        answer = haechi.run("ask", QUESTION)
        assert answer.returncode == 0
        assert "15일" in answer.stdout  # by keywords
        assert spaces_found(haechi) == set()

        chroma.start(tmp_path / "second")  # its disk was lost
        assert spaces_found(haechi) == {"hash"}  # filled again from the cache by the first question
        checked = haechi.json("verify", "--json")
        assert checked["ok"]
        assert sum(finding["repaired"] for finding in checked["findings"]) == 0
        interrupt(process)
        assert process.returncode == 0
    finally:
        haechi.end()
