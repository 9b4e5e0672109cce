"""Many busy threads do not make the C library keep many heaps."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

BUSY_THREADS = """
import ctypes, threading
from bot.native_memory import ARENAS, bound_arenas
assert bound_arenas() is True
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
start = threading.Barrier(12)
def work():
    start.wait()
    for size in range(100, 4000):
        libc.malloc(size)
    start.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_twelve_busy_threads_share_two_heaps():
    run = subprocess.run([sys.executable, "-c", BUSY_THREADS], capture_output=True, text=True, check=True)
    assert run.stderr.count("Arena ") == 2
