"""How much memory the C library keeps for itself."""

from __future__ import annotations

import ctypes
import sys

ARENAS = 2
_M_ARENA_MAX = -8  # malloc.h of glibc


def bound_arenas(most: int = ARENAS) -> bool:
    """Whether the C library shares `most` heaps among all threads; False where it is not glibc.

    Otherwise each new thread may get a heap of its own, up to eight a core, that never becomes smaller: a bot that runs
    for weeks grows by some megabytes with each thread that is ever busy. Call it before threads begin.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, most))
    except (AttributeError, OSError):  # musl has no mallopt
        return False
