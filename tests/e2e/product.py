"""The whole product for a browser: `haechi run` as a process of its own, on copies of the samples."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
READY_LIMIT_S = 120
STOP_LIMIT_S = 60
INDEX_LIMIT_S = 600

CONFIG = """
data_dir = "data"

[web]
port = {port}
examples = ["국내 출장에서 숙박비는 얼마까지 나오나요?", "결제 실패하면 재시도는 어디서 해?"]

[[sources]]
name = "rules"
title = "두루미소프트 사규"
kind = "documents"
path = "rules"
include = ["여비규정.md", "취업규칙.docx"]

[[sources]]
name = "shop"
kind = "repository"
path = "shop"
include = ["billing/"]
"""


def prepare(folder: Path) -> Path:
    """A configuration file in `folder`, with samples that are indexed already."""
    shutil.copytree(SAMPLES / "rules", folder / "rules")
    shutil.copytree(SAMPLES / "shop", folder / "shop")
    git = ["git", "-C", str(folder / "shop"), "-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "The shop"]):
        subprocess.run([*git, *arguments], check=True)
    config = folder / "haechi.toml"
    config.write_text(CONFIG.replace("{port}", str(free_port())), encoding="utf-8")
    subprocess.run([*command(config), "ingest"], check=True, timeout=INDEX_LIMIT_S, env=environment())
    return config


class Product:
    """`haechi run` on one configuration; can be stopped and started again."""

    def __init__(self, config: Path) -> None:
        self._config = config
        self.start()

    def start(self) -> None:
        """Returns when the page is announced; `address` is then where it is."""
        self._process = subprocess.Popen(
            [*command(self._config), "run"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
        )
        lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=_collect, args=(self._process, lines))
        self._reader.start()
        try:
            self.address = _address(lines)
        except BaseException:
            self._process.kill()
            self._end()
            raise

    def stop(self) -> None:
        """Tells the process to stop; it must end in order."""
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            self._end()
        assert status == 0

    def _end(self) -> None:
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def command(config: Path) -> list[str]:
    return [sys.executable, "-m", "bot", "--config", str(config)]


def free_port() -> int:
    """A port that nobody uses now; the same one again after a restart, so that open pages find the server."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}


def _collect(process: subprocess.Popen[str], lines: Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)


def _address(lines: Queue[str]) -> str:
    seen = []
    while True:
        try:
            seen.append(lines.get(timeout=READY_LIMIT_S))
        except Empty:
            raise AssertionError("The page was not announced:\n" + "".join(seen)) from None
        if found := re.search(r"(http://127\.0\.0\.1:\d+)/", seen[-1]):
            return found[1]
